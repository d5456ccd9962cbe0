"""Pages about CSRO runs: comparison, model calls, and runs that nobody works on any more."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from arena import Arena
from arena.figures.text import interval
from arena.home import open_home
from dashboards.liveness import Phase, ago, liveness_of, phase_of
from oracle.models.protocol import Reply, Request
from population.comparison import our_rows
from population.oracles import journal_of
from population.records import RunState
from population.report.facts import gather
from population.runs import Runs
from tests.dashboards.looking import HOSTILE, names_in, said
from tests.population.small_run import small_config

Page = Callable[..., AppTest]


def test_runs_are_listed_and_compared(page: Page, runs_home: Path) -> None:
    app = page(runs_home, "runs")
    assert not app.exception
    table = app.dataframe[0].value
    assert names_in(table["Run"], "run") == ["asked", "s3", "s2", "s1"]
    assert table["State"].tolist() == ["stopped", *["finished"] * 3]
    assert table["AggScore"].notna().all()
    app.session_state["compared_how"] = "Mean over seeds"
    app.run()
    assert not app.exception
    assert "95 %" in said(app)


def test_the_table_by_variant_is_that_of_the_command_line(page: Page, runs_home: Path) -> None:
    app = page(runs_home, "runs")
    with Arena(runs_home) as arena:
        facts = [gather(arena, Runs(runs_home), f"s{seed}") for seed in (1, 2, 3)]
    (row,) = our_rows((one.record, one.measured) for one in facts)
    shown = next(one.value for one in app.dataframe if "Seeds" in one.value)
    assert row.agg_score is not None and row.first is not None
    assert shown["Variant"].tolist() == [row.variant, f"first newcomer of {row.variant}"]
    assert shown["Seeds"].tolist() == ["1, 2, 3", str(row.first)]
    for metric in ("agg_score", "pop_return", "pop_expl"):
        both = [getattr(row, metric), getattr(row.first.ours, metric)]
        name = {"agg_score": "AggScore", "pop_return": "PopReturn", "pop_expl": "PopExpl"}[metric]
        assert shown[name].tolist() == pytest.approx([one.value for one in both])
        assert shown[f"95 % {name}"].tolist() == [interval(one) for one in both]


def test_the_list_scores_a_run_as_its_report_does(page: Page, runs_home: Path) -> None:
    app = page(runs_home, "runs")
    table = app.dataframe[0].value
    shown = dict(zip(names_in(table["Run"], "run"), table["AggScore"], strict=True))
    for name, shown_score in shown.items():
        with Arena(runs_home) as arena:
            scores = gather(arena, Runs(runs_home), name).scores
        assert scores is not None
        assert shown_score == pytest.approx(scores.agg_score.value)


def test_an_unknown_run_is_told_above_the_list(page: Page, runs_home: Path) -> None:
    app = page(runs_home, "runs", run="nope")
    assert "There is no run nope" in app.error[0].value
    assert names_in(app.dataframe[0].value["Run"], "run") == ["asked", "s3", "s2", "s1"]


def test_iterations_that_were_not_measured_are_told(
    page: Page, runs_home: Path, tmp_path: Path
) -> None:
    assert "Dashed" not in said(page(runs_home, "runs"))
    home = Path(shutil.copytree(runs_home, tmp_path / "home"))
    runs = Runs(home)
    runs.start("longer", replace(small_config(7), iterations=1))
    first = runs.iterations("s1")[0]
    runs.begin("longer", runs.get("s1").initial)
    runs.add("longer", first)
    stranger = "f" * 32
    runs.add("longer", replace(first, k=2, sigma=replace(first.sigma, weights={stranger: 1.0})))
    app = page(home, "runs")
    assert not app.exception
    assert "csro report longer --evaluate 100" in said(app)


def test_model_calls_are_shown_with_tokens_and_cost(page: Page, runs_home: Path) -> None:
    app = page(runs_home, "runs", run="asked")
    app.session_state["run_part"] = "Model calls"
    app.run()
    assert not app.exception
    (call,) = journal_of(Runs(runs_home), "asked").calls()
    tiles = {metric.label: metric.value for metric in app.metric}
    assert tiles["Tokens"] == f"{call.reply.tokens:,}"
    assert call.reply.cost
    assert tiles["Cost"] == f"{call.reply.cost:.4f} USD"
    by_iteration, every = (table.value for table in app.dataframe)
    assert by_iteration["Iteration"].tolist() == ["k01", "total"]
    assert by_iteration["Cost (USD)"].tolist() == [call.reply.cost] * 2
    assert every["Read"].tolist() == [call.reply.prompt_tokens]
    texts = [one.value.strip() for one in app.code]
    assert call.request.prompt.strip() in texts
    assert any(text.startswith(HOSTILE) for text in texts)
    assert "csro resume asked" in said(app)


def test_a_search_counts_its_calls_and_begins_anew_with_other_words(
    page: Page, runs_home: Path, tmp_path: Path
) -> None:
    home = Path(shutil.copytree(runs_home, tmp_path / "home"))
    for run, replies in (("s1", ("one apple", "two apples")), ("s2", ("a pear, an apple",))):
        journal = journal_of(Runs(home), run)
        for form, text in enumerate(replies):  # one key, asked in two forms
            request = Request("k01/a00", f"form {form}", "You play.")
            journal.store(request, "m", Reply(text, prompt_tokens=1, output_tokens=1))
    app = page(home, "runs", calls="APPLE")
    assert "3 calls" in said(app)
    box = app.selectbox(key="calls_found_apple")
    assert box.options == ["s2: k01/a00", "s1: k01/a00", "s1: k01/a00, 2"]
    box.set_value(("s1", "k01/a00", 1)).run()
    assert "two apples" in said(app) and "form 1" in said(app)
    app.text_input(key="calls_search").set_value("pear apple").run()
    assert not app.exception
    assert "1 call" in said(app).splitlines() and "a pear, an apple" in said(app)
    app.text_input(key="calls_search").set_value("nowhere-found").run()
    assert "No call of these runs" in said(app)


@pytest.mark.parametrize("part", ["Meta-strategy", "Payoffs", "Refinement", "Model calls"])
def test_every_part_of_a_run_draws(page: Page, runs_home: Path, part: str) -> None:
    app = page(runs_home, "runs", run="s2")
    app.session_state["run_part"] = part
    app.run()
    assert not app.exception
    assert not app.error


def test_iterations_say_why_their_search_ended(page: Page, runs_home: Path) -> None:
    for run, told in (("asked", ["all drafts were made"]), ("s1", [None, None])):
        app = page(runs_home, "runs", run=run, part="Refinement")
        table = next(one.value for one in app.dataframe if "The search ended" in one.value)
        assert table["The search ended"].tolist() == told
        assert len(table["The most that can be had"]) == len(told)


def test_a_run_that_nobody_works_on_says_so(page: Page, runs_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(runs_home, tmp_path / "home"))
    runs = Runs(home)
    runs.start("dead", small_config(9))
    with runs.working_on("dead"):
        app = page(home, "runs", run="dead")
        assert "Being worked on" in said(app)
    app = page(home, "runs", run="dead", live=0.001)
    assert not app.exception
    assert "not heard of since" in app.warning[0].value
    assert "csro resume dead" in app.warning[0].value


def test_a_lock_tells_who_works(tmp_path: Path) -> None:
    home = open_home(tmp_path)
    runs = Runs(home.path)
    record = runs.start("r", small_config(1))
    assert not runs.worked_on("r")
    assert liveness_of(home, record, 0, 60.0).working  # it began just now
    assert not liveness_of(home, record, 0, 0.0).working
    with runs.working_on("r"):
        assert runs.worked_on("r")
        assert liveness_of(home, record, 0, 0.0).working
        # Looking gives the lock back, and takes it from nobody.
        assert runs.worked_on("r")
    assert not runs.worked_on("r")
    with runs.working_on("r"):
        pass


def test_last_is_when_anything_was_stored_last(runs_home: Path) -> None:
    home = open_home(runs_home)
    record = Runs(home.path).get("asked")
    (call,) = journal_of(Runs(home.path), "asked").calls()
    last = liveness_of(home, record, 1, 0.0).last
    assert call.created <= last <= datetime.now(UTC)
    assert last - call.created < timedelta(minutes=5)


def test_phases_and_times_in_words() -> None:
    assert phase_of(RunState.UNFINISHED, None) is Phase.LEFT
    assert phase_of(RunState.STOPPED, None) is Phase.STOPPED
    assert phase_of(RunState.FINISHED, None) is Phase.FINISHED
    told = [ago(seconds) for seconds in (-1, 59.9, 60, 7_300, 200_000)]
    assert told == ["0 s", "59 s", "1 minute", "2 hours", "2 days"]


def test_every_score_in_the_list_of_runs_has_its_interval_beside_it(
    page: Page, runs_home: Path
) -> None:
    table = page(runs_home, "runs", "rrps").dataframe[0].value
    columns = table.columns.tolist()
    for score in ("AggScore", "PopReturn", "PopExpl"):
        intervals = table[f"{score} 95 %"]
        assert columns[columns.index(score) + 1] == f"{score} 95 %"
        assert [bool(told) for told in intervals] == [value == value for value in table[score]]


def test_which_runs_are_compared_is_in_the_address(page: Page, runs_home: Path) -> None:
    app = page(runs_home, "runs", "rrps", compared="s1", lines="Mean over seeds")
    assert app.multiselect[0].value == ["s1"]
    app.multiselect[0].set_value(["s1", "s2"]).run()
    assert app.query_params["compared"] == ["s1", "s2"]
    assert app.query_params["lines"] == "Mean over seeds"
    app = page(runs_home, "runs", "rrps", compared="nobody")
    assert "There is no run nobody here" in said(app) and not app.exception


def test_the_opponents_of_a_run_are_links_with_intervals(page: Page, runs_home: Path) -> None:
    app = page(runs_home, "runs", "rrps", run="s1", part="Against the population")
    table = next(one.value for one in app.dataframe if "Opponent" in one.value)
    assert "house/greenberg@1" in names_in(table["Opponent"])
    assert all(told.startswith("[") for told in table["95 %"])
