"""A CSRO run against a server is the run on this machine: same members, same numbers."""

import shutil

from click.testing import CliRunner

from arena import Arena, game
from oracle import Evaluate, Task
from population import run_csro
from population.cli import main
from population.runs import Runs
from tests.arena.serving import served
from tests.population.small_run import told

OPTIONS = (
    *("--game", "leduc", "--iterations", "2", "--seed", "3", "--refinements", "1"),
    *("--payoff-matches", "4", "--evaluation-matches", "4", "--workers", "1"),
)


def csro(*words):
    done = CliRunner().invoke(main, [*map(str, words)])
    assert done.exit_code == 0, done.output
    return done


def test_a_run_is_the_same_here_and_behind_an_address(house, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here = shutil.copytree(house, tmp_path / "here")
    there_home = shutil.copytree(house, tmp_path / "there")
    csro("run", *OPTIONS, "--name", "ada-1", "--home", here)
    with served(there_home) as there:
        monkeypatch.setenv("ARENA_TOKEN", there.tokens["ada"])
        csro("run", *OPTIONS, "--name", "ada-1", "--home", there.address)
        host = there.address.removeprefix("http://")
        kept = tmp_path / "csro-runs" / host
        listed = csro("list", "--home", there.address, "--json").stdout
        report = csro("report", "ada-1", "--home", there.address, "--json").stdout
        with Arena(there.address) as arena:
            assert arena.policy("csro/ada-1", "leduc").kind == "mixture"
    assert "ada-1" in listed and "ada-1" in report
    assert told(here, "ada-1") == told(kept, "ada-1")
    assert Runs(kept).get("ada-1").mixture == Runs(here).get("ada-1").mixture
    tables = []
    for home in (here, there_home):
        with Arena(home, create=False) as arena:
            rows = arena.matches("leduc", limit=None)
            tables.append({row.id: (row.return_low, row.termination) for row in rows})
    assert tables[0] == tables[1] and tables[0]


def test_an_oracle_of_ones_own_runs_against_a_server(house, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = {"iterations": 1, "seed": 3, "payoff_matches": 4, "evaluation_matches": 4}
    own |= {"name": "ada-own", "hidden_share": 0.5}
    found = []
    with served(shutil.copytree(house, tmp_path / "there")) as there:
        monkeypatch.setenv("ARENA_TOKEN", there.tokens["ada"])
        local = Arena(shutil.copytree(house, tmp_path / "here"), workers=1)
        for place in (local, Arena(there.address)):
            with place as arena:
                found.append(run_csro(arena, "kuhn", starter, **own))
        listed = csro("list", "--home", there.address, "--json").stdout
    here, behind = found
    assert here.mixture.digest == behind.mixture.digest
    assert here.sigma.weights == behind.sigma.weights
    assert "ada-own" in listed


def starter(task: Task, evaluate: Evaluate) -> str:
    """An oracle that knows one program."""
    source = game("kuhn").starter.source + "\n# written by an oracle\n"
    (score,) = evaluate([source])
    assert task.hidden_share == 0.5 and score.u is not None
    return source


def test_a_run_of_another_author_s_name_is_refused(house, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home = shutil.copytree(house, tmp_path / "home")
    with served(home) as there:
        monkeypatch.setenv("ARENA_TOKEN", there.tokens["bob"])
        words = ("run", *OPTIONS, "--name", "ada-2", "--home", there.address)
        done = CliRunner().invoke(main, [*map(str, words)])
        assert done.exit_code == 1
        assert "yours are csro/bob-..." in done.output
