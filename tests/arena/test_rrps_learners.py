"""Q-learning and contextual regret matching: what they learn, and that their programs play it."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from arena.games import game
from arena.games.rrps.learners import LEARNERS
from arena.games.rrps.q_learning import Learned, Training, learned, rendered
from arena.source_check import MAX_BYTES, check_source

RRPS = game("rrps")
THROWS = RRPS.actions


def agent_of(source: str) -> Any:
    """One of the program's agents; the programs are our own."""
    space: dict[str, Any] = {}
    exec(compile(source, "learner", "exec"), space)
    return space["Agent"]()


def returned(source: str, opponent: Any, throws: int = 1000, seed: int = 1) -> int:
    """What a program wins against a function of its own last throw and the program's."""
    random.seed(seed)  # noqa: TID251 - programs use the global generator, as in a match
    agent, mine, theirs, total = agent_of(source), None, None, 0
    for _ in range(throws):
        answer = opponent(theirs, mine)
        mine = agent.act({"my_action": mine, "opponent_action": theirs})
        theirs = answer
        total += (0, 1, -1)[(THROWS.index(mine) - THROWS.index(theirs)) % 3]
    return total


def scripted(throws: list[str]) -> Any:
    """An opponent that throws these, whatever happens."""
    following = iter(throws)
    return lambda mine, theirs: next(following)


def source_of(name: str) -> str:
    return next(one for one in LEARNERS if one.name == name).source(1)


@pytest.mark.parametrize("recall", [1, 2])
def test_training_follows_from_its_seed(recall: int) -> None:
    training = Training(recall, episodes=20)
    assert learned(training, 3) == learned(training, 3)
    assert learned(training, 3) != learned(training, 4)


def test_a_learner_against_itself_learns_values() -> None:
    table = learned(Training(1, episodes=100), 1)
    assert set(table.values) == set(range(9))
    assert sum(table.visits.values()) == 100 * 1000
    assert all(any(values) for values in table.values.values())


@pytest.mark.parametrize("recall", [2, 5, 10])
def test_a_program_plays_its_table(recall: int) -> None:
    """Where it has room for a state, it draws among the throws of highest value, and only those."""
    table = learned(Training(recall, episodes=30), 5)
    source = rendered(table)
    assert len(source.encode()) <= MAX_BYTES
    assert check_source(source, RRPS.contract) is None
    agent, rng = agent_of(source), random.Random(2)
    states, state = 9**recall, 0
    mine = theirs = None
    kept = Counter[bool]()
    for _ in range(3000):
        values = table.values.get(state, [0.0] * 3)
        thrown = agent.act({"my_action": mine, "opponent_action": theirs})
        best = {THROWS[place] for place in range(3) if values[place] == max(values)}
        kept[thrown in best] += 1
        mine, theirs = thrown, rng.choice(THROWS)
        state = (9 * state + 3 * THROWS.index(mine) + THROWS.index(theirs)) % states
    if recall <= 5:  # there is room for all states
        assert kept[False] == 0
    else:
        assert kept[True] > 1000


def test_a_large_table_keeps_what_was_met_most_often() -> None:
    values = {state: [1.0, 0.0, 0.0] for state in range(40_000)}
    visits = {state: state for state in values}
    source = rendered(Learned(10, values, visits))
    assert len(source.encode()) <= MAX_BYTES
    agent = agent_of(source)
    greedy = agent.act.__globals__["GREEDY"]
    assert 9_000 < len(greedy) < 12_000
    assert min(greedy) == 40_000 - len(greedy)
    assert set(map(tuple, greedy.values())) == {("ROCK",)}


@pytest.mark.parametrize(
    ("name", "opponent"),
    [
        ("rock", lambda mine, theirs: "ROCK"),
        ("rotation", lambda mine, theirs: THROWS[(THROWS.index(mine or "ROCK") + 1) % 3]),
        ("copy", lambda mine, theirs: theirs or "ROCK"),
    ],
)
def test_contextual_regret_finds_what_repeats(name: str, opponent: Any) -> None:
    assert returned(source_of("contextual-regret"), opponent) > 850


def test_contextual_regret_loses_little_to_chance() -> None:
    rng = random.Random(4)
    source = source_of("contextual-regret")
    assert abs(returned(source, lambda mine, theirs: rng.choice(THROWS))) < 120  # 4.6 deviations


def test_regret_is_bounded_against_any_sequence() -> None:
    """Hart and Mas-Colell: what the best single throw would have won more grows like the root."""
    rng = random.Random(9)
    source = source_of("contextual-regret")
    for shares in ((0.5, 0.3, 0.2), (0.2, 0.5, 0.3)):
        thrown = [rng.choices(THROWS, shares)[0] for _ in range(1000)]
        won = returned(source, scripted(thrown))
        counts = Counter(thrown)
        best = max(counts[THROWS[(n - 1) % 3]] - counts[THROWS[(n + 1) % 3]] for n in range(3))
        assert won > best - 4 * 1000**0.5
