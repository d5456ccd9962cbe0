"""A search ends where nothing more can be won, or be told from noise."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from arena.analysis.stationary import Ceiling
from oracle.alpha_evolve import AlphaEvolve, Evolution
from oracle.best_of_n import BestOfN
from oracle.drafts import Draft
from oracle.early_stop import EarlyStop
from oracle.end import End, Ended, joined
from oracle.ending import Ending
from oracle.insight import INCUMBENT
from oracle.linear_refinement import LinearRefinement
from oracle.outcome import Outcome
from oracle.values import OracleExhausted
from oracle.zero_shot import ZeroShot
from tests.oracle.stated_returns import Evaluation, ScriptedWriter, a_task, program, score_of

WHOLE = EarlyStop(efforts=(1.0,))
TASK = a_task()


def outcome(u, stderr=1.0, matches=64, *, stopped=False):
    score = replace(score_of(TASK, u, stderr, matches), stopped=stopped)
    return Outcome(0, Draft("a00", program(u)), "d", score, None)


class Knowing(Evaluation):
    """An evaluation that knows the most that can be had."""

    def __init__(self, task, ceiling):
        super().__init__(task)
        self.insight = self
        self._ceiling = ceiling

    def traces(self, source, score):
        return ()

    def ceiling(self, tried):
        return self._ceiling

    def idea(self, source):
        return ""


def exact(value):
    return Ceiling(value, 0.0, exact=True, decisions=0)


def estimated(value):
    return Ceiling(value, 1.0, exact=False, decisions=9_999)


def test_noise_is_neither_surely_better_nor_surely_worse():
    ending = Ending()
    before = outcome(10.0)
    assert ending.quiet(TASK, before, [outcome(10.5), outcome(-90.0)])
    assert ending.quiet(TASK, before, [outcome(9.5)])
    assert not ending.quiet(TASK, before, [outcome(15.0)])
    assert not ending.quiet(TASK, before, [outcome(-90.0)])
    assert not ending.quiet(TASK, None, [outcome(10.0)])
    assert not ending.quiet(TASK, before, [])
    # One that was stopped early says nothing, however close it looked.
    assert not ending.quiet(TASK, before, [outcome(10.0, stopped=True), outcome(-90.0)])
    assert not ending.quiet(TASK, before, [outcome(10.0, stopped=True)])


def test_the_most_ends_it_at_once_where_it_is_exact():
    ending = Ending()
    assert ending.why(outcome(99.5), exact(100.0), 0) is Ended.REACHED
    assert ending.why(outcome(90.0), exact(100.0), 0) is None
    assert ending.why(outcome(99.5), estimated(100.0), 0) is None
    assert ending.why(outcome(99.5), estimated(100.0), 1) is Ended.REACHED
    assert ending.why(outcome(90.0), estimated(100.0), 1) is None
    assert ending.why(outcome(90.0), None, 2) is Ended.NOISE
    assert ending.why(None, exact(100.0), 0) is None
    assert ending.why(outcome(99.5, float("nan")), exact(100.0), 0) is None


def evolved(answer, evaluation=None, ending=None, generations=6):
    writer = ScriptedWriter(answer)
    evolution = Evolution(islands=2, generations=generations, drafts=2)
    oracle = AlphaEvolve(writer, evolution, WHOLE, ending=ending or Ending())
    return oracle.respond(TASK, evaluation or Evaluation(TASK)), len(writer.asked)


def flat(draft):
    """A little more or less each time; no two the same."""
    return program(5.0 + (sum(map(ord, draft.key)) % 89) / 1000.0, draft.key)


def test_evolution_ends_after_two_generations_of_noise():
    response, asked = evolved(flat)
    assert asked == 2 + 2 * 4
    assert response.best.score.u >= 5.0
    _, asked = evolved(flat, ending=Ending(patience=1))
    assert asked == 2 + 4


def test_without_patience_noise_ends_nothing_but_the_most_does():
    """Small steps add up, though each of them is noise."""
    never = Ending(patience=None)
    _, asked = evolved(flat, ending=never)
    assert asked == 2 + 6 * 4
    _, asked = evolved(flat, Knowing(TASK, exact(5.0)), never)
    assert asked == 2
    _, asked = evolved(flat, Knowing(TASK, estimated(5.0)), never)
    assert asked == 2 + 4


def test_some_slack_lets_nearly_the_most_end_it():
    assert not Ending().reached(outcome(990.0), exact(1000.0), quiet=False)
    nearly = Ending(slack=0.01)
    assert nearly.reached(outcome(990.0), exact(1000.0), quiet=False)
    assert not nearly.reached(outcome(980.0), exact(1000.0), quiet=False)
    assert not nearly.reached(outcome(-30.0), exact(0.0), quiet=False)
    assert nearly.reached(outcome(-1010.0), exact(-1000.0), quiet=False)


def test_without_errors_the_return_itself_must_reach_the_most():
    strict = Ending(errors=0.0)
    assert Ending().reached(outcome(99.5), exact(100.0), quiet=False)
    assert not strict.reached(outcome(99.5), exact(100.0), quiet=False)
    assert strict.reached(outcome(100.0), exact(100.0), quiet=False)
    assert Ending(errors=0.0, slack=0.01).reached(outcome(99.5), exact(100.0), quiet=False)


def test_evolution_goes_on_while_it_gains():
    def climbs(draft):
        u = 10.0 * int(draft.key[3:5]) + int(draft.key[1]) + int(draft.key[-1]) / 2
        return program(u, draft.key)

    _, asked = evolved(climbs)
    assert asked == 2 + 6 * 4


def test_a_founder_that_is_a_best_response_is_asked_nothing_more():
    _, asked = evolved(flat, Knowing(TASK, exact(5.0)))
    assert asked == 2
    _, asked = evolved(flat, Knowing(TASK, estimated(5.0)))
    assert asked == 2 + 4


def test_the_most_goes_round_the_islands_and_ends_them_all():
    """An island that ends for the sake of its visitor hands it on to the next."""

    def climbs(draft):
        most = draft.key == "i0g00d0"
        return program(100.0 if most else 4.0 * int(draft.key[3:5]), draft.key)

    writer = ScriptedWriter(climbs)
    oracle = AlphaEvolve(writer, Evolution(), WHOLE, ending=Ending())
    oracle.respond(TASK, Knowing(TASK, exact(100.0)))
    asked = Counter(draft.key[:2] for draft in writer.asked)
    assert asked == {"i0": 1, "i1": 1 + 2 * 2, "i2": 1 + 5 * 2}  # visits before the 3rd and 6th


def test_linear_refinement_ends_where_even_is_the_most():
    """Against an equilibrium one that seems to lose a little has nothing to gain."""
    task = a_task()

    def asked(ceiling):
        writer = ScriptedWriter(program(-0.5 - n / 100, f"p{n}") for n in range(99))
        oracle = LinearRefinement(writer, 10, ending=Ending())
        oracle.respond(task, Knowing(task, ceiling))
        return len(writer.asked)

    assert asked(exact(0.0)) == 1
    assert asked(exact(50.0)) == 11
    assert asked(None) == 11


def asked_by_refinement(u, ceiling, revisions, *, error=1.0):
    """Calls of a refinement whose first program returns u, and its revisions that."""
    task = a_task()
    writer = ScriptedWriter(program(one, f"p{n}") for n, one in enumerate([u, *revisions]))
    knowing = Knowing(task, ceiling)
    knowing.stderr = error
    end = LinearRefinement(writer, 4, ending=Ending()).respond(task, knowing).end
    return len(writer.asked), end.reasons


def test_linear_refinement_ends_after_a_step_of_noise_at_the_estimated_most():
    """Just below 0, and no program is expected to return more."""
    reached = (Ended.REACHED,)
    assert asked_by_refinement(-0.01, estimated(0.0), [-0.02] * 4) == (2, reached)
    assert asked_by_refinement(-0.02, estimated(0.0), [-0.01] * 4) == (2, reached)
    # What is surely worse is no noise; a step of noise after it ends it all the same.
    assert asked_by_refinement(-0.01, estimated(0.0), [-50.0, -0.02, -0.03]) == (3, reached)
    # Nor is what surely gains, which may go on to gain.
    assert asked_by_refinement(-60.0, estimated(0.0), [-0.02, -0.01]) == (3, reached)


def test_linear_refinement_goes_on_below_an_estimated_most_and_where_none_is_known():
    made = (Ended.MADE,)
    assert asked_by_refinement(-0.01, estimated(50.0), [-0.02] * 4) == (5, made)
    assert asked_by_refinement(-0.01, None, [-0.02] * 4) == (5, made)
    assert asked_by_refinement(-0.01, estimated(0.0), [-50.0] * 4) == (5, made)
    assert asked_by_refinement(-0.01, estimated(0.0), [-0.02] * 4, error=float("nan")) == (5, made)


def refined(answers, ceiling, ending=None):
    task = a_task()
    oracle = LinearRefinement(ScriptedWriter(answers), 2, ending=ending)
    return oracle.respond(task, Knowing(task, ceiling)).end


def test_an_answer_says_why_its_search_ended_and_the_most_that_it_knew():
    losing = [program(-5.0 - n, f"p{n}") for n in range(9)]
    assert refined(losing, None) == End((Ended.MADE,))
    assert refined([program(1.0)], estimated(9.0)) == End((Ended.BEATS,), estimated(9.0))
    assert refined(losing, exact(-5.0), Ending()) == End((Ended.REACHED,), exact(-5.0))
    assert evolved(flat)[0].end == End((Ended.NOISE,))
    assert evolved(flat, generations=1)[0].end == End((Ended.MADE,))
    for ceiling in (exact(5.0), estimated(5.0)):
        assert evolved(flat, Knowing(TASK, ceiling))[0].end == End((Ended.REACHED,), ceiling)
    task = a_task()
    drafts = BestOfN(ScriptedWriter(losing), drafts=2).respond(task, Knowing(task, exact(1.0)))
    assert drafts.end == End((Ended.MADE,), exact(1.0))
    with pytest.raises(OracleExhausted) as nothing:
        ZeroShot(ScriptedWriter(program(0.0, f"f{n}", faulty=True) for n in range(9))).respond(
            task, Evaluation(task)
        )
    assert nothing.value.end == End((Ended.MADE,))


def test_islands_that_end_for_different_reasons_tell_all_of_them():
    ends = [End((Ended.REACHED,), estimated(7.0)), End((Ended.MADE,)), End((Ended.REACHED,))]
    assert joined(ends, exact(9.0)) == End((Ended.REACHED, Ended.MADE), estimated(7.0))
    assert joined(ends[1:2], exact(9.0)) == End((Ended.MADE,), exact(9.0))


def test_what_a_stranger_did_ends_no_search_by_an_estimate():
    """Who hides its memory would be left alone after a few programs."""
    ending = Ending(patience=None, estimates=False)
    assert evolved(flat, Knowing(TASK, exact(5.0)), ending=ending)[0].end.reasons == (
        Ended.REACHED,
    )
    assert evolved(flat, Knowing(TASK, estimated(5.0)), ending=ending)[0].end.reasons == (
        Ended.MADE,
    )


def test_an_end_is_told_in_words_and_kept():
    for end, words in (
        (End((Ended.MADE,)), "all drafts were made"),
        (
            End((Ended.REACHED, Ended.NOISE), estimated(7.0)),
            "an estimate of the most was reached and only noise was left; at most +7.0 from who "
            "chooses by the situation alone (estimate, standard error 1.0)",
        ),
        (End((Ended.BEATS,), exact(0.0)), "a program does not lose; at most +0.0 (exact)"),
    ):
        assert str(end) == words
        assert End.from_document(json.loads(json.dumps(end.document()))) == end


def test_drafts_are_told_the_most():
    writer = ScriptedWriter(flat)
    oracle = LinearRefinement(writer, 2, ending=None)
    oracle.respond(replace(TASK, seed=1), Knowing(TASK, exact(5.0)))
    assert writer.asked[0].told.ceiling == exact(5.0)


def test_drafts_are_told_of_what_the_search_began_with_and_of_visitors():
    """The best that is known of an island is the one to beat, wherever it comes from."""
    start = program(50.0, "start")
    task = replace(TASK, incumbent=start)

    def answer(draft):
        return program(60.0, draft.key) if draft.key == "i1g01d0" else flat(draft)

    writer = ScriptedWriter(answer)
    evolution = Evolution(islands=2, generations=4, drafts=2, migrate_every=3)
    AlphaEvolve(writer, evolution, WHOLE).respond(task, Knowing(task, None))
    best = {draft.key: draft.told.best.key for draft in writer.asked if draft.told.best}
    assert best["i0g00d0"] == best["i0g02d1"] == best["i1g01d0"] == INCUMBENT
    assert best["i1g02d0"] == best["i0g03d0"] == "i1g01d0"  # which visits the other island then
    last = next(draft for draft in writer.asked if draft.key == "i0g04d0")
    assert [one.key for one in last.told.tried].count("i1g01d0") == 1
    assert last.told.attempt(INCUMBENT).source == start


def test_options_are_checked():
    with pytest.raises(ValueError, match="patience"):
        Ending(patience=0)
    with pytest.raises(ValueError, match="error_rate"):
        Ending(error_rate=1.0)
    with pytest.raises(ValueError, match="errors"):
        Ending(errors=-1.0)
    with pytest.raises(ValueError, match="slack"):
        Ending(slack=1.0)
