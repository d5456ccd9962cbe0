"""Our finished runs beside the paper's: grouped by variant, with seeds and intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from arena.analysis.estimates import Estimate
from arena.games import game as game_named
from population.config import RunConfig
from population.edition import told_apart
from population.measuring import measuring_for
from population.newcomers import Newcomers, newcomers
from population.records import RunRecord
from population.scores import Measured, Scores, over_seeds

End = frozenset[tuple[str, float]]
"""Digest and weight of each member of a meta-strategy."""


@dataclass(frozen=True, slots=True)
class OurRow:
    """All finished runs of one variant.

    Attributes:
      variant: what they have in common.
      edition: of the grammar or the prompts that wrote their programs; "" where none is recorded.
      iterations: K.
      seeds: of the runs that were measured, sorted.
      runs: names of all finished runs, measured or not.
      waiting: names of finished runs whose members were not played against the population yet.
      pop_return: as `population.scores.Ours`; None where no run was measured.
      pop_expl: likewise.
      agg_score: likewise.
      best: the largest AggScore over the seeds.
      best_single: the largest AggScore over the seeds of a run's best single member
        (`best_single`).
      matches: that each run's figures rest on, per bot; the smallest of the runs.
      first: what the runs' first newcomers reach alone; None where none was measured.
    """

    variant: str
    edition: str
    iterations: int
    seeds: tuple[int, ...]
    runs: tuple[str, ...]
    waiting: tuple[str, ...]
    pop_return: Estimate | None
    pop_expl: Estimate | None
    agg_score: Estimate | None
    best: float | None
    best_single: float | None
    matches: int
    first: Newcomers | None = None


def our_rows(runs: Iterable[tuple[RunRecord, Measured]]) -> tuple[OurRow, ...]:
    """One row for each variant, the best AggScore first.

    Args:
      runs: finished runs, each with what is known about its members.
    """
    groups: dict[RunConfig, list[tuple[RunRecord, Measured]]] = {}
    for record, known in runs:
        groups.setdefault(record.config.pool, []).append((record, known))
    rows = [_row(group) for group in groups.values()]
    return tuple(sorted(rows, key=lambda row: -(row.agg_score.value if row.agg_score else -np.inf)))


def _row(group: Sequence[tuple[RunRecord, Measured]]) -> OurRow:
    config = group[0][0].config.pool  # without what does nothing
    counted: dict[tuple[int, End], tuple[RunRecord, Measured, Scores]] = {}
    waiting = []
    for record, known in group:
        scores = known.of(record.final.weights) if record.final else None
        if scores is None:
            waiting.append(record.name)
        else:
            # The same seed and end twice is the same run twice: it counts once.
            counted[record.config.seed, end_of(record)] = (record, known, scores)
    found = [scores for _, _, scores in counted.values()]
    singles = [best_single(known) for _, known, _ in counted.values()]
    ours = over_seeds(found, game_named(config.game)) if found else None
    return OurRow(
        variant=f"CSRO {title_of(config)}",
        edition=config.edition,
        iterations=config.iterations,
        seeds=tuple(sorted(seed for seed, _ in counted)),
        runs=tuple(record.name for record, _ in group),
        waiting=tuple(waiting),
        pop_return=ours.pop_return if ours else None,
        pop_expl=ours.pop_expl if ours else None,
        agg_score=ours.agg_score if ours else None,
        best=max((one.agg_score.value for one in found), default=None),
        best_single=max((one[1].agg_score.value for one in singles if one), default=None),
        matches=ours.matches if ours else 0,
        first=newcomers([one[:2] for one in counted.values()], game_named(config.game)),
    )


def end_of(record: RunRecord) -> End:
    """What a run came to, to be compared with another's; nothing while it is not finished."""
    return frozenset(record.final.weights.items() if record.final else ())


BEST_BY = "by the lower end of its interval"
"""How the best single policy is chosen, in words."""


def best_single(known: Measured) -> tuple[str, Scores] | None:
    """The policy whose AggScore is surely the largest (by its interval's lower end), with scores.

    Members are measured by different numbers of matches; the largest plain figure would often be
    one that few matches flatter.
    """
    found = [(digest, known.single(digest)) for digest in known.digests]
    scored = [(digest, scores) for digest, scores in found if scores is not None]
    return max(scored, key=lambda item: _lower_end(item[1].agg_score), default=None)


def _lower_end(estimate: Estimate) -> float:
    return -np.inf if np.isnan(estimate.low) else estimate.low


def title_of(config: RunConfig) -> str:
    """A variant in words: the oracle, and whatever else is not as usual."""
    counts = measuring_for(config.game, hidden_share=config.hidden_share)
    extras = [config.solver] if config.solver != RunConfig(config.game).solver else []
    extras += [f"from {config.beginning}"] if config.initial else []
    extras += [] if config.afresh else ["chosen by the matches of its payoffs"]
    extras += [] if config.common_cards else ["each on cards of its own"]
    extras += [] if config.frugal else ["asked to the end"]
    extras += [f"hidden share {config.hidden_share:g}"] if config.hidden_share else []
    extras += [] if config.credulous else ["none credulous"]
    extras += [] if config.yardsticks else ["no yardsticks"]
    extras += [] if config.halving else ["no halving"]
    extras += [] if config.fine_classes else ["archive in thirds"]
    if config.matches.hidden != counts.hidden:
        extras.append(f"{config.matches.hidden} matches with each hidden one")
    if replace(config.matches, hidden=counts.hidden) != counts:
        extras.append(f"{config.matches.payoff}/{config.matches.evaluation} matches")
    return "; ".join(filter(None, [config.variant, told_apart(config), *extras]))
