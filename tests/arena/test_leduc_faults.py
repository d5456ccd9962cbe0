"""What ends a Leduc match early, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from arena.games.leduc import table as tables
from arena.games.leduc.game import LEDUC
from arena.games.leduc.table import FOLD, IDLE, ILLEGAL, MALFORMED, NONE, RAISE, Seat, Table

CALLED = tables.ACTIONS.index("CALL")


class FunctionPolicy:
    """Plays by a function of the observation."""

    def __init__(self, choose: Callable[[dict[str, Any]], Any]) -> None:
        self.choose = choose
        self.outcomes = 0

    def restart(self, player_id: int) -> None: ...

    def receive_outcome(self, obs: dict[str, Any]) -> None:
        self.outcomes += 1

    def act(self, obs: dict[str, Any]) -> Any:
        return self.choose(obs)


def always(action: str) -> FunctionPolicy:
    return FunctionPolicy(lambda obs: action)


def parts(messages: bytes) -> Iterator[bytes]:
    size = tables.MESSAGE_BYTES
    return (messages[at : at + size] for at in range(0, len(messages), size))


def play(deal_seed: int, players: list[FunctionPolicy]) -> Table:
    table, seats = Table([deal_seed]), [Seat(player) for player in players]
    while not table.done:
        messages = parts(table.messages())
        replies = [seat.reply(message) for seat, message in zip(seats, messages, strict=True)]
        table.advance(bytes(replies))
    return table


class Loud(str):
    """A string that claims to be every action."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("call", ILLEGAL),
        ("", ILLEGAL),
        ("FOLD", FOLD),
        (None, MALFORMED),
        (1, MALFORMED),
        (b"CALL", MALFORMED),
        (["CALL"], MALFORMED),
        (Loud("CALL"), MALFORMED),
    ],
)
def test_answers_that_are_no_legal_action(answer: Any, code: int) -> None:
    bad = FunctionPolicy(lambda obs: answer)
    first, _ = tables.dealt(1)
    table = Table([1])
    seats = [Seat(bad if seat == first else always("CALL")) for seat in (0, 1)]
    replies = [seat.reply(part) for seat, part in zip(seats, parts(table.messages()), strict=True)]
    assert replies[first] == code and replies[1 - first] == NONE
    table.advance(bytes(replies))  # FOLD is an action, but not legal here
    assert table.done and table.fault(0) == (first, ILLEGAL if code == FOLD else code)
    assert table.moves(0) == b""
    assert LEDUC.score(1, b"", first)[first] == -1300


def test_a_raise_at_the_cap_is_illegal() -> None:
    table = play(4, [always("RAISE"), always("RAISE")])
    first, _ = tables.dealt(4)
    assert table.fault(0) == (first, ILLEGAL)
    assert table.moves(0) == bytes([RAISE, RAISE])


@pytest.mark.parametrize("code", [240, 245, 249, 250, 251, 252])
@pytest.mark.parametrize("asked", [True, False])
def test_a_fault_code_counts_from_either_seat(code: int, asked: bool) -> None:
    table = Table([1, 2])
    first = tables.dealt(2)[0]
    guilty = first if asked else 1 - first
    replies = [NONE] * 4
    replies[tables.dealt(1)[0]] = CALLED
    replies[2 + first] = CALLED
    replies[2 + guilty] = code
    table.advance(bytes(replies))
    assert table.fault(1) == (guilty, code) and table.fault(0) is None
    assert table.moves(0) == bytes([CALLED]) and not table.done
    assert {part[0] for part in list(parts(table.messages()))[2:]} == {IDLE}


def test_a_fault_in_the_last_outcome_has_nothing_left_to_forfeit() -> None:
    class Sulky(FunctionPolicy):
        def receive_outcome(self, obs: dict[str, Any]) -> None:
            super().receive_outcome(obs)
            if self.outcomes == 100:
                raise RuntimeError("bad loser")

    players = [Sulky(lambda obs: "CALL"), always("CALL")]
    table, seats = Table([5]), [Seat(player) for player in players]
    while not table.done:
        replies = []
        for seat, message in zip(seats, parts(table.messages()), strict=True):
            try:
                replies.append(seat.reply(message))
            except RuntimeError:
                replies.append(tables.RAISED)
        table.advance(bytes(replies))
    assert table.fault(0) == (0, tables.RAISED)
    moves = table.moves(0)
    assert moves == play(5, [always("CALL"), always("CALL")]).moves(0)
    assert LEDUC.score(5, moves, 0) == LEDUC.score(5, moves, None)


def test_wrong_use_is_refused() -> None:
    table = Table([1])
    with pytest.raises(ValueError, match="3 replies for 2 seats"):
        table.advance(bytes(3))
    table.advance(bytes([250, 250]))
    with pytest.raises(ValueError, match="every match is over"):
        table.advance(bytes([NONE, NONE]))
    with pytest.raises(AttributeError, match="receive_outcome"):
        Seat(type("Half", (), {"act": None, "restart": None})())
