"""Every variant with the grammar, on real matches: it beats what can be beaten, repeatably."""

import pytest

from oracle.alpha_evolve import AlphaEvolve, Evolution
from oracle.attempts import digest_in
from oracle.best_of_n import BestOfN
from oracle.grammar_writer import GrammarWriter
from oracle.linear_refinement import LinearRefinement
from oracle.values import Rejected
from oracle.zero_shot import ZeroShot
from tests.oracle.stated_returns import ScriptedWriter
from tests.oracle.table_play import COPIES, ROCK, ROTATES, Play, bot, task_against

VARIANTS = [
    ZeroShot(GrammarWriter()),
    BestOfN(GrammarWriter(), drafts=2),
    LinearRefinement(GrammarWriter(), refinements=2, width=2),
]


@pytest.mark.parametrize("oracle", VARIANTS, ids=lambda oracle: oracle.name)
def test_simple_bots_are_beaten(oracle):
    task = task_against(ROTATES)
    response = oracle.respond(task, Play(task))
    assert response.best.score.u > 800
    assert response.best.digest == digest_in(task, response.best.source)
    assert response.best.digest in {attempt.digest for attempt in response.attempts}


def test_evolution_beats_them_too_and_the_same_task_gives_the_same_response():
    task = task_against(COPIES)
    oracle = AlphaEvolve(GrammarWriter(), Evolution(islands=1, generations=1, drafts=1))
    response = oracle.respond(task, Play(task))
    assert response.best.score.u > 800
    assert response == oracle.respond(task, Play(task))


def test_a_losing_program_is_refined_with_real_returns():
    task = task_against(ROCK)
    losing, crashing = bot("'SCISSORS'"), bot("mine + theirs")
    winning = bot("'PAPER' if theirs else 'ROCK'")
    oracle = LinearRefinement(ScriptedWriter([losing, crashing, winning]))
    response = oracle.respond(task, Play(task))
    first, second, third = response.attempts
    assert first.score.u == -1000
    assert second.failure.kind is Rejected.FAULTY
    assert "TypeError" in second.failure.reason
    assert third.score.u == 999
    assert response.best.source == winning


def test_early_stopping_saves_matches_and_not_the_answer():
    task = task_against(ROCK, ROTATES)
    sources = [bot(throw) for throw in ("'PAPER'", "'SCISSORS'", "mine or 'SCISSORS'")]
    sources.append(bot("'PAPER' if theirs in (None, 'ROCK') else 'ROCK'"))
    play, whole = Play(task), Play(task)
    evolution = Evolution(islands=1, generations=1, drafts=len(sources) - 1)
    response = AlphaEvolve(ScriptedWriter(sources), evolution).respond(task, play)
    assert response.best.source == max(sources, key=lambda source: whole([source])[0].u)
    assert len(play.played) < len(whole.played)
