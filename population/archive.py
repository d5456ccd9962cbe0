"""What was tried in a run and did not join, kept by how it behaves: an archive after MAP-Elites.

J.-B. Mouret and J. Clune, "Illuminating search spaces by mapping elites" (arXiv:1504.04909); Kumar
et al., "Digital Red Queen" (arXiv:2601.03335) has one for programs that fight each other.  Three
descriptors say how a program behaves, each between 0 and 1 and cut into classes (`Cuts`).  They are
taken from the choices that it made in stored matches, and mean the same in every game:

- predictability: 1 less the entropy of its choice, given the situation, as a share of the most;
- reactivity: how much the situation tells of its choice (their mutual information, as a share);
- memory: how much its last choice in the same situation tells beside that, likewise.

A game's situation has what the other did last, so reactivity is dependence on the other's history
and memory is dependence on its own.  Each class keeps the program that returned most in the newest
iteration that tried one of it: what programs return in different iterations, from other mixtures
and other hidden opponents, cannot be compared (the first have the weakest to beat).

Entropies of what was counted are too low, the more so the more situations there are for the
choices, so that who chooses at random would seem predictable and to remember.  They are corrected
by as much as that is on average (G. A. Miller, "Note on the bias of information estimates", 1955:
half of the number of free counts, in nats, over the number of choices).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from arena.games.parts import Decision

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Cuts:
    """How behaviours are put into classes.

    Attributes:
      predictability: where it is cut, rising; what lies on a cut is in the upper class.
      reactivity: likewise.
      memory: likewise.
      corrected: whether entropies are, and memory is told from choices that had one before.
    """

    predictability: tuple[float, ...]
    reactivity: tuple[float, ...]
    memory: tuple[float, ...]
    corrected: bool = True

    def cell(self, values: Sequence[float]) -> tuple[int, ...]:
        """The class of three values."""
        edges = (self.predictability, self.reactivity, self.memory)
        return tuple(bisect_right(cuts, value) for cuts, value in zip(edges, values, strict=True))


CUTS = Cuts((0.01, 0.1, 0.75), (0.01, 0.1, 0.6), (0.01, 0.03))
"""From what programs of both grammars show (`benchmarks/behaviour_classes.py`).  In two matches of
rock-paper-scissors a random player seems to have up to 0.004 of each, which the first cuts are
above; programs lie between that and 0.4, by powers of ten.  The last cuts divide those of Leduc
hold'em about in halves, and the two of memory those of both games."""
_THIRD = (1 / 3, 2 / 3)
THIRDS = Cuts(_THIRD, _THIRD, _THIRD, corrected=False)
"""In runs of before."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How a program behaves; every value is in [0, 1].

    Attributes:
      predictability: see above.
      reactivity: likewise.
      memory: likewise.
      cell: its class, by the cuts that it was looked at with.
    """

    predictability: float
    reactivity: float
    memory: float
    cell: tuple[int, ...]


def behaviour(matches: Iterable[Sequence[Decision]], actions: int, cuts: Cuts = CUTS) -> Behaviour:
    """How a program behaves, from what it chose.

    Args:
      matches: its choices in each match.
      actions: how many the game has.
      cuts: of the classes.
    """
    alone: Counter[tuple[object, int]] = Counter()
    given: Counter[tuple[object, int]] = Counter()
    again: Counter[tuple[object, int]] = Counter()
    more: Counter[tuple[object, int]] = Counter()
    for match in matches:
        last: dict[str, int] = {}
        for one in match:
            alone[None, one.action] += 1
            given[one.situation, one.action] += 1
            earlier = last.get(one.situation)
            if earlier is not None or not cuts.corrected:
                again[one.situation, one.action] += 1
                more[(one.situation, earlier), one.action] += 1
            last[one.situation] = one.action
    most = math.log(actions)
    free, known, once_more, remembered = (
        _entropy(one, cuts.corrected) for one in (alone, given, again, more)
    )
    shares = (1.0 - known / most, (free - known) / most, (once_more - remembered) / most)
    first, second, third = (min(1.0, max(0.0, share)) for share in shares)
    return Behaviour(first, second, third, cuts.cell((first, second, third)))


def _entropy(counts: Mapping[tuple[object, int], int], corrected: bool) -> float:
    """Of the choice given what stands before it, in nats."""
    totals: Counter[object] = Counter()
    for (situation, _), count in counts.items():
        totals[situation] += count
    whole = sum(totals.values()) or 1
    found = -math.fsum(
        count / whole * math.log(count / totals[situation])
        for (situation, _), count in counts.items()
    )
    return found + (len(counts) - len(totals)) / (2 * whole) if corrected else found


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
