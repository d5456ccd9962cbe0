"""Payoff tables and leaderboards of a home: the same functions for the command line and pages."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from arena.analysis.leaderboard import (
    Options,
    Row,
    leaderboard,
    nash_exploitability,
)
from arena.analysis.rankings import NASH_RULE, RankBy
from arena.analysis.ratings import (
    MAX_MATCHES,
    Rating,
    repetitions_to_rate,
    share_to_rate,
    true_skill,
)
from arena.analysis.stakes import stakes_of
from arena.columns import column_of, numbers, whole
from arena.errors import one_of
from arena.figures.intervals import Line, intervals
from arena.figures.text import interval, number
from arena.games import game as game_named
from arena.games.protocol import Game
from arena.home import Home
from arena.house.population import Population
from arena.listings import also
from arena.mixing import mixtures_among, with_mixtures
from arena.payoffs import PayoffTable, Scatter
from arena.printed import (
    GAP,
    WIDTH,
    Aside,
    Cell,
    Printed,
    Sheet,
    Side,
    estimate_columns,
    estimated,
    length,
    wider,
)
from arena.tally import Pair
from registry.values import Status


def payoff_table(home: Home, game: Game, digests: Sequence[str]) -> PayoffTable:
    """The payoffs of some policies against each other, from everything that is stored.

    Those of mixtures are put together from their members' (`arena.mixing`).
    """
    chosen = tuple(dict.fromkeys(digests))
    mixtures, everybody = mixtures_among(home.registry, game.name, chosen)
    scores = home.store.pair_scores(game.name, game.version)
    table = PayoffTable.from_pair_scores(scores, everybody)
    table = replace(table, around=Scatter.of_pairs(scores))
    return with_mixtures(table, mixtures, stakes_of(game)).restrict(chosen)


def exact_payoffs(
    home: Home, game: Game, digests: Sequence[str], wanted: Mapping[Pair, int], first: int = 0
) -> PayoffTable:
    """The payoffs of some policies from exactly the wanted matches that are stored.

    Raw: a mixture has what it played under its own name here, and nothing from its members.

    Args:
      home: where the matches are.
      game: what was played.
      digests: the policies, in the order of the table.
      wanted: how many matches of each pair count; pairs that are not named do not.
      first: repetition that they are counted from.
    """
    stats = home.store.exact_pair_stats(game, wanted, first)
    return PayoffTable.from_pair_stats(stats, tuple(digests))


def ratings(home: Home, game: Game, table: PayoffTable) -> dict[str, Rating]:
    """TrueSkill ratings from the matches among the table's policies, `MAX_MATCHES` at most.

    Mixtures have none.  What one is worth follows from its members' mean returns, and wins and
    losses are no such thing; what it played under its own name counts nowhere, for its opponents
    as little as for itself.
    """
    mixtures, _ = mixtures_among(home.registry, game.name, table.digests)
    table = table.restrict([digest for digest in table.digests if digest not in mixtures])
    repetitions = repetitions_to_rate(table.count)
    last = None if repetitions is None else repetitions - 1
    for share in (share_to_rate(table.count, repetitions), 1.0):
        returns = home.store.returns_in_id_order(game.name, game.version, last, share)
        found = _among(returns, table.digests)
        if share == 1.0 or found.num_rows >= MAX_MATCHES:
            break
    return true_skill(found.slice(0, MAX_MATCHES))


def _among(returns: pa.Table, digests: Sequence[str]) -> pa.Table:
    """The returns whose players are both among some policies."""
    members = frozenset(digests)
    inside = np.ones(returns.num_rows, dtype=np.bool_)
    for side in ("low", "high"):
        column = whole(returns.column(side))
        known = np.array([one in members for one in column.dictionary.to_pylist()], np.bool_)
        inside &= known[numbers(column.indices)]
    return returns if inside.all() else returns.take(column_of(np.flatnonzero(inside)))


DRAWN = 30
"""Policies that a chart of a leaderboard shows."""
MEAN_RETURN = (
    "over every opponent that it met, of the board and of the evaluation population, each as one"
)
"""What the column of the mean return is."""
_PROVISIONAL = "*"
"""After a rank; the word would fold in 80 columns."""
RATING = (
    "the mean of TrueSkill's belief with its central 95 %, which takes the model of TrueSkill for "
    "granted; ordered by mean - 3 standard deviations"
)
"""What the column of the rating is."""
_LONGEST_NAME = 30
"""Characters of a name that a column is given; longer ones go on below."""


@dataclass(frozen=True, slots=True)
class Leaderboard(Printed):
    """All qualified policies of a game, best first.

    Attributes:
      game: name of the game.
      unit: of all scores, per match.
      population: name of the evaluation population.
      by: what it is ordered by.
      rows: one for each version.
      nash_exploitability: what the best single policy wins a match against the mixture of the
        Nash column; None without that column.
    """

    game: str
    unit: str
    population: str
    by: str
    rows: tuple[Row, ...]
    nash_exploitability: float | None = None

    def sheet(self, width: int = WIDTH) -> Sheet:
        """Ranks with the ranges that the noise leaves open, and scores with their intervals."""
        columns = _columns(self.rows, self.by)
        cells = {title: [cell(row) for row in self.rows] for title, (_, cell) in columns.items()}
        shown = _fitting(cells, width)
        left_out = [title for title in columns if title not in shown]
        return Sheet(
            f"{game_named(self.game).title}: {self.unit} a match, measured on {self.population}",
            {title: columns[title][0] for title in shown},
            tuple(zip(*(cells[title] for title in shown), strict=True)),
            "\n".join(filter(None, [*self._notes(shown), wider(left_out)])),
        )

    def _notes(self, shown: Container[str]) -> list[str]:
        """What the columns that are shown do not say for themselves."""
        provisional = any(row.provisional for row in self.rows)
        return [
            f"{_PROVISIONAL} provisional: not measured as precisely as a rank takes; the low end "
            "of its interval places it"
            if provisional
            else "",
            f"mean return: {MEAN_RETURN}" if _titled("mean return") in shown else "",
            f"rating: {RATING}" if _titled("rating") in shown else "",
            self._told_of_nash(),
            SHARES if _LATER[1] in shown else "",
        ]

    def _told_of_nash(self) -> str:
        if self.nash_exploitability is None:
            return ""
        return (
            f"Nash mass: {NASH_RULE}; the best single policy wins "
            f"{number(self.nash_exploitability, 2)} {self.unit} a match against it"
        )

    def picture(self) -> str:
        """AggScore of the best with their 95 % intervals."""
        measured = [row for row in self.rows if row.agg_score is not None][:DRAWN]
        lines = [Line(row.ref, row.agg_score) for row in measured if row.agg_score]
        return intervals(lines, f"AggScore, {self.unit} a match (95 %)") if lines else ""

    def to_arrow(self) -> pa.Table:
        """One row for each policy; estimates as value, `_stderr`, `_low` and `_high` (95 %)."""
        return pa.Table.from_pylist([_flat(row) for row in self.rows])


Column = tuple[Side, Callable[[Row], Cell]]


def _titled(metric: str) -> str:
    """Title of a column whose cells have their own intervals."""
    return f"{metric} [95 %]"


def _columns(rows: Sequence[Row], by: str) -> dict[str, Column]:
    """The columns that these rows fill, in the order of their weight.

    Args:
      rows: of the board.
      by: what the board is ordered by, whose column comes first after the policy.
    """
    metrics: dict[str, Column] = {
        RankBy.AGG_SCORE: ("right", _score),
        RankBy.POP_RETURN: ("right", lambda row: estimated(row.pop_return)),
        RankBy.POP_EXPL: ("right", lambda row: estimated(row.pop_expl)),
        "": ("right", lambda row: estimated(row.pop_expl_cross_fitted)),
        RankBy.RATING: ("right", _rating),
    }
    if by == RankBy.MEAN_RETURN:
        metrics[RankBy.MEAN_RETURN] = ("right", lambda row: estimated(row.mean_estimate))
    ordered = sorted(metrics, key=lambda metric: metric != by)
    columns: dict[str, Column] = {"rank": ("left", _rank), "policy": ("left", _policy)}
    columns |= {_titled(_METRICS[metric]): metrics[metric] for metric in ordered}
    columns["worst opponent"] = ("left", _worst)
    columns["matches"] = ("right", lambda row: f"{row.matches:,}")
    if any(row.forfeits for row in rows):
        columns["forfeits"] = ("right", lambda row: f"{row.forfeits:,}" if row.forfeits else "")
    if any(row.bradley_terry is not None for row in rows):
        columns |= {
            _titled(title): ("right", partial(_shared, column=column, digits=digits))
            for title, (column, digits) in MORE.items()
        }
    return columns


_METRICS = {
    RankBy.AGG_SCORE: "AggScore",
    RankBy.POP_RETURN: "PopReturn",
    RankBy.POP_EXPL: "PopExpl",
    "": "cross-fitted",
    RankBy.RATING: "rating",
    RankBy.MEAN_RETURN: "mean return",
}
"""What metrics are called; the one that no board is ordered by has no name there."""


def _fitting(cells: Mapping[str, Sequence[Cell]], width: int) -> list[str]:
    """Titles of the columns that have room side by side.

    Rank and policy have it in any case, and so has what the board is ordered by, unless somebody
    asks for more columns: these come first then.
    """
    titles = list(cells)
    asked = [title for title in titles if title in _LATER]
    shown = {*titles[: _ALWAYS if asked else _ALWAYS + 1]}
    room = width - sum(_width(title, cells[title]) for title in shown)
    for title in (*asked, *titles):
        if title not in shown and _width(title, cells[title]) <= room:
            shown.add(title)
            room -= _width(title, cells[title])
    return [title for title in titles if title in shown]


def _width(title: str, column: Sequence[Cell]) -> int:
    longest = max((length(cell) for cell in column), default=0)
    return GAP + max(len(title), min(longest, _LONGEST_NAME) if title == "policy" else longest)


_ALWAYS = 2
MORE = {
    "Bradley-Terry": ("bradley_terry", 0),
    "Nash mass": ("nash_mass", 3),
    "alpha-rank": ("alpha_rank", 3),
}
"""The secondary columns: title to the name of the number in a row, and its digits."""
_LATER = tuple(_titled(title) for title in MORE)
SHARES = (
    "intervals of Nash mass and alpha-rank: the smallest and largest share in the measured table "
    "and in 39 drawn around it with its errors"
)
"""What the intervals of the last columns are."""


def _policy(row: Row) -> Cell:
    return Aside(row.ref, also(row.also)) if row.also else row.ref


def _score(row: Row) -> Cell:
    if row.agg_score is None:
        return Aside("", f"{len(row.missing)} opponents not met")
    return estimated(row.agg_score)


def _rating(row: Row) -> Cell:
    if row.trueskill is None:
        return "-"
    belief = row.trueskill.belief  # its numbers are small: whole ones would say too little
    return Aside(number(belief.value), interval(belief, 1))


def _shared(row: Row, column: str, digits: int) -> Cell:
    found = row.secondary(column)
    return "-" if found is None else Aside(number(found.value, digits), interval(found, digits))


def _rank(row: Row) -> Cell:
    if row.rank is None:
        return "-"
    aside = "" if row.rank_low == row.rank_high else f"{row.rank_low}-{row.rank_high}"
    rank = f"{row.rank}{_PROVISIONAL if row.provisional else ''}"
    return Aside(rank, aside) if aside else rank


def _worst(row: Row) -> str:
    if row.worst is None:
        return "-"
    mean = round(row.worst.mean, 1)
    return f"{row.worst.ref} {mean:+.1f}" if mean else f"{row.worst.ref} 0.0"


def _flat(row: Row) -> dict[str, Any]:
    flat: dict[str, Any] = {
        "rank": row.rank,
        "rank_low": row.rank_low,
        "rank_high": row.rank_high,
        "policy": row.ref,
        "digest": row.digest,
    }
    for name in ("agg_score", "pop_return", "pop_expl", "pop_expl_cross_fitted"):
        flat |= estimate_columns(name, getattr(row, name))
    return flat | {
        "worst_opponent": row.worst.ref if row.worst else None,
        "worst_mean": row.worst.mean if row.worst else None,
        "mean_return": row.mean_return,
        "mean_return_low": row.mean_return_low,
        "mean_return_high": row.mean_return_high,
        "trueskill_mu": row.trueskill.mu if row.trueskill else None,
        "trueskill_sigma": row.trueskill.sigma if row.trueskill else None,
        **{
            f"{name}{end}": getattr(row, f"{name}{end}")
            for name, _ in MORE.values()
            for end in ("", "_low", "_high")
        },
        "matches": row.matches,
        "forfeits": row.forfeits,
        "missing": list(row.missing),
        "also": list(row.also),
        "provisional": row.provisional,
    }


def place_of(home: Home, game: Game, population: Population, digest: str) -> tuple[Row, int] | None:
    """A policy's row on the leaderboard by AggScore, and how many are ranked there.

    None where it is not on it, or has no rank yet.
    """
    versions = home.registry.find(game.name, status=Status.QUALIFIED)
    table = payoff_table(home, game, [*(v.digest for v in versions), *population.digests])
    rows = leaderboard(versions, table, population, Options(stakes=stakes_of(game)))
    ranked = [row for row in rows if row.rank is not None]
    own = next((row for row in ranked if row.digest == digest), None)
    return None if own is None else (own, len(ranked))


def standings(
    home: Home, game: Game, population: Population, *, by: str = "agg_score", more: bool = False
) -> Leaderboard:
    """The leaderboard of all qualified policies.

    Args:
      home: whose registry and matches.
      game: which game.
      population: what PopReturn, PopExpl and AggScore are measured on.
      by: one of `arena.analysis.rankings.RankBy`.
      more: whether to compute Bradley-Terry, Nash mass and alpha-rank.

    Raises:
      UsageFault: nothing ranks by that.
    """
    versions = home.registry.find(game.name, status=Status.QUALIFIED)
    table = payoff_table(home, game, [*(v.digest for v in versions), *population.digests])
    options = Options(one_of(RankBy, by), ratings(home, game, table), more, stakes_of(game))
    rows = leaderboard(versions, table, population, options)
    lost = nash_exploitability(table, rows) if more else None
    return Leaderboard(game.name, game.unit, population.name, by, rows, lost)
