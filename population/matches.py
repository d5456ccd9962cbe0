"""The arena as one run uses it: its game, its way of playing, and an account of what it took."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from arena.enrol import Enrolled
from arena.games.protocol import Game
from arena.payoffs import PayoffTable
from arena.rejection import Rejection
from arena.seam import AnyArena
from arena.tally import Pair, Progress, silent
from oracle.values import Deal
from population.archive import Behaviour
from registry.values import Submission


@dataclass(slots=True)
class Spent:
    """What playing has taken so far.

    Attributes:
      matches: played, those of trials that are stored included (not those of before).
      trials: programs that were tried.
      seconds: elapsed time.
      walls: what the matches ran behind, with the number of matches.
    """

    matches: int = 0
    trials: int = 0
    seconds: float = 0.0
    walls: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Matches:
    """Plays matches of one game for one run; not for several threads.

    Attributes:
      arena: where.
      game: what is played.
      shared: somebody vouches for the run's programs: matches of one may share a process.
      progress: told how a request goes on.
      spent: adds up.
      behaved: how a program behaved against another, from one repetition to before another.  Stored
        matches never change, and each iteration looks at the programs of all iterations before.
      yardsticks: digests of the run's, once they are drawn (`population.yardsticks`).
      quarantined: digests that audits of these matches put into quarantine.
    """

    arena: AnyArena
    game: Game
    shared: bool = False
    progress: Progress = silent
    spent: Spent = field(default_factory=Spent)
    behaved: dict[tuple[str, str, int, int], Behaviour] = field(default_factory=dict)
    quarantined: set[str] = field(default_factory=set)
    yardsticks: list[str] = field(default_factory=list)

    def payoffs(
        self, digests: Sequence[str], wanted: Mapping[Pair, int], first: int = 0
    ) -> PayoffTable:
        """Plays what is missing and returns the payoffs from exactly the wanted matches.

        Args:
          digests: registered policies, in the order of the table.
          wanted: pairs of them to numbers of matches.
          first: repetition that they are counted from.

        Raises:
          WorkerDied, SandboxError, StoreError: what was played before is stored.
        """
        self.play(wanted, first)
        return self.arena.exact_payoffs(self.game, digests, wanted, first=first)

    def play(self, wanted: Mapping[Pair, int], first: int = 0) -> None:
        """Plays the wanted matches that are not stored."""
        report = self.arena.play_pairs(
            self.game, wanted, shared=self.shared, progress=self.progress, first=first
        )
        self.spent.matches += report.played
        self.spent.seconds += report.seconds
        self.spent.walls.update(report.walls)
        self.quarantined.update(report.quarantined)

    def deals(
        self, digest: str, wanted: Mapping[str, tuple[int, int]]
    ) -> dict[str, dict[Deal, float]]:
        """A policy's mean return in each deal with some others.

        Args:
          digest: of the policy.
          wanted: digest of each other to the first of the repetitions, and the one after the last.
        """
        return {other: self._deals(digest, other, *span) for other, span in wanted.items()}

    def _deals(self, digest: str, other: str, first: int, end: int) -> dict[Deal, float]:
        found: dict[Deal, list[float]] = {}
        for row in self.arena.matches(self.game, digest, against=other, limit=None):
            if first <= row.match.repetition < end:
                mine = row.return_low if row.match.low == digest else -row.return_low
                deal = (row.season, (row.match.repetition - first) // 2)
                found.setdefault(deal, []).append(mine)
        return {deal: sum(halves) / len(halves) for deal, halves in sorted(found.items())}

    def enter(
        self, candidates: Sequence[Submission], opponents: Iterable[str]
    ) -> list[Enrolled | Rejection]:
        """Lets programs play their trials against some of these opponents, and registers them."""
        started = time.perf_counter()
        found = self.arena.enter(self.game, candidates, opponents=tuple(opponents), ours=True)
        self.spent.trials += sum(isinstance(one, Rejection) or one.created for one in found)
        tried = {one.version.digest: one.trial for one in found if isinstance(one, Enrolled)}
        for trial in tried.values():
            self.spent.matches += len(trial)
            self.spent.walls.update(result.wall for result in trial)
        self.spent.seconds += time.perf_counter() - started
        return found
