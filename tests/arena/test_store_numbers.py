"""What one pass over a store's numbers vouches for: never for what the queries would refuse.

That stores which were changed by hand are found out in spite of it, `test_store_doctored` says.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from arena.store import sound_numbers
from arena.values import SELECTING
from tests.arena.doctored_store import GAME, THIRD, honest_store, result


def _agree(path: Path) -> bool:
    with duckdb.connect(str(path), read_only=True) as connection:
        return sound_numbers.agree(connection)


def test_an_honest_store_is_vouched_for(tmp_path):
    store = honest_store(tmp_path / "matches.duckdb")
    assert _agree(store.path)
    # A pair behind two walls, with gaps, and with matches that chose among candidates.
    played = [result(n, THIRD) for n in (10, 15, SELECTING, SELECTING + 1)]
    store.append(GAME, [replace(one, wall="native", playings=2) for one in played])
    assert _agree(store.path)


def test_a_store_without_matches_is_vouched_for(tmp_path):
    store = honest_store(tmp_path / "matches.duckdb")
    with duckdb.connect(str(store.path)) as connection:
        for table in ("games", "pairs", "policies", "tallies", "isolation", "matches"):
            connection.execute(f"delete from {table}")
    assert _agree(store.path)


@pytest.mark.parametrize(
    "change",
    [
        # The sums stay what they are; a row is there twice.
        "insert into isolation select pair, wall, 1, 0 from isolation; "
        "update isolation set matches = matches - 1 where matches > 1",
        "update tallies set matches = matches + if(half = 0, 1, -1), half = 0",
        "update pairs set low = 0, high = 1",
        "update pairs set pair = pair + 1",
        "update pairs set game = -1",
        "update tallies set matches = matches + 1 where half = 0",
        "update tallies set pair = -1 where pair = 0",
        "update tallies set matches = 9000000000000000000 where pair = 0 and half = 0",
        "update isolation set pair = 1 - pair, matches = matches - 1",
        "update games set matches = matches - 1",
        "insert into games values (1, 'other', 1, 3)",
        "update games set matches = 0; insert into games select game, name, version, 20 from games",
    ],
)
def test_numbers_that_disagree_are_left_to_the_queries(tmp_path, change):
    store = honest_store(tmp_path / "matches.duckdb")
    with duckdb.connect(str(store.path)) as connection:
        connection.execute(change)
    assert not _agree(store.path)
