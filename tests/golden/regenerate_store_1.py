"""Writes store_1.duckdb.gz, a match store of version 1, and store_1.json, what it answers.

Only the code that wrote version 1 can make it.  In a clone of this repository:

    git worktree add /tmp/version-1 2abeccf
    PYTHONPATH=/tmp/version-1 python tests/golden/regenerate_store_1.py

Times and the store's token differ from run to run.
"""

from __future__ import annotations

import gzip
import json
import random
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from arena.games.protocol import Game
from arena.store import MatchStore, schema
from arena.values import Match, Result, Termination

HERE = Path(__file__).parent
DIGESTS = [f"{letter}" * 64 for letter in "abcd"]
WALLS = ("native", "inline", "process/1", "process/1+lockstep", "gvisor/2024+lockstep")


def game(name: str, has_deals: bool) -> Game:
    """All that the store wants to know of a game."""
    return cast(
        Game, SimpleNamespace(name=name, version=1, has_deals=has_deals, pack=bytes, unpack=bytes)
    )


GAMES = (game("dealt", True), game("plain", False))


def result(match: Match, chance: random.Random) -> Result:
    """Any result: a forfeit now and then, odd characters in its message."""
    seat = chance.choice([None, None, None, 0, 1])
    total = float(chance.randint(-9, 9))
    return Result(
        match=match,
        returns=(total, 0.0 - total),
        termination=Termination.COMPLETED if seat is None else Termination.TIMED_OUT,
        fault_seat=seat,
        fault_message="" if seat is None else "slow\n\0½",
        moves=chance.randbytes(chance.randrange(40)),
        wall=chance.choice(WALLS),
        seconds=chance.randrange(10**6) / 10**6,
        cpu_seconds=(0.25, 0.5),
    )


def answers(store: MatchStore) -> dict[str, Any]:
    """What version 1 answers, as JSON."""
    told: dict[str, Any] = {}
    for one in GAMES:
        rows = store.matches(one.name, one.version)
        told[one.name] = {
            "fingerprint": store.fingerprint(one.name, one.version),
            "pair_stats": store.pair_stats(one.name, one.version).to_pylist(),
            "matches": [
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
                    "moves": getattr(store.get(row.id), "moves", b"").hex(),
                }
                for row in rows
            ],
        }
    return told


def main() -> None:
    """Writes both files."""
    if schema.VERSION != 1:
        raise SystemExit(f"this code writes version {schema.VERSION}; see the docstring")
    chance = random.Random(10)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matches.duckdb"
        store = MatchStore(path, game_named=lambda name: GAMES[0])
        for one in GAMES:
            matches = [
                Match(one.name, 1, low, high, repetition)
                for low in DIGESTS
                for high in DIGESTS
                if low <= high
                for repetition in range(3)
            ]
            chance.shuffle(matches)
            for start in range(0, len(matches), 13):
                store.append(one, [result(match, chance) for match in matches[start : start + 13]])
        (HERE / "store_1.json").write_text(json.dumps(answers(store), indent=0) + "\n")
        packed = gzip.compress(path.read_bytes(), 9, mtime=0)
        (HERE / "store_1.duckdb.gz").write_bytes(packed)


if __name__ == "__main__":
    main()
