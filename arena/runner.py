"""Plays: the one way from matches that are wanted to results that are stored.

What is to be played is always what is wanted minus what is stored, so killing a runner loses at
most the chunks in flight and the last seconds' results, and asking again goes on from there.  A
secret sample of the matches is played twice (`arena.audit`); whoever does not repeat is
quarantined, whoever asked for the match.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import attrgetter
from types import TracebackType

from arena.bouts import BoutHandler, Played
from arena.demand import Demands
from arena.errors import UsageFault
from arena.executors import Executor, Workers, open_executor
from arena.games.protocol import Game
from arena.home import Home
from arena.kinds.asked import Asked, refuse_unanswered
from arena.plan import Bout, Chunk, Player, Route, block_share, bout_of, chunks, trial_chunk
from arena.players import members_of, resolver
from arena.playing import announced
from arena.schedule import Schedule
from arena.tally import PlayReport, Request, Tally
from arena.values import SELECTING, Match, Result
from sandbox.choose import WallChoice, open_settled
from sandbox.values import Limits

_log = logging.getLogger(__name__)

SMALL = 2
"""So few chunks are played by this process itself: to start workers takes longer."""
CHOSEN_THERE = "each machine of the cluster chooses its own"
"""In the place of a wall's name."""
MOST_REPETITIONS = 2**30
"""A store numbers a pair's matches with 32 bits."""
MATCHES_A_WORKER = 8
"""It takes so many to make another worker process worth its start."""


class Runner:
    """Plays for one home, with one executor and warm sandboxes for everything.

    A context manager; not for several threads at once.

    Args:
      home: whose policies play, and where results go.
      workers: how many processes, and where; a number is of this machine.
      wall: which sandbox untrusted policies run in.
      limits: of each policy.
      asked: who plays policies that are asked for their moves; None where nobody does.

    Attributes:
      watch: where somebody may want no more of what is under way: called all the time while chunks
        are, and what it raises ends them in the middle.  None where nobody may.
    """

    def __init__(
        self,
        home: Home,
        *,
        workers: Workers | int = 0,
        wall: WallChoice | None = None,
        limits: Limits | None = None,
        asked: Asked | None = None,
    ) -> None:
        self.home = home
        self.limits = limits or Limits()
        self.asked = asked
        self._workers = Workers(workers) if isinstance(workers, int) else workers
        self._choice = self._settled = wall or WallChoice()
        self.watch: Callable[[], None] | None = None
        self._wall_name = ""
        self._opened: Executor | None = None
        self._here: BoutHandler | None = None
        self._owed: list[tuple[Tally, Mapping[str, Player]]] = []
        self._demands = Demands()

    @property
    def capacity(self) -> int:
        """How many matches it plays at a time, at most."""
        return self._executor.capacity

    @property
    def _is_local(self) -> bool:
        return self._workers.cluster is None

    @property
    def _executor(self) -> Executor:
        """Where chunks run; opened when it is needed, as a cluster is far away."""
        if self._opened is None:
            build = partial(BoutHandler, self.limits)
            self._opened = open_executor(self._workers, build, brief=attrgetter("brief"))
        return self._opened

    @property
    def wall(self) -> str:
        """Name of the wall between Python policies and this machine; tries it at first.

        The machines of a cluster choose for themselves, so nothing is tried here.

        Raises:
          SandboxRefused: no wall that is strong enough works here.
        """
        if not self._is_local:
            return CHOSEN_THERE
        if not self._wall_name:
            opened = open_settled(self._choice)
            self._settled, self._wall_name = opened.choice, opened.wall.name
            if opened.wall.remark:
                _log.warning("sandbox %s: %s", opened.wall.name, opened.wall.remark)
            # Not kept: workers have boxes of their own, and this one would hold a core of theirs.
            opened.wall.close()
        return self._wall_name

    def play(self, request: Request) -> PlayReport:
        """Plays every wanted match that is not stored yet, and stores it.

        Raises:
          UsageFault: fewer than one match of a pair is asked for, far too many, or none that a
            store can number; or somebody is to be asked for moves, and nobody answers.
          WorkerDied, SandboxError, StoreError: nothing that was acknowledged is lost.
        """
        if any(count < 1 for count in request.wanted.values()):
            raise UsageFault("ask for at least 1 match a pair")
        if any(count > SELECTING for count in request.wanted.values()):
            raise UsageFault(f"ask for at most {SELECTING:,} matches a pair")
        if not 0 <= request.first < MOST_REPETITIONS:
            raise UsageFault(f"matches cannot be counted from {request.first:.6g}")
        started = time.perf_counter()
        schedules = Schedule.by_count(self.home.store, request.game, request.wanted, request.first)
        missing = sum(schedule.missing for schedule in schedules)
        with announced(self.home.path, request.game.name, missing, request.progress) as progress:
            tally = Tally(self.home, replace(request, progress=progress), missing)
            self._play(request, schedules, tally, missing)
        skipped = sum(schedule.wanted for schedule in schedules) - missing
        return tally.report(skipped, time.perf_counter() - started)

    def _play(
        self, request: Request, schedules: Sequence[Schedule], tally: Tally, missing: int
    ) -> None:
        """Plays what is missing, if anything is."""
        if missing:
            players = self._players(digest for pair in request.wanted for digest in pair)
            bouts = self._bouts(chain.from_iterable(schedules), players)
            stream = chunks(
                request.game.name,
                tally.within_budget(bouts),
                players,
                shared=request.shared,
                share=self._share_of(missing),
                demands=self._demands,
            )
            few = missing <= SMALL
            answers = self._run(stream, missing, partial(tally.more, players), here=few)
            try:
                with closing(answers):  # whatever is raised, nobody else gets what is left
                    tally.collect(map(self._learnt, answers))
            finally:
                if tally.owes_audits:
                    self._owed.append((tally, players))

    def settle(self) -> None:
        """Plays the audits that are owed for stored matches of requests that were ended early.

        Whoever may end a request could otherwise end each at the moment when its audit begins, and
        no match of a policy that does not repeat would ever be looked at.  What ends this as well
        ends those audits.

        Raises:
          WorkerDied, SandboxError, StoreError: see `play`.
        """
        while self._owed:
            tally, players = self._owed.pop()
            more = partial(tally.more, players)
            with closing(self._run(iter(()), tally.only_audits(), more)) as answers:
                tally.collect(answers)

    def play_again(self, game: Game, stored: Sequence[Result]) -> list[Result]:
        """Plays stored matches again, as an audit does; nothing is stored.

        Raises:
          SeedsUnknown: one is from before seeds were secret.
        """
        players = self._players(digest for result in stored for digest in result.match.seats)
        resolve = resolver(players)
        bouts = [
            bout_of(result.match, self.home.seeds(result.season), resolve) for result in stored
        ]
        found: dict[Match, Result] = {}
        few = len(bouts) <= SMALL
        stream = (replace(chunk, audit=True) for chunk in chunks(game.name, bouts, players))
        with closing(self._run(stream, len(bouts), here=few)) as answers:
            for played in answers:
                found.update((result.match, result) for result in played.results)
        return [found[result.match] for result in stored]

    def try_out(
        self,
        game: Game,
        trials: Mapping[str, tuple[Sequence[Bout], Mapping[str, Player]]],
        *,
        again: bool = False,
    ) -> dict[str, tuple[Result, ...]]:
        """Plays trials of policies that need not be registered; nothing is stored.

        Args:
          game: what is played.
          trials: whatever tells them apart, to the matches and everybody who sits down in them.
          again: they were played before, and are to show that they repeat.

        Returns:
          The results of each trial, in the order of its matches.
        """
        for _, players in trials.values():
            refuse_unanswered((one.kind for one in players.values()), self.asked)
        first = {bouts[0].match: name for name, (bouts, _) in trials.items()}
        stream = (
            replace(trial_chunk(game.name, bouts, players), audit=again)
            for bouts, players in trials.values()
        )
        count = MATCHES_A_WORKER * len(trials)
        with closing(self._run(stream, count, here=len(trials) <= SMALL)) as answers:
            return {first[played.results[0].match]: played.results for played in answers}

    def for_home(self, home: Home) -> Runner:
        """Another runner for another home, with the same workers, wall and limits."""
        made = Runner(home, workers=self._workers, wall=self._choice, limits=self.limits)
        made.watch = self.watch
        return made

    def like_it(self, limits: Limits) -> Runner:
        """Another runner for the same home behind the same wall, with other limits."""
        made = Runner(self.home, workers=1, wall=self._settled, limits=limits)
        made.watch = self.watch
        return made

    def close(self) -> None:
        """Ends workers and sandboxes.  Idempotent."""
        for part in (self._opened, self._here, self.asked):
            if part is not None:
                part.close()
        self._opened = self._here = None

    def _share_of(self, missing: int) -> int:
        if self.asked is not None:
            return self.asked.matches
        return block_share(missing, self.capacity)

    def _players(self, digests: Iterable[str]) -> dict[str, Player]:
        registry = self.home.registry
        players = members_of(registry, registry.by_digests(sorted(set(digests))).values())
        refuse_unanswered((one.kind for one in players.values()), self.asked)
        return players

    def _bouts(self, matches: Iterable[Match], players: Mapping[str, Player]) -> Iterator[Bout]:
        seeds, resolve = self.home.seeds(), resolver(players)
        return (bout_of(match, seeds, resolve) for match in matches)

    def _run(
        self,
        stream: Iterator[Chunk],
        matches: int,
        more: Callable[[], Chunk | None] = lambda: None,
        *,
        here: bool = False,
    ) -> Generator[Played]:
        """Runs chunks, and those that come up on the way, in this process or by the executor."""
        stream = (self._behind_the_wall(chunk) for chunk in stream)

        def next_but_more() -> Chunk | None:
            chunk = more()
            return None if chunk is None else self._behind_the_wall(chunk)

        # Whoever is asked for moves is asked by this process, which has the connections.
        here = here and self._is_local and not self._executor.size and self.watch is None
        if self.asked is not None or here:
            self._here = self._here or BoutHandler(self.limits, self.asked)
            while (chunk := next_but_more() or next(stream, None)) is not None:
                yield self._here.run(chunk)
            return
        if self._here is not None:  # its box would hold a core of theirs, and memory
            self._here.close()
            self._here = None
        self._executor.grow(-(-matches // MATCHES_A_WORKER))
        yield from self._executor.run(stream, next_but_more, self.watch or _nobody)

    def _learnt(self, played: Played) -> Played:
        """What was played; the blocks that are cut from now on are cut by what it took."""
        self._demands.learn(played.demands)
        return played

    def _behind_the_wall(self, chunk: Chunk) -> Chunk:
        """Says which wall a chunk of the sandbox needs, settled once for all workers.

        The machines of a cluster settle it for themselves.
        """
        if chunk.route is not Route.BOX:
            return chunk
        return replace(chunk, wall=self._settled) if self.wall else chunk

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _nobody() -> None:
    """Nobody wants to end anything."""
