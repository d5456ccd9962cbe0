"""A server's doors: who comes in, what is refused, and in which words."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from arena import Arena, Rejection
from arena.errors import (
    NotAllowed,
    QuotaSpent,
    ServerUnreachable,
    UsageFault,
)
from arena.games.rrps.game import RRPS
from arena.home import open_home
from arena.kinds.mixture import payload_of
from arena.remote import RemoteArena
from arena.server.app import Api
from arena.submission import prepare
from registry.errors import TokenExpired
from registry.rights import Quota, Role
from registry.values import Status, Submission
from tests.arena.serving import asked, served, words

ROOT = Path(__file__).parents[2]
ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
SLOW = (
    "class Agent:\n    def act(self, observation):\n"
    "        return 'ROCK' if sum(range(3000)) else 'PAPER'\n"
)


# Who comes in.


@pytest.mark.parametrize("token", ["", "nonsense", "00" * 24, "ü", "a b"])
def test_without_a_good_token_nothing_is_told(there, token):
    headers = {"Authorization": f"Bearer {token}".encode()} if token else {}
    answer = httpx2.get(f"{there.address}/api/v1/policies", headers=headers)
    assert answer.status_code == 401 and "token" in words(answer)
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    with (
        pytest.raises((NotAllowed, UsageFault), match="token"),
        RemoteArena(there.address, token or "x") as arena,
    ):
        arena.policies()


def test_an_expired_token_says_so(there):
    registry = open_home(there.home).registry
    until = datetime.now(UTC) - timedelta(seconds=1)
    late = registry.add_accounts([("late", Role.AUTHOR)], expires=until)["late"]
    with RemoteArena(there.address, late) as arena, pytest.raises(TokenExpired, match="expired on"):
        arena.policies()


def test_readers_look_and_change_nothing(as_):
    eve = as_("eve")
    assert eve.leaderboard("leduc").rows and eve.account()["role"] == "reader"
    for change in (
        lambda: eve.submit(ROCK, "rrps", "eve/rock"),
        lambda: eve.play_pairs("rrps", {}),
        lambda: eve.withdraw("house/CFR+", "leduc"),
        lambda: eve.office.renew_token("eve"),
        lambda: eve.reveal_season(),
    ):
        with pytest.raises(NotAllowed, match="eve has the role of reader"):
            change()


def test_authors_use_their_own_name(as_, there):
    ada, bob, boss = as_("ada"), as_("bob"), as_("boss")
    mine = ada.submit(ROCK, "rrps", "ada/rock").version
    assert mine.ref == "ada/rock@1"
    for change in (
        lambda: bob.submit(ROCK + "\n", "rrps", "ada/rock"),
        lambda: bob.withdraw("ada/rock", "rrps"),
        lambda: bob.call("rrps", "ada", "ada/rock"),
        lambda: bob.enter("rrps", [prepare(RRPS, ROCK, name="ada/rock")]),
        lambda: bob.register(Submission("rrps", "ada/m", "mixture", payload_of({mine.digest: 1}))),
        lambda: bob.enter("rrps", [prepare(RRPS, ROCK, name="csro/ada-k01")], ours=True),
        lambda: bob.enter("rrps", [prepare(RRPS, ROCK, name="csro/initial")], ours=True),
        lambda: bob.play("rrps"),
    ):
        with pytest.raises(NotAllowed):
            change()
    assert bob.policies("rrps", author="ada")[0].status is Status.QUALIFIED
    ada.withdraw("ada/rock", "rrps")
    assert bob.versions([mine.digest])[mine.digest].payload == ""
    assert bob.policy("ada/rock@1", "rrps").payload == ""
    assert ada.policy("ada/rock@1", "rrps").payload == boss.policy(mine.digest).payload == ROCK
    ada.reinstate("ada/rock@1", "rrps")
    open_home(there.home).registry.set_status(mine.digest, Status.QUARANTINED, "x", ref=mine.ref)
    with pytest.raises(NotAllowed, match="quarantined: ask the operator"):
        ada.reinstate("ada/rock@1", "rrps")
    boss.reinstate("ada/rock@1", "rrps")
    events = open_home(there.home).registry.events(subject=None, limit=500)
    assert {"ada", "boss"} <= {event.who for event in events}


def test_a_client_s_runs_are_its_author_s(as_):
    ada = as_("ada")
    source = ROCK + "\n# run\n"
    candidate = prepare(RRPS, source, name="csro/ada-1-k01", status=Status.CANDIDATE)
    first = prepare(RRPS, RRPS.initial, name="csro/initial")
    entered, _ = ada.enter("rrps", [candidate, first], ours=True)
    assert ada.admit(entered.version.digest, "joins").status is Status.QUALIFIED
    ada.call("rrps", "ada-1", entered.version.ref)
    with pytest.raises(NotAllowed, match="alias"):
        ada.call("rrps", "champion", entered.version.ref)


def test_nobody_s_word_is_taken_for_a_digest(as_):
    honest = prepare(RRPS, ROCK + "\n# forged\n", name="ada/forged")
    forged = Submission(
        **{
            **{name: getattr(honest, name) for name in honest.__dataclass_fields__},
            "code_digest": "0" * 64,
        }
    )
    (entered,) = as_("ada").enter("rrps", [forged])
    assert entered.version.code_digest == honest.code_digest
    for kind, payload in (("native", "rockbot"), ("mixture", "{}"), ("llm", "{}")):
        with pytest.raises(UsageFault):
            as_("ada").enter("rrps", [Submission("rrps", "ada/x", kind, payload)])
    for kind, payload in (("mixture", "nonsense"), ("native", "rockbot")):
        with pytest.raises(UsageFault):
            as_("boss").register(Submission("rrps", "ada/x", kind, payload))
    table = as_("boss").policy("house/AlwaysCall", "leduc").payload
    for name, payload, told in (
        ("leduc", "nonsense", "is no table"),
        ("leduc", table.replace(" ", "").replace(",", ", "), "not written as"),
        ("rrps", table, "no information states"),
    ):
        tried = Submission(name, "csro/ada-x", "tabular", payload, status=Status.CANDIDATE)
        with pytest.raises(UsageFault, match=told):
            as_("ada").register(tried)
    with pytest.raises(UsageFault, match="of kind tabular"):  # an entrant plays its trial
        as_("ada").register(Submission("leduc", "ada/x", "tabular", table))


def test_an_open_season_keeps_its_key_and_its_cards(as_):
    boss, eve = as_("boss"), as_("eve")
    assert boss.seasons()[-1].key is None
    pair = tuple(boss.policy(f"house/{name}", "leduc").digest for name in ("CFR+", "AlwaysCall"))
    boss.play_pairs("leduc", {pair: 2})
    match = boss.matches("leduc", limit=1)[0].id
    assert boss.match(match).deal_seed >= 0
    hidden = eve.match(match)
    assert hidden.deal_seed < 0 and hidden.account == boss.match(match).account
    with pytest.raises(UsageFault, match="cards"):
        hidden.decisions(hidden.result.match.seats[0])


def test_quotas(house, tmp_path):
    import shutil

    home = shutil.copytree(house, tmp_path / "home")
    with (
        served(home, quota=Quota(submissions=2, seconds=1e6)) as there,
        RemoteArena(there.address, there.tokens["ada"]) as ada,
    ):
        for number in range(2):
            assert not isinstance(ada.submit(f"{ROCK}# {number}\n", "rrps", "ada/q"), Rejection)
        with pytest.raises(QuotaSpent, match="2 submissions were made today"):
            ada.submit(f"{ROCK}# 3\n", "rrps", "ada/q")
        with RemoteArena(there.address, there.tokens["boss"]) as boss:
            assert boss.submit(f"{ROCK}# 4\n", "rrps", "bob/q").created


# What is answered.


def test_what_has_not_changed_is_not_sent_again(there, as_):
    path = "/api/v1/leaderboard?game=kuhn"
    tag = asked(there, "GET", path).headers["ETag"]
    again = asked(there, "GET", path, headers={"If-None-Match": tag})
    assert again.status_code == 304 and not again.content
    as_("boss").play("kuhn", 2)
    changed = asked(there, "GET", path, headers={"If-None-Match": tag})
    assert changed.status_code == 200 and changed.headers["ETag"] != tag


def test_the_api_describes_itself(there):
    document = asked(there, "GET", "/api/v1/openapi.json", None).json()
    assert document["paths"]["/api/v1/submit"]["post"]["requestBody"]
    assert "get" in document["paths"]["/api/v1/leaderboard"]
    told = asked(there, "GET", "/api/docs", None)
    assert "/api/v1/play_pairs" in told.text and "<script" not in told.text
    assert asked(there, "GET", "/health", None).json()["status"] == "ok"


def test_every_address_is_described_once_and_is_of_one_thing(there):
    """A method of the seam may be called as an address of the server's own was."""
    served = Api(*[None] * 4).app().routes
    ours = [(path.path, method) for path in served for method in path.methods if method != "HEAD"]
    assert len(ours) == len(set(ours))
    described = asked(there, "GET", "/api/v1/openapi.json", None).json()["paths"]
    told = {(path, method.upper()) for path, methods in described.items() for method in methods}
    undescribed = {path for path, _ in set(ours) - told}
    assert undescribed == {"/api/v1/openapi.json", "/api/docs"} and told <= set(ours)


def test_metrics_have_numbers_and_no_secrets(there):
    assert asked(there, "GET", "/health", None).status_code == 200
    assert asked(there, "GET", "/metrics", None).status_code == 401
    text = asked(there, "GET", "/metrics", "eve").text
    assert 'arena_requests_total{method="health",status="200"}' in text
    assert not any(token in text for token in there.tokens.values())


def test_jobs_end_when_nobody_wants_them(there, as_):
    boss = as_("boss")
    slow = boss.submit(SLOW, "rrps", "bob/slow").version.digest
    other = boss.submit(SLOW + "# 2\n", "rrps", "bob/slow").version.digest

    def stop(done, wanted):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        boss.play_pairs("rrps", {(slow, other): 200}, progress=stop)
    deadline = time.monotonic() + 20
    while asked(there, "GET", "/api/v1/jobs").json()["jobs"] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not asked(there, "GET", "/api/v1/jobs").json()["jobs"]
    assert len(boss.matches("rrps", slow, against=other, limit=None)) < 200


def test_turns_are_taken_between_accounts(new_home):
    with served(new_home()) as there:
        for who, count in (("ada", 3), ("bob", 1)):
            for number in range(count):
                document = {"source": {"str": f"{ROCK}# {who} {number}\n"}, "game": "rrps"}
                document["name"] = f"{who}/turn"
                asked(there, "POST", "/api/v1/submit", who, json=document)
        jobs, registry = {}, open_home(there.home).registry
        deadline = time.monotonic() + 60
        while len(jobs) < 4 and time.monotonic() < deadline:
            found = registry.find("rrps", name="ada/turn") + registry.find("rrps", name="bob/turn")
            jobs = {one.ref: one for one in found}
            time.sleep(0.05)
        order = sorted(jobs.values(), key=lambda one: one.created)
        assert [one.author for one in order].index("bob") < 2


def test_there_must_be_an_arena(tmp_path):
    nobody = RemoteArena("http://127.0.0.1:9", "x", timeout=0.2)
    with nobody, pytest.raises(ServerUnreachable, match="cannot be reached"):
        nobody.policies()
    for url in ("ftp://x", "http://", "https://user:pw@x", "http://x/?token=1", "http://x:y"):
        with pytest.raises(UsageFault, match="no address"):
            RemoteArena(url)
    with pytest.raises(UsageFault, match="workers"):
        Arena("http://127.0.0.1:9", workers=3)
    with pytest.raises(UsageFault, match="is a folder"):
        Arena(tmp_path / "home", token="x")


def test_while_nobody_waits_round_robins_are_played(new_home):
    with (
        served(new_home(), matches=2) as there,
        RemoteArena(there.address, there.tokens["boss"]) as boss,
    ):
        deadline = time.monotonic() + 60
        while not boss.matches("rrps", limit=1) and time.monotonic() < deadline:
            time.sleep(0.1)
        began = time.monotonic()
        assert boss.submit(ROCK, "rrps", "bob/first").created
        assert time.monotonic() - began < 30, "who comes is served before what nobody asked for"
        assert there.thread.server.job_runner.in_background > 0


def test_one_server_at_a_time_has_a_home(there):
    from arena.server.serving import Server, Serving

    with pytest.raises(UsageFault, match="another server has the home"):
        Server(Serving(there.home))
