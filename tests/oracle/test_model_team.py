"""Several models for one run: whose turn it is, and that it follows from what is recorded."""

import random
import time
from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from oracle.alpha_evolve import AlphaEvolve, Evolution
from oracle.drafts import Draft
from oracle.insight import INCUMBENT, Told, Tried
from oracle.models.protocol import Request
from oracle.models.team import Standing, Team
from oracle.team_writer import TeamWriter, kept_of
from tests.oracle.scripted_model import ScriptedModel
from tests.oracle.stated_returns import Evaluation, a_task, program, score_of

TASK = a_task()


def team(standings=None, seed=1, names=("one", "other")):
    return Team(
        [ScriptedModel([], name=name) for name in names], seed, lambda task: standings or {}
    )


def turns(team, task="k02", number=400):
    return Counter(team.turn(f"{task}/a{place:03}").name for place in range(number))


def test_without_a_record_all_have_their_turns_alike():
    share = turns(team())["one"] / 400
    assert 0.4 < share < 0.6


def test_who_was_kept_more_often_is_asked_more_often_and_nobody_is_given_up():
    found = turns(team({"one": Standing(10, 4), "other": Standing(10, 1)}))
    assert found["one"] > 320
    assert found["other"] > 0


def test_who_was_never_tried_is_tried():
    assert turns(team({"one": Standing(10, 1)}))["other"] > 200


@given(st.integers(0, 99), st.integers(0, 99))
def test_a_turn_follows_from_seed_task_draft_and_record(seed, place):
    record = {"one": Standing(4, 2), "other": Standing(3, 2)}
    key = f"k03/a{place:02}"
    name = team(record, seed).turn(key).name
    assert team(record, seed).turn(key).name == name
    assert team(record, seed).turn(f"{key}/r2").name == name  # the author mends it
    assert team(record, seed).turn("describe/abc").name == "one"


def told_of(*returns):
    """What a draft knows that comes after others; None for one that failed."""
    tried = [
        Tried(f"a{n:02}", "", None if u is None else score_of(TASK, u), "", "")
        for n, u in enumerate(returns)
    ]
    return Told(tried=(Tried(INCUMBENT, "", score_of(TASK, 1.0), "", ""), *tried))


def test_what_became_the_best_when_it_was_tried_was_kept():
    kept = kept_of(told_of(0.5, 2.0, None, 1.5, 3.0))
    assert kept == {"a00": False, "a01": True, "a02": False, "a03": False, "a04": True}


def test_what_a_race_gave_up_was_not_kept():
    *_, first, lucky, last = told_of(30.0, 45.0, 40.0).tried
    stopped = replace(lucky, score=replace(lucky.score, stopped=True))
    told = Told(tried=(first, stopped, last))
    assert kept_of(told) == {"a00": True, "a01": False, "a02": True}
    assert told.best == last


def test_who_writes_what_is_kept_is_asked_more_within_one_search():
    """As in `csro exploit`, which has no iterations before: one model's drafts are good ones."""
    both, asked = team(), Counter()
    outcomes = []

    class Asks:
        name = "asks"

        def write(self, task, draft):
            author = both.turn(f"{task.key}/{draft.key}").name
            asked[author] += 1
            outcomes.append(float(len(outcomes)) if author == "one" else None)
            return draft

    writer = TeamWriter(Asks(), both)
    for number in range(60):
        writer.write(TASK, Draft(f"a{number:02}", told=told_of(*outcomes)))
    assert asked["one"] > 45
    # Whoever goes through the same drafts again, as a run that goes on, asks the same.
    again = team()
    for number in range(60):
        key = f"a{number:02}"
        again.learn(TASK.key, key, kept_of(told_of(*outcomes[:number])))
        assert again.turn(f"{TASK.key}/{key}").name == both.turn(f"{TASK.key}/{key}/r1").name


def test_whose_turn_it_is_on_islands_does_not_depend_on_who_answers_first():
    def authors(slow):
        both = team(seed=3)
        found = {}

        class Asks:
            name = "asks"

            def write(self, task, draft):
                time.sleep(0.03 if draft.key.startswith(f"i{slow}") else 0.0)
                found[draft.key] = author = both.turn(f"{task.key}/{draft.key}").name
                u = random.Random(draft.key).random() + 9.0 * (author == "one")
                return Draft(draft.key, source=program(u, draft.key))

        evolution = Evolution(islands=3, generations=4, drafts=2)
        knowing = Evaluation(TASK)
        knowing.insight = Silent()
        AlphaEvolve(TeamWriter(Asks(), both), evolution, workers=4).respond(TASK, knowing)
        return found

    first = authors(0)
    assert authors(1) == authors(2) == first
    assert Counter(first.values())["one"] > len(first) * 0.6


class Silent:
    """Knows nothing but what was tried."""

    def traces(self, source, score):
        return ()

    def ceiling(self, tried):
        return None

    def idea(self, source):
        return ""


def test_whose_turn_it_is_answers():
    models = [
        ScriptedModel(["of one"] * 20, name="one"),
        ScriptedModel(["of the other"] * 20, name="other"),
    ]
    both = Team(models, 1, lambda task: {})
    replies = {both.generate(Request(f"k01/a{n:02}", "?")).text for n in range(20)}
    assert replies == {"of one", "of the other"}
    assert both.name == "one,other"
    assert both.price is None
