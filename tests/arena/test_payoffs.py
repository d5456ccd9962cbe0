"""Payoff tables: against sums done match by match, through CSV and back."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.payoffs import PayoffTable
from tests.arena.simulated_returns import Played, pair_stats, same_table

NAMES = ("1e5", "aa", "bb", "cc")

matches = st.lists(
    st.builds(
        Played,
        one=st.sampled_from(NAMES),
        other=st.sampled_from(NAMES),
        deal=st.integers(0, 5),
        return_one=st.integers(-20, 20).map(float),
        forfeit=st.none(),
    ),
    max_size=60,
)


@given(matches, st.permutations(NAMES), st.booleans())
@settings(max_examples=60)
def test_entries_are_the_plain_statistics_of_the_matches(played, order, encode):
    table = PayoffTable.from_pair_stats(pair_stats(played, encode=encode), order)
    for i, one in enumerate(order):
        for j, other in enumerate(order):
            if i == j:
                assert table.mean[i, j] == table.stderr[i, j] == table.count[i, j] == 0
                continue
            own = [m.return_one for m in played if (m.one, m.other) == (one, other)]
            own += [0.0 - m.return_one for m in played if (m.one, m.other) == (other, one)]
            assert table.count[i, j] == len(own)
            assert table.wins[i, j] == sum(value > 0 for value in own)
            assert table.losses[i, j] == sum(value < 0 for value in own)
            assert table.draws[i, j] == sum(value == 0 for value in own)
            if own:
                assert table.mean[i, j] == pytest.approx(statistics.fmean(own))
                assert table.mean[i, j] == -table.mean[j, i]
            else:
                assert math.isnan(table.mean[i, j])
    assert (table.half_count.sum(axis=0) == table.count).all()
    pairs = {tuple(sorted(m[:2])) for m in played if m.one != m.other}
    assert len(table.missing()) == 6 - len(pairs)


def test_error_of_single_matches_is_the_textbook_one():
    values = [3.0, -1.0, 4.0, 1.0, -5.0]
    table = PayoffTable.from_pair_stats(
        pair_stats(Played("aa", "bb", deal, value) for deal, value in enumerate(values)),
        ("aa", "bb"),
    )
    assert table.stderr[0, 1] == pytest.approx(statistics.stdev(values) / math.sqrt(5))
    assert table.stderr[1, 0] == table.stderr[0, 1]
    assert table.half_stderr[0, 0, 1] == pytest.approx(statistics.stdev(values[::2]) / math.sqrt(3))


def test_duplicates_of_one_deal_are_one_sample():
    # Luck of the deal cancels between the halves of a duplicate: each deal adds up to 2.
    luck = [10.0, -30.0, 7.0, 25.0]
    played = [Played("aa", "bb", d, 1.0 + x) for d, x in enumerate(luck)]
    played += [Played("aa", "bb", d, 1.0 - x) for d, x in enumerate(luck)]
    table = PayoffTable.from_pair_stats(pair_stats(played), ("aa", "bb"))
    assert (table.count[0, 1], table.deals[0, 1]) == (8, 4)
    assert table.mean[0, 1] == 1.0
    assert table.stderr[0, 1] == 0.0


def test_cluster_robust_error_with_unequal_deals():
    # By hand: r = 9/4; residuals 2 (1 match), -1 and -1 ... of deals with sums 3+4, 2, 0.
    played = [Played("aa", "bb", 0, 3.0), Played("aa", "bb", 0, 4.0)]
    played += [Played("aa", "bb", 1, 2.0), Played("aa", "bb", 2, 0.0)]
    table = PayoffTable.from_pair_stats(pair_stats(played), ("aa", "bb"))
    mean = 9 / 4
    residuals = [7 - 2 * mean, 2 - mean, 0 - mean]
    expected = math.sqrt(3 / 2 * sum(r * r for r in residuals)) / 4
    assert table.stderr[0, 1] == pytest.approx(expected)


def test_one_deal_has_no_known_error():
    table = PayoffTable.from_pair_stats(
        pair_stats([Played("aa", "bb", 0, 3.0), Played("aa", "bb", 0, 5.0)]), ("aa", "bb")
    )
    assert table.mean[0, 1] == 4.0
    assert math.isnan(table.stderr[0, 1])
    assert math.isnan(table.half_mean[1, 0, 1])


def test_error_covers_the_truth_with_correlated_duplicates():
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(300):
        luck = rng.normal(size=30) * 10
        played = [
            Played("aa", "bb", d, luck[d] + rng.normal()) for d in range(30) for _ in range(2)
        ]
        table = PayoffTable.from_pair_stats(pair_stats(played), ("aa", "bb"))
        covered += abs(table.mean[0, 1]) < 2.045 * table.stderr[0, 1]
    # Taking the 60 matches as independent would cover about 84 %.
    assert 0.91 < covered / 300 < 0.985


def test_forfeits_belong_to_whoever_forfeited():
    table = PayoffTable.from_pair_stats(
        pair_stats([Played("bb", "aa", 0, -1000.0, "bb"), Played("aa", "bb", 1, 3.0)]),
        ("bb", "aa"),
    )
    assert table.forfeits.tolist() == [[0, 1], [0, 0]]
    assert table.wins.tolist() == [[0, 0], [2, 0]]


def test_restrict_reorders_and_refuses_strangers():
    played = [Played(a, b, d, float(d + ord(b[0]))) for a in NAMES for b in NAMES for d in (0, 1)]
    table = PayoffTable.from_pair_stats(pair_stats(played), NAMES)
    same_table(
        table.restrict(("cc", "1e5")),
        PayoffTable.from_pair_stats(pair_stats(played), ("cc", "1e5")),
    )
    assert table.restrict(()).mean.shape == (0, 0)
    with pytest.raises(ValueError, match="first is zz"):
        table.restrict(("aa", "zz"))


@pytest.mark.parametrize("digests", [NAMES, NAMES[:1], ()])
def test_csv_round_trip_is_exact(tmp_path, digests):
    rng = np.random.default_rng(2)
    played = [Played("1e5", "aa", d, float(rng.normal())) for d in range(7)]
    played += [Played("cc", "aa", d, 0.1 * d, "cc") for d in range(1)]
    table = PayoffTable.from_pair_stats(pair_stats(played), digests)
    file = tmp_path / "payoffs.csv"
    table.named({"aa": "somebody/rock, paper@1"}).to_csv(file)
    same_table(PayoffTable.from_csv(file), table)


def test_csv_of_something_else_is_refused(tmp_path):
    file = tmp_path / "other.csv"
    file.write_text("bot,rock\nrock,1\n")
    with pytest.raises(ValueError, match=r"other.csv is not a payoff table"):
        PayoffTable.from_csv(file)
    file.write_text("policy,opponent\naa,aa\naa,bb\n")
    with pytest.raises(ValueError, match="unordered pairs"):
        PayoffTable.from_csv(file)


def test_rows_of_one_pair_must_be_unique():
    stats = pair_stats([Played("aa", "bb", 0, 1.0)])
    with pytest.raises(ValueError, match="more than one row"):
        PayoffTable.from_pair_stats(pa.concat_tables([stats, stats]), ("aa", "bb"))
    with pytest.raises(ValueError, match="twice"):
        PayoffTable.from_pair_stats(stats, ("aa", "aa", "bb"))


def test_arrays_cannot_be_written():
    table = PayoffTable.from_pair_stats(pair_stats([Played("aa", "bb", 0, 1.0)]), ("aa", "bb"))
    with pytest.raises(ValueError, match="read-only"):
        table.mean[0, 1] = 5.0
