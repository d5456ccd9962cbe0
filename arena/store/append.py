"""Stores a batch of results and keeps the tallies in step with them.

A tally sums up the matches of one pair in one half of its deals.  The sums of squares over deals
(`deal_squares` and the like) are not additive over matches: when the second half of a duplicate
arrives later than the first, the deal's old term is taken out and the new one put in.  For this,
and to recognise matches that are stored already, stored rows have to be looked up.  It is rarely
needed: a deal beyond the pair's `reach` cannot be stored, and play goes upwards.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from arena.games.protocol import Game
from arena.store.catalog import Connection
from arena.store.rows import MESSAGE_CHARS, MICROS, MOST_MOVE_BYTES, defect, is_name
from arena.values import Result

_INCOMING = pa.schema(
    [
        ("place", pa.int32()),
        ("id", pa.string()),
        ("low", pa.string()),
        ("high", pa.string()),
        ("repetition", pa.int32()),
        ("return_low", pa.float64()),
        ("termination", pa.string()),
        ("fault_seat", pa.uint8()),
        ("fault_message", pa.string()),
        ("moves", pa.binary()),
        ("wall", pa.string()),
        ("micros", pa.int64()),
        ("cpu_micros_low", pa.int64()),
        ("cpu_micros_high", pa.int64()),
        ("season", pa.int32()),
        ("playings", pa.int32()),
    ]
)


def incoming_table(game: Game, results: Iterable[Result]) -> pa.Table:
    """The results as columns, each match once (the first result of it counts).

    Raises:
      ValueError: a result is not of this game and version, or contradicts itself.
    """
    unique: dict[str, Result] = {}
    for result in results:
        unique.setdefault(result.match.id, result)
    chosen = unique.values()
    for result in chosen:
        _check(game, result)
    _check_names(game, chosen)
    low_seats = [result.match.repetition % 2 for result in chosen]
    cpu = [result.cpu_seconds for result in chosen]
    columns: dict[str, Iterable[Any]] = {
        "place": range(len(chosen)),
        "id": list(unique),
        "low": [result.match.low for result in chosen],
        "high": [result.match.high for result in chosen],
        "repetition": [result.match.repetition for result in chosen],
        "return_low": [result.return_low for result in chosen],
        "termination": [result.termination.value for result in chosen],
        "fault_seat": [result.fault_seat for result in chosen],
        "fault_message": [storable(result.fault_message) for result in chosen],
        "moves": [_packed(game, result) for result in chosen],
        "wall": [result.wall for result in chosen],
        "micros": [round(result.seconds * MICROS) for result in chosen],
        "cpu_micros_low": [
            round(both[seat] * MICROS) for both, seat in zip(cpu, low_seats, strict=True)
        ],
        "cpu_micros_high": [
            round(both[1 - seat] * MICROS) for both, seat in zip(cpu, low_seats, strict=True)
        ],
        "season": [result.season for result in chosen],
        "playings": [result.playings for result in chosen],
    }
    arrays = [pa.array(columns[field.name], field.type) for field in _INCOMING]
    return pa.Table.from_arrays(arrays, schema=_INCOMING)


def _check(game: Game, result: Result) -> None:
    match = result.match
    if match.game != game.name or match.game_version != game.version:
        raise ValueError(
            f"match {match.id} is of {match.game} version {match.game_version}, but was handed in "
            f"as {game.name} version {game.version}"
        )
    if match.low > match.high or match.repetition < 0:
        raise ValueError(f"{match} is no match: low must not exceed high, repetition not be < 0")
    if result.returns[0] + result.returns[1] != 0.0:  # also refuses nan and infinities
        raise ValueError(f"returns {result.returns} of match {match.id} do not add up to 0")
    wrong = defect(result)
    if wrong is not None:
        raise ValueError(f"match {match.id} cannot be stored: {wrong}")


def _check_names(game: Game, results: Iterable[Result]) -> None:
    """Refuses names that could not be shown; each is looked at once."""
    digests = {digest for result in results for digest in (result.match.low, result.match.high)}
    for name in (game.name, *digests, *{result.wall for result in results}):
        if not is_name(name):
            raise ValueError(f"{name!r} is no name of a game or a wall, and no digest")


def _packed(game: Game, result: Result) -> bytes:
    packed = game.pack(result.moves)
    if len(packed) > MOST_MOVE_BYTES:
        raise ValueError(
            f"match {result.match.id} cannot be stored: its moves take {len(packed)} bytes, and "
            f"{MOST_MOVE_BYTES} is the most"
        )
    return packed


def storable(message: str) -> str:
    """A message, cut, and with what UTF-8 cannot say escaped: entrants write these."""
    message = message[:MESSAGE_CHARS]
    try:
        message.encode()
    except UnicodeEncodeError:
        message = message.encode(errors="backslashreplace").decode()[:MESSAGE_CHARS]
    return message


def append(connection: Connection, game: Game, incoming: pa.Table) -> int:
    """Stores what is not stored yet, inside the caller's transaction.

    Args:
      connection: as `Database.writing` gives it.
      game: of all the results.
      incoming: from `incoming_table`.

    Returns:
      How many matches are new.
    """
    connection.register("incoming", incoming)
    # Games without deals have deals of one match each.
    span = 2 if game.has_deals else 1
    number = _number_game(connection, game)
    connection.execute(_NUMBER_POLICIES)
    connection.execute(_NUMBER_PAIRS, {"game": number})
    connection.execute(_STAGE, {"game": number, "span": span})
    connection.execute(_FIND_STORED, {"span": span})
    connection.execute(_FRESH)
    (new,) = connection.execute("select count(*) from fresh").fetchone()
    if new:
        now = datetime.now(UTC).replace(tzinfo=None)
        connection.execute(_INSERT_MATCHES, {"now": now})
        connection.execute(_CHANGE_TALLIES)
        connection.execute(_CHANGE_ISOLATION)
        connection.execute("update games set matches = matches + ? where game = ?", [new, number])
    connection.execute("drop table fresh; drop table stored; drop table staged")
    connection.unregister("incoming")
    return int(new)


def _number_game(connection: Connection, game: Game) -> int:
    known = connection.execute(
        "select game from games where name = ? and version = ?", [game.name, game.version]
    ).fetchone()
    if known is not None:
        return int(known[0])
    (number,) = connection.execute("select count(*) from games").fetchone()
    connection.execute("insert into games values (?, ?, ?, 0)", [number, game.name, game.version])
    return int(number)


# Numbers are given without gaps and rows are never deleted, so the next one is the count.
_NUMBER_POLICIES = """
    insert into policies
    select (select count(*) from policies) + row_number() over (order by digest) - 1, digest
    from (select low as digest from incoming union select high from incoming)
    anti join policies using (digest)
"""

_NUMBER_PAIRS = """
    with met as (
        select l.policy as low, h.policy as high
        from (select distinct low, high from incoming) as i
        join policies as l on l.digest = i.low
        join policies as h on h.digest = i.high
    )
    insert into pairs
    select (select count(*) from pairs) + row_number() over (order by low, high) - 1,
           $game, low, high
    from met anti join (select low, high from pairs where game = $game) using (low, high)
"""

_STAGE = """
    create temp table staged as
    select i.place, p.pair, i.repetition, i.repetition // $span as deal, i.return_low, i.fault_seat,
           i.micros, i.wall, i.playings
    from incoming as i
    join policies as l on l.digest = i.low
    join policies as h on h.digest = i.high
    join pairs as p on p.game = $game and p.low = l.policy and p.high = h.policy
"""

_FIND_STORED = """
    create temp table stored as
    with reached as (
        select pair, max(reach) as reach from tallies
        where pair in (select pair from staged) group by pair
    ), doubtful as (
        select distinct pair, deal from staged join reached using (pair) where deal * $span < reach
    )
    select m.pair, m.repetition, m.return_low, d.deal
    from matches as m
    join doubtful as d on m.pair = d.pair and m.repetition // $span = d.deal
    where m.repetition >= (select min(deal) * $span from doubtful)
      and m.repetition < (select (max(deal) + 1) * $span from doubtful)
"""

_FRESH = """
    create temp table fresh as
    select * from staged anti join stored using (pair, repetition)
"""

_INSERT_MATCHES = """
    insert into matches
    select i.id::uuid, f.pair, i.repetition, i.return_low, i.termination, i.fault_seat,
           i.fault_message, i.moves, i.wall, i.micros, i.cpu_micros_low, i.cpu_micros_high,
           $now::timestamp, i.season, i.playings
    from incoming as i join fresh as f using (place)
"""

# With (m, s) a deal's number of matches and sum of returns before and (n, t) of what is added,
# its terms change from s^2, s m, m^2 to (s + t)^2, (s + t)(m + n), (m + n)^2.
_CHANGE_TALLIES = """
    with before as (
        select pair, deal, count(*) as m, sum(return_low) as s from stored group by pair, deal
    ), added as (
        select pair, deal,
               max(repetition) + 1 as reach,
               count(*) as n,
               sum(return_low) as t,
               sum(return_low * return_low) as squares,
               count(*) filter (where return_low > 0) as wins,
               count(*) filter (where return_low = 0) as draws,
               count(*) filter (where return_low < 0) as losses,
               count(*) filter (where fault_seat = repetition % 2) as forfeits_low,
               count(*) filter (where fault_seat = 1 - repetition % 2) as forfeits_high,
               sum(micros) as micros
        from fresh group by pair, deal
    ), terms as (
        select a.*, coalesce(b.m, 0) as m, coalesce(b.s, 0) as s
        from added as a left join before as b using (pair, deal)
    ), change as (
        select pair, deal % 2 as half,
               max(reach) as reach,
               sum(n) as matches,
               sum(t) as total,
               sum(squares) as total_squares,
               count(*) filter (where m = 0) as deals,
               sum((s + t) * (s + t) - s * s) as deal_squares,
               sum((s + t) * (m + n) - s * m) as deal_cross,
               sum((m + n) * (m + n) - m * m) as deal_sizes,
               sum(wins) as wins, sum(draws) as draws, sum(losses) as losses,
               sum(forfeits_low) as forfeits_low, sum(forfeits_high) as forfeits_high,
               sum(micros) as micros
        from terms group by pair, half
    )
    merge into tallies as t using change as c on t.pair = c.pair and t.half = c.half
    when matched then update set
        reach = greatest(t.reach, c.reach),
        matches = t.matches + c.matches,
        total = t.total + c.total,
        total_squares = t.total_squares + c.total_squares,
        deals = t.deals + c.deals,
        deal_squares = t.deal_squares + c.deal_squares,
        deal_cross = t.deal_cross + c.deal_cross,
        deal_sizes = t.deal_sizes + c.deal_sizes,
        wins = t.wins + c.wins,
        draws = t.draws + c.draws,
        losses = t.losses + c.losses,
        forfeits_low = t.forfeits_low + c.forfeits_low,
        forfeits_high = t.forfeits_high + c.forfeits_high,
        micros = t.micros + c.micros
    when not matched then insert values (
        c.pair, c.half, c.reach, c.matches, c.total, c.total_squares,
        c.deals, c.deal_squares, c.deal_cross, c.deal_sizes,
        c.wins, c.draws, c.losses, c.forfeits_low, c.forfeits_high, c.micros
    )
"""

_CHANGE_ISOLATION = """
    with change as (
        select pair, wall, count(*) as matches, count(*) filter (where playings > 1) as do_overs
        from fresh group by pair, wall
    )
    merge into isolation as i using change as c on i.pair = c.pair and i.wall = c.wall
    when matched then update set
        matches = i.matches + c.matches, do_overs = i.do_overs + c.do_overs
    when not matched then insert values (c.pair, c.wall, c.matches, c.do_overs)
"""
