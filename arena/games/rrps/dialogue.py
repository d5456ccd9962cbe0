"""Repeated rock-paper-scissors as a sequence that a language model continues.

The model predicts the next throw of both players, and what beats the opponent's is played: the
agent of Lanctot et al. 2023 (arXiv:2303.03196), in words of our own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from arena.games.parts import Dialogue
from arena.games.rrps.table import ACTIONS

_LETTERS = {action[0]: action for action in ACTIONS}
_BEATEN_BY = {"ROCK": "PAPER", "PAPER": "SCISSORS", "SCISSORS": "ROCK"}
_THROW = "(R|P|S|ROCK|PAPER|SCISSORS)"
_LINE = re.compile(rf"\W*(?:A\W+)?{_THROW}\W+(?:B\W+)?{_THROW}\W*", re.IGNORECASE)
"""A line with both throws; the players' letters may stand before them."""

_TASK = """\
Two players, A and B, throw rock, paper or scissors many times in a row. Each line below is one
throw of both, oldest first: A's throw, a space, B's throw, with R for rock, P for paper and S for
scissors. Players often follow habits. Continue the sequence: answer with the one line that most
probably comes next, such as "R P", and with nothing else."""
_AGAIN = 'Answer with two letters and a space between them, such as "S R", and with nothing else.'
_FIRST = "(nothing was thrown yet)"


def _past(observation: Mapping[str, Any]) -> str:
    mine, theirs = observation["my_action"], observation["opponent_action"]
    return f"{mine[0]} {theirs[0]}" if mine and theirs else ""


def _now(observation: Mapping[str, Any]) -> str:
    return "" if observation["my_action"] else _FIRST


def _read(answer: str, observation: Mapping[str, Any]) -> str | None:
    """What beats B's throw in the first line of the answer that is a line of the sequence."""
    for line in answer.splitlines():
        found = _LINE.fullmatch(line)
        if found is not None:
            return _BEATEN_BY[_LETTERS[found[2][0].upper()]]
    return None


DIALOGUE = Dialogue(
    version="rrps-1",
    task=_TASK,
    past=_past,
    now=_now,
    again=_AGAIN,
    legal=lambda observation: ACTIONS,
    read=_read,
)
