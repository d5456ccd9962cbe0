"""Intervals around u: right for few matches, and equal ones are no certainty."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arena import game
from oracle.values import Against, Score
from population.config import RunConfig
from population.records import Effort, Iteration, Sigma
from population.u_intervals import meaning, of_score, remark, remarks, told


def score(u: float, stderr: float, matches: int) -> Score:
    return Score(u, stderr, (Against("aa", u, stderr, matches),))


def test_equal_matches_are_no_certainty() -> None:
    four, forty = (of_score(score(994.0, 0.0, matches), game("rrps")) for matches in (4, 40))
    assert four.low < forty.low < 994.0 < forty.high < four.high == 1000.0
    drawn = of_score(score(0.0, 0.0, 24), game("leduc"))
    assert drawn.low < 0.0 < drawn.high


def test_where_matches_differ_their_own_error_counts() -> None:
    found = of_score(score(5.0, 9.0, 8), game("rrps"))
    assert found.stderr == 9.0
    assert found.high - 5.0 == pytest.approx(9.0 * 2.365, abs=0.01)  # Student's, 7 degrees


def test_one_opponent_who_brings_all_of_the_error_is_known_by_its_own_matches() -> None:
    steady = tuple(Against(f"s{n}", 10.0, 1.0, 40, weight=0.09) for n in range(10))
    wild = Against("w", 10.0, 400.0, 4, weight=0.1)
    error = math.hypot(40.0, 0.09 * math.sqrt(10.0))
    found = of_score(Score(10.0, error, (*steady, wild)), game("rrps"))
    assert found.stderr == pytest.approx(error, rel=0.01)
    assert found.high - 10.0 == pytest.approx(found.stderr * 3.18, rel=0.01)  # of 3 degrees


def test_the_error_of_a_race_s_loser_is_the_larger_that_was_told() -> None:
    against = tuple(Against(f"{n}", 0.0, 9.0, 8, weight=0.2) for n in range(5))
    found = of_score(Score(5.0, 20.0, against, stopped=True), game("rrps"))
    assert found.stderr == pytest.approx(20.0)
    # Nearly all of it comes from few of them: 3 degrees, and not the 35 of their matches.
    assert found.high - 5.0 == pytest.approx(20.0 * 2.9, rel=0.08)
    endless = Score(5.0, math.inf, against, stopped=True)
    assert (of_score(endless, game("rrps")).low, of_score(endless, game("rrps")).high) == (
        -1000.0,
        1000.0,
    )


@pytest.mark.parametrize(
    ("game_name", "hidden", "least"),
    [
        ("rrps", 2, 0.84),  # as runs have it: so few may agree by luck, and 95 % are not reached
        ("rrps", 4, 0.93),
        ("leduc", 4, 0.93),
    ],
)
def test_intervals_of_u_hold_the_truth_where_one_hidden_opponent_of_22_brings_all_of_the_error(
    game_name: str, hidden: int, least: float
) -> None:
    rng, played, held = np.random.default_rng(5), game(game_name), 0
    per_deal = 2 if played.has_deals else 1
    weights = np.array([0.1, *[0.9 / 22.0] * 22])
    spread = np.array([5.0, *[5.0] * 21, 300.0]) / (1.0 if game_name == "rrps" else 5.0)
    number = np.array([8, *[hidden] * 22]) // per_deal
    for _ in range(400):
        deals = [rng.normal(0.0, s, n) for s, n in zip(spread, number, strict=True)]
        against = tuple(
            Against(
                str(at), d.mean(), d.std(ddof=1) / math.sqrt(len(d)), per_deal * len(d), weight=w
            )
            for at, (d, w) in enumerate(zip(deals, weights, strict=True))
        )
        u = math.fsum(one.weight * one.mean for one in against)
        stderr = math.hypot(*(one.weight * one.stderr for one in against))
        found = of_score(Score(u, stderr, against), played)
        held += found.low <= 0.0 <= found.high
    assert held >= least * 400


def test_who_is_the_only_opponent_is_even_for_sure() -> None:
    assert told(of_score(score(0.0, 0.0, 0), game("rrps"))) == "0.0, 95 % [0, 0]"


def test_what_u_means_follows_the_share() -> None:
    assert "hidden" not in meaning(RunConfig("rrps"))
    assert "a share of 0.9 against hidden opponents" in meaning(RunConfig("rrps", hidden_share=0.9))


def iteration(*against: Against, joined: str = "new") -> Iteration:
    sigma = Sigma({"old": 0.5, "other": 0.5}, 0.0, "nash")
    u = 3.0 if joined else None
    return Iteration(1, sigma, joined, u, u, (), Effort(), None, against)


def test_what_is_to_be_known_beside_u() -> None:
    clean, given = Against("old", 3.0, 1.0, 40), Against("old", 3.0, 1.0, 40, forfeited=3)
    assert remarks([iteration(clean), iteration(joined="")]) == ["", ""]
    assert remarks([iteration(clean), iteration(given, clean)]) == [
        "",
        "members forfeited 3 of 80 matches",
    ]
    lost, nobody = iteration(), iteration(joined="")
    assert remarks([lost, iteration(clean), nobody]) == ["", "", ""]
    assert remarks([lost, iteration(given), nobody])[::2] == ["forfeits were not kept", ""]
    assert remark(iteration(given, joined="other")) == (
        "members forfeited 3 of 40 matches, is a member already"
    )


def test_what_is_not_known_stays_so() -> None:
    assert math.isnan(of_score(score(5.0, math.nan, 2), game("leduc")).low)
