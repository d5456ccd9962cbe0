"""Plays a stored match again and compares it move by move."""

from __future__ import annotations

from dataclasses import dataclass

from arena.errors import UsageFault
from arena.games import game as game_named
from arena.games.parts import Account
from arena.games.protocol import Game
from arena.home import Home
from arena.runner import Runner
from arena.values import Result
from registry.values import PolicyVersion


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
    deal = home.seeds(result.season).deal(result.match)
    account = game.account(deal, result.moves, result.fault_seat)
    return Stored(game, result, versions, account)


def compare_again(runner: Runner, stored: Stored) -> Comparison:
    """Plays the match with fresh sealed workers and compares it with what is stored.

    Raises:
      SeedsUnknown: the match is from before seeds were secret.
    """
    (again,) = runner.play_again(stored.game, [stored.result])
    old, new = stored.result.moves, again.moves
    differing = (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    first = next(differing, None if len(old) == len(new) else min(len(old), len(new)))
    ends = (again.termination, again.fault_seat) == (
        stored.result.termination,
        stored.result.fault_seat,
    )
    return Comparison(first is None and ends, first, again)
