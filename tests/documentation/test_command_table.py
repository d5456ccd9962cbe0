"""Every command stands beside its Python call; both are run, and come to the same."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import oracle
import population.paper
import population.runs
import registry
import sandbox.doctor
from arena import GAMES, Arena, game
from arena.backup import back_up, restore
from arena.cli import main as arena_command
from arena.contest.reading import read_certificate
from arena.contest.verification import verify
from population.cli import main as csro_command
from tests.documentation.pages import DOCS, ROOT
from tests.oracle.llm_server import LLMServer

TEXT = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
TABLES = TEXT.split("\n\n| ")
SOURCE = (ROOT / "examples" / "leduc_counter.py").read_text()


def rows(program: str) -> list[tuple[list[str], list[str]]]:
    """Commands of a program as words, each with the expressions beside it."""
    found = re.findall(rf"^\| `({program} [^`]*)` \| (.*) \|$", TEXT, re.M)
    return [(shlex.split(command), re.findall(r"`([^`]*)`", cell)) for command, cell in found]


def leaves(command: click.Command, *names: str) -> set[tuple[str, ...]]:
    if not isinstance(command, click.Group):
        return {names}
    return set().union(*(leaves(one, *names, name) for name, one in command.commands.items()))


def named(words: list[str], known: set[tuple[str, ...]]) -> tuple[str, ...]:
    """The command that a row is about."""
    (name,) = {tuple(words[:2]), tuple(words[:3])} & known
    return name


@pytest.mark.parametrize(("name", "command"), [("arena", arena_command), ("csro", csro_command)])
def test_every_command_is_in_the_table(name, command):
    known = leaves(command, name)
    assert {named(words, known) for words, _ in rows(name)} == known


NO_HOME = ("games", "rules", "doctor", "restore")
"""Commands that need none, or name another one."""
SAME: Mapping[str, Callable[[Any, Any], bool]] = {
    "games": lambda told, value: [g["name"] for g in told["games"]] == [g.name for g in value],
    "rules": lambda told, value: told["rules"] == value,
    "check": lambda told, value: told["status"] == "ok" and value is None,
    "try": lambda told, value: (
        [match["return"] for match in told["matches"]] == [match.value for match in value]
    ),
    "submit": lambda told, value: told["digest"] == value.version.digest,
    "list": lambda told, value: [p["ref"] for p in told["policies"]] == [v.ref for v in value],
    "show": lambda told, value: told["ref"] == value.ref,
    "show --source": lambda told, value: told["source"] == value,
    "yank": lambda told, value: told["status"] == value.status.value == "yanked",
    "reinstate": lambda told, value: told["status"] == value.status.value == "qualified",
    "play": lambda told, value: (told["played"], told["skipped"]) == (value.played, value.skipped),
    "evaluate": lambda told, value: (
        told["agg_score"]["value"] == pytest.approx(value.scores.agg_score.value)
    ),
    "leaderboard": lambda told, value: (
        told["by"] == value.by
        and [row["ref"] for row in told["rows"]] == [r.ref for r in value.rows]
    ),
    "payoffs": lambda told, value: told["count"] == value.count.tolist(),
    "matches": lambda told, value: (
        {match["id"] for match in told["matches"]} == {row.id for row in value}
    ),
    "replay": lambda told, value: told["events"] == plain(value.account.events),
    "replay --verify": lambda told, value: told["verified"] and value.same,
    "export": lambda told, value: [Path(f).name for f in told["files"]] == [f.name for f in value],
    "backup": lambda told, value: (
        [one["name"] for one in told["files"]] == [one.name for one in value.files]
    ),
    "restore": lambda told, value: told["made"] == value.made.isoformat(),
    "accounts list": lambda told, value: (
        [a["name"] for a in told["accounts"]] == [a.name for a in value]
    ),
    "accounts renew": lambda told, value: len(told["token"]) == len(value),
    "accounts quota": lambda told, value: told["submissions_a_day"] == value.quota.submissions,
    "accounts disable": lambda told, value: told["disabled"] and value.disabled,
    "accounts enable": lambda told, value: not (told["disabled"] or value.disabled),
    "accounts role": lambda told, value: told["role"] == value.role,
    "accounts import": lambda told, value: [a["name"] for a in told["accounts"]] == list(value),
    "accounts invite": lambda told, value: len(told["code"]) == len(value),
    "accounts redeem": lambda told, value: len(told["token"]) == len(value),
    "accounts log": lambda told, value: (
        [one["what"] for one in told["events"]][-10:] == [one.what for one in value][-10:]
    ),
    "tournament open": lambda told, value: (told["name"], told["matches"]) == (value.name, 2),
    "tournament list": lambda told, value: (
        [one["name"] for one in told["tournaments"]] == [one.name for one in value]
    ),
    "tournament show": lambda told, value: told["closes"] == value.closes.isoformat(),
    "tournament close": lambda told, value: told["phase"] == "closed" and value.name == "spring",
    "tournament final": lambda told, value: told["played"] == value.played == 2,
    "tournament certificate": lambda told, value: (
        [row["author"] for row in told["authors"]] == [row["author"] for row in value["authors"]]
    ),
    "verify": lambda told, value: told["verified"] and not any(one.problem for one in value),
    "history": lambda told, value: (
        [(one["status"], one["reason"]) for one in told["history"]]
        == [(one.status.value, one.reason) for one in value]
    ),
    "accounts add": lambda told, value: (
        {told["account"]: len(told["token"])} == {name: len(token) for name, token in value.items()}
    ),
    "seed show": lambda told, value: (
        [s["number"] for s in told["seasons"]] == [s.number for s in value]
    ),
    "seed reveal": lambda told, value: told["closed"]["key"] == value[0].key.hex(),
    "doctor": lambda told, value: [f["name"] for f in told["findings"]] == [f.name for f in value],
}
"""How the answer of a command with --json and the value of the call agree."""


def plain(value: Any) -> Any:
    """As JSON has it."""
    return json.loads(json.dumps([dict(event) for event in value]))


def kind(words: list[str]) -> str:
    two = " ".join(words[1:3])
    flags = [f"{words[1]} {word}" for word in words if word in ("--source", "--verify")]
    return next((name for name in (*flags, two) if name in SAME), words[1])


def test_each_row_comes_to_the_same(new_home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bot.py").write_text(SOURCE)
    Path("roster.csv").write_text("name,role\nflo\ngus,reader\n")
    ours, theirs = new_home("commands"), new_home("calls")
    seen = set()
    with Arena(theirs, sandbox="process", workers=1) as arena:
        names = {
            "arena": arena,
            "source": SOURCE,
            "GAMES": GAMES,
            "game": game,
            "sandbox": sandbox,
            "match_id": "",
            "back_up": back_up,
            "restore": restore,
            "registry": registry,
            "datetime": datetime,
            "UTC": UTC,
            "Path": Path,
            "read_certificate": read_certificate,
            "verify": verify,
        }
        for words, calls in rows("arena"):
            if not calls:
                assert words[1] in ("dashboard", "serve", "login")
                continue
            if words[1] == "replay":
                names["match_id"] = arena.matches("leduc", "ada/bot")[0].id
                words = [names["match_id"] if word == "ID" else word for word in words]
            at = (
                [] if words[1] in ("games", "rules", "doctor", "restore") else ["--home", str(ours)]
            )
            if words[1:3] == ["accounts", "redeem"]:
                names["code"] = arena.home.registry.invite()
                with Arena(ours) as other:
                    code = other.home.registry.invite()
                words = [code if word == "CODE" else word for word in words]
            if words[1:3] == ["tournament", "open"]:  # which takes two
                for place in (ours, theirs):
                    with Arena(place, sandbox="process", workers=1) as other:
                        assert other.submit(f"{SOURCE}\n# mine", "leduc", "bob/bot")
            at = [] if words[1] in NO_HOME else ["--home", str(ours)]
            done = CliRunner().invoke(arena_command, [*words[1:], *at, "--json"])
            assert done.exit_code == 0, (words, done.output)
            told = json.loads(done.stdout)
            shutil.rmtree("tables", ignore_errors=True)  # the call writes it again
            values = [eval(call, names) for call in calls]
            assert SAME[kind(words)](told, values[0]), (words, told, values[0])
            seen.add(kind(words))
    assert seen == set(SAME)


def test_each_row_of_csro_runs(new_home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home = new_home()
    with LLMServer(lambda prompt: "BET") as server:  # who plays where a row asks a model
        server.count = lambda text: len(text) // 3
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        run_rows_of_csro(home)


def run_rows_of_csro(home):
    few = ["--payoff-matches", "4", "--evaluation-matches", "4"]
    with Arena(home, sandbox="process", workers=1) as arena:
        names = {"arena": arena, "population": population}
        names |= {name: getattr(oracle, name) for name in oracle.__all__}
        for words, calls in rows("csro"):
            if "ID" in words:
                words[words.index("ID")] = arena.matches("kuhn", "csro/agent-tiny")[0].id
            more = few if words[1] == "run" else []
            done = CliRunner().invoke(csro_command, [*words[1:], *more, "--home", str(home)])
            assert done.exit_code == 0, (words, done.output)
            for call in calls:
                assert eval(call, names), call
