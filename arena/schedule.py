"""What is to be played: the wanted matches minus those that are stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

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

    def __init__(
        self,
        store: MatchStore,
        game: Game,
        pairs: Iterable[tuple[str, str]],
        matches: int,
        first: int = 0,
    ) -> None:
        """Plans some pairs, in the given order.

        Args:
          store: tells what is stored.
          game: what is played.
          pairs: digests, in either order; a pair that is named again counts once.
          matches: wanted for each pair; the last deal of an odd number is played once.
          first: repetition that counting begins at; even.

        Raises:
          ValueError: `matches` is negative, or `first` is odd.
          StoreError: the store cannot be read.
        """
        chosen = _ordered(pairs)
        digests = sorted({digest for pair in chosen for digest in pair})
        self._begin(game, digests, *_places(chosen, digests), matches, first)
        self._subtract(store.repetitions(game.name, game.version, digests, matches, first))

    @classmethod
    def round_robin(
        cls, store: MatchStore, game: Game, digests: Collection[str], matches: int
    ) -> Schedule:
        """Plans every pair of different policies, in the order of their digests."""
        schedule = cls.__new__(cls)
        names = sorted(set(digests))
        low, high = np.triu_indices(len(names), 1)
        schedule._begin(game, names, low.astype(np.int32), high.astype(np.int32), matches, 0)
        schedule._subtract(store.repetitions(game.name, game.version, names, matches))
        return schedule

    @classmethod
    def by_count(
        cls, store: MatchStore, game: Game, wanted: Mapping[tuple[str, str], int], first: int = 0
    ) -> list[Schedule]:
        """Plans pairs of which each wants matches of its own number, fewest first.

        The store is asked once for all of them: rounds have nearly as many numbers as pairs.

        Args:
          store: tells what is stored.
          game: what is played.
          wanted: pair of digests, in either order, to its matches.
          first: as above.

        Raises:
          ValueError, StoreError: as above.
        """
        groups: dict[int, list[tuple[str, str]]] = {}
        for pair, matches in wanted.items():
            groups.setdefault(matches, []).append(pair)
        digests = sorted({digest for pair in wanted for digest in pair})
        planned = []
        for matches, pairs in sorted(groups.items()):
            schedule = cls.__new__(cls)
            schedule._begin(game, digests, *_places(_ordered(pairs), digests), matches, first)
            planned.append(schedule)
        if planned:
            most = max(groups)
            stored = store.repetitions(game.name, game.version, digests, most, first)
            for schedule in planned:
                schedule._subtract(stored)
        return planned

    def _begin(
        self,
        game: Game,
        digests: list[str],
        low: NDArray[np.int32],
        high: NDArray[np.int32],
        matches: int,
        first: int,
    ) -> None:
        if matches < 0:
            raise ValueError(f"matches a pair is {matches}; it cannot be negative")
        if first % 2:
            raise ValueError(
                f"matches are counted from repetition {first}, in the middle of a deal"
            )
        self._name, self._version = game.name, game.version
        self._digests, self._low, self._high = digests, low, high
        self._matches, self._first = matches, first

    def _subtract(self, stored: StoredRepetitions) -> None:
        """Leaves out what is stored.

        Args:
          stored: of all digests, and of as many repetitions as are wanted or more.
        """
        matches, low = self._matches, self._low
        self._prefix, self._scattered = _aligned(stored, low, self._high, matches)
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


def _ordered(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Each pair once, its lower digest first."""
    return list(dict.fromkeys((min(pair), max(pair)) for pair in pairs))


def _places(
    pairs: Sequence[tuple[str, str]], digests: Sequence[str]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Where the lower and the higher of each pair stand among the digests."""
    index = {digest: place for place, digest in enumerate(digests)}
    low = np.fromiter((index[a] for a, _ in pairs), np.int32, len(pairs))
    high = np.fromiter((index[b] for _, b in pairs), np.int32, len(pairs))
    return low, high


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
