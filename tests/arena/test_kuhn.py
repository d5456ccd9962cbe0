"""Repeated Kuhn poker: its table and rules against the engine, and Kuhn's equilibria."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import Any

import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.analysis.exact import (
    best_response_value,
    ceiling,
    hand_best_response,
    hand_value,
    nash_conv,
)
from arena.games.kuhn import table as tables
from arena.games.kuhn.game import KUHN
from arena.games.kuhn.house import equilibrium, kuhn_house, table_of
from arena.games.kuhn.states import STATES
from arena.games.kuhn.telling import paid
from arena.kinds.tabular import states_of
from tests.arena.at_the_table import record, scripted
from tests.arena.exact_returns import match_value

ENGINE = pyspiel.load_game("kuhn_poker")
LINES = ((0, 0), (0, 1, 0), (0, 1, 1), (1, 0), (1, 1))
HOUSE = {one.name.removeprefix("house/"): states_of(STATES, one.payload) for one in kuhn_house()}
RULES = " ".join(KUHN.rules.split())


def engine_after(deal: tuple[int, int], line: tuple[int, ...]) -> Any:
    state = ENGINE.new_initial_state()
    for action in (*deal, *line):
        state.apply_action_with_legality_check(action)
    return state


def seed_of(deal: int, first: int) -> int:
    """A deal seed whose first hand has these cards, with player 0 in that seat."""
    dealt = ((seed, *tables.dealt(seed)) for seed in itertools.count())
    return next(seed for seed, seat, deals in dealt if (seat, deals[0]) == (first, deal))


# --- the table -------------------------------------------------------------------------------


def test_every_deal_and_line_is_the_engines() -> None:
    """6 deals of 5 lines from both seats: what each player hears, and what it is worth."""
    assert len(tables.DEALS) == 6 and tables.DECISIONS == 4 and len(tables.NODES) == 9
    for (deal, cards), line, first in itertools.product(enumerate(tables.DEALS), LINES, (0, 1)):
        seed = seed_of(deal, first)
        authors = scripted(KUHN, seed, bytes(line))
        for player, author in ((0, authors[first]), (1, authors[1 - first])):
            hand = author.heard
            assert hand[0] == ("restart", player)
            asked = [told for method, told in hand if method == "act"]
            own = [at for at in range(len(line)) if at & 1 == player]
            # One more decision was asked for: the first one of the next hand, by the other player.
            for at, seen in zip(own, asked, strict=False):
                state = engine_after(cards, line[:at])
                assert state.current_player() == player
                legal = [tables.ACTIONS[action] for action in state.legal_actions()]
                assert seen["player_view"] == {
                    "player_id": player,
                    "hand": "JQK"[cards[player]],
                    "legal_actions": legal,
                }
                said = [event["action"] for event in seen["action_history"]]
                assert said == [tables.ACTIONS[action] for action in line[:at]]
                assert seen["game_result"] is None
                assert sum(seen["public_state"]["paid"]) == seen["public_state"]["pot_size"]
        outcome = next(told for m, told in authors[1 - first].heard if m == "receive_outcome")
        _is_the_end(outcome, cards, line)


def _is_the_end(told: dict[str, Any], cards: tuple[int, int], line: tuple[int, ...]) -> None:
    returns = engine_after(cards, line).returns()
    result, put_in = told["game_result"], told["public_state"]["paid"]
    assert result["returns"] == returns
    assert min(put_in) == max(returns)
    folded = put_in[0] != put_in[1]
    assert result["outcome"] == ("FOLD" if folded else "SHOWDOWN")
    hands = [{"player_id": who, "hand": "JQK"[card]} for who, card in enumerate(cards)]
    assert result["showdown_hands"] == (None if folded else hands)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("line", LINES)
def test_no_message_depends_on_the_hidden_card(line: tuple[int, ...], player: int) -> None:
    """Before a showdown, deals that differ in the other's card alone look the same."""
    for mine in range(3):
        pair = []
        for other in {0, 1, 2} - {mine}:
            cards = (mine, other) if player == 0 else (other, mine)
            pair.append(tables.Table([seed_of(tables.DEALS.index(cards), 0)]))
        for action in line:
            one, two = (_messages(table)[player] for table in pair)
            assert one == two
            for table in pair:
                asked = [message[0] != tables.IDLE for message in _messages(table)]
                table.advance(bytes(action if one else tables.NONE for one in asked))
        if player == 1:  # acts first in the next hand, and hears of this one's end with it
            ends = {_messages(table)[1][3:] for table in pair}
            assert (len(ends) == 1) == (line[-2:] in ((1, 0),))


def _messages(table: tables.Table) -> tuple[bytes, bytes]:
    both = table.messages()
    return both[: tables.MESSAGE_BYTES], both[tables.MESSAGE_BYTES :]


@given(st.integers(0, 2**63 - 1), st.integers(0, 2**32))
@settings(max_examples=10)
def test_the_account_is_the_engines(deal_seed: int, luck: int) -> None:
    moves = record(KUHN, deal_seed, luck)
    first, deals = tables.dealt(deal_seed)
    told, total = bytearray(), 0
    for number, event in enumerate(KUHN.account(deal_seed, moves, None).events):
        line = tuple(tables.ACTIONS.index(action) for _, action in event["betting"])
        flip, cards = (first + number) % 2, tables.DEALS[deals[number]]
        state = engine_after(cards, line)
        total += int(state.returns()[flip])
        assert state.is_terminal()
        assert (event["payoff"], event["total"]) == (state.returns()[flip], total)
        assert event["cards"] == tuple("JQK"[cards[player]] for player in event["players"])
        assert event["players"][flip] == 0 and event["dealer"] == 1 - flip
        assert [seat for seat, _ in event["betting"]] == [
            flip ^ (at & 1) for at in range(len(line))
        ]
        assert sum(paid(event["betting"])) == event["pot"]
        won = abs(event["payoff"])
        assert event["pot"] == (2 * won if event["outcome"] == "SHOWDOWN" else 2 * won + 1)
        told += bytes(line)
    assert bytes(told) == moves


def test_a_forfeit_loses_two_chips_a_hand() -> None:
    assert KUHN.most_lost() == 2
    assert KUHN.score(1, b"", 0) == (-200, 200)
    first, _ = tables.dealt(1)
    won = (1, -1) if first == 0 else (-1, 1)
    assert KUHN.score(1, bytes((1, 0)), 1) == (won[0] + 198, -won[0] - 198)


def test_dealing_is_uniform_and_fixed() -> None:
    counts, firsts = Counter[int](), 0
    for seed in range(600):
        first, deals = tables.dealt(seed)
        firsts += first
        counts.update(deals)
    expected = 600 * 100 / 6
    chi_square = sum((counts[deal] - expected) ** 2 / expected for deal in range(6))
    assert chi_square < 31  # 5 degrees of freedom, p = 0.00001
    assert abs(firsts - 300) < 60
    first, deals = tables.dealt(2026)  # another way to deal would be another version of the game
    assert (first, deals[:8]) == (0, (3, 3, 5, 0, 1, 3, 3, 4))


# --- the rules text --------------------------------------------------------------------------


def stated(pattern: str) -> tuple[str, ...]:
    """The facts that the rules state in a sentence of this form; the form must be there once."""
    (found,) = re.findall(pattern, RULES)
    return found if isinstance(found, tuple) else (found,)


def test_the_numbers_in_the_rules_are_the_engines() -> None:
    assert stated(r"Two players play (\d+) hands") == (str(KUHN.length),)
    deck, ranks = stated(r"The deck has (\d) cards: (J, Q and K)")
    assert int(deck) == len(ENGINE.new_initial_state().legal_actions()) and ranks
    assert int(*stated(r"an ante of (\d) chip into")) == abs(
        engine_after((2, 0), (1, 0)).returns()[0]
    )
    assert int(*stated(r"can win or lose is (\d) chips")) == ENGINE.max_utility()
    assert int(*stated(r"would have followed lose (\d) chips")) == KUHN.most_lost()
    passed, called = stated(r"(\d) chip after PASS PASS, and (\d) chips after a bet")
    assert engine_after((2, 0), (0, 0)).returns()[0] == int(passed)
    assert engine_after((2, 0), (1, 1)).returns()[0] == int(called)
    assert int(*stated(r"facing a bet loses the ante of (\d) chip")) == 1


def test_the_lines_in_the_rules_are_the_engines() -> None:
    (ways,) = stated(r"one of five ways: (.*?)\.")
    listed = {tuple(way.split()) for way in ways.split(", ")}
    assert listed == {tuple(tables.ACTIONS[action] for action in line) for line in LINES}
    for line in LINES:
        assert engine_after((0, 1), line).is_terminal()
        for at in range(len(line)):
            assert engine_after((0, 1), line[:at]).legal_actions() == [0, 1]
    assert int(*stated(r"Player (\d) acts first")) == engine_after((0, 1), ()).current_player()
    assert "(K beats Q, Q beats J)" in RULES
    for one, other in tables.DEALS:
        assert (engine_after((one, other), (0, 0)).returns()[0] > 0) == (one > other)


# --- who plays -------------------------------------------------------------------------------


def test_the_states_are_the_engines() -> None:
    found = {}
    for deal, line in itertools.product(tables.DEALS, ((), (0,), (1,), (0, 1))):
        state = engine_after(deal, line)
        found[STATES.in_engine(state)] = tuple(state.legal_actions())
    assert found == dict(STATES.legal) and len(found) == 12


@pytest.mark.parametrize("alpha", [0.0, 0.1, 1 / 6, 0.3, 1 / 3])
def test_kuhns_equilibria_are_equilibria(alpha: float) -> None:
    """H. W. Kuhn 1950: any alpha from 0 to 1/3, and player 0 loses a chip in 18 hands."""
    states = table_of(lambda card, line: equilibrium(card, line, alpha))
    assert nash_conv(STATES, states) == pytest.approx(0.0, abs=1e-12)
    assert hand_value(STATES, states, states) == pytest.approx(-1 / 18, abs=1e-12)


def test_what_is_no_equilibrium_can_be_exploited() -> None:
    states = table_of(lambda card, line: equilibrium(card, line, 0.4) if line else 0.4)
    assert nash_conv(STATES, states) > 0.01


def test_the_house_plays_an_equilibrium() -> None:
    """As it is registered, with nine decimals."""
    assert nash_conv(STATES, HOUSE["Kuhn1950"]) == pytest.approx(0.0, abs=1e-9)
    assert HOUSE["Kuhn1950"]["J|"] == pytest.approx((2 / 3, 1 / 3), abs=1e-9)
    assert HOUSE["Kuhn1950"]["Q|PB"] == pytest.approx((1 / 3, 2 / 3), abs=1e-9)


def test_the_others_do_what_their_names_say() -> None:
    bets = {name: {key: states[key][1] for key in STATES.legal} for name, states in HOUSE.items()}
    assert set(bets["AlwaysBet"].values()) == {1.0}
    assert set(bets["AlwaysPass"].values()) == {0.0}
    assert {key for key, often in bets["NeverBluffs"].items() if often} == {
        "K|", "K|P", "K|B", "K|PB", "Q|B", "Q|PB",
    }  # fmt: skip


def test_exact_values() -> None:
    """By hand: AlwaysBet loses a chip in three hands to who folds the jack and calls the rest."""
    best = {name: best_response_value(STATES, states) for name, states in HOUSE.items()}
    assert best == pytest.approx(
        {"AlwaysBet": 100 / 3, "AlwaysPass": 100.0, "Kuhn1950": 0.0, "NeverBluffs": 100 / 6},
        abs=1e-6,
    )
    assert ceiling(STATES, HOUSE.values()) == pytest.approx(37.5, abs=1e-6)
    assert match_value(STATES, HOUSE["AlwaysBet"], HOUSE["AlwaysPass"]) == pytest.approx(100.0)
    for player in (0, 1):
        value = hand_best_response(STATES, player, HOUSE["Kuhn1950"]).value
        assert value == pytest.approx((-1 / 18, 1 / 18)[player], abs=1e-9)
