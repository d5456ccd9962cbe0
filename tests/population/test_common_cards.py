"""Programs that are compared meet their opponents on the same cards, and nobody can learn them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from arena import Arena, Rejection, game
from arena.errors import UsageFault
from arena.values import COMMON, SELECTING
from oracle.early_stop import difference
from oracle.values import Failure, Opponent, Score, Task
from population.commands import command_of
from population.comparison import title_of
from population.config import RunConfig
from population.evaluator import Evaluator, Lineage
from population.matches import Matches
from population.measuring import Measuring

PLAYER = '''class RepeatedLeducPokerBot:
    """Raises its pairs and kings; asked to pay it gives up a jack without a pair{but}."""

    def restart(self, player_id):
        self.hands = getattr(self, "hands", 0) + 1

    def act(self, observation):
        held = observation["player_view"]["hand"]
        pair = held == observation["public_state"]["public_card"]
        if pair or held == "K":
            wish = "RAISE"
        else:
            wish = "FOLD" if held == "J" and self.hands % {every} else "CALL"
        return wish if wish in observation["player_view"]["legal_actions"] else "CALL"

    def receive_outcome(self, observation):
        pass
'''
STUBBORN = PLAYER.format(but=", but not in every tenth hand", every=10)
CAREFUL = PLAYER.format(but="", every=1000)


def evaluator(arena: Arena, k: int, *refs: str) -> Evaluator:
    played = game("leduc")
    targets = [arena.policy(ref, played) for ref in refs]
    opponents = tuple(Opponent(one.digest, one.ref, "", 1.0 / len(refs)) for one in targets)
    task = Task(played, opponents, "", 1, "k01")
    lineage, first = Lineage(), RunConfig("leduc").selecting(k)
    return Evaluator(
        Matches(arena, played), task, "test/common", 12, lambda source: lineage, first=first
    )


Cards = list[tuple[object, ...]]


def cards(arena: Arena, ref: str, against: str) -> list[Cards]:
    """Of each match that chose, in the order of repetitions: the cards that were dealt, by hand."""
    rows = arena.matches("leduc", ref, against=against, limit=None)
    chose = sorted((row.match.repetition, row.id) for row in rows)
    return [
        [tuple(event["cards"]) for event in arena.match(match_id).account.events]
        for repetition, match_id in chose
        if repetition >= SELECTING
    ]


def scored(evaluate: Evaluator, *sources: str) -> list[Score]:
    found = [score for score in evaluate(sources) if isinstance(score, Score)]
    assert len(found) == len(sources)
    return found


def test_candidates_meet_each_opponent_on_the_same_cards(arena: Arena) -> None:
    opponents = ("house/CFR+", "house/AlwaysCall")
    one, other = scored(evaluator(arena, 3, *opponents), STUBBORN, CAREFUL)
    first, second = (
        [cards(arena, f"test/common@{version}", ref) for ref in opponents] for version in (1, 2)
    )
    assert first == second
    assert first[0][:4] != first[1][:4], "luck against one is no luck against all"
    assert first[0][0] == first[0][1] != first[0][2], "a duplicate"
    assert [len(found) for found in first] == [against.matches for against in one.against]
    for score in (one, other):
        for against in score.against:
            assert len(against.deals) == against.matches // 2
            mean = sum(against.deals.values()) / len(against.deals)
            assert mean == pytest.approx(against.mean)
    weights = {against.digest: 0.5 for against in one.against}
    paired = difference(one, other, weights)
    own = [
        replace(score, against=tuple(replace(against, deals={}) for against in score.against))
        for score in (one, other)
    ]
    assert paired.mean == pytest.approx(difference(*own, weights).mean)
    assert 0.0 < paired.stderr < difference(*own, weights).stderr / 2


def test_another_iteration_has_other_cards(arena: Arena) -> None:
    """What a model saw of them is of no use any more."""
    (before,) = scored(evaluator(arena, 1, "house/AlwaysCall"), CAREFUL)
    (after,) = scored(evaluator(arena, 2, "house/AlwaysCall"), CAREFUL)
    assert before.against[0].deals != after.against[0].deals
    found = cards(arena, "test/common@1", "house/AlwaysCall")
    half = len(found) // 2
    assert not any(match in found[half:] for match in found[:half])


TOUCHY = PLAYER.format(but="", every=1000).replace(
    "    def act(self, observation):\n",
    """    def act(self, observation):
        raised = [event["action"] for event in observation["action_history"]["PREFLOP"]]
        if "RAISE" in raised:
            raise ValueError(str(observation) + "line 77")
""",
)


def test_a_member_that_forfeits_to_another_candidate_only_is_no_candidate_at_fault(
    arena: Arena,
) -> None:
    """It met the other as its opponent; what it did there is nobody's score but the other's."""
    entered = arena.submit(TOUCHY, "leduc", "test/touchy")
    assert not isinstance(entered, Rejection)
    raises = STUBBORN.replace('held == "K"', "True")
    touchy, other = evaluator(arena, 1, "test/touchy")([TOUCHY, raises])
    assert isinstance(touchy, Score) and (touchy.u, touchy.against[0].matches) == (0.0, 0)
    assert isinstance(other, Score) and other.u > 0.0


def test_a_program_that_crashes_tells_nothing_of_the_cards(arena: Arena) -> None:
    """Its own words could be all cards of a match, and the next program meets them."""
    moody = TOUCHY.replace('"RAISE" in raised', "self.bad").replace(
        "    def restart",
        """    def __init__(self):
        import random
        self.bad = random.random() < 0.35

    def restart""",
        1,
    )
    sources = [moody + f"# {number}\n" * number for number in range(12)]  # some pass their trials
    found = evaluator(arena, 1, "house/AlwaysCall")(sources)
    told = [
        one.reason for one in found if isinstance(one, Failure) and "of its matches" in one.reason
    ]
    assert told
    for reason in told:
        assert "ValueError in line " in reason and "player_view" not in reason


def test_who_is_the_only_opponent_meets_itself_without_playing(arena: Arena) -> None:
    scored(evaluator(arena, 1, "house/AlwaysCall"), CAREFUL)
    (score,) = scored(evaluator(arena, 1, "test/common@1"), CAREFUL)
    assert (score.u, score.stderr, score.against[0].matches) == (0.0, 0.0, 0)


def begins(config: RunConfig) -> set[int]:
    return {config.selecting(k)("aa", "bb") for k in range(30)}


def test_where_nothing_is_dealt_everything_is_as_it_was() -> None:
    config = RunConfig("rrps")
    assert begins(config) == {SELECTING}
    assert "Candidates' cards" not in config.described()
    document = config.to_document()
    del document["common_cards"]
    assert RunConfig.from_document(document) == config


def test_runs_of_before_go_on_with_cards_of_their_own() -> None:
    config = RunConfig("leduc")
    assert len(begins(config)) == 30 and min(begins(config)) >= COMMON
    assert config.described()["Candidates' cards"] == "the same"
    document = config.to_document()
    del document["common_cards"]
    before = RunConfig.from_document(document)
    assert begins(before) == {SELECTING}
    assert before.described()["Candidates' cards"] == "each its own"
    assert "each on cards of its own" in title_of(before)
    assert before.pool != config.pool
    assert (command_of(before), command_of(config)[:8]) == ("", "csro run")


def test_runs_have_cards_of_their_own() -> None:
    assert not begins(RunConfig("leduc", seed=1)) & begins(RunConfig("leduc", seed=2))


def test_more_matches_than_a_series_has_are_refused() -> None:
    with pytest.raises(UsageFault, match="4,096 matches of leduc"):
        RunConfig("leduc", matches=Measuring(evaluation=4_098))
    assert RunConfig("rrps", matches=Measuring(evaluation=4_098))


def test_a_run_of_a_game_that_is_not_installed_is_read() -> None:
    document = {**RunConfig("leduc").to_document(), "game": "go"}
    del document["common_cards"]
    assert begins(RunConfig.from_document(document)) == {SELECTING}
