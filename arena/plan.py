"""Cuts a stream of matches into chunks that one worker plays in one go.

How a match is played follows from who sits down:

* two native bots meet in the engine's own loop ("native");
* trusted kinds meet at the game's table in the worker's process ("inline"), many matches in
  lockstep where one of them is a network ("lockstep");
* where one of them is asked for its moves (`arena.kinds.asked`), many such matches are played in
  lockstep, in the process that has the answers ("asked");
* as soon as one seat is a Python policy, the match goes into a sandbox block ("box"), and a
  trusted opponent answers from outside the box, as an external seat.

Every seat of every match gets a sealed worker of its own.  Where the caller vouches for the
Python policies, the matches of one policy may share a worker ("shared"), which is cheaper when
few policies meet often; so matches are tiled: policies are put in groups, and a block holds the
matches of one pair of groups.  How many, follows from what the policies took for matches before.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from arena.demand import NOTHING, Demand, Demands
from arena.kinds.asked import KIND as ASKED
from arena.kinds.neural import KIND as NEURAL
from arena.seeds import Seeds
from arena.values import Handed, Match
from sandbox.choose import WallChoice

NATIVE_CHUNK = 48
"""Matches of an engine-only chunk: about a fifth of a second."""
INLINE_CHUNK = 64
BLOCK_MATCHES = 1024
"""Matches of one sandbox block that several share, at most."""
BLOCK_DEMAND = Demand(seconds=40.0, mebibytes=1024.0)
"""What such a block may take: memory is of one box, and there is a box for each worker."""
ASKED_MATCHES = 256
"""Matches in lockstep with somebody who is asked, at most."""
MOST_WAITING = 131_072
"""Matches in blocks that are not full; of thousands of policies there are thousands of blocks."""
INSTANCES_PER_WORKER = 128
"""How many matches of a block one sealed worker plays at most.  What it takes to wake a worker is
shared by all of them, and so is the wait for one that answers late."""
GROUP = 16
"""Policies in a group; a block of two groups has at most twice as many workers."""
ISOLATED_CHUNK = 16
SMALLEST_BLOCK = 16
ENOUGH_SECONDS = 4.0
"""Of processor time: a block that takes as much gains little by more matches, and while it is
played other workers may have nothing to do."""
BLOCKS_A_WORKER = 3
"""That a schedule is cut into at least, so that all workers end at about the same time."""


def block_share(missing: int, workers: int) -> int:
    """Matches of a block so that each worker gets several, also at the end of a short schedule."""
    return max(1, missing // (BLOCKS_A_WORKER * workers))


class Route(enum.StrEnum):
    """How the matches of a chunk are played."""

    NATIVE = "native"
    INLINE = "inline"
    LOCKSTEP = "lockstep"
    ASKED = "asked"
    BOX = "box"


@dataclass(frozen=True, slots=True)
class Player:
    """A policy as a worker needs it."""

    digest: str
    kind: str
    payload: str


@dataclass(frozen=True, slots=True)
class Bout(Handed):
    """A match, who really plays it, and everything that chance decides in it.

    Attributes:
      match: its identity.
      season: whose secret the seeds came from.
      players: digests in seat order; a mixture has drawn its member for this match.
      deal_seed: of the cards.
      seat_seeds: of the players' random choices.
    """

    match: Match
    season: int
    players: tuple[str, str]
    deal_seed: int
    seat_seeds: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Matches that one worker plays in one go.

    Attributes:
      route: how.
      game: name of the game.
      bouts: the matches.
      players: everybody who sits down, by digest.
      shared: whether the matches of one Python policy share a sealed worker.
      audit: whether the matches were played before, and are played again, in a box that plays
        nothing else, to see whether they repeat.
      wall: behind which the sandbox's matches are played.
    """

    route: Route
    game: str
    bouts: tuple[Bout, ...]
    players: Mapping[str, Player]
    shared: bool = False
    audit: bool = False
    wall: WallChoice | None = None

    @property
    def brief(self) -> bool:
        """Whether it surely takes a fraction of a second, and little to hand over."""
        return self.route is Route.NATIVE


def route_of(kinds: tuple[str, str]) -> Route:
    """How a match between two kinds is played."""
    if "python" in kinds:
        return Route.BOX
    if ASKED in kinds:
        return Route.ASKED
    if NEURAL in kinds:
        return Route.LOCKSTEP
    return Route.NATIVE if kinds == ("native", "native") else Route.INLINE


def bout_of(match: Match, seeds: Seeds, resolve: Callable[[str, int], str]) -> Bout:
    """Seeds a match and draws the members of mixtures.

    Args:
      match: what is to be played.
      seeds: of the season.
      resolve: (digest, seed of the draw) -> the digest that really plays.
    """
    drawn = seeds.of(match)
    first, second = match.seats
    players = (resolve(first, drawn.members[0]), resolve(second, drawn.members[1]))
    return Bout(match, seeds.season.number, players, drawn.deal, drawn.seats)


def box_chunk(
    game: str,
    bouts: Iterable[Bout],
    players: Mapping[str, Player],
    *,
    shared: bool = False,
    audit: bool = False,
) -> Chunk:
    """A chunk for the sandbox with just the players that it needs."""
    chosen = tuple(bouts)
    present = {digest: players[digest] for bout in chosen for digest in bout.players}
    return Chunk(Route.BOX, game, chosen, present, shared, audit)


def trial_chunk(game: str, bouts: Iterable[Bout], players: Mapping[str, Player]) -> Chunk:
    """A chunk of matches that are played in one go, whoever sits down in them.

    In the sandbox, unless all of them are between networks and others that the arena plays itself.
    """
    chosen = tuple(bouts)
    kinds = {players[digest].kind for bout in chosen for digest in bout.players}
    chunk = box_chunk(game, chosen, players)
    if NEURAL in kinds and not kinds & {"python", ASKED}:
        return replace(chunk, route=Route.LOCKSTEP)
    return chunk


class _Block:
    """A sandbox block that still has room.

    Args:
      most: matches that it may have.
      share: matches that are enough where they take long.
      demand: what a match takes, by what is known now.
    """

    def __init__(self, most: int, share: int, demand: Callable[[Bout], Demand]) -> None:
        self.bouts: list[Bout] = []
        self._most, self._share, self._demand = most, share, demand
        self._load: dict[str, int] = {}
        self._total, self._version = NOTHING, -1

    def fits(self, bout: Bout, version: int) -> bool:
        """Whether a match has room beside the others; the first has.

        Args:
          bout: the match.
          version: of what is known of demands.
        """
        if version != self._version:
            self._total = sum(map(self._demand, self.bouts), NOTHING)
            self._version = version
        total = self._total + self._demand(bout)
        long = len(self.bouts) >= self._share and total.seconds > ENOUGH_SECONDS
        return not self.bouts or (
            len(self.bouts) < self._most
            and not long
            and total.seconds <= BLOCK_DEMAND.seconds
            and total.mebibytes <= BLOCK_DEMAND.mebibytes
            and all(self._load.get(one, 0) < INSTANCES_PER_WORKER for one in bout.players)
        )

    def add(self, bout: Bout) -> None:
        """Adds a match."""
        self.bouts.append(bout)
        self._total += self._demand(bout)
        for player in bout.players:
            self._load[player] = self._load.get(player, 0) + 1


class _Blocks:
    """Open sandbox blocks, one for each pair of groups.

    Args:
      most: matches of a block.
      share: matches that are enough where they take long.
      demand: what a match takes, by what is known now.
      version: of what is known of demands.
    """

    def __init__(
        self,
        most: int,
        share: int,
        demand: Callable[[Bout], Demand],
        version: Callable[[], int],
    ) -> None:
        self._new = partial(_Block, most, share, demand)
        self._version = version
        self._group: dict[str, int] = {}
        self._open: dict[tuple[int, int], _Block] = {}
        self._waiting = 0

    def add(self, bout: Bout) -> Iterator[list[Bout]]:
        """Adds a match; tells the blocks that have to be played now, if any has."""
        low, high = sorted(
            self._group.setdefault(p, len(self._group) // GROUP) for p in bout.players
        )
        tile = (low, high)
        if tile in self._open and not self._open[tile].fits(bout, self._version()):
            yield self._taken(tile)
        if tile not in self._open:
            self._open[tile] = self._new()
        self._open[tile].add(bout)
        self._waiting += 1
        if self._waiting > MOST_WAITING:
            # Half of them, so that the fullest need not be looked for at every match.
            by_size = sorted(self._open, key=lambda one: len(self._open[one].bouts))
            while self._waiting > MOST_WAITING // 2:
                yield self._taken(by_size.pop())

    def _taken(self, tile: tuple[int, int]) -> list[Bout]:
        bouts = self._open.pop(tile).bouts
        self._waiting -= len(bouts)
        return bouts

    def rest(self) -> Iterator[list[Bout]]:
        """What is left in open blocks."""
        yield from (block.bouts for block in self._open.values())


def chunks(
    game: str,
    bouts: Iterable[Bout],
    players: Mapping[str, Player],
    *,
    shared: bool = False,
    share: int = BLOCK_MATCHES,
    demands: Demands | None = None,
) -> Iterator[Chunk]:
    """Cuts matches into chunks, lazily.

    Which matches share a block depends on what policies took before.  What they come to does not,
    but for policies that pass something from match to match where they share a process.

    Args:
      game: its name.
      bouts: what is to be played; all of that game.
      players: every policy that can sit down (members of mixtures included), by digest.
      shared: whether the matches of one Python policy may share a sealed worker.
      share: matches of a block, or in lockstep with somebody who is asked; smaller blocks share
        out among more workers.  Blocks of policies that are quick have `SMALLEST_BLOCK` even so.
      demands: what policies took for a match so far; may become better while chunks are cut.
    """
    known = demands or Demands()

    def demand(bout: Bout) -> Demand:
        inside = (one for one in bout.players if players[one].kind == "python")
        return sum((known.of(one) for one in inside), NOTHING)

    def trusted(route: Route, bouts: list[Bout]) -> Chunk:
        present = {digest: players[digest] for bout in bouts for digest in bout.players}
        return Chunk(route, game, tuple(bouts), present)

    shared_most = max(SMALLEST_BLOCK, min(share, BLOCK_MATCHES))
    most = shared_most if shared else ISOLATED_CHUNK
    blocks = _Blocks(most, share, demand, lambda: known.version)
    sizes = {
        Route.NATIVE: NATIVE_CHUNK,
        Route.INLINE: INLINE_CHUNK,
        Route.LOCKSTEP: INLINE_CHUNK,
        Route.ASKED: min(share, ASKED_MATCHES),
    }
    waiting: dict[Route, list[Bout]] = {route: [] for route in sizes}
    for bout in bouts:
        route = route_of((players[bout.players[0]].kind, players[bout.players[1]].kind))
        if route is Route.BOX:
            for full in blocks.add(bout):
                yield box_chunk(game, full, players, shared=shared)
            continue
        waiting[route].append(bout)
        if len(waiting[route]) >= sizes[route]:
            yield trusted(route, waiting[route])
            waiting[route] = []
    for rest in blocks.rest():
        yield box_chunk(game, rest, players, shared=shared)
    for route, left in waiting.items():
        if left:
            yield trusted(route, left)
