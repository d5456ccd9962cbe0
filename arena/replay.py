"""Plays a stored match again and compares it move by move."""

from __future__ import annotations

from dataclasses import dataclass

from arena.bouts import BoutHandler
from arena.errors import UsageFault
from arena.games import game as game_named
from arena.games.protocol import Account, Game
from arena.home import Home
from arena.plan import jobs
from arena.play import members_of, resolver
from arena.values import Result
from registry.values import PolicyVersion
from sandbox.choose import WallChoice
from sandbox.values import Limits


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored match, who played it (in seat order), and the engine's account of it."""

    game: Game
    result: Result
    versions: tuple[PolicyVersion, PolicyVersion]
    account: Account


@dataclass(frozen=True, slots=True)
class Comparison:
    """A match played again.

    Attributes:
      same: whether every move and the end are the same.
      first_difference: index of the first move that differs, None where none does.
      again: the new result.
    """

    same: bool
    first_difference: int | None
    again: Result


def stored_match(home: Home, match_id: str) -> Stored:
    """Finds a match by its id or the beginning of it.

    Raises:
      UsageFault: no match, or several, begin like that.
    """
    if not match_id or set(match_id.lower()) - set("0123456789abcdef"):
        raise UsageFault(f"{match_id!r} is not a match id: give its hexadecimal digits")
    found = home.store.find_ids(match_id.lower())
    if not found:
        raise UsageFault(f"no stored match begins with {match_id}; `arena matches` lists them")
    if len(found) > 1:
        raise UsageFault(f"several matches begin with {match_id}: {', '.join(found[:5])}, ...")
    result = home.store.get(found[0])
    assert result is not None
    game = game_named(result.match.game)
    by_digest = home.registry.by_digests(result.match.seats)
    versions = (by_digest[result.match.seats[0]], by_digest[result.match.seats[1]])
    account = game.account(result.match.deal_seed, result.moves, result.fault_seat)
    return Stored(game, result, versions, account)


def play_again(home: Home, stored: Stored, wall: WallChoice, limits: Limits) -> Comparison:
    """Plays the match with fresh sealed workers and compares it with what is stored."""
    players = members_of(home, stored.versions)
    (job,) = jobs(stored.game.name, [stored.result.match], players, resolver(players), isolate=True)
    handler = BoutHandler(wall, limits)
    try:
        (again,) = handler.run(job).results
    finally:
        handler.close()
    old, new = stored.result.moves, again.moves
    differing = (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    first = next(differing, None if len(old) == len(new) else min(len(old), len(new)))
    ends = (again.termination, again.fault_seat) == (
        stored.result.termination,
        stored.result.fault_seat,
    )
    return Comparison(first is None and ends, first, again)
