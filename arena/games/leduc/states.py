"""The information states of one hand of Leduc hold'em.

A state is named by what its player sees: the ranks of his card and, once it lies open, of the
public one; then the betting before and after the public card, one letter an action, as in "J||"
and "KQ|CC|R".  Whose turn it is follows from the betting.  There are 288.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from arena.games.leduc import table
from arena.games.parts import InformationStates

SOLVED_GAME = "leduc_poker(suit_isomorphism=True)"
"""The engine's hand with cards of one rank merged: the same hand, with 288 information states."""
_LETTERS = "".join(name[0] for name in table.ACTIONS)


def state_key(own: int, public: int | None, node: table.Node) -> str:
    """The name of an information state.

    Args:
      own: rank of the player's card, an index into `table.RANKS`.
      public: rank of the public card; not looked at before it lies open.
      node: the decision.
    """
    shown = table.RANKS[public] if node.public and public is not None else ""
    before, after = ("".join(_LETTERS[action] for action in actions) for actions in node.rounds)
    return f"{table.RANKS[own]}{shown}|{before}|{after}"


def _legal() -> Mapping[str, tuple[int, ...]]:
    ranks = range(len(table.RANKS))
    return MappingProxyType(
        {
            state_key(own, public, node): node.legal
            for node in table.NODES[: table.DECISIONS]
            for own in ranks
            for public in (ranks if node.public else (None,))
        }
    )


def _observed(obs: Mapping[str, Any]) -> str:
    history = obs["action_history"]
    before = "".join([event["action"][0] for event in history["PREFLOP"]])
    after = "".join([event["action"][0] for event in history["POSTFLOP"]])
    public = obs["public_state"]["public_card"] or ""
    return f"{obs['player_view']['hand']}{public}|{before}|{after}"


def _in_engine(state: Any) -> str:
    node = table.NODES[table.NODE_AFTER[tuple(state.round1()), tuple(state.round2())]]
    return state_key(state.private_card(state.current_player()), state.public_card(), node)


STATES = InformationStates(
    game="leduc",
    actions=table.ACTIONS,
    legal=_legal(),
    observed=_observed,
    engine=SOLVED_GAME,
    in_engine=_in_engine,
    hands=table.LENGTH,
)
"""The information states of one hand; the engine's cards are ranks here."""
