"""How games of hands are told to a language model: a line for each hand, then the one at hand."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from arena.games.parts import Dialogue

_ASKED = """\
You are one of the two players. You are told of the hands that are over, oldest first, and then of
the hand that is being played, in which it is your turn. The other player is the same one in every
hand and may have habits; win as many chips from them as you can."""
_WORD = re.compile(r"[A-Za-z]+")


def hand_dialogue(version: str, rules: str, actions: Sequence[str]) -> Dialogue:
    """The dialogue of a game of hands.

    Args:
      version: see `Dialogue`.
      rules: the game's, in which what authors write has a heading of its own.
      actions: names of all actions.
    """
    words = f"{', '.join(actions[:-1])} or {actions[-1]}"
    told = rules.partition("## What you write")[0].strip()
    task = f"{told}\n\n## Your task\n\n{_ASKED}\nAnswer with one word, {words}, and nothing else."
    return Dialogue(
        version=version,
        task=task,
        past=_past,
        now=_now,
        again="Answer with one word, the name of a legal action, and with nothing else.",
        legal=_legal,
        read=partial(_read, frozenset(actions)),
    )


def _legal(observation: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(observation["player_view"]["legal_actions"])


def _past(observation: Mapping[str, Any]) -> str:
    """A hand that is over; "" for an observation from the middle of one."""
    result, me = observation["game_result"], observation["player_view"]["player_id"]
    if result is None:
        return ""
    shown = ""
    if result["showdown_hands"]:
        (theirs,) = (one["hand"] for one in result["showdown_hands"] if one["player_id"] != me)
        shown = f", and the other player {theirs}"
    won = result["returns"][me]
    held = _situation(observation, "were", "held")
    return f"{held}{shown}. {_betting(observation)} You won {won:+g}."


def _now(observation: Mapping[str, Any]) -> str:
    legal = ", ".join(_legal(observation))
    pot = observation["public_state"]["pot_size"]
    return (
        f"Now: {_situation(observation, 'are', 'hold')}. {_betting(observation)} The pot is {pot}. "
        f"Legal: {legal}. Your action?"
    )


def _situation(observation: Mapping[str, Any], are: str, hold: str) -> str:
    view, card = observation["player_view"], observation["public_state"].get("public_card")
    public = f" with {card} open" if card else ""
    return f"you {are} player {view['player_id']} and {hold} {view['hand']}{public}"


def _betting(observation: Mapping[str, Any]) -> str:
    history, me = observation["action_history"], observation["player_view"]["player_id"]
    rounds = history.values() if isinstance(history, Mapping) else [history]
    told = [
        ", ".join(f"{'you' if one['player_id'] == me else 'they'} {one['action']}" for one in acts)
        for acts in rounds
    ]
    return f"{'; then '.join(filter(None, told)) or 'Nobody has acted'}."


def _read(actions: frozenset[str], answer: str, observation: Mapping[str, Any]) -> str | None:
    """The one action that the answer names; where it names several, the first word's."""
    words = [word.upper() for word in _WORD.findall(answer)]
    named = {word for word in words if word in actions}
    if len(named) != 1:
        named = {word for word in words[:1] if word in actions}
    (action,) = named or {""}
    return action if action in _legal(observation) else None
