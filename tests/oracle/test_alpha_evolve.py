"""AlphaEvolve: islands, parents, edits, novelty, and a result that follows from the seed."""

import random
import re
import threading
import time
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.alpha_evolve import AlphaEvolve, Evolution
from oracle.attempts import digest_in
from oracle.drafts import Draft
from oracle.early_stop import EarlyStop
from oracle.ending import Ending
from oracle.grammar_writer import GrammarWriter
from oracle.islands import Island, signature
from oracle.models.errors import BudgetSpent, CallRefused
from oracle.models.retry import Caller, RetryPolicy, Transient
from oracle.outcome import Outcome
from oracle.values import Failure, OracleExhausted, Rejected
from tests.oracle.stated_returns import Evaluation, ScriptedWriter, a_task, program, score_of

BAD_EDIT = Failure(Rejected.BAD_EDIT, "block 1: its SEARCH part is not in the program")
WHOLE = EarlyStop(efforts=(1.0,))


def outcome(number, u, name=None, task=None):
    task = task or a_task()
    source = program(u, name or f"p{number}")
    return Outcome(number, Draft(f"a{number}", source=source), digest_in(task, source), None, None)


def scored(number, u, name=None):
    return replace(outcome(number, u, name), score=score_of(a_task(), u))


def climber(draft):
    """Improves every parent by one."""
    if draft.score is None:
        return program(-20.0 - int(draft.key[1]) / 8, draft.key)
    return program(draft.score.u + 1.0, draft.key)


def evolve(answers, task=None, **options):
    task = task or a_task()
    early_stop = options.pop("early_stop", WHOLE)
    workers = options.pop("workers", 1)
    ending = options.pop("ending", None)
    writer = ScriptedWriter(answers)
    oracle = AlphaEvolve(writer, Evolution(**options), early_stop, workers, ending)
    return oracle.respond(task, Evaluation(task)), writer


@pytest.mark.parametrize("error", [CallRefused("key revoked"), KeyboardInterrupt()])
def test_an_end_on_one_island_ends_the_waits_on_all(error):
    task, calls, asked = a_task(), Caller(RetryPolicy(), concurrency=9), []

    def attempt(key):
        asked.append(key)
        if generation_of(Draft(key)) == 0:
            return program(float(key[1]), key)
        if key.startswith("i0g01d1"):
            while sum(generation_of(Draft(one)) for one in asked) < 6:  # all others wait by now
                time.sleep(0.01)
            raise error
        raise Transient("slow down", 500.0)

    def answer(draft):
        return calls.call(draft.key, lambda: attempt(draft.key)).value

    start = time.monotonic()
    with pytest.raises(type(error)):
        evolve(answer, task, workers=9, generations=2)
    assert time.monotonic() - start < 60.0
    assert len(set(asked)) == len(asked)


def island_of(draft):
    return int(draft.key[1])


def generation_of(draft):
    return int(draft.key[3:5])


def test_the_best_program_of_all_islands_is_the_answer():
    response, _ = evolve(climber, islands=2, generations=4, drafts=1, temperature=0.0)
    assert response.best.score.u == -16.0
    assert len(response.attempts) == 2 + 2 * 4
    assert response.best.parent in {attempt.digest for attempt in response.attempts}


def test_islands_evolve_apart_between_migrations():
    _, writer = evolve(climber, islands=3, generations=4, drafts=2, migrate_every=5)
    for draft in writer.asked:
        if draft.source:
            ancestor = re.search(r"NAME = 'i(\d)g", draft.source)[1]
            assert int(ancestor) == island_of(draft)
            shown = {re.search(r"NAME = 'i(\d)g", text)[1] for text, _ in draft.inspirations}
            assert shown <= {str(island_of(draft))}


def test_migration_carries_the_best_around_the_ring():
    island, visitor = Island(1, (scored(0, -5.0),)), scored(1, 3.0)
    after = island.visited_by(visitor)
    assert [one.u for one in after.programs] == [-5.0, 3.0]
    assert after.visited_by(visitor) == after
    assert island.visited_by(None) == island
    _, writer = evolve(climber, islands=2, generations=4, drafts=3, migrate_every=2)
    late = [draft for draft in writer.asked if generation_of(draft) >= 2]
    ancestors = {(island_of(d), re.search(r"'i(\d)g", d.source)[1]) for d in late}
    assert {(0, "1"), (1, "0")} & ancestors


def test_parents_are_drawn_in_favour_of_high_returns():
    island = Island(0, tuple(scored(n, 10.0 * n) for n in range(5)))
    drawn = Counter(island.parent(random.Random(n), 0.5, 20.0 / 4).u for n in range(2000))
    assert drawn[40.0] > drawn[30.0] > drawn[20.0] > drawn[0.0]
    assert drawn[40.0] > 1000
    assert {island.parent(random.Random(n), 0.0, 5.0).u for n in range(50)} == {40.0}


def test_specialists_are_the_best_against_one_opponent():
    def returning(number, *means):
        one = scored(number, sum(means) / 2)
        against = (
            replace(part, mean=mean) for part, mean in zip(one.score.against, means, strict=True)
        )
        return replace(one, score=replace(one.score, against=tuple(against)))

    island = Island(0, (returning(0, 9.0, -9.0), returning(1, 5.0, 5.0), returning(2, -9.0, 9.0)))
    drawn = {island.specialist(random.Random(n)).number for n in range(20)}
    assert drawn == {0, 2}
    with pytest.raises(ValueError, match="no program"):
        Island(0).specialist(random.Random(1))


def test_parents_may_be_those_that_are_the_best_against_one_opponent():
    task = a_task(0.75, 0.25)
    means = {"i0g00d0": (5.0, 5.0), "i0g01d0": (9.0, -30.0), "i0g01d1": (-30.0, 9.0)}

    def evaluate(sources, *, effort=1.0):
        found = []
        for source in sources:
            ours = means.get(re.search(r"NAME = '(\w+)'", source)[1], (-40.0 - len(found), -40.0))
            score = score_of(task, 0.75 * ours[0] + 0.25 * ours[1])
            parts = zip(score.against, ours, strict=True)
            found.append(replace(score, against=tuple(replace(a, mean=m) for a, m in parts)))
        return tuple(found)

    def parents(share):
        writer = ScriptedWriter(lambda draft: program(0.0, draft.key))
        options = {"islands": 1, "generations": 6, "drafts": 2, "temperature": 0.0}
        oracle = AlphaEvolve(writer, Evolution(specialists=share, **options), WHOLE)
        oracle.respond(task, evaluate)
        late = [draft for draft in writer.asked if generation_of(draft) >= 2]
        return {re.search(r"NAME = '(\w+)'", draft.source)[1] for draft in late}

    assert parents(0.0) == {"i0g00d0"}
    assert parents(1.0) == {"i0g01d0", "i0g01d1"}


def test_a_cluster_counts_once_however_many_programs_it_has():
    """Programs that play alike must not crowd out others by their number."""
    alike = tuple(scored(n, 8.0 + n / 100.0, f"alike{n}") for n in range(9))
    island = Island(0, (*alike, scored(99, 10.5, "other")))
    assert [len(cluster) for cluster in island.clusters(4.0).values()] == [9, 1]
    drawn = Counter(island.parent(random.Random(n), 2.0, 4.0).number == 99 for n in range(2000))
    assert drawn[True] > 1000


def test_a_cluster_prefers_the_shorter_program():
    long, short = scored(0, 5.0, "x" * 500), scored(1, 5.0, "x")
    island = Island(0, (long, short))
    drawn = Counter(island.parent(random.Random(n), 0.5, 4.0).number for n in range(500))
    assert 400 < drawn[1] < 500


@given(st.lists(st.floats(-1000, 1000), min_size=1, max_size=6), st.floats(0.1, 100))
def test_signatures_tell_programs_apart_by_classes_of_returns(returns, grain):
    task = a_task(*([1.0] * len(returns)))
    against = tuple(
        replace(one, mean=value)
        for one, value in zip(score_of(task, 0.0).against, returns, strict=True)
    )
    score = replace(score_of(task, 0.0), against=against)
    assert len(signature(score, grain)) == len(returns)
    moved = tuple(replace(one, mean=one.mean + 2 * grain) for one in against)
    assert signature(replace(score, against=moved), grain) != signature(score, grain)


def test_edits_first_whole_programs_after_repeated_failures():
    def answer(draft):
        if draft.edit:
            return BAD_EDIT
        return program(-50.0 + generation_of(draft), draft.key)

    response, writer = evolve(
        answer, islands=1, generations=6, drafts=1, edit_patience=2, rewrite_chance=0.0
    )
    assert [draft.edit for draft in writer.asked] == [False, True, True, False, True, True, False]
    assert writer.asked[2].failure == BAD_EDIT  # the reason is fed back
    kinds = [attempt.failure and attempt.failure.kind for attempt in response.attempts]
    assert kinds.count(Rejected.BAD_EDIT) == 4
    assert all(attempt.score is None for attempt in response.attempts if attempt.failure)


def test_failures_are_states_that_never_win():
    """A crashing program must not beat a losing one."""

    def answer(draft):
        if draft.score is None:
            return program(-100.0, draft.key)
        return program(0.0, draft.key, faulty=True)

    response, writer = evolve(answer, islands=2, generations=3, drafts=2)
    assert response.best.score.u == -100.0
    assert all("faulty" not in draft.source for draft in writer.asked)
    assert any(d.failure is not None and d.failure.kind is Rejected.FAULTY for d in writer.asked)


def test_programs_that_play_exactly_alike_are_duplicates():
    def answer(draft):
        return program(-7.0 if draft.score else -8.0 - int(draft.key[1]), draft.key)

    response, _ = evolve(answer, islands=1, generations=3, drafts=2)
    kinds = [attempt.failure and attempt.failure.kind for attempt in response.attempts]
    assert kinds == [None, None, *[Rejected.DUPLICATE] * 5]
    # The first of these is of the same generation as the one that it equals.
    assert {one.failure.twin for one in response.attempts if one.failure} == {"i0g01d0"}


def test_the_incumbent_founds_every_island_but_is_no_answer():
    task = a_task(incumbent=program(30.0, "incumbent"))
    response, writer = evolve(
        lambda draft: program(-5.0 if draft.score is None else 2.0 + len(draft.key), draft.key),
        task=task,
        islands=2,
        generations=2,
        drafts=1,
    )
    assert any(draft.source == task.incumbent for draft in writer.asked)
    assert response.best.score.u < 30.0
    assert response.best.source != task.incumbent
    _, writer = evolve(climber, task=task, islands=2, generations=2, from_incumbent=False)
    assert all(draft.source != task.incumbent for draft in writer.asked)


def test_the_answer_has_a_full_score_even_where_all_were_stopped():
    """Nothing comes near the incumbent, so the cascade stops every draft at its first look."""
    task = a_task(incumbent=program(30.0, "incumbent"))
    response, _ = evolve(
        lambda draft: program(-50.0 - len(draft.key), draft.key),
        task=task,
        islands=2,
        generations=1,
        early_stop=EarlyStop(),
    )
    tried = [attempt for attempt in response.attempts if attempt.score]
    assert {attempt.score.against[0].matches for attempt in tried} == {16}
    assert response.best.score.against[0].matches == 64


def test_an_island_without_a_sound_program_tries_again():
    empty = Failure(Rejected.EMPTY, "the reply was empty")
    answers = [empty, program(1.0, "f", faulty=True), program(-1.0, "a")]
    response, writer = evolve(answers, islands=1, generations=2, drafts=1)
    assert response.best.score.u == -1.0
    assert [draft.failure and draft.failure.kind for draft in writer.asked] == [
        None,
        Rejected.EMPTY,
        Rejected.FAULTY,
    ]
    with pytest.raises(OracleExhausted):
        evolve([empty] * 99, islands=2, generations=2)


def test_the_same_seed_gives_the_same_response_with_any_number_of_workers():
    options = {"islands": 3, "generations": 3, "drafts": 3, "early_stop": EarlyStop()}
    alone, _ = evolve(climber, **options)
    together, _ = evolve(climber, workers=4, **options)
    assert alone == together
    other, _ = evolve(climber, task=a_task(seed=8), **options)
    assert other != alone


@pytest.mark.parametrize("ending", [None, Ending(patience=1)], ids=["to the end", "may end"])
@pytest.mark.parametrize("seed", range(3))
def test_it_does_not_matter_who_is_ready_first(seed, ending):
    options = {"islands": 3, "generations": 6, "drafts": 2, "early_stop": EarlyStop()}
    alone, writer = evolve(climber, ending=ending, **options)
    assert (len(writer.asked) < 3 + 6 * 6) == (ending is not None)
    rng = random.Random(seed)
    delays = {draft.key: rng.random() / 50 for draft in writer.asked}

    def slowly(draft):
        time.sleep(delays[draft.key])
        return climber(draft)

    together, _ = evolve(slowly, workers=6, ending=ending, **options)
    assert together == alone


def test_no_island_waits_for_another_but_for_its_visitor():
    ahead = threading.Event()

    def answer(draft):
        if draft.key.startswith("i1g02"):
            ahead.set()
        elif draft.key == "i0g00d0":
            assert ahead.wait(30.0), "island 1 waited for the first draft of island 0"
        return climber(draft)

    _, writer = evolve(answer, islands=2, generations=4, migrate_every=3, workers=4)
    order = [draft.key[:5] for draft in writer.asked]
    assert order.index("i1g03") > order.index("i0g02")


def test_after_an_error_no_other_draft_is_begun():
    """Six drafts, two at once: while one call goes on, another ends the search."""
    failed, asked = threading.Event(), []

    def answer(draft):
        asked.append(draft.key)
        if draft.key == "i0g00d0":
            failed.set()
            raise BudgetSpent("the limit of 1 calls is reached")
        failed.wait(30.0)
        time.sleep(1.0)  # the error arrives meanwhile
        return climber(draft)

    with pytest.raises(BudgetSpent):
        evolve(answer, islands=6, generations=1, workers=2)
    assert len(asked) <= 3  # one more may have begun before the error was seen


def test_it_works_with_the_grammar():
    task = a_task()

    def evaluate(sources, *, effort=1.0):
        return tuple(
            score_of(task, float(sum(map(ord, source)) % 101), 3.0, int(64 * effort))
            for source in sources
        )

    oracle = AlphaEvolve(GrammarWriter(), Evolution(islands=2, generations=2, drafts=2))
    response = oracle.respond(task, evaluate)
    assert len(response.attempts) == 2 + 2 * 2 * 2
    assert response == oracle.respond(task, evaluate)
    assert response.best.score.u == max(a.score.u for a in response.attempts if a.score)


def test_options_are_checked():
    for name, value in {
        "islands": 0,
        "drafts": 0,
        "migrate_every": 0,
        "edit_patience": 0,
        "generations": -1,
        "temperature": -0.1,
        "rewrite_chance": -0.1,
        "specialists": -0.1,
        "grain": 0.0,
    }.items():
        with pytest.raises(ValueError, match=name):
            Evolution(**{name: value})
    with pytest.raises(ValueError, match="no program"):
        Island(0).parent(random.Random(1), 0.5, 1.0)
