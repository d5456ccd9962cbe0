"""The report and the table: what they show, and that nothing a program says gets into the page."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from arena import Arena, game
from arena.analysis.metrics import evaluate
from arena.analysis.stakes import stakes_of
from arena.analysis.stationary import Ceiling
from arena.house.population import default_population
from arena.payoffs import PayoffTable
from oracle.end import End, Ended
from oracle.models.options import Asking
from population import paper
from population.cli import main
from population.comparison import title_of
from population.config import OracleChoice, RunConfig
from population.measuring import Measuring
from population.records import Sigma
from population.report.facts import gather
from population.report.page import page
from population.report.tables import write_tables
from population.runs import Runs
from population.scores import Measured, to_measure
from tests.arena.simulated_returns import Played, pair_stats
from tests.population.scripted_oracles import program
from tests.population.small_run import ITERATIONS


class Elements(HTMLParser):
    """Collects what a browser would see as elements."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(html: str) -> Elements:
    elements = Elements()
    elements.feed(html)
    return elements


def test_page_escapes_what_programs_say(measured: Arena) -> None:
    html = page(gather(measured, Runs(measured.home.path), "s1"))
    elements = parsed(html)
    tags = {tag for tag, _ in elements.found}
    assert not tags & {"script", "b", "iframe", "link", "object"}
    pictures = [attrs["src"] or "" for tag, attrs in elements.found if tag == "img"]
    assert all(source.startswith("data:image/png;base64,") for source in pictures)
    assert not [name for _, attrs in elements.found for name in attrs if name.startswith("on")]
    # It is shown all the same, as text.
    assert "<b onmouseover=alert(1)>" in elements.text
    assert "<script>alert(1)</script>" in elements.text


def test_page_needs_nothing_else(measured: Arena) -> None:
    html = page(gather(measured, Runs(measured.home.path), "s1"))
    assert not re.findall(r"(?:src\s*=(?!\"data:image/png)|href\s*=)|url\(|@import|https?://", html)
    assert "default-src 'none'" in html and "script-src" not in html


def test_page_tells_every_iteration_policy_and_bot(measured: Arena) -> None:
    facts = gather(measured, Runs(measured.home.path), "s1")
    text = parsed(page(facts)).text
    for member in facts.members:
        assert member.ref in text
        assert member.source.splitlines()[-1].strip() in text
    assert len(facts.steps) == ITERATIONS
    assert "1 faulty, 1 not-a-policy" in text
    assert facts.scores is not None
    assert len(facts.scores.against) == 43
    for bot in ("greenberg", "rockbot"):
        assert bot in text
    assert "155.2" in text  # the paper's best agent stands beside ours


def test_unmeasured_run_says_what_to_do(measured: Arena) -> None:
    text = parsed(page(gather(measured, Runs(measured.home.path), "s2"))).text
    assert "csro report s2 --evaluate 100" in text


def test_scores_of_a_single_member_are_the_arenas(measured: Arena) -> None:
    facts = gather(measured, Runs(measured.home.path), "s1")
    population = default_population("rrps")
    digest = next(iter(to_measure([step.iteration.sigma for step in facts.steps], 4)))
    ours = facts.measured.single(digest)
    table = measured.payoffs("rrps", [*facts.measured.digests, *population.digests])
    theirs = evaluate(table, digest, population.digests, stakes_of(game("rrps")))
    assert ours is not None
    assert theirs.pop_return is not None
    assert theirs.pop_expl is not None
    assert theirs.agg_score is not None
    assert ours.pop_return.value == pytest.approx(theirs.pop_return.value)
    assert ours.pop_return.stderr == pytest.approx(theirs.pop_return.stderr)
    assert ours.pop_expl.value == pytest.approx(theirs.pop_expl.value)
    assert ours.agg_score.value == pytest.approx(theirs.agg_score.value)


def test_scores_of_a_mixture_mix_returns(measured: Arena) -> None:
    known = gather(measured, Runs(measured.home.path), "s1").measured
    first, second = [d for d in known.digests if known.single(d)][:2]
    one, other = known.single(first), known.single(second)
    mixed = known.of({first: 0.25, second: 0.75})
    assert one and other and mixed
    returns = [np.array([bot.value for bot in found.against]) for found in (one, other, mixed)]
    assert np.allclose(returns[2], 0.25 * returns[0] + 0.75 * returns[1])
    assert all(bot.low < bot.value < bot.high or bot.stderr == 0.0 for bot in mixed.against)
    assert mixed.agg_score.value == pytest.approx(returns[2].mean() + returns[2].min())


def test_matches_are_shared_by_weight() -> None:
    sigmas = [
        Sigma({"a": 1.0, "b": 0.0}, 0.0, "nash"),
        Sigma({"a": 0.25, "b": 0.74, "c": 0.01}, 0.0, "nash"),
    ]
    assert to_measure(sigmas[1:], 100) == {"a": 26, "b": 74, "c": 4}
    assert to_measure(sigmas, 100) == {"a": 100, "b": 74, "c": 4}


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=6), st.integers(2, 200))
def test_shared_matches_are_worth_what_was_asked(weights: list[float], count: int) -> None:
    """Errors are at most those of so many matches of one policy."""
    names = "abcdef"[: len(weights)]
    whole = sum(weights)
    mix = {name: weight / whole for name, weight in zip(names, weights, strict=True)}
    wanted = to_measure([Sigma(mix, 0.0, "nash")], count)
    draws = [
        Played(name, bot, deal // 2, 0.0)
        for name in names
        for bot in "xyz"
        for deal in range(wanted[name])
    ]
    table = PayoffTable.from_pair_stats(pair_stats(draws), (*names, *"xyz"))
    scores = Measured("p", ("x", "y", "z"), tuple("xyz"), tuple(names), table).of(mix)
    assert scores is not None
    assert scores.matches >= count


def test_csv_files_hold_the_run(measured: Arena, tmp_path: Path) -> None:
    facts = gather(measured, Runs(measured.home.path), "s1")
    write_tables(facts, tmp_path)
    with open(tmp_path / "attempts.csv", newline="") as file:
        attempts = list(csv.DictReader(file))
    assert len(attempts) == sum(len(step.iteration.attempts) for step in facts.steps)
    assert all((row["u"] == "") == (row["rejected"] != "") for row in attempts)
    with open(tmp_path / "iterations.csv", newline="") as file:
        _, *rows = csv.DictReader(file)  # after that of the initial policy
    assert [float(row["u"]) for row in rows] == [step.iteration.u for step in facts.steps]
    assert all(float(row["u_low"]) <= float(row["u"]) <= float(row["u_high"]) for row in rows)
    assert {row["u_forfeited"] for row in rows} == {"0"}


def invoke(arena: Arena, *arguments: str) -> tuple[int, str, str]:
    wide = CliRunner(env={"COLUMNS": "200"})  # no cell of a table is broken into lines
    result = wide.invoke(main, [*arguments, "--home", str(arena.home.path)])
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("command", [("report", "s1"), ("table", "leduc")])
def test_steps_are_played_with_the_others_only(measured: Arena, command: tuple[str, ...]) -> None:
    code, _, err = invoke(measured, *command, "--steps", "3")
    assert code == 2
    assert "without --evaluate, --steps would do nothing" in err


def test_the_whole_stands_beside_what_its_parts_reach(measured: Arena, tmp_path: Path) -> None:
    facts = gather(measured, Runs(measured.home.path), "s1")
    names = [name for name, _ in facts.results]
    assert names[:2] == ["meta-strategy", "first newcomer (k01)"]
    assert names[2].startswith("best single policy (")
    assert names[2].endswith(", by the lower end of its interval)")
    page = tmp_path / "page.html"
    code, out, _ = invoke(measured, "report", "s1", "--html", str(page))
    assert code == 0
    for name in names:
        assert name in out and name in page.read_text()


def test_table_shows_the_papers_rows_and_ours(measured: Arena) -> None:
    code, out, _ = invoke(measured, "table", "rrps", "--json")
    assert code == 0
    document = json.loads(out)
    rows = {row["method"]: row for row in document["paper"]}
    assert rows["PSRO-IMPALA"]["agg_score"] == {"mean": -532.1, "error": 41.5}
    assert rows["CSRO LinearRefinement (code; top 5)"]["best"] == 141.3
    assert rows["LLM agent Chinchilla 70B"]["source"] == "lanctot2023"
    (ours,) = document["ours"]
    assert ours["seeds"] == [1]
    assert ours["not_measured"] == ["s2"]
    facts = gather(measured, Runs(measured.home.path), "s1")
    assert facts.scores is not None
    assert ours["agg_score"]["mean"] == pytest.approx(facts.scores.agg_score.value)
    assert facts.first is not None
    first, alone = ours["first_newcomer"], facts.first[1].agg_score
    assert (first["programs"], first["runs"]) == (1, 1)
    assert first["agg_score"] == {"mean": alone.value, "low": alone.low, "high": alone.high}
    code, out, _ = invoke(measured, "table", "rrps")
    assert "its first newcomer" in out and "1 distinct program in 1 run" in " ".join(out.split())
    assert "122.1 ± 9.8" in out
    assert "best-of-n" in out


def test_every_row_of_the_papers_tables_adds_up() -> None:
    rows = [*paper.methods("rrps"), *paper.methods("leduc"), *paper.variants("rrps")]
    assert len(rows) == 9 + 5 + 14
    for row in rows:
        difference = row.pop_return.mean - row.pop_expl.mean
        assert row.agg_score.mean == pytest.approx(difference, abs=0.25), row.method
    assert dict(paper.reference_lines("leduc")) == {
        "paper: CSRO AlphaEvolve": 44.9,
        "paper: CFR+": 39.8,
    }
    assert len(paper.reference_lines("rrps")) == 3  # a bot as well
    for named in ("rrps", "leduc"):
        rows = {f"paper: {row.method}": row for row in paper.methods(named)}
        scores = paper.reference_lines(named)
        returns = paper.reference_lines(named, "pop_return")
        assert [name for name, _ in returns] == [name for name, _ in scores[:2]]
        assert all(value == rows[name].pop_return.mean for name, value in returns)


def test_what_stands_in_both_tables_of_the_paper_is_printed_once() -> None:
    rows = paper.published_rows("rrps")
    figures = {(row.pop_return, row.pop_expl, row.agg_score) for row in rows}
    assert len(figures) == len(rows) == 9 + 14 - 4
    (best,) = [row.best for row in rows if row.method == "CSRO LinearRefinement (code; top 5)"]
    assert best == 141.3
    assert len(paper.published_rows("leduc")) == 5
    assert paper.published_rows("kuhn") == ()


def test_reading_commands(measured: Arena, tmp_path: Path) -> None:
    html = tmp_path / "deep" / "report.html"
    code, out, _ = invoke(measured, "report", "s1", "--json", "--html", str(html))
    assert code == 0
    document = json.loads(out)
    assert document["files"] == [str(html)]
    assert html.read_text().startswith("<!doctype html>")
    assert [one["k"] for one in document["iterations_told"]] == [1, 2]
    assert document["usage"] == {"calls": 0, "tokens": 0, "cost_usd": 0.0}
    code, out, _ = invoke(measured, "list", "--json")
    assert [run["run"] for run in json.loads(out)["runs"]][:2] == ["s1", "s2"]
    for arguments in (("report", "s1"), ("list",), ("list", "--game", "leduc")):
        assert invoke(measured, *arguments)[0] == 0


def test_a_place_that_cannot_be_written_is_told_before_anything_is_played(
    measured: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken, csv_too = tmp_path / "taken", ("--csv", str(tmp_path / "tables"))
    taken.touch()
    (tmp_path / "full" / "members.csv").mkdir(parents=True)
    for words in (("--html", str(taken / "a.html"), *csv_too), ("--csv", str(taken / "a" / "b"))):
        with monkeypatch.context() as patched:
            patched.setattr("population.cli.reading.evaluate_runs", pytest.fail)
            code, _, told = invoke(measured, "report", "s1", *words, "--evaluate", "2")
        assert code == 2 and f"the folder {taken}" in told and "name another place" in told
    for option, path in (("--html", tmp_path / f"{'x' * 300}.html"), ("--csv", tmp_path / "full")):
        code, _, told = invoke(measured, "report", "s1", option, str(path))
        assert code == 2 and f"error: {path}" in told and "cannot be written (" in told


def test_unknown_run_is_a_usage_error(measured: Arena) -> None:
    code, _, err = invoke(measured, "report", "nobody")
    assert code == 2
    assert "there is no run 'nobody'" in err


def test_prompt_is_printed_and_nothing_is_sent(measured: Arena) -> None:
    options = ("--game", "leduc", "--model", "gemini", "--opponents", "code")
    code, out, err = invoke(measured, "prompt", *options)
    assert code == 0
    assert "RepeatedLeducPokerBot" in out
    assert "nothing was sent" in err
    dry = ("run", *options, "--dry-run", "--json")
    code, out, _ = invoke(measured, *dry)
    assert code == 0
    assert "RepeatedLeducPokerBot" in json.loads(out)["prompt"]
    code, _, err = invoke(measured, "prompt", *options, "--filter", "top-k:none")
    assert code == 2


def test_run_and_resume_with_a_transcript(measured: Arena, tmp_path: Path) -> None:
    import random

    replies = tmp_path / "replies.jsonl"
    rng = random.Random(4)
    lines = [json.dumps({"text": f"```python\n{program(rng)}```"}) for _ in range(2)]
    replies.write_text("\n".join(lines[:1]))
    options = ["run", "--game", "rrps", "--oracle", "zero-shot", "--name", "replayed"]
    options += ["--model", f"recorded:{replies}", "--iterations", "2", "--sandbox", "process"]
    options += ["--payoff-matches", "4", "--evaluation-matches", "8", "--workers", "1", "--json"]
    code, out, err = invoke(measured, *options)
    assert code == 1
    assert json.loads(out)["error"]["kind"] == "TranscriptExhausted"
    code, out, _ = invoke(measured, "list", "--json")
    stopped = next(run for run in json.loads(out)["runs"] if run["run"] == "replayed")
    assert (stopped["state"], stopped["done"]) == ("stopped", 1)
    replies.write_text("\n".join(lines))
    code, out, err = invoke(
        measured, "resume", "replayed", "--sandbox", "process", "--workers", "1", "--json"
    )
    assert code == 0, err
    document = json.loads(out)
    assert [member["label"] for member in document["members"]] == ["initial", "k01", "k02"]
    assert sum(document["sigma"].values()) == pytest.approx(1.0)
    assert measured.policy(document["ref"], "rrps").kind == "mixture"
    _, out, _ = invoke(measured, "report", "replayed", "--json")
    ends = [one["ended"]["reasons"] for one in json.loads(out)["iterations_told"]]
    assert ends == [["made"], ["made"]]
    _, out, _ = invoke(measured, "report", "replayed")
    assert "the search ended" in out and "all drafts" in out


def test_a_report_says_why_a_search_ended_and_what_could_be_had(
    measured: Arena, tmp_path: Path
) -> None:
    facts = gather(measured, Runs(measured.home.path), "s1")
    end = End((Ended.REACHED,), Ceiling(146.25, 0.0, exact=True, decisions=0))
    first, *others = facts.steps
    first = replace(first, iteration=replace(first.iteration, end=end))
    facts = replace(facts, steps=(first, *others))
    text = parsed(page(facts)).text
    assert "the most was reached; at most +146.2 (exact)" in text
    assert "against the meta-strategy of the iteration's beginning" in text
    write_tables(facts, tmp_path)
    with open(tmp_path / "iterations.csv", newline="") as file:
        _, *rows = csv.DictReader(file)  # after that of the initial policy
    names = ("ended", "most", "most_stderr", "most_exact")
    assert [rows[0][name] for name in names] == ["reached", "146.25", "0.0", "1"]
    assert [rows[1][name] for name in names] == [""] * 4  # of an oracle that does not say


@pytest.mark.parametrize(
    ("changes", "together"),
    [
        ({"seed": 7}, True),
        ({"iterations": 9}, False),
        ({"oracle": OracleChoice("linear", "gemini:m", refinements=3)}, False),
        ({"oracle": OracleChoice("linear", "gemini:m", drafts=3)}, True),
        ({"oracle": OracleChoice("linear", "gemini:m", opponents="none")}, False),
        ({"oracle": OracleChoice("linear", "gemini:m", asking=Asking(temperature=0.1))}, False),
        ({"oracle": OracleChoice("linear", "gemini:m", asking=Asking(parallel=9))}, True),
        ({"matches": Measuring(8, 25)}, False),
        ({"solver": "lp"}, False),
        ({"initial": "me/first"}, False),
    ],
)
def test_runs_are_pooled_where_they_differ_in_nothing_but_their_seed(changes, together):
    config = RunConfig("rrps", OracleChoice("linear", "gemini:m"))
    other = replace(config, **changes)
    assert (config.pool == other.pool) is together
    assert (title_of(config) == title_of(other)) is (together or "iterations" in changes)


def test_what_does_nothing_for_the_grammar_pools_its_runs():
    config = RunConfig("rrps", OracleChoice("best-of-n", "grammar"))
    other = OracleChoice("best-of-n", "grammar", "none", "all", refinements=2)
    assert config.pool == replace(config, oracle=other).pool
    assert config.pool != replace(config, oracle=replace(other, drafts=2)).pool


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--oracle", "zero-shot", "--refinements", "3"), "--refinements"),
        (("--oracle", "linear", "--drafts", "3"), "--drafts"),
        (("--filter", "all", "--temperature", "1"), "--temperature"),
    ],
)
def test_options_that_would_do_nothing_are_refused(finished, words, told):
    code, _, err = invoke(finished, "run", "--game", "rrps", "--model", "grammar", *words)
    assert code == 2
    assert told in err and "would do nothing" in err
