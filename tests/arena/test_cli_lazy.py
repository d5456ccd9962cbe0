"""Commands load what they need, and end quietly on Ctrl-C and closed pipes."""

import importlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import arena.cli
import population.cli
from arena.cli.lazy import INTERRUPTED, STOPPED, LazyGroup

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
ARENA = [sys.executable, "-m", "arena"]


@pytest.mark.parametrize("group", [arena.cli, population.cli])
def test_the_table_of_commands_is_that_of_the_modules(group):
    assert set(group.PLACES) == set(group.SUMMARIES)
    for module in set(group.PLACES.values()):
        names = [one.name for one in importlib.import_module(module).COMMANDS]
        assert names == [name for name, place in group.PLACES.items() if place == module]
    for name, command in group.main.commands.items():
        told = " ".join((command.help or "").split()).split()
        assert group.SUMMARIES[name].split()[:3] == told[:3]
    context = click.Context(group.main)
    assert group.main.get_command(context, "nothing") is None


def loaded_by(*commands, group="arena"):
    """What commands load that run one after the other: what none of them loads is not there."""
    code = (
        f"import sys\nfrom {group}.cli import main\n"
        f"for words in {[list(words) for words in commands]!r}:\n"
        "    try: main(words)\n"
        "    except SystemExit: pass\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_a_worker_loads_no_store_and_no_registry():
    code = "import sys, arena.bouts; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert not {"sqlalchemy", "duckdb", "scipy", "pyarrow"} & set(done.stdout.split())


def test_light_commands_load_little(home):
    heavy = {"sqlalchemy", "duckdb", "scipy", "pyarrow"}
    told = ("list", "submit", "try", "play", "replay", "leaderboard", "evaluate", "show")
    helped = loaded_by(["--help"], *([command, "--help"] for command in told))
    assert not {*heavy, "numpy", "pyspiel", "rich"} & helped
    assert not heavy & loaded_by(["games"], ["rules", "leduc"])
    # A mistyped home is told of at once.
    mistyped = (["list"], ["leaderboard", "--game", "leduc"], ["show", "ada/one"], ["yank", "x"])
    nowhere = ("--home", f"{home}-nowhere")
    assert not {*heavy, "rich"} & loaded_by(*([*words, *nowhere] for words in mistyped))
    at = ("--home", str(home))
    # Who takes part says the registry alone.
    registered = (["list"], ["history", "house/CFR+", "--game", "leduc"], ["accounts", "list"])
    told_of = loaded_by(*([*words, *at] for words in registered))
    assert "sqlalchemy" in told_of and not {"duckdb", "scipy", "pyarrow"} & told_of
    assert "numpy" not in loaded_by(["list", *at])
    assert "rich" not in loaded_by(["list", *at, "--json"])
    # Arrow's own ways to numbers would load pandas, which takes longer than all the rest.
    played = (["leaderboard"], ["payoffs"], ["matches"], ["show", "house/CFR+"])
    read = loaded_by(*([*words, "--game", "leduc", *at] for words in played))
    assert "duckdb" in read and "pandas" not in read
    # Markup is for pages and notebooks.
    assert not {"jinja2", "markupsafe"} & (told_of | read)


def test_help_of_csro_loads_nothing_that_runs():
    commands = (["run"], ["list"], ["report"], ["table"], ["agent", "play"], ["agent", "price"])
    loaded = loaded_by(*([*words, "--help"] for words in commands), group="population")
    assert not {"sqlalchemy", "duckdb", "scipy", "pyarrow", "pyspiel", "rich"} & loaded


@pytest.mark.parametrize("command", ["list", "leaderboard --game leduc"])
def test_ctrl_c_ends_with_130_and_a_sentence(home, command):
    ended = set()
    for wait in (0.0, 0.3, 0.8):
        process = subprocess.Popen(
            [*ARENA, *command.split(), "--home", str(home)],
            env=ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        maps = Path(f"/proc/{process.pid}/maps")
        while process.poll() is None and "pydantic_core" not in maps.read_text():
            time.sleep(0.01)  # Python itself and its start are not ours to catch
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert "Traceback" not in said, said
        # Once in a while Python ends itself by the signal, though it was caught, or is at its own
        # end when the signal comes; to a shell that is 130 as well.
        code = 130 if process.returncode == -signal.SIGINT else process.returncode
        ended.add((code, said.partition(";")[0].strip()))
    assert ended <= {(130, "stopped"), (130, ""), (0, "")}
    assert (130, "stopped") in ended


def test_ctrl_c_while_a_library_is_loaded_ends_in_the_same_way(tmp_path, monkeypatch):
    # pybind11, in which the games' engine is written, makes an ImportError of it.
    module = "raise ImportError('initialization failed') from KeyboardInterrupt()\n"
    (tmp_path / "interrupted_commands.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    group = LazyGroup(places={"one": "interrupted_commands"}, summaries={"one": "One."})
    ended = CliRunner().invoke(group, ["one"])
    assert (ended.exit_code, ended.stderr) == (INTERRUPTED, f"{STOPPED}\n")


ENDING = """
import signal, time
import click
class Ending:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
@click.command()
def one():
    Ending()
    time.sleep(30)
COMMANDS = [one]
"""
LOADING = """
import enum, signal, time
import click
before = enum.Enum.__init__
def interrupted(*args):
    enum.Enum.__init__ = before
    signal.raise_signal(signal.SIGINT)
@click.command()
def one():
    enum.Enum.__init__ = interrupted
    import duckdb
    time.sleep(30)
COMMANDS = [one]
"""


@pytest.mark.parametrize("module", [ENDING, LOADING], ids=["object ends", "library loads"])
def test_ctrl_c_is_not_lost_where_nothing_can_be_raised(tmp_path, module):
    (tmp_path / "one_command.py").write_text(module)
    code = (
        "from arena.cli.lazy import LazyGroup\n"
        "LazyGroup(places={'one': 'one_command'}, summaries={'one': 'One.'})(['one'])\n"
    )
    places = os.pathsep.join((str(ROOT), str(tmp_path)))
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": places},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (INTERRUPTED, f"{STOPPED}\n")


def test_a_closed_pipe_is_no_error_to_tell(home):
    reads, writes = os.pipe()
    with subprocess.Popen(
        [*ARENA, "list", "--json", "--home", str(home)],
        env=ENVIRONMENT,
        stdout=writes,
        stderr=subprocess.PIPE,
    ) as process:
        os.close(writes)
        os.close(reads)
        assert process.stderr is not None and process.stderr.read() == b""
