"""One question and its answer: "write a policy that beats this mixture".

The oracle never plays by itself: whoever asks hands it an `Evaluate` function.  It never stores by
itself either: every model call goes through the `Model` that it is given, which keeps it.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from arena.games.protocol import Game
from arena.submission import KIND
from oracle.end import End


class Rejected(enum.StrEnum):
    """Why a reply did not become a candidate that can be scored.  Never a score."""

    BLOCKED = "blocked"
    """The model's provider withheld the reply."""
    EMPTY = "empty"
    TOO_LONG = "too-long"
    """The prompt is longer than the model's server can read."""
    TRUNCATED = "truncated"
    NO_CODE = "no-code"
    NOT_A_POLICY = "not-a-policy"
    """It has code, but not a policy of the game's contract (the reason names the check)."""
    BAD_EDIT = "bad-edit"
    """A SEARCH/REPLACE block that cannot be applied."""
    DUPLICATE = "duplicate"
    """The same program was scored before."""
    FAULTY = "faulty"
    """It forfeits in the trial match."""
    UNPLAYED = "unplayed"
    """The search may not have so many more matches played."""
    DIVERGED = "diverged"
    """The training of a network came to numbers that are not finite."""


@dataclass(frozen=True, slots=True)
class Opponent:
    """One member of the mixture that is to be beaten.

    Attributes:
      digest: its identity.
      ref: its label.
      source: its program.
      weight: its probability in the meta-strategy, after filtering as it was before.
      kind: of the policy; a program, or another kind whose payload stands in `source`.
      group: of hidden ones, which sort it is: a prompt tells the return against each sort.
    """

    digest: str
    ref: str
    source: str
    weight: float
    kind: str = KIND
    group: str = ""


Deal = tuple[int, int]
"""The season that it was dealt in, and its number among those of an opponent."""


@dataclass(frozen=True, slots=True)
class Against:
    """What a candidate returned against one opponent.

    Attributes:
      digest: of the opponent.
      mean: return of a match.
      stderr: of that.
      matches: that it comes from.
      deals: mean return of the matches of each deal, where the candidates of a task meet this
        opponent on the same cards; else empty.  Not kept with a run.
      forfeited: matches that the opponent forfeited; what that was worth is in the mean.
      weight: its part in u, of 1 in all; None where that was not kept.
    """

    digest: str
    mean: float
    stderr: float
    matches: int
    deals: Mapping[Deal, float] = field(default_factory=dict, compare=False, repr=False)
    forfeited: int = 0
    weight: float | None = None

    def kept(self) -> dict[str, Any]:
        """What is kept with a run: the matches are stored, so each deal can be looked up."""
        kept = {name: getattr(self, name) for name in ("digest", "mean", "stderr", "matches")}
        if self.forfeited:
            kept["forfeited"] = self.forfeited
        if self.weight is not None:
            kept["weight"] = self.weight
        return kept


@dataclass(frozen=True, slots=True)
class Score:
    """Expected return u of a candidate against the meta-strategy, in the game's unit.

    Attributes:
      u: mean return against an opponent drawn from sigma; where a task has hidden opponents, with
        their share in it.
      stderr: of u.
      against: per opponent in the support of sigma, heaviest first, then the hidden ones that were
        met.
      stopped: whether a race gave the candidate up before it was played in full.  Its u is of fewer
        matches, and may be high by their luck alone (that of common cards, for one).  Where it met
        a sample of the hidden opponents, u is that of the race's best, and the difference to it
        among those whom both met.
    """

    u: float
    stderr: float
    against: tuple[Against, ...]
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """A reply that is no candidate.

    Attributes:
      kind: why.
      reason: a text that tells the model what to mend.
      twin: key of the attempt, or label of the member of the population, that a duplicate equals;
        "" where it is none, or not known.
    """

    kind: Rejected
    reason: str
    twin: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A program that was scored.

    Attributes:
      source: the program.
      digest: its identity in the registry, where it is a version of status candidate.
      score: against the task's meta-strategy.
      parent: digest of the program that it was made from, "" where there is none.
      call: key of the model call that wrote it, "" for programs that no model wrote.
    """

    source: str
    digest: str
    score: Score
    parent: str
    call: str


@dataclass(frozen=True, slots=True)
class Task:
    """A best response that is wanted.

    Attributes:
      game: what is played.
      opponents: the whole support of sigma, heaviest first, unfiltered.
      others: the members of the population without any weight in sigma, the newest first: what
        a filter that wants k members fills up with.  Nothing is scored against them.
      hidden: programs that candidates meet as well and that nobody who writes one is shown.
      hidden_share: of a score that comes from these, in equal parts; 0 where there are none.
      kind: of the policies that answer it: programs, or another kind by their payloads.
      incumbent: the program to improve on, as the paper's prompt shows it ("" for none).
      seed: of every random choice of the oracle.
      key: names the task within its run ("k03"); calls are stored under it.
    """

    game: Game
    opponents: tuple[Opponent, ...]
    incumbent: str
    seed: int
    key: str
    others: tuple[Opponent, ...] = ()
    hidden: tuple[Opponent, ...] = ()
    hidden_share: float = 0.0
    kind: str = KIND

    @property
    def weights(self) -> dict[str, float]:
        """Digest of everybody whom candidates meet to its share of their score."""
        sigma = {one.digest: one.weight for one in self.opponents}
        if not self.hidden:
            return sigma
        whole, rest = math.fsum(sigma.values()), 1.0 - self.hidden_share
        shown = {digest: rest * weight / whole for digest, weight in sigma.items()}
        return shown | {one.digest: self.hidden_share / len(self.hidden) for one in self.hidden}


class Evaluate(Protocol):
    """Scores programs against the task's meta-strategy on common seeds.

    All programs of one call are played together.  Scoring a program twice gives the same score
    and costs nothing.  `effort` in (0, 1] asks for a share of the full number of matches: the
    first matches of the full evaluation, with a sample of the hidden opponents, so that more effort
    extends what was played.
    """

    def __call__(
        self, sources: Sequence[str], *, effort: float = 1.0
    ) -> tuple[Score | Failure, ...]: ...


@dataclass(frozen=True, slots=True)
class Attempt:
    """One step of an oracle, for the report: what was tried and what came of it.

    Attributes:
      number: 0, 1, 2, ... in the order in which drafts were asked for.
      parent: digest of the scored program that it was made from, "" where there is none.
      call: key of the model call that wrote it, "" where no model did.
      digest: of the program, "" where there is none.
      score: what it returned; None where it failed.
      failure: why it is no candidate; None where it was scored.
      kept: whether it became (one of) the oracle's best when it was tried.
      repairs: malformed replies that were sent back to the model on the way.
    """

    number: int
    parent: str
    call: str
    digest: str
    score: Score | None
    failure: Failure | None
    kept: bool
    repairs: int = 0

    @property
    def fate(self) -> str:
        """What became of it, in a word or two."""
        if self.score is None:
            return "rejected"
        if self.kept:
            return "kept"
        return "given up" if self.score.stopped else "not kept"


@dataclass(frozen=True, slots=True)
class Response:
    """An oracle's answer with its own account of it.

    Attributes:
      best: the candidate to add to the population.
      attempts: everything that was tried, in order.
      end: why it tried no more; None where it does not say.
    """

    best: Candidate
    attempts: tuple[Attempt, ...]
    end: End | None = None


class OracleExhausted(Exception):
    """The oracle tried all that it may and has no valid program to offer.

    Attributes:
      attempts: everything that was tried, in order, each with its reason.
      end: why it tried no more; None where it does not say.
    """

    def __init__(
        self, message: str, attempts: tuple[Attempt, ...] = (), end: End | None = None
    ) -> None:
        super().__init__(message)
        self.attempts = attempts
        self.end = end


@runtime_checkable
class Oracle(Protocol):
    """Writes a best response to a task's mixture.

    Randomness follows from the task's seed, so that a run that is resumed goes on as it would have.
    """

    def respond(self, task: Task, evaluate: Evaluate) -> str | Response:
        """Answers a task.

        Returns:
          The source of the program that is to join ("" for none), or a `Response` with an account
          of what was tried.  Without one the account is what `evaluate` was asked for.

        Raises:
          OracleExhausted: nothing valid was found.
          BudgetSpent: the model's budget is used up; what was done is kept.
        """
        ...
