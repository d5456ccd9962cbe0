"""The leaderboard: order, rank ranges, incomplete rows, optional columns."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from arena.analysis.leaderboard import Options, leaderboard
from arena.analysis.metrics import evaluate
from arena.analysis.rankings import RANKINGS, RankBy
from arena.analysis.ratings import Rating
from arena.analysis.secondary import complete_core
from arena.payoffs import PayoffTable
from registry.values import PolicyVersion, Status
from tests.arena.simulated_returns import Played, pair_stats, round_robin

GOLDEN = Path(__file__).parents[1] / "golden"


@dataclass(frozen=True)
class Population:
    name: str
    digests: tuple[str, ...]


def _version(digest: str) -> PolicyVersion:
    return PolicyVersion(
        digest=digest,
        game="rrps",
        name=f"house/{digest}",
        number=1,
        kind="native",
        payload="",
        status=Status.QUALIFIED,
        status_reason="",
        description="",
        labels={},
        provenance={},
        parents=(),
        code_digest="",
        created=datetime(2026, 1, 1, tzinfo=UTC),
    )


def _read(name: str) -> tuple[tuple[str, ...], np.ndarray]:
    with (GOLDEN / name).open(newline="") as stream:
        rows = list(csv.reader(stream))
    return tuple(row[0] for row in rows[1:]), np.array([r[1:] for r in rows[1:]], dtype=float)


@pytest.fixture(scope="module")
def bots():
    """The 43 bots: 16 simulated matches a pair around the published payoffs."""
    names, payoffs = _read("rrps_cross_table.csv")
    _, deviations = _read("rrps_sd_per_match.csv")
    rng = np.random.default_rng(11)
    truth = (payoffs - payoffs.T) / 2
    played = [
        Played(one, other, deal, float(truth[i, j] + deviations[i, j] * rng.standard_normal()))
        for i, one in enumerate(names)
        for j, other in enumerate(names)
        if i < j
        for deal in range(16)
    ]
    table = PayoffTable.from_pair_stats(pair_stats(played), names)
    return [_version(name) for name in names], table, Population("rrps-43@1", names), truth


def test_greenberg_and_iocainebot_lead(bots):
    versions, table, population, truth = bots
    rows = leaderboard(versions, table, population)
    assert [row.ref for row in rows[:2]] == ["house/greenberg@1", "house/iocainebot@1"]
    assert [row.rank for row in rows] == list(range(1, 44))
    for row in rows:
        assert row.rank_low <= row.rank <= row.rank_high
        assert row.matches == 42 * 16
        assert row.missing == ()
        again = evaluate(table, row.digest, population.digests)
        assert row.agg_score == again.agg_score
        assert row.pop_expl_cross_fitted == again.pop_expl_cross_fitted
        assert row.worst.mean == min(
            one.payoff.value for one in again.per_opponent if not one.itself
        )
        assert row.mean_return == pytest.approx(again.pop_return.value * 43 / 42)
    scores = truth.mean(axis=1) + truth.min(axis=1)
    true_rank = {population.digests[place]: 1 + k for k, place in enumerate(np.argsort(-scores))}
    held = [row.rank_low <= true_rank[row.digest] <= row.rank_high for row in rows]
    assert np.mean(held) > 0.95
    # And the ranges say something: half of the bots are placed to within 4 ranks.
    assert np.median([row.rank_high - row.rank_low for row in rows]) <= 4


@pytest.mark.parametrize("by", RANKINGS)
def test_rows_follow_the_chosen_score(bots, by):
    versions, table, population, _ = bots
    ratings = {v.digest: Rating(20 + 0.1 * k, 1.0) for k, v in enumerate(versions)}
    rows = leaderboard(versions, table, population, Options(RankBy(by), ratings))
    value = {
        "agg_score": lambda row: row.agg_score.value,
        "pop_return": lambda row: row.pop_return.value,
        "pop_expl": lambda row: -row.pop_expl.value,
        "rating": lambda row: row.trueskill.conservative,
        "mean_return": lambda row: row.mean_return,
    }[by]
    values = [value(row) for row in rows]
    assert values == sorted(values, reverse=True)
    shuffled = leaderboard(versions[::-1], table, population, Options(RankBy(by), ratings))
    assert shuffled == rows


def test_rating_order_needs_ratings(bots):
    versions, table, population, _ = bots
    with pytest.raises(ValueError, match="true_skill first"):
        leaderboard(versions, table, population, Options(RankBy.RATING))


def test_incomplete_rows_come_last_and_name_what_is_missing():
    names = ("aa", "bb", "cc", "dd", "ee")
    truth = np.zeros((5, 5))
    played = [
        match
        for match in round_robin(names, truth, 5.0, 6, np.random.default_rng(0))
        if "ee" not in match[:2]
    ]
    # ee wins everything, but met one member only; ff is registered and never played.
    played += [Played("ee", "aa", deal, 999.0, "aa") for deal in range(4)]
    table = PayoffTable.from_pair_stats(pair_stats(played), names)
    versions = [_version(name) for name in (*names, "ff")]
    population = Population("small@1", ("aa", "bb", "gg" * 16))
    rows = leaderboard(versions, table, population)
    assert all(row.missing[-1] == "gg" * 6 for row in rows)
    assert all(row.agg_score is row.rank is row.rank_low is row.rank_high is None for row in rows)
    assert [row.digest for row in rows] == sorted(row.digest for row in rows)

    population = Population("small@2", ("aa", "bb"))
    rows = leaderboard(versions, table, population, Options(secondary=True))
    assert [row.ref for row in rows[-2:]] == ["house/ee@1", "house/ff@1"]
    assert [row.rank for row in rows] == [1, 2, 3, 4, None, None]
    # The ranges are of ranks that there are.
    assert all(1 <= row.rank_low <= row.rank <= row.rank_high <= 4 for row in rows[:4])
    late, never = rows[-2:]
    assert late.missing == ("house/bb@1",)
    assert late.agg_score is late.pop_return is late.pop_expl is late.rank_low is None
    assert (late.mean_return, late.matches, late.worst.ref) == (999.0, 4, "house/aa@1")
    assert never.missing == ("house/aa@1", "house/bb@1")
    assert (never.mean_return, never.matches, never.worst) == (None, 0, None)
    first = next(row for row in rows if row.digest == "aa")
    assert (first.forfeits, late.forfeits) == (4, 0)
    assert first.worst.digest == "bb"
    # Who did not meet everybody is in no meta-game, but can be placed by Bradley-Terry.
    assert late.nash_mass is late.alpha_rank is None
    assert late.bradley_terry > first.bradley_terry
    assert never.bradley_terry is None
    assert sum(row.nash_mass or 0.0 for row in rows) == pytest.approx(1.0)
    assert sum(row.alpha_rank or 0.0 for row in rows) == pytest.approx(1.0)


@pytest.mark.parametrize("by", RANKINGS)
def test_who_lacks_the_number_of_the_order_has_no_rank(by):
    names = ("aa", "bb", "cc")
    truth = np.array([[0.0, 5.0, 9.0], [-5.0, 0.0, 9.0], [-9.0, -9.0, 0.0]])
    played = list(round_robin(names, truth, 1.0, 6, np.random.default_rng(0)))
    # dd met one member only: it has a rating and a mean return, and no score.
    played += [Played("dd", "cc", deal, 1.0 + deal) for deal in range(4)]
    table = PayoffTable.from_pair_stats(pair_stats(played), (*names, "dd"))
    ratings = {name: Rating(30.0 - place, 1.0) for place, name in enumerate((*names, "dd"))}
    # Of these two, which met nobody, one has an earlier digest, the other an earlier name.
    newcomers = [replace(_version("00"), name="house/zz"), _version("ee")]
    versions = [*newcomers, *map(_version, (*names, "dd"))]
    population = Population("small@1", names)
    rows = leaderboard(versions, table, population, Options(RankBy(by), ratings))
    scored = by in ("rating", "mean_return")
    assert [row.rank for row in rows] == [1, 2, 3, *((4,) if scored else (None,)), None, None]
    assert [row.ref for row in rows[-2:]] == ["house/ee@1", "house/zz@1"]
    assert all((row.rank is None) == (row.rank_low is None) for row in rows)
    assert all(row.rank is None for row in rows if row.matches == 0)
    shuffled = leaderboard(versions[::-1], table, population, Options(RankBy(by), ratings))
    assert shuffled == rows


def test_versions_of_a_name_without_a_rank_follow_their_numbers():
    versions = [replace(_version(f"d{n}"), name="a/b", number=n) for n in (10, 2, 1)]
    table = PayoffTable.from_pair_stats(pair_stats([]), ())
    rows = leaderboard(versions, table, Population("small@1", ("aa",)))
    assert [row.ref for row in rows] == ["a/b@1", "a/b@2", "a/b@10"]


def test_secondary_columns_of_the_43_bots(bots):
    versions, table, population, _ = bots
    rows = leaderboard(versions, table, population, Options(secondary=True))
    mass = {row.ref: row.nash_mass for row in rows}
    assert sum(mass.values()) == pytest.approx(1.0)
    strongest = ("house/greenberg@1", "house/iocainebot@1")
    assert max(mass, key=mass.get) in strongest
    assert sum(row.alpha_rank for row in rows) == pytest.approx(1.0)
    assert max(rows, key=lambda row: row.bradley_terry).ref in strongest
    assert all(row.nash_mass is None for row in leaderboard(versions, table, population))


def test_complete_core_keeps_whoever_met_everybody():
    played = [Played(a, b, 0, 1.0) for a in "abcd" for b in "abcd" if a < b and b != "d"]
    table = PayoffTable.from_pair_stats(pair_stats(played), ("d", "c", "b", "a"))
    assert complete_core(table) == ("c", "b", "a")
    assert complete_core(PayoffTable.from_pair_stats(pair_stats([]), ("a", "b"))) == ("a",)
    assert complete_core(PayoffTable.from_pair_stats(pair_stats([]), ())) == ()


def test_empty_leaderboards():
    table = PayoffTable.from_pair_stats(pair_stats([]), ())
    population = Population("small@1", ("aa",))
    assert leaderboard([], table, population, Options(secondary=True)) == ()
    alone = leaderboard([_version("aa")], table, population, Options(secondary=True))
    # A member that never played meets only itself, at 0.
    assert (alone[0].rank, alone[0].agg_score.value, alone[0].matches) == (1, 0.0, 0)
