"""What it would come to to let an agent play: calls, tokens and dollars, before any is spent."""

from __future__ import annotations

import re
from dataclasses import dataclass

from arena.games.protocol import Game
from oracle.agent.player import AgentPlayer
from oracle.agent.settings import AgentSettings, spoken
from oracle.models.prices import Price

TOKENS_AN_ANSWER = 4
"""Of a model that does not think first."""
_PIECE = re.compile(r"\w{1,6}|[^\w\s]|\n")
"""About a token; a count of characters would take a sequence of single letters for too little."""
_SEED = 1


@dataclass(frozen=True, slots=True)
class Estimate:
    """What matches would take.

    Attributes:
      matches: to be played.
      calls: of the model, one a move; fewer where questions repeat and one answer holds for all,
        and up to twice as many where answers name no move.
      prompt_tokens: of a question, on average.
      cost: US dollars of all calls, without thinking; None where the price is not known.
    """

    matches: int
    calls: int
    prompt_tokens: int
    cost: float | None

    def __str__(self) -> str:
        cost = "of unknown price" if self.cost is None else f"about ${self.cost:,.2f} at list price"
        return (
            f"{self.matches:,} matches, about {self.calls:,} model calls, up to twice as many "
            f"where answers name no move; {cost} (questions of {self.prompt_tokens:,} tokens, "
            f"answers of {TOKENS_AN_ANSWER}; thinking and second calls come on top)"
        )


def estimate(game: Game, settings: AgentSettings, matches: int, price: Price | None) -> Estimate:
    """Counts the questions of one match that is played at random, and multiplies.

    Args:
      game: what is played.
      settings: of the agent.
      matches: to be played.
      price: of the model.

    Raises:
      UsageFault: the game's words are not those of the agent.
    """
    moves, tokens = _questions(game, settings)
    calls = round(matches * moves)
    each = price.cost(round(tokens), TOKENS_AN_ANSWER) if price else None
    return Estimate(matches, calls, round(tokens), None if each is None else calls * each)


def _questions(game: Game, settings: AgentSettings) -> tuple[float, float]:
    """Moves of a seat in a match at random, and tokens of a question, on average."""
    dialogue, asked = spoken(game, settings), list[int]()

    def ask(question: str, move: int, number: int) -> str:
        if number == 0:
            asked.append(len(_PIECE.findall(f"{dialogue.task}\n{question}")))
        return ""

    table = game.table([_SEED])
    seats = [
        game.seat(AgentPlayer(dialogue, settings.history, ask, _SEED + number))
        for number in range(2)
    ]
    while not table.done:
        messages = table.messages()
        size = len(messages) // 2
        table.advance(
            bytes(
                seat.reply(messages[place * size : (place + 1) * size])
                for place, seat in enumerate(seats)
            )
        )
    return len(asked) / 2, sum(asked) / len(asked)
