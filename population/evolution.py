"""How scores evolve over runs: each by itself, or those that differ only in their seed as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from arena.analysis.estimates import Estimate, over_programs
from population.comparison import End, end_of, title_of
from population.config import RunConfig
from population.records import RunRecord, Sigma
from population.scores import ERRS, Measured, Scores

METRICS = {"AggScore": "agg_score", "PopReturn": "pop_return", "PopExpl": "pop_expl"}
"""Titles of the metrics, and what `Scores` and the paper's rows call them."""

Points = list[tuple[float, Estimate]]
"""(Iterations that ended, estimate) of one line of a chart."""
Scored = Sequence[tuple[float, Scores]]
"""Scores of a run's meta-strategies, by the number of iterations that ended before."""


def scored(known: Measured, sigmas: Iterable[Sigma]) -> Scored:
    """Scores of a run's meta-strategies, before the first iteration and after each, if measured."""
    scores = known.all_of([sigma.weights for sigma in sigmas])
    return [(float(ended), one) for ended, one in enumerate(scores) if one is not None]


def points_of(scored: Scored, metric: str) -> Points:
    """One metric of one run, with 95 % intervals."""
    return [(place, getattr(scores, METRICS[metric])) for place, scores in scored]


def variants(records: Iterable[RunRecord]) -> dict[str, tuple[RunRecord, ...]]:
    """Runs that differ only in their seed, by a title.

    The same seed twice counts once, unless both are finished and ended otherwise.
    """
    groups: dict[RunConfig, dict[int, dict[End, RunRecord]]] = {}
    for record in sorted(records, key=lambda one: one.final is None):
        of_seed = groups.setdefault(record.config.pool, {}).setdefault(record.config.seed, {})
        if record.final is not None or not of_seed:
            of_seed[end_of(record)] = record
    found = {}
    for config, by_seed in groups.items():
        title = f"{title_of(config)}, K {config.iterations}"
        while title in found:  # never one in the place of another
            title += ", otherwise"
        found[title] = tuple(one for seed in sorted(by_seed) for one in by_seed[seed].values())
    return found


def over_seeds(runs: Sequence[Scored], metric: str) -> Points:
    """Mean of a metric over runs, with 95 % intervals; of one run, those of its matches.

    Only where all of the runs were measured: a mean over others at each place would jump.  Runs
    with the very same scores at a place count once there, as in `population.scores.over_seeds`.
    """
    known = [dict(one) for one in runs]
    shared = set.intersection(*(set(one) for one in known)) if known else set()
    name = METRICS[metric]
    found = []
    for place in sorted(shared):
        distinct = dict.fromkeys(one[place] for one in known)
        pooled = over_programs([getattr(one, name) for one in distinct], ERRS[name])
        found.append((place, pooled))
    return found


def lines_over_seeds(
    records: Iterable[RunRecord], scored: Mapping[str, Scored], metric: str
) -> dict[str, Points]:
    """Lines of all variants, by their titles with the seeds, where all measured runs have a point.

    Args:
      records: of the runs.
      scored: of each of them, by its name.
      metric: one of `METRICS`.
    """
    measured = [record for record in records if scored[record.name]]
    found = {}
    for title, runs in variants(measured).items():
        seeds = ", ".join(str(record.config.seed) for record in runs)
        label = f"{title} (seed{'s' if len(runs) > 1 else ''} {seeds})"
        found[label] = over_seeds([scored[record.name] for record in runs], metric)
    return {label: points for label, points in found.items() if points}


def series_of(scored: Mapping[str, Scored], metric: str) -> dict[str, Points]:
    """Lines of those runs that were measured."""
    found = {name: points_of(one, metric) for name, one in scored.items()}
    return {name: points for name, points in found.items() if points}
