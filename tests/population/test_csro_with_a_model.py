"""Runs whose programs come from a server that speaks Gemini's protocol and misbehaves."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import pytest

from arena import Arena, game
from oracle.models.errors import BudgetSpent, UnknownPrice
from oracle.models.gemini import GeminiModel
from oracle.models.journal import SqliteJournal
from oracle.models.options import ServerOptions
from oracle.models.prices import Price
from oracle.models.retry import RetryPolicy
from oracle.values import Rejected
from population.comparison import title_of
from population.config import OracleChoice, RunConfig
from population.csro import Result
from population.launch import carry_out
from population.matches import Matches
from population.measuring import Measuring
from population.oracles import Spending, journal_of, workshop
from population.runs import Runs
from population.usage import usage_of
from tests.oracle.llm_server import LLMServer, Step
from tests.population.scripted_oracles import BROKEN, NOT_A_POLICY, program
from tests.population.small_run import told

PRICE = Price(1.0, 10.0)
FAULTS = (
    Step(status=429, retry_delay="0.01s"),
    Step(status=500),
    Step(drop=True),
    Step(text="no code at all"),
    Step(text=f"```python\n{NOT_A_POLICY}```"),
    Step(text=f"```python\n{BROKEN}```"),
    Step(status=503),
    Step(empty=True),
)


def answers(seed: int):
    """A server's replies: programs of the test's family, each another one."""
    rng = random.Random(seed)
    return lambda prompt: f"Here it is.\n\n```python\n{program(rng)}```\n"


def run_with(arena: Arena, server: LLMServer, spending: Spending, name: str = "llm") -> Result:
    runs = Runs(arena.home.path)
    oracle = OracleChoice("zero-shot", "gemini:made-up", "code", "top-k:5")
    config = RunConfig("rrps", oracle, 3, 5, matches=Measuring(4, 8))
    record = runs.start(name, config)
    retry = RetryPolicy(first_wait=0.01, longest_wait=0.02)
    options = ServerOptions(server.url, timeout_seconds=20, price=PRICE, retry=retry)
    matches = Matches(arena, game("rrps"))
    with closing(workshop(runs, record, spending, GeminiModel("made-up", options))) as shop:
        lineage_of = shop.authorship.lineage_of
        return carry_out(runs, name, config, shop.oracle, lineage_of, matches)


def test_faults_costs_and_a_budget_that_stops_the_run(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with LLMServer(answers(1)) as server:
        server.then(*FAULTS)
        with pytest.raises(BudgetSpent):
            run_with(arena, server, Spending(max_calls=5))
        assert len(server.charged) == 5
        result = run_with(arena, server, Spending(max_cost=1.0))
        paid = list(server.charged)
        # Once more: everything is stored, so nothing is asked.
        again = run_with(arena, server, Spending(max_calls=0))
    assert again.mixture.digest == result.mixture.digest
    assert server.charged == paid

    runs = Runs(arena.home.path)
    iterations = runs.iterations("llm")
    assert [one.k for one in iterations] == [1, 2, 3]
    usage = usage_of(journal_of(runs, "llm"))
    assert usage.total.calls == len(paid)
    assert usage.total.tokens == sum(one.prompt + one.output for one in paid)
    cost = sum(PRICE.cost(one.prompt, one.output) or 0.0 for one in paid)
    assert usage.total.cost == pytest.approx(cost)
    assert sum(spent.calls for spent in usage.by_task.values()) == usage.total.calls

    tried = [attempt for one in iterations for attempt in one.attempts]
    assert Rejected.FAULTY in {a.failure.kind for a in tried if a.failure}
    assert sum(attempt.repairs for attempt in tried) >= 3

    # Every candidate names the call that wrote it, and the prompt that was sent.
    calls = {call.request.key: call for call in journal_of(runs, "llm").calls()}
    for one in iterations:
        version = arena.versions([one.accepted])[one.accepted]
        call = calls[str(version.provenance["call"])]
        assert version.provenance["prompt_digest"] == call.request.digest
        assert version.payload.strip() in call.reply.text
        assert version.provenance["cost_usd"] == call.reply.cost


def test_two_runs_have_journals_of_their_own(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with LLMServer(answers(2)) as server:
        run_with(arena, server, Spending(), "one")
        half = len(server.charged)
        run_with(arena, server, Spending(), "other")
        assert len(server.charged) == 2 * half
    home = arena.home.path
    assert told(home, "one") != told(home, "other")
    assert isinstance(journal_of(Runs(home), "one"), SqliteJournal)


def test_a_limit_on_an_unknown_cost_is_refused_at_the_start(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    config = RunConfig("rrps", OracleChoice(model="gemini:made-up"))
    with pytest.raises(UnknownPrice, match="--price"):
        workshop(runs, runs.start("r", config), Spending(max_cost=1.0))


def test_a_run_of_before_asks_to_the_end() -> None:
    """It goes on by its own rule, and is not pooled with runs that end earlier."""
    config = RunConfig("rrps", OracleChoice("alpha-evolve", "gemini:made-up"))
    document = config.to_document()
    del document["frugal"]
    before = RunConfig.from_document(document)
    assert (config.frugal, before.frugal) == (True, False)
    assert before.pool != config.pool
    assert title_of(before).endswith("; asked to the end")
    assert RunConfig.from_document(config.to_document()) == config
    # Nothing changed for runs of the grammar: what was stored before is the same run.
    grammar = RunConfig("rrps")
    document = grammar.to_document()
    del document["frugal"]
    assert RunConfig.from_document(document) == grammar
