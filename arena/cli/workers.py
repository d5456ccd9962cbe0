"""The options of the command line that say how many workers play, and where."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from arena.executors import Workers

AUTO = "auto"
"""The cluster that this machine belongs to, as Ray finds it."""


def workers_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --workers, --executor and --address as one `workers` argument."""

    @click.option(
        "--workers",
        default=0,
        type=click.IntRange(0),
        help="Processes; 0: one per core, of this machine or of the cluster.",
    )
    @click.option(
        "--executor",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        envvar="ARENA_EXECUTOR",
        help="Play on this machine, or on the machines of a Ray cluster [env ARENA_EXECUTOR].",
    )
    @click.option(
        "--address",
        metavar="HOST:PORT",
        help="Of the Ray cluster; by default the one that this machine belongs to.",
    )
    @wraps(function)
    def run(workers: int, executor: str, address: str | None, **kwargs: Any) -> Any:
        if executor == "local" and address is not None:
            raise click.UsageError("--address is of a cluster: add --executor ray")
        cluster = (address or AUTO) if executor == "ray" else None
        return function(workers=Workers(workers, cluster), **kwargs)

    return run
