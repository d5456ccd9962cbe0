"""The Leduc game: scores and accounts by the engine, packing, and rules text that is true."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games.leduc import table as tables
from arena.games.leduc.game import LEDUC, most_lost

ENGINE = pyspiel.load_game("leduc_poker")


def replay(deal_seed: int, moves: bytes) -> Iterator[tuple[Any, int]]:
    """The engine's final state of each hand, without any cache, and the seat of player 0."""
    first, deals = tables.dealt(deal_seed)
    betting = iter(moves)
    for number, deal in enumerate(deals):
        state, cards = ENGINE.new_initial_state(), iter(tables.DEALS[deal])
        while not state.is_terminal():
            action = next(cards) if state.is_chance_node() else next(betting, None)
            if action is None:
                return
            state.apply_action_with_legality_check(action)
        yield state, (first + number) % 2


def random_record(deal_seed: int, luck: int) -> bytes:
    """A complete record of random legal actions, by the engine."""
    rng = random.Random(luck)
    _, deals = tables.dealt(deal_seed)
    moves = bytearray()
    for deal in deals:
        state, cards = ENGINE.new_initial_state(), iter(tables.DEALS[deal])
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(next(cards))
            else:
                moves.append(rng.choice(state.legal_actions()))
                state.apply_action(moves[-1])
    return bytes(moves)


SEEDS = st.integers(0, 2**63 - 1)


@given(SEEDS, st.integers(0, 2**32))
@settings(max_examples=15)
def test_the_score_is_the_engines(deal_seed: int, luck: int) -> None:
    moves = random_record(deal_seed, luck)
    ends = list(replay(deal_seed, moves))
    assert len(ends) == LEDUC.length
    seat_0 = sum(state.returns()[flip] for state, flip in ends)
    assert LEDUC.score(deal_seed, moves, None) == (seat_0, -seat_0)


@given(SEEDS, st.integers(0, 2**32), st.floats(0, 1), st.sampled_from([0, 1]))
@settings(max_examples=15)
def test_a_forfeit_loses_the_most_for_each_hand_that_is_not_over(
    deal_seed: int, luck: int, part: float, fault_seat: int
) -> None:
    moves = random_record(deal_seed, luck)
    moves = moves[: int(part * (len(moves) - 1))]
    ends = list(replay(deal_seed, moves))
    lost = 13 * (100 - len(ends)) * (1 if fault_seat else -1)
    seat_0 = sum(state.returns()[flip] for state, flip in ends) + lost
    account = LEDUC.account(deal_seed, moves, fault_seat)
    assert account.returns == LEDUC.score(deal_seed, moves, fault_seat) == (seat_0, -seat_0)
    assert account.events[-1]["outcome"] == "UNFINISHED"
    assert len(account.events) == len(ends) + 1


def test_the_most_that_a_hand_costs_is_the_engines() -> None:
    assert most_lost() == 13 == ENGINE.max_utility() == -ENGINE.min_utility()
    assert max(max(node.paid) for node in tables.NODES) == 13


@given(SEEDS, st.integers(0, 2**32))
@settings(max_examples=5)
def test_the_account_tells_what_happened(deal_seed: int, luck: int) -> None:
    moves = random_record(deal_seed, luck)
    account = LEDUC.account(deal_seed, moves, None)
    total, told = 0, bytearray()
    for number, ((state, flip), event) in enumerate(
        zip(replay(deal_seed, moves), account.events, strict=True), 1
    ):
        total += int(state.returns()[flip])
        betting = event["betting"][0] + event["betting"][1]
        told += bytes(tables.ACTIONS.index(action) for _, action in betting)
        seats = [seat for one in event["betting"] for at, (seat, _) in enumerate(one)]
        openers = [one[0][0] for one in event["betting"] if one]
        assert set(openers) == {flip} and set(seats) <= {0, 1}
        assert event["dealer"] == 1 - flip and event["players"][flip] == 0
        assert (event["hand"], event["payoff"], event["total"]) == (
            number,
            int(state.returns()[flip]),
            total,
        )
        assert event["cards"] == tuple(
            "JQK"[state.private_card(player) // 2] for player in event["players"]
        )
        public = state.public_card()
        assert event["public_card"] == ("JQK"[public // 2] if public >= 0 else None)
        assert event["outcome"] == ("FOLD" if betting[-1][1] == "FOLD" else "SHOWDOWN")
    assert bytes(told) == moves
    assert account.returns[0] == total


def test_the_pot_of_the_account() -> None:
    """Two antes, two raises before the public card and two after it: 2 x 13 chips."""
    hand = {"big": bytes((2, 2, 1, 2, 2, 1)), "small": bytes((1, 1, 1, 1)), "fold": bytes((2, 0))}
    moves = hand["big"] + hand["small"] + hand["fold"] * 98
    pots = [event["pot"] for event in LEDUC.account(3, moves, None).events]
    assert pots == [26, 2] + [4] * 98


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda moves: b"\x00" + moves, r"move 0 \(hand 1\) is 0; legal are \(1, 2\)"),
        (lambda moves: b"\x03" + moves, "move 0"),
        (lambda moves: b"\x02\x02\x02" + moves, r"move 2 \(hand 1\) is 2; legal are \(0, 1\)"),
        (lambda moves: moves[:-1], "ends in hand 100, and no seat forfeited"),
        (lambda moves: b"", "ends in hand 1, and no seat forfeited"),
        (lambda moves: moves + b"\x01", "1 moves follow the end"),
    ],
)
def test_an_illegal_record_is_refused(change: Any, message: str) -> None:
    moves = bytes((1, 1, 1, 1)) * 100
    assert sum(LEDUC.score(1, moves, None)) == 0
    for method in (LEDUC.score, LEDUC.account):
        with pytest.raises(ValueError, match=message):
            method(1, change(moves), None)


@given(st.lists(st.sampled_from([0, 1, 2]), max_size=900))
def test_packing_is_reversible_and_small(actions: list[int]) -> None:
    moves = bytes(actions)
    packed = LEDUC.pack(moves)
    assert LEDUC.unpack(packed) == moves
    assert len(packed) == -(-len(moves) // 4)


def test_moves_that_are_no_actions_are_not_packed() -> None:
    with pytest.raises(ValueError, match="move 3 is no action"):
        LEDUC.pack(bytes((1, 3)))
    with pytest.raises(ValueError, match="no packed moves"):
        LEDUC.unpack(bytes((0b11_11_11_11,)))


# --- the rules text ---------------------------------------------------------------------------

RULES = " ".join(LEDUC.rules.split())


def stated(pattern: str) -> tuple[str, ...]:
    """The facts that the rules state in a sentence of this form; the form must be there once."""
    (found,) = re.findall(pattern, RULES)
    return found if isinstance(found, tuple) else (found,)


def engine_after(cards: tuple[int, ...], actions: tuple[int, ...]) -> Any:
    state, chance, betting = ENGINE.new_initial_state(), iter(cards), iter(actions)
    while not state.is_terminal():
        action = next(chance) if state.is_chance_node() else next(betting, None)
        if action is None:
            break
        state.apply_action(action)
    return state


def test_the_numbers_in_the_rules_are_the_engines() -> None:
    assert stated(r"rules version (\d+)") == (str(LEDUC.version),)
    assert stated(r"Two players play (\d+) hands") == (str(LEDUC.length),)
    start = engine_after((0, 2, 4), ())
    deck, each, ranks = stated(r"The deck has (\d) cards: (\w+) each of (J, Q and K)")
    assert int(deck) == len(ENGINE.new_initial_state().legal_actions())
    assert (each, ranks) == ("two", "J, Q and K")
    chips, ante = map(int, stated(r"with (\d+) chips and puts an ante of (\d) chip"))
    assert start.money() == [chips - ante] * 2 and start.pot() == 2 * ante
    before, later = map(int, stated(r"and (\d) chips more in PREFLOP, or (\d) chips more in POST"))
    assert start.child(2).money()[0] == chips - ante - before
    assert engine_after((0, 2, 4), (1, 1, 2)).money()[0] == chips - ante - later
    cap = int(*stated(r"At most (\d) raises are allowed in a round"))
    for line in ((), (1, 1)):
        raised = [engine_after((0, 2, 4), line + (2,) * times) for times in range(cap + 1)]
        assert [2 in state.legal_actions() for state in raised] == [True] * cap + [False]
    assert int(*stated(r"can win or lose is (\d+) chips")) == ENGINE.max_utility()
    assert int(*stated(r"would have followed lose (\d+) chips")) == most_lost()


def test_the_order_of_play_in_the_rules_is_the_engines() -> None:
    opener = int(*stated(r"Player (\d) acts first in both rounds"))
    assert engine_after((0, 2, 4), ()).current_player() == opener
    assert engine_after((0, 2, 4), (1, 1)).current_player() == opener
    assert int(*stated(r"Player (\d) deals")) == 1 - opener
    assert LEDUC.account(1, b"\x02\x00" * 100, None).events[0]["players"] in ((0, 1), (1, 0))


def test_folding_and_calling_are_legal_as_the_rules_say() -> None:
    assert "CALL is always legal" in RULES and "legal only when facing a raise" in RULES
    for node in tables.NODES[: tables.DECISIONS]:
        line = (*node.rounds[0], *node.rounds[1])
        state = engine_after((0, 2, 4), line)
        unequal = len(set(state.money())) == 2
        assert 1 in state.legal_actions()
        assert (0 in state.legal_actions()) == unequal


def test_who_wins_as_the_rules_say() -> None:
    assert "pairs the public card wins" in RULES and "(K beats Q, Q beats J)" in RULES
    for cards in tables.DEALS:
        one, other, public = ("JQK"[card // 2] for card in cards)
        strength = [("JQK".index(rank), 9)[rank == public] for rank in (one, other)]
        expected = (strength[0] > strength[1]) - (strength[0] < strength[1])
        assert engine_after(cards, (1, 1, 1, 1)).returns()[0] == expected
