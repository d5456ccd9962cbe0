"""The submission desk with a real sandbox: verdicts, limits, and whose names are whose."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from arena.games import game as game_named
from arena.home import open_home
from dashboards.desk import OVER, Desk, Entry, Refused, Stage, Ticket
from dashboards.settings import Settings, Submitting

LEDUC = game_named("leduc")
CALLER = '''
class RepeatedLeducPokerBot:
    """Calls {name}."""

    def restart(self, player_id):
        pass

    def act(self, obs):
        {line}
        return "CALL"

    def receive_outcome(self, obs):
        pass
'''


def source(name: str = "all", line: str = "pass") -> str:
    return CALLER.format(name=name, line=line)


def until(desk: Desk, number: int) -> Ticket:
    """Waits until a submission is over."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        ticket = desk.ticket(number)
        assert ticket is not None
        if ticket.stage in OVER:
            return ticket
        time.sleep(0.05)
    raise AssertionError(f"still {ticket}")


def opened(home: Path, **limits: int) -> Desk:
    settings = Settings(home, submitting=Submitting.ANY_WALL, matches=1, **limits)  # type: ignore[arg-type]
    desk = Desk(open_home(home), settings)
    _wait(lambda: desk.opening.open is not None)
    assert desk.opening.open, desk.opening.reason
    return desk


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_good_policy_is_registered_and_plays(home_copy: Path) -> None:
    desk = opened(home_copy)
    ticket = until(desk, desk.submit(Entry(LEDUC, "ada/caller", source())))
    assert ticket.stage is Stage.DONE
    assert ticket.version is not None and ticket.version.ref == "ada/caller@1"
    assert (ticket.played, ticket.wanted) == (3, 3)
    home = open_home(home_copy)
    assert len(home.store.matches("leduc", 1, of=ticket.version.digest)) == 3

    again = until(desk, desk.submit(Entry(LEDUC, "ada/other", source())))
    assert again.stage is Stage.DONE
    assert not again.created
    assert again.version is not None and again.version.ref == "ada/caller@1"


def test_bad_policies_are_rejected_with_the_reason(home_copy: Path) -> None:
    desk = opened(home_copy)
    cases = {
        "import-not-allowed": "import os\n" + source(),
        "syntax-error": "class",
        "crashed": source(line="raise ValueError('because')"),
        "illegal-action": source(line="return 'FOLD'"),
    }
    for kind, text in cases.items():
        ticket = until(desk, desk.submit(Entry(LEDUC, "ada/bad", text)))
        assert ticket.stage is Stage.REJECTED
        assert ticket.rejection is not None and ticket.rejection.kind == kind
    assert "because" in until(desk, 3).rejection.message  # type: ignore[union-attr]
    assert open_home(home_copy).registry.find("leduc", author="ada") == ()


def test_checking_stores_nothing(home_copy: Path) -> None:
    desk = opened(home_copy)
    ticket = until(desk, desk.submit(Entry(LEDUC, "", source("for a check"), keep=False)))
    assert (ticket.stage, ticket.version) == (Stage.DONE, None)
    assert open_home(home_copy).registry.find("leduc", author="check") == ()


def test_names_of_others_are_refused(home_copy: Path) -> None:
    desk = opened(home_copy)
    for name in ("house/better", "CSRO/x", "starter/leduc"):
        with pytest.raises(Refused, match="own"):
            desk.submit(Entry(LEDUC, name, source()))
    rrps = game_named("rrps")
    with pytest.raises(Refused, match="command line"):
        desk.submit(Entry(rrps, "eve/again", "class Agent: pass"))


def test_only_so_many_an_hour_and_in_the_queue(home_copy: Path) -> None:
    now = [0.0]
    settings = Settings(
        home_copy, submitting=Submitting.ANY_WALL, matches=1, per_hour=2, waiting=50
    )
    desk = Desk(open_home(home_copy), settings, clock=lambda: now[0])
    _wait(lambda: desk.opening.open is not None)
    numbers = [desk.submit(Entry(LEDUC, "ada/x", "class")) for _ in range(2)]
    with pytest.raises(Refused, match="2 submissions an hour"):
        desk.submit(Entry(LEDUC, "ada/x", "class"))
    now[0] = 3_601.0
    numbers.append(desk.submit(Entry(LEDUC, "ada/x", "class")))
    for number in numbers:
        until(desk, number)

    narrow = opened(home_copy, waiting=0)
    first = narrow.submit(Entry(LEDUC, "ada/x", source("slowly")))
    with pytest.raises(Refused, match="being worked on"):
        narrow.submit(Entry(LEDUC, "ada/x", "class"))
    until(narrow, first)


def test_closed_desks_say_why(home_copy: Path) -> None:
    desk = Desk(open_home(home_copy), Settings(home_copy, submitting=Submitting.OFF))
    _wait(lambda: desk.opening.open is not None)
    assert "switched" in desk.opening.reason
    with pytest.raises(Refused, match="no policies are taken"):
        desk.submit(Entry(LEDUC, "ada/x", source()))


def test_gvisor_is_required_unless_the_operator_says_otherwise(
    home_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")  # no docker and no runsc to be found
    desk = Desk(open_home(home_copy), Settings(home_copy))
    _wait(lambda: desk.opening.open is not None)
    assert desk.opening.open is False
    assert "gVisor is required" in desk.opening.reason
