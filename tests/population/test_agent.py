"""A language model as an entrant: a server answers, commands play, matches are kept."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from arena import Arena, game
from arena.cli import main as arena_command
from arena.house.population import Population
from arena.kinds.mixture import payload_of
from oracle.agent.answers import played_alone
from oracle.agent.settings import AgentSettings
from population.agents import agent_rows, submission_of
from population.cli import main as csro_command
from population.reproduction import brought_up_to_date
from registry.naming import check_name
from registry.values import Submission
from tests.oracle.llm_server import LLMServer, Step

ROOT = Path(__file__).parents[2]


def again(prompt: str) -> str:
    """Expects what the opponent threw last; folds, calls and passes never, where there is more."""
    last = re.findall(r"^[RPS] ([RPS])$", prompt, re.M)
    legal = re.findall(r"Legal: (.*)\. Your action", prompt)
    return legal[-1].split(", ")[-1] if legal else f"R {last[-1] if last else 'R'}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LLMServer]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with LLMServer(again) as server:
        server.count = lambda text: len(text) // 3
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


@pytest.fixture
def home(new_home: Callable[[], Path]) -> Path:
    return new_home()


def csro(home: Path, *words: str) -> Result:
    place = ["--home", str(home), "--json"]
    return CliRunner().invoke(csro_command, ["agent", *words, *place])


def played(done: Result) -> dict[str, Any]:
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def matches_of(home: Path, game: str, ref: str) -> list[str]:
    with Arena(home, sandbox="process", workers=1) as arena:
        return [row.id for row in arena.matches(game, ref, limit=None)]


SURE = ("--game", "rrps", "--model", "openai:parrot", "--temperature", "0", "--history", "2")
FREE = ("--price", "0/0", "--yes")


def test_it_plays_a_bot_and_a_program_and_is_an_entrant(home: Path, server: LLMServer) -> None:
    both = ("--against", "house/rockbot", "--against", "starter/rrps", "--matches", "2")
    found = played(csro(home, "play", *SURE, *both, *FREE, "--parallel", "3"))
    assert found["ref"] == "csro/agent-parrot@1"
    assert (found["played"], found["forfeits"], found["drawn_moves"]) == (4, 0, 0)
    # Two lines of the past have 81 values, one line 9: whatever repeats is asked once.
    prompts = Counter(one.prompt_text for one in server.charged)
    assert found["calls"] == len(prompts) <= 91 and set(prompts.values()) == {1}
    assert 1 <= server.most <= 3
    with Arena(home, sandbox="process", workers=1) as arena:
        against = arena.matches("rrps", found["ref"], against="house/rockbot")
        assert [abs(arena.match(row.id).result.returns[0]) for row in against] == [1000, 1000]
        board = {row.ref: row for row in arena.leaderboard("rrps").rows}
        assert found["ref"] in board
        version = arena.policy(found["ref"], "rrps")
        assert version.kind == "llm" and json.loads(version.payload)["model"] == "openai:parrot"
        (example,) = (row.id for row in arena.matches("rrps", found["ref"], limit=1))
    assert played(csro(home, "play", *SURE, *both, *FREE))["played"] == 0
    assert len(server.charged) == len(prompts)
    refused = CliRunner().invoke(
        arena_command, ["replay", example, "--verify", "--home", str(home)]
    )
    assert refused.exit_code == 2 and "csro agent" in refused.output


def test_a_model_that_only_continues_texts_plays_too(home: Path, server: LLMServer) -> None:
    asking = ["--model", "text:base", "--temperature", "0", "--price", "0/0", "--yes"]
    played = csro(
        home, "play", "--game", "rrps", *asking, "--against", "house/rockbot", "--matches", "1"
    )
    assert played.exit_code == 0, played.output
    assert {asked.path for asked in server.asked} == {"/v1/completions"}
    assert all("messages" not in asked.body for asked in server.asked)
    with Arena(home) as arena:
        (match,) = arena.matches("rrps", "csro/agent-base")
    assert abs(match.return_low) > 900, "it expects what was thrown last, and so beats rockbot"


def test_against_a_mixture_it_meets_the_members_and_pays_for_no_match_that_counts_nowhere(
    home: Path, server: LLMServer
) -> None:
    with Arena(home, sandbox="process", workers=1) as arena:
        members = {
            arena.policy(f"house/{name}", "kuhn").digest: weight
            for name, weight in (("AlwaysBet", 0.75), ("AlwaysPass", 0.25))
        }
        arena.register(Submission("kuhn", "ada/mixed", "mixture", payload_of(members)))
    words = ("--game", "kuhn", "--model", "openai:parrot", "--matches", "16", *FREE[:2])
    priced = played(csro(home, "price", *words, "--against", "ada/mixed"))
    assert priced["matches"] == 16
    found = played(csro(home, "play", *words, "--against", "ada/mixed", "--yes"))
    assert found["played"] == 16
    with Arena(home, sandbox="process", workers=1) as arena:
        digests = [arena.policy(one, "kuhn").digest for one in (found["ref"], "ada/mixed")]
        table = arena.payoffs("kuhn", [*digests, *members])
        assert table.count[0, 2:].tolist() == [12, 4]
        assert table.count[0, 1] > 0
        assert not arena.matches("kuhn", found["ref"], against="ada/mixed")


def test_stored_matches_come_out_the_same_with_the_server_off(
    home: Path, server: LLMServer
) -> None:
    words = ("--game", "leduc", "--model", "openai:parrot", "--against", "house/AlwaysCall")
    found = played(csro(home, "play", *words, "--matches", "2", *FREE, "--history", "3"))
    assert found["played"] == 2 and found["forfeits"] == 0
    # No temperature was given, so that every move of every match has an answer of its own.
    assert len(server.charged) == found["calls"] > 300
    asked = server.charged[-1].asked
    assert "temperature" not in asked.body and "Legal: " in asked.prompt
    assert 2 <= asked.prompt.count("\n") + 1 <= 4
    server.closing.set()
    server.shutdown()
    for match in matches_of(home, "leduc", found["ref"]):
        again = played(csro(home, "replay", match))
        assert again["verified"] and again["first_difference"] is None
    (home / "agents.sqlite").unlink()
    lost = csro(home, "replay", match)
    assert lost.exit_code == 1 and "is not kept" in lost.output


def test_a_limit_stops_it_and_it_goes_on_without_paying_twice(
    home: Path, server: LLMServer
) -> None:
    words = ("--game", "kuhn", "--model", "openai:parrot", "--matches", "2", "--parallel", "2")
    some = ("--against", "house/AlwaysBet", "--against", "house/AlwaysPass")
    priced = ("--price", "0/1000000")  # a dollar a word
    stopped = csro(home, "play", *words, *some, *priced, "--max-cost", "300")
    assert stopped.exit_code == 1 and "limit of $300" in stopped.output
    assert "what is over is stored" in stopped.output
    assert len(server.charged) <= 302
    found = played(csro(home, "play", *words, *some, *priced, "--max-cost", "5000"))
    assert found["played"] + found["skipped"] == 4
    moves = 0
    with Arena(home, sandbox="process", workers=1) as arena:
        for row in arena.matches("kuhn", found["ref"], limit=None):
            stored = arena.match(row.id)
            seat = [version.kind for version in stored.versions].index("llm")
            result = stored.result
            movers = stored.game.movers(stored.deal_seed, result.moves, result.fault_seat)
            moves += movers.count(seat)
    assert len(server.charged) == found["calls"] == moves
    assert found["cost_usd"] == pytest.approx(moves)


def test_killed_it_pays_again_for_no_answer_that_arrived(home: Path, server: LLMServer) -> None:
    words = ["agent", "play", "--game", "kuhn", "--model", "openai:parrot", "--temperature", "0"]
    words += ["--against", "house/Kuhn1950", "--matches", "2", "--parallel", "2", *FREE]
    code = "from population.cli import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    program = subprocess.Popen(
        [sys.executable, "-c", code, *words, "--home", str(home)], env=environment, cwd=ROOT
    )
    try:
        deadline = time.monotonic() + 60
        while len(server.charged) < 60 and time.monotonic() < deadline:
            time.sleep(0.005)
    finally:
        program.kill()
        program.wait()
    assert len(server.charged) >= 60 and not matches_of(home, "kuhn", "csro/agent-parrot")
    before = len(server.charged)
    found = played(csro(home, *words[1:]))
    assert found["played"] == 2
    prompts = Counter(one.prompt_text for one in server.charged)
    # At most those that were under way when it was killed, and whose answers nobody took.
    assert sum(prompts.values()) - len(prompts) <= 2 and len(server.charged) > before


def test_unreadable_answers_are_asked_for_once_more_and_then_drawn(
    home: Path, server: LLMServer
) -> None:
    server.reply = lambda prompt: "R P" if "thrown yet" in prompt else "I would rather not say."
    one = ("--against", "house/rockbot", "--matches", "1")
    found = played(csro(home, "play", *SURE, *one, *FREE))
    assert found["drawn_moves"] == 999 and found["forfeits"] == 0
    prompts = [one.prompt_text for one in server.charged]
    reminded = [text for text in prompts if "two letters" in text]
    assert len(prompts) == 1 + 2 * len(reminded) == found["calls"]
    with Arena(home, sandbox="process", workers=1) as arena:
        (row,) = arena.matches("rrps", found["ref"])
        assert abs(arena.match(row.id).result.returns[0]) < 150
    assert played(csro(home, "replay", row.id))["verified"]
    assert played(csro(home, "play", *SURE, *one, *FREE))["drawn_moves"] == 999


def test_a_server_that_turns_everything_down_ends_it_and_one_question_does_not(
    home: Path, server: LLMServer
) -> None:
    one = ("--against", "house/rockbot", "--matches", "1")
    never = Step(status=400, message="this is against our rules")
    server.then(never)
    found = played(csro(home, "play", *SURE, *one, *FREE))
    assert (found["played"], found["drawn_moves"], found["forfeits"]) == (1, 1, 0)
    assert played(csro(home, "replay", matches_of(home, "rrps", found["ref"])[0]))["verified"]
    server.then(*[never] * 9)
    stopped = csro(home, "play", *SURE[:-1], "3", *one, *FREE)
    assert stopped.exit_code == 1 and "against our rules" in stopped.output
    assert "8 moves drawn at random" in stopped.output
    assert played(csro(home, "play", *SURE[:-1], "3", *one, *FREE))["drawn_moves"] == 8


def test_who_met_the_whole_population_is_told_the_scores(home: Path, server: LLMServer) -> None:
    words = ("--game", "kuhn", "--model", "openai:parrot", "--temperature", "0", "--history", "1")
    found = played(csro(home, "play", *words, "--matches", "4", "--parallel", "8", *FREE))
    assert found["played"] == 16
    with Arena(home, sandbox="process", workers=1) as arena:
        stored = arena.evaluate(found["ref"], "kuhn", 4).scores
    for name, told in found["scores"].items():
        assert told["value"] == pytest.approx(getattr(stored, name).value)
    by_words = CliRunner().invoke(
        csro_command,
        ["agent", "play", *words, "--matches", "4", *FREE, "--home", str(home)],
    )
    assert "0 matches played, 16 before" in by_words.output and "AggScore" in by_words.output


def test_two_processes_do_not_pay_for_the_same_answers(home: Path, server: LLMServer) -> None:
    one = ("--against", "house/rockbot", "--matches", "1")
    digest = played(csro(home, "play", *SURE, *one, *FREE))["digest"]
    with played_alone(home, digest):
        busy = csro(home, "play", *SURE, *one, *FREE)
    assert busy.exit_code == 1 and "another process plays this agent" in busy.output


def test_a_server_that_reads_little_is_shown_less_of_the_past(
    home: Path, server: LLMServer
) -> None:
    server.count = lambda text: len(text.split())
    server.context, server.overflow = 150, "llama"
    words = ("--game", "rrps", "--model", "openai:parrot", "--temperature", "0")
    found = played(
        csro(home, "play", *words, "--against", "house/rockbot", "--matches", "1", *FREE)
    )
    assert found["drawn_moves"] == 0 and found["forfeits"] == 0
    lines = [one.prompt_text.count("\n") + 1 for one in server.charged]
    assert 20 < max(lines) < 100


def test_the_reminder_helps(home: Path, server: LLMServer) -> None:
    server.reply = lambda prompt: again(prompt) if "two letters" in prompt else "Well, rock?"
    found = played(csro(home, "play", *SURE, "--against", "house/rockbot", "--matches", "1", *FREE))
    assert found["drawn_moves"] == 0


def test_the_price_is_told_first_and_has_to_be_agreed_to(home: Path, server: LLMServer) -> None:
    words = ("--game", "rrps", "--model", "openai:parrot", "--price", "1/1")
    price = played(csro(home, "price", *words))
    assert (price["matches"], price["calls"]) == (688, 688_000)
    assert price["cost_usd"] == pytest.approx(688_000 * (price["prompt_tokens"] + 4) / 1e6)
    refused = csro(home, "play", *words)
    assert refused.exit_code == 2 and "688,000 model calls" in refused.output
    assert not server.charged
    with Arena(home, sandbox="process", workers=1) as arena:
        assert not arena.policies("rrps", kind="llm")


def test_whatever_makes_another_play_makes_another_version(home: Path, server: LLMServer) -> None:
    one = ("--against", "house/rockbot", "--matches", "1")
    first = played(csro(home, "play", *SURE, *one, *FREE))
    pace = played(csro(home, "play", *SURE, *one, *FREE, "--parallel", "1", "--timeout", "9"))
    assert pace["digest"] == first["digest"]
    other = played(csro(home, "play", *SURE[:-1], "3", *one, *FREE))
    assert other["digest"] != first["digest"] and other["ref"] == "csro/agent-parrot@2"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "recorded:x"), "asks one model"),
        (("--model", "openai:a,openai:b"), "asks one model"),
        (("--model", "gemini:gemini-3.8-flash", "--temperature", "0"), "ignores the temperature"),
        (("--model", "openai:a", "--max-cost", "1"), "price of openai:a is not known"),
    ],
)
def test_what_makes_no_sense_is_refused(
    home: Path, server: LLMServer, words: tuple[str, ...], said: str
) -> None:
    done = csro(home, "play", "--game", "rrps", *words)
    assert done.exit_code == 2 and said in done.output and not server.asked


def test_it_fills_the_row_of_its_model_and_others_say_what_they_would_take(
    home: Path, server: LLMServer
) -> None:
    names = ("house/rockbot", "house/rotatebot")
    some = ("--against", names[0], "--against", names[1], "--matches", "4", *FREE)
    sure = ("--game", "rrps", "--temperature", "0", "--history", "2")
    ref = played(csro(home, "play", *sure, "--model", "openai:gemma3:27b", *some))["ref"]
    other = played(csro(home, "play", *sure, "--model", "openai:parrot", *some))["ref"]
    rrps = game("rrps")
    with Arena(home, sandbox="process", workers=1) as arena:
        digests = tuple(arena.policy(name, rrps).digest for name in names)
        rows = agent_rows(arena, rrps, Population("two@1", "rrps", names, digests))
    by_method = {row.method: row for row in rows}
    filled = by_method["LLM agent Gemma 3 27B"]
    assert filled.published is not None and filled.published.agg_score.mean == 126.0
    assert filled.ours is not None and ref in filled.how
    # It beats rock always, and draws with who goes round: it throws what beat the last throw.
    assert filled.ours.pop_return.value == pytest.approx(500, abs=1)
    lacking = by_method["LLM agent Chinchilla 70B"]
    assert lacking.ours is None and lacking.how.startswith("csro agent play --game rrps")
    words = lacking.how.replace("NAME", "x").replace("PROMPT/OUTPUT", "1/1").replace("USD", "0")
    reached = csro(home, *words.split()[2:])
    assert reached.exit_code == 1 and "the limit of $0 is reached" in reached.output
    assert "32,000 model calls" in lacking.note
    own = by_method["LLM agent openai:parrot"]
    assert own.published is None and own.ours is not None and other in own.how
    assert len(rows) == 3
    # It meets one of them more often afterwards, and both its mean and the noise change.
    played(
        csro(home, "play", *sure, "--model", "openai:parrot", *some[2:4], "--matches", "8", *FREE)
    )
    with Arena(home, sandbox="process", workers=1) as arena:
        later = brought_up_to_date(own, arena, rrps, Population("two@1", "rrps", names, digests))
    assert later.ours is not None and later.ours.against[1] != own.ours.against[1]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai:gemma3:27b", "agent-gemma3-27b"),
        ("openai:" + "a" * 47 + ":b", "agent-" + "a" * 47),
        ("openai:::", "agent-model"),
        ("openai:~/models/.x", "agent-models-.x"),
    ],
)
def test_an_agent_without_a_name_is_called_after_its_model(model: str, name: str) -> None:
    settings = AgentSettings("rrps", "rrps-1", model)
    assert check_name(submission_of(settings, None).name) == f"csro/{name}"


def test_it_does_not_play_itself(home: Path, server: LLMServer) -> None:
    one = ("--against", "house/rockbot")
    ref = played(csro(home, "play", *SURE, *one, "--matches", "1", *FREE))["ref"]
    itself = ("--against", ref)
    for words in (("play", *FREE), ("price",)):
        alone = csro(home, words[0], *SURE, *words[1:], *itself)
        assert alone.exit_code == 2 and "does not play itself" in alone.output
    both = played(csro(home, "play", *SURE, *one, *itself, *one, "--matches", "2", *FREE))
    assert (both["played"], both["skipped"]) == (1, 1)


def test_a_match_without_an_agent_is_the_arenas_to_replay(home: Path) -> None:
    with Arena(home, sandbox="process", workers=1) as arena:
        digests = [arena.policy(f"house/{name}", "rrps").digest for name in ("rockbot", "pibot")]
        arena.play_pairs("rrps", {(digests[0], digests[1]): 1})
        (row,) = arena.matches("rrps")
    done = csro(home, "replay", row.id)
    assert done.exit_code == 2 and "arena replay" in done.output
