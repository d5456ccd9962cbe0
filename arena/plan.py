"""Cuts a stream of matches into jobs that one worker plays in one go.

How a match is played follows from who sits down:

* two native bots meet in the engine's own loop ("native");
* trusted kinds meet at the game's table in the worker's process ("inline");
* as soon as one seat is a Python policy, the match goes into a sandbox block ("box"), and a
  trusted opponent answers from outside the box, as an external seat.

A block is cheap when few policies meet often, so Python matches are tiled: policies are put in
groups, and a block holds the matches of one pair of groups.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from arena.values import Match

NATIVE_BATCH = 48
"""Matches of an engine-only job: about a fifth of a second."""
INLINE_BATCH = 64
BLOCK_MATCHES = 256
"""Matches of one sandbox block."""
INSTANCES_PER_WORKER = 64
"""How many matches of a block one sealed worker plays at most."""
GROUP = 16
"""Policies in a group; a block of two groups has at most twice as many workers."""
ISOLATED_BATCH = 16
SMALLEST_BLOCK = 16


def block_size(missing: int, workers: int) -> int:
    """Matches of a block so that each worker gets several, also at the end of a short schedule."""
    return max(SMALLEST_BLOCK, min(BLOCK_MATCHES, missing // (3 * workers)))


class Route(enum.StrEnum):
    """How the matches of a job are played."""

    NATIVE = "native"
    INLINE = "inline"
    BOX = "box"


@dataclass(frozen=True, slots=True)
class Player:
    """A policy as a worker needs it."""

    digest: str
    kind: str
    payload: str


@dataclass(frozen=True, slots=True)
class Bout:
    """A match and who really plays it: a mixture has drawn its member for this match.

    `players` are digests in seat order.
    """

    match: Match
    players: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Job:
    """Matches that one worker plays in one go.  `isolate`: fresh sealed workers per match."""

    route: Route
    game: str
    bouts: tuple[Bout, ...]
    players: Mapping[str, Player]
    isolate: bool = False


def route_of(kinds: tuple[str, str]) -> Route:
    """How a match between two kinds is played."""
    if "python" in kinds:
        return Route.BOX
    return Route.NATIVE if kinds == ("native", "native") else Route.INLINE


def bout_of(match: Match, resolve: Callable[[str, int], str]) -> Bout:
    """Draws the members of mixtures; `resolve(digest, seat seed)` returns the playing digest."""
    first, second = match.seats
    return Bout(match, (resolve(first, match.seat_seed(0)), resolve(second, match.seat_seed(1))))


class _Blocks:
    """Open sandbox blocks, one for each pair of groups."""

    def __init__(self, match_limit: int) -> None:
        self._limit = match_limit
        self._group: dict[str, int] = {}
        self._open: dict[tuple[int, int], list[Bout]] = {}
        self._load: dict[tuple[int, int], dict[str, int]] = {}

    def add(self, bout: Bout) -> list[Bout] | None:
        """Adds a match; returns a full block when this match did not fit beside it any more."""
        low, high = sorted(
            self._group.setdefault(p, len(self._group) // GROUP) for p in bout.players
        )
        tile = (low, high)
        load = self._load.setdefault(tile, {})
        bouts = self._open.setdefault(tile, [])
        full = None
        crowded = any(load.get(player, 0) >= INSTANCES_PER_WORKER for player in bout.players)
        if crowded or len(bouts) >= self._limit:
            full, self._open[tile], self._load[tile] = bouts, [], {}
            bouts, load = self._open[tile], self._load[tile]
        bouts.append(bout)
        for player in bout.players:
            load[player] = load.get(player, 0) + 1
        return full

    def rest(self) -> Iterator[list[Bout]]:
        """What is left in open blocks."""
        yield from (bouts for bouts in self._open.values() if bouts)


def jobs(
    game: str,
    matches: Iterable[Match],
    players: Mapping[str, Player],
    resolve: Callable[[str, int], str],
    *,
    isolate: bool = False,
    block_matches: int = BLOCK_MATCHES,
) -> Iterator[Job]:
    """Cuts matches into jobs, lazily and in a stable order.

    Args:
      game: its name.
      matches: what is to be played; all of that game.
      players: every policy that can sit down (members of mixtures included), by digest.
      resolve: see `bout_of`.
      isolate: play each Python match with fresh sealed workers.
      block_matches: of a lockstep block at most; smaller blocks share out among more workers.
    """

    def job(route: Route, bouts: list[Bout]) -> Job:
        present = {digest: players[digest] for bout in bouts for digest in bout.players}
        return Job(route, game, tuple(bouts), present, isolate and route is Route.BOX)

    blocks = _Blocks(ISOLATED_BATCH if isolate else min(block_matches, BLOCK_MATCHES))
    waiting: dict[Route, list[Bout]] = {Route.NATIVE: [], Route.INLINE: []}
    sizes = {Route.NATIVE: NATIVE_BATCH, Route.INLINE: INLINE_BATCH}
    for match in matches:
        bout = bout_of(match, resolve)
        route = route_of((players[bout.players[0]].kind, players[bout.players[1]].kind))
        if route is Route.BOX:
            full = blocks.add(bout)
            if full:
                yield job(route, full)
            continue
        waiting[route].append(bout)
        if len(waiting[route]) >= sizes[route]:
            yield job(route, waiting[route])
            waiting[route] = []
    for bouts in blocks.rest():
        yield job(Route.BOX, bouts)
    for route, bouts in waiting.items():
        if bouts:
            yield job(route, bouts)
