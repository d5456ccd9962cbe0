"""The paper's row of networks that are trained, PSRO-IMPALA, and the runs that fill it."""

from __future__ import annotations

from collections.abc import Iterable

from arena.games.protocol import Game
from population.config import TRAINER
from population.paper import methods
from population.records import RunRecord
from population.reproduction import (
    FIRST_SEED,
    ITERATIONS,
    Row,
    by_variant,
    seeds_of,
    with_first,
)
from population.scores import Measured, over_seeds

METHOD = "PSRO-IMPALA"
"""What the paper calls it."""


def network_rows(game: Game, runs: Iterable[tuple[RunRecord, Measured]]) -> list[Row]:
    """A row for each budget with which networks were trained here, or how to train them.

    The paper does not say for how long it trained, so each of them stands beside its figures.

    Args:
      game: of the table.
      runs: finished runs of the game.
    """
    published = next((row for row in methods(game.name) if row.method == METHOD), None)
    training = [one for one in runs if one[0].config.oracle.trains]
    rows: list[Row] = []
    for config, group in by_variant(training).items():
        how = f"K {config.iterations}, {config.oracle.training}, {seeds_of(group)}"
        note = "for how long the paper trained is not published"
        ours = over_seeds([one.scores for one in group], game)
        rows += with_first(Row(METHOD, published, ours, how, note), group, game)
    if rows or published is None or game.tensors is None:
        return rows
    how = f"csro run --game {game.name} --oracle {TRAINER} --iterations {ITERATIONS}"
    note = "not run: trains networks, needs PyTorch (make setup-rl) and minutes of a core a network"
    return [Row(METHOD, published, None, f"{how} --seed {FIRST_SEED}", note)]
