"""Sentences of the rock-paper-scissors grammar: programs that obey the contract and say so."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.grammar import genome as genomes
from oracle.grammar import rrps, rrps_render

MOVES = ("ROCK", "PAPER", "SCISSORS")
seeds = st.integers(0, 2**32)


def agent(source: str) -> Any:
    namespace: dict[str, Any] = {"__name__": "policy"}
    exec(compile(source, "<policy>", "exec"), namespace)
    return namespace["Agent"]()


BEATS = dict(zip(MOVES, MOVES[1:] + MOVES[:1], strict=True))


def play(source: str, seed: int, throws: int, period: int = 0, foreseen: bool = False) -> list[str]:
    """Moves of the policy against a cycle (or random moves where the period is 0).

    Where it is foreseen, each throw is lost.
    """
    theirs = random.Random(seed)
    state = random.getstate()
    random.setstate(random.Random(seed).getstate())
    try:
        policy, mine, other, moves = agent(source), None, None, []
        for throw in range(throws):
            mine = policy.act({"my_action": mine, "opponent_action": other})
            other = MOVES[throw % period] if period else theirs.choice(MOVES)
            if foreseen:
                other = BEATS[mine]
            moves.append(mine)
    finally:
        random.setstate(state)
    return moves


@settings(max_examples=40)
@given(seeds)
def test_every_sentence_obeys_the_contract(seed: int) -> None:
    rng = random.Random(seed)
    genome = rrps.random_genome(rng)
    for _ in range(3):
        genome = rrps.mutate(genome, rng)
    source = genomes.write_source(genome)
    assert set(play(source, seed, 60)) <= set(MOVES)


@settings(max_examples=20)
@given(seeds)
def test_a_sentence_is_standalone_and_documented(seed: int) -> None:
    source = genomes.write_source(rrps.random_genome(random.Random(seed)))
    tree = ast.parse(source)
    imports = {
        name.name for node in tree.body if isinstance(node, ast.Import) for name in node.names
    }
    assert imports == {"math", "numpy", "random"}
    assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(tree))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    assert all(ast.get_docstring(node) for node in classes)
    (policy,) = (node for node in classes if node.name == "Agent")
    assert "Made by a grammar" in (ast.get_docstring(policy) or "")
    assert max(map(len, source.splitlines())) <= 100


@given(seeds)
def test_equal_seeds_give_equal_genomes_and_text(seed: int) -> None:
    first, second = (rrps.random_genome(random.Random(seed)) for _ in range(2))
    assert first == second
    assert genomes.write_source(first) == genomes.write_source(second)


@given(seeds)
def test_a_source_tells_its_genome(seed: int) -> None:
    genome = rrps.random_genome(random.Random(seed))
    assert genomes.read_source(genomes.write_source(genome)) == genome
    assert genomes.from_json(genomes.to_json(genome)) == genome


@given(seeds, seeds)
def test_children_come_from_their_parents(one: int, other: int) -> None:
    rng = random.Random(one ^ other)
    mother = rrps.random_genome(random.Random(one))
    father = rrps.random_genome(random.Random(other))
    child = rrps.crossover(mother, father, rng)
    assert set(child.parts) <= {*mother.parts, *father.parts}
    assert len(set(child.parts)) == len(child.parts)


@pytest.mark.parametrize("text", ["", "[]", '{"game": "chess"}', '{"game": "rrps", "parts": 3}'])
def test_other_text_is_no_genome(text: str) -> None:
    with pytest.raises(genomes.NotGrammarMade):
        genomes.from_json(text)


def test_a_policy_may_do_with_or_without_markov_models() -> None:
    """The lists of predictors of one sort may be empty."""
    for part in (rrps.Part("context", "theirs", 0, 1), rrps.Part("lag", "mine", 2, 0)):
        source = genomes.write_source(rrps.RrpsGenome((part,)))
        assert set(play(source, 1, 50)) <= set(MOVES)


@pytest.mark.parametrize(
    "part", [("wizard", "theirs", 1, 0), ("context", "mine", 6, 0), ("context", "mine", 5, 4)]
)
def test_parts_that_no_policy_could_carry_are_no_genome(part: tuple[str, str, int, int]) -> None:
    with pytest.raises(ValueError, match=r"kind|too long"):
        rrps.Part(*part)
    text = genomes.to_json(rrps.RrpsGenome((rrps.Part("lag", "mine", 2, 0),)))
    kind, target, mine, theirs = part
    changed = text.replace('["lag","mine",2,0,', f'["{kind}","{target}",{mine},{theirs},')
    assert changed != text
    with pytest.raises(genomes.NotGrammarMade):
        genomes.from_json(changed)


def test_the_same_seed_plays_the_same_moves() -> None:
    source = genomes.write_source(rrps.full_genome())
    assert play(source, 7, 200) == play(source, 7, 200)
    assert play(source, 7, 200) != play(source, 8, 200)


def test_the_full_sentence_locks_on_to_a_cycle() -> None:
    moves = play(genomes.write_source(rrps.full_genome()), 3, 300, period=3)
    answers = {"ROCK": "PAPER", "PAPER": "SCISSORS", "SCISSORS": "ROCK"}
    won = [move == answers[MOVES[throw % 3]] for throw, move in enumerate(moves)]
    assert all(won[50:])


def test_a_credulous_program_believes_whatever_happens() -> None:
    """It foresees a repeat of their last throw; against a cycle it is always wrong, and goes on."""
    repeats = rrps.Part("lag", "theirs", 0, 1)
    believes = rrps.RrpsGenome((repeats,), rrps.CERTAIN, rrps.RECKLESS)
    learns = rrps.RrpsGenome((repeats,), choice=rrps.RECKLESS)
    against = [MOVES[throw % 3] for throw in range(300)]
    made = play(genomes.write_source(believes), 1, 300, period=3)
    assert made[2:] == [BEATS[throw] for throw in against[1:-1]]
    assert made[2:] == against[2:], "a draw in every throw"
    learnt = play(genomes.write_source(learns), 1, 300, period=3)
    assert learnt[100:] == [BEATS[throw] for throw in against[100:]]


@given(seeds)
def test_a_credulous_program_has_one_predictor_or_three(seed: int) -> None:
    genome = rrps.credulous_genome(random.Random(seed))
    blends = {1: rrps.CERTAIN, 3: rrps.STUBBORN}
    assert genome.blend == blends[len(genome.parts)]
    assert genome.parts[0].kind != rrps.CHOOSER
    assert genome.choice == rrps.RECKLESS
    assert genome == rrps.credulous_genome(random.Random(seed))


SAFETIES = {
    "both": rrps.Choice(),
    "edge alone": rrps.Choice(edge=0.05, net=1000.0),
    "net alone": rrps.Choice(edge=0.0),
    "sure": rrps.RECKLESS,
}
"""What can make a move random -> settings of such a program."""


@pytest.mark.parametrize("safety", SAFETIES)
@pytest.mark.parametrize("parts", [1, 3])
def test_a_program_claims_the_safety_that_it_has(safety: str, parts: int) -> None:
    lags = tuple(rrps.Part("lag", "theirs", 0, number + 1) for number in range(parts))
    source = genomes.write_source(rrps.RrpsGenome(lags, choice=SAFETIES[safety]))
    (policy,) = (
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and node.name == "Agent"
    )
    text = " ".join((ast.get_docstring(policy) or "").split())
    edge, net = safety in {"both", "edge alone"}, safety in {"both", "net alone"}
    assert ("promises at least 0.0" in text, "EDGE" in source) == (edge, edge)
    assert ("have not been losing lately" in text, "NET" in source) == (net, net)
    assert ("which nobody can exploit" in text) == (edge or net)
    assert ("played in every throw but the first, whatever it promises" in text) == (
        not (edge or net)
    )
    assert source.count("random.choice(MOVES)") == 1 + (edge or net)


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_a_safety_that_is_left_out_never_came(seed: int) -> None:
    """With its code or without, moves and draws are the same: even where every throw is lost."""
    rng = random.Random(seed)
    drawn = rrps.grow(rrps.credulous_genome(rng), rng)
    for choice in (rrps.RECKLESS, SAFETIES["edge alone"], SAFETIES["net alone"]):
        genome = dataclasses.replace(drawn, choice=choice)
        bare = genomes.write_source(genome)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rrps_render, "_gates", lambda _: {"gate", "net", "both"})
            whole = genomes.write_source(genome)
        assert "if best < EDGE or self.form < -NET:" in whole
        assert whole != bare
        assert play(bare, seed, 150, foreseen=True) == play(whole, seed, 150, foreseen=True)
        assert play(bare, seed, 100) == play(whole, seed, 100)


def test_of_one_it_speaks_in_the_singular() -> None:
    for number, throws, results in (
        (1, "1 throw ago", "1 result"),
        (2, "2 throws ago", "2 results"),
    ):
        assert f"{throws}," in rrps.describe(rrps.Part("lag", "mine", number, 0))
        assert rrps.describe(rrps.Part("result", "mine", number, 0)).endswith(results)
    lag = [rrps.Part("lag", target, 1, 0) for target in ("theirs", "mine")]
    for parts, text in (
        (lag, "1 predictor guesses the opponent's next move and 1 guesses mine"),
        ([*lag, rrps.mirror(lag[0])], "1 predictor guesses the opponent's next move and 2 guess"),
        ([*lag, rrps.mirror(lag[1])], "2 predictors guess the opponent's next move and 1 guesses"),
    ):
        assert text in genomes.write_source(rrps.RrpsGenome(tuple(parts)))


BEFORE_VIEWS = "7da873eae91290f1c7d8663db48d6a8a6a632b10c9cc699f43e83ca45c90555d"
"""SHA-256 of `write_source(full_genome())` of the last commit whose blends had neither views nor
spread, 738ef05."""


def test_older_genomes_are_read_and_rendered_as_before() -> None:
    older = rrps.RrpsGenome(rrps.full_genome().parts)
    text = genomes.to_json(older)
    assert "views" not in text
    assert "spread" not in text
    assert genomes.from_json(text) == older
    source = genomes.write_source(older)
    assert hashlib.sha256(source.encode()).hexdigest() == BEFORE_VIEWS


@settings(max_examples=20)
@given(seeds, st.sampled_from([(3, 1.0), (1, 3.0), (3, 2.5)]))
def test_sentences_with_views_and_several_rates_obey_the_contract(
    seed: int, blend: tuple[int, float]
) -> None:
    views, spread = blend
    drawn = rrps.random_genome(random.Random(seed))
    changed = dataclasses.replace(drawn.blend, views=views, spread=spread)
    genome = dataclasses.replace(drawn, blend=changed)
    source = genomes.write_source(genome)
    assert genomes.read_source(source) == genome
    assert max(map(len, source.splitlines())) <= 100
    assert set(play(source, seed, 60)) <= set(MOVES)


@pytest.mark.parametrize("setting", [{"views": 2}, {"spread": 0.5}])
def test_a_blend_that_no_policy_could_have_is_no_genome(setting: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"views|spread"):
        rrps.Blend(**setting)
