"""The information states of one hand of Kuhn poker.

A state is named by the rank of the player's card and the betting so far, one letter an action, as
in "J|" and "Q|PB".  Whose turn it is follows from the betting.  There are 12.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from arena.games.kuhn import table
from arena.games.parts import InformationStates

ENGINE = "kuhn_poker"
_LETTERS = "".join(name[0] for name in table.ACTIONS)


def state_key(rank: int, line: tuple[int, ...]) -> str:
    """The name of an information state.

    Args:
      rank: of the player's card, an index into `table.RANKS`.
      line: the actions so far.
    """
    return f"{table.RANKS[rank]}|{''.join(_LETTERS[action] for action in line)}"


def _observed(obs: Mapping[str, Any]) -> str:
    line = "".join([event["action"][0] for event in obs["action_history"]])
    return f"{obs['player_view']['hand']}|{line}"


def _in_engine(state: Any) -> str:
    # The engine's history begins with the cards of players 0 and 1, which are ranks.
    history = state.history()
    return state_key(history[state.current_player()], tuple(history[2:]))


STATES = InformationStates(
    game="kuhn",
    actions=table.ACTIONS,
    legal=MappingProxyType(
        {
            state_key(rank, node.line): (table.PASS, table.BET)
            for node in table.NODES[: table.DECISIONS]
            for rank in range(len(table.RANKS))
        }
    ),
    observed=_observed,
    engine=ENGINE,
    in_engine=_in_engine,
    hands=table.LENGTH,
)
"""The information states of one hand."""
