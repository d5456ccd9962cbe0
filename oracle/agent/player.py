"""A language model in one seat of one match, behind the author contract of its game."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from arena.games.parts import Dialogue

TRIES = 2
"""Times that a move is asked for; the second time with a reminder of how to answer."""

Ask = Callable[[str, int, int], str | None]
"""(question, number of the move, number of the try) to an answer: "" where nothing was said, None
where asking again is of no use."""
Heard = Callable[[int, bool], None]
"""Told of each move, by its number, whether an answer named it."""


class AgentPlayer:
    """Asks for every move.

    A move that no answer named is drawn at random from the legal ones, by the seed of the seat.
    """

    def __init__(
        self,
        dialogue: Dialogue,
        history: int,
        ask: Ask,
        seed: int,
        heard: Heard = lambda move, named: None,
    ) -> None:
        """Sits down.

        Args:
          dialogue: the game's.
          history: lines of the past that a question shows at most.
          ask: answers.
          seed: of the moves that no answer named.
          heard: told of each move.
        """
        self._dialogue, self._ask, self._heard = dialogue, ask, heard
        self._lines: deque[str] = deque(maxlen=history)
        self._rng = random.Random(seed)
        self._move = 0

    def restart(self, player_id: int) -> None:
        """A new hand begins; the observations say everything about it."""

    def receive_outcome(self, obs: Mapping[str, Any]) -> None:
        """A hand is over."""
        self._remember(obs)

    def act(self, obs: Mapping[str, Any]) -> str:
        """Asks what to do."""
        self._remember(obs)
        question = "\n".join(filter(None, [*self._lines, self._dialogue.now(obs)]))
        move, self._move = self._move, self._move + 1
        for number in range(TRIES):
            asked = f"{question}\n\n{self._dialogue.again}" if number else question
            answer = self._ask(asked, move, number)
            if answer is None:
                break
            action = self._dialogue.read(answer, obs)
            if action is not None:
                self._heard(move, True)
                return action
        self._heard(move, False)
        return self._rng.choice(self._dialogue.legal(obs))

    def _remember(self, obs: Mapping[str, Any]) -> None:
        line = self._dialogue.past(obs)
        if line:
            self._lines.append(line)
