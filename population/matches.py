"""Plays exactly the matches that a run needs, with one pool of workers for the whole run.

What is wanted is compared with what is stored, and only the rest is played, so a run that is
started again finds its matches.  Many small requests come in the course of a run; starting
processes and sandboxes for each of them would take longer than the matches.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from types import TracebackType

from arena.bouts import BoutHandler, Played
from arena.games.protocol import Game
from arena.home import Home
from arena.payoffs import PayoffTable
from arena.plan import ISOLATED_BATCH, Bout, Job, Player, Route, block_size, jobs
from arena.play import members_of, processors, resolver, settled
from arena.schedule import Schedule
from arena.values import Match, Result
from arena.workers import WorkerPool
from population.payoff import Wanted, exact_payoffs
from sandbox.choose import WallChoice
from sandbox.values import Limits

COMMIT_SECONDS = 2.0

Progress = Callable[[int, int], None]
"""Called with (matches done, matches to do)."""


def silent(done: int, wanted: int) -> None:
    """Tells nobody."""


@dataclass(slots=True)
class Spent:
    """What playing has taken so far.

    Attributes:
      matches: played (not those that were stored before).
      trials: self-play matches that try a new program.
      seconds: wall-clock time.
      walls: what the matches ran behind, with the number of matches.
    """

    matches: int = 0
    trials: int = 0
    seconds: float = 0.0
    walls: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Matches:
    """Plays matches of one game for one run.  A context manager; not for several threads.

    Attributes:
      home: whose policies play, and where results go.
      game: what is played.
      workers: processes; 0 for one per processor.
      wall: the sandbox.
      limits: of each policy.
      progress: told how a request goes on.
      spent: adds up.
    """

    home: Home
    game: Game
    workers: int = 0
    wall: WallChoice = field(default_factory=WallChoice)
    limits: Limits = field(default_factory=Limits)
    progress: Progress = silent
    spent: Spent = field(default_factory=Spent)
    _pool: WorkerPool[Job, Played] | None = None

    def payoffs(self, digests: Sequence[str], wanted: Wanted) -> PayoffTable:
        """Plays what is missing and returns the payoffs from exactly the wanted matches.

        Args:
          digests: registered policies, in the order of the table.
          wanted: pairs of them to numbers of matches.

        Raises:
          WorkerDied, SandboxError, StoreError: what was played before is stored.
        """
        self.play(wanted)
        return exact_payoffs(self.home.store, self.game, tuple(digests), wanted)

    def play(self, wanted: Wanted) -> None:
        """Plays the wanted matches that are not stored."""
        by_count: dict[int, list[tuple[str, str]]] = {}
        for pair, matches in wanted.items():
            by_count.setdefault(matches, []).append(pair)
        store = self.home.store
        schedules = [Schedule(store, self.game, pairs, n) for n, pairs in sorted(by_count.items())]
        missing = sum(schedule.missing for schedule in schedules)
        if not missing:
            return
        players = self._players({digest for pair in wanted for digest in pair})
        stream = jobs(
            self.game.name,
            chain.from_iterable(schedules),
            players,
            resolver(players),
            block_matches=block_size(missing, self._count),
        )
        self._collect(stream, players, missing)

    def trials(self, programs: Mapping[str, str]) -> dict[str, Result]:
        """Each program plays one match against itself with fresh sealed workers.

        Args:
          programs: digest to source; nothing of them need be registered, nothing is stored.

        Returns:
          The results by digest; one of a fault says whose and why.
        """
        started = time.perf_counter()
        stream = (self._trial(digest, source) for digest, source in programs.items())
        answers = self._open().run(stream)
        found = {result.match.low: result for played in answers for result in played.results}
        self.spent.trials += len(found)
        self.spent.seconds += time.perf_counter() - started
        return found

    def _trial(self, digest: str, source: str) -> Job:
        match = Match.between(self.game.name, self.game.version, digest, digest, 0)
        player = Player(digest, "python", source)
        bout = Bout(match, (digest, digest))
        return Job(Route.BOX, self.game.name, (bout,), {digest: player}, isolate=True)

    def _players(self, digests: Iterable[str]) -> dict[str, Player]:
        versions = self.home.registry.by_digests(sorted(digests))
        return members_of(self.home, list(versions.values()))

    def _collect(self, stream: Iterator[Job], players: dict[str, Player], missing: int) -> None:
        started = committed = time.perf_counter()
        again: list[Bout] = []
        pending: list[Result] = []
        done = 0
        self.progress(0, missing)
        try:
            for played in self._open().run(stream, partial(self._again, again, players)):
                pending.extend(played.results)
                self.spent.walls.update(result.wall for result in played.results)
                again.extend(played.again)
                done += len(played.results)
                if time.perf_counter() - committed > COMMIT_SECONDS:
                    self.home.store.append(self.game, pending)
                    pending, committed = [], time.perf_counter()
                self.progress(done, missing)
        finally:
            self.home.store.append(self.game, pending)
        self.spent.matches += done
        self.spent.seconds += time.perf_counter() - started

    def _again(self, bouts: list[Bout], players: dict[str, Player]) -> Job | None:
        """Matches whose lockstep worker was at fault are played once more, each on its own."""
        if not bouts:
            return None
        batch, bouts[:] = bouts[:ISOLATED_BATCH], bouts[ISOLATED_BATCH:]
        present = {digest: players[digest] for bout in batch for digest in bout.players}
        return Job(Route.BOX, self.game.name, tuple(batch), present, isolate=True)

    @property
    def _count(self) -> int:
        return self.workers or processors()

    def _open(self) -> WorkerPool[Job, Played]:
        if self._pool is None:
            build = partial(BoutHandler, settled(self.wall), self.limits)
            self._pool = WorkerPool(self._count, build)
        return self._pool

    def __enter__(self) -> Matches:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None
