"""Tabular policies: payloads, and play that follows the table."""

from __future__ import annotations

import json
import random
from typing import Any

import pyspiel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.games.leduc import table as tables
from arena.games.leduc.game import LEDUC
from arena.games.leduc.states import STATES
from arena.kinds.tabular import (
    Probabilities,
    payload_of,
    states_of,
    tabular_policy,
)

Table = dict[str, Probabilities]


def random_states(seed: int) -> Table:
    """A random behaviour policy; some actions have probability 0."""
    rng = random.Random(seed)
    table: Table = {}
    for key, legal in STATES.legal.items():
        weights = [rng.choice((0.0, rng.random())) if a in legal else 0.0 for a in range(3)]
        weights[rng.choice(legal)] += 0.1
        total = sum(weights)
        table[key] = (weights[0] / total, weights[1] / total, weights[2] / total)
    return table


def uniform_states() -> Table:
    return {
        key: tuple(1 / len(legal) if a in legal else 0.0 for a in range(3))  # type: ignore[misc]
        for key, legal in STATES.legal.items()
    }


def test_the_states_are_the_engines() -> None:
    """288 information states when cards of one rank are one card."""
    game = pyspiel.load_game("leduc_poker(suit_isomorphism=True)")
    found: dict[str, tuple[int, ...]] = {}

    def walk(state: Any) -> None:
        if not state.is_terminal() and not state.is_chance_node():
            player = state.current_player()
            before, after = ("".join("FCR"[a] for a in line) for line in _rounds(state))
            public = "JQK"[state.public_card()] if state.public_card() >= 0 else ""
            key = f"{'JQK'[state.private_card(player)]}{public}|{before}|{after}"
            found[key] = tuple(state.legal_actions())
        for action in state.legal_actions():
            walk(state.child(action))

    walk(game.new_initial_state())
    assert len(found) == 288
    assert dict(STATES.legal) == found


def _rounds(state: Any) -> tuple[list[int], list[int]]:
    return state.round1(), state.round2()


@given(st.integers(0, 2**32))
@settings(max_examples=20)
def test_payloads_are_canonical_and_keep_the_table(seed: int) -> None:
    states = random_states(seed)
    payload = payload_of(STATES, states)
    read = states_of(STATES, payload)
    assert payload_of(STATES, read) == payload
    assert payload_of(STATES, dict(reversed(list(states.items())))) == payload
    for key, probabilities in states.items():
        assert read[key] == pytest.approx(probabilities, abs=3e-9)
        assert [p > 0 for p in read[key]] == [p >= 5e-10 for p in probabilities]


def test_a_match_follows_the_table() -> None:
    """Actions come as often as the table says, and what has probability 0 never comes."""
    states = random_states(3)
    payload = payload_of(STATES, states)
    counts: dict[str, list[int]] = {key: [0, 0, 0] for key in states}

    class Counting:
        def __init__(self, seed: int) -> None:
            self.inner = tabular_policy(LEDUC, payload, seed)

        def restart(self, player_id: int) -> None:
            self.inner.restart(player_id)

        def receive_outcome(self, obs: dict[str, Any]) -> None:
            self.inner.receive_outcome(obs)

        def act(self, obs: dict[str, Any]) -> str:
            action = self.inner.act(obs)
            lines = [
                "".join(event["action"][0] for event in obs["action_history"][name])
                for name in ("PREFLOP", "POSTFLOP")
            ]
            public = obs["public_state"]["public_card"] or ""
            counts[f"{obs['player_view']['hand']}{public}|{lines[0]}|{lines[1]}"][
                tables.ACTIONS.index(action)
            ] += 1
            return action

    matches = 60
    table = LEDUC.table(range(matches))
    seats = [LEDUC.seat(Counting(seed)) for seed in range(2 * matches)]
    size = tables.MESSAGE_BYTES
    while not table.done:
        messages = table.messages()
        table.advance(bytes(s.reply(messages[i * size :][:size]) for i, s in enumerate(seats)))
    assert all(table.fault(match) is None for match in range(matches))
    chi_square, freedom = 0.0, 0
    for key, seen in counts.items():
        total = sum(seen)
        assert all(p > 0 or not n for p, n in zip(states[key], seen, strict=True))
        if total * min(p for p in states[key] if p > 0) >= 5:
            chi_square += sum(
                (n - total * p) ** 2 / (total * p)
                for p, n in zip(states[key], seen, strict=True)
                if p
            )
            freedom += sum(p > 0 for p in states[key]) - 1
    assert freedom > 30
    assert chi_square < freedom + 4.5 * (2 * freedom) ** 0.5


def observation() -> dict[str, Any]:
    return {
        "player_view": {"player_id": 0, "hand": "Q", "legal_actions": ["CALL", "RAISE"]},
        "public_state": {"round": "PREFLOP", "public_card": None},
        "action_history": {"PREFLOP": [], "POSTFLOP": []},
    }


def test_play_follows_from_payload_and_seed_alone() -> None:
    payload = payload_of(STATES, uniform_states())
    one, other = tabular_policy(LEDUC, payload, 7), tabular_policy(LEDUC, payload, 7)
    third = tabular_policy(LEDUC, payload, 8)
    drawn = [[policy.act(observation()) for _ in range(64)] for policy in (one, third)]
    assert [other.act(observation()) for _ in range(64)] == drawn[0] != drawn[1]


def _with(key: str, value: object) -> str:
    fields = json.loads(payload_of(STATES, uniform_states()))
    fields["states"][key] = value
    return json.dumps(fields)


def _without(key: str) -> str:
    fields = json.loads(payload_of(STATES, uniform_states()))
    del fields["states"][key]
    return json.dumps(fields)


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ("{", "payload is JSON"),
        ("[]", 'has "game" and "states"'),
        ('{"game": "leduc"}', 'has "game" and "states"'),
        ('{"game": "rrps", "states": {}}', "play leduc, and plays 'rrps'"),
        ('{"game": "leduc", "states": []}', "must map information states"),
        ('{"game": "leduc", "states": {}}', "lacks 288 states"),
        (_without("J||"), r"lacks 1 states, such as \['J\|\|'\]"),
        (_with("A||", [0, 1, 0]), "none of the game's"),
        (_with("J||", [0, 0.5, 0.4]), "which add up to 1"),
        (_with("J||", [0, 1]), "which add up to 1"),
        (_with("J||", [0, 2, -1]), "which add up to 1"),
        (_with("J||", [0, float("nan"), 1]), "which add up to 1"),
        (_with("J||", [0, 10**400, 1]), "which add up to 1"),
        (_with("J||", [False, True, False]), "which add up to 1"),
        (_with("J||", "010"), "which add up to 1"),
        (_with("J||", [0.5, 0.5, 0]), r"FOLD is not legal in state 'J\|\|'"),
        (_with("J|RR|", [0.5, 0, 0.5]), r"RAISE is not legal in state 'J\|RR\|'"),
    ],
)
def test_other_payloads_are_refused(payload: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tabular_policy(LEDUC, payload, 1)
