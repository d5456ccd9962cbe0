"""What an arena is opened with so that language-model agents can play."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from arena.cancellation import want_no_more
from arena.games.protocol import Game
from arena.kinds.asked import KIND
from oracle.agent.answers import Answers, seat_name
from oracle.agent.player import AgentPlayer
from oracle.agent.settings import AgentSettings, settings_of, spoken
from oracle.models.budget import Budget, Spent
from oracle.models.errors import ModelError, ModelRefuses, PromptRefused, TranscriptExhausted
from oracle.models.journal import JournaledModel
from oracle.models.prices import FREE, Price
from oracle.models.protocol import Model, Reply, Request
from registry import digest_of

MOVES_TO_TRY = 50
"""Of a session; where no answer names one of them, no match would be the model's."""
FEWEST_LINES = 6
"""What is asked at the end, and a reminder, are among the lines and must not be cut off."""


class SilentModel:
    """Stands for a model whose answers are all kept: it is never asked."""

    price: Price | None = FREE

    def __init__(self, name: str) -> None:
        self.name = name

    def generate(self, request: Request) -> Reply:
        """Refuses.

        Raises:
          TranscriptExhausted: always.
        """
        raise TranscriptExhausted(
            f"an answer of {self.name} is not kept, and nothing is asked when a match is replayed"
        )

    def close(self) -> None:
        """Has nothing to close."""


def shorter(question: str) -> tuple[str, ...]:
    """A question with less and less of the past, for a server that cannot read all of it."""
    lines, found = question.split("\n"), list[str]()
    while len(lines) > FEWEST_LINES:
        lines = lines[len(lines) // 2 :]
        found.append("\n".join(lines))
    return tuple(found)


class _Attempts:
    """The first moves of a session, of all its matches: whether the model can play at all."""

    def __init__(self, model: str) -> None:
        self._model, self._named, self._drawn = model, False, 0
        self._lock = threading.Lock()

    def count(self, named: bool) -> None:
        """Counts a move.

        Raises:
          ModelRefuses: so many had to be drawn, and none was named.
        """
        with self._lock:
            self._named |= named
            self._drawn += not named
            hopeless = not self._named and self._drawn >= MOVES_TO_TRY
        if hopeless:
            raise ModelRefuses(
                f"no answer of {self._model} named any of the first {MOVES_TO_TRY} moves, which "
                "were drawn at random: see what it says, and whether it has room to say it "
                "(--max-output-tokens, --thinking)"
            )


@dataclass(frozen=True, slots=True)
class _Agent:
    """One version: its settings, its model, its answers, and how it begins."""

    settings: AgentSettings
    model: JournaledModel
    answers: Answers
    attempts: _Attempts


class Agents:
    """Makes the players of agents; a `arena.kinds.protocol.PolicyFactory`.

    For use by many threads.
    """

    def __init__(
        self,
        folder: Path,
        model: Callable[[str], Model],
        budget: Callable[[Spent], Budget] = lambda spent: Budget(spent=spent),
    ) -> None:
        """Gathers what they need; opens and asks nothing yet.

        Args:
          folder: of the home, where answers are kept.
          model: makes a model by its name.
          budget: makes an agent's limits from what was spent on it before.
        """
        self._folder, self._model, self._budget = folder, model, budget
        self._agents: dict[str, _Agent] = {}
        self._lock = threading.Lock()

    def __call__(self, game: Game, payload: str, seed: int) -> AgentPlayer:
        """A player for one seat of one match.

        Raises:
          ValueError: the payload is not that of an agent of this game.
          UsageFault: the game's words have changed since.
        """
        agent = self._agent(game, payload)
        settings, answers = agent.settings, agent.answers
        dialogue, seat = spoken(game, settings), seat_name(seed)
        drawn = answers.drawn_moves(seat)

        def ask(question: str, move: int, number: int) -> str | None:
            if move in drawn:
                return None
            # Where answers vary, each move of each match has one of its own, the same in a replay.
            place = "any" if settings.certain else f"{seat}/{move}"
            request = Request(
                key=f"{place}/{number}",
                prompt=question,
                system=dialogue.task,
                temperature=settings.temperature,
                max_output_tokens=settings.max_output_tokens,
                thinking=settings.thinking,
                shorter=shorter(question),
            )
            try:
                reply = agent.model.generate(request)
            except PromptRefused:  # no reply is kept: the note of the move stands for it
                return None
            except ModelError:  # not where the budget is spent: what it admitted is still asked
                want_no_more()
                raise
            return "" if reply.failure else reply.text

        def heard(move: int, named: bool) -> None:
            if move in drawn:
                return
            if not named:
                answers.note_drawn(seat, move)
            agent.attempts.count(named)

        return AgentPlayer(dialogue, settings.history, ask, seed, heard)

    def spent(self, game: Game, payload: str) -> Spent:
        """What was spent on an agent in all."""
        return self._agent(game, payload).model.spent

    def drawn(self, game: Game, payload: str) -> int:
        """Moves of an agent that were drawn at random because no answer named one."""
        return self._agent(game, payload).answers.drawn()

    def close(self) -> None:
        """Ends the connections, to the servers and to the file."""
        with self._lock:
            for agent in self._agents.values():
                agent.model.close()
                agent.answers.close()

    def _agent(self, game: Game, payload: str) -> _Agent:
        with self._lock:
            if payload not in self._agents:
                settings = settings_of(game, payload)
                answers = Answers(self._folder, digest_of(game.name, KIND, payload))
                budget = self._budget(answers.spent())
                model = JournaledModel(self._model(settings.model), answers, budget)
                attempts = _Attempts(model.name)
                self._agents[payload] = _Agent(settings, model, answers, attempts)
            return self._agents[payload]
