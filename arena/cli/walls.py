"""The sandbox options of the command line."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

sharing_option = click.option(
    "--vouched",
    "shared",
    is_flag=True,
    help="You vouch for every Python policy that plays: matches of one policy may share a "
    "process, which is faster, and lets a dishonest one carry knowledge between them.",
)


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
        from sandbox.choose import WallChoice  # not for who asks for help

        choice = WallChoice(kind, require_gvisor=require_gvisor, allow_unsealed=allow_unsealed)
        return function(wall=choice, **kwargs)

    return run
