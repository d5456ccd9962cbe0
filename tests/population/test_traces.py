"""What a model is told of matches: from those that its score was made of, and no others."""

from __future__ import annotations

import random
import re

import pytest

from arena import Arena, Rejection, game
from oracle.attempts import told_about
from oracle.drafts import Draft
from oracle.insight import Gain, Told, Trace
from oracle.models.errors import BudgetSpent
from oracle.models.gemini import GeminiModel
from oracle.models.options import ServerOptions
from oracle.models.prices import Price
from oracle.outcome import Outcome
from oracle.values import Opponent, Score, Task
from population.config import OracleChoice, RunConfig
from population.evaluator import Evaluator, Lineage
from population.launch import carry_out
from population.matches import Matches
from population.measuring import Measuring
from population.oracles import Spending, workshop
from population.runs import Runs
from population.traces import MOST_CHOICES
from tests.oracle.llm_server import LLMServer, connected
from tests.population.scripted_oracles import program
from tests.population.small_run import told
from tests.population.test_exploit import FRAIL, HALF, ROCKS


def evaluator(arena: Arena, name: str, ref: str) -> Evaluator:
    played = game(name)
    target = arena.policy(ref, played)
    task = Task(played, (Opponent(target.digest, ref, "", 1.0),), "", 1, "k01")
    lineage = Lineage()
    matches = Matches(arena, played)
    return Evaluator(matches, task, "test/traced", 4, lambda source: lineage, tells=True)


def scored(evaluate: Evaluator, source: str) -> Score:
    (score,) = evaluate([source])
    assert isinstance(score, Score)
    return score


def test_a_trace_says_when_and_where_a_program_lost(arena: Arena) -> None:
    evaluate = evaluator(arena, "rrps", "house/rockbot")
    insight = evaluate.insight
    assert insight is not None
    (trace,) = insight.traces(HALF, scored(evaluate, HALF))
    gains = {kind: {gain.label: gain for gain in found} for kind, found in trace.gains}
    assert trace.matches == 4
    assert [one.mean for one in gains["by quarter of a match"].values()] == [-249, -250, 250, 250]
    assert gains["in the throw after"]["a loss"].mean == -497.0
    assert gains["in the throw after"]["the start"].mean == 0.0
    by_throws = gains["by throws"]
    assert by_throws["SCISSORS against ROCK"].mean == -499.0
    assert by_throws["PAPER against ROCK"].mean == 500.0
    assert by_throws["PAPER against ROCK"].share == 0.5
    assert_that_lines_add_up(trace, scored(evaluate, HALF))
    assert dict(trace.choices)["ROCK against PAPER"] == "ROCK 100%"
    # The situations are the program's own: it throws paper on and on, and scissors before that.
    assert dict(trace.own)["PAPER against ROCK"] == "PAPER 100%"
    assert dict(trace.own)["SCISSORS against ROCK"] == "SCISSORS 100%, PAPER 0%"
    assert insight.idea(HALF).startswith("Loses the first half to a rock")


def assert_that_lines_add_up(trace: Trace, score: Score) -> None:
    """As a prompt says: the numbers to the return, and the shares to all throws or hands."""
    for kind, gains in trace.gains:
        assert sum(one.mean for one in gains) == pytest.approx(score.u), kind
        assert kind.startswith("by quarter") or sum(one.share for one in gains) == pytest.approx(1)


def test_what_is_won_in_the_first_throw_follows_nothing_and_is_counted(arena: Arena) -> None:
    evaluate = evaluator(arena, "rrps", "house/rockbot")
    assert evaluate.insight is not None
    source = HALF.replace('return "ROCK"', 'return "PAPER"')
    (trace,) = evaluate.insight.traces(source, scored(evaluate, source))
    (after,) = ({one.label: one for one in found} for kind, found in trace.gains if "after" in kind)
    assert (after["the start"].mean, after["the start"].share) == (1.0, 0.001)
    assert_that_lines_add_up(trace, scored(evaluate, source))


RANDOM = '''import random


class Agent:
    """Throws at random."""

    def act(self, observation):
        return random.choice(["ROCK", "PAPER", "SCISSORS"])
'''


def test_what_an_opponent_forfeits_is_told_and_no_most_of_who_does(arena: Arena) -> None:
    """What it chooses says nothing of what its forfeits give away."""
    assert not isinstance(arena.submit(FRAIL, "rrps", "mallory/frail"), Rejection)
    evaluate = evaluator(arena, "rrps", "mallory/frail")
    insight, paper = evaluate.insight, ROCKS.format(throw="PAPER")
    assert insight is not None
    assert insight.ceiling([(RANDOM, scored(evaluate, RANDOM))]) is not None
    score = scored(evaluate, paper)
    assert (score.u, score.against[0].matches, score.against[0].forfeited) == (1000.0, 4, 4)
    (trace,) = insight.traces(paper, score)
    (given,) = dict(trace.gains)["beside that, from"]
    assert given == Gain("4 of the 4 matches, which the opponent forfeited", 1.0, 500.0)
    assert sum(one.mean for one in dict(trace.gains)["by quarter of a match"]) == 500.0
    assert insight.ceiling([(paper, score)]) is None


FOLDS = '''class RepeatedLeducPokerBot:
    """Raises first, and gives up whatever it is asked to pay for."""

    def restart(self, player_id):
        pass

    def act(self, observation):
        legal = observation["player_view"]["legal_actions"]
        return "FOLD" if "FOLD" in legal else "RAISE"

    def receive_outcome(self, observation):
        pass
'''


def test_hands_are_told_with_cards_and_with_what_was_given_up(arena: Arena) -> None:
    evaluate = evaluator(arena, "leduc", "house/CFR+")
    assert evaluate.insight is not None
    (trace,) = evaluate.insight.traces(FOLDS, scored(evaluate, FOLDS))
    assert_that_lines_add_up(trace, scored(evaluate, FOLDS))
    gains = dict(trace.gains)
    ends = {gain.label: gain.mean for gain in gains["by end"]}
    assert ends["gave up 3"] < 0.0 < ends["the other gave up"]
    cards = {gain.label: gain.mean for gain in gains["by cards"]}
    assert sum(cards.values()) == pytest.approx(sum(ends.values()))
    assert 0 < len(trace.own) <= MOST_CHOICES and len(trace.choices) <= MOST_CHOICES
    assert all(did in ("RAISE 100%", "FOLD 100%") for _, did in trace.own)
    assert len(trace.costliest) == 3
    assert all(one.startswith("you in seat ") and ", Pot " in one for one in trace.costliest)
    # Who plays the same cards next cannot be told when they come.
    assert not any("Hand" in one or "So far" in one for one in trace.costliest)
    # A table's best response is known exactly, before anything was tried.
    ceiling = evaluate.insight.ceiling([])
    assert ceiling is not None and ceiling.exact
    assert ceiling.value == pytest.approx(0.0, abs=0.01)


def test_a_draft_is_told_where_the_change_before_it_lost(arena: Arena) -> None:
    evaluate = evaluator(arena, "rrps", "house/rockbot")
    insight = evaluate.insight
    assert insight is not None
    paper, scissors = (ROCKS.format(throw=throw) for throw in ("PAPER", "SCISSORS"))
    scores = {source: scored(evaluate, source) for source in (paper, HALF, scissors)}
    tried = [
        Outcome(place, Draft(f"a{place:02}", source), str(place), score, None)
        for place, (source, score) in enumerate(scores.items())
    ]
    draft = Draft("a03", paper, scores[paper])
    latest = told_about(insight, draft, tried[:2]).latest
    assert latest is not None and latest.attempt.key == "a01"
    assert latest.traces == insight.traces(HALF, scores[HALF])
    both = told_about(insight, draft, tried).latest
    assert both is not None and both.attempt.key == "a02"
    improved = told_about(insight, Draft("a03", scissors, scores[scissors]), tried).latest
    assert improved is not None and improved.attempt.key == "a01"  # what was improved on
    assert told_about(insight, draft, tried[:1]).latest is None
    assert told_about(insight, Draft("a03"), tried).latest is None


def test_a_ceiling_is_estimated_from_matches_and_refuted_by_them(arena: Arena) -> None:
    evaluate = evaluator(arena, "rrps", "house/r226bot")  # throws at random, 20 : 20 : 60
    insight = evaluate.insight
    assert insight is not None and insight.ceiling([]) is None
    sources = [ROCKS.format(throw=throw) for throw in ("ROCK", "PAPER", "SCISSORS")]
    tried = [(source, scored(evaluate, source)) for source in sources]
    ceiling = insight.ceiling(tried)
    assert ceiling is not None and not ceiling.exact
    assert ceiling.value == pytest.approx(400.0, abs=60.0)
    assert max(score.u for _, score in tried) == pytest.approx(400.0, abs=60.0)
    far = Score(ceiling.value + 900.0, 1.0, tried[0][1].against)
    assert insight.ceiling([*tried, (sources[0], far)]) is None


def run(arena: Arena, server: LLMServer, calls: int | None) -> None:
    """Begins with a policy that all programs of `paper` beat, so drafts are made from these."""
    runs = Runs(arena.home.path)
    arena.submit(ROCKS.format(throw="ROCK"), "rrps", "test/rocks")
    oracle = OracleChoice("alpha-evolve", "gemini:made-up", refinements=1)
    config = RunConfig("rrps", oracle, 1, 5, initial="test/rocks", matches=Measuring(4, 4))
    record = runs.start("llm", config)
    options = ServerOptions(server.url, timeout_seconds=20, price=Price(1.0, 1.0))
    with connected(GeminiModel("made-up", options)) as model:
        shop = workshop(runs, record, Spending(max_calls=calls), model)
        matches = Matches(arena, game("rrps"))
        carry_out(runs, "llm", config, shop.oracle, shop.authorship.lineage_of, matches)


def paper(prompt: str) -> str:
    """A program that throws what beats the last throw, and is random at times."""
    return re.sub(r"\+ \d\) % 3", "+ 1) % 3", program(random.Random(prompt)))


def test_a_run_that_was_interrupted_asks_the_same_questions(
    new_arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is told of matches depends on nothing that an interruption changes."""
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)

    def answer(prompt: str) -> str:
        return f"```python\n{paper(prompt)}```\n"

    whole, parts = new_arena("whole"), new_arena("parts")
    with LLMServer(answer) as server:
        run(whole, server, None)
        asked = [one.prompt for one in server.asked]
    with LLMServer(answer) as server:
        for calls in (2, 6):  # among the first, and among those that are told of them
            with pytest.raises(BudgetSpent):
                run(parts, server, calls)
        run(parts, server, None)
        assert sorted(one.prompt for one in server.asked) == sorted(asked)
    assert told(parts.home.path, "llm") == told(whole.home.path, "llm")
    late = [prompt for prompt in asked if "# What was tried so far" in prompt]
    assert len(late) >= 6
    assert any("# Where the return of your program came from" in prompt for prompt in late)
    assert all("# What to aim for" in prompt for prompt in late)


def test_nothing_is_told_to_whoever_does_not_ask(arena: Arena) -> None:
    played = game("rrps")
    lineage = Lineage()
    task = Task(played, (), "", 1, "k01")
    silent = Evaluator(Matches(arena, played), task, "t/x", 4, lambda source: lineage)
    assert silent.insight is None
    assert Told().best is None
