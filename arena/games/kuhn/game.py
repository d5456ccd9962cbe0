"""Repeated Kuhn poker: 100 hands of the smallest poker that is worth bluffing in.

The engine is OpenSpiel's `kuhn_poker` (H. W. Kuhn, "A simplified two-person poker", 1950): three
cards, antes of 1, one bet of 1.  PASS is a check or a fold, BET a bet or a call.
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
from arena.games.kuhn import table as tables
from arena.games.kuhn.examples import EXAMPLES
from arena.games.kuhn.house import equilibrium, kuhn_house, table_of
from arena.games.kuhn.states import ENGINE, STATES, state_key
from arena.games.kuhn.telling import TELLING, paid
from arena.games.parts import Learner, MatchCounts, Starter, Stationary, Table
from arena.games.protocol import AuthorContract
from registry.values import Submission

_FOLDER = Path(__file__).parent


@functools.cache
def engine_game() -> Any:
    """The engine's game of one hand."""
    return pyspiel.load_game(ENGINE)


@dataclass(frozen=True, slots=True)
class Position:
    """The engine's word on one point of a hand.

    Attributes:
      actor: player to act, or None where the hand is over.
      legal: actions that he may take.
      returns: chips won by players 0 and 1, or None while the hand goes on.
    """

    actor: int | None
    legal: tuple[int, ...]
    returns: tuple[int, int] | None


@functools.cache
def position(deal: int, actions: bytes) -> Position:
    """What the engine says of that point; there are 6 deals of 9 points, each asked once.

    Args:
      deal: index into `table.DEALS`.
      actions: legal ones.
    """
    state = engine_game().new_initial_state()
    for action in (*tables.DEALS[deal], *actions):
        state.apply_action(action)
    if state.is_terminal():
        first, second = (int(chips) for chips in state.returns())
        return Position(None, (), (first, second))
    return Position(state.current_player(), tuple(state.legal_actions()), None)


class Kuhn(HandGame[Position]):
    """The game; a `arena.games.protocol.Game`."""

    name = "kuhn"
    version = 1
    title = "Repeated Kuhn poker"
    short_title = "Kuhn poker"
    unit = "chips"
    step = "hand"
    length = tables.LENGTH
    has_deals = True
    actions: tuple[str, ...] = tables.ACTIONS
    contract = AuthorContract(
        class_name="RepeatedKuhnPokerBot",
        methods={"act": 1, "receive_outcome": 1, "restart": 1},
        optional={},
    )
    rules = (_FOLDER / "rules.md").read_text(encoding="utf-8")
    examples = EXAMPLES
    table_path = Path(tables.__file__)
    populations: Mapping[str, tuple[str, ...]] = MappingProxyType(
        {
            "kuhn-4@1": (
                "house/AlwaysBet",
                "house/AlwaysPass",
                "house/Kuhn1950",
                "house/NeverBluffs",
            )
        }
    )
    starter = Starter(
        "starter/kuhn",
        _FOLDER / "starter.py",
        "Bluffs opponents who fold too often and calls those who bet too often.",
    )
    initial = (_FOLDER / "initial.py").read_text(encoding="utf-8")
    legal_actions = 'observation["player_view"]["legal_actions"]'
    match_counts = MatchCounts(pair=32, mixture=96)
    telling = TELLING
    dialogue = hand_dialogue("kuhn-1", rules, tables.ACTIONS)
    published = None
    learners: tuple[Learner, ...] = ()
    states = STATES
    bots = None
    tensors = None

    @functools.cached_property
    def stationary(self) -> Stationary:
        """Policies that look at one hand alone."""
        return hand_stationary(self, STATES)

    def house(self) -> tuple[Submission, ...]:
        """AlwaysBet, AlwaysPass, Kuhn1950 and NeverBluffs."""
        return kuhn_house()

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
        """Cards of players 0 and 1."""
        return tables.DEALS

    def cards_dealt(self, actions: bytes) -> int:
        """2: nothing is dealt later."""
        return 2

    @property
    def equilibrium(self) -> Table:
        """What house/Kuhn1950 plays."""
        return table_of(equilibrium)

    def position(self, deal: int, actions: bytes) -> Position:
        """See `position`."""
        return position(deal, actions)

    def most_lost(self) -> int:
        """2 chips."""
        return int(-engine_game().min_utility())

    def situation(self, deal: int, actions: bytes) -> str:
        """The information state of the player to act."""
        actor = position(deal, actions).actor
        assert actor is not None
        return state_key(tables.DEALS[deal][actor], tuple(actions))

    def event(self, hand: Hand[Position]) -> dict[str, Any]:
        """What happened in a hand.

        An event has `hand` (from 1), `players` (the player numbers of seats 0 and 1 in it),
        `dealer` (the seat that deals, who is player 1), `cards` (of seats 0 and 1), `betting` (a
        tuple of (seat, action name)), `pot` (before it is paid out), `outcome` ("SHOWDOWN",
        "FOLD", or "UNFINISHED" where the match was forfeited in this hand), and `payoff` and
        `total` (so far) from the view of seat 0, without what was forfeited.
        """
        ranks = [tables.RANKS[rank] for rank in tables.DEALS[hand.deal]]
        names = (tables.ACTIONS[action] for action in hand.actions)
        betting = tuple(zip(self.seats(hand), names, strict=True))
        stakes = paid(betting)
        ended = "SHOWDOWN" if stakes[0] == stakes[1] else "FOLD"
        return {
            "hand": hand.number + 1,
            "players": (hand.flip, 1 - hand.flip),
            "dealer": 1 - hand.flip,
            "cards": (ranks[hand.flip], ranks[1 - hand.flip]),
            "betting": betting,
            "pot": sum(stakes),
            "outcome": "UNFINISHED" if hand.last.returns is None else ended,
            "payoff": hand.payoff(),
        }


KUHN = Kuhn()
"""The game of repeated Kuhn poker."""
