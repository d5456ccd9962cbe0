"""Runs with several models: each on a server of its own, one of which writes no programs."""

from __future__ import annotations

import json
import random
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from arena import Arena
from oracle.models.journal import SqliteJournal
from population.cli import main
from population.credit import standings_of
from population.oracles import journal_of
from population.runs import Runs
from tests.oracle.llm_server import LLMServer
from tests.population.scripted_oracles import program

MODELS = "gemini:able,openai:unable"
SMALL = ("--game", "rrps", "--workers", "1", "--sandbox", "process", "--iterations", "4")
MATCHES = ("--payoff-matches", "4", "--evaluation-matches", "8", "--price", "0/0")
WHAT = ("--oracle", "best-of-n", "--drafts", "4", "--model", MODELS)


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[LLMServer, LLMServer]]:
    rng = random.Random(3)

    def writes(prompt: str) -> str:
        return f"```python\n{program(rng)}```"

    with LLMServer(writes) as able, LLMServer(lambda prompt: "I would rather not.") as unable:
        monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
        for name in ("GEMINI_API_KEY", "OPENAI_API_KEY"):
            monkeypatch.setenv(name, "k")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", able.url)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{unable.url}/v1")
        yield able, unable


def csro(home: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--home", str(home)])


def test_who_writes_what_is_kept_is_asked_more_and_nothing_is_asked_twice(
    servers: tuple[LLMServer, LLMServer], home: Path
) -> None:
    words = ("run", *SMALL, *MATCHES, *WHAT, "--name", "both")
    stopped = csro(home, *words, "--max-calls", "13")
    assert stopped.exit_code != 0
    assert "13 calls" in stopped.stderr
    assert csro(home, "resume", "both", "--price", "much").exit_code == 2  # and is not kept
    held = csro(home, "resume", "both", "--max-tokens", "1_000_000_000")
    assert "that hold: --max-calls 13 --max-tokens 1000000000 --price 0/0\n" in held.stderr
    assert held.exit_code != 0
    assert len(servers[0].charged) + len(servers[1].charged) == 13
    done = csro(home, "resume", "both", "--max-calls", "1_000")
    assert done.exit_code == 0, done.stderr
    assert f"model: {MODELS}" in stopped.stderr

    runs = Runs(home)
    journal = journal_of(runs, "both")
    asked: Counter[str] = Counter()
    for call in journal.calls():
        asked[call.model] += call.reply.attempts  # some are asked twice, by a shorter prompt
    assert asked == {
        "gemini:able": len(servers[0].charged),
        "openai:unable": len(servers[1].charged),
    }
    after = standings_of(runs, "both", journal, "k05")
    assert set(after) == {"gemini:able", "openai:unable"}
    assert after["gemini:able"].kept == 4
    assert after["openai:unable"].kept == 0
    assert after["gemini:able"].tried > after["openai:unable"].tried
    assert standings_of(runs, "both", journal, "k01") == {}
    assert runs.get("both").config.oracle.model == MODELS


def test_one_search_learns_whom_to_ask_and_goes_on_as_if_never_interrupted(
    servers: tuple[LLMServer, LLMServer], home: Path, tmp_path: Path
) -> None:
    able, _ = servers
    able.reply = lambda prompt: f"```python\n{better(prompt)}```"
    words = ("exploit", "house/rockbot", "--game", "rrps", "--workers", "1", "--sandbox", "process")
    words += ("--oracle", "alpha-evolve", "--refinements", "5", "--model", MODELS, "--price", "0/0")
    words += ("--evaluation-matches", "4", "--matches", "4", "--json")
    other = shutil.copytree(home, tmp_path / "other")
    assert csro(home, *words, "--max-calls", "9").exit_code != 0
    ends = [csro(place, *words) for place in (home, other)]
    assert [one.exit_code for one in ends] == [0, 0], ends[0].stderr + ends[1].stderr
    # A version's number tells who was tried first of those whose answers came at once.
    first, second = (re.sub(r"@\d+\b", "@", one.stdout) for one in ends)
    assert first == second
    assert _exploiter(home, ends[0]) == _exploiter(other, ends[1])
    journals = [SqliteJournal(place / "runs.sqlite", _scope(place)) for place in (home, other)]
    authors = [
        {key: model for key, model in journal.authors().items() if key.count("/") == 1}
        for journal in journals
    ]
    assert authors[0] == authors[1]
    asked = Counter(authors[0].values())
    assert asked["gemini:able"] > 2 * asked["openai:unable"] > 0


def better(prompt: str) -> str:
    """What wins a little more from who throws ROCK than the prompt says is to be beaten."""
    told = re.search(r"To beat: \+([0-9.]+) throws", prompt)
    share = 0.1 if told is None else min(1.0, float(told[1]) / 1000.0 + 0.06)
    return (
        "import random\n\n\nclass Agent:\n    def act(self, observation):\n"
        f"        return 'PAPER' if random.random() < {share:.3f} else 'ROCK'\n"
    )


def _exploiter(home: Path, told: Result) -> str:
    """Digest of the program that a search found."""
    with Arena(home, sandbox="process") as arena:
        return arena.policy(json.loads(told.stdout)["program"], "rrps").digest


def _scope(home: Path) -> str:
    with sqlite3.connect(home / "runs.sqlite") as connection:
        ((scope,),) = connection.execute("select distinct scope from model_call").fetchall()
    connection.close()
    return str(scope)


@pytest.mark.parametrize(
    ("models", "why"),
    [
        ("grammar,gemini", "leave it out"),
        ("gemini,gemini", "named twice"),
        ("openai:x, openai:x", "named twice"),
        ("gemini,", "no model is written"),
    ],
)
def test_models_that_make_no_team_are_refused_before_anything_is_stored(
    servers: tuple[LLMServer, LLMServer], home: Path, models: str, why: str
) -> None:
    done = csro(home, "run", *SMALL, *MATCHES, "--model", models)
    assert done.exit_code == 2
    assert why in done.stderr
    assert not Runs(home).all()


def test_a_run_of_several_is_called_after_all(
    servers: tuple[LLMServer, LLMServer], home: Path
) -> None:
    shown = csro(home, "run", "--game", "rrps", "--model", MODELS, "--dry-run")
    assert shown.exit_code == 0, shown.stderr
    done = csro(home, "run", *SMALL, *MATCHES, *WHAT, "--max-calls", "1")
    assert "13" not in done.stdout
    assert [one.name for one in Runs(home).all()] == ["rrps-best-of-n-gemini+openai-s0"]
