"""Plays a stored match again and compares it move by move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from arena.errors import UsageFault
from arena.games import game as game_named
from arena.games.parts import Account, Decision
from arena.games.protocol import Game
from arena.home import Home
from arena.runner import Runner
from arena.store.queries import ID_DIGITS
from arena.values import Result
from registry.values import PolicyVersion

UNTOLD = -1
"""In the place of a deal's seed that whoever asks a server may not know yet."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored match, retold.

    Attributes:
      game: that was played.
      result: as it is stored.
      versions: who played it, in seat order.
      account: the engine's.
      deal_seed: of the match; a secret until its season's key is revealed (`UNTOLD` where it was
        kept).
    """

    game: Game
    result: Result
    versions: tuple[PolicyVersion, PolicyVersion]
    account: Account
    deal_seed: int = field(repr=False)

    def decisions(self, digest: str) -> Sequence[Decision]:
        """What one of the two chose, in order; nothing where the game has no such part.

        Raises:
          UsageFault: it takes the seed of the deal, which was kept from whoever asked.
        """
        if self.game.stationary is None:
            return ()
        if self.deal_seed == UNTOLD:
            raise UsageFault("the cards of a match are told to who played it, and to operators")
        seat = self.result.match.seats.index(digest)
        moves, fault = self.result.moves, self.result.fault_seat
        return self.game.stationary.decisions(self.deal_seed, moves, fault, seat)


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
    strange = set(match_id.lower()) - set("0123456789abcdef")
    if not 0 < len(match_id) <= ID_DIGITS or strange:
        raise UsageFault(
            f"{match_id!r:.80} is not a match id: give its hexadecimal digits, {ID_DIGITS} at most"
        )
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
    return Stored(game, result, versions, account, deal)


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
