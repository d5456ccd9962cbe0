"""The game against the engine: scores, forfeits, packing, and the facts in the rules text."""

from __future__ import annotations

import itertools
import random
import re

import pyspiel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import UnknownGame
from arena.games import GAMES, game
from arena.games.rrps.engine import engine_match, payoff_matrix
from arena.games.rrps.game import RRPS

THROWS = st.lists(st.integers(0, 2), max_size=60).map(lambda moves: bytes(moves[: len(moves) & ~1]))


def random_moves(seed: int, throws: int = 1000) -> bytes:
    return bytes(random.Random(seed).choices(range(3), k=2 * throws))


@pytest.mark.parametrize("seed", range(5))
def test_score_is_the_engines(seed: int) -> None:
    moves = random_moves(seed)
    state = engine_match()
    for one, two in zip(moves[0::2], moves[1::2], strict=True):
        state.apply_actions([one, two])
    assert state.is_terminal()
    assert RRPS.score(0, moves, None) == tuple(state.returns())
    assert RRPS.account(0, moves, None).returns == tuple(state.returns())


def test_actions_are_the_engines_in_its_order() -> None:
    state = engine_match()
    for player in (0, 1):
        names = [state.action_to_string(player, a).upper() for a in state.legal_actions(player)]
        assert names == list(RRPS.actions)


@given(moves=THROWS, seat=st.integers(0, 1))
def test_a_forfeit_loses_the_rest(moves: bytes, seat: int) -> None:
    pairs = zip(moves[0::2], moves[1::2], strict=True)
    before = sum((0, 1, -1)[(one - two) % 3] for one, two in pairs)
    left = 1000 - len(moves) // 2
    expected = before - left if seat == 0 else before + left
    assert RRPS.score(0, moves, seat) == (expected, -expected)


def test_a_forfeit_in_the_first_throw_loses_everything() -> None:
    assert RRPS.score(0, b"", 0) == (-1000, 1000)
    assert RRPS.score(0, b"", 1) == (1000, -1000)


def test_account_tells_every_throw() -> None:
    account = RRPS.account(0, bytes((0, 1, 2, 1, 1, 1)), 1)
    assert account.events == (
        {"throw": 1, "actions": ("ROCK", "PAPER"), "payoff": -1, "total": -1},
        {"throw": 2, "actions": ("SCISSORS", "PAPER"), "payoff": 1, "total": 0},
        {"throw": 3, "actions": ("PAPER", "PAPER"), "payoff": 0, "total": 0},
    )
    assert account.returns == (997, -997)


@pytest.mark.parametrize(
    ("moves", "fault_seat", "says"),
    [
        (bytes(1999), None, "a throw has two"),
        (bytes(1998), None, "999 throws of 1000"),
        (bytes(2002), None, "1001 throws of 1000"),
        (bytes((0, 3)), 0, "move 3 is no action"),
        (bytes(2000), 1, "none left to forfeit"),
        (bytes(2), 2, "must be 0, 1 or None"),
    ],
)
def test_what_is_no_record_of_a_match_is_refused(
    moves: bytes, fault_seat: int | None, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        RRPS.score(0, moves, fault_seat)
    with pytest.raises(ValueError, match=says):
        RRPS.account(0, moves, fault_seat)


def test_a_packed_match_has_500_bytes() -> None:
    moves = random_moves(9)
    assert len(RRPS.pack(moves)) == 500
    assert RRPS.unpack(RRPS.pack(moves)) == moves


@pytest.mark.parametrize("moves", [bytes(3), bytes((0, 3))])
def test_only_moves_can_be_packed(moves: bytes) -> None:
    with pytest.raises(ValueError, match="not moves"):
        RRPS.pack(moves)


@pytest.mark.parametrize("packed", [b"\x03", b"\x0f", b"\xff\x00", b"\x0c\xf0"])
def test_only_packed_moves_can_be_unpacked(packed: bytes) -> None:
    with pytest.raises(ValueError, match="no packed moves"):
        RRPS.unpack(packed)


def test_games_are_found_by_name() -> None:
    assert game("rrps") is RRPS
    assert GAMES["rrps"] is RRPS
    with pytest.raises(UnknownGame, match=r"no game 'chess'.*rrps"):
        game("chess")


# What the rules text says, checked against the engine.


def test_rules_tell_who_beats_whom() -> None:
    said = set(re.findall(r"^- (\w+) beats (\w+)\.$", RRPS.rules, re.MULTILINE))
    stage = pyspiel.load_matrix_game("matrix_rps")
    size = range(stage.num_rows())
    true = {
        (stage.row_action_name(row).upper(), stage.row_action_name(col).upper())
        for row, col in itertools.product(size, size)
        if stage.player_utility(0, row, col) == 1
    }
    assert said == true
    assert len(said) == 3


def test_rules_tell_the_payoffs_and_the_length() -> None:
    (won, drawn, lost) = re.findall(
        r"counts ([+-]?\d+), a\s+drawn one (\d+) and a\s+lost one (-\d+)", RRPS.rules
    )[0]
    assert sorted(set(payoff_matrix().ravel().tolist())) == [int(lost), int(drawn), int(won)]
    (times,) = re.findall(r"(\d+) times in a match", RRPS.rules)
    assert int(times) == engine_match().get_game().max_game_length() == RRPS.length
    low, high = re.findall(r"from (-\d+) to \+(\d+)", RRPS.rules)[0]
    engine = engine_match().get_game()
    assert (int(low), int(high)) == (engine.min_utility(), engine.max_utility())
