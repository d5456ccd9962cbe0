"""What is to be played: the wanted matches minus those that are stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from arena.games.protocol import Game
from arena.store import MatchStore, StoredRepetitions
from arena.values import Match

_SLICE = 65_536
"""Pairs that are turned from numbers into Python objects at a time."""


class Schedule:
    """Wanted matches that were not stored when the schedule was made, in a stable order.

    All pairs play their first deal before any plays its second; the two halves of a duplicate
    stand next to each other.  Iterating again starts from the beginning.  Memory grows with the
    number of pairs (about 24 bytes each), not of matches.

    Attributes:
      wanted: how many matches are wanted.
      missing: how many of them were not stored.
    """

    @classmethod
    def by_count(
        cls, store: MatchStore, game: Game, wanted: Mapping[tuple[str, str], int], first: int = 0
    ) -> list[Schedule]:
        """Plans pairs of which each wants matches of its own number, fewest first.

        The store is asked once for all of them: rounds have nearly as many numbers as pairs.

        Args:
          store: tells what is stored.
          game: what is played.
          wanted: pair of digests to its matches; the last deal of an odd number is played once.  A
            pair that is named in both orders wants the larger number.
          first: repetition that counting begins at; even.

        Returns:
          One schedule for each number, each with its pairs in the given order.

        Raises:
          ValueError: a number is negative, or `first` is odd.
          StoreError: the store cannot be read.
        """
        fewest = min(wanted.values(), default=0)
        if fewest < 0:
            raise ValueError(f"matches a pair is {fewest}; it cannot be negative")
        if first % 2:
            raise ValueError(
                f"matches are counted from repetition {first}, in the middle of a deal"
            )
        if not wanted:
            return []
        digests = sorted({digest for pair in wanted for digest in pair})
        low, high, counts = _columns(wanted, digests)
        stored = store.repetitions(game.name, game.version, digests, int(counts.max()), first)
        return [
            cls(game, low[counts == matches], high[counts == matches], int(matches), first, stored)
            for matches in np.unique(counts)
        ]

    def __init__(
        self,
        game: Game,
        low: NDArray[np.int32],
        high: NDArray[np.int32],
        matches: int,
        first: int,
        stored: StoredRepetitions,
    ) -> None:
        """Plans pairs that want the same number.

        Args:
          game: what is played.
          low: each pair's lower digest, as its place in `stored.digests`.
          high: its other one.
          matches: wanted for each pair.
          first: repetition that counting begins at.
          stored: what is stored of as many repetitions as are wanted, or more.
        """
        self._name, self._version, self._digests = game.name, game.version, stored.digests
        self._low, self._high = low, high
        self._matches, self._first = matches, first
        self._prefix, self._scattered = _aligned(stored, low, high, matches)
        self.wanted = len(low) * matches
        beyond = sum(len(repetitions) for repetitions in self._scattered.values())
        self.missing = self.wanted - int(self._prefix.sum(dtype=np.int64)) - beyond

    def __len__(self) -> int:
        """The number of missing matches."""
        return self.missing

    def __iter__(self) -> Iterator[Match]:
        """The missing matches."""
        for first in range(0, self._matches, 2):
            repetitions = range(first, min(first + 2, self._matches))
            waiting = np.flatnonzero(self._prefix < repetitions.stop)
            for start in range(0, len(waiting), _SLICE):
                yield from self._deal(waiting[start : start + _SLICE], repetitions)

    def _deal(self, pairs: NDArray[np.intp], repetitions: range) -> Iterator[Match]:
        columns = (pairs, self._low[pairs], self._high[pairs], self._prefix[pairs])
        for pair, low, high, prefix in zip(*(column.tolist() for column in columns), strict=True):
            beyond = self._scattered.get(pair, frozenset())
            for repetition in repetitions:
                if repetition >= prefix and repetition not in beyond:
                    yield Match(
                        self._name,
                        self._version,
                        self._digests[low],
                        self._digests[high],
                        self._first + repetition,
                    )


def _columns(
    wanted: Mapping[tuple[str, str], int], digests: Sequence[str]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Of each pair once: where its lower and its higher digest stand, and the matches it wants."""
    index, pairs = {digest: place for place, digest in enumerate(digests)}, len(wanted)
    one = np.fromiter((index[a] for a, _ in wanted), np.int32, pairs)
    other = np.fromiter((index[b] for _, b in wanted), np.int32, pairs)
    counts = np.fromiter(wanted.values(), np.int64, pairs)
    low, high = np.minimum(one, other), np.maximum(one, other)
    key = low.astype(np.int64) * len(digests) + high
    most_first = np.lexsort((-counts, key))
    _, chosen = np.unique(key[most_first], return_index=True)
    kept = np.sort(most_first[chosen])
    return low[kept], high[kept], counts[kept]


def _aligned(
    stored: StoredRepetitions, low: NDArray[np.int32], high: NDArray[np.int32], matches: int
) -> tuple[NDArray[np.int32], dict[int, frozenset[int]]]:
    """What is stored of so many, by position in the wanted pairs: prefix, and beyond a gap."""
    width = len(stored.digests)
    held = stored.low.astype(np.int64) * width + stored.high
    order = np.argsort(held)
    held, held_prefix = held[order], np.minimum(stored.prefix[order], matches)
    wanted = low.astype(np.int64) * width + high
    prefix = np.zeros(len(wanted), np.int32)
    if len(held):
        place = np.minimum(np.searchsorted(held, wanted), len(held) - 1)
        known = held[place] == wanted
        prefix[known] = held_prefix[place[known]]
    if not stored.scattered:
        return prefix, {}
    beyond = {a * width + b: repetitions for (a, b), repetitions in stored.scattered.items()}
    positions = np.flatnonzero(np.isin(wanted, list(beyond)))
    scattered = {
        int(k): frozenset(r for r in beyond[int(wanted[k])] if r < matches) for k in positions
    }
    return prefix, scattered


def pairs_among(everybody: Sequence[str], only: Sequence[str]) -> list[tuple[str, str]]:
    """The unordered pairs to play.

    Args:
      everybody: digests of all who may play.
      only: digests; empty for all pairs, one for everybody against it, several for the round
        robin among them.
    """
    chosen = sorted(set(only)) or sorted(everybody)
    if only and len(chosen) == 1:
        (one,) = chosen
        return [(min(one, other), max(one, other)) for other in sorted(everybody) if other != one]
    return [(a, b) for i, a in enumerate(chosen) for b in chosen[i + 1 :]]
