"""References on the command line: names of policies, which a shell can complete."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from arena.cli.session import DEFAULT_HOME
from arena.errors import ArenaError
from arena.logins import is_address
from registry.errors import RegistryError

if TYPE_CHECKING:
    from arena.games.protocol import Game

MOST_COMPLETED = 200
"""References that a shell is told; more would be no help."""


class RefType(click.ParamType[str]):
    """A reference to a policy: author/name, author/name@2, an alias or a digest."""

    name = "ref"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Any text; whether it means a policy is found out where the home is open."""
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The policies of the home whose references begin like this; none without a home.

        Whatever is wrong with the home is for the command to say: a shell that completes has no
        place for it.
        """
        game: Game | None = ctx.params.get("game")
        home = ctx.params.get("home") or DEFAULT_HOME
        if is_address(home):  # to ask a server takes longer than to type
            return []
        try:
            refs = _refs(
                Path(home),
                ctx.params.get("registry_url"),
                game.name if game is not None else None,
            )
        except (ArenaError, RegistryError):
            return []
        found = [ref for ref in refs if ref.startswith(incomplete)]
        return [CompletionItem(ref) for ref in found[:MOST_COMPLETED]]


def _refs(folder: Path, registry_url: str | None, game: str | None) -> list[str]:
    """All references and aliases of a home, sorted."""
    # Loaded when a shell asks, and not with every command.
    from arena.home import open_home
    from arena.home_marker import has_home

    if registry_url is None and not has_home(folder):
        return []
    registry = open_home(folder, registry_url, create=False).registry
    versions = registry.find(game)
    refs = {ref for version in versions for ref in (version.ref, *version.also)}
    if game is not None:
        refs |= {alias.name for alias in registry.aliases(game)}
    return sorted(refs)


REF = RefType()
