"""What games of hands have in common: the record of a match, what it is worth, and its packing.

Players change places after every hand.  Moves are one byte each, the actions of all hands in order
of play.  Cards and seats are not among them: they follow from the deal seed.  A forfeit keeps the
hands that were completed and loses the most that a hand can cost in the one that went on and in
each that would have followed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from arena.games.parts import Account, InformationStates, Table

_PADDING = 3
"""Fills the last packed byte; no action has that number."""


class Position(Protocol):
    """The engine's word on one point of a hand."""

    @property
    def actor(self) -> int | None:
        """Player to act; None where the hand is over."""
        ...

    @property
    def legal(self) -> tuple[int, ...]:
        """Actions that he may take."""
        ...

    @property
    def returns(self) -> tuple[int, int] | None:
        """What players 0 and 1 won; None while the hand goes on."""
        ...


P = TypeVar("P", bound=Position, covariant=True)


@dataclass(frozen=True, slots=True)
class Hand(Generic[P]):
    """One hand of a record.

    Attributes:
      number: from 0.
      deal: its cards, by the game's own number.
      flip: the seat of player 0.
      actions: of both players, in order of play.
      last: where it ended, or stood when the match was forfeited.
    """

    number: int
    deal: int
    flip: int
    actions: bytes
    last: P

    def payoff(self) -> int:
        """What seat 0 won; 0 while the hand goes on."""
        return (self.last.returns or (0, 0))[self.flip]


class HandGame(ABC, Generic[P]):
    """The part of a `arena.games.protocol.Game` that is the same in all games of hands."""

    name: str

    def __repr__(self) -> str:
        return f"game({self.name!r})"

    @property
    @abstractmethod
    def length(self) -> int:
        """Hands in a match."""

    @property
    def most(self) -> float:
        """What losing the most in every hand would cost."""
        return float(self.length * self.most_lost())

    @abstractmethod
    def dealt(self, deal_seed: int) -> tuple[int, tuple[int, ...]]:
        """The seat of player 0 in the first hand, and the deal of every hand."""

    @property
    @abstractmethod
    def states(self) -> InformationStates:
        """What a player can know in one hand."""

    @property
    @abstractmethod
    def deals(self) -> tuple[tuple[int, ...], ...]:
        """The cards of every deal in the order in which they are dealt; all are equally likely."""

    @abstractmethod
    def cards_dealt(self, actions: bytes) -> int:
        """How many cards of a deal somebody has seen after these actions."""

    @property
    @abstractmethod
    def equilibrium(self) -> Table:
        """A table near an equilibrium of one hand, over all information states."""

    @abstractmethod
    def position(self, deal: int, actions: bytes) -> P:
        """The point of a hand with these cards that legal actions lead to."""

    @abstractmethod
    def most_lost(self) -> int:
        """What a hand can cost at most, and does in a forfeit."""

    @abstractmethod
    def situation(self, deal: int, actions: bytes) -> str:
        """The information state of the player to act after these actions; there is one to act."""

    @abstractmethod
    def event(self, hand: Hand[P]) -> dict[str, Any]:
        """What happened in a hand, by seat; without the running total."""

    def hands(self, deal_seed: int, moves: bytes, fault_seat: int | None) -> Iterator[Hand[P]]:
        """The hands of a record, the last one possibly unfinished.

        Raises:
          ValueError: the moves are not a legal record of such a match.
        """
        if fault_seat not in (None, 0, 1):
            raise ValueError(f"fault_seat is {fault_seat}; it must be 0, 1 or None")
        flip, deals = self.dealt(deal_seed)
        at = 0
        for number, deal in enumerate(deals):
            start, now = at, self.position(deal, b"")
            while now.returns is None and at < len(moves):
                if moves[at] not in now.legal:
                    raise ValueError(
                        f"move {at} (hand {number + 1}) is {moves[at]}; legal are {now.legal}"
                    )
                at += 1
                now = self.position(deal, moves[start:at])
            if now.returns is None and fault_seat is None:
                raise ValueError(f"the record ends in hand {number + 1}, and no seat forfeited")
            yield Hand(number, deal, flip ^ (number & 1), moves[start:at], now)
            if now.returns is None:
                return
        if at < len(moves):
            raise ValueError(f"{len(moves) - at} moves follow the end of the last hand")

    def score(self, deal_seed: int, moves: bytes, fault_seat: int | None) -> tuple[float, float]:
        """What seats 0 and 1 won over the match, by the engine, forfeited hands counted.

        A fault after the last hand (in `receive_outcome`) has nothing left to forfeit.

        Raises:
          ValueError: the moves are not a legal record of such a match.
        """
        total = completed = 0
        for hand in self.hands(deal_seed, moves, fault_seat):
            total += hand.payoff()
            completed += hand.last.returns is not None
        lost = (self.length - completed) * self.most_lost()
        total += {None: 0, 0: -lost, 1: lost}[fault_seat]
        return (float(total), float(-total))

    def account(self, deal_seed: int, moves: bytes, fault_seat: int | None) -> Account:
        """The returns, and one event for each hand that was dealt and begun (see `event`).

        Raises:
          ValueError: the moves are not a legal record of such a match.
        """
        events, totals, total = [], [], 0
        for hand in self.hands(deal_seed, moves, fault_seat):
            total += hand.payoff()
            events.append({**self.event(hand), "total": total})
            if hand.last.returns is not None:
                totals.append(float(total))
        returns = self.score(deal_seed, moves, fault_seat)
        return Account(returns, tuple(events), tuple(totals))

    def movers(self, deal_seed: int, moves: bytes, fault_seat: int | None) -> tuple[int, ...]:
        """The seat that made each move of a record.

        Raises:
          ValueError: the moves are not a legal record of such a match.
        """
        hands = self.hands(deal_seed, moves, fault_seat)
        return tuple(seat for hand in hands for seat in self.seats(hand))

    def seats(self, hand: Hand[P]) -> Iterator[int]:
        """The seat that took each action of a hand."""
        for at in range(len(hand.actions)):
            actor = self.position(hand.deal, hand.actions[:at]).actor
            assert actor is not None
            yield actor ^ hand.flip

    def pack(self, moves: bytes) -> bytes:
        """Two bits an action, four actions a byte, the earlier ones low.

        Raises:
          ValueError: there are moves that two bits cannot tell from the padding.
        """
        actions = np.frombuffer(moves, dtype=np.uint8)
        if actions.size and actions.max() >= _PADDING:
            raise ValueError(f"move {actions.max()} is no action; actions are 0, 1 and 2")
        padded = np.full(-(-len(actions) // 4) * 4, _PADDING, dtype=np.uint8)
        padded[: len(actions)] = actions
        four = padded.reshape(-1, 4)
        return (four[:, 0] | four[:, 1] << 2 | four[:, 2] << 4 | four[:, 3] << 6).tobytes()

    def unpack(self, packed: bytes) -> bytes:
        """The inverse of `pack`.

        Raises:
          ValueError: no moves could have been packed to that.
        """
        four = np.frombuffer(packed, dtype=np.uint8)[:, None] >> np.array([0, 2, 4, 6], np.uint8)
        moves: bytes = (four & 3).astype(np.uint8).tobytes()
        actions = moves.rstrip(bytes([_PADDING]))
        if _PADDING in actions or len(moves) - len(actions) > 3:
            raise ValueError("these bytes are no packed moves: there is an action 3 among them")
        return actions
