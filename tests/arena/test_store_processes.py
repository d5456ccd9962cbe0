"""The match store under many processes, some of which are killed in the middle of their work.

The file is its own program: run as a script it is one of the processes.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import arena
from arena.games.protocol import Game
from arena.store import MatchStore
from arena.values import Match, Result, Termination
from tests.arena.simulated_returns import in_order

GAME = cast(Game, SimpleNamespace(name="toy", version=1, has_deals=True, pack=bytes, unpack=bytes))
BATCH = 30
WRITERS = 4
BATCHES = 12
SIZE = 5
"""Policies."""


def result(match: Match) -> Result:
    """What a match comes to follows from the match alone, whoever plays it and when."""
    chance = random.Random(match.id)
    return_low = float(chance.randint(-20, 20))
    even = match.repetition % 2 == 0
    return Result(
        match=match,
        season=1,
        returns=(return_low, -return_low) if even else (-return_low, return_low),
        termination=Termination.COMPLETED,
        fault_seat=None,
        fault_message="",
        moves=chance.randbytes(400),
        wall="inline",
        seconds=chance.randrange(1000) / 1000,
    )


def batches(writer: int) -> list[list[Match]]:
    """What a writer stores: a part of the table in its own order, sharing half with the next."""
    chance = random.Random(writer)
    digests = [f"{number:064x}" for number in range(SIZE)]
    span = BATCHES * BATCH // (SIZE * (SIZE - 1) // 2)
    start = writer * span // 2
    matches = [
        Match("toy", 1, low, high, repetition)
        for repetition in range(start, start + span)
        for low in digests
        for high in digests
        if low < high
    ]
    chance.shuffle(matches)
    return [matches[first : first + BATCH] for first in range(0, len(matches), BATCH)]


def write(path: Path, writer: int) -> None:
    """Stores everything, saying so after each batch."""
    store = MatchStore(path)
    for number, batch in enumerate(batches(writer)):
        store.append(GAME, map(result, batch))
        print(number, flush=True)


def read(path: Path) -> None:
    """Looks again and again until told to stop; what it sees must be of one piece."""
    store = MatchStore(path)
    looks = 0
    stop = threading.Event()

    def until_told() -> None:
        sys.stdin.read()
        stop.set()

    threading.Thread(target=until_told, daemon=True).start()
    before = 0
    while not stop.is_set():
        with store.reading() as connection:
            of_rows, total = connection.execute(
                "select count(*), coalesce(sum(return_low), 0) from matches"
            ).fetchone()
            of_tallies = connection.execute(
                "select coalesce(sum(matches), 0), coalesce(sum(total), 0) from tallies"
            ).fetchone()
        assert of_tallies == (of_rows, total), (of_tallies, of_rows, total)
        assert of_rows >= before, "something was lost"
        before = of_rows
        looks += 1
    print(looks, flush=True)


class Program:
    """This file as a process."""

    def __init__(self, role: str, path: Path, *arguments: object) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, role, str(path), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(arena.__file__).parents[1])},
        )

    def lines(self) -> Iterable[bytes]:
        assert self.process.stdout is not None
        return iter(self.process.stdout.readline, b"")

    def finish(self) -> list[bytes]:
        """Lets a reader stop, and a writer end."""
        output, _ = self.process.communicate(timeout=60)
        assert self.process.returncode == 0
        return output.splitlines()

    def kill(self) -> list[bytes]:
        """Ends it at once; returns what it said that it had not been asked for yet."""
        self.process.send_signal(signal.SIGKILL)
        output, _ = self.process.communicate()
        return output.splitlines()


def killed_sooner_or_later(path: Path, writer: int, moment: random.Random) -> int:
    """Runs a writer, kills it in the middle of a batch, and counts the batches it acknowledged."""
    program = Program("write", path, writer)
    acknowledged = 0
    for _ in zip(range(moment.randint(1, 4)), program.lines(), strict=False):
        acknowledged += 1
    time.sleep(moment.uniform(0.0, 0.15))
    return acknowledged + len(program.kill())


def test_nothing_is_lost_or_doubled_when_processes_write_read_and_die(tmp_path: Path) -> None:
    path = tmp_path / "home" / "matches.duckdb"
    moment = random.Random(2026)
    readers = [Program("read", path) for _ in range(2)]
    survivors = [Program("write", path, writer) for writer in range(2, WRITERS)]
    acknowledged = {match for writer in range(2, WRITERS) for b in batches(writer) for match in b}
    for _ in range(2):
        for writer in range(2):
            count = killed_sooner_or_later(path, writer, moment)
            acknowledged.update(match for b in batches(writer)[:count] for match in b)
    for survivor in survivors:
        assert len(survivor.finish()) == BATCHES
    for reader in readers:
        (looks,) = reader.finish()
        assert int(looks) > 3

    store = MatchStore(path)
    rows = store.matches("toy", 1)
    stored = {row.match for row in rows}
    assert len(stored) == len(rows)
    assert acknowledged <= stored
    _same_as_played_once(store, stored, tmp_path)
    # The killed run it again, and find everything as an uninterrupted run would have left it.
    for writer in range(2):
        for batch in batches(writer):
            store.append(GAME, map(result, batch))
    everything = {match for writer in range(WRITERS) for b in batches(writer) for match in b}
    _same_as_played_once(store, everything, tmp_path)


def _same_as_played_once(store: MatchStore, matches: set[Match], folder: Path) -> None:
    """Compares tallies and rows with a store that took the same matches in one batch."""
    calm = MatchStore(folder / f"{len(matches)}.duckdb")
    calm.append(GAME, map(result, sorted(matches)))
    tables = [in_order(one.pair_stats("toy", 1)) for one in (store, calm)]
    assert tables[0] == tables[1]
    returns = [one.returns_in_id_order("toy", 1).to_pylist() for one in (store, calm)]
    assert returns[0] == returns[1]


def test_readers_that_overlap_do_not_keep_a_writer_out(tmp_path: Path) -> None:
    store = MatchStore(tmp_path / "matches.duckdb", timeout=15)
    store.counts()
    stop = threading.Event()
    reading = threading.Barrier(4, timeout=15)

    def keep_reading() -> None:
        with store.reading():
            reading.wait()
            time.sleep(0.05)
        while not stop.is_set():
            with store.reading():
                time.sleep(0.05)

    threads = [threading.Thread(target=keep_reading) for _ in range(3)]
    for thread in threads:
        thread.start()
    reading.wait()
    try:
        assert store.append(GAME, map(result, batches(0)[0])) == BATCH
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_lock_dies_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "matches.duckdb"
    store = MatchStore(path, timeout=20)
    assert store.append(GAME, map(result, batches(0)[0])) == BATCH
    holder = Program("hold", path)
    assert next(iter(holder.lines())) == b"holding\n"
    holder.kill()
    assert store.append(GAME, map(result, batches(0)[1])) == BATCH


def hold(path: Path) -> None:
    """Takes the store for itself, with work half done, and keeps it."""
    with MatchStore(path).writing() as connection:
        connection.execute("delete from matches")
        print("holding", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]), int(sys.argv[3]))
    else:
        {"read": read, "hold": hold}[sys.argv[1]](Path(sys.argv[2]))
