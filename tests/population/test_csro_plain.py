"""Runs of the grammar that start from little: how they are asked for, named and told apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arena import Arena
from oracle.grammar.genome import MARK, read_source
from oracle.grammar.leduc import LeducGenome
from population.cli import main
from population.config import OracleChoice, RunConfig
from population.runs import Runs

SMALL = ("--iterations", "2", "--payoff-matches", "4", "--evaluation-matches", "4")
WALL = ("--sandbox", "process", "--workers", "1")


def csro(home: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--home", str(home)])


def test_a_plain_run_starts_from_one_part_and_says_what_it_is(tmp_path: Path) -> None:
    words = ("--game", "leduc", "--model", "grammar:plain", "--oracle", "zero-shot")
    done = csro(tmp_path, "run", *words, *SMALL, *WALL)
    assert done.exit_code == 0, done.stderr
    (record,) = Runs(tmp_path).all()
    assert record.name == "leduc-zero-shot-grammar-plain-s0"
    assert "grammar:plain" in record.config.variant
    with Arena(tmp_path, sandbox="process") as arena:
        written = [
            version.payload for version in arena.policies("leduc") if MARK in version.payload
        ]
    sizes = []
    for source in written:
        genome = read_source(source)
        assert isinstance(genome, LeducGenome)
        sizes.append(len(genome.styles) - 1)
    assert sorted(sizes)[0] == 1 and len(sizes) == 2


def test_where_a_search_starts_is_part_of_what_a_run_is() -> None:
    plain = RunConfig("rrps", OracleChoice("linear", "grammar:plain"))
    full = replace(plain, oracle=OracleChoice("linear", "grammar"))
    assert plain.pool != full.pool and plain.variant != full.variant
    assert plain.vouched and not plain.oracle.writes_with_a_model


@pytest.mark.parametrize("model", ["grammar:", "grammar:plane", "grammar:plain:plain"])
def test_another_start_is_refused(tmp_path: Path, model: str) -> None:
    refused = csro(tmp_path, "run", "--game", "rrps", "--model", model, *WALL)
    assert refused.exit_code == 2
    assert model in refused.stderr and "recorded:FILE" in refused.stderr


def test_plain_options_that_would_do_nothing_are_refused(tmp_path: Path) -> None:
    words = ("--game", "rrps", "--model", "grammar:plain", "--filter", "all")
    refused = csro(tmp_path, "run", *words)
    assert refused.exit_code == 2 and "would do nothing" in refused.stderr
