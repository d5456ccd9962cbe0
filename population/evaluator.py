"""Scores programs against a meta-strategy: `oracle.values.Evaluate`, played by the arena.

A program first passes the static checks and its trial against one of the opponents; only then is
it registered, as a candidate, and plays.  Its score comes from n_i repetitions against each member
i of the support, with n_i in proportion to the member's weight, so all candidates of an iteration
are measured by the same repetitions.  At less than full effort they meet a sample of the hidden
opponents, the same for all of them.  From `arena.values.COMMON` on these have the same cards for
all of them, each opponent's own, and scores say what each deal returned, so that differences can be
paired.

The best of several noisy scores is too high: the winner's curse.  So scores that choose among
candidates come from matches of their own (`arena.values.SELECTING`), and the one that is chosen is
measured once more, by matches that had no part in that.  Those are the first repetitions, from
which the payoff table is made as well.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from arena.kinds.neural import KIND as NEURAL
from arena.kinds.neural import file_of
from arena.payoffs import PayoffTable
from arena.rejection import Rejection, RejectionKind
from arena.submission import prepare
from arena.tally import Pair
from arena.values import COMMON, SELECTING
from oracle.values import Against, Failure, Rejected, Score, Task
from population.config import First
from population.forfeits import LONGEST_REASON, forfeit
from population.matches import Matches
from population.traces import Traces
from registry import digest_of
from registry.values import Parent, Status, Submission

LEAST_MATCHES = 4
"""Against each opponent, so that an error can be estimated from two deals."""
_STATIC = frozenset(RejectionKind) - {RejectionKind.DOES_NOT_REPEAT}
"""Kinds of rejection for which nothing had to be played."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """What is registered about a candidate beside its source.

    Attributes:
      provenance: model call, digest of the prompt, and the like.
      parent: digest of the registered program that it was made from, "" where there is none.
    """

    provenance: Mapping[str, object] = field(default_factory=dict)
    parent: str = ""


def _counting(candidate: str, opponent: str) -> int:
    """Where matches begin that chose nobody."""
    return 0


def _selecting(candidate: str, opponent: str) -> int:
    """Where matches begin that choose, on each pair's own cards."""
    return SELECTING


LineageOf = Callable[[str], Lineage]
"""From a program's source to what is known of where it came from."""


def shares(
    support: Mapping[str, float],
    total: int,
    effort: float = 1.0,
    least: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, int]:
    """Matches against each member of the support, an even number and at least `LEAST_MATCHES`.

    More effort never means fewer matches against anybody.

    Args:
      support: digest to weight.
      total: matches of a full evaluation, about.
      effort: share of it that is wanted, in (0, 1].
      least: digest to the fewest matches, where these are others.
    """
    if not 0.0 < effort <= 1.0:
        raise ValueError(f"effort is {effort}; it must be in (0, 1]")
    whole = sum(support.values())
    pairs = {one: math.ceil(effort * total * part / whole / 2.0) for one, part in support.items()}
    return {one: max(least.get(one, LEAST_MATCHES), 2 * pair) for one, pair in pairs.items()}


def sample(hidden: Sequence[str], effort: float, seed: int) -> list[str]:
    """Who of the hidden opponents is met at less than full effort; of more effort all of these.

    Every fourth at a quarter, and every second at half: each kind of them is met, which stand
    together in the list.  Two at the least, so that their spread can be told.

    Args:
      hidden: all of them.
      effort: share of a full evaluation.
      seed: says with whom it begins.
    """
    turn = {0: 0, 2: 1, 1: 2, 3: 3}
    ranked = sorted(range(len(hidden)), key=lambda place: turn[(place + seed) % 4])
    met = ranked[: max(2, math.ceil(effort * len(hidden)))]
    return [hidden[place] for place in sorted(met)]


class Evaluator:
    """Scores programs for one task.  Scoring a program again plays nothing again.

    Attributes:
      insight: what it can tell beside the scores; None where nobody asks.
    """

    def __init__(
        self,
        matches: Matches,
        task: Task,
        name: str,
        total: int,
        lineage_of: LineageOf,
        members: Mapping[str, str] | None = None,
        first: First = _selecting,
        *,
        tells: bool = False,
        hidden: int = LEAST_MATCHES,
        sampled: bool = False,
    ) -> None:
        """Prepares for one task.

        Args:
          matches: plays.
          task: whose opponents are met.
          name: "author/name" under which candidates are registered.
          total: matches of a full evaluation.
          lineage_of: asked once for each new program.
          members: digest to label of the whole population.  One that sigma does not play cannot
            join again, so it is refused as a duplicate: an oracle whose first idea stays the
            same would otherwise offer it for ever.
          first: where the matches of scores begin.
          tells: whether the oracle is told where returns came from (`insight`).
          hidden: fewest matches against each hidden opponent, an even number.
          sampled: whether less effort means fewer hidden opponents, instead of fewer matches with
            each: where the fewest are all that is played, that would save nothing.
        """
        self._matches = matches
        self._task = task
        self._name = name
        self._total = total
        self._first = first
        self._lineage_of = lineage_of
        self._support = task.weights
        self._sigma = {one.digest: one.weight for one in task.opponents}
        self._least = {one.digest: hidden for one in task.hidden}
        self._sampled = sampled
        self._idle = {d: label for d, label in (members or {}).items() if d not in self._sigma}
        self._admitted: dict[str, str | Failure] = {}
        self._ideas: dict[str, str] = {}
        self.insight = Traces(matches, task, first, self.digest, self._ideas) if tells else None

    def __call__(
        self, sources: Sequence[str], *, effort: float = 1.0
    ) -> tuple[Score | Failure, ...]:
        """See `oracle.values.Evaluate`."""
        self._admit([source for source in dict.fromkeys(sources) if source not in self._admitted])
        admitted = [self._admitted[source] for source in sources]
        digests = list(dict.fromkeys(one for one in admitted if isinstance(one, str)))
        number = self._number(effort)
        scores = self._played(digests, self._weights(number), number, self._first)
        return tuple(one if isinstance(one, Failure) else scores[one] for one in admitted)

    def needs(self, effort: float = 1.0) -> int:
        """Matches that a program's score is made of."""
        return sum(self._number(effort).values())

    def afresh(self, digest: str) -> Score | Failure:
        """Scores a registered program in full, by matches that chose nobody, against sigma alone.

        Hidden opponents have a say in who is chosen, and none in what is reported of it.
        """
        number = shares(self._sigma, self._total)
        return self._played([digest], self._sigma, number, _counting)[digest]

    def digest(self, source: str) -> str:
        """Identity of a program that was scored, "" for one that was refused."""
        admitted = self._admitted.get(source)
        return admitted if isinstance(admitted, str) else ""

    def _number(self, effort: float) -> dict[str, int]:
        """Matches against everybody who is met at this effort."""
        number = shares(self._support, self._total, effort, self._least)
        if not self._sampled:
            return number
        met = set(sample([one.digest for one in self._task.hidden], effort, self._task.seed))
        full = shares(self._support, self._total, 1.0, self._least)
        return {
            one: full[one] if one in met else count
            for one, count in number.items()
            if one in met or one not in self._least
        }

    def _weights(self, met: Collection[str]) -> dict[str, float]:
        """Parts in a score of those who are met: a sample of the hidden ones stands for all."""
        hidden = [one for one in met if one in self._least]
        whole = len(self._least) / len(hidden) if hidden else 1.0
        return {one: self._support[one] * (whole if one in self._least else 1.0) for one in met}

    def _admit(self, sources: Sequence[str]) -> None:
        """Checks, tries and registers new programs."""
        submissions: dict[str, Submission] = {}
        for source in sources:
            prepared = self._prepared(source)
            if isinstance(prepared, Failure):
                self._admitted[source] = prepared
            elif (member := self._idle.get(_digest(prepared))) is not None:
                self._admitted[source] = Failure(
                    Rejected.DUPLICATE,
                    f"this is the program of {member}, which is in the population already and "
                    "which the mixture does not need; write one that behaves differently",
                    twin=member,
                )
            else:
                submissions[source] = prepared
        entered = self._matches.enter(list(submissions.values()), self._sigma)
        for source, outcome in zip(submissions, entered, strict=True):
            if isinstance(outcome, Rejection):
                self._admitted[source] = _failure(outcome)
            else:
                self._admitted[source] = outcome.version.digest
                self._ideas[outcome.version.digest] = submissions[source].description

    def _prepared(self, source: str) -> Submission | Failure:
        lineage = self._lineage_of(source)
        parents = [Parent(one.digest, "responds-to") for one in self._task.opponents]
        if lineage.parent:
            parents.append(Parent(lineage.parent, "made-from"))
        prepared = prepare(
            self._matches.game,
            file_of(source) if self._task.kind == NEURAL else source,
            name=self._name,
            labels={"iteration": self._task.key},
            provenance=lineage.provenance,
            parents=tuple(parents),
            status=Status.CANDIDATE,
        )
        if isinstance(prepared, Rejection):
            return _failure(prepared)
        return replace(prepared, description=prepared.description or "no docstring")

    def _played(
        self,
        digests: Sequence[str],
        support: Mapping[str, float],
        number: Mapping[str, int],
        first: First,
    ) -> dict[str, Score | Failure]:
        """Plays registered programs so often against a support, and scores them by exactly that."""
        begun: dict[int, dict[Pair, int]] = {}
        for digest in digests:
            for opponent, count in number.items():
                if digest != opponent:
                    pair = (digest, opponent)
                    begun.setdefault(first(*pair), {})[pair] = count
        everyone = list(dict.fromkeys([*digests, *support]))
        tables = {
            begin: self._matches.payoffs(everyone, wanted, begin) for begin, wanted in begun.items()
        }
        return {
            digest: _UNREPEATED
            if digest in self._matches.quarantined
            else self._scored(tables, digest, support, number, first)
            for digest in digests
        }

    def _scored(
        self,
        tables: Mapping[int, PayoffTable],
        digest: str,
        support: Mapping[str, float],
        number: Mapping[str, int],
        first: First,
    ) -> Score | Failure:
        """From the payoffs by the repetition that matches begin with."""
        others = [opponent for opponent in support if opponent != digest]
        begun = {opponent: first(digest, opponent) for opponent in others}
        spans = {one: (begin, begin + number[one]) for one, begin in begun.items()}
        if any(_forfeits(tables[begun[other]], digest, other) for other in others):
            return self._forfeit(digest, spans)
        dealt = {one: span for one, span in spans.items() if begun[one] >= COMMON}
        deals = self._matches.deals(digest, dealt) if dealt else {}

        whole = sum(support.values())

        def against(opponent: str) -> Against:
            weight = support[opponent] / whole
            if opponent == digest:
                return Against(digest, 0.0, 0.0, 0, weight=weight)  # by symmetry
            table = tables[begun[opponent]]
            at = table.index()[digest], table.index()[opponent]
            mean, error, count = float(table.mean[at]), float(table.stderr[at]), table.count[at]
            given = _forfeits(table, opponent, digest)
            return Against(
                opponent, mean, error, int(count), deals.get(opponent, {}), given, weight
            )

        met = tuple(map(against, support))
        weights = np.array([one.weight for one in met])
        errors = weights * [one.stderr for one in met]
        u = float(weights @ [one.mean for one in met])
        alone = float(np.sqrt(np.square(errors).sum()))
        return Score(u, math.hypot(alone, self._of_sample(met)), met)

    def _of_sample(self, met: Sequence[Against]) -> float:
        """What error u has beside that of the matches, where some hidden opponents stand for all.

        Of n of N whose means have the variance s^2, the matches' noise included, the error is
        s^2 / n * (1 - n / N), and n / N of the noise in it, squared (two stages of sampling:
        Cochran 1977, Sampling Techniques, chapter 10).
        """
        hidden = [one for one in met if one.digest in self._least]
        if not 2 <= len(hidden) < len(self._least):
            return 0.0
        drawn = len(hidden) / len(self._least)
        share = math.fsum(one.weight or 0.0 for one in hidden)
        noise = math.fsum(((one.weight or 0.0) * one.stderr) ** 2 for one in hidden)
        apart = share**2 * statistics.variance(one.mean for one in hidden) / len(hidden)
        return math.sqrt(max(0.0, (1.0 - drawn) * (apart - noise)))

    def _forfeit(self, digest: str, spans: Mapping[str, tuple[int, int]]) -> Failure:
        """Why a candidate forfeited one of its matches: the first one, whenever it was played."""
        game = self._matches.game
        rows = self._matches.arena.matches(game, digest, faults_only=True, limit=None)
        own = [
            row
            for row in rows
            if row.fault_seat is not None
            and row.seats[row.fault_seat] == digest
            and row.match.repetition in range(*spans.get(row.seats[1 - row.fault_seat], (0, 0)))
        ]
        return forfeit(digest, own, {one.digest: one.ref for one in self._task.opponents})


def _forfeits(table: PayoffTable, digest: str, other: str) -> int:
    """How often a policy forfeited against another; it may have met it as its opponent too."""
    return int(table.forfeits[table.index()[digest], table.index()[other]])


def _digest(submission: Submission) -> str:
    return digest_of(submission.game, submission.kind, submission.payload)


_UNREPEATED = Failure(
    Rejected.FAULTY,
    f"{RejectionKind.QUARANTINED}: a match did not come out the same when it was played again with "
    "the same seeds; moves must follow from seeded random choices and what is observed",
)
"""What an author is told of quarantine.  Not the evidence: it may be of a hidden opponent's match,
and in the program's own words."""


def _failure(rejection: Rejection) -> Failure:
    """Why a program was not taken in: it is no policy, or it failed its trial."""
    if rejection.kind is RejectionKind.QUARANTINED:
        return _UNREPEATED
    static = rejection.kind in _STATIC
    kind = Rejected.NOT_A_POLICY if static else Rejected.FAULTY
    return Failure(kind, f"{rejection.kind}: {rejection.message[:LONGEST_REASON]}")
