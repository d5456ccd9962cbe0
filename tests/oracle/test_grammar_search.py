"""The grammar as an oracle: fresh programs, refinements, and what it makes of match results."""

from __future__ import annotations

import dataclasses
import random

import pytest

from oracle.grammar import leduc, rrps
from oracle.grammar.credits import part_credits, parts_of
from oracle.grammar.genome import read_source, write_source
from oracle.grammar.search import GrammarOracle, Question, Scored, UnknownGame
from oracle.grammar.starts import Start

FULL = {"rrps": rrps.full_genome(), "leduc": leduc.full_genome()}
DRAW = {"rrps": rrps.random_genome, "leduc": leduc.random_genome}


def question(game: str, seed: int = 1) -> Question:
    drawn = [write_source(DRAW[game](random.Random(number))) for number in range(3)]
    return Question(game, tuple(zip(drawn, (0.5, 0.3, 0.2), strict=True)), seed)


@pytest.mark.parametrize("game", ["rrps", "leduc"])
def test_the_first_answer_is_the_full_sentence(game: str) -> None:
    assert read_source(GrammarOracle().propose(question(game))) == FULL[game]


@pytest.mark.parametrize("game", ["rrps", "leduc"])
def test_it_never_proposes_what_already_plays(game: str) -> None:
    known = ((write_source(FULL[game]), 1.0),)
    assert read_source(GrammarOracle().propose(Question(game, known, 4))) != FULL[game]


@pytest.mark.parametrize("game", ["rrps", "leduc"])
def test_answers_follow_from_seed_and_attempt(game: str) -> None:
    oracle = GrammarOracle()
    answers = [oracle.propose(question(game), attempt) for attempt in range(4)]
    assert answers == [oracle.propose(question(game), attempt) for attempt in range(4)]
    assert len(set(answers)) == 4
    assert oracle.propose(question(game, seed=2), 1) != answers[1]


@pytest.mark.parametrize("game", ["rrps", "leduc"])
def test_refinements_are_new_programs(game: str) -> None:
    oracle, asked = GrammarOracle(), question(game)
    tried = [Scored(oracle.propose(asked, n), (1.0 * n, -2.0, 3.0)) for n in range(4)]
    seen = {scored.source for scored in tried}
    for attempt in range(12):
        source = oracle.refine(asked, tried[-1], tried, attempt)
        assert source not in seen
        read_source(source)
        tried.append(Scored(source, (0.0, float(attempt), -1.0)))
        seen.add(source)


def test_programs_of_other_make_are_answered_afresh() -> None:
    asked = Question("rrps", (("class Agent: ...", 1.0),), 3)
    source = GrammarOracle().refine(asked, Scored("class Agent: ...", (-5.0,)))
    assert read_source(source) == FULL["rrps"]


def test_credits_find_the_part_that_pays() -> None:
    good, bad = rrps.Part("lag", "theirs", 0, 1), rrps.Part("lag", "theirs", 0, 5)
    rng, rows = random.Random(8), []
    while len(rows) < 24:
        genome = rrps.random_genome(rng)
        extra = [part for part in (good, bad) if rng.random() < 0.5]
        parts = tuple(dict.fromkeys((*genome.parts, *extra)))
        value = 100.0 * (good in parts) - 100.0 * (bad in parts)
        rows.append((dataclasses.replace(genome, parts=parts), value))
    pays = part_credits(rows)
    assert max(pays, key=pays.__getitem__) == good
    assert min(pays, key=pays.__getitem__) == bad


def test_credits_need_differences() -> None:
    same = (rrps.full_genome(), 3.0)
    assert part_credits([same, same]) == {}
    assert part_credits([same]) == {}


def test_a_game_without_a_grammar_is_named() -> None:
    with pytest.raises(UnknownGame, match="chess"):
        GrammarOracle().propose(Question("chess", (), 0))


def test_a_mirror_of_a_mirror_is_the_part() -> None:
    part = rrps.Part("context", "theirs", 2, 1, 0.9)
    assert rrps.mirror(part) == rrps.Part("context", "mine", 1, 2, 0.9)
    assert rrps.mirror(rrps.mirror(part)) == part


@pytest.mark.parametrize("game", ["rrps", "leduc"])
def test_a_plain_search_starts_from_one_part_and_grows_from_what_plays(game: str) -> None:
    oracle = GrammarOracle(Start.PLAIN)
    strangers = Question(game, (("class Agent: ...", 1.0),), 5)
    first = read_source(oracle.propose(strangers))
    assert len(parts_of(first)) == 1
    grown = Question(game, ((write_source(first), 1.0),), 5)
    for attempt in range(4):
        child = read_source(oracle.propose(grown, attempt))
        assert set(parts_of(first)) <= set(parts_of(child))
        assert len(parts_of(child)) <= 1 + 3 + 6
    assert read_source(oracle.propose(grown)) != FULL[game]


def test_a_plain_search_refines_what_it_has() -> None:
    oracle, asked = GrammarOracle(Start.PLAIN), Question("rrps", (("class Agent: ...", 1.0),), 5)
    first = oracle.propose(asked)
    sizes = [
        len(parts_of(read_source(oracle.refine(asked, Scored(first, (-5.0,)), (), attempt))))
        for attempt in range(12)
    ]
    assert max(sizes) > 1 and max(sizes) <= 7
