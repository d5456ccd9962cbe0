"""Whether the tables of a store refer to each other as they should.

The questions of the store rely on it: a policy that was numbered twice would count every match of
its pairs twice, and a billion equal rows take little room in a file and a lot in memory.  The cost
grows with the number of pairs, not of matches.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from arena.store import sound_numbers
from arena.store.catalog import ATTACHED, Connection
from arena.store.errors import CURE, StoreCorrupt
from arena.store.rows import NAME_CHARS

_BYTES_OF_A_MATCH = 16
"""At least: its id is a hash, which nothing compresses."""
_BYTES_OF_AN_AUDIT = 4
"""At least, with room for a match that was audited several times."""

_NO_NAME = (
    f"not length(name) between 1 and {NAME_CHARS} "
    r"or regexp_matches(name, '[\p{C}\p{Zl}\p{Zp}]')"
)
"""Where it is not as `is_name` has it: characters that can be shown, and not too many.

Counted apart: an expression of so many characters takes 20 ms to compile.
"""

_NUMBERED = """
    select 1 from {table}
    having count(*) <> count(distinct {key}) or min({key}) <> 0 or max({key}) <> count(*) - 1
"""


class _Fault(NamedTuple):
    """What may be wrong.

    Attributes:
      told: for people.
      query: has rows where it is so.
      of_numbers: whether `sound_numbers.agree` rules it out.
    """

    told: str
    query: str
    of_numbers: bool = False


_FAULTS: tuple[_Fault, ...] = (
    _Fault("it does not have exactly one token", "select 1 from store having count(*) <> 1"),
    *(
        _Fault(
            f"its {table} are not numbered 0, 1, ...",
            _NUMBERED.format(table=table, key=key),
            of_numbers=table == "pairs",
        )
        for table, key in (("games", "game"), ("policies", "policy"), ("pairs", "pair"))
    ),
    _Fault(
        "the name of a game, or the digest of a policy, is no name",
        f"""
        select 1 from (select name from games union all select digest from policies)
        where {_NO_NAME}
        """,
    ),
    _Fault(
        "a game is listed twice", "select 1 from games group by name, version having count(*) > 1"
    ),
    _Fault(
        "a policy is listed twice", "select 1 from policies group by digest having count(*) > 1"
    ),
    _Fault(
        "a pair is listed twice",
        "select 1 from pairs group by game, low, high having count(*) > 1",
        of_numbers=True,
    ),
    _Fault(
        "a pair is of a game or a policy that is not listed, or the wrong way round",
        """
        select 1 from pairs as p
        left join games as g using (game)
        left join policies as l on l.policy = p.low
        left join policies as h on h.policy = p.high
        where g.game is null or l.policy is null or h.policy is null or l.digest > h.digest
        """,
    ),
    _Fault(
        "the sums of a pair are listed twice, or those of no pair",
        """
        select 1 from tallies group by pair
        having count(*) > 2 or (count(*) = 2 and min(half) = max(half)) or max(half) > 1
            or pair < 0 or pair >= (select count(*) from pairs)
        """,
        of_numbers=True,
    ),
    _Fault(
        "the sums of a pair contradict each other",
        """
        select 1 from tallies
        where matches < 1 or deals < 1 or deals > matches or reach < 1
           or wins < 0 or draws < 0 or losses < 0 or wins + draws + losses <> matches
           or forfeits_low < 0 or forfeits_high < 0 or forfeits_low + forfeits_high > matches
           or not (isfinite(total) and isfinite(total_squares))
           or not (isfinite(deal_squares) and isfinite(deal_cross))
        """,
    ),
    _Fault(
        "a game has another number of matches than its pairs",
        """
        select 1 from games
        left join (select game, sum(t.matches) as played
                   from tallies as t join pairs using (pair) group by game) using (game)
        where matches <> coalesce(played, 0)
        """,
        of_numbers=True,
    ),
    _Fault(
        "it holds another number of matches than it counts",
        """
        select 1
        where (select count(*) from matches) <> (select coalesce(sum(matches), 0) from games)
        """,
    ),
)
"""Each relies on those before it."""

_FAULTS_OF_ISOLATION: tuple[_Fault, ...] = (
    _Fault(
        "a pair has another number of matches behind all walls than altogether",
        """
        select 1 from (
            select pair, matches from isolation union all select pair, -matches from tallies
        ) group by pair having sum(matches) <> 0
        union all
        select 1 from isolation group by pair, wall
        having count(*) > 1 or min(matches) < 1 or min(do_overs) < 0
            or bool_or(do_overs > matches)
        """,
        of_numbers=True,
    ),
)
"""The same for the tables of version 2."""


def check(connection: Connection, path: Path, size: int) -> None:
    """Makes sure that the references and sums in a store can be relied on.

    Args:
      connection: to a file that was inspected.
      path: of it, for messages.
      size: of it and its logs, in bytes.

    Raises:
      StoreCorrupt: something is wrong, and what.
    """
    rows = _row_counts(connection)
    _check_sizes(rows, path, size)
    isolated = "isolation" in rows
    sound = isolated and sound_numbers.agree(connection)
    for fault in _FAULTS + _FAULTS_OF_ISOLATION * isolated:
        if sound and fault.of_numbers:
            continue
        if connection.execute(f"{fault.query} limit 1").fetchone() is not None:
            raise StoreCorrupt(f"the match store {path} contradicts itself: {fault.told}. {CURE}")


def _row_counts(connection: Connection) -> dict[str, int]:
    """Tables and how many rows they claim to have, which is known without reading any."""
    question = "select table_name, estimated_size from duckdb_tables() where database_name = ?"
    return dict(connection.execute(question, [ATTACHED]).fetchall())


def _check_sizes(rows: Mapping[str, int], path: Path, size: int) -> None:
    """Refuses numbers of rows that would exhaust the memory of who counts them."""
    most = {
        "matches": size // _BYTES_OF_A_MATCH,
        "audits": size // _BYTES_OF_AN_AUDIT,
        "games": rows["matches"],
        "policies": 2 * rows["matches"],
        "pairs": rows["matches"],
        "tallies": 2 * rows["matches"],
        "isolation": rows["matches"],
        "store": 1,
    }
    for table, bound in most.items():
        if rows.get(table, 0) > bound:
            raise StoreCorrupt(
                f"the match store {path} claims to hold {rows[table]} rows of {table}, and cannot "
                f"hold more than {bound}. {CURE}"
            )
