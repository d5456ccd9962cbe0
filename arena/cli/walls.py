"""The sandbox options of the command line, and the line that says which wall stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import click

from arena.cli.session import notice
from sandbox.choose import WallChoice, open_wall
from sandbox.wall import Wall


def sandbox_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --sandbox, --require-gvisor and --allow-unsealed as one `wall` argument."""

    @click.option(
        "--sandbox",
        "kind",
        type=click.Choice(["auto", "gvisor", "gvisor-rootless", "process"]),
        default="auto",
        show_default=True,
        envvar="ARENA_SANDBOX",
        help="Wall around untrusted code; auto takes the strongest that works here "
        "[env ARENA_SANDBOX].",
    )
    @click.option(
        "--require-gvisor",
        is_flag=True,
        envvar="ARENA_REQUIRE_GVISOR",
        help="Refuse to fall back to anything weaker than gVisor.",
    )
    @click.option(
        "--allow-unsealed",
        is_flag=True,
        help="On a host that cannot seal a process: run the code anyway. You vouch for it.",
    )
    @wraps(function)
    def run(kind: str, require_gvisor: bool, allow_unsealed: bool, **kwargs: Any) -> Any:
        choice = WallChoice(kind, require_gvisor=require_gvisor, allow_unsealed=allow_unsealed)
        return function(wall=choice, **kwargs)

    return run


@contextmanager
def open_reported_wall(choice: WallChoice) -> Iterator[Wall]:
    """Opens the wall and says on stderr which one it is."""
    wall = open_wall(choice)
    try:
        notice(f"sandbox: {wall.name}")
        if wall.remark:
            notice(wall.remark)
        yield wall
    finally:
        wall.close()
