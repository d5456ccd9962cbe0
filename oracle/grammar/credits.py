"""What each part of a sentence is worth against a mixture, from programs that were scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from oracle.grammar.genome import Genome
from oracle.grammar.rrps import RrpsGenome

RIDGE = 2.0
"""Strength of the prior that a part makes no difference, in scored programs."""


def parts_of(genome: Genome) -> tuple[Any, ...]:
    """What a search may add or drop: predictors, or styles after the balanced one."""
    return genome.parts if isinstance(genome, RrpsGenome) else genome.styles[1:]


def part_credits(rows: Sequence[tuple[Genome, float]]) -> Mapping[Any, float]:
    """What each part or style is worth, in the game's unit.

    A ridge regression of the return on the presence of parts.  Parts that all programs have, or
    none, cannot be told apart from the rest and are left out.

    Args:
      rows: sentences with what they returned against the mixture.
    """
    everything = sorted({part for genome, _ in rows for part in parts_of(genome)})
    present = np.array([[part in parts_of(genome) for part in everything] for genome, _ in rows])
    if len(rows) < 2 or not everything:
        return {}
    varying = [i for i in range(len(everything)) if 0 < present[:, i].sum() < len(rows)]
    if not varying:
        return {}
    features = present[:, varying].astype(float)
    values = np.array([value for _, value in rows])
    features -= features.mean(axis=0)
    gram = features.T @ features + RIDGE * np.eye(len(varying))
    worth = np.linalg.solve(gram, features.T @ (values - values.mean()))
    return {everything[i]: float(w) for i, w in zip(varying, worth, strict=True)}
