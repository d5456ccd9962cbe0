"""Options that would do nothing are refused by every command that takes them, and no others are."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from arena.cli.session import Session
from arena.errors import UsageFault
from population.cli import main
from population.config import RunConfig
from population.runs import Runs
from tests.documentation.pages import PAGES, README, shell_commands

COMMANDS = {
    "run": ("run", "--game", "rrps"),
    "dry run": ("run", "--game", "rrps", "--dry-run"),
    "exploit": ("exploit", "house/rockbot", "--game", "rrps"),
    "prompt": ("prompt", "--game", "rrps"),
}
SPENDING = ("--max-cost", "--max-calls", "--max-tokens", "--price")
REACHED = "the home is reached"


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that refuses nothing comes as far as its home, and no further."""

    def arena(self: Session, *told: Any, **more: Any) -> None:
        raise UsageFault(REACHED)

    monkeypatch.setattr(Session, "arena", arena)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", "k")


def csro(*words: str) -> Result:
    return CliRunner().invoke(main, words)


def refused(done: Result) -> str:
    """Why, where that is for options that do nothing; "" where they were taken."""
    if "would do nothing" not in done.output:
        assert done.exit_code == 0 or REACHED in done.output, done.output
        return ""
    assert done.exit_code == 2
    return done.output


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("words", "idle", "remedy"),
    [
        ("--oracle zero-shot --refinements 3", "--refinements", "--oracle"),
        ("--oracle best-of-n --refinements 3", "--refinements", "--oracle"),
        ("--oracle alpha-evolve --drafts 7", "--drafts", "--oracle"),
        ("--oracle zero-shot --drafts 7 --refinements 3", "--refinements, --drafts", "--oracle"),
        ("--oracle zero-shot --model gemini --parallel 8", "--parallel", "--oracle"),
        ("--oracle best-of-n --model grammar --parallel 8", "--parallel", "--model"),
        ("--oracle best-of-n --model grammar:plain --timeout 5", "--timeout", "--model"),
        ("--oracle best-of-n --model grammar --context 4096", "--context", "--model"),
        ("--oracle best-of-n --model grammar --thinking low", "--thinking", "--model"),
        ("--oracle best-of-n --model recorded:x --timeout 5", "--timeout", "--model"),
        ("--oracle alpha-evolve --model gemini,recorded:x --parallel 5", "--parallel", "--model"),
    ],
)
def test_they_are_refused_by_name(command: str, words: str, idle: str, remedy: str) -> None:
    said = refused(csro(*COMMANDS[command], *words.split()))
    name = words.split()[1]
    why = f"with the oracle {name}, "
    if remedy == "--model":
        team = "," in words
        why = (
            "a transcript is replayed call by call, so " if team else f"{words.split()[3]} asks no"
        )
    assert why in said
    assert f"{idle} would do nothing" in said and f" with {remedy}" in said


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "prompt"])
@pytest.mark.parametrize("option", [*SPENDING, "--opponents", "--filter"])
def test_the_grammar_costs_nothing_and_is_shown_nothing(command: str, option: str) -> None:
    value = {"--price": "1/2", "--opponents": "code", "--filter": "all"}.get(option, "1")
    words = (*COMMANDS[command], "--oracle", "best-of-n", option, value)
    assert f"{option} would do nothing" in refused(csro(*words, "--model", "grammar"))
    model = refused(csro(*words, "--model", "gemini"))
    assert not model or (command, option) == ("exploit", "--filter")


@pytest.mark.parametrize("command", COMMANDS)
def test_no_filter_is_chosen_where_no_opponent_is_shown(command: str) -> None:
    words = (*COMMANDS[command], "--oracle", "best-of-n", "--model", "gemini")
    said = refused(csro(*words, "--opponents", "none", "--filter", "all"))
    assert "with --opponents none no prompt shows an opponent, so --filter would do" in said
    assert not refused(csro(*words, "--opponents", "none"))


def test_a_prompt_for_nobody_shows_no_opponent_either() -> None:
    words = ("--model", "grammar", "--opponents", "none", "--filter", "top-k:2")
    said = refused(csro(*COMMANDS["prompt"], *words))
    assert "no prompt shows an opponent" in said and "asks no model" not in said


@pytest.mark.parametrize("command", ["run", "dry run"])
@pytest.mark.parametrize("words", ["zero-shot", "best-of-n --drafts 1"])
def test_nothing_is_chosen_where_the_grammar_writes_one_program(command: str, words: str) -> None:
    told = (*COMMANDS[command], "--model", "grammar", "--oracle", *words.split())
    said = refused(csro(*told, "--hidden-share", "0.5"))
    assert "nothing to choose and --hidden-share would do nothing: leave it out" in said
    assert not refused(csro(*told))


def test_what_is_idle_for_two_reasons_is_refused_for_both() -> None:
    words = "--oracle best-of-n --model grammar --refinements 7 --filter min-support:0.3"
    said = refused(csro(*COMMANDS["exploit"], *words.split(), "--opponents", "description"))
    assert "with the oracle best-of-n, --refinements would do nothing: leave it out" in said
    assert "grammar asks no model, so --opponents, --filter would do nothing: leave them" in said


@pytest.mark.parametrize(
    "words",
    [
        "run --game rrps --model gemini --oracle linear --refinements 3 --timeout 5 --max-cost 1",
        "run --game rrps --model gemini --oracle best-of-n --drafts 3 --parallel 5 --context 9000",
        "run --game rrps --model openai:x --oracle alpha-evolve --parallel 5 --price 1/2",
        "run --game rrps --model grammar --oracle linear --refinements 3 --seed 4",
        "run --game rrps --model recorded:x --opponents none --max-calls 3",
        "run --game rrps --model gemini,recorded:x --timeout 5 --price 1/2",
        "exploit house/rockbot --game rrps --model gemini --refinements 3 --opponents none",
        "prompt --game rrps --model grammar --opponents none",
        "prompt --game rrps --model grammar --oracle zero-shot --hidden-share 0.5",
        "run --game rrps --model gemini --oracle zero-shot --hidden-share 0.5 --filter all",
        "run --game rrps --model grammar --oracle linear --refinements 0 --hidden-share 0.5",
        "run --game rrps --model grammar --oracle best-of-n --drafts 2 --hidden-share 0.5",
        "prompt --game rrps --refinements 3 --timeout 5",
    ],
)
def test_those_that_do_something_are_taken(words: str) -> None:
    assert not refused(csro(*words.split()))


@pytest.mark.parametrize("option", [*SPENDING, "--parallel", "--timeout"])
def test_a_stored_run_of_the_grammar_asks_nobody_either(
    house: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    home = shutil.copytree(house, tmp_path / "home")
    Runs(home).start("g", RunConfig("rrps", iterations=1))
    monkeypatch.undo()  # it has to be read
    value = "1/1" if option == "--price" else "2"
    done = csro("resume", "g", option, value, "--home", str(home))
    told = " ".join(refused(done).split())
    assert option in told
    assert ("with the oracle linear" if option == "--parallel" else "asks no model") in told
    assert "choose another" not in told
    assert not Runs(home).iterations("g")


@pytest.mark.parametrize("option", SPENDING)
def test_tables_without_a_model_cost_nothing(option: str) -> None:
    value = "1/1" if option == "--price" else "2"
    done = csro("reproduce", "rrps", option, value)
    assert option in refused(done) and "without --model" in done.output


def test_what_was_not_typed_is_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    for command in COMMANDS.values():
        assert not refused(csro(*command, "--oracle", "best-of-n"))


def test_one_policy_is_left_by_every_filter() -> None:
    said = refused(csro(*COMMANDS["exploit"], "--model", "gemini", "--filter", "all"))
    assert "against one policy, --filter would do nothing" in said


def documented() -> Iterator[list[str]]:
    """Commands of the documents that choose an oracle: those of blocks, and whole ones in lines."""
    for page in (README, *PAGES):
        yield from shell_commands(page)
        for span in re.findall(r"`(csro [^`\n]+)`", page.read_text(encoding="utf-8")):
            yield shlex.split(span)


def test_no_documented_command_is_refused() -> None:
    checked = 0
    for words in documented():
        if words[0] == "csro" and words[1] in ("run", "exploit", "prompt") and "--game" in words:
            checked += 1
            assert "would do nothing" not in csro(*words[1:]).output, words
    assert checked > 20


def test_what_is_no_program_is_not_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    words = ("exploit", "house/rockbot", "--game", "rrps", "--model", "gemini", "--home", str(home))
    said = refused(csro(*words, "--opponents", "code", "--sandbox", "process"))
    assert "house/rockbot" in said and "--opponents would do nothing" in said
