"""The options of the command line that say how far matches go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

precision_option = click.option(
    "--precision",
    type=click.FloatRange(0, min_open=True),
    metavar="X",
    help="Play each pair until the standard error of its mean return a match is at most X; "
    "--matches is then the most that it may get.",
)


def focus_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --focus and --budget."""
    focus = click.option(
        "--focus",
        type=click.Choice(["leaderboard", "nash"]),
        help="Spend --budget where it can change who is at the top of the leaderboard, or who is "
        "in the support of the meta-equilibrium; --matches is then the most that a pair may get.",
    )
    budget = click.option(
        "--budget",
        type=click.IntRange(1),
        metavar="N",
        help="Matches of all pairs together, stored ones included; with --focus.",
    )
    return focus(budget(function))
