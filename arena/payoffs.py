"""Payoff tables: who wins how much against whom, how surely, from the store's pair statistics.

A table is computed from stored matches each time it is needed and never kept by hand.  It is
antisymmetric: what one policy wins, the other loses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from arena.figures.text import number
from arena.pair_sums import PairScores, PairSums
from arena.printed import WIDTH, Cell, Printed, Sheet, Side
from arena.square import Cells, Counts, Floats


@dataclass(frozen=True, slots=True)
class Scatter:
    """How much deals of some pairs differ, pooled over the pairs by their degrees of freedom.

    Attributes:
      squares: sum of freedom times the variance of a deal, in the game's unit squared.
      freedom: degrees of freedom of all pairs together.
    """

    squares: float
    freedom: float

    @classmethod
    def of(cls, stderr: Floats, deals: NDArray[np.integer[Any]] | Floats) -> Scatter:
        """From the errors of pairs (NaN where not known) and how many deals they rest on."""
        freedom = np.where(np.isnan(stderr), 0.0, np.maximum(deals - 1.0, 0.0))
        squares = np.where(freedom > 0, np.nan_to_num(stderr) ** 2 * deals * freedom, 0.0)
        return cls(float(squares.sum()), float(freedom.sum()))

    @classmethod
    def of_pairs(cls, scores: PairScores) -> Scatter:
        """From all that `MatchStore.pair_scores` returned, both halves of a pair together."""
        parts, stderr, deals = [], scores.values["stderr"], scores.both("deals")
        for part in scores.parts():
            met = scores.low[part] != scores.high[part]
            parts.append(cls.of(stderr[part][met], deals[part][met]))
        return cls(math.fsum(one.squares for one in parts), math.fsum(one.freedom for one in parts))


@dataclass(frozen=True, slots=True, eq=False)
class PayoffTable(Printed):
    """Payoffs of n policies against each other; every entry is what the row's policy got.

    Arrays are read-only, with zeros on the diagonal.  Means and errors are in the game's unit per
    match and NaN where they are not known: a mean where nothing was played, an error where fewer
    than two deals were.

    Attributes:
      digests: (n,) the policies.
      mean: (n, n) mean return, antisymmetric.
      stderr: (n, n) cluster-robust standard error of the mean; the matches of one deal are one
        cluster (Liang and Zeger 1986, doi:10.1093/biomet/73.1.13, with factor C / (C - 1)).
      count: (n, n) matches.
      deals: (n, n) clusters: deals, or matches where the game has no deals.
      half_mean: (2, n, n) the same on deals of even and of odd number, for cross-fitting.
      half_stderr: (2, n, n).
      half_count: (2, n, n).
      half_deals: (2, n, n).
      wins: (n, n) matches that the row's policy won; its losses are `wins.T`.
      draws: (n, n).
      forfeits: (n, n) matches that the row's policy forfeited.
      names: what to call policies where the table is shown, by digest; may lack some.
      around: how much deals differ in all that was stored, be it in this table or not; None where
        nothing but the table is known.
    """

    digests: tuple[str, ...]
    mean: Floats
    stderr: Floats
    count: Counts
    deals: Counts
    half_mean: Floats
    half_stderr: Floats
    half_count: Counts
    half_deals: Counts
    wins: Counts
    draws: Counts
    forfeits: Counts
    names: Mapping[str, str] = field(default_factory=dict)
    around: Scatter | None = None

    def __post_init__(self) -> None:
        n = len(self.digests)
        if len(set(self.digests)) != n:
            raise ValueError("a payoff table was given the same policy twice")
        for name in _ARRAYS:
            array = getattr(self, name)
            if array.shape != ((2, n, n) if name.startswith("half") else (n, n)):
                raise ValueError(f"{name} has shape {array.shape}, but there are {n} policies")
            array.setflags(write=False)

    @property
    def losses(self) -> Counts:
        """(n, n) matches that the row's policy lost."""
        return self.wins.T

    def index(self) -> dict[str, int]:
        """Position of each digest."""
        return {digest: place for place, digest in enumerate(self.digests)}

    @property
    def scatter(self) -> Scatter:
        """How much deals differ: in all that was stored, else in this table."""
        if self.around is not None:
            return self.around
        upper = np.triu_indices(len(self.digests), k=1)
        return Scatter.of(self.stderr[upper], self.deals[upper])

    def missing(self) -> tuple[tuple[str, str], ...]:
        """Pairs (in table order) that never met."""
        rows, columns = np.nonzero(np.triu(self.count == 0, k=1))
        return tuple(
            (self.digests[row], self.digests[column])
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        )

    def restrict(self, digests: Sequence[str]) -> PayoffTable:
        """The table of some of its policies, in the order given.

        Raises:
          ValueError: one of them is not in this table.
        """
        if tuple(digests) == self.digests:
            return self
        index = self.index()
        unknown = [digest for digest in digests if digest not in index]
        if unknown:
            raise ValueError(
                f"{len(unknown)} of the policies asked for are not among the {len(index)} of this "
                f"payoff table, the first is {unknown[0]}"
            )
        chosen = np.array([index[digest] for digest in digests], dtype=np.intp)
        parts = {name: getattr(self, name)[..., chosen[:, None], chosen] for name in _ARRAYS}
        return PayoffTable(tuple(digests), **parts, names=self.names, around=self.around)

    def named(self, names: Mapping[str, str]) -> PayoffTable:
        """The same table, with names by digest for showing it."""
        return replace(self, names=dict(names))

    def sheet(self, width: int = WIDTH) -> Sheet:
        """Mean return of row against column, as many columns as a screen has room for."""
        called = [self.names.get(digest, digest[:12]) for digest in self.digests]
        titles = [f"{place} {name}" for place, name in enumerate(called, 1)]
        room = width - max(map(len, titles), default=0) - 2
        fitting = max(min(len(titles), room // _CELL), 1)
        sides: dict[str, Side] = {"mean return of row": "left"}
        sides |= {str(place): "right" for place in range(1, fitting + 1)}
        rows: list[tuple[Cell, ...]] = [
            (title, *(number(value, 0) for value in row[:fitting]))
            for title, row in zip(titles, self.mean.tolist(), strict=True)
        ]
        left = len(titles) - fitting
        note = f"{left} more columns have no room here" if left else ""
        return Sheet("", sides, tuple(rows), note)

    @classmethod
    def from_pair_stats(cls, pair_stats: pa.Table, digests: Sequence[str]) -> PayoffTable:
        """The same as `from_pair_scores` from what `MatchStore.pair_stats` returned."""
        return cls.from_pair_scores(PairSums.of_table(pair_stats).scored(), digests)

    @classmethod
    def from_pair_scores(cls, scores: PairScores, digests: Sequence[str]) -> PayoffTable:
        """Builds the table of some policies.

        Args:
          scores: of their pairs.  Self-play and pairs with anybody else are left out.
          digests: the policies, in the order wanted; those who never played have no means.

        Returns:
          A table of len(digests) policies.
        """
        index = {digest: place for place, digest in enumerate(digests)}
        place = np.array([index.get(digest, -1) for digest in scores.digests], dtype=np.int32)
        low, high = place[scores.low], place[scores.high]
        inside = (low >= 0) & (high >= 0) & (low != high)
        if not inside.all():
            chosen = np.flatnonzero(inside)
            low, high, scores = low[chosen], high[chosen], scores.some(chosen)
        cells, arrays, values = Cells(len(digests), low, high), _room(len(digests)), scores.values
        for name in ("mean", "half_mean"):
            cells.fill(arrays[name], values[name], 0.0 - values[name])
        for name in ("stderr", "half_stderr", "half_count", "half_deals", "draws"):
            cells.fill(arrays[name], values[name])
        for name in ("count", "deals"):
            cells.fill(arrays[name], scores.both(name))
        lost = scores.both("count") - values["wins"] - values["draws"]
        cells.fill(arrays["wins"], values["wins"], lost)
        cells.fill(arrays["forfeits"], values["forfeits_low"], values["forfeits_high"])
        return cls(tuple(digests), **arrays)

    def picture(self) -> str:
        """A heat map of the means."""
        # Only notebooks need it, and its libraries would make every command start later.
        from arena.figures.heatmap import payoff_heatmap

        called = [self.names.get(digest, digest[:12]) for digest in self.digests]
        height = min(120 + 14 * len(called), 720)
        return payoff_heatmap(self, called, "units", height=height).alone() if called else ""

    def to_arrow(self) -> pa.Table:
        """One row for each unordered pair, self-pairs included so that no policy is lost.

        Returns:
          `policy`, `opponent` (digests), `policy_name` and `opponent_name` where there are names,
          every array of this class as a column (of the policy's view; halves as `even_...` and
          `odd_...`), and `losses`, `opponent_forfeits`.
        """
        rows, columns = np.triu_indices(len(self.digests))
        digests = np.array(self.digests, dtype=object)
        table: dict[str, object] = {"policy": digests[rows], "opponent": digests[columns]}
        if self.names:
            called = np.array([self.names.get(digest, "") for digest in self.digests], dtype=object)
            table |= {"policy_name": called[rows], "opponent_name": called[columns]}
        for name in _ARRAYS:
            array = getattr(self, name)
            if name.startswith("half"):
                for half, part in zip(_HALVES, array, strict=True):
                    table[name.replace("half", half)] = part[rows, columns]
            else:
                table[name] = array[rows, columns]
        table["losses"] = self.losses[rows, columns]
        table["opponent_forfeits"] = self.forfeits[columns, rows]
        # Unknown means are empty cells, not the word "nan".
        return pa.table({name: pa.array(v, from_pandas=True) for name, v in table.items()})

    def to_csv(self, path: Path | BinaryIO) -> None:
        """Writes what `to_arrow` returns; `from_csv` reads it back without loss."""
        pa.csv.write_csv(self.to_arrow(), path)

    @classmethod
    def from_csv(cls, path: Path) -> PayoffTable:
        """Reads what `to_csv` wrote.

        Raises:
          ValueError: the file is no such table.
        """
        text = {"policy": pa.string(), "opponent": pa.string()}
        try:
            # Digests may look like numbers.
            table = pa.csv.read_csv(path, convert_options=pa.csv.ConvertOptions(column_types=text))
            policy, opponent = (table.column(name).to_pylist() for name in text)
            digests = tuple(
                one for one, other in zip(policy, opponent, strict=True) if one == other
            )
            rows, columns = np.triu_indices(len(digests))
            if len(rows) != table.num_rows or policy != [digests[row] for row in rows]:
                raise ValueError("its rows are not the unordered pairs of its policies")
            apart = rows != columns  # the diagonal is zero, whatever somebody wrote there
            cells = Cells(len(digests), rows[apart], columns[apart])
            arrays = _room(len(digests))
            for name, matrices in arrays.items():
                cells.fill(matrices, *(view[..., apart] for view in _read_views(table, name)))
            return cls(digests, **arrays, names=_read_names(table))
        except (KeyError, pa.ArrowInvalid, ValueError) as error:
            raise ValueError(f"{path} is not a payoff table written by to_csv: {error}") from error


_CELL = 7
"""Characters that a number takes in a sheet."""
_FLOATS = ("mean", "stderr", "half_mean", "half_stderr")
_COUNTS = ("count", "deals", "half_count", "half_deals", "wins", "draws", "forfeits")
_HALVES = ("even", "odd")
_ARRAYS = _FLOATS + _COUNTS


def _room(n: int) -> dict[str, Any]:
    """The arrays of a table of n policies by name, for somebody to write them."""
    kinds: dict[str, type[Any]] = dict.fromkeys(_FLOATS, np.float64)
    kinds |= dict.fromkeys(_COUNTS, np.int32)
    return {
        name: np.empty((2, n, n) if name.startswith("half") else (n, n), kind)
        for name, kind in kinds.items()
    }


_OTHER_VIEW = {"wins": "losses", "forfeits": "opponent_forfeits"}


def _read_views(table: pa.Table, name: str) -> tuple[Floats, Floats]:
    """One array as the first and as the second policy of each pair sees it."""
    upper = _read_columns(table, name)
    if name.endswith("mean"):
        return upper, 0.0 - upper
    return upper, _read_columns(table, _OTHER_VIEW.get(name, name))


def _read_columns(table: pa.Table, name: str) -> Floats:
    if name.startswith("half"):
        return np.stack([_read_columns(table, name.replace("half", half)) for half in _HALVES])
    values: Floats = table.column(name).to_numpy().astype(np.float64)
    return values


def _read_names(table: pa.Table) -> dict[str, str]:
    if "policy_name" not in table.column_names:
        return {}
    digests, names = (table.column(name).to_pylist() for name in ("policy", "policy_name"))
    return {digest: str(name) for digest, name in zip(digests, names, strict=True) if name}
