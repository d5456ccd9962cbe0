"""What all pairs of a game came to: sums for payoffs, and returns for ratings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from arena.columns import column_of, numbers
from arena.pair_sums import PairScores, PairSums
from arena.store.batches import Batches
from arena.store.catalog import Connection
from arena.store.counted import COUNTED
from arena.store.policy_numbers import policy_numbers
from arena.store.rows import MICROS

_IDS = 1 << 128
"""How many ids there can be."""


def pair_stats(
    connection: Connection, game: str, version: int, span: int, among: Collection[str] | None
) -> pa.Table:
    """See `MatchStore.pair_stats`; `span` is the number of matches of a deal."""
    keys = policy_numbers(connection, game, version, among)
    some = "p.low in (select unnest($policies::integer[])) and p.high in (select unnest($policies))"
    parameters = {"game": game, "version": version, "span": span}
    if among is not None:
        parameters["policies"] = keys.numbers.tolist()
    # Millions of rows: no order, and numbers that are no wider than what they hold.
    table = connection.sql(
        f"""
        with chosen as (
            select p.pair, p.low, p.high, $span as span
            from pairs as p join games as g using (game)
            where g.name = $game and g.version = $version and {"true" if among is None else some}
        ), {COUNTED}
        select c.low, c.high, t.half, t.matches::integer as matches, t.total, t.total_squares,
               t.deals::integer as deals, t.deal_squares, t.deal_cross,
               t.deal_sizes::integer as deal_sizes, t.wins::integer as wins,
               t.draws::integer as draws, t.losses::integer as losses,
               t.forfeits_low::integer as forfeits_low, t.forfeits_high::integer as forfeits_high,
               t.micros / {MICROS} as seconds
        from counted as t join chosen as c using (pair)
        """,
        params=parameters,
    ).to_arrow_table()
    return keys.named(table)


def pair_scores(connection: Connection, listed: Listed, span: int) -> PairScores:
    """What all pairs of a game got; `span` is the number of matches of a deal."""
    read = _counted(connection, listed, span, 0)
    return PairSums.gathered(listed.digests.to_pylist(), listed.low, listed.high, read).scored()


def scores_since(
    connection: Connection, listed: Listed, span: int, before: PairScores, first: int
) -> PairScores:
    """The same, where they are known but for pairs that played since.

    Args:
      connection: to the store.
      listed: the pairs of the game now.
      span: as above.
      before: what the first of these pairs got before.
      first: place of the first match that was stored since.
    """
    rows = list(_counted(connection, listed, span, first))
    places = np.unique(np.concatenate([listed.low[:0], *(pairs for pairs, _ in rows)]))
    if not len(places) and len(listed.low) == len(before.low):
        return before
    digests, low, high = listed.digests.to_pylist(), listed.low, listed.high
    read = [(np.searchsorted(places, pairs), columns) for pairs, columns in rows]
    anew = PairSums.gathered(digests, low[places], high[places], read).scored()
    return before.renewed(digests, low, high, places, anew.values)


def _counted(
    connection: Connection, listed: Listed, span: int, first: int
) -> Iterator[tuple[NDArray[np.int32], dict[str, NDArray[Any]]]]:
    """Sums of the pairs of matches from a place on: the places of the pairs, and columns."""
    some = "and p.pair in (select pair from matches where rowid >= $first)"
    batches = Batches(
        connection,
        f"""
        with chosen as (
            select p.pair, $span as span from pairs as p join games as g using (game)
            where g.name = $game and g.version = $version {some if first else ""}
        ), {COUNTED}
        select t.pair, t.half, t.matches::integer as matches, t.total, t.deals::integer as deals,
               t.deal_squares, t.deal_cross, t.deal_sizes::integer as deal_sizes,
               t.wins::integer as wins, t.draws::integer as draws,
               t.forfeits_low::integer as forfeits_low, t.forfeits_high::integer as forfeits_high
        from counted as t {"semi join chosen using (pair)" if first else ""}
        """,
        {"game": listed.game, "version": listed.version, "span": span}
        | ({"first": first} if first else {}),
    )
    return _placed(batches, listed)


class Listed:
    """The p pairs of a game.

    Pairs are numbered 0, 1, ..., so that an array finds what a join would find more slowly.

    Attributes:
      digests: of the policies that played.
      low: (p,) place of the smaller digest of each pair.
      high: (p,) of the larger.
      game: name of the game.
      version: of its rules.
      range: their least and their greatest number; (0, -1) where there is none.
      alone: whether all numbers between these are of this game.
    """

    def __init__(self, connection: Connection, game: str, version: int) -> None:
        pairs = connection.execute(
            """
            select p.pair, p.low, p.high from pairs as p join games as g using (game)
            where g.name = ? and g.version = ?
            """,
            [game, version],
        ).fetchnumpy()
        policies = policy_numbers(connection, game, version, None)
        self.digests = policies.digests
        self.low, self.high = (policies.places(pairs[side]) for side in ("low", "high"))
        self.game, self.version = game, version
        listed = np.asarray(pairs["pair"])
        self.range = (int(listed.min()), int(listed.max())) if len(listed) else (0, -1)
        self.alone = self.range[1] - self.range[0] + 1 == len(listed)
        # One more than there are: what is beyond the last pair of the game is of another game.
        self._place = np.full(int(listed.max(initial=-1)) + 2, -1, dtype=np.int32)
        self._place[listed] = np.arange(len(listed), dtype=np.int32)

    def begins_with(self, other: Listed) -> bool:
        """Whether the other's pairs are the first of these, in the same order."""
        # Without the last place, which is for pairs of other games.
        known = len(other._place) - 1
        return np.array_equal(self._place[:known], other._place[:known])

    def places(self, pairs: NDArray[np.int32]) -> NDArray[np.int32]:
        """The places (k,) of pairs by their numbers; -1 for those of other games."""
        return self._place[np.minimum(pairs, len(self._place) - 1)]


def _placed(
    batches: Iterable[pa.RecordBatch], listed: Listed
) -> Iterator[tuple[NDArray[np.int32], dict[str, NDArray[Any]]]]:
    """The pairs of rows by their places, and the rows' columns; without pairs of other games."""
    for batch in batches:
        columns = {name: numbers(batch.column(name)) for name in batch.schema.names}
        places = listed.places(columns.pop("pair"))
        mine = places >= 0
        if not mine.all():
            places = places[mine]
            columns = {name: values[mine] for name, values in columns.items()}
        yield places, columns


def returns_in_id_order(
    connection: Connection, listed: Listed, last: int, share: float
) -> pa.Table:
    """See `MatchStore.returns_in_id_order`; `last` is the greatest repetition."""
    # To look every match's pair up among millions takes longer than to read and sort them.
    mine = """
        and pair in (select p.pair from pairs as p join games as g using (game)
                     where g.name = $game and g.version = $version)
    """
    beyond = int(share * _IDS)
    played = connection.sql(
        f"""
        select pair, return_low from matches
        where repetition <= $last and pair between $first and $final {"" if listed.alone else mine}
        {"" if beyond >= _IDS else f"and id < '{beyond:032x}'::uuid"}
        order by id
        """,
        params={"last": last, "first": listed.range[0], "final": listed.range[1]}
        | ({} if listed.alone else {"game": listed.game, "version": listed.version}),
    ).to_arrow_table()
    places = listed.places(numbers(played.column("pair")))
    sides = {
        side: pa.DictionaryArray.from_arrays(column_of(ends[places]), listed.digests)
        for side, ends in (("low", listed.low), ("high", listed.high))
    }
    return pa.table(sides | {"return_low": played.column("return_low")})
