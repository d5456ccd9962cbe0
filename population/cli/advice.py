"""Commands that a command tells people to go on with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.cli.session import plain

if TYPE_CHECKING:
    from rich.console import Console


def advise(out: Console, what: str, command: str) -> None:
    """A command to go on with; no line of it is broken, so that it can be copied."""
    out.print(plain(f"{what}:  {command}"), soft_wrap=True)
