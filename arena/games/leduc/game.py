"""Repeated Leduc hold'em: 100 hands of the poker game of Southey et al. 2005.

The engine is OpenSpiel's `leduc_poker` (F. Southey et al., "Bayes' Bluff: Opponent Modelling in
Poker", UAI 2005): antes of 1, raises of 2 and 4, two raises a round, FOLD only when facing a raise.

`arena.games.hand_game` says how a match is recorded and what a forfeit costs.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyspiel

from arena.games.hand_dialogue import hand_dialogue
from arena.games.hand_game import Hand, HandGame
from arena.games.hand_stationary import hand_stationary
from arena.games.leduc import table as tables
from arena.games.leduc.cfr_solution import shipped
from arena.games.leduc.examples import EXAMPLES
from arena.games.leduc.house import leduc_house
from arena.games.leduc.states import STATES, state_key
from arena.games.leduc.telling import TELLING
from arena.games.leduc.tensors import TENSORS
from arena.games.parts import Learner, MatchCounts, Published, Starter, Stationary, Table
from arena.games.protocol import AuthorContract
from arena.kinds.tabular import states_of
from registry.values import Submission

ENGINE = "leduc_poker"
_FOLDER = Path(__file__).parent


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


class Leduc(HandGame[Position]):
    """The game; a `arena.games.protocol.Game`."""

    name = "leduc"
    version = 1
    title = "Repeated Leduc hold'em"
    short_title = "Leduc hold'em"
    unit = "chips"
    step = "hand"
    length = tables.LENGTH
    has_deals = True
    actions: tuple[str, ...] = tables.ACTIONS
    contract = AuthorContract(
        class_name="RepeatedLeducPokerBot",
        methods={"act": 1, "receive_outcome": 1, "restart": 1},
        optional={},
    )
    rules = (_FOLDER / "rules.md").read_text(encoding="utf-8")
    examples = EXAMPLES
    table_path = Path(tables.__file__)
    populations: Mapping[str, tuple[str, ...]] = MappingProxyType(
        {"leduc-3@1": ("house/AlwaysCall", "house/AlwaysFold", "house/CFR+")}
    )
    starter = Starter(
        "starter/leduc",
        _FOLDER / "starter.py",
        "Plays by the strength of its hand and raises opponents who fold too often.",
    )
    initial = (_FOLDER / "initial.py").read_text(encoding="utf-8")
    legal_actions = 'observation["player_view"]["legal_actions"]'
    match_counts = MatchCounts(pair=32, mixture=96)
    telling = TELLING
    dialogue = hand_dialogue("leduc-1", rules, tables.ACTIONS)
    published = Published(
        (_FOLDER / "published_methods.csv").read_text(encoding="utf-8"),
        against=(_FOLDER / "published_against.csv").read_text(encoding="utf-8"),
    )
    learners: tuple[Learner, ...] = ()
    states = STATES
    bots = None
    tensors = TENSORS

    @functools.cached_property
    def stationary(self) -> Stationary:
        """Policies that look at one hand alone."""
        return hand_stationary(self, STATES)

    def house(self) -> tuple[Submission, ...]:
        """AlwaysCall, AlwaysFold and CFR+."""
        return leduc_house()

    def table(self, deal_seeds: Sequence[int]) -> tables.Table:
        """A table for these matches."""
        return tables.Table(deal_seeds)

    def seat(self, policy: Any) -> tables.Seat:
        """A seat for one policy instance at one match."""
        return tables.Seat(policy)

    def dealt(self, deal_seed: int) -> tuple[int, tuple[int, ...]]:
        """The seat of player 0 in the first hand, and for each hand an index into `DEALS`."""
        return tables.dealt(deal_seed)

    @property
    def deals(self) -> tuple[tuple[int, ...], ...]:
        """Cards of player 0, of player 1, and the public one."""
        return tables.DEALS

    def cards_dealt(self, actions: bytes) -> int:
        """2, or 3 once the public card lies open."""
        return 3 if position(0, actions).public else 2

    @property
    def equilibrium(self) -> Table:
        """What house/CFR+ plays."""
        return states_of(STATES, shipped().payload)

    def position(self, deal: int, actions: bytes) -> Position:
        """See `position`."""
        return position(deal, actions)

    def most_lost(self) -> int:
        """13 chips."""
        return most_lost()

    def situation(self, deal: int, actions: bytes) -> str:
        """The information state of the player to act."""
        rounds: tuple[list[int], list[int]] = ([], [])
        for at, action in enumerate(actions):
            rounds[position(deal, actions[:at]).public].append(action)
        node = tables.NODES[tables.NODE_AFTER[tuple(rounds[0]), tuple(rounds[1])]]
        actor = position(deal, actions).actor
        assert actor is not None
        cards = tables.DEALS[deal]
        return state_key(tables.rank_of(cards[actor]), tables.rank_of(cards[2]), node)

    def event(self, hand: Hand[Position]) -> dict[str, Any]:
        """What happened in a hand.

        An event has `hand` (from 1), `players` (the player numbers of seats 0 and 1 in it),
        `dealer` (the seat that deals, who is player 1), `cards` (of seats 0 and 1), `public_card`
        (None where it was not turned up), `betting` (of both rounds, each a tuple of (seat,
        action name)), `pot` (before it is paid out), `outcome` ("SHOWDOWN", "FOLD", or
        "UNFINISHED" where the match was forfeited in this hand), and `payoff` and `total` (so
        far) from the view of seat 0, without what was forfeited.
        """
        cards = tables.DEALS[hand.deal]
        ranks = [tables.RANKS[tables.rank_of(card)] for card in cards]
        rounds: tuple[list[tuple[int, str]], list[tuple[int, str]]] = ([], [])
        for at, (action, seat) in enumerate(zip(hand.actions, self.seats(hand), strict=True)):
            public = position(hand.deal, hand.actions[:at]).public
            rounds[public].append((seat, tables.ACTIONS[action]))
        ended = "FOLD" if tables.FOLD in hand.actions else "SHOWDOWN"
        return {
            "hand": hand.number + 1,
            "players": (hand.flip, 1 - hand.flip),
            "dealer": 1 - hand.flip,
            "cards": (ranks[hand.flip], ranks[1 - hand.flip]),
            "public_card": ranks[2] if hand.last.public else None,
            "betting": (tuple(rounds[0]), tuple(rounds[1])),
            "pot": hand.last.pot,
            "outcome": "UNFINISHED" if hand.last.returns is None else ended,
            "payoff": hand.payoff(),
        }


LEDUC = Leduc()
"""The game of repeated Leduc hold'em."""
