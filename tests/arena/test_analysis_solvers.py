"""Meta-game solvers: optimality, the selection rule, known equilibria, and OpenSpiel's figures."""

from __future__ import annotations

import csv
import importlib
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from arena.analysis.alpha_rank import (
    _log_stationary,
    _stationary,
    alpha_rank,
    log_fixation,
    stationary_shares,
)
from arena.analysis.meta_strategy import DEFAULT_SOLVER, SOLVERS, exploitability, nash_conv
from arena.analysis.nash import LEAST_WEIGHT, lp, nash, noise_of
from arena.analysis.projected_replicator import project, projected_replicator

GOLDEN = Path(__file__).parents[1] / "golden"
ROCK_PAPER_SCISSORS = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def _read(name: str) -> tuple[list[str], np.ndarray]:
    with (GOLDEN / name).open(newline="") as stream:
        rows = list(csv.reader(stream))
    return [row[0] for row in rows[1:]], np.array([row[1:] for row in rows[1:]], dtype=float)


def _published() -> tuple[list[str], np.ndarray, np.ndarray]:
    bots, payoffs = _read("rrps_cross_table.csv")
    _, deviations = _read("rrps_sd_per_match.csv")
    return bots, (payoffs - payoffs.T) / 2, deviations


@st.composite
def meta_games(draw: st.DrawFn, largest: float = 1000.0) -> np.ndarray:
    n = draw(st.integers(1, 12))
    entries = arrays(float, (n, n), elements=st.floats(-largest, largest, width=32))
    matrix = np.triu(draw(entries), k=1)
    return matrix - matrix.T


@given(meta_games(), st.sampled_from(sorted(SOLVERS)))
@settings(max_examples=60)
def test_every_solver_returns_a_distribution_and_measures_it(mean, name):
    settings_of = {"prd": projected_replicator(iterations=200)}
    found = settings_of.get(name, SOLVERS[name])(mean, np.zeros_like(mean))
    assert found.solver == name
    assert found.weights.shape == (len(mean),)
    assert (found.weights >= 0).all()
    assert found.weights.sum() == pytest.approx(1.0, abs=1e-12)
    gains = mean @ found.weights
    assert found.exploitability == pytest.approx(max(gains.max(), 0.0), abs=1e-9)
    assert found.value == -found.exploitability
    assert nash_conv(mean, found.weights) == 2 * exploitability(mean, found.weights)
    assert found.population_payoff == pytest.approx(-gains.mean(), abs=1e-9)


def for_the_rest(found, payoffs):
    """What it may cost at most that small weights were left out."""
    left_out = found.settings.get("left_out", 0.0)
    return 2.0 * left_out / (1.0 - left_out) * np.abs(payoffs).max()


@given(meta_games(), st.data())
@settings(max_examples=200)
def test_linear_programs_give_nobody_a_weight_that_means_nothing(mean, data):
    n, errors = len(mean), st.sampled_from([0.0, 1e-9, 1e-3, 20.0])
    stderr = np.full_like(mean, data.draw(errors))
    m = data.draw(st.integers(1, 4))
    beyond = data.draw(arrays(float, (n, m), elements=st.floats(-900.0, 900.0, width=32)))
    for found in (lp(mean, stderr), nash(mean, stderr), nash(mean, stderr, beyond=beyond)):
        assert not ((found.weights > 0.0) & (found.weights < LEAST_WEIGHT)).any()
        assert found.weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert found.settings.get("left_out", 0.0) < n * LEAST_WEIGHT


def test_what_is_granted_to_a_program_puts_nobody_into_the_support():
    # The second loses 1 to the first; a margin of 1e-7 would buy a weight of 1e-7 for what it wins
    # from the third one, who cannot be played.
    mean, beyond = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.array([[0.0], [500.0]])
    found = nash(mean, np.zeros((2, 2)), beyond=beyond)
    assert found.weights.tolist() == [1.0, 0.0]
    assert 0.0 < found.settings["left_out"] < 1e-6
    assert "left_out" not in nash(ROCK_PAPER_SCISSORS, np.zeros((3, 3))).settings


def test_of_many_equal_policies_all_stay():
    found = lp(np.zeros((1, 1)), np.zeros((1, 1)))
    assert found.weights.tolist() == [1.0]
    n = 301  # each beats the next 150: only all together are beaten by nobody
    steps = (np.arange(n)[None, :] - np.arange(n)[:, None]) % n
    mean = np.where(steps == 0, 0.0, np.where(steps <= n // 2, 1.0, -1.0))
    found = lp(mean, np.zeros_like(mean))
    assert found.weights == pytest.approx(np.full(n, 1 / n), abs=1e-6)


@given(meta_games())
@settings(max_examples=150)
def test_no_policy_beats_the_maximin_mixture(mean):
    found = lp(mean, np.zeros_like(mean))
    assert found.exploitability <= 1e-9 * max(1.0, np.abs(mean).max()) + for_the_rest(found, mean)


@given(meta_games(), st.floats(0.0, 50.0))
@settings(max_examples=100)
def test_selected_mixture_stays_within_the_noise_and_gains_by_it(mean, error):
    stderr = np.full_like(mean, error)
    plain, chosen = lp(mean, stderr), nash(mean, stderr)
    slack = 1e-7 * max(1.0, np.abs(mean).max()) + for_the_rest(chosen, mean)
    assert chosen.exploitability <= chosen.settings["eps"] + slack
    noise, near = noise_of(plain.weights, stderr).max(), for_the_rest(plain, stderr) + 1e-6 * error
    assert chosen.settings["noise"] == pytest.approx(noise, abs=near)
    slack += for_the_rest(plain, mean)
    assert chosen.population_payoff >= plain.population_payoff - slack


def test_rock_paper_scissors_is_uniform_for_every_solver():
    for name, solver in SOLVERS.items():
        found = solver(ROCK_PAPER_SCISSORS, np.zeros((3, 3)))
        np.testing.assert_allclose(found.weights, 1 / 3, atol=1e-9, err_msg=name)


def test_weighted_rock_paper_scissors():
    # Wins of 1, 2 and 3: each policy is played in proportion to the win of the other two.
    mean = np.array([[0.0, -1.0, 2.0], [1.0, 0.0, -3.0], [-2.0, 3.0, 0.0]])
    expected = [3 / 6, 2 / 6, 1 / 6]
    np.testing.assert_allclose(lp(mean, np.zeros((3, 3))).weights, expected, atol=1e-9)
    slow = projected_replicator(iterations=60_000, step=0.005)(mean, np.zeros((3, 3)))
    np.testing.assert_allclose(slow.weights, expected, atol=0.01)


def test_a_policy_that_beats_all_others_takes_all():
    mean = np.array([[0.0, 5.0, 9.0], [-5.0, 0.0, 30.0], [-9.0, -30.0, 0.0]])
    for name in ("nash", "lp", "prd", "alpha-rank"):
        assert SOLVERS[name](mean, np.zeros((3, 3))).weights[0] > 0.96, name


def test_unknown_errors_count_as_the_largest_known_one():
    stderr = np.array([[0.0, np.nan, 2.0], [np.nan, 0.0, 1.0], [2.0, 1.0, 0.0]])
    assert noise_of(np.array([1.0, 0.0, 0.0]), stderr).tolist() == [0.0, 2.0, 2.0]
    assert noise_of(np.ones(2) / 2, np.full((2, 2), np.nan)).tolist() == [0.0, 0.0]


def test_what_is_not_known_of_one_opponent_gives_nothing_away_against_another():
    # A beats B for sure; nobody knows by how much both beat a weak W.  The mean over the three
    # speaks for B, and the noise against W is larger than what B loses to A.
    mean = np.array([[0.0, 50.0, 400.0], [-50.0, 0.0, 700.0], [-400.0, -700.0, 0.0]])
    stderr = np.array([[0.0, 3.0, 60.0], [3.0, 0.0, 60.0], [60.0, 60.0, 0.0]])
    found = nash(mean, stderr)
    assert found.weights == pytest.approx([1.0, 0.0, 0.0], abs=0.07)
    assert found.exploitability <= 3.0 + 1e-6


@given(meta_games(), st.data())
@settings(max_examples=100)
def test_each_opponent_has_a_slack_of_its_own(mean, data):
    n = len(mean)
    errors = np.triu(data.draw(arrays(float, (n, n), elements=st.floats(0.0, 50.0, width=32))), 1)
    stderr = errors + errors.T
    plain, chosen = lp(mean, stderr), nash(mean, stderr)
    allowed = noise_of(plain.weights, stderr) + for_the_rest(plain, stderr)
    tolerance = 1e-6 * max(1.0, np.abs(mean).max()) + for_the_rest(chosen, mean)
    assert (chosen.weights @ mean >= -allowed - tolerance).all()


@given(meta_games(), st.data())
@settings(max_examples=60)
def test_others_choose_among_mixtures_and_let_none_lose_more(mean, data):
    n, stderr = len(mean), np.full_like(mean, data.draw(st.sampled_from([0.0, 1e-9, 20.0, 1e5])))
    m = data.draw(st.integers(0, 4))
    beyond = data.draw(arrays(float, (n, m), elements=st.floats(-900.0, 900.0, width=32)))
    plain, alone = lp(mean, stderr), nash(mean, stderr)
    chosen = nash(mean, stderr, beyond=beyond)
    tolerance = 1e-6 * max(1.0, np.abs(mean + stderr).max())
    if m == 0:
        assert chosen.weights.tolist() == alone.weights.tolist()
        return
    tolerance += for_the_rest(chosen, mean + stderr) + for_the_rest(chosen, beyond)
    tolerance += for_the_rest(plain, mean + stderr) + for_the_rest(plain, beyond)
    assert (chosen.weights @ (mean + stderr) >= -tolerance).all()
    over = np.hstack([mean, beyond]).mean(axis=1)
    assert chosen.weights @ over >= plain.weights @ over - tolerance, "which is allowed, too"


def test_others_tell_apart_what_draws():
    mean, stderr = np.zeros((3, 3)), np.full((3, 3), 5.0)
    beyond = np.array([[300.0, 100.0], [320.0, 110.0], [350.0, 40.0]])
    found = nash(mean, stderr, beyond=beyond)
    assert found.weights.tolist() == [0.0, 1.0, 0.0]
    assert "over the population and 2 beyond it among" in str(found.settings["rule"])
    assert "beyond it" not in str(nash(mean, stderr).settings["rule"])
    sure = nash(mean, np.zeros((3, 3)), beyond=beyond)
    assert sure.weights.tolist() == [0.0, 1.0, 0.0], "without noise, too"
    lost_by_chance = np.array([[0.0, 2.0, 1.0], [-2.0, 0.0, -3.0], [-1.0, 3.0, 0.0]])
    found = nash(lost_by_chance, stderr, beyond=beyond)
    assert found.weights.tolist() == [0.0, 1.0, 0.0], "within the noise of its own payoffs"
    assert nash(lost_by_chance, stderr).weights[0] == 1.0
    beats = np.array([[0.0, 60.0, 60.0], [-60.0, 0.0, 0.0], [-60.0, 0.0, 0.0]])
    assert nash(beats, stderr, beyond=beyond).weights[0] > 0.9, "what is beaten is not chosen"


def test_payoffs_that_nearly_tie_without_noise_are_solved():
    mean = np.array([[0.0, 2.0, -108.0], [-2.0, 0.0, 9.99999997e-7], [108.0, -9.99999997e-7, 0.0]])
    found = nash(mean, np.zeros((3, 3)), beyond=np.zeros((3, 1)))
    assert found.exploitability < 1e-3


@pytest.mark.parametrize(
    "beyond", [np.zeros((2, 4)), np.zeros(3), np.full((3, 1), np.nan)], ids=["rows", "flat", "gap"]
)
def test_payoffs_beyond_that_do_not_fit_are_refused(beyond):
    with pytest.raises(ValueError, match="a row for each and no gaps"):
        nash(np.zeros((3, 3)), np.ones((3, 3)), beyond=beyond)


def test_selection_rule_is_steady_where_the_plain_program_is_not():
    # Measurements of the published table at 16 matches a pair: the mixtures' AggScore on
    # the published payoffs.
    bots, truth, deviations = _published()
    rng = np.random.default_rng(7)
    scores: dict[str, list[float]] = {"nash": [], "lp": []}
    for _ in range(6):
        noise = np.triu(rng.normal(size=truth.shape) * deviations / 4, k=1)
        for name, found in scores.items():
            weights = SOLVERS[name](truth + noise - noise.T, deviations / 4).weights
            payoffs = weights @ truth
            found.append(payoffs.mean() + payoffs.min())
    assert np.mean(scores["nash"]) > np.mean(scores["lp"]) + 80
    assert min(scores["nash"]) > 180
    assert np.std(scores["nash"]) < np.std(scores["lp"])
    best = SOLVERS[DEFAULT_SOLVER](truth, deviations / 4).weights
    assert bots[int(best.argmax())] == "greenberg"


@pytest.mark.parametrize(
    ("mean", "message"),
    [
        (np.array([[0.0, 1.0], [1.0, 0.0]]), "antisymmetric"),
        (np.array([[0.0, np.nan], [np.nan, 0.0]]), "2 of 4 payoffs are not known"),
        (np.zeros((0, 0)), "square"),
        (np.zeros((2, 3)), "square"),
    ],
)
def test_what_is_no_meta_game_is_refused(mean, message):
    for solver in SOLVERS.values():
        with pytest.raises(ValueError, match=message):
            solver(mean, np.zeros_like(mean))


@given(
    arrays(float, st.integers(1, 9), elements=st.floats(-3, 3)),
    st.floats(0.0, 1.0),
    st.integers(0, 2**32 - 1),
)
def test_projection_is_the_nearest_allowed_point(point, share, seed):
    least = share / len(point)
    nearest = project(point, least)
    assert nearest.sum() == pytest.approx(1.0)
    assert (nearest >= least - 1e-12).all()
    others = np.random.default_rng(seed).dirichlet(np.ones(len(point)), size=50)
    others = least + (1 - least * len(point)) * others
    distances = np.linalg.norm(others - point, axis=1)
    assert np.linalg.norm(nearest - point) <= distances.min() + 1e-9


def test_projection_where_there_is_no_room_to_speak_of():
    point = np.array([1e9, 0.0, -3.0])
    for least in (1 / 3, (1 - 1e-12) / 3):
        assert project(point, least) == pytest.approx(np.full(3, 1 / 3))


def test_settings_are_checked():
    for bad in ({"iterations": 0}, {"step": 0.0}, {"gamma": 1.0}):
        with pytest.raises(ValueError, match="iterations >= 1"):
            projected_replicator(**bad)
    for bad in ({"alpha": 0.0}, {"population": 1}):
        with pytest.raises(ValueError, match="alpha > 0"):
            alpha_rank(**bad)


@pytest.fixture(scope="module")
def openspiel_alpharank():
    """OpenSpiel's alpha-rank, whose module imports drawing libraries only to offer plots."""
    drawing = "open_spiel.python.egt.alpharank_visualizer"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, drawing, types.ModuleType(drawing))
        package = importlib.import_module("open_spiel.python.egt")
        patch.setattr(package, "alpharank_visualizer", sys.modules[drawing], raising=False)
        patch.delitem(sys.modules, "open_spiel.python.egt.alpharank", raising=False)
        yield importlib.import_module("open_spiel.python.egt.alpharank")


@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.3])
def test_alpha_rank_agrees_with_openspiel(openspiel_alpharank, alpha):
    rng = np.random.default_rng(3)
    for n in (2, 3, 6, 10):
        matrix = rng.normal(size=(n, n))
        matrix -= matrix.T
        *_, expected, _, _ = openspiel_alpharank.compute([matrix], m=20, alpha=alpha)
        np.testing.assert_allclose(stationary_shares(matrix, alpha, 20), expected, atol=1e-9)


def test_fixation_probabilities_by_their_definition():
    for advantage in (-0.7, -1e-9, 0.0, 1e-9, 0.3, 2.0):
        steps = np.exp(-advantage * np.arange(1, 10))
        expected = -np.log1p(steps.sum())
        assert log_fixation(np.array([[advantage]]), 10)[0, 0] == pytest.approx(expected)


def test_alpha_rank_survives_any_alpha():
    # Two policies beat each other's victims in a cycle, a fourth loses to all.
    mean = np.zeros((4, 4))
    mean[:3, :3] = ROCK_PAPER_SCISSORS
    mean[:3, 3], mean[3, :3] = 1.0, -1.0
    for alpha in (1.0, 1e3, 1e9):
        shares = alpha_rank(alpha=alpha)(mean, mean).weights
        np.testing.assert_allclose(shares, [1 / 3, 1 / 3, 1 / 3, 0.0], atol=1e-9)
    chain = np.triu(np.ones((5, 5)), 1)
    shares = alpha_rank(alpha=1e6)(chain - chain.T, chain).weights
    assert shares.tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]


def _many(kind: str, n: int) -> np.ndarray:
    """A large meta-game (n, n) with payoffs in [-1, 1]."""
    rng = np.random.default_rng(n)
    turn = rng.uniform(0.0, 2.0 * np.pi, n)
    match kind:
        case "skill and cycles":
            skill = rng.normal(size=n)
            upper = skill[:, None] - skill + 0.8 * np.sin(turn[:, None] - turn)
        case "noise":
            upper = rng.normal(size=(n, n))
        case "draws":
            upper = np.zeros((n, n))
        case "a path":  # everybody loses to the next, and beats all after that
            upper = np.ones((n, n)) - 2.0 * np.eye(n, k=1)
    upper = np.triu(upper, 1)
    return (upper - upper.T) / max(np.abs(upper).max(), 1.0)


@pytest.mark.parametrize("kind", ["skill and cycles", "noise", "draws", "a path"])
@pytest.mark.parametrize("n", [200, 257])
def test_alpha_rank_of_many_is_what_logarithms_say(kind, n):
    matrix = _many(kind, n)
    for alpha in (1.0, 100.0):
        moves = log_fixation(alpha * (matrix.T - matrix), 50)
        by_logarithms = np.exp(_log_stationary(moves))
        in_blocks = _stationary(np.exp(moves))
        shares = stationary_shares(matrix, alpha, 50)
        np.testing.assert_allclose(shares, by_logarithms, rtol=1e-11, atol=1e-200)
        if kind != "skill and cycles":  # where the last state may hardly ever be visited
            np.testing.assert_allclose(in_blocks, by_logarithms, rtol=1e-11, atol=1e-200)


def test_what_floats_cannot_hold_is_left_to_logarithms():
    # From either state to the other it takes longer than a float can count.
    rates = np.full((2, 2), 1e-300)
    assert _stationary(rates.copy()) is None
    # Nobody comes back to the first state, but by rates that are left out.
    ring = np.full((3, 3), 1e-300)
    ring[1, 2] = ring[2, 1] = 1.0
    assert _stationary(ring) is None
    assert _stationary(np.ones((3, 3))).tolist() == pytest.approx([1 / 3] * 3)
