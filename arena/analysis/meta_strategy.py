"""The solvers of meta-games by name; all have the signature of `MetaSolver`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from arena.analysis.alpha_rank import alpha_rank
from arena.analysis.meta_game import (
    MetaSolver,
    MetaStrategy,
    exploitability,
    nash_conv,
    uniform,
)
from arena.analysis.nash import lp, nash
from arena.analysis.projected_replicator import projected_replicator

DEFAULT_SOLVER = "nash"

SOLVERS: Mapping[str, MetaSolver] = MappingProxyType(
    {
        "nash": nash,
        "lp": lp,
        "uniform": uniform,
        "prd": projected_replicator(),
        "alpha-rank": alpha_rank(),
    }
)

__all__ = [
    "DEFAULT_SOLVER",
    "SOLVERS",
    "MetaSolver",
    "MetaStrategy",
    "exploitability",
    "nash_conv",
]
