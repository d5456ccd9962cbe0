"""Seeds: the same for whoever has the key, and nothing to anybody else."""

import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from arena.errors import SeedsUnknown
from arena.seeds import AUDIT_SHARE, Seeds
from arena.values import COMMON, SEED_BITS, SELECTING, Match, common
from registry.values import Season

digests = st.text("0123456789abcdef", min_size=8, max_size=8)


def season(key: bytes | None = bytes(range(32))) -> Season:
    return Season(1, "", datetime.now(UTC), None, False, key)


SEEDS = Seeds(season())
PINNED_DEAL = 354_018_194_747_255_178
PINNED_SEATS = (3_838_646_530_138_426_505, 5_012_078_934_444_817_120)


@given(digests, digests, st.integers(0, 10_000))
def test_a_match_has_the_same_seeds_in_either_order(one, other, repetition):
    a = Match.between("rrps", 1, one, other, repetition)
    b = Match.between("rrps", 1, other, one, repetition)
    assert SEEDS.of(a) == SEEDS.of(b)
    numbers = [SEEDS.of(a).deal, *SEEDS.of(a).seats, *SEEDS.of(a).members]
    assert all(0 <= number < 2**SEED_BITS for number in numbers)
    assert len(set(numbers)) == 5, "no seed tells another"


@given(digests, digests, st.integers(0, 1_000))
def test_two_halves_share_the_deal_and_nothing_else(one, other, deal):
    first = SEEDS.of(Match.between("leduc", 1, one, other, 2 * deal))
    second = SEEDS.of(Match.between("leduc", 1, one, other, 2 * deal + 1))
    assert first.deal == second.deal
    assert not set(first.seats + first.members) & set(second.seats + second.members)


@given(
    st.lists(digests, min_size=3, max_size=3, unique=True),
    st.integers(0, 400),
    st.integers(0, 4_000),
)
def test_who_meets_a_policy_on_its_cards_has_the_same_as_others(three, series, number):
    """And nothing else: players draw numbers of their own, and who deals next has other cards."""
    host, one, other = three

    def seeds(series, guest, host):
        begin = common(series, guest, host)
        return SEEDS.of(Match.between("leduc", 1, guest, host, begin + number))

    first, second = seeds(series, one, host), seeds(series, other, host)
    assert first.deal == second.deal
    assert not set(first.seats + first.members) & set(second.seats + second.members)
    assert seeds(series + 1, one, host).deal != first.deal
    assert seeds(series, host, one).deal != first.deal, "there the other one deals"
    assert seeds(series, one, other).deal != first.deal
    assert SEEDS.deal(Match.between("leduc", 1, one, host, number)) != first.deal


def test_cards_are_each_pairs_own_where_scores_are_published():
    for repetition in (0, 7, SELECTING, COMMON - 1):
        found = {
            SEEDS.deal(Match.between("leduc", 1, one, "ff", repetition)) for one in ("aa", "bb")
        }
        assert len(found) == 2


def test_another_key_gives_other_seeds():
    match = Match("leduc", 1, "aa", "bb", 3)
    other = Seeds(season(bytes(32)))
    assert SEEDS.of(match) != other.of(match)
    assert SEEDS.deal(match) != other.deal(match)


def test_they_are_pinned():
    """Seasons that were revealed are verified with these values."""
    match = Match("rrps", 1, "aa", "bb", 3)
    assert SEEDS.of(match).deal == PINNED_DEAL
    assert SEEDS.of(match).seats == PINNED_SEATS


def test_a_stream_tells_nothing_of_repetition_or_seat():
    """The first numbers that a policy draws are as likely in one seat or repetition as another."""
    counts = Counter()
    for repetition in range(3_000):
        for seat, seed in enumerate(SEEDS.of(Match("rrps", 1, "aa", "bb", repetition)).seats):
            drawn = random.Random(seed).randrange(3)
            counts[repetition % 2, seat, drawn] += 1
    table = np.array(
        [counts[parity, seat, n] for parity in (0, 1) for seat in (0, 1) for n in range(3)]
    )
    assert chisquare(table).pvalue > 1e-4


def test_a_sample_of_matches_is_audited():
    chosen = [SEEDS.audits(Match("rrps", 1, "aa", "bb", n)) for n in range(20_000)]
    assert sum(chosen) == pytest.approx(20_000 * AUDIT_SHARE, abs=5 * (20_000 * AUDIT_SHARE) ** 0.5)


def test_matches_from_before_there_were_secrets_can_be_retold_only():
    before = Seeds(replace(season(None), number=0))
    match = Match("leduc", 1, "aa", "bb", 3)
    assert before.deal(match) == match.public_deal_seed
    with pytest.raises(SeedsUnknown, match="retold"):
        before.of(match)
