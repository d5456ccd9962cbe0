"""Best of N: independent drafts, scored together, the best one wins."""

import threading
import time

import pytest

from oracle.best_of_n import BestOfN
from oracle.drafts import Draft
from oracle.early_stop import EarlyStop
from oracle.grammar_writer import GrammarWriter
from oracle.linear_refinement import LinearRefinement
from oracle.models.errors import BudgetSpent, CallRefused
from oracle.models.retry import Caller, RetryPolicy, Transient
from oracle.values import Failure, OracleExhausted, Rejected
from tests.oracle.stated_returns import Evaluation, ScriptedWriter, a_task, program, score_of

EMPTY = Failure(Rejected.EMPTY, "the reply was empty")


def test_the_best_of_all_drafts_wins():
    task = a_task()
    writer = ScriptedWriter([program(-3.0, "a"), program(4.0, "b"), program(1.0, "c")])
    evaluation = Evaluation(task)
    response = BestOfN(writer, drafts=3).respond(task, evaluation)
    assert response.best.score.u == 4.0
    assert [attempt.kept for attempt in response.attempts] == [False, True, False]
    assert len(evaluation.asked) == 1  # all together
    assert all(draft == Draft(draft.key) for draft in writer.asked)  # they know nothing


def test_failures_never_beat_a_losing_program():
    task = a_task()
    writer = ScriptedWriter([EMPTY, program(-900.0, "a"), program(0.0, "b", faulty=True)])
    response = BestOfN(writer, drafts=3).respond(task, Evaluation(task))
    assert response.best.score.u == -900.0
    kinds = [attempt.failure and attempt.failure.kind for attempt in response.attempts]
    assert kinds == [Rejected.EMPTY, None, Rejected.FAULTY]


def test_another_wave_where_all_failed_and_an_end_to_it():
    task = a_task()
    writer = ScriptedWriter([EMPTY, EMPTY, program(1.0), EMPTY])
    response = BestOfN(writer, drafts=2).respond(task, Evaluation(task))
    assert response.best.score.u == 1.0
    assert [draft.failure for draft in writer.asked] == [None, None, EMPTY, EMPTY]
    with pytest.raises(OracleExhausted):
        BestOfN(ScriptedWriter([EMPTY] * 4), drafts=2).respond(task, Evaluation(task))


def test_what_is_written_plays_while_others_are_written():
    task = a_task()
    played = threading.Event()
    evaluation = Evaluation(task)

    def evaluate(sources, *, effort=1.0):
        if effort < 1.0:
            played.set()
        return evaluation(sources, effort=effort)

    def answer(draft):
        if draft.key == "a02":
            assert played.wait(30.0), "the other two did not play before this was written"
        return program(float(draft.key[1:]), draft.key)

    oracle = BestOfN(ScriptedWriter(answer), drafts=3, workers=3, early_stop=EarlyStop())
    assert oracle.respond(task, evaluate).best.score.u == 2.0
    first, effort = evaluation.asked[0]
    assert effort == EarlyStop().first_look
    assert all("a02" not in source for source in first)
    alone = BestOfN(ScriptedWriter(answer), drafts=3, early_stop=EarlyStop())
    assert alone.respond(task, Evaluation(task)) == oracle.respond(task, Evaluation(task))


def test_the_result_does_not_depend_on_which_draft_is_ready_first():
    task = a_task()
    ready = threading.Event()

    def slow_first(draft):
        """The first draft is held back until the last one is being written."""
        if draft.key == "a00":
            assert ready.wait(10)
        if draft.key == "a03":
            ready.set()
        return program(float(draft.key[1:]) - 2.0, draft.key)

    together = BestOfN(ScriptedWriter(slow_first), drafts=4, workers=4)
    ready.clear()
    response = together.respond(task, Evaluation(task))
    ready.set()
    assert response == BestOfN(ScriptedWriter(slow_first), drafts=4).respond(task, Evaluation(task))
    assert [attempt.score.u for attempt in response.attempts] == [-2.0, -1.0, 0.0, 1.0]


class Watching(Evaluation):
    """Lets drafts wait until programs of other drafts were played."""

    def __init__(self, task):
        super().__init__(task)
        self._changed = threading.Condition()

    def __call__(self, sources, *, effort=1.0):
        with self._changed:
            found = super().__call__(sources, effort=effort)
            self._changed.notify_all()
        return found

    @property
    def played(self):
        return [source for sources, _ in self.asked for source in sources]

    def wait_for(self, *programs):
        with self._changed:
            seen = self._changed.wait_for(lambda: {*programs} <= {*self.played}, 30.0)
            assert seen, "they are not played before this is written"


@pytest.mark.parametrize("failing", [False, True])
def test_a_slow_first_draft_holds_up_nobody(failing):
    task = a_task()
    others = [program(float(number), f"a{number:02}") for number in range(1, 8)]
    watching, early = Watching(task), []

    def answer(draft):
        number = int(draft.key[1:])
        if number:
            return others[number - 1]
        if not early:
            watching.wait_for(*others)
            early.extend(watching.asked)
        return EMPTY if failing else program(0.0, "a00")

    oracle = BestOfN(ScriptedWriter(answer), drafts=8, workers=8, early_stop=EarlyStop())
    response = oracle.respond(task, watching)
    assert response.best.score.u == 7.0
    assert {effort for _, effort in early} == {EarlyStop().first_look}
    assert sorted(source for sources, _ in early for source in sources) == others  # each once
    alone = BestOfN(ScriptedWriter(answer), drafts=8, early_stop=EarlyStop())
    assert response == alone.respond(task, Evaluation(task))


def test_what_equals_a_program_that_came_before_is_not_played_early():
    watching = Watching(a_task())
    sources = [program(float(number), f"p{number}") for number in range(4)]
    sources[1] = f"{sources[0]}# once more\n"
    written = threading.Event()

    def answer(draft):
        number = int(draft.key[1:])
        if number == 1:
            watching.wait_for(sources[0])
            written.set()
        if number == 2:
            assert written.wait(30.0)
        if number == 3:
            watching.wait_for(sources[2])
        return sources[number]

    oracle = BestOfN(ScriptedWriter(answer), drafts=4, workers=4, early_stop=EarlyStop())
    response = oracle.respond(watching.task, watching)
    assert response.attempts[1].failure.kind is Rejected.DUPLICATE
    assert sources[1] not in watching.played


TWINS = {"a05": "a02", "a06": "a03"}
"""Drafts that become the same program as another, in another layout."""


def some_answer(key):
    """One is no program, one forfeits, two are duplicates, and two of the best are equally good."""
    if key == "a01":
        return EMPTY
    if key == "a04":
        return program(9.0, key, faulty=True)
    if key in TWINS:
        return f"{some_answer(TWINS[key])}# once more\n"
    return program(2.0 if key in ("a02", "a07") else -1.0, key)


@pytest.mark.parametrize("slow", range(8))
def test_whichever_draft_is_slow_the_same_comes_of_it(slow):
    task = a_task()

    def answer(draft):
        time.sleep(0.2 if draft.key == f"a{slow:02}" else 0.0)
        return some_answer(draft.key)

    found = BestOfN(ScriptedWriter(answer), 8, 8, EarlyStop()).respond(task, Evaluation(task))
    alone = BestOfN(ScriptedWriter(answer), 8, 1, EarlyStop())
    assert found == alone.respond(task, Evaluation(task))
    assert [one.number for one in found.attempts if one.kept] == [2]  # of equals the earlier
    kinds = [one.failure.kind if one.failure else None for one in found.attempts]
    twice = Rejected.DUPLICATE
    assert kinds == [None, Rejected.EMPTY, None, None, Rejected.FAULTY, twice, twice, None]


class Spent(Exception):
    """Stands for the budget's end."""


def test_what_a_writer_raises_passes_and_stops_the_others():
    task = a_task()

    def spent(draft):
        raise Spent(draft.key)

    writer = ScriptedWriter(spent)
    with pytest.raises(Spent):
        BestOfN(writer, drafts=50, workers=2).respond(task, Evaluation(task))
    assert len(writer.asked) < 50


class Busy:
    """Asks as a client does, of a server that is busy for all drafts but some."""

    def __init__(self, answers, drafts):
        self.calls = Caller(RetryPolicy(), concurrency=drafts)
        self.answers, self.asked = answers, []
        self.all_asked = threading.Barrier(drafts, timeout=60.0)

    def __call__(self, draft):
        return self.calls.call(draft.key, lambda: self.attempt(draft.key)).value

    def attempt(self, key):
        self.asked.append(key)
        self.all_asked.wait()
        if key not in self.answers:
            raise Transient("slow down", 500.0)
        return self.answers[key]()


def revoked():
    raise CallRefused("key revoked")


def late():
    time.sleep(0.3)
    return program(1.0)


def test_an_error_in_one_draft_ends_the_waits_of_the_others():
    task = a_task()
    busy = Busy({"a02": revoked, "a03": late}, 4)
    oracle = BestOfN(ScriptedWriter(busy), drafts=4, workers=4)
    start = time.monotonic()
    with pytest.raises(CallRefused, match="revoked"):  # and not what it made of the first draft
        oracle.respond(task, Evaluation(task))
    assert time.monotonic() - start < 60.0
    assert sorted(busy.asked) == ["a00", "a01", "a02", "a03"]


def test_ctrl_c_ends_the_waits_and_lets_calls_under_way_end():
    task = a_task()
    ended = []
    busy = Busy({"a00": lambda: program(1.0), "a03": lambda: ended.append(late()) or "x"}, 4)

    def evaluate(sources, *, effort=1.0):
        raise KeyboardInterrupt

    oracle = BestOfN(ScriptedWriter(busy), drafts=4, workers=4)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        oracle.respond(task, evaluate)
    assert time.monotonic() - start < 60.0
    assert ended and sorted(busy.asked) == ["a00", "a01", "a02", "a03"]
    # What ended one task is forgotten in the next.
    known = Busy({f"a{number:02}": lambda: program(2.0) for number in range(4)}, 4)
    again = BestOfN(ScriptedWriter(known), drafts=4, workers=4)
    assert again.respond(task, Evaluation(task)).best.score.u == 2.0


def test_where_the_budget_is_spent_what_it_admitted_is_still_asked():
    task = a_task()
    refused, asked = threading.Event(), []

    def answer(draft):
        if draft.key != "a01":
            refused.set()
            raise BudgetSpent("the limit of 1 call is reached")
        assert refused.wait(30.0)
        time.sleep(0.1)
        calls = Caller(RetryPolicy(first_wait=0.1))
        return calls.call(draft.key, attempt).value

    def attempt():
        asked.append(None)
        if len(asked) == 1:
            raise Transient("busy", 0.2)
        return program(1.0)

    with pytest.raises(BudgetSpent):
        BestOfN(ScriptedWriter(answer), drafts=3, workers=3).respond(task, Evaluation(task))
    assert len(asked) == 2


def test_with_the_grammar():
    task = a_task()
    asked = []

    def evaluate(sources, *, effort=1.0):
        asked.append(len(sources))
        return tuple(score_of(task, float(len(source) % 7)) for source in sources)

    response = BestOfN(GrammarWriter(), drafts=5).respond(task, evaluate)
    assert asked == [5]
    assert response.best.score.u == max(attempt.score.u for attempt in response.attempts)


@pytest.mark.parametrize("option", ["drafts", "workers", "waves"])
def test_options_are_checked(option):
    with pytest.raises(ValueError, match=option):
        BestOfN(GrammarWriter(), **{option: 0})


def test_drafts_race_and_what_cannot_win_is_played_less():
    task = a_task()
    sources = [program(u, f"p{place}") for place, u in enumerate((-50.0, 4.0, -60.0, 4.5))]
    full, racing = Evaluation(task, stderr=1.0), Evaluation(task, stderr=1.0)
    plain = BestOfN(ScriptedWriter(sources), drafts=4).respond(task, full)
    raced = BestOfN(ScriptedWriter(sources), drafts=4, early_stop=EarlyStop()).respond(task, racing)
    assert raced.best.score.u == plain.best.score.u == 4.5
    played = [attempt.score.against[0].matches for attempt in raced.attempts]
    assert played == [16, 64, 16, 64]
    # What was stopped does not win by the luck of its few matches.
    lucky = LuckyAtFirst(task, sources[1], sources[3])
    raced = BestOfN(ScriptedWriter(sources), drafts=4, early_stop=EarlyStop()).respond(task, lucky)
    assert raced.best.source == sources[3]
    assert raced.best.score.u < max(attempt.score.u for attempt in raced.attempts)


class FailsLater(Evaluation):
    """One program leads, and forfeits when more is played."""

    def __init__(self, task, leader):
        super().__init__(task)
        self._leader = leader

    def _score(self, source, effort):
        if source == self._leader and effort > 0.25:
            return Failure(Rejected.FAULTY, "crashed: ZeroDivisionError in line 9")
        return super()._score(source, effort)


@pytest.mark.parametrize("variant", ["best-of-n", "linear"])
def test_where_the_leader_of_a_race_fails_later_another_is_the_answer(variant):
    task = a_task()
    leader, good, bad = program(50.0, "leader"), program(-4.0, "good"), program(-9.0, "bad")
    writer, races = ScriptedWriter([leader, bad, good]), EarlyStop()
    oracle = (
        BestOfN(writer, drafts=3, early_stop=races)
        if variant == "best-of-n"
        else LinearRefinement(writer, refinements=0, width=3, early_stop=races)
    )
    response = oracle.respond(task, FailsLater(task, leader))
    assert response.best.source == good
    assert [one.score.stopped for one in response.attempts if one.score] == [True, True]


class LuckyAtFirst(Evaluation):
    """The first matches flatter two programs, one of them less than the other."""

    def __init__(self, task, less, more):
        super().__init__(task)
        self._lucky = {less: 80.0, more: 90.0}

    def _score(self, source, effort):
        luck = self._lucky.get(source, 0.0) if effort == 0.25 else 0.0
        found = super()._score(source, effort)
        return score_of(self.task, found.u + luck, found.stderr, found.against[0].matches)
