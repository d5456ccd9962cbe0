"""Retells a stored match; plays it again and compares it move by move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from arena.errors import UsageFault
from arena.games import game as game_named
from arena.games.parts import Account, Decision, Forfeit
from arena.games.protocol import Game
from arena.home import Home
from arena.printed import WIDTH, Printed, Sheet, continued
from arena.runner import Runner
from arena.store.queries import ID_DIGITS
from arena.values import Result
from registry.values import PolicyVersion

if TYPE_CHECKING:
    import pyarrow as pa

UNTOLD = -1
"""In the place of a deal's seed that whoever asks a server may not know yet."""
WHOLE, FIRST, LAST = 30, 20, 5
"""Throws or hands of a match that are listed all; of a longer one, the first and the last."""


def match_sheet(
    game: Game,
    seats: tuple[str, str],
    result: Result,
    account: Account,
    title: str,
    *,
    everything: bool = False,
) -> Sheet:
    """A match for people: who sat where, how it ended, and its throws or hands.

    Args:
      game: that was played.
      seats: what the policies are called, by seat.
      result: its end.
      account: the engine's.
      title: above all of it; "" for none.
      everything: whether every throw or hand is listed, however many there are.
    """
    told = [title] if title else []
    for seat, who in enumerate(seats):
        told.append(f"seat {seat} {who}  {result.returns[seat]:+.0f} {game.unit}")
    told.append(f"ended: {result.termination.value}, behind: {result.wall}")
    if result.fault_seat is not None:
        told.append(f"seat {result.fault_seat} forfeited: {continued(result.fault_message)}")
    events = account.events
    if not everything and len(events) > WHOLE:
        events = (*events[:FIRST], *events[-LAST:])
    rows = [game.telling.row(event) for event in events]
    left_out = len(account.events) - len(events)
    note = [f"{left_out:,} {game.step}s in the middle are left out"] if left_out else []
    if rows and game.telling.legend:
        note.append(game.telling.legend)
    columns = tuple(rows[0]) if rows else ()
    cells = tuple(tuple(str(row[name]) for name in columns) for row in rows)
    return Sheet("\n".join(told), dict.fromkeys(columns, "left"), cells, "\n".join(note))


@dataclass(frozen=True, slots=True)
class Stored(Printed):
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

    @property
    def seats(self) -> tuple[str, str]:
        """References of the policies, by seat."""
        return (self.versions[0].ref, self.versions[1].ref)

    @property
    def forfeit(self) -> Forfeit | None:
        """Where and how it was forfeited; None where it was not."""
        result, steps = self.result, self.game.length
        if result.fault_seat is None:
            return None
        # After the last hand a policy is told how it ended, and can fail once more.
        step = min(len(self.account.totals) + 1, steps)
        ended = result.termination.value
        return Forfeit(step, result.fault_seat, ended, steps, result.returns[0])

    def sheet(self, width: int = WIDTH, *, everything: bool = False) -> Sheet:
        """Who sat where, how it ended, and its throws or hands, of many the first and the last."""
        title = f"{self.game.title}  match {self.result.match.id}"
        return match_sheet(
            self.game, self.seats, self.result, self.account, title, everything=everything
        )

    def to_arrow(self) -> pa.Table:
        """One row for each throw or hand, as the game tells them."""
        import pyarrow as pa

        return pa.Table.from_pylist(
            [dict(self.game.telling.row(event)) for event in self.account.events]
        )

    def picture(self) -> str:
        """The running score."""
        from arena.figures.score import running_score

        if not self.account.events:
            return ""
        return running_score(
            self.account.totals,
            self.game.step,
            self.game.unit,
            at=len(self.account.events),
            winner_up=self.seats[0],
            forfeit=self.forfeit,
        ).html

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
    again: Result = field(repr=False)

    def __str__(self) -> str:
        """It in a few words."""
        if self.same:
            return f"reproduced: {len(self.again.moves):,} moves are the same"
        if self.first_difference is not None:
            return f"differs from move {self.first_difference:,} on"
        return f"differs: it now ends with {self.again.termination.value}"


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
