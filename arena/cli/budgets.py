"""The options of the command line that say how far matches go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def precision_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --precision."""
    return click.option(
        "--precision",
        type=click.FloatRange(0, min_open=True),
        metavar="X",
        help="Play each pair until the standard error of its mean return a match is at most X; "
        "--matches is then the most that it may get.",
    )(function)
