"""The archive by behaviour: its classes tell real programs apart, and no noise."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import astuple, replace

import pytest

from arena import Arena, game
from arena.games.parts import Decision
from arena.submission import Rejection, prepare
from arena.values import SELECTING
from oracle.grammar.search import GrammarOracle, Question
from oracle.grammar.starts import Start
from oracle.values import Against, Attempt, Score
from population.archive import CUTS, THIRDS, Behaviour, behaviour, elites
from population.commands import command_of
from population.comparison import title_of
from population.config import OracleChoice, RunConfig
from population.hidden import _behaving
from population.matches import Matches
from population.measuring import measuring_for
from population.records import Effort, Iteration, Sigma
from registry.values import Status

RRPS = game("rrps")
SHARE = 0.5
CONFIG = RunConfig(
    "rrps",
    OracleChoice("best-of-n", "grammar:plain"),
    matches=measuring_for("rrps", hidden_share=SHARE),
    hidden_share=SHARE,
)
Choose = Callable[[int, str, random.Random, list[Decision]], int]


def chosen(choose: Choose) -> list[Decision]:
    rng, found = random.Random(3), list[Decision]()
    for number in range(600):
        situation = rng.choice("ab")
        found.append(Decision(situation, choose(number, situation, rng, found), ()))
    return found


CONSTANT = chosen(lambda n, s, r, f: 1)
UNIFORM = chosen(lambda n, s, r, f: r.randrange(3))
REACTS = chosen(lambda n, s, r, f: "ab".index(s))
CYCLES = chosen(lambda n, s, r, f: (f[-1].action + 1) % 3 if f else 0)


@pytest.mark.parametrize("cuts", [CUTS, THIRDS], ids=["now", "before"])
def test_behaviours_are_told_apart(cuts):
    constant, uniform, reacts, cycles = (
        behaviour([one], 3, cuts) for one in (CONSTANT, UNIFORM, REACTS, CYCLES)
    )
    assert astuple(constant)[:3] == (1.0, 0.0, 0.0)
    assert max(uniform.predictability, uniform.reactivity, uniform.memory) < 0.05
    assert reacts.predictability == pytest.approx(1.0)
    assert reacts.reactivity == pytest.approx(0.63, abs=0.01)  # log 2 / log 3
    assert cycles.predictability < 0.05 < cycles.memory
    assert len({one.cell for one in (constant, uniform, reacts)}) == 3
    tried = [("a", 1, 1.0, constant), ("b", 1, 2.0, constant), ("c", 1, 0.0, uniform)]
    assert elites(tried) == ["c", "b"]
    later = ("d", 2, -3.0, constant)  # in other company than before, so it is not compared
    assert elites([*tried, later]) == ["c", "d"]


def test_who_chooses_at_random_is_at_zero_on_average():
    """As counted it seems to react and to remember."""
    looks = [
        behaviour(
            [[Decision(rng.choice("abcdefghi"), rng.randrange(3), ()) for _ in range(999)]], 3
        )
        for rng in map(random.Random, range(100))
    ]
    counted = behaviour([UNIFORM], 3, replace(CUTS, corrected=False))
    corrected = behaviour([UNIFORM], 3)
    assert corrected.memory < counted.memory and corrected.predictability < counted.predictability
    for values in zip(*(astuple(one)[:3] for one in looks), strict=True):
        assert sorted(values)[50] < 0.003
    assert {one.cell[0] for one in looks} == {0}


def test_nothing_chosen_has_a_class():
    assert behaviour([], 3).cell == behaviour([[]], 3).cell


def entered(arena: Arena, sources: Sequence[str]) -> list[str]:
    prepared = [prepare(RRPS, one, name="test/draft", status=Status.CANDIDATE) for one in sources]
    found = arena.enter(RRPS, prepared, ours=True)
    assert not any(isinstance(one, Rejection) for one in found)
    return [one.version.digest for one in found]


def at_random() -> str:
    assert RRPS.stationary is not None and RRPS.stationary.program is not None
    return RRPS.stationary.program(dict.fromkeys(RRPS.stationary.legal, (1 / 3, 1 / 3, 1 / 3)))


def looked_at(
    arena: Arena, config: RunConfig, tried: Sequence[str], against: Sequence[str]
) -> list[Behaviour]:
    """How programs seem to behave, each from two matches with another that are played for that."""
    matches = Matches(arena, RRPS, shared=True)
    pairs = list(zip(tried, against, strict=True))
    everybody = list(dict.fromkeys([*tried, *against]))
    matches.payoffs(everybody, dict.fromkeys(pairs, 2), first=SELECTING)
    attempts = tuple(
        Attempt(number, "", "", one, Score(0.0, 1.0, (Against(other, 0.0, 1.0, 2),)), None, False)
        for number, (one, other) in enumerate(pairs)
    )
    sigma = Sigma({against[0]: 1.0}, 0.0, "nash")
    iteration = Iteration(1, sigma, "", None, None, attempts, Effort())
    return [how for *_, how in _behaving(matches, config, [iteration], set())]


def test_drafts_fill_classes_and_random_players_one(arena: Arena) -> None:
    """In rock-paper-scissors, where the cuts of before put nearly all of them into one."""
    oracle = GrammarOracle(start=Start.PLAIN)
    question = Question("rrps", ((RRPS.initial, 1.0),), 11)
    drafts = [oracle.propose(question, number) for number in range(6)]
    initial, chance, *tried = entered(arena, [RRPS.initial, at_random(), *drafts])
    found = looked_at(arena, CONFIG, tried, [initial] * len(tried))
    assert len({one.cell for one in found}) >= 3
    before = replace(CONFIG, fine_classes=False)
    assert len({one.cell for one in looked_at(arena, before, tried, [initial] * len(tried))}) < 3
    others = [initial, *tried]
    assert {one.cell for one in looked_at(arena, CONFIG, [chance] * 7, others)} == {(0, 0, 0)}


def test_runs_of_before_keep_their_classes_and_are_told_apart() -> None:
    assert RunConfig.from_document(CONFIG.to_document()) == CONFIG
    document = CONFIG.to_document()
    del document["fine_classes"]
    before = RunConfig.from_document(document)
    assert before == replace(CONFIG, fine_classes=False) and before.pool != CONFIG.pool
    assert title_of(before) == title_of(CONFIG).replace("0.5", "0.5; archive in thirds")
    assert "archive in thirds" in before.described()["Hidden opponents' share"]
    assert "thirds" not in CONFIG.described()["Hidden opponents' share"]
    assert command_of(before) == "" and command_of(CONFIG)
    for idle in (replace(CONFIG, hidden_share=0.0), RunConfig("rrps")):
        shorter = idle.to_document()
        del shorter["fine_classes"]
        assert RunConfig.from_document(shorter) == idle, "where it says nothing, nothing is split"
    alone = replace(CONFIG, oracle=OracleChoice("best-of-n", "grammar:plain", drafts=1))
    assert replace(alone, fine_classes=False).pool == alone.pool, "where nothing is chosen"
