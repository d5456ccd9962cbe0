"""What is to be played: the wanted matches minus those that are stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

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

    _first = 0

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
        chosen = list(dict.fromkeys((min(pair), max(pair)) for pair in pairs))
        digests = sorted({digest for pair in chosen for digest in pair})
        index = {digest: place for place, digest in enumerate(digests)}
        low = np.fromiter((index[a] for a, _ in chosen), np.int32, len(chosen))
        high = np.fromiter((index[b] for _, b in chosen), np.int32, len(chosen))
        if first % 2:
            raise ValueError(
                f"matches are counted from repetition {first}, in the middle of a deal"
            )
        self._first = first
        self._plan(store, game, digests, low, high, matches)

    @classmethod
    def round_robin(
        cls, store: MatchStore, game: Game, digests: Collection[str], matches: int
    ) -> Schedule:
        """Plans every pair of different policies, in the order of their digests."""
        schedule = cls.__new__(cls)
        names = sorted(set(digests))
        low, high = np.triu_indices(len(names), 1)
        schedule._plan(store, game, names, low.astype(np.int32), high.astype(np.int32), matches)
        return schedule

    def _plan(
        self,
        store: MatchStore,
        game: Game,
        digests: list[str],
        low: NDArray[np.int32],
        high: NDArray[np.int32],
        matches: int,
    ) -> None:
        if matches < 0:
            raise ValueError(f"matches a pair is {matches}; it cannot be negative")
        self._name, self._version = game.name, game.version
        self._digests, self._low, self._high, self._matches = digests, low, high, matches
        stored = store.repetitions(game.name, game.version, digests, matches, self._first)
        self._prefix, self._scattered = _aligned(stored, low, high)
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


def _aligned(
    stored: StoredRepetitions, low: NDArray[np.int32], high: NDArray[np.int32]
) -> tuple[NDArray[np.int32], dict[int, frozenset[int]]]:
    """What is stored, by position in the wanted pairs: prefix, and repetitions beyond a gap."""
    width = len(stored.digests)
    held = stored.low.astype(np.int64) * width + stored.high
    order = np.argsort(held)
    held, held_prefix = held[order], stored.prefix[order]
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
    return prefix, {int(k): beyond[int(wanted[k])] for k in positions}


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
