"""Intervals around u: right for few matches, and equal ones are no certainty."""

from __future__ import annotations

import math

import pytest

from arena import game
from oracle.values import Against, Score
from population.config import RunConfig
from population.u_intervals import meaning, of_score, told


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


def test_who_is_the_only_opponent_is_even_for_sure() -> None:
    assert told(of_score(score(0.0, 0.0, 0), game("rrps"))) == "0.0, 95 % [0, 0]"


def test_what_u_means_follows_the_share() -> None:
    assert "hidden" not in meaning(RunConfig("rrps"))
    assert "a share of 0.9 against hidden opponents" in meaning(RunConfig("rrps", hidden_share=0.9))


def test_what_is_not_known_stays_so() -> None:
    assert math.isnan(of_score(score(5.0, math.nan, 2), game("leduc")).low)
