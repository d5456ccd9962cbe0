"""Options of the oracle that trains networks, and the choice among all oracles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from arena.errors import UsageFault
from oracle.impala.training import STEPS
from population.cli.asking import gathered
from population.config import ORACLES, TRAINER, OracleChoice

if TYPE_CHECKING:
    from arena.games.protocol import Game

CHOICES = (*ORACLES, TRAINER)
"""Names of all oracles."""
_TRAINING = (
    click.option(
        "--steps",
        type=click.IntRange(1),
        help=f"Of {TRAINER}: decisions that a network is trained for [default: {STEPS:,}].",
    ),
    click.option(
        "--checkpoints",
        type=click.IntRange(1),
        help=f"Of {TRAINER}: how often it is scored on the way; the best joins [default: 1].",
    ),
    click.option(
        "--device",
        metavar="DEVICE",
        help=f"Of {TRAINER}: where PyTorch trains, such as cpu or cuda [default: cpu].",
    ),
)
training_options: Callable[[Callable[..., Any]], Callable[..., Any]] = gathered(
    _TRAINING, ("steps", "checkpoints", "device"), "training"
)
"""Adds the options of a training, as one `training` mapping of those that were given."""


def chosen(
    game: Game | None, name: str, model: str | None, training: Mapping[str, Any], **told: Any
) -> OracleChoice:
    """The oracle that the options mean.

    Raises:
      click.UsageError: some of them do not go together.
    """
    try:
        return _chosen(game, name, model, training, **told)
    except UsageFault as error:  # options are read outside of what answers for a command
        raise click.UsageError(str(error)) from error


def _chosen(
    game: Game | None, name: str, model: str | None, training: Mapping[str, Any], **told: Any
) -> OracleChoice:
    from population.oracles import full_model_name, model_by_default
    from population.training import trained_choice

    if name == TRAINER:
        if model is not None:
            raise UsageFault(f"the oracle {TRAINER} trains a network: leave out --model")
        if game is None:
            raise UsageFault(f"the oracle {TRAINER} sends no prompts")
        return trained_choice(game, **training)
    if training:
        given = ", ".join(f"--{option}" for option in training)
        raise UsageFault(f"{given} would do nothing: only the oracle {TRAINER} trains networks")
    return OracleChoice(name, full_model_name(model) if model else model_by_default(), **told)
