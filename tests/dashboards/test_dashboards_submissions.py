"""The submission queue with a real sandbox: verdicts, budgets, whose names are whose, restarts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from arena import Arena
from arena.home import open_home
from dashboards.budgets import PlayingTime
from dashboards.intake import DESCRIPTION_CHARS, Refused
from dashboards.settings import Settings, Submitting
from dashboards.submissions import TRIES, SubmissionQueue
from dashboards.tickets import Entry, Stage, Tickets
from registry import Quota, Role
from registry.values import Origin
from tests.dashboards.queues import (
    OPPONENTS,
    SLOW,
    ScriptedArena,
    entry,
    opened,
    source,
    until_over,
    wait,
)
from tests.registry.tokens import token_fits

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def test_a_good_policy_is_registered_and_plays(home: Path) -> None:
    queue = opened(home)
    receipt = queue.submit(entry("ada/caller", "one idea"))
    ticket = until_over(queue, receipt.ticket)
    assert ticket.stage is Stage.DONE
    assert ticket.fresh
    assert (ticket.played, ticket.wanted) == (2 * OPPONENTS, 2 * OPPONENTS)
    assert 0 < ticket.spent < queue.budget.submission
    assert queue.used_today(ticket) == pytest.approx(ticket.spent)
    assert queue.plan(ticket).needed > 0
    said = [event.text for event in queue.log(ticket)]
    assert said[0] == "taken in"
    assert said[1] == "registered as ada/caller@1"
    assert "a hand: 3 opponents x 2 matches need" in said[2]
    assert said[-1] == "everything is played"

    again = until_over(queue, queue.submit(entry("ada/other", "one idea"), receipt.token).ticket)
    assert again.stage is Stage.DONE
    assert not again.fresh
    assert again.digest == ticket.digest
    queue.leave()
    found = open_home(home)
    assert len(found.store.matches("leduc", 1, of=ticket.digest)) == 2 * OPPONENTS
    version = found.registry.by_digests([ticket.digest])[ticket.digest]
    assert version.ref == "ada/caller@1"
    assert version.provenance["submitted_through"] == "page"
    assert ticket.id not in str(version.provenance)  # whoever knows it sees the ticket


def test_bad_policies_are_rejected_with_the_reason(home: Path) -> None:
    queue = opened(home)
    cases = {
        "import-not-allowed": "import os\n" + source(),
        "syntax-error": "class",
        "crashed": source(line="raise ValueError('because')"),
        "illegal-action": source(line="return 'FOLD'"),
    }
    token = ""
    for kind, text in cases.items():
        receipt = queue.submit(Entry("leduc", text, "ada/bad"), token)
        token = token or receipt.token
        ticket = until_over(queue, receipt.ticket)
        assert ticket.stage is Stage.REJECTED
        assert ticket.rejection is not None
        assert ticket.rejection.kind == kind
        if kind == "crashed":
            assert "because" in ticket.rejection.message
    queue.leave()
    assert open_home(home).registry.find("leduc", author="ada") == ()


def test_a_check_stores_nothing_and_costs_nothing(home: Path) -> None:
    queue = opened(home)
    ticket = until_over(queue, queue.submit(Entry("leduc", source("for a check"))).ticket)
    assert (ticket.stage, ticket.digest, ticket.checks_only) == (Stage.DONE, "", True)
    assert queue.used_today(ticket) == 0
    queue.leave()
    found = open_home(home).registry
    assert found.find("leduc", author="check") == ()
    assert all(author.origin is Origin.OPERATOR for author in found.authors())


def test_a_policy_that_takes_too_long_is_told_the_numbers(home: Path) -> None:
    queue = opened(home, PlayingTime(0.4, 60.0))
    ticket = until_over(queue, queue.submit(entry("ada/slow", line=SLOW)).ticket)
    assert ticket.stage is Stage.REJECTED
    assert ticket.rejection is not None
    assert ticket.rejection.kind == "too-slow"
    assert "one deal (2 matches) with each of 3 opponents needs" in ticket.rejection.message
    assert "may use 400 ms" in ticket.rejection.message
    assert queue.used_today(ticket) > 0  # what the trial took is charged
    queue.leave()


def test_names_and_tokens(home: Path) -> None:
    queue = opened(home)
    for name in ("house/better", "CSRO/x", "demo/x", "Hause\u200d/x", "noname", "a/b/c", "/x"):
        with pytest.raises(Refused):
            queue.submit(entry(name))
    with pytest.raises(Refused, match="own"):
        queue.submit(entry("house/better"))
    first = queue.submit(entry("ada/one"))
    assert len(first.token) == 48
    with pytest.raises(Refused, match="show the token"):
        queue.submit(entry("ada/two"))
    with pytest.raises(Refused, match="not the token of ada"):
        queue.submit(entry("ada/two"), first.token[:-1])
    with pytest.raises(Refused, match="would be taken for 'ada'"):
        queue.submit(entry("Ada/two"))
    with pytest.raises(Refused, match="no author 'bob'"):
        queue.submit(entry("bob/one"), first.token)
    second = queue.submit(entry("ada/two"), f" {first.token}\n")
    assert second.token == ""
    assert [one.name for one in queue.mine("ada", first.token)] == ["ada/two", "ada/one"]
    for author, token in (("ada", ""), ("ada", "x"), ("bob", first.token), ("", "")):
        with pytest.raises(Refused):
            queue.mine(author, token)
    until_over(queue, second.ticket)
    queue.leave()


def test_an_author_of_the_command_line_asks_the_operator(home: Path) -> None:
    with Arena(home, sandbox="process", workers=1) as arena:
        assert arena.submit(source("by hand"), "leduc", "grace/one")
        token = arena.home.registry.renew_token("grace")
        with Arena(home, sandbox="process", workers=1) as other:
            assert other.submit(source("by hand too"), "leduc", "linus/one")
    queue = opened(home)
    with pytest.raises(Refused, match="arena accounts renew linus"):
        queue.submit(entry("linus/two"))
    with pytest.raises(Refused, match="arena accounts renew linus"):
        queue.submit(entry("linus/two"), token)
    assert queue.submit(entry("grace/two"), token).token == ""
    queue.leave()


def test_accounts_their_rights_and_invitations(home: Path) -> None:
    registry = open_home(home).registry
    made = registry.add_accounts(
        [("prof", Role.OPERATOR), ("guest", Role.READER), ("ada", Role.AUTHOR)]
    )
    code, reading = registry.invite(), registry.invite(Role.READER)
    before = len(registry.events(what="version.registered"))
    settings = Settings(home, submitting=Submitting.ANY_WALL, matches=1, by_invitation=True)
    arena = ScriptedArena(open_home(home), dict.fromkeys(["ada/x", "bob/x"], 0.1))
    queue = SubmissionQueue(settings, arena)
    wait(lambda: queue.opening.open is not None)
    refused = [
        ("bob/x", "", "come by invitation"),
        ("bob/x", made["ada"], "put the code of an invitation"),
        ("bob/x", reading, "only reads"),
        ("ada/x", made["guest"], "guest reads only"),
        ("ada/x", code, "not the token of ada"),
        ("a b/x", code, "name"),
    ]
    for name, token, why in refused:
        with pytest.raises(Refused, match=why):
            queue.submit(entry(name), token)
    assert registry.account("bob") is None
    token = queue.submit(entry("bob/x"), code).token
    assert token_fits(registry, "bob", token)
    assert queue.submit(entry("ada/x"), made["prof"]).token == ""
    with pytest.raises(Refused, match="was used already"):
        queue.submit(entry("cy/x"), code)
    registry.disable_account("ada")
    with pytest.raises(Refused, match="is disabled"):
        queue.submit(entry("ada/y"), made["ada"])
    registry.set_quota("bob", Quota(1))
    with pytest.raises(Refused, match="1 submissions were made today"):
        queue.submit(entry("bob/y"), token)
    taken = registry.events(what="submission.taken")
    assert [(one.who, one.subject) for one in taken] == [("bob", "bob/x"), ("prof", "ada/x")]
    arena.gate.set()
    wait(lambda: len(registry.events(what="version.registered")) == before + 2)
    *_, one, other = registry.events(what="version.registered")
    noted = {(event.who, event.detail) for event in (one, other)}
    assert noted == {("bob", "leduc bob/x@1"), ("prof", "leduc ada/x@1")}
    queue.leave()


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (Entry("leduc", "", "ada/x"), "no source"),
        (Entry("leduc", " \n\t", "ada/x"), "no source"),
        (Entry("leduc", "x = 1\0", "ada/x"), "NUL"),
        (Entry("leduc", "x" * 65_537, "ada/x"), "65,536"),
        (Entry("leduc", "é" * 32_769, "ada/x"), "65,536"),
        (Entry("leduc", "x = 1\ny = '\u202e'", "ada/x"), r"line 2 has U\+202E"),
        (Entry("leduc", "\ud800", "ada/x"), "surrogate|UTF-8|encode"),
        (Entry("leduc", "x = 1", "a" * 10_000 + "/x"), "characters|letters|name"),
        (Entry("leduc", "x = 1", "ada/\u202ex"), "name|letters"),
        (Entry("leduc", "x = 1", "ada/x\0"), "name|letters"),
        (Entry("leduc", "x = 1", "ada/x", "é" * (DESCRIPTION_CHARS + 1)), "shorten"),
        (Entry("leduc", "x = 1", "ada/x", "a\u200bb"), r"U\+200B"),
        (Entry("leduc", "x = 1", "ada/x", "a\nb"), r"U\+000A"),
    ],
)
def test_what_cannot_be_taken_is_told(home: Path, entry: Entry, message: str) -> None:
    queue = opened(home)
    with pytest.raises(Refused, match=message) as refused:
        queue.submit(entry)
    assert len(str(refused.value)) < 500
    queue.leave()
    assert Tickets(home).of("ada") == []
    assert open_home(home).registry.author("ada") is None


def test_limits_of_an_author_and_of_everybody(home: Path) -> None:
    arena = ScriptedArena(open_home(home), dict.fromkeys(["ada/x", "bob/x", "eve/x"], 0.1))
    settings = Settings(home, submitting=Submitting.ANY_WALL, matches=1, per_hour=2, waiting=1)
    queue = SubmissionQueue(settings, arena, arena.now)
    wait(lambda: queue.opening.open is not None)
    first = queue.submit(entry("ada/x", "1"))
    with pytest.raises(Refused, match="1 submissions of ada go on already"):
        queue.submit(entry("ada/x", "2"), first.token)
    arena.gate.set()
    until_over(queue, first.ticket)
    until_over(queue, queue.submit(entry("ada/x", "2"), first.token).ticket)
    with pytest.raises(Refused, match="handed in 2 policies within the last hour"):
        queue.submit(entry("ada/x", "3"), first.token)
    arena.moment += timedelta(hours=1)
    until_over(queue, queue.submit(entry("ada/x", "3"), first.token).ticket)
    queue.leave()


def test_names_are_not_claimed_by_the_hundred(home: Path) -> None:
    queue = opened(home, per_hour=2)
    names = [queue.submit(Entry("leduc", "class", f"visitor{n}/x")) for n in range(2)]
    with pytest.raises(Refused, match="2 new names were claimed within the last hour"):
        queue.submit(Entry("leduc", "class", "visitor3/x"))
    assert until_over(queue, names[1].ticket).stage is Stage.REJECTED
    queue.leave()


def test_what_ends_the_server_again_and_again_is_given_up(home: Path) -> None:
    tickets = Tickets(home)
    ticket = tickets.add(entry("ada/bomb"), NOW)
    tickets.change(ticket, NOW, tries=TRIES)
    queue = opened(home)
    over = until_over(queue, ticket.id)
    assert over.stage is Stage.FAILED
    assert f"ended {TRIES} times" in over.problem
    queue.leave()


def test_a_fault_of_ours_is_told_and_the_next_one_is_served(home: Path) -> None:
    arena = ScriptedArena(open_home(home), {"bob/x": 0.1})  # the script does not know ada
    arena.gate.set()
    settings = Settings(home, submitting=Submitting.ANY_WALL, matches=2)
    queue = SubmissionQueue(settings, arena, arena.now)
    wait(lambda: queue.opening.open is not None)
    broken = until_over(queue, queue.submit(entry("ada/x")).ticket)
    assert broken.stage is Stage.FAILED
    assert "KeyError" in broken.problem
    assert until_over(queue, queue.submit(entry("bob/x")).ticket).stage is Stage.DONE
    queue.leave()


def test_closed_queues_say_why(home: Path) -> None:
    queue = SubmissionQueue(Settings(home, submitting=Submitting.OFF))
    wait(lambda: queue.opening.open is not None)
    assert "switched" in queue.opening.reason
    with pytest.raises(Refused, match="no policies are taken"):
        queue.submit(entry("ada/x"))
    with pytest.raises(Refused, match="no tickets are shown"):
        queue.mine("ada", "x")


def test_gvisor_is_required_unless_the_operator_says_otherwise(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")  # no docker and no runsc to be found
    queue = SubmissionQueue(Settings(home))
    wait(lambda: queue.opening.open is not None)
    assert queue.opening.open is False
    assert "gVisor is required" in queue.opening.reason
