"""The command that fills the paper's tables, on real homes and with a real server."""

from __future__ import annotations

import csv
import json
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import CliRunner, Result

from arena import Arena, game
from oracle.models.options import Asking
from oracle.models.protocol import Reply, Request
from population.cli import main
from population.cli.running import run
from population.commands import command_of
from population.config import CUSTOM, OracleChoice, RunConfig
from population.edition import dated
from population.measuring import Measuring, measuring_for
from population.members import settled
from population.oracles import journal_of
from population.reproduction import choice_of, run_of
from population.runs import Runs
from population.training import trained_choice
from tests.oracle.llm_server import LLMServer

MODEL = "openai:local"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LLMServer]:
    """What answers for MODEL, never with a program."""
    with LLMServer(lambda prompt: "I would rather not.") as server:
        server.count = lambda text: len(text) // 3
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


def _calls(runs: Runs) -> int:
    return sum(len(journal_of(runs, one.name).calls()) for one in runs.all())


def reproduce(home: Path, name: str, *words: str) -> Result:
    tail = ("--workers", "1", "--home", str(home), "--out", str(home.parent / "tables"))
    return CliRunner().invoke(main, ["reproduce", name, *words, *tail])


@pytest.fixture
def reproduced(house: Path, made_once: Callable[..., Path]) -> Path:
    """A home in which the grammar's run of Leduc was played, with its tables and the answer."""

    def make(path: Path) -> None:
        home = shutil.copytree(house, path / "home")
        done = reproduce(home, "leduc", "--quick", "--json")
        assert done.exit_code == 0, done.stderr
        (path / "answer.json").write_text(done.stdout)

    return made_once("reproduced", make) / "home"


def answer_in(text: str) -> dict[str, Any]:
    """What the command said, wherever it wrote its files."""
    told = cast(dict[str, Any], json.loads(text))
    return {**told, "files": [Path(one).name for one in told["files"]]}


def test_the_command_fills_a_table_and_plays_nothing_twice(reproduced: Path) -> None:
    out = reproduced.parent / "tables"
    told = answer_in((reproduced.parent / "answer.json").read_text())
    rows = {row["method"]: row for row in told["rows"]}
    assert rows["CFR+"]["ours"]["pop_expl"]["value"] == pytest.approx(0.0, abs=40.0)
    assert rows["CFR+"]["paper"]["agg_score"] == {"mean": 39.8, "error": 0.3}
    assert rows["CSRO AlphaEvolve"]["ours"] is None
    grammar, first = [row for name, row in rows.items() if "grammar" in name]
    assert grammar["paper"] is None and grammar["ours"] is not None
    assert first["method"] == f"{grammar['method']}: its first newcomer"
    assert first["ours"] is not None and first["how"] == "seeds 1; 1 distinct program in 1 run"
    with (out / "tables.csv").open() as file:
        assert [line["method"] for line in csv.DictReader(file)] == list(rows)
    with (out / "returns.csv").open() as file:
        returns = [line for line in csv.DictReader(file) if line["measured"] == "here"]
    assert [(line["method"], line["opponent"]) for line in returns][:3] == [
        ("CFR+", "AlwaysCall"),
        ("CFR+", "AlwaysFold"),
        ("CFR+", "CFR+"),
    ]
    with (out / "evolution.csv").open() as file:
        lines = [(line["metric"], line["iteration"]) for line in csv.DictReader(file)]
    assert lines == [(metric, "1") for metric in ("AggScore", "PopReturn", "PopExpl")]
    page = (out / "index.html").read_text()
    assert "Content-Security-Policy" in page and "AggScore over iterations" in page
    assert (out / "leduc-linear-grammar-s1.html").is_file()
    assert sorted(told["files"]) == sorted(file.name for file in out.iterdir())
    again = reproduce(reproduced, "leduc", "--quick", "--json")
    assert answer_in(again.stdout) == told
    assert "matches played behind" not in again.stderr


def test_tables_without_runs_start_none(home: Path) -> None:
    done = reproduce(home, "leduc", "--quick", "--no-runs", "--json")
    assert done.exit_code == 0, done.stderr
    rows = {row["method"]: row for row in json.loads(done.stdout)["rows"]}
    assert rows["CFR+"]["ours"] is not None
    assert not [name for name in rows if "grammar" in name]
    assert not Runs(home).all()
    both = reproduce(home, "leduc", "--no-runs", "--model", MODEL)
    assert both.exit_code == 2 and "give one of them" in both.stderr


def test_a_game_without_tables_is_refused(home: Path) -> None:
    done = reproduce(home, "kuhn")
    assert done.exit_code == 2
    assert "nobody published" in done.stderr


def test_limits_hold_for_all_runs_together_and_the_tables_are_written_all_the_same(
    server: LLMServer, reproduced: Path
) -> None:
    # Another run of these tables spent two of the three calls.
    zero_shot = choice_of("CSRO ZeroShot", MODEL)
    assert zero_shot is not None
    runs = Runs(reproduced)
    runs.start("before", run_of(game("leduc"), zero_shot, 1, iterations=1))
    for number in range(2):
        journal_of(runs, "before").store(Request(f"k01/a{number:02}", "?"), MODEL, Reply("no"))
    words = ("--quick", "--model", MODEL, "--price", "0/0", "--max-calls", "3")
    stopped = reproduce(reproduced, "leduc", *words)
    assert stopped.exit_code == 1
    assert "spent on the other runs of these tables: 2 calls" in stopped.stderr
    assert "the limit of 3 calls is reached" in stopped.stderr  # as it was given
    assert _calls(runs) == 3
    with (reproduced.parent / "tables" / "tables.csv").open() as file:
        rows = {line["method"]: line for line in csv.DictReader(file)}
    assert rows["CFR+"]["seeds"] == "1"  # what was played has its figures
    again = reproduce(reproduced, "leduc", *words)
    assert again.exit_code == 1
    assert _calls(runs) == 3


def test_a_call_of_unknown_price_elsewhere_ends_what_has_a_limit_on_cost(
    server: LLMServer, reproduced: Path
) -> None:
    zero_shot = choice_of("CSRO ZeroShot", MODEL)
    assert zero_shot is not None
    runs = Runs(reproduced)
    runs.start("before", run_of(game("leduc"), zero_shot, 1, iterations=1))
    journal_of(runs, "before").store(Request("k01/a00", "?"), MODEL, Reply("no"))
    stopped = reproduce(
        reproduced, "leduc", "--quick", "--model", MODEL, "--price", "1/1", "--max-cost", "9"
    )
    assert stopped.exit_code == 1
    assert "the limit on cost cannot be kept" in stopped.stderr and not server.charged


def test_what_is_finished_is_told_behind_a_stop_and_needs_no_server(
    server: LLMServer, reproduced: Path
) -> None:
    # The last of the paper's variants is finished already, under a name that somebody gave it.
    words = ("--game", "leduc", "--model", MODEL, "--oracle", "zero-shot", "--iterations", "1")
    tail = ("--seed", "1", "--name", "shot", "--price", "0/0", "--home", str(reproduced))
    done = CliRunner().invoke(main, ["run", *words, *tail])
    assert done.exit_code == 0, done.stderr
    runs = Runs(reproduced)
    model = ("--quick", "--model", MODEL, "--price", "0/0")
    stopped = reproduce(reproduced, "leduc", *model, "--max-calls", str(_calls(runs) + 1))
    assert stopped.exit_code == 1 and "limit of" in stopped.stderr
    assert (reproduced.parent / "tables" / "shot.html").is_file()
    # The variant behind the stop, which was never begun, has no empty record.
    assert {one.config.oracle.name for one in runs.all()} == {"zero-shot", "linear", "alpha-evolve"}
    assert [
        one.config.oracle.model for one in runs.all() if one.config.oracle.name == "linear"
    ] == ["grammar"]
    all_of_it = reproduce(reproduced, "leduc", *model, "--json")
    assert all_of_it.exit_code == 0, all_of_it.stderr
    server.closing.set()
    server.shutdown()
    without = reproduce(reproduced, "leduc", *model, "--json")
    assert without.exit_code == 0, without.stderr
    assert json.loads(without.stdout) == json.loads(all_of_it.stdout)


@pytest.mark.parametrize(
    "config",
    [
        RunConfig("rrps", OracleChoice("linear", MODEL, "description", "all", 3), 2, 7),
        RunConfig(
            "leduc",
            OracleChoice("best-of-n", MODEL, drafts=3, asking=Asking(0.5, 900, "low")),
            solver="uniform",
            initial="starter/leduc",
            matches=Measuring(6, 10),
            hidden_share=0.25,
        ),
    ],
    ids=["usual", "all told"],
)
def test_the_command_of_a_run_starts_the_same_run(
    server: LLMServer, home: Path, config: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("population.hidden.CREDULOUS", 1)  # each plays a trial
    wanted = replace(config, matches=measuring_for("rrps")) if config.seed else config
    words = shlex.split(command_of(wanted))
    nothing = ("--price", "0/0", "--max-calls", "0", "--name", "r", "--home", str(home))
    assert words[0] == "csro"
    stopped = CliRunner().invoke(main, [*words[1:], *nothing])
    assert "the limit of 0 calls is reached" in stopped.stderr
    with Arena(home) as arena:
        begun = dated(settled(arena, game(wanted.game), wanted))
    assert Runs(home).get("r").config == begun


def test_the_command_of_a_training_says_the_same_oracle() -> None:
    choice = trained_choice(game("leduc"), steps=900, checkpoints=2)
    config = RunConfig("leduc", choice, 2, 7)
    context = run.make_context("run", shlex.split(command_of(config))[2:])
    assert context.params["name"] == "impala"
    assert {name: context.params[name] for name in ("steps", "checkpoints", "device")} == {
        "steps": 900,
        "checkpoints": 2,
        "device": "cpu",
    }
    assert choice.training is not None
    other = replace(choice, training=replace(choice.training, discount=0.5))
    assert command_of(replace(config, oracle=other)) == ""


def test_no_command_starts_what_was_a_script_of_somebodys_own() -> None:
    assert command_of(RunConfig("rrps", OracleChoice("mine", CUSTOM))) == ""
    assert command_of(RunConfig("rrps", afresh=False)) == ""


def test_nothing_is_played_before_the_model_was_tried(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    refused = reproduce(home, "leduc", "--quick", "--model", "openai:local")
    assert refused.exit_code == 2
    assert "OPENAI" in refused.stderr
    assert not Runs(home).all()
    assert not (home.parent / "tables").exists()


def test_nothing_is_played_for_a_folder_that_cannot_be_made(home: Path) -> None:
    (home.parent / "tables").symlink_to("nowhere")
    refused = reproduce(home, "leduc", "--quick")
    assert refused.exit_code == 2
    assert f"the folder {home.parent / 'tables'} cannot be made" in refused.stderr
    assert not Runs(home).all()


def test_the_grammar_is_no_model_of_the_papers_variants(home: Path) -> None:
    refused = reproduce(home, "leduc", "--quick", "--model", "grammar")
    assert refused.exit_code == 2
    assert "for language models" in refused.stderr


def test_quick_leaves_the_numbers_that_were_given(reproduced: Path) -> None:
    done = reproduce(reproduced, "leduc", "--quick", "--seeds", "2", "--matches", "8", "--json")
    assert done.exit_code == 0, done.stderr
    rows = {row["method"]: row for row in json.loads(done.stdout)["rows"]}
    assert rows["CFR+"]["matches_per_cell"] == 8
    grammar, first = [row for name, row in rows.items() if "grammar" in name]
    assert "in 2 runs" in first["how"]
    assert (grammar["seeds"], grammar["how"]) == (2, "seeds 1, 2")
