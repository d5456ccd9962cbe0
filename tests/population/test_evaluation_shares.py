"""How matches are shared among opponents, and how mixtures are trimmed."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from population.evaluator import LEAST_MATCHES, shares
from population.members import SMALLEST_WEIGHT, drawn

supports = st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=12).map(
    lambda weights: {f"{i:032x}": weight for i, weight in enumerate(weights)}
)


@given(supports, st.integers(4, 400), st.floats(0.01, 1.0), st.floats(0.01, 1.0))
def test_more_effort_never_plays_less(
    support: dict[str, float], total: int, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    few, many = shares(support, total, low), shares(support, total, high)
    assert all(few[digest] <= many[digest] for digest in support)


@given(supports, st.integers(4, 400))
def test_shares_are_whole_duplicates_and_follow_the_weights(
    support: dict[str, float], total: int
) -> None:
    number = shares(support, total)
    assert all(count % 2 == 0 and count >= LEAST_MATCHES for count in number.values())
    whole = math.fsum(support.values())
    for digest, weight in support.items():
        assert number[digest] >= total * weight / whole - 1e-9
        assert number[digest] <= max(LEAST_MATCHES, total * weight / whole + 2 + 1e-9)


@given(supports, st.integers(4, 400), st.floats(0.01, 1.0))
def test_some_may_be_met_less(support: dict[str, float], total: int, effort: float) -> None:
    first, *rest = support
    usual, fewer = shares(support, total, effort), shares(support, total, effort, {first: 2})
    assert all(fewer[one] == usual[one] for one in rest)
    assert fewer[first] in (2, usual[first]) and fewer[first] % 2 == 0
    assert fewer[first] == usual[first] or usual[first] == LEAST_MATCHES


@pytest.mark.parametrize("effort", [0.0, -1.0, 1.1, math.nan])
def test_effort_is_a_share(effort: float) -> None:
    with pytest.raises(ValueError, match="effort"):
        shares({"a": 1.0}, 8, effort)


@given(supports)
def test_a_mixture_draws_from_what_matters(support: dict[str, float]) -> None:
    whole = math.fsum(support.values())
    weights = {digest: weight / whole for digest, weight in support.items()}
    kept = drawn(weights)
    assert math.fsum(kept.values()) == pytest.approx(1.0, abs=1e-9)
    assert set(kept) == {d for d, weight in weights.items() if weight >= SMALLEST_WEIGHT}
