"""Repeated Leduc hold'em: 100 hands of the poker game of Southey et al. 2005.

The engine is OpenSpiel's `leduc_poker` (F. Southey et al., "Bayes' Bluff: Opponent Modelling in
Poker", UAI 2005): antes of 1, raises of 2 and 4, two raises a round, FOLD only when facing a raise.

Moves are one byte each, the actions of all hands in order of play.  Cards and seats are not among
them: they follow from the deal seed (`tables.leduc.dealt`).  A forfeit keeps the hands that were
completed and loses the most that a hand can cost, 13 chips, in the one that went on and in each
that would have followed.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel

from arena.games.protocol import Account, AuthorContract
from arena.games.tables import leduc as tables

RULES = """\
# Repeated Leduc hold'em (rules version 1)

Two players play 100 hands of Leduc hold'em. Your return is the number of chips that you win or
lose over all hands of the match. What you win your opponent loses.

## One hand

- The deck has 6 cards: two each of J, Q and K. Suits do not matter.
- Each player starts every hand with 100 chips and puts an ante of 1 chip into the pot. There are
  no blinds. Each gets one private card, face down.
- There are two betting rounds, PREFLOP and POSTFLOP. Between them one public card is turned up.
- Player 0 acts first in both rounds. Player 1 deals. The two players change places after every
  hand; who deals the first hand is decided at random.

## Betting

- CALL pays what is missing to match the other player. Where nothing is missing it costs 0 chips
  (a check). CALL is always legal.
- RAISE pays what is missing and 2 chips more in PREFLOP, or 4 chips more in POSTFLOP. At most 2
  raises are allowed in a round, counting both players; after that RAISE is not legal.
- FOLD gives up the hand. It is legal only when facing a raise, that is when something is missing.
- A round ends when a player calls a raise, or when both players have called without one.

## Who wins

- After a FOLD the other player wins the pot, and no private card is shown.
- Otherwise, when POSTFLOP ends, both show. A player whose card pairs the public card wins;
  without a pair the higher card wins (K beats Q, Q beats J); equal cards split the pot.
- The most that a hand can win or lose is 13 chips.

## What you write

One Python file with a class `RepeatedLeducPokerBot` that can be constructed without arguments.
Each match gets a new instance, which lives for all hands of the match. For each hand it calls

    RepeatedLeducPokerBot.restart(self, player_id)      # player_id is 0 or 1 in this hand
    RepeatedLeducPokerBot.act(self, obs) -> str         # "FOLD", "CALL" or "RAISE"; every turn
    RepeatedLeducPokerBot.receive_outcome(self, obs)    # when the hand is over

An observation in `act`: player 1 holds a Q, the public card is a J, and player 0 has raised.

    {"player_view": {"player_id": 1, "current_player": True, "hand": "Q",
                     "legal_actions": ["FOLD", "CALL", "RAISE"]},
     "public_state": {"round": "POSTFLOP", "chips": [95, 99], "pot_size": 6, "public_card": "J"},
     "action_history": {"PREFLOP": [{"player_id": 0, "action": "CALL"},
                                    {"player_id": 1, "action": "CALL"}],
                        "POSTFLOP": [{"player_id": 0, "action": "RAISE"}]},
     "game_result": None}

The observation in `receive_outcome` after player 1 called: the hands are shown, the K wins.

    {"player_view": {"player_id": 1, "current_player": False, "hand": "Q", "legal_actions": []},
     "public_state": {"round": "POSTFLOP", "chips": [105, 95], "pot_size": 0, "public_card": "J"},
     "action_history": {"PREFLOP": [{"player_id": 0, "action": "CALL"},
                                    {"player_id": 1, "action": "CALL"}],
                        "POSTFLOP": [{"player_id": 0, "action": "RAISE"},
                                     {"player_id": 1, "action": "CALL"}]},
     "game_result": {"outcome": "SHOWDOWN", "returns": [5, -5],
                     "showdown_hands": [{"player_id": 0, "hand": "K"},
                                        {"player_id": 1, "hand": "Q"}]}}

`chips` and `returns` are those of players 0 and 1. After a FOLD, "outcome" is "FOLD" and
"showdown_hands" is None. "public_card" is None in PREFLOP. You are not told who your opponent is,
but it is the same one for the whole match; nothing is kept from one match to the next.

## Forfeits

An exception, a return value that is not one of the three strings, an action that is not in
"legal_actions", or too much time or memory ends the match at once. Hands that are over count as
they were played; the hand that goes on and each that would have followed lose 13 chips.
"""

ENGINE = "leduc_poker"
_PADDING = 3
"""Fills the last packed byte; no action has that number."""


@functools.cache
def engine_game() -> Any:
    """The engine's game of one hand."""
    return pyspiel.load_game(ENGINE)


@functools.cache
def most_lost() -> int:
    """Chips that a hand can cost at most, and does in a forfeit: 13."""
    return int(-engine_game().min_utility())


@dataclass(frozen=True, slots=True)
class Position:
    """The engine's word on one point of a hand.

    Attributes:
      actor: player to act, or None where the hand is over.
      legal: actions that he may take.
      pot: chips in the pot, at the end those that are paid out.
      returns: chips won by players 0 and 1, or None while the hand goes on.
      public: whether the public card lies open.
    """

    actor: int | None
    legal: tuple[int, ...]
    pot: int
    returns: tuple[int, int] | None
    public: bool


def engine_state(deal: int, actions: bytes) -> Any:
    """The engine's state after these actions; it stands at a decision or at the end.

    Args:
      deal: index into `tables.DEALS`.
      actions: legal ones.
    """
    state = engine_game().new_initial_state()
    cards, betting = iter(tables.DEALS[deal]), iter(actions)
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(next(cards))
        elif (action := next(betting, None)) is not None:
            state.apply_action(action)
        else:
            break
    return state


@functools.cache
def position(deal: int, actions: bytes) -> Position:
    """What the engine says of that point; there are 120 deals of 85 points, each asked once.

    Args:
      deal: index into `tables.DEALS`.
      actions: legal ones.
    """
    state = engine_state(deal, actions)
    over = state.is_terminal()
    returns = [int(chips) for chips in state.returns()]
    return Position(
        actor=None if over else state.current_player(),
        legal=() if over else tuple(state.legal_actions()),
        pot=_last_pot(deal, actions) if over else int(state.pot()),
        returns=(returns[0], returns[1]) if over else None,
        public=state.public_card() >= 0,
    )


def _last_pot(deal: int, actions: bytes) -> int:
    """The pot that a hand was played for; the engine has emptied it at the end."""
    before = engine_state(deal, actions[:-1])
    if actions[-1] == tables.FOLD:
        return int(before.pot())
    return 2 * int(tables.STACK - min(before.money()))  # the last call matched the higher payer


@dataclass(frozen=True, slots=True)
class _Hand:
    """One hand of a record: its number from 0, cards, player 0's seat, actions, last position."""

    number: int
    deal: int
    flip: int
    actions: bytes
    last: Position

    def returns_by_seat(self) -> tuple[int, int]:
        won = self.last.returns or (0, 0)
        return (won[1], won[0]) if self.flip else won


def _hands(deal_seed: int, moves: bytes, fault_seat: int | None) -> Iterator[_Hand]:
    """The hands of a record, the last one possibly unfinished; checks every move."""
    if fault_seat not in (None, 0, 1):
        raise ValueError(f"fault_seat is {fault_seat}; it must be 0, 1 or None")
    flip, deals = tables.dealt(deal_seed)
    at, number = 0, 0
    for number, deal in enumerate(deals):
        start, now = at, position(deal, b"")
        while now.returns is None and at < len(moves):
            if moves[at] not in now.legal:
                raise ValueError(
                    f"move {at} (hand {number + 1}) is {moves[at]}; legal are {now.legal}"
                )
            at += 1
            now = position(deal, moves[start:at])
        if now.returns is None and fault_seat is None:
            raise ValueError(f"the record ends in hand {number + 1}, and no seat forfeited")
        yield _Hand(number, deal, flip ^ (number & 1), moves[start:at], now)
        if now.returns is None:
            return
    if at < len(moves):
        raise ValueError(f"{len(moves) - at} moves follow the end of the last hand")


class Leduc:
    """The game; a `arena.games.protocol.Game`."""

    name = "leduc"
    version = 1
    title = "Repeated Leduc hold'em"
    unit = "chips"
    length = tables.LENGTH
    has_deals = True
    actions: tuple[str, ...] = tables.ACTIONS
    contract = AuthorContract(
        class_name="RepeatedLeducPokerBot",
        methods={"act": 1, "receive_outcome": 1, "restart": 1},
        optional={},
    )
    rules = RULES
    table_path = Path(tables.__file__)

    def table(self, deal_seeds: Sequence[int]) -> tables.Table:
        """A table for these matches."""
        return tables.Table(deal_seeds)

    def seat(self, policy: Any) -> tables.Seat:
        """A seat for one policy instance at one match."""
        return tables.Seat(policy)

    def score(self, deal_seed: int, moves: bytes, fault_seat: int | None) -> tuple[float, float]:
        """Chips won by seats 0 and 1 over the match, by the engine, forfeited hands counted.

        A fault after the last hand (in `receive_outcome`) has nothing left to forfeit.

        Raises:
          ValueError: the moves are not a legal record of such a match.
        """
        total = completed = 0
        for hand in _hands(deal_seed, moves, fault_seat):
            total += hand.returns_by_seat()[0]
            completed += hand.last.returns is not None
        lost = (self.length - completed) * most_lost()
        total += {None: 0, 0: -lost, 1: lost}[fault_seat]
        return (float(total), float(-total))

    def account(self, deal_seed: int, moves: bytes, fault_seat: int | None) -> Account:
        """The returns, and one event for each hand that was dealt and begun.

        An event has `hand` (from 1), `players` (the player numbers of seats 0 and 1 in it),
        `dealer` (the seat that deals, who is player 1), `cards` (of seats 0 and 1), `public_card`
        (None where it was not turned up), `betting` (of both rounds, each a tuple of (seat,
        action name)), `pot` (before it is paid out), `outcome` ("SHOWDOWN", "FOLD", or
        "UNFINISHED" where the match was forfeited in this hand), and `payoff` and `total` (so
        far) from the view of seat 0, without what was forfeited.

        Raises:
          ValueError: the moves are not a legal record of such a match.
        """
        events, total = [], 0
        for hand in _hands(deal_seed, moves, fault_seat):
            total += hand.returns_by_seat()[0]
            events.append({**_event(hand), "total": total})
        return Account(self.score(deal_seed, moves, fault_seat), tuple(events))

    def movers(self, deal_seed: int, moves: bytes, fault_seat: int | None) -> tuple[int, ...]:
        """The seat that made each move of a record.

        Raises:
          ValueError: the moves are not a legal record of such a match.
        """
        events = self.account(deal_seed, moves, fault_seat).events
        return tuple(seat for event in events for line in event["betting"] for seat, _ in line)

    def pack(self, moves: bytes) -> bytes:
        """Two bits an action, four actions a byte, the earlier ones low."""
        actions = np.frombuffer(moves, dtype=np.uint8)
        if actions.size and actions.max() >= len(tables.ACTIONS):
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


def _event(hand: _Hand) -> dict[str, Any]:
    """What happened in a hand, seen by seat instead of by player."""
    cards = tables.DEALS[hand.deal]
    ranks = [tables.RANKS[tables.rank_of(card)] for card in cards]
    rounds: tuple[list[tuple[int, str]], list[tuple[int, str]]] = ([], [])
    for at, action in enumerate(hand.actions):
        before = position(hand.deal, hand.actions[:at])
        assert before.actor is not None
        rounds[before.public].append((before.actor ^ hand.flip, tables.ACTIONS[action]))
    folded = tables.FOLD in hand.actions
    ended = "FOLD" if folded else "SHOWDOWN"
    return {
        "hand": hand.number + 1,
        "players": (hand.flip, 1 - hand.flip),
        "dealer": 1 - hand.flip,
        "cards": (ranks[hand.flip], ranks[1 - hand.flip]),
        "public_card": ranks[2] if hand.last.public else None,
        "betting": (tuple(rounds[0]), tuple(rounds[1])),
        "pot": hand.last.pot,
        "outcome": "UNFINISHED" if hand.last.returns is None else ended,
        "payoff": hand.returns_by_seat()[0],
    }


LEDUC = Leduc()
"""The game of repeated Leduc hold'em."""
