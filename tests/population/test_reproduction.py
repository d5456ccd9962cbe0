"""The paper's tables with ours beside them: rows, figures over seeds, and the command."""

from __future__ import annotations

import csv
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import t as student_t

from arena import game
from arena.analysis.estimates import Estimate
from arena.analysis.meta_strategy import SOLVERS
from arena.games import GAMES
from arena.house.population import default_population
from oracle.context import parse_filter, parse_input
from oracle.models.options import Asking
from population.cli import main
from population.commands import command_of
from population.comparison import our_rows
from population.config import OracleChoice, RunConfig
from population.edition import dated
from population.measuring import Measuring
from population.paper import against, methods, variants
from population.report import reproduction as drawn
from population.reproduction import (
    Row,
    calls_at_most,
    choice_of,
    fills,
    own_rows,
    rows_to_run,
    run_of,
    variant_rows,
)
from population.scores import Scores, over_seeds

RRPS = game("rrps")


FIELD = default_population("rrps")


def scores(agg: float) -> Scores:
    one = Estimate(agg, 1.0, agg - 2.0, agg + 2.0)
    return Scores(one, one, one, (one,) * len(FIELD.members), 100)


def finished(config: RunConfig, agg: float, name: str = "r", digest: str = "d") -> Any:
    """A finished run that was measured, as far as rows look at it."""
    final = SimpleNamespace(weights={digest: 1.0})
    record = SimpleNamespace(config=config, name=name, final=final, initial=digest)
    return record, SimpleNamespace(of=lambda weights: scores(agg))


def with_newcomer(seed: int, agg: float, first: str, alone: float | None) -> Any:
    """A finished run of the grammar, and what its first newcomer reaches; None: not measured."""
    final = SimpleNamespace(weights={"initial": 0.0, first: 0.0, f"second{seed}": 1.0})
    config = RunConfig("rrps", OracleChoice(), 20, seed)
    record = SimpleNamespace(config=config, name=f"r{seed}", final=final, initial="initial")

    def of(weights: dict[str, float]) -> Scores | None:
        if weights == {first: 1.0}:
            return None if alone is None else scores(alone)
        return scores(agg)

    return record, SimpleNamespace(of=of, digests=(), single=lambda digest: None)


def test_a_first_newcomer_has_a_row_below_its_run_and_counts_once() -> None:
    same = [with_newcomer(seed, 300.0 + seed, "same", 310.0) for seed in (1, 2)]
    other, unknown = with_newcomer(3, 303.0, "other", 316.0), with_newcomer(4, 304.0, "no", None)
    run, first = own_rows(RRPS, same)
    assert first.method == f"{run.method}: its first newcomer"
    assert first.how == "seeds 1, 2; 1 distinct program in 2 runs"
    # One program: its own interval over matches, not one over seeds.
    assert first.ours is not None and first.ours.agg_score == scores(310.0).agg_score
    assert (first.ours.seeds, run.ours and run.ours.seeds) == (1, 2)
    _, first = own_rows(RRPS, [*same, other, unknown])
    assert first.how == "seeds 1, 2, 3, 4; 2 distinct programs in 3 of 4 runs"
    assert first.ours == over_seeds([scores(310.0), scores(316.0)], RRPS)
    assert len(own_rows(RRPS, [unknown])) == 1
    lower = with_newcomer(1, 400.0, "best", 1.0)
    lower[0].config = replace(lower[0].config, iterations=3)
    titles = [one.method.rpartition(", ")[2] for one in own_rows(RRPS, [*same, lower])]
    assert titles == ["K 3", "K 3: its first newcomer", "K 20", "K 20: its first newcomer"]
    (row,) = our_rows(same)
    assert row.first is not None and str(row.first) == "1 distinct program in 2 runs"
    assert row.first.ours.agg_score == scores(310.0).agg_score


def test_every_form_of_the_tables_has_the_first_newcomer() -> None:
    rows = own_rows(RRPS, [with_newcomer(1, 301.0, "first", 310.0)])
    lines = list(csv.DictReader(drawn.table(rows).splitlines()))
    assert [(one["agg_score"], one["agg_score_low"]) for one in lines][1] == ("310.0", "308.0")
    for text in (drawn.markdown(rows), drawn.page(RRPS, FIELD, rows, {}, [])):
        assert "K 20: its first newcomer" in text and "1 distinct program in 1 run" in text


def as_published(method: str, model: str = "gemini:x", seed: int = 0) -> RunConfig:
    choice = choice_of(method, model)
    assert choice is not None
    return dated(run_of(RRPS, choice, seed))  # as it is stored


@pytest.mark.parametrize("name", sorted(GAMES))
def test_every_csro_row_of_the_paper_is_a_run_that_can_be_asked_for(name: str) -> None:
    published = (*methods(name), *variants(name))
    rows = [row for row in published if row.method.startswith("CSRO")]
    for row in rows:
        choice = choice_of(row.method, "gemini:x")
        assert choice is not None, row.method
        parse_input(choice.opponents)
        parse_filter(choice.shown)
        words = [*command_of(run_of(game(name), choice, 3)).split()[1:], "--dry-run"]
        shown = CliRunner().invoke(main, words)
        assert shown.exit_code == 0, shown.stderr
    told = {row.method for row in rows_to_run(game(name))}
    assert told == {row.method for row in (variants(name) or methods(name)) if row in rows}


def test_other_rows_name_no_oracle() -> None:
    others = [row.method for row in methods("rrps") if not row.method.startswith("CSRO")]
    assert others and not any(choice_of(method, "gemini:x") for method in others)


def test_figures_over_seeds_are_students() -> None:
    ours = over_seeds([scores(10.0), scores(14.0), scores(12.0)], RRPS)
    reach = student_t.ppf(0.975, 2) * 2.0 / np.sqrt(3.0)
    assert ours.agg_score.value == pytest.approx(12.0)
    assert ours.agg_score.low == pytest.approx(12.0 - reach)
    assert (ours.seeds, ours.matches) == (3, 100)
    assert over_seeds([scores(10.0)], RRPS).agg_score == Estimate(10.0, 1.0, 8.0, 12.0)
    with pytest.raises(ValueError, match="no figures"):
        over_seeds([], RRPS)


def test_a_row_is_filled_by_its_runs_alone() -> None:
    (row,) = [one for one in variants("rrps") if "code; top5" in one.method and "Lin" in one.method]
    config = as_published(row.method)
    assert fills(config, row.method)
    assert not fills(replace(config, iterations=19), row.method)
    assert not fills(replace(config, oracle=OracleChoice()), row.method)  # the grammar's
    assert not fills(replace(config, hidden_share=0.2), row.method)
    assert not fills(replace(config, initial="ada/echo"), row.method)
    other = replace(config, oracle=replace(config.oracle, shown="all"))
    assert not fills(other, row.method)
    different = (
        {"solver": next(name for name in SOLVERS if name != config.solver)},
        {"matches": Measuring(4, 4)},
        {"afresh": False},
        {"frugal": False},
        {"oracle": replace(config.oracle, refinements=3)},
    )
    for change in different:
        assert not fills(replace(config, **change), row.method), change
        (own,) = own_rows(RRPS, [finished(replace(config, **change), 1.0)])
        assert own.ours is not None  # it has a row of its own
    assert fills(replace(config, oracle=replace(config.oracle, drafts=3)), row.method)  # idle
    runs = [finished(config, 100.0), finished(replace(config, seed=1), 110.0), finished(other, 0.0)]
    (filled,) = variant_rows(RRPS, row, runs, "gemini:x", "free")
    assert filled.ours is not None and filled.ours.agg_score.value == 105.0
    assert filled.how == "by gemini:x, seeds 0, 1"
    warm = replace(config, oracle=replace(config.oracle, asking=Asking(temperature=1.0)))
    apart = variant_rows(RRPS, row, [*runs, finished(warm, 90.0)], "gemini:x", "free")
    assert [one.how for one in apart] == [
        "by gemini:x, seeds 0, 1",
        "by gemini:x, temperature 1.0, seeds 0",
    ]
    second = finished(as_published(row.method, "openai:y"), 90.0)
    both = variant_rows(RRPS, row, [*runs, second], "gemini:x", "free")
    assert [one.how.split(",")[0] for one in both] == ["by gemini:x", "by openai:y"]


def test_what_was_not_run_has_a_command_and_a_price_and_no_figure() -> None:
    row = rows_to_run(RRPS)[0]
    (empty,) = variant_rows(RRPS, row, [], "gemini:x", "at most 1,260 drafts a run")
    assert empty.ours is None
    assert empty.how.startswith("csro run --game rrps --model gemini:x --oracle alpha-evolve")
    assert "not run" in empty.note and "1,260" in empty.note


def test_other_runs_have_rows_of_their_own() -> None:
    row = rows_to_run(RRPS)[0]
    grammar = RunConfig("rrps", OracleChoice(), 20, 1)
    runs = [
        finished(as_published(row.method), 20.0),
        finished(grammar, 300.0),
        finished(replace(grammar, seed=2), 310.0),
        finished(replace(grammar, iterations=3), 250.0),
    ]
    found = own_rows(RRPS, runs)
    assert [one.ours and one.ours.agg_score.value for one in found] == [305.0, 250.0]
    assert "K 20" in found[0].method and found[0].how == "seeds 1, 2"


def test_a_run_that_was_made_twice_counts_once_unless_it_ended_otherwise() -> None:
    row = rows_to_run(RRPS)[0]
    config = as_published(row.method)
    twice = [finished(config, 100.0, "a"), finished(config, 100.0, "b")]
    (once,) = variant_rows(RRPS, row, twice, "gemini:x", "free")
    assert (once.ours and once.ours.seeds, once.how) == (1, "by gemini:x, seeds 0")
    otherwise = [twice[0], finished(config, 120.0, "b", "e")]
    (both,) = variant_rows(RRPS, row, otherwise, "gemini:x", "free")
    assert both.ours is not None
    assert (both.ours.agg_score.value, both.how) == (110.0, "by gemini:x, seeds 0, 0")


def test_drafts_are_counted() -> None:
    assert calls_at_most(OracleChoice("zero-shot", "gemini:x")) == 20
    assert calls_at_most(OracleChoice("linear", "gemini:x", refinements=10)) == 220
    assert calls_at_most(OracleChoice("alpha-evolve", "gemini:x", refinements=10)) == 1260


def test_returns_stand_opponent_by_opponent_beside_the_papers() -> None:
    """The paper prints those of its agents that are language models."""
    row = Row("greenberg", None, over_seeds([scores(10.0), scores(14.0)], RRPS), "a bot")
    found = {(one.method, one.whose): one for one in drawn.returns_of([row], FIELD)}
    theirs = found["LLM agent Gemma 3 27B", "paper"]
    assert theirs.mean("rockbot") and set(theirs.against) == set(drawn.opponents(FIELD))
    ours = found["greenberg", "here"]
    assert ours.mean("rockbot") == "12.0"
    # Student's interval over two seeds: 12.7 standard errors of 2 to each side.
    assert ours.told("rockbot") == "greenberg, here, against rockbot [-13, 37]"
    page = drawn.page(RRPS, FIELD, [row], {}, [])
    assert page.count("<td style=") == 5 * 43
    lines = list(csv.DictReader(drawn.returns_table([row], FIELD).splitlines()))
    assert len(lines) == 5 * 43
    assert {line["measured"] for line in lines} == {"paper", "here"}


def test_two_models_of_one_row_are_told_apart() -> None:
    published = next(row for row in methods("rrps") if row.method == "LLM agent Gemma 3 27B")
    rows = [
        Row(
            published.method,
            published,
            over_seeds([scores(mean)], RRPS),
            f"csro/{name}@1, by {name}",
        )
        for mean, name in ((10.0, "gemma3:27b"), (20.0, "gemma3:27b-it-q4"))
    ]
    lines = csv.DictReader(drawn.returns_table(rows, FIELD).splitlines())
    means = {line["how"]: line["mean"] for line in lines if line["measured"] == "here"}
    assert means == {rows[0].how: "10.0", rows[1].how: "20.0"}
    page = drawn.page(RRPS, FIELD, rows, {}, [])
    for row in rows:
        assert page.count(f"here ({row.how})") == 1 + 43 + 2  # heading, cells and a bar
    assert f"here ({rows[0].how})" not in drawn.page(RRPS, FIELD, rows[:1], {}, [])


@pytest.mark.parametrize("name", sorted(GAMES))
def test_published_returns_are_of_the_whole_population_and_mean_what_the_tables_say(
    name: str,
) -> None:
    table = {row.method: row for row in methods(name)}
    for method, returns in against(name).items():
        assert set(returns) == set(drawn.opponents(default_population(name)))
        if method in table:
            mean = sum(one.mean for one in returns.values()) / len(returns)
            assert mean == pytest.approx(table[method].pop_return.mean, abs=0.2)


def test_what_is_filled_in_is_escaped() -> None:
    hostile = Row(
        "<script>alert(1)</script>", None, over_seeds([scores(1.0)], RRPS), "a | b", "<b>"
    )
    page = drawn.page(RRPS, FIELD, [hostile], {}, [])
    assert "<script>" not in page and "<b>" not in page
    assert "a / b" in drawn.markdown([hostile])
