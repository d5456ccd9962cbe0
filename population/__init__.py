"""Populations that grow: Code-Space Response Oracles, with an oracle of your own.

    from arena import Arena
    from population import run_csro

    with Arena("arena-home") as arena:
        result = run_csro(arena, "rrps", my_oracle, iterations=5, seed=1, name="mine")
        print(result.mixture.ref)

What is listed here is the public surface; everything else may change without notice.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from population.csro import Result
    from population.launch import run_csro
    from population.logbook import Watcher
    from population.members import Member
    from population.records import Iteration, Sigma

_HOMES = {
    "Iteration": "population.records",
    "Member": "population.members",
    "Result": "population.csro",
    "Sigma": "population.records",
    "Watcher": "population.logbook",
    "run_csro": "population.launch",
}

__all__ = ["Iteration", "Member", "Result", "Sigma", "Watcher", "run_csro"]


def __getattr__(name: str) -> Any:
    """Loads what is asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'population' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
