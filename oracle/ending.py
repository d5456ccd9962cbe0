"""When a search for a best response ends before its time, because asking on would buy nothing.

It ends at once where a program returns the most that can be had, by an exact value, within its
error.  It ends as well where what comes of it is noise: the best new program of a generation is
neither surely better nor surely worse than the best before it, in so many generations in a row.
One such generation is enough where the best has reached the most by an estimate.  Where steps are
small and many, they add up though each is noise, and noise alone ends nothing (`patience`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oracle.early_stop import difference
from oracle.end import Ended
from oracle.outcome import Outcome, best_of, played_out
from oracle.values import Score, Task

if TYPE_CHECKING:
    from arena.analysis.stationary import Ceiling


@dataclass(frozen=True, slots=True)
class Ending:
    """When a search ends.

    Attributes:
      error_rate: chance that two programs that return the same are told apart.
      patience: generations of noise in a row that end it; None: no number of them does.
      errors: standard errors by which a return may lie below the most that it reaches.
      slack: share of the most that may be missing beside that.
      estimates: whether a most that is estimated from what opponents did ends a search; a policy
        of an unknown author may do something else to who asks it well.
    """

    error_rate: float = 0.05
    patience: int | None = 2
    errors: float = 1.0
    slack: float = 0.0
    estimates: bool = True

    def __post_init__(self) -> None:
        if not 0.0 < self.error_rate < 1.0:
            raise ValueError(f"error_rate is {self.error_rate}; it must be in (0, 1)")
        if self.patience is not None and self.patience < 1:
            raise ValueError(f"patience is {self.patience}; it must be at least 1")
        if self.errors < 0.0:
            raise ValueError(f"errors is {self.errors}; it must be at least 0")
        if not 0.0 <= self.slack < 1.0:
            raise ValueError(f"slack is {self.slack}; it must be in [0, 1)")

    def quiet(self, task: Task, before: Outcome | None, tried: Sequence[Outcome]) -> bool:
        """Whether a generation, or a step of refinement, brought nothing but noise.

        Args:
          task: whose opponents are met.
          before: the best before it.
          tried: what came of its drafts.
        """
        new = best_of(played_out(tried))
        if before is None or before.score is None or new is None or new.score is None:
            return False
        apart = difference(new.score, before.score, task.weights)
        back = difference(before.score, new.score, task.weights)
        return not (apart.surely_negative(self.error_rate) or back.surely_negative(self.error_rate))

    def reached(self, best: Outcome | None, ceiling: Ceiling | None, *, quiet: bool) -> bool:
        """Whether the best returns the most that can be had: nothing is left to ask for.

        Args:
          best: so far, scored in full.
          ceiling: the most, where that is known.
          quiet: whether the last generation brought nothing but noise; an estimate needs that.
        """
        if best is None or best.score is None or ceiling is None:
            return False
        told = ceiling.exact or (quiet and self.estimates)
        return told and self._has(best.score, ceiling)

    def why(self, best: Outcome | None, ceiling: Ceiling | None, quiet: int) -> Ended | None:
        """Why to ask no more; None for going on.

        Args:
          best: so far, scored in full.
          ceiling: the most that can be had, where that is known.
          quiet: generations in a row that brought nothing but noise, the last one included.
        """
        if self.reached(best, ceiling, quiet=quiet > 0):
            return Ended.REACHED
        noise = self.patience is not None and quiet >= self.patience
        return Ended.NOISE if noise else None

    def _has(self, score: Score, ceiling: Ceiling) -> bool:
        """Whether the most, or nearly, lies within the error of a return."""
        if math.isnan(score.stderr):
            return False
        nearly = ceiling.value - self.slack * abs(ceiling.value)
        return score.u + self.errors * math.hypot(score.stderr, ceiling.stderr) >= nearly
