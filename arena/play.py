"""Plays a round robin: what is wanted minus what is stored, in parallel, into the store.

Killing it at any moment loses at most the jobs in flight; running it again goes on from there,
because what is to be played is always computed from what is stored.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from arena.bouts import BoutHandler, Played
from arena.errors import UsageFault
from arena.games.protocol import Game
from arena.home import Home
from arena.kinds.mixture import draw, weights_of
from arena.plan import ISOLATED_BATCH, Bout, Job, Player, Route, block_size, jobs
from arena.schedule import Schedule
from arena.values import Result
from arena.workers import WorkerPool
from registry.values import PolicyVersion, Status
from sandbox.choose import WallChoice, open_wall
from sandbox.values import Limits

COMMIT_SECONDS = 1.0
COMMIT_RESULTS = 2_000


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """How a round robin is played.

    Attributes:
      matches: wanted for each unordered pair of policies.
      workers: processes; 0 for one per processor that this process may use.
      wall: which sandbox untrusted policies run in.
      isolate: fresh sealed workers for every match, instead of lockstep blocks.
      limits: for each policy.
    """

    matches: int
    workers: int = 0
    wall: WallChoice = field(default_factory=WallChoice)
    isolate: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class PlayReport:
    """What a round robin came to.

    Attributes:
      played: matches played and stored now.
      skipped: wanted matches that were stored already.
      forfeits: of the matches played now.
      seconds: wall-clock time.
      walls: kinds of wall that the matches ran behind, with the number of matches.
    """

    played: int
    skipped: int
    forfeits: int
    seconds: float
    walls: dict[str, int]


Progress = Callable[[int, int], None]
"""Called with (matches done, matches to do)."""


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pairs_among(versions: Sequence[PolicyVersion], only: Sequence[str]) -> list[tuple[str, str]]:
    """The unordered pairs to play, as digests.

    Args:
      versions: everybody who may play.
      only: digests; empty for all pairs, one for everybody against it, several for the round
        robin among them.
    """
    digests = sorted(version.digest for version in versions)
    chosen = sorted(set(only)) or digests
    if only and len(chosen) == 1:
        one = chosen[0]
        return [(min(one, other), max(one, other)) for other in digests if other != one]
    return [(a, b) for i, a in enumerate(chosen) for b in chosen[i + 1 :]]


def members_of(home: Home, versions: Sequence[PolicyVersion]) -> dict[str, Player]:
    """Every policy that can sit down when these versions play: themselves and mixtures' members."""
    players: dict[str, Player] = {}
    queue = list(versions)
    while queue:
        version = queue.pop()
        if version.digest in players:
            continue
        players[version.digest] = Player(version.digest, version.kind, version.payload)
        if version.kind == "mixture":
            queue.extend(home.registry.by_digests(weights_of(version.payload)).values())
    return players


def resolver(players: dict[str, Player]) -> Callable[[str, int], str]:
    """(digest, seat seed) -> the digest that really plays: mixtures draw a member per match."""

    def resolve(digest: str, seed: int) -> str:
        player = players[digest]
        while player.kind == "mixture":
            player = players[draw(player.payload, seed)]
        return player.digest

    return resolve


def play(
    home: Home,
    game: Game,
    options: PlayOptions,
    *,
    only: Sequence[str] = (),
    progress: Progress = lambda done, wanted: None,
) -> PlayReport:
    """Plays every wanted match that is not stored yet.

    Args:
      home: where policies come from and results go.
      game: what is played.
      options: how.
      only: see `pairs_among`.
      progress: told after every job.

    Raises:
      UsageFault: fewer than one match a pair is asked for.
      WorkerDied, SandboxError, StoreError: nothing that was acknowledged is lost.
    """
    versions = home.registry.find(game.name, status=Status.QUALIFIED)
    return play_pairs(home, game, pairs_among(versions, only), options, progress)


def play_pairs(
    home: Home,
    game: Game,
    pairs: Sequence[tuple[str, str]],
    options: PlayOptions,
    progress: Progress = lambda done, wanted: None,
) -> PlayReport:
    """Plays the matches that some pairs of policies lack.

    Args:
      home: where policies come from and results go.
      game: what is played.
      pairs: digests of registered policies, of any status.
      options: how.
      progress: told after every job.

    Raises:
      UsageFault: fewer than one match a pair is asked for.
      WorkerDied, SandboxError, StoreError: nothing that was acknowledged is lost.
    """
    if options.matches < 1:
        raise UsageFault(f"matches is {options.matches}; ask for at least 1 match a pair")
    started = time.perf_counter()
    schedule = Schedule(home.store, game, pairs, options.matches)
    tally = _Tally(home, game, schedule.missing, progress)
    progress(0, schedule.missing)
    if schedule.missing:
        everyone = home.registry.by_digests(sorted({digest for pair in pairs for digest in pair}))
        players = members_of(home, list(everyone.values()))
        wall = options.wall
        if any(player.kind == "python" for player in players.values()):
            wall = settled(wall)
        count = max(1, min(options.workers or processors(), -(-schedule.missing // 8)))
        stream = jobs(
            game.name,
            schedule,
            players,
            resolver(players),
            isolate=options.isolate,
            block_matches=block_size(schedule.missing, count),
        )
        build = partial(BoutHandler, wall, options.limits)
        with WorkerPool[Job, Played](count, build) as pool:
            tally.collect(pool.run(stream, partial(tally.again, players)))
    return PlayReport(
        played=tally.played,
        skipped=schedule.wanted - schedule.missing,
        forfeits=tally.forfeits,
        seconds=round(time.perf_counter() - started, 3),
        walls=tally.walls,
    )


def settled(choice: WallChoice) -> WallChoice:
    """The choice with "auto" decided, so that workers need not each try and check every wall.

    Raises:
      SandboxRefused: no wall that is strong enough works here.
    """
    if choice.kind != "auto":
        return choice
    wall = open_wall(choice)
    wall.close()
    kind = wall.name.partition("/")[0]
    return choice if kind == "unsealed" else replace(choice, kind=kind)


class _Tally:
    """Stores results as they come, in batches, and keeps what must be played again."""

    def __init__(self, home: Home, game: Game, wanted: int, progress: Progress) -> None:
        self.played = 0
        self.forfeits = 0
        self.walls: dict[str, int] = {}
        self._home, self._game, self._wanted, self._progress = home, game, wanted, progress
        self._again: list[Bout] = []
        self._pending: list[Result] = []
        self._committed = time.monotonic()

    def collect(self, answers: Iterator[Played]) -> None:
        try:
            for played in answers:
                self._pending.extend(played.results)
                self._again.extend(played.again)
                late = time.monotonic() - self._committed > COMMIT_SECONDS
                if late or len(self._pending) >= COMMIT_RESULTS:
                    self._commit()
                self._progress(self.played + len(self._pending), self._wanted)
        finally:
            self._commit()
        self._progress(self.played, self._wanted)

    def again(self, players: dict[str, Player]) -> Job | None:
        """A job of matches to be played once more, isolated; None where there are none."""
        if not self._again:
            return None
        bouts, self._again = self._again[:ISOLATED_BATCH], self._again[ISOLATED_BATCH:]
        present = {digest: players[digest] for bout in bouts for digest in bout.players}
        return Job(Route.BOX, self._game.name, tuple(bouts), present, isolate=True)

    def _commit(self) -> None:
        if self._pending:
            self.played += self._home.store.append(self._game, self._pending)
            for result in self._pending:
                self.forfeits += result.fault_seat is not None
                self.walls[result.wall] = self.walls.get(result.wall, 0) + 1
            self._pending = []
        self._committed = time.monotonic()
