"""Searches that have all parts of the full sentence, and look for how to judge them."""

from __future__ import annotations

import dataclasses
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.grammar import judging, rrps
from oracle.grammar.edition import edition
from oracle.grammar.genome import read_source, write_source
from oracle.grammar.search import GrammarOracle, Question, Scored, UnknownGame
from oracle.grammar.starts import Start

ORACLE = GrammarOracle(Start.PARTS)
STRANGER = ("class Agent: ...", 1.0)
FULL = rrps.full_genome()


def way(source: str) -> tuple[int, float]:
    """How a program judges its parts."""
    genome = read_source(source)
    assert isinstance(genome, rrps.RrpsGenome)
    return genome.blend.views, genome.blend.spread


@settings(max_examples=50)
@given(st.integers(0, 2**32))
def test_the_step_changes_how_parts_are_judged_and_nothing_else(seed: int) -> None:
    rng = random.Random(seed)
    before = rrps.mutate(FULL, rng)
    after = judging.judged_otherwise(before, rng)
    assert after != before and after.blend.views in judging.VIEWS
    restored = dataclasses.replace(
        after.blend, views=before.blend.views, spread=before.blend.spread
    )
    assert dataclasses.replace(after, blend=restored) == before


def test_the_full_sentence_judges_in_a_way_that_the_step_draws() -> None:
    begun, rng = judging.simplest(), random.Random(1)
    drawn = {judging.judged_otherwise(begun, rng).blend for _ in range(200)}
    assert len(drawn) == len(judging.VIEWS) * len(judging.SPREADS) - 1
    assert (FULL.blend.views, FULL.blend.spread) in {(one.views, one.spread) for one in drawn}


def test_it_begins_at_all_parts_judged_in_the_simplest_way() -> None:
    begun = read_source(ORACLE.propose(Question("rrps", (STRANGER,), 5)))
    assert begun == rrps.RrpsGenome(FULL.parts)
    assert begun != FULL


def test_drafts_often_judge_in_another_way_and_never_in_none() -> None:
    asked = Question("rrps", (STRANGER,), 5)
    ways = [way(ORACLE.propose(asked, attempt)) for attempt in range(1, 41)]
    assert 8 <= sum(one == (1, 1.0) for one in ways) <= 32
    assert {views for views, _ in ways} == set(judging.VIEWS)
    assert {spread for _, spread in ways} == set(judging.SPREADS)


def test_it_begins_there_once() -> None:
    begun, other = write_source(judging.simplest()), write_source(FULL)
    weighty = Question("rrps", ((begun, 1.0),), 5)
    weightless = Question("rrps", ((other, 1.0),), 5, others=((begun, "csro/x@1"),))
    for asked in (weighty, weightless):
        assert read_source(ORACLE.propose(asked)) != judging.simplest()
    assert ORACLE.propose(Question("rrps", ((other, 1.0),), 5)) == begun


@pytest.mark.parametrize("weight", [1.0, 0.0])
def test_members_are_built_upon(weight: float) -> None:
    found = judging.judged_otherwise(judging.simplest(), random.Random(3))
    asked = Question("rrps", (STRANGER,), 5, others=((write_source(found), "csro/x@1"),))
    if weight:
        asked = Question("rrps", ((write_source(found), weight),), 5, names=("csro/x@1",))
    told = [ORACLE.propose(asked, attempt) for attempt in range(1, 20)]
    assert any("a variant of csro/x@1" in draft for draft in told)
    assert sum(way(draft) == (found.blend.views, found.blend.spread) for draft in told) >= 3


def test_refinements_judge_in_another_way_half_of_the_time() -> None:
    asked = Question("rrps", (STRANGER,), 5)
    first = ORACLE.propose(asked)
    ways = [way(ORACLE.refine(asked, Scored(first, (3.0,)), (), number)) for number in range(40)]
    assert 10 <= sum(one != (1, 1.0) for one in ways) <= 30


def test_there_is_no_such_search_in_leduc() -> None:
    with pytest.raises(UnknownGame, match=r"'grammar:parts' for 'leduc'; there is \['rrps'\]"):
        ORACLE.propose(Question("leduc", (STRANGER,), 5))


def test_its_programs_count_in_the_edition_of_its_own_runs_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    starts = (Start.FULL, Start.PLAIN, Start.PARTS)
    full, plain, parts = (edition("rrps", start) for start in starts)
    assert full == plain == edition("rrps") != parts
    edition.cache_clear()
    monkeypatch.setattr(judging, "SPREADS", (1.0, 4.0))
    assert [edition("rrps", start) == full for start in starts] == [True, True, False]
    assert edition("rrps", Start.PARTS) != parts
    edition.cache_clear()
