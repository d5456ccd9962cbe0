"""The house entrants of repeated rock-paper-scissors: the engine's bots as submissions."""

from __future__ import annotations

from arena.games.rrps.roshambo import BOTS, PORT, Bot
from arena.kinds.native import payload_of
from registry import Submission


def rrps_submissions() -> tuple[Submission, ...]:
    """The 43 bots, in alphabetical order."""
    return tuple(_submission(bot) for bot in BOTS)


def _submission(bot: Bot) -> Submission:
    return Submission(
        game="rrps",
        name=f"house/{bot.name}",
        kind="native",
        payload=payload_of(bot.name),
        description=bot.description,
        labels={"role": "dummy" if bot.dummy else "entrant"},
        provenance={
            "author": bot.author,
            "year": bot.year,
            "title": bot.title,
            "competition": bot.competition,
            "role": "dummy bot by the organiser" if bot.dummy else "competition entrant",
            "source": PORT,
            "original": bot.original,
        },
    )
