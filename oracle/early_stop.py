"""Evaluation in stages that stops playing programs which cannot be the best any more.

All programs of a stage meet the same opponents in the same repetitions, so two programs are
compared opponent by opponent: the spread *between* opponents, by far the largest in these games,
cancels out.  Where they had the same cards they are compared deal by deal, and the luck of the
cards cancels out as well.  A program is stopped when even the upper end of the interval around its
difference to the leader is below zero.

Where hidden opponents have a share, an early look may be at some of them only: what programs
return against these then stands for all, with the error of such a sample.  Drafts that know nothing
of each other can be halved besides: after each look the better half goes on (sequential halving:
Karnin, Koren and Somekh 2013, "Almost Optimal Exploration in Multi-Armed Bandits", ICML).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from oracle.attempts import Measure
from oracle.values import Against, Evaluate, Failure, Score, Task

LEAST_ERROR = 0.25
"""Least error of a difference on the same cards, as a share of what it is on one's own.

Programs that nearly always do the same differ by much in rare hands, of which few deals may show
none; without this they would be told apart for sure by trifles.
"""


@dataclass(frozen=True, slots=True)
class Difference:
    """Estimated difference of two programs' returns against sigma.

    Attributes:
      mean: of the first minus the second, in the game's unit.
      stderr: of that; infinite where it cannot be told.
      freedom: degrees of freedom of the error (Welch 1947, doi:10.1093/biomet/34.1-2.28, also for
        the sum of paired differences over opponents).
    """

    mean: float
    stderr: float
    freedom: float

    def surely_negative(self, error_rate: float) -> bool:
        """Whether the upper end of the one-sided interval is below zero."""
        if self.stderr == 0.0 or math.isinf(self.stderr):
            return self.stderr == 0.0 and self.mean < 0.0
        from scipy.stats import t as student_t  # half a second to load

        return self.mean + float(student_t.ppf(1.0 - error_rate, self.freedom)) * self.stderr < 0.0


def difference(
    one: Score,
    other: Score,
    weights: Mapping[str, float],
    hidden: Collection[str] = (),
) -> Difference:
    """Compares two programs, paired by opponent, and by deal where they had the same cards.

    Args:
      one: score of the first.
      other: score of the second, against the same opponents; of a program that was stopped, or was
        not yet played in full, the deals that both had are compared.
      weights: of the opponents, by digest.
      hidden: those of whom either may have met some only: these count as a random sample of them.
    """
    theirs = {against.digest: against for against in other.against}
    met = [(mine, theirs[mine.digest]) for mine in one.against if mine.digest in theirs]
    sampled = hidden if len(met) < len(weights) else ()
    whole = math.fsum(weights.values())
    shares = [
        (weights[mine.digest] / whole, _paired(mine, against) or _apart(mine, against))
        for mine, against in met
        if mine.digest not in sampled
    ]
    if sampled:
        share = math.fsum(weights[digest] for digest in sampled) / whole
        shares.append((share, _of_some([pair for pair in met if pair[0].digest in sampled])))
    mean, variance, spread = 0.0, 0.0, 0.0
    for weight, (gain, parts) in shares:
        mean += weight * gain
        for error, freedom in parts:
            part = (weight * error) ** 2 if weight else 0.0
            variance += part
            spread += part * part / freedom
    if math.isinf(variance):
        return Difference(mean, math.inf, 1.0)
    return Difference(mean, math.sqrt(variance), variance * variance / spread if spread else 1.0)


Parts = tuple[float, tuple[tuple[float, float], ...]]
"""A difference, and the independent errors in it, each with its degrees of freedom."""


def _paired(mine: Against, theirs: Against) -> Parts | None:
    """From the deals that both had; None where these are too few for an error."""
    both = sorted(mine.deals.keys() & theirs.deals.keys())
    if len(both) < 2:
        return None
    gains = [mine.deals[deal] - theirs.deals[deal] for deal in both]
    spread = [statistics.stdev(one.deals[deal] for deal in both) for one in (mine, theirs)]
    error = max(statistics.stdev(gains), LEAST_ERROR * math.hypot(*spread))
    return statistics.fmean(gains), ((error / math.sqrt(len(both)), len(both) - 1.0),)


def _of_some(pairs: Sequence[tuple[Against, Against]]) -> Parts:
    """The mean over opponents of whom these are a sample; its error holds that of their matches."""
    gains = [(_paired(mine, theirs) or _apart(mine, theirs))[0] for mine, theirs in pairs]
    if len(gains) < 2:
        return (gains[0] if gains else 0.0), ((math.inf, 1.0),)
    error = statistics.stdev(gains) / math.sqrt(len(gains))
    return statistics.fmean(gains), ((error, len(gains) - 1.0),)


def _apart(mine: Against, theirs: Against) -> Parts:
    """From the two means, each with its own error."""
    errors = tuple((_error(one), _freedom(one)) for one in (mine, theirs))
    return mine.mean - theirs.mean, errors


def _error(against: Against) -> float:
    if against.matches == 0 and against.mean == 0.0:
        return 0.0  # a program against itself: 0 by symmetry, without playing
    return math.inf if math.isnan(against.stderr) else against.stderr


def _freedom(against: Against) -> float:
    """The two halves of a duplicate are one sample, so pairs of matches count."""
    return max(1.0, against.matches / 2.0 - 1.0)


@dataclass(frozen=True, slots=True)
class EarlyStop:
    """An evaluation cascade.

    Attributes:
      efforts: shares of the full number of matches after which to look; rising, the last is 1.
      error_rate: chance that a program is stopped by mistake in favour of one that returns as much,
        shared among the looks.  Among many drafts the leader is a lucky one, so that the best is
        stopped more often than that, in favour of another that returns about as much.
      halving: whether of programs that are scored together only the better half goes on after each
        look, whatever the error.
    """

    efforts: tuple[float, ...] = (0.25, 0.5, 1.0)
    error_rate: float = 0.05
    halving: bool = False

    def __post_init__(self) -> None:
        rising = all(low < high for low, high in zip(self.efforts, self.efforts[1:], strict=False))
        if not self.efforts or self.efforts[0] <= 0.0 or self.efforts[-1] != 1.0 or not rising:
            raise ValueError(f"efforts are {self.efforts}; they must rise from above 0 to 1")
        if not 0.0 < self.error_rate < 1.0:
            raise ValueError(f"error_rate is {self.error_rate}; it must be in (0, 1)")

    @property
    def first_look(self) -> float:
        """The share of a full evaluation that every program plays."""
        return self.efforts[0]

    def measure(self, task: Task, evaluate: Evaluate, rival: Score | None = None) -> Measure:
        """A measure that gives up on programs that surely return less than the leader.

        The leader of a look is the rival or the best program of that look, whichever is better.
        A program that is stopped keeps the score of the matches that it played, marked as such;
        where it met a sample of the hidden opponents, with a u that stands beside the others'.

        Args:
          task: has the weights of everybody who is met.
          evaluate: plays.
          rival: full score of the best program so far, if there is one.
        """
        rate = self.error_rate / max(1, len(self.efforts) - 1)

        def staged(sources: Sequence[str]) -> tuple[Score | Failure, ...]:
            found: dict[int, Score | Failure] = {}
            going = list(range(len(sources)))
            for effort in self.efforts:
                scores = evaluate([sources[place] for place in going], effort=effort)
                found.update(zip(going, scores, strict=True))
                sound = {
                    place: score
                    for place, score in zip(going, scores, strict=True)
                    if isinstance(score, Score)
                }
                going = list(sound)
                if effort < self.efforts[-1]:
                    going = self._going_on(task, sound, rival, rate)
                    behind = sound.keys() - set(going)
                    found.update({one: replace(sound[one], stopped=True) for one in behind})
                if not going:
                    break
            return self._comparable(task, [found[place] for place in range(len(sources))], rival)

        return staged

    def _comparable(
        self, task: Task, found: Sequence[Score | Failure], rival: Score | None
    ) -> tuple[Score | Failure, ...]:
        """With returns of programs that met a sample, as what the best returned and the difference.

        Some opponents are easy: against a sample of them a program may return far more than a
        better one does against all.  Whom both met tells the difference.
        """
        hidden = frozenset(one.digest for one in task.hidden)
        whole = [one for one in found if isinstance(one, Score) and not one.stopped]
        best = max([*whole, *([rival] if rival else [])], key=lambda one: one.u, default=None)

        def beside(one: Score | Failure) -> Score | Failure:
            if not isinstance(one, Score) or best is None or len(one.against) == len(best.against):
                return one
            less = difference(one, best, task.weights, hidden)
            return replace(one, u=best.u + less.mean, stderr=math.hypot(best.stderr, less.stderr))

        return tuple(
            beside(one) if isinstance(one, Score) and one.stopped else one for one in found
        )

    def _going_on(
        self, task: Task, sound: Mapping[int, Score], rival: Score | None, rate: float
    ) -> list[int]:
        """Places of those that are played on, in order."""
        hidden = frozenset(one.digest for one in task.hidden)
        compared = partial(difference, weights=task.weights, hidden=hidden)
        ranked = sorted(sound, key=lambda place: (-sound[place].u, place))
        if not ranked:
            return []
        leader = sound[ranked[0]]
        if rival is not None and compared(rival, leader).mean > 0.0:
            leader = rival  # its u may be of more opponents, so the two are compared by the same
        if self.halving:
            ranked = ranked[: (len(ranked) + 1) // 2]
        return sorted(
            place for place in ranked if not compared(sound[place], leader).surely_negative(rate)
        )
