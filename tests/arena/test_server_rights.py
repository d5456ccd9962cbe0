"""What cheats were tried at a server: hidden entrants, quarantines, quotas, queues, connections."""

import http.client
import socket
import threading
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

import arena.server.connection as connection_module
import arena.server.service as service_module
from arena import Arena
from arena.errors import NotAllowed, QuotaSpent
from arena.games.rrps.game import RRPS
from arena.home import open_home
from arena.kinds.mixture import payload_of
from arena.server.ledger import MOST_DEATHS, Ledger, State
from arena.server.rights import MOST_ALIASES, MOST_PRACTICE
from arena.submission import prepare
from registry.errors import AccountDisabled, MalformedName, MalformedSubmission, UnknownPolicy
from registry.rights import Quota, Role
from registry.values import Status, Submission
from tests.arena.serving import served

ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
SECRET = ROCK.replace("ROCK", "PAPER") + "# secret\n"
SLOW = (
    "class Agent:\n    def act(self, observation):\n"
    "        return 'ROCK' if sum(range(20000)) else 'PAPER'\n"
)


@pytest.fixture
def there(new_home):
    with served(new_home()) as running:
        yield running


def registry_of(there):
    return open_home(there.home).registry


def test_a_hidden_population_is_unknown_until_the_certificate(there, as_):
    registry = registry_of(there)
    prepared = prepare(RRPS, SECRET, name="operator/spring-x", status=Status.CANDIDATE)
    hidden = registry.submit(prepared, reserved=True).version
    now = datetime.now(UTC)
    registry.announce("spring", "rrps", now, now + timedelta(days=1), hidden=[hidden.digest])
    ada, boss, eve = as_("ada"), as_("boss"), as_("eve")
    mine = ada.submit(ROCK, "rrps", "ada/rock").version.digest
    assert boss.policy(hidden.ref, "rrps").digest == hidden.digest
    for who in (ada, eve):
        assert hidden.digest not in {one.digest for one in who.policies("rrps")}
        assert not who.policies("rrps", author="operator")
        for ref in (hidden.ref, hidden.digest, hidden.digest[:12]):
            with pytest.raises(UnknownPolicy) as told:
                who.policy(ref, "rrps")
            assert "spring" not in str(told.value).replace(ref, "")
        with pytest.raises(UnknownPolicy) as told:
            who.policy("operator/spring-y", "rrps")
        assert hidden.ref not in str(told.value) and hidden.ref not in told.value.suggestions
        with pytest.raises(UnknownPolicy):
            who.history(hidden.digest, "rrps")
    mixed = Submission("rrps", "ada/mixed", "mixture", payload_of({mine: 0.5, hidden.digest: 0.5}))
    for tried in (
        lambda: ada.play_pairs("rrps", {(mine, hidden.digest): 2}),
        lambda: ada.practise(ROCK, "rrps", [hidden.ref]),
        lambda: ada.evaluate(hidden.digest, "rrps", 2),
        lambda: ada.register(mixed),
        lambda: ada.call("rrps", "ada", hidden.digest),
        lambda: ada.withdraw(hidden.ref, "rrps"),
        lambda: ada.enter("rrps", [prepare(RRPS, SLOW, name="ada/s")], opponents=[hidden.digest]),
    ):
        with pytest.raises(UnknownPolicy):
            tried()
    assert not list(boss.matches("rrps", hidden.ref, limit=None))


@pytest.mark.parametrize("first", ["the operator", "the author"])
def test_who_hands_in_what_is_hidden_is_not_told_so(there, as_, first):
    ada, boss, eve = as_("ada"), as_("boss"), as_("eve")
    closes = datetime.now(UTC) + timedelta(days=1)

    def announced():
        return boss.office.announce("spring", "rrps", None, closes, secret=[("x", SECRET)])

    if first == "the operator":
        announced()
    found = ada.submit(SECRET, "rrps", "ada/guess")
    assert (found.created, found.credited, len(found.trial)) == (True, True, 2)
    if first == "the author":
        announced()
    kept = boss.policy("operator/spring-x", "rrps")
    assert kept.digest == found.version.digest and kept.status is Status.CANDIDATE
    for who in (ada, eve):
        seen = [who.policy("ada/guess", "rrps"), *who.policies("rrps", author="ada")]
        seen += who.versions([kept.digest]).values()
        seen += who.match(who.matches("rrps", limit=1)[0].id).versions
        assert not [one for of in seen for one in of.credits if one.author == "operator"]
        assert {one.ref for one in who.history("ada/guess", "rrps")} == {"ada/guess@1"}
    ada.admit(kept.digest, "mine")
    assert boss.policy("operator/spring-x", "rrps").status is Status.CANDIDATE
    assert {one.ref for one in boss.history("ada/guess", "rrps")} == {"ada/guess@1", kept.ref}


@pytest.mark.parametrize("status", [Status.CANDIDATE, Status.QUALIFIED])
def test_whose_run_tries_what_is_hidden_is_not_told_so(there, as_, status):
    ada, boss = as_("ada"), as_("boss")
    closes = datetime.now(UTC) + timedelta(days=1)
    boss.office.announce("spring", "rrps", None, closes, secret=[("x", SECRET)])
    answers = []
    for name, source in (("csro/ada-one", SECRET), ("csro/ada-two", f"{SECRET}# another\n")):
        (entered,) = ada.enter("rrps", [prepare(RRPS, source, name=name, status=status)], ours=True)
        seen = [entered.version.status, ada.policy(f"{name}@1", "rrps").status]
        if status is Status.QUALIFIED:
            seen.append(ada.withdraw(f"{name}@1", "rrps").status)
            seen += [ada.policy(f"{name}@1", "rrps").status]
            seen.append(ada.reinstate(f"{name}@1", "rrps").status)
        answers.append((seen, ada.policy(f"{name}@1", "rrps").payload == source))
    assert answers[0] == answers[1] and answers[0][1]


def test_a_quarantine_is_not_lifted_by_withdrawing(there, as_):
    ada, registry = as_("ada"), registry_of(there)
    version = ada.submit(ROCK, "rrps", "ada/rock").version
    registry.set_status(version.digest, Status.QUARANTINED, "does not repeat")
    with pytest.raises(NotAllowed, match="quarantined"):
        ada.withdraw("ada/rock@1", "rrps")
    registry.set_status(version.digest, Status.YANKED, "the operator did")
    with pytest.raises(NotAllowed, match="was quarantined before"):
        ada.reinstate("ada/rock@1", "rrps")
    registry.set_status(version.digest, Status.QUALIFIED, "all is well")
    assert ada.withdraw("ada/rock@1", "rrps").status is Status.YANKED
    assert ada.reinstate("ada/rock@1", "rrps").status is Status.QUALIFIED


def test_authors_vouch_for_nothing(there, as_):
    ada, boss = as_("ada"), as_("boss")
    mine = ada.submit(ROCK, "rrps", "ada/rock").version.digest
    other = ada.policy("house/rockbot", "rrps").digest
    assert set(ada.play_pairs("rrps", {(mine, other): 2}, shared=True).walls) == {there_wall(ada)}
    more = boss.play_pairs("rrps", {(mine, other): 4}, shared=True)
    assert all(wall.endswith("+lockstep") for wall in more.walls)


def there_wall(arena):
    return arena.wall


def test_a_job_of_an_account_that_was_shut_meanwhile_is_not_done(there, as_):
    boss, bob, registry = as_("boss"), as_("bob"), registry_of(there)
    told, begun = [], threading.Event()

    def long():
        boss.practise(SLOW, "rrps", ["house/rockbot"], 6)

    def late():
        begun.set()
        try:
            bob.submit(ROCK, "rrps", "bob/late")
        except Exception as error:  # noqa: BLE001 - looked at below
            told.append(error)

    threads = [threading.Thread(target=long), threading.Thread(target=late)]
    threads[0].start()
    while not jobs_of(there, "boss"):
        time.sleep(0.02)
    threads[1].start()
    while not jobs_of(there, "bob"):
        time.sleep(0.02)
    registry.disable_account("bob")
    for thread in threads:
        thread.join()
    (refused,) = told  # what became of the job; who is slow to ask for that may not ask any more
    assert isinstance(refused, NotAllowed | AccountDisabled), refused
    assert not [one for one in boss.policies("rrps") if one.author == "bob"]


def jobs_of(there, account):
    return there.thread.server.job_runner._ledger.unfinished(account)


def test_what_one_request_may_take_is_bounded(there, as_):
    registry_of(there).set_quota("ada", Quota(submissions=3))
    ada = as_("ada")
    with pytest.raises(NotAllowed, match="too many for one request"):
        ada.practise(ROCK, "rrps", ["house/rockbot"], MOST_PRACTICE + 1)
    prepared = [prepare(RRPS, ROCK, name="ada/rock")]
    with pytest.raises(NotAllowed, match="too many for one request"):
        ada.enter("rrps", prepared * 201)
    with pytest.raises(QuotaSpent):
        ada.enter("rrps", [prepare(RRPS, f"{ROCK}# {n}\n", name=f"ada/p{n}") for n in range(4)])
    for _ in range(4):  # a slip of the pen costs nothing of the day's three
        with pytest.raises(MalformedName):
            ada.submit(ROCK, "rrps", "ada/my rock")
    mine = ada.submit(ROCK, "rrps", "ada/rock").version.digest
    theirs = as_("boss").submit(SLOW, "rrps", "boss/slow").version.digest
    for n in range(2):
        weights = {mine: 0.5 + n / 10, theirs: 0.5 - n / 10}
        ada.register(
            Submission("rrps", f"csro/ada-m{n}", "mixture", payload_of(weights)), ours=True
        )
    with pytest.raises(QuotaSpent):
        ada.register(Submission("rrps", "ada/m9", "mixture", payload_of({mine: 1.0})))
    for n in range(MOST_ALIASES):
        ada.call("rrps", f"ada-{n}", "ada/rock")
    with pytest.raises(NotAllowed, match="aliases are too many"):
        ada.call("rrps", "ada-more", "ada/rock")
    as_("boss").submit(ROCK, "rrps", "ada-lovelace/rock")
    with pytest.raises(NotAllowed, match="not ada's"):
        ada.call("rrps", "ada-lovelace", "ada/rock")


def test_a_change_is_in_the_log_once_and_in_the_name_of_who_made_it(there, as_):
    boss, ada, registry = as_("boss"), as_("ada"), registry_of(there)
    known = registry.events()[-1].position
    boss.office.add_accounts([("dan", Role.AUTHOR)])
    boss.office.renew_token("dan")
    version = ada.submit(ROCK, "rrps", "ada/rock").version
    ada.withdraw("ada/rock", "rrps")
    told = [(one.who, one.what, one.subject) for one in registry.events(after=known)]
    assert told == [
        ("boss", "account.added", "dan"),
        ("boss", "account.renewed", "dan"),
        ("ada", "version.registered", version.digest),
        ("ada", "version.yanked", version.digest),
    ]
    with Arena(there.home, sandbox="process", workers=1) as arena:
        own = arena.home
        with pytest.raises(UnknownPolicy), arena.on_behalf_of("bob"):
            arena.reinstate("ada/rock@1", "rrps")
            arena.withdraw("ada/nobody", "rrps")
        assert arena.home is arena.runner.home is own
        arena.withdraw("ada/rock", "rrps")
    told = [(one.who, one.what) for one in registry.events(after=known)[4:]]
    assert told == [("bob", "version.qualified"), ("operator", "version.yanked")]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("labels", {f"k{n}": "v" for n in range(65)}),
        ("provenance", {"prompt": "x" * (1 << 18)}),
    ],
)
def test_what_lists_carry_is_bounded(there, as_, field, value):
    with pytest.raises(MalformedSubmission, match="at most"):
        as_("ada").submit(ROCK, "rrps", "ada/rock", **{field: value})


def test_only_so_many_jobs_of_one_author_wait(there, as_, monkeypatch):
    monkeypatch.setattr(service_module, "MOST_WAITING", 2)
    boss, ada = as_("boss"), as_("ada")
    long = threading.Thread(target=lambda: boss.practise(SLOW, "rrps", ["house/rockbot"], 4))
    long.start()
    while not jobs_of(there, "boss"):
        time.sleep(0.02)
    waiting = [threading.Thread(target=lambda: as_("ada").check(ROCK, "rrps")) for _ in range(2)]
    for thread in waiting:
        thread.start()
    while len(jobs_of(there, "ada")) < 2:
        time.sleep(0.02)
    with pytest.raises(QuotaSpent, match="your jobs wait"):
        ada.check(ROCK, "rrps")
    for thread in (long, *waiting):
        thread.join()
    assert ada.check(ROCK, "rrps") is None


def test_a_job_that_kills_every_server_is_given_up(tmp_path):
    ledger = Ledger(tmp_path / "server.sqlite")
    deadly, _ = ledger.add("ada", "key", "check", "{}", State.WAITING)
    for _ in range(MOST_DEATHS):
        assert ledger.begin(deadly)
        ledger.close()
        ledger = Ledger(tmp_path / "server.sqlite")
        ledger.reopen()
    assert ledger.get(deadly.id).state is State.FAILED
    assert "not begun again" in ledger.get(deadly.id).error
    ledger.close()


def test_what_was_asked_is_kept_until_it_is_done(tmp_path):
    ledger = Ledger(tmp_path / "server.sqlite")
    job, _ = ledger.add("ada", "key", "check", '{"source": "long"}', State.WAITING)
    assert ledger.waiting("ada") == (1, len('{"source": "long"}'))
    assert ledger.arguments(job) == '{"source": "long"}'
    ledger.end(job, State.DONE, result="null")
    assert (ledger.arguments(job), ledger.waiting("ada")) == ("", (0, 0))
    assert ledger.add("ada", "key", "check", '{"source": "long"}', State.WAITING)[0].id == job.id
    ledger.close()


def test_half_a_header_holds_no_connection(there, monkeypatch):
    monkeypatch.setattr(connection_module, "HEAD_SECONDS", 0.3)
    host, port = there.address.removeprefix("http://").split(":")
    for sent in (b"", b"GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: "):
        with socket.create_connection((host, int(port)), timeout=10) as slow:
            slow.sendall(sent)
            assert slow.recv(1) == b""
    with closing(http.client.HTTPConnection(host, int(port), timeout=10)) as kept:
        ports = set()
        for _ in range(3):
            kept.request("GET", "/health")
            answer = kept.getresponse()
            assert (answer.status, answer.read()[:1]) == (200, b"{")
            ports.add(kept.sock.getsockname())
            time.sleep(0.2)
    assert len(ports) == 1  # one that asks again and again is kept
