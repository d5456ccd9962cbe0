"""Luck in hands is zero on average, exactly, whoever plays and whatever the models are."""

from __future__ import annotations

import numpy as np
import pytest

from arena.analysis.aivat import luck, values
from arena.analysis.exact import hand_value
from arena.games import game as game_named
from arena.games.hand_tree import hand_tree

GAMES = [game_named(name) for name in ("leduc", "kuhn")]


def some_table(game, tree, seed):
    """Any policy, as an array over information states and actions."""
    rng = np.random.default_rng(seed)
    found = np.zeros((len(tree.states), tree.actions))
    for place, name in enumerate(tree.states):
        legal = list(game.states.legal[name])
        found[place, legal] = rng.dirichlet(np.full(len(legal), 0.5))
    return found


def by_name(tree, table):
    return {name: tuple(row) for name, row in zip(tree.states, table, strict=True)}


def reach(tree, tables, stops=lambda number: 0.0):
    """(points, deals) how likely a hand comes to each point, and ends at each.

    `stops` is the share of hands that are forfeited at a point, (deals,) or a number.
    """
    through = np.zeros((len(tree.points), tree.deals))
    through[0] = 1.0 / tree.deals
    ends = np.zeros_like(through)
    for number, point in enumerate(tree.points):
        if point.actor is None:
            ends[number] = through[number]
            continue
        ends[number] = through[number] * stops(number)
        going = through[number] - ends[number]
        chances = tables[point.actor][point.states]
        for action, after in point.after.items():
            through[after] = going * chances[:, action]
    return ends


@pytest.fixture(params=GAMES, ids=lambda game: game.name)
def hand(request):
    game = request.param
    tree = hand_tree(game, game.states)
    return game, tree, [some_table(game, tree, seed) for seed in range(4)]


def payoffs(tree):
    found = np.zeros((len(tree.points), tree.deals))
    for number, point in enumerate(tree.points):
        if point.actor is None:
            found[number] = point.payoffs
    return found


def test_a_value_function_is_the_engines(hand):
    game, tree, (one, other, *_) = hand
    exact = hand_value(game.states, by_name(tree, one), by_name(tree, other))
    assert values(tree, (one, other))[0].mean() == pytest.approx(exact, abs=1e-9)
    assert (reach(tree, (one, other)) * payoffs(tree)).sum() == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("first_known", [False, True])
@pytest.mark.parametrize("second_known", [False, True])
def test_luck_is_zero_on_average_whatever_the_models_are(hand, first_known, second_known):
    _, tree, (one, other, wrong, worse) = hand
    known = (one if first_known else None, other if second_known else None)
    for models in ((wrong, worse), (one, other), (other, wrong)):
        chance = luck(tree, models, known)
        ends = reach(tree, (one, other))
        assert np.abs(chance).max() > 0.01
        assert (ends * chance).sum() == pytest.approx(0.0, abs=1e-12)


def test_a_forfeit_may_depend_on_all_that_a_player_sees(hand):
    _, tree, (one, other, wrong, worse) = hand
    rng = np.random.default_rng(9)
    share = rng.random(len(tree.states)) * (rng.random(len(tree.states)) < 0.3)
    ends = reach(tree, (one, other), lambda number: share[tree.points[number].states])
    assert ends.sum() == pytest.approx(1.0)
    for known in ((None, None), (one, None), (None, other), (one, other)):
        chance = luck(tree, (wrong, worse), known)
        assert (ends * chance).sum() == pytest.approx(0.0, abs=1e-12)


def test_a_table_that_is_not_played_would_be_noticed(hand):
    _, tree, (one, other, wrong, worse) = hand
    ends = reach(tree, (one, other))
    assert abs((ends * luck(tree, (wrong, worse), (worse, None))).sum()) > 1e-3


def test_between_two_known_tables_nothing_is_left_to_luck(hand):
    game, tree, (one, other, *_) = hand
    exact = hand_value(game.states, by_name(tree, one), by_name(tree, other))
    left = payoffs(tree) - luck(tree, (one, other), (one, other))
    met = reach(tree, (one, other)) > 0.0
    assert left[met] == pytest.approx(exact, abs=1e-9)


def test_the_better_the_models_the_less_is_left_to_luck(hand):
    game, tree, (one, other, *_) = hand
    near = tree.table(game.equilibrium)
    ends, won = reach(tree, (one, other)), payoffs(tree)

    def variance(models):
        found = won if models is None else won - luck(tree, models, (None, None))
        return (ends * found**2).sum() - (ends * found).sum() ** 2

    half = ((near + one) / 2.0, (near + other) / 2.0)
    assert variance((one, other)) < variance(half) < variance((near, near))
    assert variance((one, other)) < 0.8 * variance(None)
