"""Audits lockstep play: a random sample of matches is played again with fresh sealed workers.

In a lockstep block one worker plays all matches of a policy, so a dishonest policy could carry
knowledge from one of its matches into another.  An honest one plays the same moves either way.
A policy whose moves differ is quarantined: it takes part in nothing until somebody has looked.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from arena.bouts import BoutHandler
from arena.games.protocol import Game
from arena.home import Home
from arena.plan import ISOLATED_BATCH, Bout, Job, Route, bout_of
from arena.play import members_of, resolver
from arena.store import MatchRow
from arena.values import Match, Result, Termination
from registry.values import Status
from sandbox.choose import WallChoice
from sandbox.values import Limits

RESOURCES = frozenset(
    {
        Termination.TIMED_OUT,
        Termination.STALLED,
        Termination.OUT_OF_MEMORY,
        Termination.DIED,
    }
)
"""Ends that depend on how busy the machine is."""
RECENT = 4_000
"""An audit draws from at most so many of the newest matches."""
LOCKSTEP = "+lockstep"
"""Ending of the wall's name in matches that were played in lockstep."""
SHARE = 0.01
MOST = 24
"""1 % of the lockstep matches of a round robin are audited: at least one, at most this many."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A match that came out differently, and whose moves differed first.

    Attributes:
      match_id: which match.
      suspect: digest of the policy that moved differently first.
      move: index into the record of moves.
    """

    match_id: str
    suspect: str
    move: int


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What an audit came to.

    Attributes:
      audited: matches played again.
      inconclusive: of them, those that a limit on time or memory cut short this time: that says
        more about the machine than about the policy.
      differences: those that came out differently.
    """

    audited: int
    inconclusive: int
    differences: tuple[Difference, ...]


def sample(rows: Sequence[MatchRow], seed: int) -> list[Match]:
    """The lockstep matches to audit."""
    matches = [row.match for row in rows if row.wall.endswith(LOCKSTEP)]
    count = min(len(matches), MOST, max(1, round(SHARE * len(matches))))
    return random.Random(seed).sample(matches, count)


def audit_newest(home: Home, game: Game, played: int, wall: WallChoice) -> AuditReport:
    """Audits a sample of the matches stored last.

    Args:
      home: where they are stored.
      game: what was played.
      played: how many were played just now.  Some from before are drawn from as well, because
        a round robin that was killed was never audited.
      wall: which sandbox.
    """
    limit = min(played + RECENT // 4, RECENT)
    rows = home.store.matches(game.name, game.version, newest_first=True, limit=limit)
    chosen = sample(rows, int(rows[0].id[:16], 16)) if rows else []
    return audit(home, game, chosen, wall, Limits())


def audit(
    home: Home, game: Game, matches: Sequence[Match], wall: WallChoice, limits: Limits
) -> AuditReport:
    """Plays matches again, isolated, and quarantines whoever moved differently.

    Args:
      home: where the matches are stored.
      game: what was played.
      matches: stored ones.
      wall: which sandbox.
      limits: as they were when the matches were played.
    """
    everyone = home.registry.by_digests(sorted({d for match in matches for d in match.seats}))
    players = members_of(home, list(everyone.values()))
    resolve = resolver(players)
    differences: list[Difference] = []
    inconclusive = 0
    handler = BoutHandler(wall, limits)
    try:
        for start in range(0, len(matches), ISOLATED_BATCH):
            bouts = tuple(bout_of(one, resolve) for one in matches[start : start + ISOLATED_BATCH])
            present = {digest: players[digest] for bout in bouts for digest in bout.players}
            played = handler.run(Job(Route.BOX, game.name, bouts, present, isolate=True))
            for bout, again in zip(bouts, played.results, strict=True):
                stored = home.store.get(again.match.id)
                if stored is None:
                    continue
                if _cut_short(stored, again):
                    inconclusive += 1
                else:
                    differences += _difference(game, bout, stored, again)
    finally:
        handler.close()
    for one in differences:
        reason = f"match {one.match_id[:12]} came out differently from move {one.move} on"
        home.registry.set_status(one.suspect, Status.QUARANTINED, reason)
    return AuditReport(len(matches), inconclusive, tuple(differences))


def _cut_short(stored: Result, again: Result) -> bool:
    """Whether one record is the beginning of the other and a resource ended the shorter one."""
    shorter, longer = sorted((stored, again), key=lambda result: len(result.moves))
    return shorter.termination in RESOURCES and longer.moves.startswith(shorter.moves)


def _difference(game: Game, bout: Bout, stored: Result, again: Result) -> list[Difference]:
    if (stored.moves, stored.fault_seat) == (again.moves, again.fault_seat):
        return []
    old, new = stored.moves, again.moves
    shorter = min(len(old), len(new))
    move = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    seat = _mover(game, stored, again, move)
    return [Difference(stored.match.id, bout.players[seat], move)]


def _mover(game: Game, stored: Result, again: Result, move: int) -> int:
    """The seat that made, or failed to make, a move of the record."""
    longer = max(stored, again, key=lambda result: len(result.moves))
    if move < len(longer.moves):
        deal = stored.match.deal_seed
        return game.movers(deal, longer.moves, longer.fault_seat)[move]
    fault = again.fault_seat if again.fault_seat is not None else stored.fault_seat
    assert fault is not None, "records of one length and without a fault cannot differ at their end"
    return fault
