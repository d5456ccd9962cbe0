"""Whose turn it is at a server, and what becomes of jobs while a database is away."""

import threading
import time

import httpx2
import pytest

import arena.runner
import arena.server.job_runner as job_runner_module
import arena.server.serving as serving_module
from arena.games.rrps.game import RRPS
from arena.remote import RemoteArena
from arena.server.ledger import State
from arena.server.serving import InThread, Serving
from arena.submission import prepare
from registry import Registry
from registry.errors import RegistryUnavailable
from registry.rights import Quota
from registry.values import Status
from sandbox.choose import WallChoice
from sandbox.errors import SandboxRefused
from tests.arena.serving import served

BUSY = (
    "class Agent:\n    def act(self, observation):\n"
    "        return 'ROCK' if sum(range(4_000_000)) else 'PAPER'\n"
)
"""Computes up to the limits of a match."""
SLOW = BUSY.replace("4_000_000", "20_000")
ADDRESSES = (
    "class Agent:\n    def act(self, observation):\n        sum(range(50_000))\n"
    "        return ['ROCK', 'PAPER', 'SCISSORS'][id(object()) // 16 % 3]\n"
)
"""Goes by where its objects are in memory, and takes its time."""
ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"


@pytest.fixture
def server(new_home):
    with served(new_home()) as running:
        yield running


@pytest.mark.parametrize(("pause", "looks"), [(0.0, 4), (3600.0, 1)])
def test_a_wall_that_was_missing_is_looked_for_again_now_and_then(
    new_home, monkeypatch, pause, looks
):
    """Who reads the error, and makes the image of the boxes, need not start the server again."""
    opens, looked, missing = arena.runner.open_settled, [], True

    def finds(choice):
        looked.append(choice)
        if missing:
            raise SandboxRefused("gVisor is required and there is no image")
        return opens(choice)

    monkeypatch.setattr(arena.runner, "open_settled", finds)
    monkeypatch.setattr(serving_module, "LOOK_AGAIN_SECONDS", pause)
    with (
        served(new_home()) as server,
        RemoteArena(server.address, server.tokens["ada"]) as ada,
    ):
        for _ in range(2):
            with pytest.raises(SandboxRefused, match="there is no image"):
                _ = ada.wall
        missing = False
        if pause:
            with pytest.raises(SandboxRefused, match="there is no image"):
                _ = ada.wall
        else:
            assert ada.wall.startswith("process")
        assert len(looked) == looks


def test_a_long_job_gives_way_to_others_and_comes_to_the_same(server, monkeypatch):
    monkeypatch.setattr(job_runner_module, "SLICE_SECONDS", 0.2)
    monkeypatch.setattr(job_runner_module, "PAUSE_SECONDS", 0.05)
    with (
        RemoteArena(server.address, server.tokens["ada"]) as ada,
        RemoteArena(server.address, server.tokens["bob"]) as bob,
    ):
        house = [one.digest for one in ada.policies("rrps", author="house")][:8]
        wanted = {(a, b): 40 for n, a in enumerate(house) for b in house[:n]}
        ended, begun = [], threading.Event()

        def plays(done, total):
            begun.set()

        def long():
            ada.play_pairs("rrps", wanted, progress=plays)
            ended.append("ada")

        thread = threading.Thread(target=long)
        thread.start()
        assert begun.wait(60)
        for _ in range(2):
            assert bob.check(ROCK, "rrps") is None
            ended.append("bob")
        thread.join()
        assert ended == ["bob", "bob", "ada"]
        stored = list(ada.matches("rrps", limit=None))
        assert len(stored) == sum(wanted.values())
        opened = Registry.open(server.home / "registry.sqlite")
        today = job_runner_module._today()
        spent = opened.spent("ada", today).seconds
        opened.close()
        assert spent > 0  # of every slice, and not of the last alone


def test_what_fails_because_the_registry_is_away_is_done_when_it_is_back(server, monkeypatch):
    monkeypatch.setattr(job_runner_module, "PAUSE_SECONDS", 0.05)
    away = iter(["gone", "gone", "gone"])
    really = Registry.account

    def account(self, name):
        if threading.current_thread().name == "job runner" and next(away, None):
            raise RegistryUnavailable("the database is away")
        return really(self, name)

    monkeypatch.setattr(Registry, "account", account)
    with RemoteArena(server.address, server.tokens["ada"]) as ada:
        assert ada.submit(ROCK, "rrps", "ada/rock").version.ref == "ada/rock@1"
    assert next(away, None) is None


def test_what_stays_away_is_given_up_and_the_job_runner_goes_on(server, monkeypatch):
    monkeypatch.setattr(job_runner_module, "PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(job_runner_module, "AWAY_SECONDS", 0.3)
    really = Registry.account

    def account(self, name):
        if threading.current_thread().name == "job runner" and name == "ada":
            raise RegistryUnavailable("the database is away")
        return really(self, name)

    monkeypatch.setattr(Registry, "account", account)
    with (
        RemoteArena(server.address, server.tokens["ada"]) as ada,
        pytest.raises(RegistryUnavailable, match="away"),
    ):
        ada.submit(ROCK, "rrps", "ada/rock")
    with RemoteArena(server.address, server.tokens["bob"]) as bob:
        assert bob.submit(ROCK, "rrps", "bob/rock").version.ref == "bob/rock@1"


@pytest.mark.parametrize("method", ["check", "submit", "practise"])
def test_one_job_is_ended_in_the_middle_and_leaves_nothing(server, method):
    document = {"source": {"str": BUSY}, "game": "rrps"}
    if method == "submit":
        document["name"] = "ada/busy"
    if method == "practise":
        document |= {"source": BUSY, "against": ["house/rockbot"], "matches": 2}

    def asked(verb, path, who="ada", **options):
        headers = {"Authorization": f"Bearer {server.tokens[who]}"}
        return httpx2.request(verb, server.address + path, headers=headers, timeout=40, **options)

    job = asked("POST", f"/api/v1/{method}", json=document).json()["job"]
    where = f"/api/v1/jobs/{job}"
    while asked("GET", where).json()["state"] == "waiting":
        time.sleep(0.02)
    time.sleep(1.0)  # it is in its first match by now, which takes twenty seconds
    assert asked("DELETE", where, "bob").status_code == 400, "it is nobody else's"
    began = time.monotonic()
    assert asked("DELETE", f"{where}?wait=20").json()["state"] == "cancelled"
    assert time.monotonic() - began < 10
    with RemoteArena(server.address, server.tokens["bob"]) as bob:
        assert bob.check(ROCK, "rrps") is None, "the next one is done"
        assert not bob.policies("rrps", author="ada")
        assert not list(bob.matches("rrps", limit=None))
    opened = Registry.open(server.home / "registry.sqlite")
    spent = opened.spent("ada", job_runner_module._today()).seconds
    opened.close()
    assert spent >= 1.0, "what was used is used"


def test_nobody_ends_a_job_to_keep_a_match_from_its_audit(server, monkeypatch):
    monkeypatch.setattr("arena.seeds.AUDIT_SHARE", 1.0)
    opened = Registry.open(server.home / "registry.sqlite")
    cheat = opened.submit(prepare(RRPS, ADDRESSES, name="ada/cheat")).version
    told = []

    def until_it_is_stored(done, wanted):
        told.append(done)
        if wanted and done == wanted:
            raise KeyboardInterrupt  # which ends the job, in the middle of the audit

    with RemoteArena(server.address, server.tokens["ada"]) as ada:
        rock = ada.policy("house/rockbot", "rrps").digest
        with pytest.raises(KeyboardInterrupt):
            ada.play_pairs("rrps", {(cheat.digest, rock): 1}, progress=until_it_is_stored)
        assert told[-1] == 1
        assert ada.check(ROCK, "rrps") is None, "the next one is done"
        assert ada.policy("ada/cheat", "rrps").status is Status.QUARANTINED
    (found,) = opened.events(what="version.quarantined")
    assert (found.who, found.subject) == ("arena", cheat.digest), "it is not what ada did"
    assert "ada/cheat@1" in found.detail
    opened.close()


def test_a_server_stops_in_the_middle_of_a_job_and_does_it_again(new_home):
    home, quota = new_home(), Quota(submissions=1, seconds=7_200.0)
    done = []

    def submit(address, token):
        with RemoteArena(address, token, timeout=60) as ada:
            done.append(ada.submit(SLOW, "rrps", "ada/slow"))

    with served(home, quota=quota) as first:
        port = int(first.address.rpartition(":")[2])
        thread = threading.Thread(target=submit, args=(first.address, first.tokens["ada"]))
        thread.start()
        ledger = first.thread.server.job_runner._ledger
        while not any(job.state is State.RUNNING for job in ledger.unfinished()):
            time.sleep(0.02)
        time.sleep(0.5)
        began = time.monotonic()
    assert time.monotonic() - began < 15
    again = InThread(Serving(home, wall=WallChoice("process"), workers=1, quota=quota), port)
    with again:
        thread.join(60)
    assert [one.version.ref for one in done] == ["ada/slow@1"], "the day's quota is one"
    opened = Registry.open(home / "registry.sqlite")
    spent = opened.spent("ada", job_runner_module._today())
    opened.close()
    assert spent.submissions == 1 and spent.seconds > 0
