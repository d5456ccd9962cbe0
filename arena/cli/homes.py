"""What --home takes: a folder, or the address of a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from arena.logins import is_address


class HomeType(click.ParamType["Path | str"]):
    """The folder of a home, or the address of a server."""

    name = "home"
    _folder = click.Path(path_type=Path, file_okay=False)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Path | str:
        """An address as text, and a folder as a path."""
        if isinstance(value, str) and is_address(value):
            return value
        folder: Path = self._folder.convert(value, param, ctx)
        return folder

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Folders."""
        return [CompletionItem(incomplete, type="dir")]
