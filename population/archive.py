"""What was tried in a run and did not join, kept by how it behaves: an archive after MAP-Elites.

J.-B. Mouret and J. Clune, "Illuminating search spaces by mapping elites" (arXiv:1504.04909); Kumar
et al., "Digital Red Queen" (arXiv:2601.03335) has one for programs that fight each other.  Three
descriptors say how a program behaves, each between 0 and 1 and cut into `BINS` classes.  They are
taken from the choices that it made in stored matches, and mean the same in every game:

- predictability: 1 less the entropy of its choice, given the situation, as a share of the most;
- reactivity: how much the situation tells of its choice (their mutual information, as a share);
- memory: how much its last choice in the same situation tells beside that, likewise.

A game's situation has what the other did last, so reactivity is dependence on the other's history
and memory is dependence on its own.  Each class keeps the program that returned most in the newest
iteration that tried one of it: what programs return in different iterations, from other mixtures
and other hidden opponents, cannot be compared (the first have the weakest to beat).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from arena.games.parts import Decision

BINS = 3
_T = TypeVar("_T")


class Behaviour(NamedTuple):
    """How a program behaves; every value is in [0, 1]."""

    predictability: float
    reactivity: float
    memory: float

    @property
    def cell(self) -> tuple[int, ...]:
        """Its class."""
        return tuple(min(BINS - 1, int(value * BINS)) for value in self)


def behaviour(matches: Iterable[Sequence[Decision]], actions: int) -> Behaviour:
    """How a program behaves, from what it chose.

    Args:
      matches: its choices in each match.
      actions: how many the game has.
    """
    alone: Counter[tuple[object, int]] = Counter()
    given: Counter[tuple[object, int]] = Counter()
    more: Counter[tuple[object, int]] = Counter()
    for match in matches:
        last: dict[str, int] = {}
        for one in match:
            alone[None, one.action] += 1
            given[one.situation, one.action] += 1
            more[(one.situation, last.get(one.situation)), one.action] += 1
            last[one.situation] = one.action
    most = math.log(actions)
    free, known, remembered = (_entropy(counts) for counts in (alone, given, more))
    return Behaviour(
        _unit(1.0 - known / most), _unit((free - known) / most), _unit((known - remembered) / most)
    )


def _entropy(counts: Mapping[tuple[object, int], int]) -> float:
    """Of the choice given what stands before it, in nats."""
    totals: Counter[object] = Counter()
    for (situation, _), count in counts.items():
        totals[situation] += count
    whole = sum(totals.values()) or 1
    return -math.fsum(
        count / whole * math.log(count / totals[situation])
        for (situation, _), count in counts.items()
    )


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))


def elites(tried: Iterable[tuple[_T, int, float, Behaviour]]) -> list[_T]:
    """The newest iteration's best of each class, in the order of the classes; of equals the first.

    Args:
      tried: programs, their iterations, what they returned there, how they behave.
    """
    best: dict[tuple[int, ...], tuple[tuple[int, float], _T]] = {}
    for one, k, u, how in tried:
        if how.cell not in best or (k, u) > best[how.cell][0]:
            best[how.cell] = ((k, u), one)
    return [best[cell][1] for cell in sorted(best)]
