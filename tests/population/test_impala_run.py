"""Runs whose members are networks: the same loop, records, reports and resumption as any run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from arena import Arena
from arena.errors import UsageFault
from arena.games import GAMES
from arena.games.protocol import Game
from arena.house.population import default_population
from arena.readable import readable
from oracle.impala.training import Training, usual_training
from oracle.values import Rejected
from population.cli import main
from population.config import NETWORK, TRAINER, OracleChoice, RunConfig
from population.csro import Result
from population.launch import carry_out
from population.matches import Matches
from population.measuring import Measuring
from population.network_rows import network_rows
from population.oracles import Spending, workshop
from population.records import Iteration
from population.report.facts import gather
from population.report.page import page as run_page
from population.runs import Runs
from population.scores import measure
from population.training import check_training
from tests.oracle.torch_or_skip import need_torch
from tests.population.small_run import Silent, told

TINY = replace(usual_training(GAMES["rrps"], steps=2_560, checkpoints=2), hidden=(16, 8))
CONFIG = RunConfig(
    "rrps", OracleChoice(TRAINER, NETWORK, training=TINY), 2, 3, matches=Measuring(4, 8)
)


class Interrupted(Exception):
    """The run is to end here."""


class Impatient(Silent):
    """Ends a run after its first iteration."""

    def ends(self, iteration: Iteration) -> None:
        raise Interrupted


def run(arena: Arena, name: str, config: RunConfig, watcher: Silent) -> Result:
    runs = Runs(arena.home.path)
    record = runs.start(name, config)
    matches = Matches(arena, GAMES[config.game], progress=watcher.plays)
    shop = workshop(runs, record, Spending())
    origins = shop.authorship.lineage_of
    return carry_out(runs, name, config, shop.oracle, origins, matches, watcher)


def test_a_run_of_networks_is_a_run(arena: Arena, new_arena: object) -> None:
    """It joins networks, is told of as any run, and goes on as it would have."""
    need_torch()
    result = run(arena, "whole", CONFIG, Silent())
    kinds = [member.kind for member in result.members]
    assert len(kinds) >= 2 and set(kinds) == {"neural"}
    facts = gather(arena, Runs(arena.home.path), "whole")
    assert "Mean return against the mixture" in facts.members[1].source
    page = run_page(facts)
    assert "LSTM 8" in page and "safetensors" not in page
    version = arena.versions([facts.members[1].digest])[facts.members[1].digest]
    assert version.ref.startswith("csro/whole-k0") and version.kind == "neural"
    assert version.provenance["training"]["unroll"] == 20
    told_of = readable(version)
    assert f"Trained for {version.provenance['decisions']:,} decisions" in told_of
    assert 0 < version.provenance["decisions"] <= 2_560
    rockbot = arena.policy("house/rockbot", "rrps")
    assert arena.play_pairs("rrps", {(result.mixture.digest, rockbot.digest): 4}).forfeits == 0

    assert callable(new_arena)
    other = new_arena("other")
    with pytest.raises(Interrupted):
        run(other, "parts", CONFIG, Impatient())
    run(other, "parts", CONFIG, Silent())
    assert told(other.home.path, "parts") == told(arena.home.path, "whole")


def csro(*arguments: str, home: Path) -> tuple[int, str]:
    result = CliRunner().invoke(main, [*arguments, "--home", str(home)])
    return result.exit_code, result.output


def test_the_command_runs_it_against_native_bots_too(home: Path) -> None:
    need_torch()
    options = ["--game", "rrps", "--oracle", "impala", "--steps", "1280", "--checkpoints", "1"]
    options += ["--iterations", "1", "--name", "net", "--initial", "house/rockbot", "--json"]
    options += ["--payoff-matches", "4", "--evaluation-matches", "4", "--workers", "1"]
    result = CliRunner().invoke(main, ["run", *options, "--home", str(home)])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["ref"] == "csro/net@1"
    code, listed = csro("list", home=home)
    assert code == 0 and re.search(r"1,280\b.*\n? .*decisions", listed)
    assert csro("resume", "net", home=home)[0] == 0


def test_a_run_whose_training_diverges_says_so_and_ends(arena: Arena) -> None:
    need_torch()
    choice = OracleChoice(TRAINER, NETWORK, training=replace(TINY, learning_rate=1e30))
    config = replace(CONFIG, oracle=choice)
    result = run(arena, "wild", config, Silent())
    assert len(result.members) == 1
    tried = [one for k in Runs(arena.home.path).iterations("wild") for one in k.attempts]
    assert len(tried) == 2  # one an iteration
    for attempt in tried:
        assert attempt.failure is not None and attempt.failure.kind is Rejected.DIVERGED
        assert "smaller learning rate" in attempt.failure.reason


def test_a_device_that_holds_no_numbers_is_refused() -> None:
    need_torch()
    assert "PyTorch" in check_training(TINY)
    for device in ("meta", "nowhere"):
        with pytest.raises(UsageFault, match=f"cannot use the device '{device}'"):
            check_training(replace(TINY, device=device))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--game", "kuhn", "--oracle", "impala"], "no neural policies play kuhn"),
        (["--game", "rrps", "--oracle", "impala", "--model", "gemini"], "leave out --model"),
        (["--game", "rrps", "--oracle", "impala", "--drafts", "3"], "--drafts would do nothing"),
        (["--game", "rrps", "--steps", "9", "--model", "grammar"], "--steps would do nothing"),
        (["--game", "rrps", "--oracle", "impala", "--hidden-share", "0.5"], "not trained so"),
        (["--game", "rrps", "--oracle", "impala", "--initial", "starter/rrps"], "kind python"),
        (["--game", "rrps", "--oracle", "impala", "--dry-run"], "sends no prompts"),
    ],
)
def test_what_makes_no_sense_is_refused(options: list[str], reason: str, home: Path) -> None:
    if "--initial" in options:
        need_torch()
    code, said = csro("run", *options, home=home)
    assert code == 2 and reason in said
    assert Runs(home).all() == ()


def test_an_oracle_that_trains_says_how_and_no_other_does() -> None:
    with pytest.raises(UsageFault, match="no other oracle does"):
        OracleChoice("linear", "grammar", training=TINY)
    with pytest.raises(UsageFault, match="trains a network"):
        OracleChoice(TRAINER, NETWORK)
    assert RunConfig.from_document(json.loads(json.dumps(CONFIG.to_document()))) == CONFIG
    assert "training" not in RunConfig("rrps").to_document()["oracle"]
    assert "2,560 decisions" in CONFIG.variant and "Trained with" in CONFIG.described()


def test_the_papers_row_says_how_it_is_run_until_it_was(arena: Arena) -> None:
    need_torch()
    game, runs = GAMES["rrps"], Runs(arena.home.path)
    (row,) = network_rows(game, [])
    assert row.ours is None and row.how.startswith("csro run --game rrps --oracle impala")
    assert row.published is not None and row.published.agg_score.mean == -532.1
    run(arena, "row", replace(CONFIG, iterations=1), Silent())
    record, population = runs.get("row"), default_population("rrps")
    assert record.final is not None
    wanted = dict.fromkeys(record.final.weights, 2)
    known = measure(Matches(arena, game), wanted, population)
    row, first = network_rows(game, [(record, known)])
    assert first.method == f"{row.method}: its first newcomer" and first.ours is not None
    assert row.ours is not None and row.ours.pop_return.value < 300
    assert "2,560 decisions" in row.how and "seeds 3" in row.how
    assert network_rows(GAMES["kuhn"], []) == []


def test_a_network_can_be_asked_how_far_a_policy_is_exploited(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is trained against the bot itself, and its gain comes from matches of the arena.

    A smaller network than the published one learns it sooner: by 24,000 decisions it wins more
    than half of all throws.
    """
    need_torch()

    def small(game: Game, **given: Any) -> Training:
        sooner = {"hidden": (32, 32), "learning_rate": 0.001, "environments": 16}
        return replace(usual_training(game, **given), **sooner)

    monkeypatch.setattr("population.training.usual_training", small)
    options = ["--game", "rrps", "--oracle", "impala", "--steps", "24000", "--checkpoints", "1"]
    options += ["--evaluation-matches", "4", "--matches", "4", "--workers", "1", "--json"]
    result = CliRunner().invoke(main, ["exploit", "house/rockbot", *options, "--home", str(home)])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["exploited"] and found["gain"]["value"] > 100
    code, said = csro("exploit", "starter/rrps", *options, home=home)
    assert code == 2 and "kind python" in said
