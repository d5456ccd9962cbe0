"""Several models for one run: whose turn it is, and that it follows from what is recorded."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from oracle.models.protocol import Request
from oracle.models.team import Standing, Team
from tests.oracle.scripted_model import ScriptedModel


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
