"""What holds for running a tournament here, holds at a server: accounts, the log, a final."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.contest.certificate import without_sources
from arena.contest.verification import verify
from arena.errors import NotAllowed, UsageFault
from arena.home import open_home
from arena.remote import RemoteArena
from arena.remote_office import RemoteOffice
from arena.seam import Operations
from registry import Quota, Role
from registry.errors import (
    InviteRefused,
    NameRefused,
    TournamentConflict,
    UnknownAuthor,
    UnknownTournament,
)
from tests.arena.contests import FIRST, SECOND, SECRET
from tests.arena.serving import served
from tests.arena.test_conformance import opened


@pytest.fixture(scope="module", params=["local", "remote"])
def arena(request, house, tmp_path_factory):
    """One arena for all tests below, as an operator has it: each uses names of its own."""
    home = shutil.copytree(house, tmp_path_factory.mktemp(request.param) / "home")
    with opened(request.param, home) as made:
        yield made


def test_the_remote_one_has_every_method():
    for name in vars(Operations):
        if not name.startswith("_"):
            assert name in vars(RemoteOffice), name


def test_accounts_are_made_changed_and_told_of(arena):
    office, later = arena.office, datetime(2999, 1, 1, tzinfo=UTC)
    made = office.add_accounts([("mia", Role.AUTHOR), ("noa", Role.READER)], expires=later)
    assert list(made) == ["mia", "noa"] and len(made["mia"]) == 48
    with pytest.raises(NameRefused, match="mia"):
        office.add_accounts([("pia", Role.AUTHOR), ("mia", Role.AUTHOR)])
    known = {one.name: one for one in office.accounts()}
    assert "pia" not in known and known["noa"].expires == later
    assert office.renew_token("mia") != made["mia"]
    assert office.disable_account("mia").disabled
    assert not office.disable_account("mia", disabled=False).disabled
    assert office.set_role("mia", Role.READER).role is Role.READER
    assert office.set_quota("mia", Quota(3, 60.0)).quota == Quota(3, 60.0)
    with pytest.raises(UsageFault, match="no quota"):
        office.set_quota("mia", Quota(-1))
    with pytest.raises(UnknownAuthor):
        office.disable_account("nobody")
    with pytest.raises(UsageFault, match="say its zone"):
        office.renew_token("mia", expires=later.replace(tzinfo=None))
    told = [one.what for one in office.events(subject="mia")]
    assert told == [
        *("account.added", "account.renewed", "account.disabled", "account.enabled"),
        *("account.role", "account.quota"),
    ]
    assert len(office.events(limit=2)) == 2
    for limit in (0, 2**31, 2**63):
        with pytest.raises(UsageFault, match="cannot be listed"):
            office.events(limit=limit)


def test_invitations_are_made_used_and_ended(arena):
    office = arena.office
    code = office.invite(Role.READER, uses=2)
    token = office.redeem(code, "zoe")
    assert len(token) == 48 and {one.name for one in office.accounts()} >= {"zoe"}
    (own,) = [one for one in office.invites() if one.used == 1]
    assert (own.role, own.uses) == (Role.READER, 2)
    assert office.withdraw_invite(own.mark) == 1
    for bad in (code, "nonsense"):
        with pytest.raises(InviteRefused):
            office.redeem(bad, "zac")
    codes = office.invite_all([("uma", Role.AUTHOR)])
    with pytest.raises(InviteRefused, match="for the name 'uma'"):
        office.redeem(codes["uma"], "una")
    for uses in (0, 2**63):
        with pytest.raises(UsageFault, match="cannot be for"):
            office.invite(uses=uses)


def test_a_tournament_goes_from_its_announcement_to_a_certificate(arena):
    office, now = arena.office, datetime.now(UTC)
    words = {"hidden": ["house/AlwaysPass"], "secret": [("shy", SECRET)], "matches": 2}
    made = office.announce("spring", "kuhn", None, now + timedelta(days=1), **words)
    assert abs((made.opens - now).total_seconds()) < 60 and len(made.hidden) == 2
    assert made in office.tournaments() and office.tournament("spring") == made
    with pytest.raises(TournamentConflict, match="is a tournament"):
        office.announce("spring", "kuhn", None, now + timedelta(days=1))
    with pytest.raises(UsageFault, match="is not taken"):
        office.announce("bad", "kuhn", None, now + timedelta(days=1), secret=[("x", "class X: 1")])
    with pytest.raises(UsageFault, match="say its zone"):
        office.announce("bad", "kuhn", None, now.replace(tzinfo=None))
    with pytest.raises(TournamentConflict, match="need a hidden population"):
        office.announce("bad", "kuhn", None, now + timedelta(days=1), entries=2)
    with pytest.raises(TournamentConflict, match="would be over already"):
        office.announce("bad", "kuhn", now - timedelta(days=2), now - timedelta(days=1))
    known = {one.ref for one in arena.policies("kuhn", author="operator")}
    other = [("other", SECRET.replace("class", "# other\nclass", 1))]
    with pytest.raises(TournamentConflict, match="would be over already"):
        office.announce("bad", "kuhn", None, now - timedelta(days=1), secret=other)
    with pytest.raises(TournamentConflict, match="is a tournament"):
        office.announce("spring", "kuhn", None, now + timedelta(days=1), secret=other)
    with pytest.raises(TournamentConflict, match="matches come in pairs"):
        office.announce("bad", "kuhn", None, now + timedelta(days=1), matches=3, secret=other)
    assert {one.ref for one in arena.policies("kuhn", author="operator")} == known
    with pytest.raises(UnknownTournament):
        office.counting("bad")
    for name, source in (("ada", FIRST), ("bob", SECOND)):
        assert arena.submit(source, "kuhn", f"{name}/x").created
    assert [one.ref for one in office.counting("spring")] == ["ada/x@1", "bob/x@1"]
    with pytest.raises(TournamentConflict, match="is open until"):
        office.final("spring")
    closed = office.move_closing("spring")
    assert abs((closed.closes - now).total_seconds()) < 60
    steps = []
    report = office.final("spring", progress=lambda done, wanted: steps.append((done, wanted)))
    assert report.played == 10 and steps
    assert office.final("spring").skipped == 10
    with pytest.raises(UsageFault, match="has no certificate yet"):
        office.certificate("spring")
    document = office.certify("spring")
    assert all(not one.problem for one in verify(document))
    assert office.certify("spring") == document
    assert office.certificate("spring", sources=True) == document
    assert office.certificate("spring") == without_sources(document)
    assert office.tournament("spring").certificate == document["digest"]


# Who may.


@pytest.fixture
def there(new_home):
    with served(new_home()) as running:
        yield running


def test_authors_see_tournaments_and_run_nothing(there):
    registry = open_home(there.home).registry
    with (
        RemoteArena(there.address, there.tokens["boss"]) as boss,
        RemoteArena(there.address, there.tokens["ada"]) as ada,
    ):
        closes = datetime.now(UTC) + timedelta(days=1)
        boss.office.announce("may", "kuhn", None, closes, matches=2, secret=[("shy", SECRET)])
        (seen,) = ada.office.tournaments()
        assert (seen.hidden, seen.closes) == (("",), closes)
        assert ada.office.tournament("may").hidden == ("",)
        assert boss.office.tournament("may").hidden != ("",)
        ada.submit(FIRST, "kuhn", "ada/x")
        assert [one.ref for one in ada.office.counting("may")] == ["ada/x@1"]
        before = registry.events()[-1].position
        for change in (
            lambda office: office.accounts(),
            lambda office: office.invites(),
            lambda office: office.events(),
            lambda office: office.add_accounts([("mia", Role.OPERATOR)]),
            lambda office: office.invite(Role.OPERATOR),
            lambda office: office.invite_all([("mia", Role.OPERATOR)]),
            lambda office: office.withdraw_invite("0" * 8),
            lambda office: office.renew_token("boss"),
            lambda office: office.disable_account("boss"),
            lambda office: office.set_role("ada", Role.OPERATOR),
            lambda office: office.set_quota("ada", Quota(10**6)),
            lambda office: office.announce("june", "kuhn", None, closes),
            lambda office: office.move_closing("may"),
            lambda office: office.final("may"),
            lambda office: office.certify("may"),
        ):
            with pytest.raises(NotAllowed, match="ada has the role of author"):
                change(ada.office)
        assert registry.events(after=before) == ()
        boss.office.set_role("ada", Role.READER)
        (last,) = registry.events(after=before)
        assert (last.who, last.what, last.subject) == ("boss", "account.role", "ada")


def test_a_code_makes_an_account_without_one_and_nothing_else_does(there):
    with RemoteArena(there.address, there.tokens["boss"]) as boss:
        code = boss.office.invite()
        url = f"{there.address}/api/v1/redeem"
        key = {"Idempotency-Key": "mine"}
        refused = httpx2.post(url, json={"code": "0" * 48, "name": "mia"}, headers=key)
        assert refused.json()["error"]["kind"] == "InviteRefused"
        wrong = httpx2.post(
            url, json={"code": code, "name": "mia"}, headers={"Authorization": "Bearer nonsense"}
        )
        assert wrong.status_code == 401
        made = httpx2.post(url, json={"code": code, "name": "mia"}, headers=key)
        token = made.json()["result"]
        with RemoteArena(there.address, token) as mia:
            assert mia.account()["name"] == "mia"
        (entry,) = boss.office.events(what="invite.redeemed")
        assert entry.who == "mia"
    kept = (there.home / "server.sqlite").read_bytes()
    kept += (there.home / "server.sqlite-wal").read_bytes()
    assert token.encode() not in kept and b"mine" not in kept
    for path in ("accounts", "invite", "tournaments"):
        assert httpx2.post(f"{there.address}/api/v1/{path}", json={}).status_code == 401


def test_what_was_told_once_is_kept_nowhere(there):
    headers = {"Authorization": f"Bearer {there.tokens['boss']}", "Idempotency-Key": "roster"}
    document = {"roster": [["mia", "author"], ["noa", "reader"]]}
    url = f"{there.address}/api/v1/add_accounts"
    first, again = (httpx2.post(url, json=document, headers=headers) for _ in range(2))
    tokens = first.json()["result"]
    assert set(tokens) == {"mia", "noa"}
    assert again.status_code == 400 and "told already" in again.text
    kept = (there.home / "server.sqlite").read_bytes()
    kept += (there.home / "server.sqlite-wal").read_bytes()
    assert not any(token.encode() in kept for token in tokens.values())


# The commands.


def test_the_commands_run_a_tournament_at_a_server(there, tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_URL", there.address)
    monkeypatch.setenv("ARENA_TOKEN", there.tokens["boss"])
    monkeypatch.delenv("ARENA_HOME", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*words, code=0, **options):
        done = CliRunner().invoke(main, [*map(str, words), "--json"], **options)
        assert done.exit_code == code, done.output
        return json.loads(done.stdout)

    (tmp_path / "shy.py").write_text(SECRET)
    made = run("accounts", "import", "-", input="mia\nnoa,reader\n")["accounts"]
    assert [one["name"] for one in made] == ["mia", "noa"]
    code = run("accounts", "invite")["code"]
    monkeypatch.delenv("ARENA_TOKEN")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert len(run("accounts", "redeem", code, "zoe")["token"]) == 48
    monkeypatch.setenv("ARENA_TOKEN", there.tokens["boss"])
    run("accounts", "renew", "mia", "--yes")
    run("accounts", "quota", "mia", "--submissions", 3)
    run("accounts", "role", "noa", "author")
    run("accounts", "disable", "noa")
    run("accounts", "enable", "noa")
    listed = {one["name"]: one for one in run("accounts", "list")["accounts"]}
    assert listed["mia"]["submissions_a_day"] == 3 and listed["noa"]["role"] == "author"
    assert {one["who"] for one in run("accounts", "log")["events"]} >= {"boss", "zoe"}
    words = ("--game", "kuhn", "--closes", "2999-01-01", "--matches", 2, "--hidden", "shy.py")
    assert run("tournament", "open", "spring", *words)["hidden"] == 1
    for name, source in (("ada", FIRST), ("bob", SECOND)):
        (tmp_path / "x.py").write_text(source)
        run("submit", "x.py", "--game", "kuhn", "--name", f"{name}/x")
    assert [one["name"] for one in run("tournament", "list")["tournaments"]] == ["spring"]
    assert len(run("tournament", "show", "spring")["counting"]) == 2
    assert run("tournament", "close", "spring")["phase"] == "closed"
    assert run("tournament", "final", "spring")["played"] == 6
    issued = run("tournament", "certificate", "spring", "--out", "spring.json")
    checks = run("verify", "spring.json")["checks"]
    assert {"the home's own record"} <= {one["check"] for one in checks}
    assert run("verify", "spring.json", "--play", 1, "--seed", 1)["digest"] == issued["digest"]
    monkeypatch.setenv("ARENA_TOKEN", there.tokens["ada"])
    assert run("tournament", "show", "spring")["phase"] == "certified"
    assert run("accounts", "list", code=1)["error"]["kind"] == "NotAllowed"
