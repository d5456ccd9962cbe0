"""What leaves nothing behind: a typo, a look at a prompt, and a run that is deleted."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arena import Arena
from arena.errors import UsageFault
from oracle import Evaluate, Task
from oracle.models.protocol import Finish, Reply, Request
from population import run_csro
from population.cli import main
from population.oracles import journal_of
from population.runs import FILE, Runs
from registry import UnknownPolicy
from tests.population.scripted_oracles import NOT_A_POLICY
from tests.population.small_run import small_config
from tests.population.test_csro_runs_file import iteration


def csro(home: Path, *words: str, answer: str = "") -> Result:
    return CliRunner().invoke(main, [*words, "--home", str(home)], input=answer)


@pytest.mark.parametrize(
    ("initial", "said"), [("nobody/x", "nobody/x"), ("house/rockbot", "of kind native")]
)
def test_a_wrong_initial_policy_leaves_no_run(home: Path, initial: str, said: str) -> None:
    words = ("run", "--game", "rrps", "--model", "grammar", "--initial", initial)
    refused = csro(home, *words, "--sandbox", "process")
    assert refused.exit_code == 2
    assert said in refused.stderr
    assert Runs(home).all() == ()


def test_a_wrong_initial_policy_leaves_no_run_from_python_either(arena: Arena) -> None:
    def useless(task: Task, evaluate: Evaluate) -> str:
        return NOT_A_POLICY

    with pytest.raises(UnknownPolicy, match="nobody/x"):
        run_csro(arena, "rrps", useless, name="own", initial="nobody/x")
    with pytest.raises(UsageFault, match="write it with def"):
        run_csro(arena, "rrps", lambda task, evaluate: NOT_A_POLICY, name="own")
    assert Runs(arena.home.path).all() == ()


def test_a_prompt_is_shown_without_a_home(tmp_path: Path) -> None:
    for words in (("prompt",), ("run", "--dry-run")):
        shown = csro(tmp_path / "nowhere", *words, "--game", "rrps", "--model", "gemini")
        assert shown.exit_code == 0, shown.stderr
        assert "class Agent" in shown.stdout
    assert not (tmp_path / "nowhere").exists()


def test_a_prompt_with_a_named_policy_registers_nothing(home: Path) -> None:
    with Arena(home, sandbox="process") as arena:
        before = arena.policies("rrps")
        named = next(one for one in before if one.kind == "python")
    words = ("--game", "rrps", "--model", "gemini", "--initial", named.ref)
    shown = csro(home, "prompt", *words)
    assert shown.exit_code == 0, shown.stderr
    assert named.payload.splitlines()[-1] in shown.stdout
    with Arena(home, sandbox="process") as arena:
        assert arena.policies("rrps") == before
    assert not (home / FILE).exists()


def test_a_deleted_run_is_gone_and_the_others_are_not(home: Path) -> None:
    runs = Runs(home)
    for name in ("one", "other"):
        runs.start(name, small_config(1))
        runs.add(name, iteration(1))
        journal_of(runs, name).store(Request("k01/a00", "?"), "m", Reply("!", Finish.STOPPED))
    kept = (runs.get("other"), runs.iterations("other"), journal_of(runs, "other").calls())

    assert csro(home, "delete", "one", answer="n\n").exit_code == 1
    assert runs.done("one") == 1
    with runs.working_on("one"):
        busy = csro(home, "delete", "one", "--yes")
    assert (busy.exit_code, runs.done("one")) == (1, 1)
    assert "another process is working" in busy.stderr

    done = csro(home, "delete", "one", "--yes")
    assert (done.exit_code, done.stdout) == (0, "forgot one\n")
    assert [record.name for record in runs.all()] == ["other"]
    assert (runs.iterations("one"), journal_of(runs, "one").calls()) == ((), ())
    assert kept == (runs.get("other"), runs.iterations("other"), journal_of(runs, "other").calls())
    runs.start("one", small_config(2))  # the name is free, for another configuration too
    unknown = csro(home, "delete", "nobody", "--yes")
    assert unknown.exit_code == 2
    assert "there is no run 'nobody'" in unknown.stderr
