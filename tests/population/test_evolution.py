"""Scores over iterations, of single runs and of those that differ only in their seed."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from arena.analysis.estimates import Estimate
from arena.games import game
from arena.payoffs import PayoffTable
from oracle.impala.training import usual_training
from population.config import NETWORK, TRAINER, OracleChoice, RunConfig
from population.evolution import (
    METRICS,
    Scored,
    lines_over_seeds,
    over_seeds,
    points_of,
    scored,
    series_of,
    variants,
)
from population.records import RunRecord, RunState, Sigma
from population.report import reproduction as drawn
from population.scores import Measured, Scores
from population.scores import over_seeds as pooled
from tests.arena.simulated_returns import Played, pair_stats
from tests.population.test_reproduction import FIELD, RRPS

PLAIN = RunConfig("rrps", OracleChoice(model="grammar:plain"), 2)
FULL = RunConfig("rrps", OracleChoice(), 2)


def scores(value: float) -> Scores:
    same = Estimate(value, 1.0, value - 2.0, value + 2.0)
    return Scores(same, same, same, (), 4)


def run(config: RunConfig, seed: int, end: str = "a") -> RunRecord:
    name = f"{config.oracle.model}-{seed}-{end}"
    final = Sigma({end: 1.0}, 0.0, "lp")
    state, now = RunState.FINISHED, datetime.now(UTC)
    return RunRecord(name, replace(config, seed=seed), state, "", now, "first", final)


def climbing(*values: float) -> Scored:
    return [(float(place), scores(value)) for place, value in enumerate(values)]


def some_runs() -> tuple[list[RunRecord], dict[str, Scored]]:
    """Two seeds of one variant, another variant's run, and one that nobody measured."""
    records = [run(PLAIN, 1), run(PLAIN, 2, "b"), run(FULL, 1), run(FULL, 2, "b")]
    numbers = [climbing(0.0, 10.0, 30.0), climbing(2.0, 14.0, 32.0), climbing(50.0, 60.0), []]
    return records, {one.name: two for one, two in zip(records, numbers, strict=True)}


def test_means_over_seeds_have_an_error_and_skip_what_is_not_shared() -> None:
    runs = [climbing(1.0, 5.0), climbing(3.0)]
    ((place, mean),) = over_seeds(runs, "AggScore")
    assert (place, mean.value, mean.stderr) == (0.0, 2.0, 1.0)
    assert mean.low == pytest.approx(2.0 - 12.706, abs=0.001), "Student's, of two seeds"
    assert mean.high > 4.0 - mean.low, "a minimum of noisy means is too small in every seed"
    ((_, single), _) = over_seeds(runs[:1], "PopExpl")
    assert single == scores(1.0).pop_expl
    assert over_seeds([], "AggScore") == []


def test_runs_that_came_to_the_very_same_count_once() -> None:
    """Its luck in the matches that it played is one, however many seeds have it."""
    runs = [climbing(1.0, 5.0), climbing(1.0, 7.0), climbing(1.0, 5.0)]
    (_, first), (_, second) = over_seeds(runs, "AggScore")
    assert first == scores(1.0).agg_score
    assert second == over_seeds([climbing(0.0, 5.0), climbing(0.0, 7.0)], "AggScore")[1][1]
    alone, thrice = (pooled([scores(1.0)] * seeds, game("rrps")) for seeds in (1, 3))
    assert (thrice.pop_return, thrice.agg_score) == (alone.pop_return, alone.agg_score)


def test_runs_that_differ_in_their_seed_are_one_variant() -> None:
    records, _ = some_runs()
    again = run(PLAIN, 2, "b")
    found = variants([*records, again])
    assert [[one.config.seed for one in group] for group in found.values()] == [[1, 2], [1, 2]]
    assert all(title.endswith("K 2") for title in found)
    otherwise = run(PLAIN, 2, "another end")
    (plain, _) = variants([*records, otherwise]).values()
    assert [one.config.seed for one in plain] == [1, 2, 2]


def test_no_variant_is_drawn_in_the_place_of_another() -> None:
    def training(**options: Any) -> RunConfig:
        trained = usual_training(game("rrps"), **options)
        return RunConfig("rrps", OracleChoice(TRAINER, NETWORK, training=trained), 2)

    apart = [training(), training(checkpoints=4), training(device="cuda")]
    found = variants([run(config, 1) for config in apart])
    assert [title.partition(", network")[0] for title in found] == [
        "impala, 2,000,000 decisions",
        "impala, 2,000,000 decisions, 4 checkpoints",
        "impala, 2,000,000 decisions, on cuda",
    ]
    usual = training().oracle
    assert usual.training is not None
    odd = replace(usual, training=replace(usual.training, threads=2))
    assert len(variants([run(training(), 1), run(replace(training(), oracle=odd), 1)])) == 2


def test_lines_of_variants_name_their_seeds_and_leave_out_what_was_not_measured() -> None:
    records, numbers = some_runs()
    lines = lines_over_seeds(records, numbers, "PopReturn")
    plain, full = lines
    assert plain.endswith("(seeds 1, 2)") and "plain" in plain
    assert full.endswith("(seed 1)")
    assert [(place, mean.value) for place, mean in lines[plain]] == [(0, 1), (1, 12), (2, 31)]
    assert lines[full] == points_of(numbers[records[2].name], "PopReturn")
    apart = {**numbers, records[1].name: [(9.0, scores(1.0))]}
    assert list(lines_over_seeds(records, apart, "PopReturn")) == [full], "no point of both"
    each = series_of(numbers, "PopReturn")
    assert list(each) == [one.name for one in records[:3]]


def test_meta_strategies_are_scored_by_what_is_known_of_their_members() -> None:
    draws = [Played(name, "x", deal, 1.0) for name in "ab" for deal in range(4)]
    table = PayoffTable.from_pair_stats(pair_stats(draws), ("a", "b", "c", "x"))
    known = Measured("p", ("x",), ("x",), ("a", "b", "c"), table)
    mixtures: list[Mapping[str, float]] = [
        {"a": 1.0},
        {"a": 0.5, "c": 0.5},  # of whom one never met anybody
        {"a": 0.5, "b": 0.5, "c": 0.0},
    ]
    found = scored(known, [Sigma(weights, 0.0, "lp") for weights in mixtures])
    assert [place for place, _ in found] == [0.0, 2.0]
    assert [one.pop_return.value for _, one in found] == [1.0, 1.0]


def test_a_table_of_lines_has_both_ends_of_each_interval() -> None:
    records, numbers = some_runs()
    lines = {metric: lines_over_seeds(records, numbers, metric) for metric in METRICS}
    rows: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(drawn.evolution_table(lines))))
    assert [row["metric"] for row in rows] == [name for name in METRICS for _ in range(5)]
    last = rows[2]
    assert (last["iteration"], float(last["mean"])) == ("2", 31.0)
    assert float(last["low"]) < 31.0 < float(last["high"])


def test_the_page_draws_each_metric_that_was_measured() -> None:
    records, numbers = some_runs()
    lines = {metric: lines_over_seeds(records, numbers, metric) for metric in METRICS}
    page = drawn.page(RRPS, FIELD, [], lines, [])
    assert all(f"<h2>{metric} over iterations</h2>" in page for metric in METRICS)
    assert page.count("(seeds 1, 2)") >= 3 and "paper: CSRO" in page
    assert page.count("Dashed: those between") == 1
    several = {
        f"variant {number}": [(0.0, scores(float(number)).agg_score)] for number in range(10)
    }
    many = drawn.page(RRPS, FIELD, [], dict.fromkeys(METRICS, several), [])
    assert "variant 2" in many and "variant 1" not in many
    assert "ends lower: 2 more" in many and "ends lower" not in page
    nothing: dict[str, Any] = {metric: {} for metric in METRICS}
    assert "over iterations" not in drawn.page(RRPS, FIELD, [], nothing, [])
