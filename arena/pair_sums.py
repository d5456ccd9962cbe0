"""Sums over the matches of many pairs as arrays, and the means and errors that follow from them.

Thousands of policies are millions of pairs.  So there is one number an entry and no row an object,
and whatever is computed for all pairs is computed in blocks that stay in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from arena.columns import numbers
from arena.square import Counts, Floats

Places = NDArray[np.integer[Any]]

SIDES = ("low", "high")
SUMS: Mapping[str, type[np.generic]] = {
    "matches": np.int32,
    "total": np.float64,
    "deals": np.int32,
    "deal_squares": np.float64,
    "deal_cross": np.float64,
    "deal_sizes": np.int32,
    "wins": np.int32,
    "draws": np.int32,
    "forfeits_low": np.int32,
    "forfeits_high": np.int32,
}
"""What is kept of each half of a pair's deals; see `MatchStore.pair_stats`."""
_BLOCK = 1 << 15
"""Pairs that are computed together."""
_MEASURED = ("mean", "stderr")
_SEEN = ("wins", "draws", "forfeits_low", "forfeits_high")


@dataclass(frozen=True, slots=True, eq=False)
class PairScores:
    """What p pairs of policies got, each pair once, as the low policy of each sees it.

    Attributes:
      digests: of the policies.
      low: (p,) place of the smaller digest of each pair.
      high: (p,) of the larger.
      values: by name; (p,), or (2, p) over deals of even and of odd number where the name begins
        with "half": `mean` and `half_mean` of all matches, NaN where there is none; `stderr` and
        `half_stderr`, cluster-robust, NaN where there are fewer than two deals; `half_count`
        (matches) and `half_deals` (clusters); `wins` (matches that low won), `draws`,
        `forfeits_low` and `forfeits_high`.
    """

    digests: tuple[str, ...]
    low: Places
    high: Places
    values: Mapping[str, NDArray[Any]]

    def both(self, name: str) -> Counts:
        """(p,) over all deals: "count" or "deals"."""
        even, odd = self.values[f"half_{name}"]
        found: Counts = even + odd
        return found

    def parts(self) -> Iterator[slice]:
        """All pairs, in parts of a size that is quick to compute with."""
        for start in range(0, len(self.low), _BLOCK):
            yield slice(start, start + _BLOCK)

    def some(self, places: Places) -> PairScores:
        """Those of some of the pairs."""
        values = {name: value[..., places] for name, value in self.values.items()}
        return PairScores(self.digests, self.low[places], self.high[places], values)

    def renewed(
        self,
        digests: Sequence[str],
        low: Places,
        high: Places,
        places: Places,
        values: Mapping[str, NDArray[Any]],
    ) -> PairScores:
        """A copy with other values of some pairs, and with pairs that were not there before.

        Args:
          digests: of the policies then.
          low: (q,) of the pairs then, of which the first p are these.
          high: (q,).
          places: (k,) among the q, of those whose values are given.
          values: (k,) or (2, k), by name.
        """
        copies = {}
        for name, known in self.values.items():
            copy = np.empty((*known.shape[:-1], len(low)), known.dtype)
            copy[..., : len(self.low)] = known
            # A pair that is new and not given has played nothing that counts.
            copy[..., len(self.low) :] = np.nan if known.dtype.kind == "f" else 0
            copy[..., places] = values[name]
            copies[name] = copy
        return PairScores(tuple(digests), low, high, copies)


@dataclass(frozen=True, slots=True, eq=False)
class PairSums:
    """Sums of p pairs of policies, each pair once.

    Attributes:
      digests: of the policies.
      low: (p,) place of the smaller digest of each pair.
      high: (p,) of the larger.
      sums: by the names of `SUMS`: (2, p) over deals of even and of odd number.
    """

    digests: tuple[str, ...]
    low: Places
    high: Places
    sums: Mapping[str, NDArray[Any]]

    def scored(self) -> PairScores:
        """Means and errors of the same pairs."""
        pairs = len(self.low)
        values: dict[str, NDArray[Any]] = {name: np.empty(pairs) for name in _MEASURED}
        values |= {f"half_{name}": np.empty((2, pairs)) for name in _MEASURED}
        values |= {
            "half_count": self.sums["matches"].copy(),
            "half_deals": self.sums["deals"].copy(),
        }
        values |= {name: self.sums[name].sum(axis=0, dtype=np.int32) for name in _SEEN}
        scores = PairScores(self.digests, self.low, self.high, values)
        for part in scores.parts():
            halves = {name: sums[:, part].astype(np.float64) for name, sums in self.sums.items()}
            whole = {name: even + odd for name, (even, odd) in halves.items()}
            for name, found in zip(_MEASURED, _measured(whole), strict=True):
                values[name][part] = found
            for name, found in zip(_MEASURED, _measured(halves), strict=True):
                values[f"half_{name}"][:, part] = found
        return scores

    @classmethod
    def of_table(cls, pair_stats: pa.Table) -> PairSums:
        """From what `MatchStore.pair_stats` or `MatchStore.exact_pair_stats` returned.

        Raises:
          ValueError: a pair has more than one row for a half.
        """
        digests = sorted({name for side in SIDES for name in _listed(pair_stats.column(side))})
        low, high = (_places(pair_stats.column(side), digests) for side in SIDES)
        pairs, pair_of = np.unique(low * len(digests) + high, return_inverse=True)
        columns = {name: numbers(pair_stats.column(name)) for name in ("half", *SUMS)}
        ends = np.divmod(pairs, max(len(digests), 1))
        return cls.gathered(digests, *ends, [(pair_of, columns)])

    @classmethod
    def gathered(
        cls,
        digests: Sequence[str],
        low: Places,
        high: Places,
        batches: Iterable[tuple[Places, Mapping[str, NDArray[Any]]]],
    ) -> PairSums:
        """Puts rows of halves of pairs in their places.

        Args:
          digests: of the policies.
          low: (p,) place of the smaller digest of each pair.
          high: (p,) of the larger.
          batches: of rows: the pair of each, and columns `half` and those of `SUMS`.

        Raises:
          ValueError: a pair has more than one row for a half.
        """
        count, rows = len(low), 0
        # One piece of memory for each type: large pieces go back to the system when they are
        # freed, and those of a single column stay with the process.
        sums: dict[str, NDArray[Any]] = {}
        for kind in dict.fromkeys(SUMS.values()):
            names = [name for name, of in SUMS.items() if of is kind]
            sums |= zip(names, np.zeros((len(names), 2, count), kind), strict=True)
        flat = {name: array.reshape(-1) for name, array in sums.items()}
        for pair, columns in batches:
            place = pair + columns["half"].astype(np.intp) * count
            for name, array in flat.items():
                array[place] = columns[name]
            rows += len(pair)
        if np.count_nonzero(sums["matches"]) != rows:
            raise ValueError("pair statistics have more than one row for a pair and half")
        return cls(tuple(digests), low, high, sums)


def _measured(sums: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """Mean of all matches, and its standard error with deals as clusters.

    With s_d the sum over the m_d matches of deal d and r the mean, the residual of a deal is
    s_d - r m_d; its square summed over deals needs only the three sums that the store keeps.
    """
    matches, deals = sums["matches"], sums["deals"]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sums["total"] / matches
        residuals = (
            sums["deal_squares"] - 2.0 * mean * sums["deal_cross"] + mean**2 * sums["deal_sizes"]
        )
        variance = np.maximum(residuals, 0.0) * deals / (deals - 1.0) / matches**2
        stderr = np.where(deals >= 2, np.sqrt(variance), np.nan)
    return mean, stderr


def _encoded(column: pa.ChunkedArray) -> list[pa.DictionaryArray]:
    """The chunks of a column of digests, each with its dictionary."""
    return [
        chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        for chunk in column.chunks
    ]


def _listed(column: pa.ChunkedArray) -> set[str]:
    """The digests that a column's dictionaries name."""
    return {digest for chunk in _encoded(column) for digest in chunk.dictionary.to_pylist()}


def _places(column: pa.ChunkedArray, digests: Sequence[str]) -> NDArray[np.intp]:
    """Position of each digest of a column among `digests`."""
    index = {digest: place for place, digest in enumerate(digests)}
    places = [np.zeros(0, dtype=np.intp)]
    for chunk in _encoded(column):
        known = [index[digest] for digest in chunk.dictionary.to_pylist()]
        places.append(np.array(known, dtype=np.intp)[numbers(chunk.indices)])
    return np.concatenate(places)
