"""Runs of the grammar that begin at all parts of the full sentence, and have to judge them."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arena import Arena
from oracle.grammar import judging
from oracle.grammar.genome import read_source
from population.cli import main
from population.runs import Runs

SMALL = ("--iterations", "1", "--payoff-matches", "4", "--evaluation-matches", "4")
WALL = ("--sandbox", "process", "--workers", "1")


def csro(home: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--home", str(home)])


def test_a_run_begins_at_the_parts_and_says_what_it_is(tmp_path: Path) -> None:
    words = ("--game", "rrps", "--model", "grammar:parts", "--oracle", "best-of-n", "--drafts", "2")
    done = csro(tmp_path, "run", *words, *SMALL, *WALL)
    assert done.exit_code == 0, done.stderr
    runs = Runs(tmp_path)
    (record,) = runs.all()
    assert record.name == "rrps-best-of-n-grammar-parts-s0"
    assert "grammar:parts" in record.config.variant and record.config.vouched
    (iteration,) = runs.iterations(record.name)
    with Arena(tmp_path, sandbox="process") as arena:
        written = arena.versions({one.digest for one in iteration.attempts})
    assert judging.simplest() in [read_source(one.payload) for one in written.values()]


@pytest.mark.parametrize(
    "words", [("run", "--game", "leduc"), ("exploit", "house/CFR+", "--game", "leduc")]
)
def test_leduc_has_no_such_search(tmp_path: Path, words: tuple[str, ...]) -> None:
    refused = csro(tmp_path, *words, "--model", "grammar:parts", *WALL)
    assert refused.exit_code == 2, refused.output
    assert "no search from grammar:parts in leduc" in refused.stderr
    assert "grammar:plain" in refused.stderr
    assert not (tmp_path / "runs.sqlite").exists() or not Runs(tmp_path).all()
