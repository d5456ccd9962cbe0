"""Commands that a command tells people to go on with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.cli.session import Session, plain

if TYPE_CHECKING:
    from rich.console import Console

    from arena.games.protocol import Game


def advise(out: Console, what: str, command: str) -> None:
    """A command to go on with; no line of it is broken, so that it can be copied."""
    out.print(plain(f"{what}:  {command}"), soft_wrap=True)


def starting(session: Session, game: Game | None) -> str:
    """The command that starts a run of a game; of one that the grammar does not know, with a model.

    Args:
      session: of the command that is told.
      game: None for any.
    """
    if game is None:
        return session.typed("csro run --game GAME")
    from oracle.grammar.genome import GRAMMARS  # only where it is told

    writer = "" if game.name in GRAMMARS else " --model gemini"
    return session.typed(f"csro run --game {game.name}{writer}")
