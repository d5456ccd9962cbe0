"""A store of version 1 becomes one of this version, whole, and also if the process is killed."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import duckdb
import pytest

import arena
from arena.games.protocol import Game
from arena.store import MatchStore, StoreCorrupt
from arena.values import LOCKSTEP, Match, Result, Termination
from tests.arena.simulated_returns import in_order

GOLDEN = Path(__file__).parents[1] / "golden"
TOLD = json.loads((GOLDEN / "store_1.json").read_text())
"""What version 1 answered (see regenerate_store_1.py)."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store that version 1 wrote."""
    old = tmp_path / "matches.duckdb"
    old.write_bytes(gzip.decompress((GOLDEN / "store_1.duckdb.gz").read_bytes()))
    return old


def game(name: str) -> Game:
    deals = name == "dealt"
    return cast(
        Game, SimpleNamespace(name=name, version=1, has_deals=deals, pack=bytes, unpack=bytes)
    )


def opened(path: Path) -> MatchStore:
    return MatchStore(path, game_named=game)


def answers(store: MatchStore, name: str) -> dict[str, Any]:
    """The same as `TOLD` for one game."""
    with store.reading() as connection:
        moves = dict(connection.execute("select id::varchar, moves from matches").fetchall())
    found = []
    for row in store.matches(name, 1):
        assert (row.season, row.playings) == (0, 1)
        found.append(
            {
                "id": row.id,
                "low": row.match.low,
                "high": row.match.high,
                "repetition": row.match.repetition,
                "return_low": row.return_low,
                "termination": row.termination.value,
                "fault_seat": row.fault_seat,
                "fault_message": row.fault_message,
                "wall": row.wall,
                "seconds": row.seconds,
                "played_at": row.played_at.isoformat(),
                "moves": moves[str(uuid.UUID(row.id))].hex(),
            }
        )
    return {
        "fingerprint": store.fingerprint(name, 1),
        "pair_stats": in_order(store.pair_stats(name, 1)),
        "matches": found,
    }


def unharmed(path: Path) -> None:
    """Every question is answered as version 1 did, and the new ones as they should be."""
    store = opened(path)
    for name, told in TOLD.items():
        assert answers(store, name) == told
        shared = Counter(
            digest
            for row in told["matches"]
            for digest in {row["low"], row["high"]}
            if row["wall"].endswith(LOCKSTEP)
        )
        sandboxed = Counter(
            digest
            for row in told["matches"]
            for digest in {row["low"], row["high"]}
            if row["wall"] not in ("native", "inline")
        )
        assert {
            digest: (one.sandboxed, one.shared, one.do_overs)
            for digest, one in store.sharing(name, 1).items()
        } == {digest: (sandboxed[digest], shared[digest], 0) for digest in sandboxed}
        assert len(store.unaudited(name, 1, 1000)) == len(told["matches"])
    assert store.audits() == []
    with store.reading() as connection:
        assert connection.execute("select version from schema_history").fetchall() == [(1,), (2,)]


def test_nothing_of_a_store_of_version_1_is_lost(path: Path) -> None:
    unharmed(path)
    unharmed(path)


def test_play_goes_on_in_a_migrated_store(path: Path) -> None:
    store = opened(path)
    old = [Match("dealt", 1, *row) for row in sorted({(r["low"], r["high"], r["repetition"])
           for r in TOLD["dealt"]["matches"]})]  # fmt: skip
    new = [Match("dealt", 1, "a" * 64, "b" * 64, repetition) for repetition in (3, 4)]
    results = [
        Result(
            match=match,
            returns=(3.0, -3.0),
            termination=Termination.COMPLETED,
            fault_seat=None,
            fault_message="",
            moves=b"",
            wall="process/1",
            seconds=0.0,
            season=2,
            playings=3,
        )
        for match in old + new
    ]
    assert store.append(game("dealt"), results) == 2
    rows = {row.match: row for row in store.matches("dealt", 1)}
    assert len(rows) == len(old) + 2
    assert {(rows[match].season, rows[match].playings) for match in old} == {(0, 1)}
    assert {(rows[match].season, rows[match].playings) for match in new} == {(2, 3)}
    assert store.sharing("dealt", 1)["a" * 64].do_overs == 2


BEFORE_THE_COMMIT = """
first, second = schema.MIGRATIONS
def step(connection):
    second(connection)
    os.kill(os.getpid(), 9)
schema.MIGRATIONS = (first, step)
MatchStore(path).counts()
"""
BEFORE_THE_LOG_IS_IN_THE_FILE = """
connection = duckdb.connect(str(path))
connection.execute("pragma disable_checkpoint_on_shutdown")
connection.execute("begin")
schema.migrate(connection, 1)
connection.execute("commit")
os.kill(os.getpid(), 9)
"""
AT_SOME_MOMENT = """
print("begins", flush=True)
MatchStore(path).counts()
"""


def process(code: str, path: Path) -> subprocess.Popen[bytes]:
    imports = "import os, sys; from pathlib import Path; import duckdb\n"
    ours = "from arena.store import MatchStore, schema\npath = Path(sys.argv[1])\n"
    return subprocess.Popen(
        [sys.executable, "-c", imports + ours + code, str(path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(arena.__file__).parents[1])},
    )


@pytest.mark.parametrize("code", [BEFORE_THE_COMMIT, BEFORE_THE_LOG_IS_IN_THE_FILE])
def test_a_migration_that_is_killed_loses_nothing(path: Path, code: str) -> None:
    killed = process(code, path)
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    unharmed(path)


def test_a_migration_that_is_killed_at_any_moment_loses_nothing(tmp_path: Path, path: Path) -> None:
    old = path.read_bytes()
    chance = random.Random(3)
    for attempt in range(5):
        again = tmp_path / str(attempt) / "matches.duckdb"
        again.parent.mkdir()
        again.write_bytes(old)
        killed = process(AT_SOME_MOMENT, again)
        assert killed.stdout is not None
        assert killed.stdout.readline() == b"begins\n"
        time.sleep(chance.uniform(0.0, 0.3))
        killed.kill()
        killed.communicate()
        unharmed(again)


def test_a_store_of_version_1_is_inspected_before_it_is_migrated(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("create macro count_star() as 666")
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match="the macro count_star"):
        opened(path).counts()
    assert path.read_bytes() == before
