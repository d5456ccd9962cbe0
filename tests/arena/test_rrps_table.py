"""The table and the seat: lockstep, faults, and what an author's class gets to see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.rrps.game import RRPS
from arena.games.rrps.table import (
    FIRST_THROW,
    IDLE,
    ILLEGAL,
    LENGTH,
    MALFORMED,
    NONE,
    RAISED,
    Seat,
    Table,
)

REPLIES = st.sampled_from([0, 1, 2] * 12 + [RAISED, ILLEGAL, MALFORMED, 240, NONE, 7, 255])


class OneMatch:
    """The same rules for one match, written as plainly as possible."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.played: list[tuple[int, int]] = []
        self.fault: tuple[int, int] | None = None

    @property
    def over(self) -> bool:
        return self.fault is not None or len(self.played) == self.length

    def messages(self) -> tuple[int, int]:
        if self.over:
            return (IDLE, IDLE)
        if not self.played:
            return (FIRST_THROW, FIRST_THROW)
        one, two = self.played[-1]
        return (two, one)

    def advance(self, pair: tuple[int, int]) -> None:
        if self.over:
            return
        for seat, code in enumerate(pair):
            if code > 2:
                self.fault = (seat, code if 240 <= code <= 252 else ILLEGAL)
                return
        self.played.append(pair)


@given(
    length=st.integers(1, 6),
    ticks=st.integers(1, 5).flatmap(
        lambda n: st.lists(st.lists(REPLIES, min_size=2 * n, max_size=2 * n), min_size=6)
    ),
)
def test_a_block_is_its_matches_played_one_by_one(
    length: int, ticks: Sequence[Sequence[int]]
) -> None:
    matches = len(ticks[0]) // 2
    table, plain = Table([0] * matches, length), [OneMatch(length) for _ in range(matches)]
    for replies in ticks:
        assert table.done == all(one.over for one in plain)
        assert table.messages() == bytes(code for one in plain for code in one.messages())
        if table.done:
            break
        table.advance(bytes(replies))
        for number, one in enumerate(plain):
            one.advance((replies[2 * number], replies[2 * number + 1]))
    for number, one in enumerate(plain):
        assert table.moves(number) == bytes(move for pair in one.played for move in pair)
        assert table.fault(number) == one.fault


def test_a_match_lasts_a_thousand_throws() -> None:
    table = RRPS.table([1])
    for _ in range(LENGTH):
        assert not table.done
        table.advance(bytes((0, 1)))
    assert table.done
    assert table.messages() == bytes((IDLE, IDLE))
    assert table.moves(0) == bytes((0, 1)) * 1000
    with pytest.raises(ValueError, match="every match is over"):
        table.advance(bytes((0, 1)))


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match="3 replies for 4 seats"):
        Table([0, 0]).advance(bytes(3))
    with pytest.raises(ValueError, match="at least one throw"):
        Table([0], 0)


def test_no_matches_are_done_at_once() -> None:
    table = Table([])
    assert table.done
    assert table.messages() == b""


class Scripted:
    """Answers from a list, and keeps what it saw."""

    def __init__(self, answers: Sequence[Any]) -> None:
        self.answers = list(answers)
        self.seen: list[Any] = []

    def act(self, observation: dict[str, Any]) -> Any:
        self.seen.append(dict(observation))
        observation["my_action"] = "GARBAGE"  # a policy may do what it likes with its own copy
        observation.clear()
        return self.answers[len(self.seen) - 1]


def test_a_seat_shows_both_last_throws() -> None:
    policy = Scripted(["ROCK", "PAPER", "SCISSORS"])
    seat = RRPS.seat(policy)
    assert [seat.reply(bytes([m])) for m in (FIRST_THROW, 2, 1)] == [0, 1, 2]
    assert policy.seen == [
        {"my_action": None, "opponent_action": None},
        {"my_action": "ROCK", "opponent_action": "SCISSORS"},
        {"my_action": "PAPER", "opponent_action": "PAPER"},
    ]


def test_a_seat_that_is_not_asked_does_not_call() -> None:
    policy = Scripted([])
    assert Seat(policy).reply(bytes([IDLE])) == NONE
    assert policy.seen == []


class Sly(str):
    """Equal to whatever is convenient."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("ROCK")


@pytest.mark.parametrize("answer", [None, 0, b"ROCK", ["ROCK"], Sly("ROCK"), Scripted])
def test_what_is_not_exactly_a_string_is_malformed(answer: object) -> None:
    assert Seat(Scripted([answer])).reply(bytes([FIRST_THROW])) == MALFORMED


@pytest.mark.parametrize("answer", ["", "rock", "ROCK ", "LIZARD", "R", "\ud800"])
def test_a_string_that_is_no_action_is_illegal(answer: str) -> None:
    assert Seat(Scripted([answer])).reply(bytes([FIRST_THROW])) == ILLEGAL


def test_the_seat_survives_a_policy_that_replaces_builtins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seat = Seat(Scripted([7]))
    monkeypatch.setattr("arena.games.rrps.table.ACTIONS", ("X",))
    monkeypatch.setattr("builtins.type", lambda _: str)
    reply = seat.reply(bytes([FIRST_THROW]))
    monkeypatch.undo()
    assert reply == MALFORMED
