"""Sentences of the Leduc grammar: programs that obey the contract and play well."""

from __future__ import annotations

import ast
import itertools
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.grammar import balance, leduc
from oracle.grammar import genome as genomes

seeds = st.integers(0, 2**32)
NAMES = {"F": "FOLD", "C": "CALL", "R": "RAISE"}


def bot(source: str) -> Any:
    namespace: dict[str, Any] = {"__name__": "policy"}
    exec(compile(source, "<policy>", "exec"), namespace)
    return namespace["RepeatedLeducPokerBot"]()


def other_player(line: str, rng: random.Random, style: str) -> str:
    legal = ["FCR"[move] for move in balance.spot(line).legal]
    habit = {"passive": "C", "timid": "F"}.get(style)
    wanted = habit if habit and rng.random() < 0.9 else rng.choice(legal)
    return wanted if wanted in legal else "C"


class Hand:
    """One hand of Leduc, told to a policy as the author contract says."""

    def __init__(self, seat: int, cards: list[int]) -> None:
        self.seat, self.cards, self.line = seat, cards, ""
        self.history: dict[str, list[dict[str, Any]]] = {"PREFLOP": [], "POSTFLOP": []}

    def observation(self, result: dict[str, Any] | None = None) -> dict[str, Any]:
        spot = balance.spot(self.line)
        legal = [NAMES["FCR"[move]] for move in spot.legal]
        after_card = "/" in self.line
        return {
            "player_view": {
                "player_id": self.seat,
                "current_player": result is None,
                "hand": "JQK"[self.cards[self.seat]],
                "legal_actions": [] if result else legal,
            },
            "public_state": {
                "round": "POSTFLOP" if after_card else "PREFLOP",
                "chips": [100 - paid for paid in spot.paid],
                "pot_size": sum(spot.paid),
                "public_card": "JQK"[self.cards[2]] if after_card else None,
            },
            "action_history": {name: list(events) for name, events in self.history.items()},
            "game_result": result,
        }

    def play(self, policy: Any, style: str, rng: random.Random) -> int:
        """Chips that the policy wins."""
        policy.restart(self.seat)
        while True:
            spot = balance.spot(self.line)
            if spot.mover == self.seat:
                name = policy.act(self.observation())
                assert name in self.observation()["player_view"]["legal_actions"]
                letter = name[0]
            else:
                letter = other_player(self.line, rng, style)
            stage = "POSTFLOP" if "/" in self.line else "PREFLOP"
            event = {"player_id": spot.mover, "action": NAMES[letter]}
            self.history[stage].append(event)
            to = balance.follow(self.line, "FCR".index(letter))
            if to in {"fold", "showdown"}:
                return self.end(policy, to, spot)
            self.line = to

    def end(self, policy: Any, how: str, spot: balance.Spot) -> int:
        shown = None
        if how == "fold":
            won = -spot.paid[spot.mover]
            won = won if spot.mover == self.seat else -won
        else:
            ranks = [3 if rank == self.cards[2] else rank for rank in self.cards[:2]]
            mine, theirs = ranks[self.seat], ranks[1 - self.seat]
            won = max(spot.paid) * ((mine > theirs) - (mine < theirs))
            shown = [{"player_id": i, "hand": "JQK"[self.cards[i]]} for i in (0, 1)]
        returns = [won, -won] if self.seat == 0 else [-won, won]
        result = {"outcome": how.upper(), "returns": returns, "showdown_hands": shown}
        policy.receive_outcome(self.observation(result))
        return won


def match(source: str, style: str, seed: int, hands: int = 100) -> int:
    rng = random.Random(seed)
    state = random.getstate()
    random.setstate(random.Random(seed + 1).getstate())
    try:
        policy, total = bot(source), 0
        for number in range(hands):
            cards = rng.sample([0, 0, 1, 1, 2, 2], 3)
            total += Hand(number % 2, cards).play(policy, style, rng)
    finally:
        random.setstate(state)
    return total


@pytest.mark.parametrize("styles", [1, 2])
def test_moves_that_no_style_makes_are_borne(styles: int) -> None:
    """Balanced play never makes some moves, nor does the learnt style before it has seen them."""
    suspected = (leduc.Style("balanced", 0.0, 0.0, 1.0), leduc.Style("learned", 4.0, 0.0, 1.0))
    source = genomes.write_source(leduc.LeducGenome(suspected[:styles], pool=0.0))
    with np.errstate(divide="raise", invalid="raise"):
        assert match(source, "random", 5) > 0


@settings(max_examples=15)
@given(seeds, st.sampled_from(("passive", "timid", "random")))
def test_every_sentence_obeys_the_contract(seed: int, style: str) -> None:
    rng = random.Random(seed)
    genome = leduc.random_genome(rng)
    for _ in range(3):
        genome = leduc.mutate(genome, rng)
    match(genomes.write_source(genome), style, seed, hands=6)


@settings(max_examples=10)
@given(seeds)
def test_a_sentence_is_standalone_and_documented(seed: int) -> None:
    source = genomes.write_source(leduc.random_genome(random.Random(seed)))
    tree = ast.parse(source)
    imports = {
        name.name for node in tree.body if isinstance(node, ast.Import) for name in node.names
    }
    assert {"functools", "numpy", "operator", "random"} <= imports
    assert imports <= {"copy", "functools", "numpy", "operator", "random"}
    (policy,) = (
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == "RepeatedLeducPokerBot"
    )
    assert "Made by a grammar" in (ast.get_docstring(policy) or "")
    assert max(map(len, source.splitlines())) <= 100


@given(seeds)
def test_a_source_tells_its_genome(seed: int) -> None:
    genome = leduc.random_genome(random.Random(seed))
    assert genomes.read_source(genomes.write_source(genome)) == genome
    assert leduc.random_genome(random.Random(seed)) == genome


@given(seeds, seeds)
def test_children_come_from_their_parents(one: int, other: int) -> None:
    mother = leduc.random_genome(random.Random(one))
    father = leduc.random_genome(random.Random(other))
    child = leduc.crossover(mother, father, random.Random(one ^ other))
    assert set(child.styles) <= {*mother.styles, *father.styles}


def test_the_same_seed_plays_the_same_match() -> None:
    source = genomes.write_source(leduc.full_genome())
    assert match(source, "random", 5, 20) == match(source, "random", 5, 20)


def test_the_full_sentence_beats_those_who_never_think() -> None:
    source = genomes.write_source(leduc.full_genome())
    for style in ("passive", "timid", "random"):
        assert sum(match(source, style, seed) for seed in range(4)) / 4 > 60


def test_the_shipped_balance_is_near_an_equilibrium() -> None:
    policy = balance.from_rows(balance.stored_rows())
    assert 0.0 <= balance.nash_conv(policy) < 0.003


def test_solving_approaches_the_shipped_balance() -> None:
    solved = balance.solve(150)
    assert balance.nash_conv(solved) < 0.03
    value = balance.best_response_value(solved, 0)
    assert value == pytest.approx(-0.0856, abs=0.01)


def test_rounding_keeps_chances() -> None:
    policy = balance.from_rows(balance.rounded(balance.solve(3)))
    assert all(np.allclose(chances.sum(axis=0), 1.0) for chances in policy.values())


def test_the_full_sentence_names_no_fixed_way_to_play_but_balance_and_tilts_of_it() -> None:
    """Styles that folded or called whatever they held were copies of those it is measured by."""
    styles = leduc.full_genome().styles
    assert {style.kind for style in styles} == {"balanced", "tilted", "crowd", "strangers"}
    # A tilt of 0 would be who never folds or never raises, a large one who always does.
    tilts = [tilt for one in styles if one.kind == "tilted" for tilt in (one.fold, one.bet)]
    assert tilts and all(0.5 <= tilt <= 2.0 for tilt in tilts)


BEFORE = (
    '{"caution":0.05,"change":0.01,"game":"leduc","pool":0.1,"styles":[["balanced",0.0,0.0,12.0],'
    '["tilted",0.5,0.5,0.5],["tilted",2.0,1.0,0.5],["tilted",1.0,2.0,0.5],["crowd",0.35,0.35,8.0]]}'
)
"""The full sentence before it had strangers."""


def test_the_genome_of_before_is_read_and_written_as_it_was() -> None:
    genome = genomes.from_json(BEFORE)
    assert genomes.to_json(genome) == BEFORE
    source = genomes.write_source(genome)
    assert "Strangers" not in source
    assert match(source, "passive", 3, 20) == match(source, "passive", 3, 20)


STRANGERS = leduc.Style("strangers", 0.35, 0.35, 8.0)


def strangers(fold: float = 0.35, bet: float = 0.35) -> dict[str, Any]:
    """What a program with strangers beside balanced play defines."""
    styles = (leduc.full_genome().styles[0], leduc.Style("strangers", fold, bet, 8.0))
    namespace: dict[str, Any] = {"__name__": "policy"}
    exec(compile(genomes.write_source(leduc.LeducGenome(styles)), "<policy>", "exec"), namespace)
    return namespace


def test_no_stranger_is_one_of_those_it_is_measured_by() -> None:
    """Given any card, each does something else than call, and something else than fold."""
    program = strangers()
    (group,) = program["STRANGERS"].values()

    def most(*lines: str) -> float:
        """How likely the likeliest stranger plays on like this against raises, whatever it has."""
        paths = group.paths[0][:, [program["ROW"][line] for line in lines]]
        return float(paths.mean(axis=(2, 3)).prod(axis=1).max())

    always = 1.0 - 2 / 3 * group.SLIP  # where three moves are allowed
    assert most("RC/RC") < 0.9 * always**2
    assert most("RF", "CC/RF") < 0.9 * always**2 * (1.0 - group.SLIP / 2)


def test_strangers_make_their_way_as_styles_do() -> None:
    program = strangers()
    (group,) = program["STRANGERS"].values()
    tables = np.array(program["TABLES"][:1], np.float32)
    for seat, paths in zip(program["SEATS"], program["REACH"], strict=True):
        assert np.allclose(group.walk(seat, tables)[0], paths[0], atol=1e-5)


def test_strangers_are_weighed_by_what_they_do() -> None:
    """Who was seen to fold is likelier to be one who folds there; the chances stay chances."""
    program = strangers()
    (group,) = program["STRANGERS"].values()
    row, cards = program["ROW"]["RF"], np.array([2.0, 1.0, 2.0])
    folds = group.paths[0][:, row, :, 0] @ cards
    after = group.weigh(group.alike, 0, row, 0, cards)
    assert after.sum() == pytest.approx(1.0)
    assert after @ folds > group.alike @ folds
    expected = group.reach(0, group.alike)
    assert np.allclose(expected, group.paths[0].mean(axis=0), atol=1e-5)


def test_strangers_give_up_and_raise_more_where_they_are_told_to() -> None:
    def share(fold: float, bet: float, line: str) -> float:
        program = strangers(fold, bet)
        (group,) = program["STRANGERS"].values()
        return float(group.reach(0, group.alike)[program["ROW"][line]].mean())

    assert share(0.6, 0.35, "RF") > share(0.1, 0.35, "RF") + 0.05
    assert share(0.35, 0.6, "CR") > share(0.35, 0.1, "CR") + 0.05


def test_a_policy_has_strangers_once() -> None:
    balanced = leduc.Style("balanced", 0.0, 0.0, 12.0)
    with pytest.raises(ValueError, match="strangers"):
        leduc.LeducGenome((balanced, STRANGERS, STRANGERS))
    joined = leduc.join(leduc.full_genome(), leduc.LeducGenome((balanced, STRANGERS)))
    assert joined == leduc.full_genome()
    other = leduc.Style("strangers", 0.2, 0.5, 1.0)
    assert leduc.join(leduc.full_genome(), leduc.LeducGenome((balanced, other))) == joined


def test_a_program_has_no_parts_that_it_does_not_use() -> None:
    balanced = leduc.Style("balanced", 0.0, 0.0, 12.0)
    learned = leduc.Style("learned", 4.0, 0.0, 1.0)
    crowd = leduc.Style("crowd", 0.3, 0.3, 8.0)
    words = {"learned": learned, "Crowd": crowd, "Strangers": STRANGERS}
    for count in range(len(words) + 1):
        for used in itertools.combinations(words, count):
            styles = [words[word] for word in used]
            source = genomes.write_source(leduc.LeducGenome((balanced, *styles)))
            text = source.partition(genomes.MARK)[0]
            assert [word for word in words if word in text] == list(used)
            match(source, "random", 2, hands=4)


def test_a_credulous_program_believes_whatever_happens() -> None:
    """Who takes everybody for one that folds never stops raising, against one that never folds."""
    folds = leduc.Style("blind", 0.9, 0.05, 1.0)
    doubt = leduc.credulous_genome(random.Random(1))
    believes = leduc.LeducGenome((doubt.styles[0], folds), caution=0.0, change=0.0)
    learns = leduc.LeducGenome((*leduc.full_genome().styles, folds))
    sources = [genomes.write_source(one) for one in (believes, learns)]
    lost, won = (sum(match(source, "passive", seed) for seed in range(3)) for source in sources)
    assert lost < 0 < won


@given(seeds)
def test_a_credulous_program_believes_in_one_fixed_style(seed: int) -> None:
    genome = leduc.credulous_genome(random.Random(seed))
    balanced, believed = genome.styles
    assert believed.kind in ("blind", "honest", "tilted")
    assert balanced.prior < 1e-3 * believed.prior
    assert (genome.caution, genome.change) == (0.0, 0.0)
    assert genome == leduc.credulous_genome(random.Random(seed))


def test_who_is_never_cautious_does_not_say_that_it_cannot_be_exploited() -> None:
    credulous = leduc.credulous_genome(random.Random(3))
    told = {
        caution: genomes.write_source(replace(credulous, caution=caution))
        for caution in (0.0, 0.05)
    }
    assert "cannot be exploited" not in told[0.0] and "can exploit it" in told[0.0]
    assert "at least 0.05 chips more than balanced play" in told[0.05]
    assert "balanced play, which cannot be exploited" in told[0.05]


def test_of_one_style_it_speaks_in_the_singular() -> None:
    alone = leduc.LeducGenome(leduc.full_genome().styles[:1])
    assert "It knows 1 style (see STYLES)." in genomes.write_source(alone)
    assert "It knows 6 styles (see STYLES)." in genomes.write_source(leduc.full_genome())
