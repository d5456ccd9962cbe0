"""Mixtures: payloads, and members drawn as often as their weights say."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.kinds.mixture import draw, payload_of, weights_of

A, B, C = ("a" * 32, "b" * 32, "c" * 32)
DIGESTS = st.text("0123456789abcdef", min_size=32, max_size=32)


def normalised(weights: dict[str, float]) -> dict[str, float]:
    total = sum(weights.values())
    return {digest: weight / total for digest, weight in weights.items()}


MIXTURES = st.dictionaries(DIGESTS, st.floats(1e-6, 1), min_size=1, max_size=30).map(normalised)


@given(MIXTURES)
def test_payloads_are_canonical_and_keep_the_weights(weights: dict[str, float]) -> None:
    payload = payload_of(weights)
    assert dict(weights_of(payload)) == weights
    assert list(weights_of(payload)) == sorted(weights)
    assert payload_of(dict(reversed(list(weights.items())))) == payload


@given(MIXTURES, st.integers(0, 2**63 - 1))
def test_a_draw_is_a_member_and_always_the_same(weights: dict[str, float], seed: int) -> None:
    payload = payload_of(weights)
    assert draw(payload, seed) in weights
    assert draw(payload, seed) == draw(payload, seed)


def test_members_are_drawn_by_weight() -> None:
    payload = payload_of({A: 0.5, B: 0.3, C: 0.2})
    drawn = Counter(draw(payload, seed) for seed in range(20_000))
    for digest, weight in weights_of(payload).items():
        deviation = (20_000 * weight * (1 - weight)) ** 0.5
        assert abs(drawn[digest] - 20_000 * weight) < 4 * deviation


def test_the_draw_is_independent_of_what_members_draw_from_the_same_seed() -> None:
    inner, outer = payload_of({A: 0.5, B: 0.5}), payload_of({A: 0.5, C: 0.5})
    seeds = range(10_000)
    by_mixture = Counter((draw(inner, seed), draw(outer, seed)) for seed in seeds)
    by_policy = Counter((draw(inner, seed), random.Random(seed).random() < 0.5) for seed in seeds)
    for counts in (by_mixture, by_policy):
        assert len(counts) == 4
        assert all(abs(count - 2_500) < 200 for count in counts.values())


def test_the_draw_of_a_stored_match_never_changes() -> None:
    payload = payload_of({A: 0.25, B: 0.25, C: 0.5})
    assert "".join(draw(payload, seed)[0] for seed in range(24)) == "bbccbccaabbabcccabcbaccb"


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ("nonsense", "payload is JSON"),
        ("[1]", 'has "weights" and nothing else'),
        ('{"weights": {}, "more": 1}', 'has "weights" and nothing else'),
        ('{"weights": []}', "must map digests"),
        ('{"weights": {}}', "at least one member"),
        ('{"weights": {"house/CFR+": 1}}', "is no digest"),
        ('{"weights": {"": 1}}', "is no digest"),
        ('{"weights": {"ab": 0.5, "cd": 0.6}}', "must add up to 1"),
        ('{"weights": {"ab": 0.5, "cd": 0.49999999}}', "must add up to 1"),
        ('{"weights": {"ab": 1, "cd": 0}}', "the weight of cd is 0"),
        ('{"weights": {"ab": 2, "cd": -1}}', "the weight of"),
        ('{"weights": {"ab": NaN}}', "the weight of ab is nan"),
        ('{"weights": {"ab": true}}', "the weight of ab is True"),
        ('{"weights": {"ab": "1"}}', "the weight of ab is '1'"),
    ],
)
def test_other_payloads_are_refused(payload: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw(payload, 1)
