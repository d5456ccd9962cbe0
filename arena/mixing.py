"""Mixtures through their members: what a mixture scores follows from what its members did.

A mixture's mean payoff against an opponent is the mixture of its members' means.  Drawing members
before matches would only add noise to it, and would be a second number for the same thing.  So
wherever a mixture has a payoff, it is this one, and where a mixture is to play, its members do:
N matches of it are N w_i matches of member i, as in a stratified sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.analysis.estimates import Floats, freedom_of, weighted_sum_of
from arena.analysis.stakes import UNKNOWN, Stakes, doubted
from arena.nesting import Weights, mixtures_of
from arena.payoffs import PayoffTable
from arena.tally import Pair
from registry import Registry

LEAST_MATCHES = 4
"""Of a member against an opponent, so that an error can be estimated from two deals."""
_ALMOST = 1e-9
"""What rounding may cost a whole number."""
_Counts = NDArray[np.integer[Any]]


def mixtures_among(
    registry: Registry, game: str, digests: Iterable[str]
) -> tuple[dict[str, Weights], tuple[str, ...]]:
    """Those of some policies that are mixtures, and everybody whose matches tell of them all.

    Returns:
      As `mixtures_of`, and the policies followed by the members that are not among them.
    """
    chosen = tuple(dict.fromkeys(digests))
    known = mixtures_of(registry, game)
    mixtures = {digest: known[digest] for digest in chosen if digest in known}
    members = [member for weights in mixtures.values() for member in weights]
    return mixtures, tuple(dict.fromkeys([*chosen, *members]))


def share_of(count: int, weight: float) -> int:
    """Matches of a member of that weight, where its mixture is to rest on `count`.

    Even, as games of cards are played as duplicates, and at least `LEAST_MATCHES`.
    """
    return max(LEAST_MATCHES, 2 * math.ceil(count * weight / 2.0 - _ALMOST))


def _in_place_of(pair: Pair, mixtures: Mapping[str, Weights]) -> Iterator[tuple[Pair, float]]:
    """The pairs that play in the place of one, each with its share; nobody meets itself."""
    one, other = pair
    for a, share in mixtures.get(one, {one: 1.0}).items():
        for b, rest in mixtures.get(other, {other: 1.0}).items():
            if a != b or (one not in mixtures and other not in mixtures):
                yield (a, b), share * rest


def through_members(wanted: Mapping[Pair, int], mixtures: Mapping[str, Weights]) -> dict[Pair, int]:
    """The same matches with members in the places of mixtures; nobody meets itself.

    Args:
      wanted: numbers of matches by pair.
      mixtures: digest to the weights of the members.

    Returns:
      Numbers of matches by pair, in the order of `wanted`; where several pairs come to the same,
      the largest number.  No pair has more than the one that it stands for.
    """
    found: dict[Pair, int] = {}
    for asked, count in wanted.items():
        mixed = not mixtures.keys().isdisjoint(asked)
        for (a, b), share in _in_place_of(asked, mixtures):
            pair = (a, b) if (b, a) not in found else (b, a)
            number = min(count, share_of(count, share)) if mixed else count
            found[pair] = max(number, found.get(pair, 0))
    return found


def precision_of_members(
    wanted: Iterable[Pair], mixtures: Mapping[str, Weights], precision: float
) -> dict[Pair, float]:
    """How precise the pairs of `through_members` have to be, so that those they stand for are.

    A pair with a share of w goes to precision / sqrt(w): the squares of w times that add up to
    the square of the precision, as the shares add up to 1.  So its matches are in proportion to
    its share, where its deals differ as much as those of the others.
    """
    found: dict[Pair, float] = {}
    for asked in wanted:
        for (a, b), share in _in_place_of(asked, mixtures):
            pair = (a, b) if (b, a) not in found else (b, a)
            found[pair] = min(precision / math.sqrt(share), found.get(pair, math.inf))
    return found


def with_mixtures(
    table: PayoffTable, mixtures: Mapping[str, Weights], stakes: Stakes = UNKNOWN
) -> PayoffTable:
    """A payoff table with the rows and columns of some mixtures put together from their members.

    Means are mixed, errors are those of independent means, each of them no smaller than few deals
    can tell (`arena.analysis.stakes`).  Counts are of the same worth: so many matches (or deals) of
    one policy would have as large an error: 1 / sum of w_i^2 / n_i matches, though never more than
    the members played, and deals by the degrees of freedom of Welch and Satterthwaite.  Wins, draws
    and forfeits are shares of these matches; a forfeit is never rounded away.  A cell is unknown
    where one of the members has not met the opponent, whatever the mixture played under its own
    name.

    Args:
      table: has all members, and may have the mixtures.
      mixtures: digest to the weights of the members that really play.
      stakes: of the game; unknown where the errors of the table are doubted already.

    Raises:
      KeyError: a member is not in the table.
    """
    if not mixtures:
        return table
    known = set(table.digests)
    digests = (*table.digests, *(digest for digest in mixtures if digest not in known))
    index = {digest: place for place, digest in enumerate(digests)}
    # One copy for all: of thousands of policies these are hundreds of megabytes.
    arrays: dict[str, Any] = {
        name: _with_room_for(getattr(table, name), len(digests)) for name in _ARRAYS
    }

    def doubts(stderr: Floats, deals: _Counts) -> Floats:
        if stakes == UNKNOWN:  # errors may be infinite there, and tell no spread
            return stderr
        return doubted(stderr, deals, table.scatter, stakes)

    # What two mixtures get from each other is there with the second of them.
    for digest in sorted(mixtures):
        _mix_in(arrays, index, digest, mixtures[digest], doubts)
    return replace(table, digests=digests, **arrays)


def _mix_in(
    arrays: Mapping[str, NDArray[Any]],
    index: Mapping[str, int],
    digest: str,
    weights: Weights,
    doubts: Callable[[Floats, _Counts], Floats],
) -> None:
    """Writes the row and the column of a mixture into the arrays of a table, by name."""
    own = index[digest]
    members = np.array([index[one] for one in sorted(weights)], dtype=np.intp)
    mix = np.array([weights[one] for one in sorted(weights)])
    itself = members[:, None] == np.arange(len(index))

    def mixed(name: str, at: Any) -> _Row:
        mean, error, count, deals = (arrays[f"{name}{one}"][at] for one in _SURE)
        return _row(mix, itself, mean, doubts(error, deals), count, deals)

    row = mixed("", members)
    halves = [mixed("half_", (half, members)) for half in (0, 1)]
    outcomes = _outcomes(arrays, members, mix, row[2])
    for place, name in enumerate(_SURE):
        for matrix, found in (
            (arrays[name], row[place]),
            *zip(arrays[f"half_{name}"], (half[place] for half in halves), strict=True),
        ):
            _write(matrix, own, found, 0 - found if name == "mean" else found)
    for name, views in outcomes.items():
        _write(arrays[name], own, *views)


_SURE = ("mean", "stderr", "count", "deals")
_ARRAYS = (*_SURE, *(f"half_{name}" for name in _SURE), "wins", "draws", "forfeits")
_Row = tuple[Floats, Floats, _Counts, _Counts]


def _with_room_for(array: NDArray[Any], n: int) -> NDArray[Any]:
    """A copy, with room for as many policies, of whom the new ones met nobody."""
    before = array.shape[-1]
    nothing = np.nan if array.dtype.kind == "f" else 0
    found = np.full((*array.shape[:-2], n, n), nothing, dtype=array.dtype)
    found[..., :before, :before] = array
    found[..., range(before, n), range(before, n)] = 0
    return found


def _row(
    mix: Floats, itself: NDArray[np.bool_], mean: Floats, stderr: Floats, count: _Counts,
    deals: _Counts,
) -> _Row:  # fmt: skip
    """Mean, error, matches and deals (n,) of a mixture, from those of its r members (r, n)."""
    mean, stderr = np.where(itself, 0.0, mean), np.where(itself, 0.0, stderr)
    weights = np.broadcast_to(mix, mean.T.shape)
    mixed = weighted_sum_of(weights, mean.T, stderr.T, freedom_of(deals.T))
    known = np.isfinite(mixed.value)
    matches = np.where(known, _worth(mix, count, itself), 0).astype(np.int32)
    clusters = _worth(mix, deals, itself)
    sure = np.isfinite(mixed.stderr) & (mixed.stderr > 0.0)
    by_freedom = np.floor(np.where(sure, mixed.freedom, 0.0) + _ALMOST) + 1.0
    clusters = np.where(sure, by_freedom, np.where(mixed.stderr == 0.0, clusters, 1))
    return mixed.value, mixed.stderr, matches, np.where(known, clusters, 0).astype(np.int32)


def _worth(mix: Floats, count: _Counts, itself: NDArray[np.bool_]) -> _Counts:
    """How many of one policy would leave as large an error: 1 / sum of w^2 / n; 0 for none.

    Never more than the members played.  Against an opponent that is a member itself the formula
    says more, as most of such a payoff is a 0 that nobody played for.
    """
    met = (count > 0) & ~itself
    doubt = np.where(met, np.square(mix)[:, None] / np.where(met, count, 1), 0.0)
    total = doubt.sum(axis=0)
    worth = np.floor(1.0 / np.where(total > 0.0, total, np.inf) + _ALMOST)
    played = np.where(met, count, 0).sum(axis=0, dtype=np.int64)
    fewer: _Counts = np.minimum(worth, played).astype(np.int32)
    return fewer


def _write(matrix: NDArray[Any], own: int, row: Any, column: Any) -> None:
    """Puts a row and a column into a matrix (n, n)."""
    matrix[own], matrix[:, own] = row, column
    matrix[own, own] = 0


def _outcomes(
    arrays: Mapping[str, NDArray[Any]], members: NDArray[np.intp], mix: Floats, matches: _Counts
) -> dict[str, tuple[Any, Any]]:
    """Wins, draws and forfeits as shares of the matches that the mixture's payoffs are worth.

    Returns:
      By name what the mixture and what its opponents (n,) see.
    """
    count = arrays["count"][members]
    part = mix[:, None] / np.where(count > 0, count, np.inf)
    played = (part * count).sum(axis=0)
    scale = matches / np.where(played > 0.0, played, np.inf)

    def shared(seen: _Counts) -> Floats:
        return np.asarray((part * seen).sum(axis=0) * scale, dtype=np.float64)

    won: Floats = np.rint(shared(arrays["wins"][members]))
    drawn = np.minimum(np.rint(shared(arrays["draws"][members])), matches - won)
    forfeits = arrays["forfeits"]
    forfeited = np.ceil(shared(forfeits[members]) - _ALMOST)
    credited = np.ceil(shared(forfeits.T[members]) - _ALMOST)
    return {
        "wins": (won, matches - won - drawn),
        "draws": (drawn, drawn),
        "forfeits": (forfeited, credited),
    }
