"""What makes a language-model agent's play: the content of its version."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from arena.errors import UsageFault
from arena.games.parts import Dialogue
from arena.games.protocol import Game

HISTORY = 100
"""Throws or hands that a prompt shows, unless somebody asks for another number."""


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """How an agent asks, and whom.  No key and no address: those may change.

    Attributes:
      game: what it plays.
      dialogue: version of the game's words (`Dialogue.version`).
      model: such as "openai:gemma-3-27b-it".
      history: of the throws or hands that are over, as many as a prompt shows: the last ones.
      temperature: None leaves it to the provider.
      max_output_tokens: of an answer, thinking included; None leaves it to the provider.
      thinking: level of it; None leaves it to the provider.
    """

    game: str
    dialogue: str
    model: str
    history: int = HISTORY
    temperature: float | None = None
    max_output_tokens: int | None = None
    thinking: str | None = None

    @property
    def payload(self) -> str:
        """The canonical payload of a version."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    @property
    def certain(self) -> bool:
        """Whether one question has one answer, so that it is asked once for all matches."""
        return self.temperature == 0


def settings_of(game: Game, payload: str) -> AgentSettings:
    """The settings in a payload.

    Raises:
      ValueError: it is not the payload of an agent of this game.
    """
    try:
        settings = AgentSettings(**json.loads(payload))
    except (ValueError, TypeError) as error:
        raise ValueError(f"this is no payload of a language-model agent: {error}") from error
    if settings.game != game.name:
        raise ValueError(f"this is to play {game.name}, and plays {settings.game!r}")
    return settings


def dialogue_of(game: Game) -> Dialogue:
    """The words of a game.

    Raises:
      UsageFault: it has none.
    """
    if game.dialogue is None:
        raise UsageFault(f"nobody wrote how {game.name} is told to a model move by move")
    return game.dialogue


def spoken(game: Game, settings: AgentSettings) -> Dialogue:
    """The words that an agent was made with.

    Raises:
      UsageFault: they have changed since: it would play otherwise than it did.
    """
    dialogue = dialogue_of(game)
    if dialogue.version != settings.dialogue:
        raise UsageFault(
            f"this agent asks in the words {settings.dialogue}, and this program has "
            f"{dialogue.version}: it cannot play as it did.  Make a new agent"
        )
    return dialogue
