"""Few deals that came out alike are no certainty, and no interval leaves what the game allows."""

import io
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from arena.analysis.estimates import Estimate, Estimates
from arena.analysis.leaderboard import Options, leaderboard
from arena.analysis.metrics import evaluate
from arena.analysis.ranks import ranks
from arena.analysis.stakes import UNKNOWN, Stakes, doubted, stakes_of
from arena.games import GAMES
from arena.payoffs import PayoffTable
from arena.standings import Leaderboard
from tests.arena.simulated_returns import Played, pair_stats
from tests.arena.test_leaderboard import Population, _version

KUHN = Stakes(most=200.0, spread=20.0)


def table_of(returns: dict[tuple[str, str], list[float]]) -> PayoffTable:
    names = tuple(sorted({name for pair in returns for name in pair}))
    played = [
        Played(one, other, deal, value)
        for (one, other), values in returns.items()
        for deal, value in enumerate(values)
    ]
    return PayoffTable.from_pair_stats(pair_stats(played), names)


def test_the_stakes_of_every_game_hold_for_its_returns() -> None:
    for game in GAMES.values():
        stakes = stakes_of(game)

        worst = game.score(0, b"", 0)  # a forfeit before the first move costs the most
        assert min(worst) == -stakes.most
        assert 0 < stakes.precision < stakes.spread < stakes.most


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_draws_in_a_few_deals_are_no_certainty(n: int) -> None:
    table = table_of({("aa", "bb"): [0.0] * n})
    assert table.stderr[0, 1] == 0.0
    (against,) = evaluate(table, "aa", ["bb"], KUHN).per_opponent
    assert against.payoff is not None
    # What the stakes assume counts as one deal more, beside those that came out alike.
    assert against.payoff.stderr == pytest.approx(20.0 / n**1.5)
    assert -200.0 <= against.payoff.low < 0.0 < against.payoff.high <= 200.0


def test_the_other_pairs_tell_how_much_deals_differ() -> None:
    rng = np.random.default_rng(1)
    others = {("cc", name): list(3.0 * rng.standard_normal(50)) for name in ("dd", "ee", "ff")}
    table = table_of({("aa", "bb"): [0.0] * 5} | others)
    (against,) = evaluate(table, "aa", ["bb"], KUHN).per_opponent
    assert against.payoff is not None
    assert against.payoff.stderr == pytest.approx(3.3 / 5, rel=0.2)
    at, to = table.index()["cc"], table.index()["dd"]
    doubt = doubted(table.stderr, table.deals, table.scatter, KUHN)
    assert doubt[at, to] == table.stderr[at, to]


def test_nothing_is_assumed_of_returns_that_come_from_no_game() -> None:
    table = table_of({("aa", "bb"): [0.0] * 3})
    doubt = doubted(table.stderr, table.deals, table.scatter, UNKNOWN)
    assert (doubt == table.stderr).all()


def test_no_interval_leaves_what_the_game_allows() -> None:
    table = table_of({("aa", "bb"): [190.0, -150.0], ("aa", "cc"): [200.0, 150.0]})
    found = evaluate(table, "aa", ["bb", "cc"], KUHN)
    for one, most in (
        *((one.payoff, 200.0) for one in found.per_opponent),
        (found.pop_return, 200.0),
        (found.pop_expl, 200.0),
        (found.agg_score, 400.0),
    ):
        assert one is not None
        assert -most <= one.low <= one.value <= one.high <= most
    assert found.pop_expl is not None and found.pop_expl.low == -200.0


def test_a_provisional_rank_fits_into_80_columns_and_is_explained() -> None:
    estimate = Estimate(-1_234.5, 10.0, -2_345.6, 1_999.9)
    rows = leaderboard(
        [_version("aa")],
        table_of({("aa", "bb"): [0.0, 5.0]}),
        Population("p@1", ("bb",)),
        Options(stakes=KUHN),
    )
    row = replace(rows[0], rank=188, rank_low=101, rank_high=199, provisional=True)
    row = replace(row, agg_score=estimate, ref="somebody/with-a-long-name@12")
    out = io.StringIO()
    Leaderboard("kuhn", "chips", "p@1", "agg_score", (row,)).sheet(80).print_on(
        Console(file=out, width=80)
    )
    (line,) = (line for line in out.getvalue().splitlines() if "188" in line)
    assert "188* 101-199" in line
    assert "* provisional: not measured" in out.getvalue()


def test_who_is_barely_measured_stands_behind_the_measured_and_moves_nobody() -> None:
    rng = np.random.default_rng(2)
    population = ("aa", "bb")
    returns = {
        (name, member): list(mean + 4.0 * rng.standard_normal(40))
        for name, mean in (("gg", 20.0), ("hh", 10.0))
        for member in population
    } | {("aa", "bb"): list(4.0 * rng.standard_normal(40))}
    versions = [_version(name) for name in ("gg", "hh")]
    options = Options(stakes=KUHN)
    alone = leaderboard(versions, table_of(returns), Population("p@1", population), options)
    # Two matches against each member: far ahead, and nobody can know.
    new = returns | {("zz", member): [80.0, 120.0] for member in population}
    rows = leaderboard(
        [*versions, _version("zz")], table_of(new), Population("p@1", population), options
    )
    assert [(row.digest, row.provisional) for row in rows] == [
        ("gg", False),
        ("hh", False),
        ("zz", True),
    ]
    assert [row.rank for row in rows] == [1, 2, 3]
    assert (rows[2].rank_low, rows[2].rank_high) == (1, 3)
    assert [(r.rank_low, r.rank_high) for r in rows[:2]] == [
        (r.rank_low, r.rank_high) for r in alone
    ]


def test_with_few_matches_the_strong_are_not_behind_the_weak_that_are_measured() -> None:
    rng = np.random.default_rng(2)
    population = ("aa", "bb")
    returns = {
        (name, member): list(mean + 4.0 * rng.standard_normal(40))
        for name, mean in (("gg", 20.0), ("hh", -60.0), ("ii", -90.0))
        for member in population
    } | {("aa", "bb"): list(4.0 * rng.standard_normal(40))}
    # Eight matches with each: ahead of hh and ii by any reading, and perhaps of gg.
    returns |= {("yy", member): [0.0, 60.0] * 4 for member in population}
    # Two, all over the place: nothing is sure; of one match not even an error is known.
    returns |= {("zz", member): [-100.0, 190.0] for member in population}
    returns |= {("zy", member): [150.0] for member in population}
    names = ["gg", "hh", "ii", "yy", "zy", "zz"]
    rows = leaderboard(
        [_version(name) for name in names],
        table_of(returns),
        Population("p@1", population),
        Options(stakes=KUHN),
    )
    assert [row.digest for row in rows if row.provisional] == ["yy", "zy", "zz"]
    assert [row.digest for row in rows] == ["gg", "yy", "hh", "ii", "zy", "zz"]
    assert [row.rank for row in rows] == [1, 2, 3, 4, 5, 6]
    ranges = {row.digest: (row.rank_low, row.rank_high) for row in rows}
    assert ranges["gg"] == (1, 1) and ranges["hh"] == (3, 3)
    assert ranges["yy"][0] == 1


@given(
    st.lists(
        st.tuples(
            st.sampled_from([np.nan, *range(-5, 6)]), st.floats(0.0, 9.0), st.floats(0.0, 9.0)
        ),
        max_size=12,
    ),
    st.data(),
)
def test_ranges_hold_their_ranks_whoever_is_provisional(
    rows: list[tuple[float, float, float]], data: st.DataObject
) -> None:
    value, below, above = np.array(rows).reshape(-1, 3).T
    known = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    scores = Estimates(value, below, value - below, value + above, below)
    found = ranks(scores, ~np.array(known, bool), [str(place) for place in range(len(rows))])
    assert sorted(found) == np.flatnonzero(~np.isnan(value)).tolist()
    assert [rank for rank, _, _ in found.values()] == list(range(1, len(found) + 1))
    assert all(1 <= low <= rank <= high <= len(found) for rank, low, high in found.values())
    measured = [value[row] for row in found if known[row]]
    assert measured == sorted(measured, reverse=True)
    order = list(found)
    for place, row in enumerate(order):
        behind = [value[other] for other in order[place:] if known[other]]
        assert known[row] or all(other <= value[row] - below[row] for other in behind)
