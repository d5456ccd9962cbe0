"""Exact Leduc values against published numbers, the engine's own, and sampled play."""

from __future__ import annotations

import random
from statistics import fmean
from typing import Any

import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.analysis.exact import (
    best_response,
    best_response_value,
    exploitability,
    hand_best_response,
    hand_value,
    nash_conv,
)
from arena.games.leduc.house import leduc_house
from arena.games.leduc.states import STATES
from arena.kinds.tabular import (
    Probabilities,
    payload_of,
    states_of,
)
from tests.arena.exact_returns import match_value

HOUSE = {one.name.removeprefix("house/"): one.payload for one in leduc_house()}
CALL, FOLD, CFR = (states_of(STATES, HOUSE[name]) for name in ("AlwaysCall", "AlwaysFold", "CFR+"))


def random_states(seed: int) -> dict[str, Probabilities]:
    rng = random.Random(seed)
    table: dict[str, Probabilities] = {}
    for key, legal in STATES.legal.items():
        weights = [rng.random() ** 3 if a in legal else 0.0 for a in range(3)]
        total = sum(weights)
        table[key] = (weights[0] / total, weights[1] / total, weights[2] / total)
    return table


def test_the_house_among_itself() -> None:
    """Chips per match; the paper's sampled figures are 62.1 and 57.4."""
    assert match_value(STATES, CFR, CALL) == pytest.approx(63.29, abs=0.02)
    assert match_value(STATES, CFR, FOLD) == pytest.approx(57.27, abs=0.02)
    assert match_value(STATES, CALL, CFR) == -match_value(STATES, CFR, CALL)
    assert match_value(STATES, CFR, CFR) == 0


def test_best_responses_to_the_house() -> None:
    values = [best_response_value(STATES, one) for one in (CALL, FOLD, CFR)]
    assert values == pytest.approx([146.67, 100.00, 0.0], abs=0.02)
    ceiling = fmean(values)  # of PopReturn; nobody has to lose, so that of AggScore too
    assert ceiling == pytest.approx(82.22, abs=0.02)


@given(st.integers(0, 2**32), st.integers(0, 2**32))
@settings(max_examples=10)
def test_values_are_the_engines(one: int, other: int) -> None:
    """The engine's own recursion over the full deck, with both tables as engine policies."""
    game = pyspiel.load_game("leduc_poker")
    states = [random_states(one), random_states(other)]
    policy: dict[str, list[tuple[int, float]]] = {}

    def collect(state: Any) -> None:
        if not state.is_terminal() and not state.is_chance_node():
            player = state.current_player()
            before, after = (
                "".join("FCR"[a] for a in line) for line in (state.round1(), state.round2())
            )
            public = "JQK"[state.public_card() // 2] if state.public_card() >= 0 else ""
            key = f"{'JQK'[state.private_card(player) // 2]}{public}|{before}|{after}"
            legal = state.legal_actions()
            policy[state.information_state_string()] = [(a, states[player][key][a]) for a in legal]
        for action in state.legal_actions():
            collect(state.child(action))

    collect(game.new_initial_state())
    joint = pyspiel.TabularPolicy(policy)
    expected = pyspiel.expected_returns(game.new_initial_state(), joint, -1, True)
    assert hand_value(STATES, *states) == pytest.approx(expected[0], abs=1e-12)
    responses = [
        hand_best_response(STATES, 0, states[1]).value,
        hand_best_response(STATES, 1, states[0]).value,
    ]
    assert sum(responses) == pytest.approx(pyspiel.nash_conv(game, joint), abs=1e-9)


@given(st.integers(0, 2**32))
@settings(max_examples=15)
def test_a_best_response_wins_its_value_and_nobody_wins_more(seed: int) -> None:
    target, rival = random_states(seed), random_states(seed + 1)
    response = best_response(STATES, target)
    assert states_of(STATES, payload_of(STATES, response)) == response
    value = best_response_value(STATES, target)
    assert match_value(STATES, response, target) == pytest.approx(value, abs=1e-9)
    assert match_value(STATES, rival, target) <= value + 1e-9
    assert nash_conv(STATES, target) == 2 * exploitability(STATES, target) >= 0
