"""The solved hand that comes with the package, and its file; `cfr_plus` writes it."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from arena.games.leduc.states import STATES
from arena.kinds.tabular import payload_of

DATA = "cfr_plus.json"
"""The file, next to this module."""


@dataclass(frozen=True, slots=True)
class Solution:
    """A solved hand.

    Attributes:
      payload: of the tabular policy.
      solver: what solved it.
      game: the engine's name of what was solved.
      iterations: of the solver.
      engine: name and version of the engine.
      exploitability: of the payload, in chips per hand, by an exact best response.
      nash_conv: twice that.
      value: what player 0 wins per hand when both play it, in chips.
    """

    payload: str
    solver: str
    game: str
    iterations: int
    engine: str
    exploitability: float
    nash_conv: float
    value: float


def packed(solution: Solution) -> bytes:
    """The file's bytes: readable JSON, the same for the same solution."""
    fields = {
        "solver": solution.solver,
        "game": solution.game,
        "iterations": solution.iterations,
        "engine": solution.engine,
        "exploitability": solution.exploitability,
        "nash_conv": solution.nash_conv,
        "value": solution.value,
        "policy": json.loads(solution.payload),
    }
    return (json.dumps(fields, indent=1, sort_keys=True) + "\n").encode()


def unpacked(data: bytes) -> Solution:
    """The inverse of `packed`.

    Raises:
      ValueError: these are not the bytes of a solution.
    """
    try:
        fields: Mapping[str, Any] = json.loads(data)
        policy = fields["policy"]
        rest = {name: value for name, value in fields.items() if name != "policy"}
        return Solution(payload=payload_of(STATES, policy["states"]), **rest)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"these are not the bytes of a solved hand: {error}") from error


@functools.cache
def shipped() -> Solution:
    """The solution that comes with the package."""
    return unpacked(resources.files(__package__).joinpath(DATA).read_bytes())
