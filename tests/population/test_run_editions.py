"""A run keeps which grammar or prompts it began with, and is told apart from others by it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from oracle.prompts import edition as prompts_of_now
from population.cli import main
from population.comparison import our_rows
from population.config import CUSTOM, OracleChoice, RunConfig
from population.edition import dated, edition_of, told_apart
from population.errors import RunExists
from population.evolution import variants
from population.reproduction import choice_of, fills, own_rows, rows_to_run, run_of, variant_rows
from population.runs import Runs
from tests.population.test_reproduction import RRPS, finished

BY_GRAMMAR = RunConfig("rrps", OracleChoice("linear", "grammar"), 2, 1)
BY_MODEL = RunConfig("rrps", OracleChoice("linear", "gemini:x"), 2, 1)
CONFIGS = {"grammar": BY_GRAMMAR, "prompts": BY_MODEL}


def three(config: RunConfig) -> list[RunConfig]:
    """The same run by what writes now, by what wrote before, and by what nobody recorded."""
    kind = edition_of(config).partition(" ")[0]
    return [dated(config), replace(config, edition=f"{kind} 0ld"), config]


def run_of_each(config: RunConfig) -> list[Any]:
    found = []
    for number, one in enumerate(three(config)):
        record, known = finished(one, 10.0 * number, f"r{number}")
        known.digests = ()
        found.append((record, known))
    return found


def test_a_run_keeps_what_wrote_its_programs(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    kept = {name: runs.start(name, config).config for name, config in CONFIGS.items()}
    assert kept["prompts"].edition == f"prompts {prompts_of_now()}"
    assert kept["grammar"].edition == edition_of(BY_GRAMMAR) != ""
    for name, config in kept.items():
        assert runs.get(name).config == config == dated(CONFIGS[name])
        assert config.described()[name.capitalize()] == config.edition.split()[1]
    assert edition_of(replace(BY_GRAMMAR, game="leduc")) != kept["grammar"].edition
    own = runs.start("own", RunConfig("rrps", OracleChoice("mine", CUSTOM))).config
    assert own.edition == "" == told_apart(own)
    assert {"Grammar", "Prompts"}.isdisjoint(own.described())


def test_runs_of_before_have_none_and_stay_together() -> None:
    document = BY_GRAMMAR.to_document()
    assert "edition" not in document  # as they were stored
    before = RunConfig.from_document(document)
    assert before == BY_GRAMMAR and before.pool == replace(before, seed=7).pool
    assert before.described()["Grammar"] == "not recorded"
    later = RunConfig.from_document(dated(BY_GRAMMAR).to_document())
    assert later == dated(BY_GRAMMAR) and later.pool != before.pool


@pytest.mark.parametrize("kind", CONFIGS)
def test_tables_tell_editions_apart_and_drop_none(kind: str) -> None:
    found = run_of_each(CONFIGS[kind])
    rows = {row.runs: row for row in our_rows(found)}
    assert {runs: row.seeds for runs, row in rows.items()} == {
        (name,): (1,) for name in ("r0", "r1", "r2")
    }
    said = [rows[name,].variant for name in ("r0", "r1", "r2")]
    assert "earlier" not in said[0] and "unrecorded" not in said[0]
    assert f"earlier {kind} (0ld)" in said[1] and f"unrecorded {kind}" in said[2]
    assert len(set(said)) == 3 and rows["r1",].edition == f"{kind} 0ld"
    drawn = variants(record for record, _ in found)
    assert [[one.name for one in group] for group in drawn.values()] == [["r0"], ["r1"], ["r2"]]
    assert len(own_rows(RRPS, found)) == 3


def test_a_row_of_the_paper_says_which_prompts_filled_it() -> None:
    row = rows_to_run(RRPS)[0]
    choice = choice_of(row.method, "gemini:x")
    assert choice is not None
    found = run_of_each(run_of(RRPS, choice, 1))
    assert all(fills(record.config, row.method) for record, _ in found)
    filled = variant_rows(RRPS, row, found, "gemini:x", "free")
    assert [one.how for one in filled] == [
        "by gemini:x, of earlier prompts (0ld), seeds 1",
        "by gemini:x, of unrecorded prompts, seeds 1",
        "by gemini:x, seeds 1",
    ]


def test_one_seed_with_two_ends_counts_twice_and_with_one_end_once() -> None:
    config = dated(BY_MODEL)
    for digests, seeds in ((("d", "d"), (1,)), (("d", "e"), (1, 1))):
        both = [finished(config, 10.0, f"r{n}", one) for n, one in enumerate(digests)]
        for _, known in both:
            known.digests = ()
        (row,) = our_rows(both)
        assert row.seeds == seeds
        (group,) = variants(record for record, _ in both).values()
        assert len(group) == len(seeds)


def test_going_on_keeps_what_a_run_began_with(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    before = runs.start("r", replace(BY_GRAMMAR, edition="grammar 0ld"))
    assert runs.start("r", BY_GRAMMAR) == before
    with pytest.raises(RunExists) as refused:
        runs.start("r", replace(BY_GRAMMAR, seed=2))
    assert "seed is 1 there, 2 here" in str(refused.value) and "edition" not in str(refused.value)


def test_a_run_tells_how_top_k_is_filled(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    config = runs.start("r", BY_MODEL).config
    assert config.oracle.shown == "top-k:5" and config.variant == BY_MODEL.variant
    assert config.described()["Opponents shown"] == "top-k:5, filled with the newest"
    # It may have begun when nothing was filled.
    assert BY_MODEL.described()["Opponents shown"] == "top-k:5"
    whole = replace(config, oracle=replace(config.oracle, shown="min-support:0.1"))
    assert whole.described()["Opponents shown"] == "min-support:0.1"


def test_it_says_that_a_search_ends_early_only_where_it_may() -> None:
    may = "where no more can be won"
    linear = replace(BY_MODEL, oracle=replace(BY_MODEL.oracle, name="linear"))
    assert linear.described()["Ends early"] == may
    assert replace(linear, hidden_share=0.5).described()["Ends early"] == "never"
    evolved = replace(BY_MODEL, oracle=replace(BY_MODEL.oracle, name="alpha-evolve"))
    assert replace(evolved, hidden_share=0.5).described()["Ends early"] == may
    for name in ("zero-shot", "best-of-n"):
        one = replace(BY_MODEL, oracle=replace(BY_MODEL.oracle, name=name))
        assert "Ends early" not in one.described()


def csro(home: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--home", str(home)])


def test_a_resumed_run_says_what_goes_on_with_it(home: Path) -> None:
    words = ("--oracle", "zero-shot", "--model", "grammar", "--iterations", "1", "--name", "r")
    few = ("--payoff-matches", "4", "--evaluation-matches", "4")
    runs = Runs(home)
    command = ("run", "--game", "rrps", *words, *few, "--sandbox", "process", "--workers", "1")
    begun = OracleChoice("zero-shot", "grammar")
    config = RunConfig(
        "rrps", begun, 1, matches=replace(BY_GRAMMAR.matches, payoff=4, evaluation=4)
    )
    runs.start("r", replace(config, edition="grammar 0ld"))
    done = csro(home, *command)
    assert done.exit_code == 0, done.stderr
    assert "r began as one of an earlier grammar (0ld), and stays so" in done.stderr
    assert runs.get("r").config.edition == "grammar 0ld"
    again = csro(home, *command)
    assert "r is of an earlier grammar (0ld); for one of now" in again.stderr
    told = json.loads(csro(home, "report", "r", "--json", "--html", str(home / "r.html")).stdout)
    assert told["edition"] == "grammar 0ld" and told["configuration"]["Grammar"] == "0ld"
    assert "<td>Grammar</td><td>0ld</td>" in (home / "r.html").read_text(encoding="utf-8")
    assert "grammar: 0ld" in csro(home, "report", "r").stdout
    table = json.loads(csro(home, "table", "rrps", "--json").stdout)
    assert [(one["edition"], one["not_measured"]) for one in table["ours"]] == [
        ("grammar 0ld", ["r"])
    ]
