"""What is kept about a run: values, detached from any database session."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from oracle.end import End
from oracle.values import Against, Attempt
from population.config import RunConfig


class RunState(enum.StrEnum):
    """How far a run has come.  One that is not finished can be resumed."""

    UNFINISHED = "unfinished"
    """It is being worked on, or was interrupted."""
    STOPPED = "stopped"
    """It stopped itself, for the reason noted (its budget is spent)."""
    FINISHED = "finished"
    """All K iterations are done and the meta-strategy is registered."""


@dataclass(frozen=True, slots=True)
class Sigma:
    """A meta-strategy as it was found in a run.

    Attributes:
      weights: digest of each member to its weight, members in the order in which they joined.
      exploitability: what the best member wins against it, in the game's unit per match.
      solver: its name.
      settings: what the solver was run with.
    """

    weights: Mapping[str, float]
    exploitability: float
    solver: str
    settings: Mapping[str, str | int | float] = field(default_factory=dict)

    @property
    def support(self) -> dict[str, float]:
        """Digest to weight, heaviest first, without those of weight 0."""
        heavy = [(digest, weight) for digest, weight in self.weights.items() if weight > 0]
        return dict(sorted(heavy, key=lambda item: -item[1]))


@dataclass(frozen=True, slots=True)
class Effort:
    """What an iteration took.

    Attributes:
      seconds: elapsed time of all of it.
      match_seconds: of these, playing.
      oracle_seconds: of these, the oracle without its matches.
      matches: played (matches that were stored before cost nothing).
      trials: programs that were tried when they were handed in.
    """

    seconds: float = 0.0
    match_seconds: float = 0.0
    oracle_seconds: float = 0.0
    matches: int = 0
    trials: int = 0


@dataclass(frozen=True, slots=True)
class Iteration:
    """One iteration k of a run.

    Attributes:
      k: 1, 2, ...
      sigma: what was to be beaten.
      accepted: digest of the policy that joined; "" where the oracle found none.
      u: its expected return against sigma; None where none joined.
      stderr: of u.
      attempts: everything that the oracle tried, in order.
      effort: see `Effort`; a resumed iteration counts only what was done in the end.
      end: why the oracle tried no more; None where it did not say, or an earlier program ran it.
      against: what u is made of, member by member of sigma; () where none joined, or an earlier
        program ran it.
    """

    k: int
    sigma: Sigma
    accepted: str
    u: float | None
    stderr: float | None
    attempts: tuple[Attempt, ...]
    effort: Effort
    end: End | None = None
    against: tuple[Against, ...] = ()


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as stored, without its iterations.

    Attributes:
      name: of the run.
      config: what it was told.
      state: see `RunState`.
      note: why it stopped, where it did.
      created: in UTC.
      initial: digest of the first member; "" before it is registered.
      final: the meta-strategy over all K + 1 members; None before the run is finished.
      mixture: digest of the registered meta-strategy; "" before the run is finished.
    """

    name: str
    config: RunConfig
    state: RunState
    note: str
    created: datetime
    initial: str = ""
    final: Sigma | None = None
    mixture: str = ""
