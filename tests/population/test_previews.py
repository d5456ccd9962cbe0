"""What `--dry-run` and `csro prompt` print is what is sent first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from arena.games import game
from population.cli import main
from population.config import OracleChoice, RunConfig
from population.members import Member, built_in_initial
from population.oracles import journal_of
from population.previews import first_prompt, prompt_against
from population.records import Sigma
from population.runs import Runs
from tests.oracle.llm_server import LLMServer

ORACLES = {
    "zero-shot": (),
    "best-of-n": ("--drafts", "2"),
    "linear": ("--refinements", "0"),
    "alpha-evolve": ("--refinements", "0"),
}
FIRST = {"alpha-evolve": "k01/i0g00d0"}
FEW = ("--payoff-matches", "4", "--evaluation-matches", "4", "--workers", "1", "--iterations", "1")
EVOLVING = OracleChoice("alpha-evolve", "gemini:x", "code")


def prompted(home: Path, *words: str) -> dict[str, str]:
    result = CliRunner().invoke(main, [*words, "--home", str(home), "--json"])
    assert result.exit_code == 0, result.stderr
    found: dict[str, str] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize(
    ("name", "oracle", "opponents"),
    [
        *((name, oracle, "code") for name in ("rrps", "leduc") for oracle in ORACLES),
        ("rrps", "alpha-evolve", "none"),
    ],
)
def test_the_first_prompt_is_what_is_printed_beforehand(
    name: str, oracle: str, opponents: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LLMServer(lambda prompt: "no program") as server:
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        told = ("--game", name, "--model", "openai:m", "--oracle", oracle, *ORACLES[oracle])
        told = (*told, "--opponents", opponents)
        dry = prompted(home, "run", *told, "--dry-run")
        asked = ("--price", "0/0", "--name", "sent", "--sandbox", "process", *FEW)
        prompted(home, "run", *told, *asked)
    key = FIRST.get(oracle, "k01/a00")
    (sent,) = [one for one in journal_of(Runs(home), "sent").calls(key) if one.request.key == key]
    assert (dry["system"], dry["prompt"]) == (sent.request.system, sent.request.prompt)
    begins = oracle == "alpha-evolve" and opponents == "code"
    for section in ("# What to aim for", "# What was tried so far"):
        assert (section in dry["prompt"]) == begins
    assert prompted(home, "prompt", *told)["prompt"] == dry["prompt"]


def test_what_only_matches_tell_is_announced() -> None:
    """A start that meets others returns what nobody knows before; nothing is made up of it."""
    played = game("rrps")
    config = RunConfig("rrps", EVOLVING)
    text = first_prompt(config, built_in_initial(played)).text
    assert "not played. It is the opponent's own program" in text
    assert "here stands" not in text
    first = built_in_initial(played)
    second = Member("1" * 32, "k01", f"{first.source}# another\n")
    sigma = Sigma({first.digest: 0.6, second.digest: 0.4}, 0.0, "nash")
    for told in (
        prompt_against(config, [first, second], sigma, 2).text,
        first_prompt(RunConfig("rrps", EVOLVING, hidden_share=0.5), first).text,
    ):
        began = "opponent 1's own program, with which the search began"
        assert f"- To beat: (here stands what it returned), by {began}." in told
        assert f"- {began}: (here stands what it returned). " in told
        assert "nan" not in told and "+0.00" not in told
