"""How a model is asked: on the command line, on the wire, in the record; and what it is asked."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from oracle.models.options import Asking
from oracle.values import Rejected
from population.cli import main
from population.config import OracleChoice, RunConfig
from population.limits import keep_pace
from population.oracles import journal_of
from population.records import RunState
from population.runs import Runs
from tests.oracle.llm_server import LLMServer, Step
from tests.population.scripted_oracles import program

SMALL = ("--game", "rrps", "--iterations", "1", "--workers", "1", "--sandbox", "process")
MATCHES = ("--payoff-matches", "4", "--evaluation-matches", "8", "--name", "asked")
OPENAI = ("--model", "openai:local", "--price", "0/0")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LLMServer]:
    """Where both providers' variables point to."""
    rng = random.Random(3)
    with LLMServer(lambda prompt: f"```python\n{program(rng)}```") as server:
        monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
        for name in ("GEMINI_API_KEY", "OPENAI_API_KEY"):
            monkeypatch.setenv(name, "k")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


def csro(home: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--home", str(home)])


def run(home: Path, *words: str) -> Result:
    return csro(home, "run", *SMALL, *MATCHES, *words)


def answered(result: Result) -> Any:
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_options_are_sent_and_recorded(server: LLMServer, home: Path) -> None:
    words = ("--temperature", "0.5", "--max-output-tokens", "9000", "--thinking", "high")
    pace = ("--timeout", "77", "--parallel", "3", "--context", "90000")
    done = run(home, *OPENAI, "--oracle", "best-of-n", "--drafts", "1", *words, *pace)
    assert done.exit_code == 0, done.stderr
    body = server.asked[0].body
    assert (body["temperature"], body["max_tokens"], body["reasoning_effort"]) == (
        0.5,
        9000,
        "high",
    )
    assert server.asked[0].headers["x-stainless-read-timeout"].startswith("77")
    config = Runs(home).get("asked").config
    assert config.oracle.asking == Asking(0.5, 9000, "high")
    kept = config.oracle.asking
    assert (kept.timeout_seconds, kept.parallel, kept.context_tokens) == (77, 3, 90_000)
    assert config.variant.endswith("temperature 0.5, output 9000, thinking high")


def test_gemini_thinks_as_it_is_told(server: LLMServer, home: Path) -> None:
    words = ("--model", "gemini", "--oracle", "zero-shot", "--thinking", "low")
    done = run(home, *words)
    assert done.exit_code == 0, done.stderr
    assert "--hidden-share 0.9 guards against that" in done.stderr
    thinking = server.asked[0].body["generationConfig"]["thinkingConfig"]
    # Protocol buffers' JSON takes either spelling of a name; the SDK's has been seen to change.
    assert {name.replace("_", "").lower(): level for name, level in thinking.items()} == {
        "thinkinglevel": "LOW"
    }
    assert "list price as of" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "grammar", "--temperature", "0.5"), "would do nothing"),
        (("--model", "gemini", "--temperature", "0.5"), "ignores the temperature"),
        (("--model", "gemini", "--thinking", "minimal"), "low, medium, high"),
        ((*OPENAI, "--parallel", "0"), "Invalid value"),
        ((*OPENAI, "--timeout", "0"), "Invalid value"),
        ((*OPENAI, "--thinking", "hard"), "Invalid value"),
    ],
)
def test_what_makes_no_sense_is_refused_at_the_start(
    server: LLMServer, home: Path, words: tuple[str, ...], said: str
) -> None:
    done = run(home, *words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert server.asked == []


def test_so_many_calls_are_under_way_at_once(server: LLMServer, home: Path) -> None:
    server.then(*[Step(seconds=0.5)] * 6)
    words = ("--oracle", "best-of-n", "--drafts", "6", "--parallel", "3")
    done = run(home, *OPENAI, *words)
    assert done.exit_code == 0, done.stderr
    assert server.most == 3


def test_a_run_goes_on_at_another_pace(server: LLMServer, home: Path) -> None:
    words = (*OPENAI, "--oracle", "zero-shot")
    server.then(Step(status=401))
    assert run(home, *words).exit_code == 1
    server.then(Step(seconds=30.0))
    done = csro(home, "resume", "asked", "--price", "0/0", "--timeout", "1", "--workers", "1")
    assert done.exit_code == 0, done.stderr
    assert len(server.asked) == 3  # refused, given up on after a second, answered
    kept = Runs(home).get("asked").config
    assert kept.oracle.asking.timeout_seconds == 1.0
    assert kept.described()["Time-out of a call"] == "1 s"
    # The same command with another pace names the same run.
    again = run(home, *words, "--timeout", "5")
    assert again.exit_code == 0, again.stderr


def test_the_same_command_goes_on_at_the_pace_that_it_names(server: LLMServer, home: Path) -> None:
    words = (*OPENAI, "--oracle", "best-of-n", "--drafts", "1")
    server.then(Step(status=401), Step(status=401))
    assert run(home, *words, "--context", "90000", "--parallel", "2").exit_code == 1
    assert csro(home, "resume", "asked", "--parallel", "3", "--workers", "1").exit_code == 1
    assert Runs(home).get("asked").config.oracle.asking.parallel == 3
    done = run(home, *words, "--timeout", "5")
    assert done.exit_code == 0, done.stderr
    told = Runs(home).get("asked").config.described()
    pace = ("Time-out of a call", "Calls at once", "Server's context")
    assert [told[title] for title in pace] == ["5 s", "3", "90,000 tokens"]


def test_a_pace_is_kept_where_the_record_had_none(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    document = RunConfig("rrps", OracleChoice("best-of-n", "gemini:x")).to_document()
    del document["oracle"]["asking"]
    runs.start("r", RunConfig.from_document(document))
    with runs.engine.begin() as file:
        file.exec_driver_sql("update run set config = ?", (json.dumps(document),))
    before = runs.get("r").config
    keep_pace(runs, "r", {})
    keep_pace(runs, "r", {"parallel": 9})
    after = runs.get("r").config
    assert after == before and after.oracle.asking.parallel == 9
    assert after.oracle.asking.timeout_seconds == 600.0


@pytest.mark.parametrize(
    ("oracle", "model", "shown"),
    [
        ("best-of-n", "gemini:x", {"Time-out of a call", "Calls at once", "Server's context"}),
        ("linear", "gemini:x", {"Time-out of a call", "Server's context"}),
        ("best-of-n", "gemini:x,recorded:y", {"Time-out of a call", "Server's context"}),
        ("best-of-n", "recorded:y", set()),
        ("best-of-n", "grammar", set()),
    ],
)
def test_a_pace_is_told_where_it_does_something(oracle: str, model: str, shown: set[str]) -> None:
    told = RunConfig("rrps", OracleChoice(oracle, model)).described()
    pace = {"Time-out of a call", "Calls at once", "Server's context"}
    assert pace & told.keys() == shown
    assert told.get("Server's context", "found out") == "found out"


def test_records_of_before_have_the_usual_values() -> None:
    document = RunConfig("rrps", OracleChoice("linear", "gemini:x")).to_document()
    del document["oracle"]["asking"]
    assert RunConfig.from_document(document).oracle.asking == Asking()
    told = RunConfig("rrps", OracleChoice("linear", "gemini:x", asking=Asking(thinking="low")))
    assert RunConfig.from_document(json.loads(json.dumps(told.to_document()))) == told


def test_a_model_that_refuses_everything_stops_the_run_until_it_is_resumed(
    server: LLMServer, home: Path
) -> None:
    words = ("--model", "gemini:made-up", "--price", "0/0", "--oracle", "zero-shot")
    server.then(*[Step(blocked="SAFETY")] * 9)
    stopped = run(home, *words)
    assert stopped.exit_code == 1
    assert "answered none of the last 9 questions" in stopped.stderr
    record = Runs(home).get("asked")
    assert record.state is RunState.STOPPED
    assert "SAFETY" in record.note
    assert len({asked.prompt for asked in server.asked}) >= 5
    done = csro(home, "resume", "asked", "--price", "0/0", "--workers", "1")
    assert done.exit_code == 0, done.stderr
    assert len(server.asked) == 10  # what was refused is not asked again
    (iteration,) = Runs(home).iterations("asked")
    kinds = [one.failure.kind for one in iteration.attempts if one.failure]
    assert kinds == [Rejected.BLOCKED] * 3
    assert iteration.accepted


def test_a_run_that_nobody_joins_says_so_and_why(server: LLMServer, home: Path) -> None:
    server.then(*[Step(text="I would rather not.")] * 20)
    done = run(home, *OPENAI, "--oracle", "linear", "--refinements", "0")
    assert done.exit_code == 0, done.stderr
    assert "nothing joins (no-code: " in done.stderr
    assert "finished, and nothing joined" in done.stdout
    assert "csro report asked" in done.stdout


def test_a_start_that_is_not_the_paper_s_is_not_shown(home: Path) -> None:
    words = ("prompt", "--game", "rrps", "--model", "gemini", "--json")
    shown = {
        oracle: answered(csro(home, *words, "--oracle", oracle))["prompt"]
        for oracle in ("zero-shot", "linear")
    }
    assert "A program to start from" not in shown["zero-shot"]
    assert "A program to start from" in shown["linear"]
    assert "one and the same program" in shown["zero-shot"]


@pytest.mark.parametrize("oracle", ["zero-shot", "linear"])
def test_the_share_that_shapes_a_prompt_can_be_told(home: Path, oracle: str) -> None:
    words = ("--game", "rrps", "--model", "gemini:x", "--oracle", oracle, "--json")
    told = ("--hidden-share", "0.35")
    plain, shared = (answered(csro(home, "prompt", *words, *more)) for more in ((), told))
    assert "35%" in shared["prompt"] and "35%" not in plain["prompt"]
    assert shared["prompt"] == answered(csro(home, "run", *words, *told, "--dry-run"))["prompt"]


def prompts_of(server: LLMServer) -> list[str]:
    return [asked.prompt for asked in server.asked]


def test_every_prompt_of_a_run_can_be_shown(server: LLMServer, home: Path) -> None:
    server.then(Step(text="no code"))
    done = run(home, *OPENAI, "--oracle", "zero-shot", "--json")
    assert done.exit_code == 0, done.stderr
    listed = answered(csro(home, "prompt", "--run", "asked", "--json"))
    assert [call["key"] for call in listed["calls"]] == ["k01/a00", "k01/a00/r1"]
    assert listed["calls"][0]["finish"] == "stopped"
    first, repaired = prompts_of(server)
    for key, prompt in (("k01/a00", first), ("k01/a00/r1", repaired), ("k01", first)):
        shown = answered(csro(home, "prompt", "--run", "asked", "--call", key, "--json"))
        assert shown["prompt"] == prompt
    human = csro(home, "prompt", "--run", "asked", "--call", "k01/a00/r1")
    assert "Your last reply could not be used" in human.stdout
    assert "as it was sent" in human.stderr
    table = csro(home, "prompt", "--run", "asked").stdout
    assert "k01/a00/r1" in table
    offered = [line.partition("--call ")[2] for line in table.splitlines() if "--call" in line]
    assert offered and [one.split()[0] for one in offered] == ["k01/a00/r1", "k01"]


def test_a_run_that_was_not_asked_yet_says_so(home: Path) -> None:
    Runs(home).start("asked", RunConfig("rrps", OracleChoice("linear", "gemini:x")))
    assert csro(home, "prompt", "--run", "asked").stdout == "asked has no model call yet\n"


def test_what_a_reply_says_to_a_terminal_does_not_reach_it(server: LLMServer, home: Path) -> None:
    server.then(Step(text="no \x1b]0;OWNED\x07\x1b[2J\x00\tprogram, h\u00e9!"))
    done = run(home, *OPENAI, "--oracle", "zero-shot")
    assert done.exit_code == 0, done.stderr
    human = csro(home, "prompt", "--run", "asked", "--call", "k01/a00/r1")
    assert human.exit_code == 0, human.stderr
    told = "no [U+001B]]0;OWNED[U+0007][U+001B][2J[U+0000]\tprogram, h\u00e9!"
    assert told in human.stdout
    assert "\x1b" not in human.stdout


def test_a_shortened_prompt_is_shown_as_it_was_sent(server: LLMServer, home: Path) -> None:
    words = ("prompt", "--game", "rrps", *OPENAI[:2], "--oracle", "zero-shot", "--json")
    whole = answered(csro(home, *words))
    server.count = lambda text: len(text) // 4
    server.context = server.count(whole["system"] + whole["prompt"]) - 10
    server.overflow = "vllm"
    done = run(home, *OPENAI, "--oracle", "zero-shot")
    assert done.exit_code == 0, done.stderr
    (call,) = journal_of(Runs(home), "asked").calls()
    assert call.request.prompt == whole["prompt"]
    assert call.reply.sent == server.asked[-1].prompt != call.request.prompt
    assert "None is shown, for lack of room" in call.reply.sent
    shown = answered(csro(home, "prompt", "--run", "asked", "--call", "k01/a00", "--json"))
    assert shown["prompt"] == server.asked[-1].prompt
    assert shown["shortened"]


def test_a_run_without_a_model_tells_what_one_would_be_asked(home: Path) -> None:
    words = ("--model", "grammar", "--oracle", "zero-shot", "--iterations", "2")
    done = run(home, *words)
    assert done.exit_code == 0, done.stderr
    for asked, status in (((), 2), (("--call", "k01/a00"), 2), (("--call", "k02"), 0)):
        shown = csro(home, "prompt", "--run", "asked", *asked)
        assert shown.exit_code == status
        assert "asked asks no model" in shown.stderr
        assert status == 0 or shown.stderr.endswith("--call k02\n")  # of two iterations
    iterations = Runs(home).iterations("asked")
    for one in iterations:
        key = f"k{one.k:02}"
        shown = csro(home, "prompt", "--run", "asked", "--call", key, "--json")
        text = answered(shown)["prompt"]
        assert "nothing was sent" in shown.stderr
        for number, weight in enumerate(one.sigma.support.values(), 1):
            assert f"Opponent {number}: weight {weight:.4f}" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "either --game"),
        (("--game", "rrps", "--run", "asked"), "either --game"),
        (("--game", "rrps", "--call", "k01"), "give --run RUN too"),
        (("--run", "nobody"), "there is no run 'nobody'"),
        (("--run", "asked", "--filter", "all"), "--filter would do nothing"),
        (("--run", "asked", "--hidden-share", "0.5"), "--hidden-share would do nothing"),
        (("--run", "asked", "--call", "k09/a00"), "no model call 'k09/a00'"),
    ],
)
def test_what_cannot_be_shown_is_said(home: Path, words: tuple[str, ...], said: str) -> None:
    Runs(home).start("asked", RunConfig("rrps", OracleChoice("linear", "gemini:x")))
    shown = csro(home, "prompt", *words)
    assert shown.exit_code == 2
    assert said in shown.stderr


def test_what_an_exploit_asked_can_be_read_though_it_is_no_run(
    server: LLMServer, home: Path
) -> None:
    few = ("--evaluation-matches", "4", "--matches", "4", "--workers", "1", "--sandbox", "process")
    search = ("--game", "rrps", "--oracle", "zero-shot", *OPENAI)
    found = answered(csro(home, "exploit", "house/rockbot", *search, *few, "--json"))
    name = found["calls"]
    assert name.startswith("against-")
    (call,) = answered(csro(home, "prompt", "--run", name, "--json"))["calls"]
    sent = csro(home, "prompt", "--run", name, "--call", call["key"])
    assert server.asked[0].prompt in sent.stdout
    said = csro(home, "exploit", "house/rockbot", *search, *few).stdout  # asks nothing again
    assert f"csro prompt --run {name}" in said and len(server.asked) == 1
    assert "no model call 'k09'" in csro(home, "prompt", "--run", name, "--call", "k09").stderr
    assert "there is no run 'against-x'" in csro(home, "prompt", "--run", "against-x").stderr
