"""Throwers who look at the last throw alone, and the most that they can lose.

What beats such a policy is a Markov decision process of ten states, which backward induction over
the throws of a match solves exactly (R. Bellman, "Dynamic Programming", 1957).
"""

from __future__ import annotations

import itertools

import numpy as np

from arena.games.parts import Decision, Stationary, Table
from arena.games.rrps.engine import payoff_matrix
from arena.games.rrps.table import ACTIONS, LENGTH

FIRST = "first"
_PAIRS = tuple(itertools.product(range(len(ACTIONS)), repeat=2))
"""The policy's own throw and the other's."""


def situation(own: int, other: int) -> str:
    """What follows these two throws."""
    return f"{ACTIONS[own]} against {ACTIONS[other]}"


LEGAL = {FIRST: (0, 1, 2), **{situation(*pair): (0, 1, 2) for pair in _PAIRS}}


def decisions(deal_seed: int, moves: bytes, fault_seat: int | None, seat: int) -> list[Decision]:
    """Every throw of a seat; see `Stationary`."""
    throws = np.frombuffer(moves, dtype=np.uint8).reshape(-1, 2)
    own, other = throws[:, seat].tolist(), throws[:, 1 - seat].tolist()
    found = []
    for at, action in enumerate(own):
        late = "late" if 2 * at >= LENGTH else "early"
        earlier = (str(own[at - 2]), str(other[at - 2])) if at > 1 else ("none", "none")
        last = situation(own[at - 1], other[at - 1]) if at else FIRST
        found.append(Decision(last, action, (late, *earlier)))
    return found


def most(table: Table) -> float:
    """What a best response wins in a match from a policy that looks at the last throw alone."""
    chances = np.array([table[situation(*pair)] for pair in _PAIRS])  # (own, other) by next throw
    wins = payoff_matrix()  # the responder's, (its throw, the policy's)
    gain = chances @ wins.T  # (situation, the responder's throw)
    value = np.zeros(len(_PAIRS))
    for _ in range(LENGTH - 1):
        after = value.reshape(len(ACTIONS), len(ACTIONS))  # (the policy's throw, the responder's)
        value = (gain + chances @ after).max(axis=1)
    first = np.array(table[FIRST])
    return float((first @ (wins.T + value.reshape(len(ACTIONS), len(ACTIONS)))).max())


_PROGRAM = '''import random

ACTIONS = {actions!r}
CHANCES = {{
{rows}
}}


class Agent:
    """Looks at the last throw of both sides alone, and throws by a table."""

    def act(self, observation):
        own, other = observation["my_action"], observation["opponent_action"]
        situation = {first!r} if own is None else own + " against " + other
        return random.choices(ACTIONS, CHANCES[situation])[0]
'''


def program(table: Table) -> str:
    """The source of the policy that a table is."""
    rows = "\n".join(
        f"    {name!r}: {tuple(round(float(one), 6) for one in table[name])!r}," for name in LEGAL
    )
    return _PROGRAM.format(actions=ACTIONS, rows=rows, first=FIRST)


STATIONARY = Stationary(LEGAL, decisions, most, program)
"""The part of the game."""
