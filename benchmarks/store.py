"""Measures the match store: rows a second by batch size, the cost of its questions, its size.

    python benchmarks/store.py                      # a million matches of 44 policies
    python benchmarks/store.py --policies 1000 --matches 2000000 --move-bytes 0

Results are random but legal: what a match was does not matter to the store.  Every batch is one
transaction under the lock, opened and closed as `arena play` does it.
"""

from __future__ import annotations

import argparse
import itertools
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from arena.games.protocol import Game
from arena.schedule import Schedule
from arena.store import Audit, MatchStore, Verdict
from arena.values import Match, Result, Termination


@dataclass(frozen=True)
class DealtGame:
    """All that the store wants to know of a game: names, deals, and moves that are packed."""

    name: str = "benchmark"
    version: int = 1
    has_deals: bool = True

    def pack(self, moves: bytes) -> bytes:
        """Moves are made in their packed form."""
        return moves

    def unpack(self, packed: bytes) -> bytes:
        """They stay so."""
        return packed


GAME = cast(Game, DealtGame())


def results(matches: Iterator[Match], move_bytes: int, seed: int) -> Iterator[Result]:
    """A random result for each match; its moves do not compress."""
    rng = random.Random(seed)
    for match in matches:
        total = float(rng.randint(-150, 150))
        yield Result(
            match=match,
            season=1,
            returns=(total, -total),
            termination=Termination.COMPLETED,
            fault_seat=None,
            fault_message="",
            moves=rng.randbytes(move_bytes),
            wall="native",
            seconds=rng.uniform(0.003, 0.03),
        )


def audits(store: MatchStore, count: int) -> list[Audit]:
    """An audit of each of the newest matches."""
    now = datetime.now(UTC)
    return [
        Audit(row.match, Verdict.SAME, None, None, "", "", "native", now)
        for row in store.unaudited(GAME.name, 1, count)
    ]


def timed(work: Callable[[], object], times: int = 1) -> float:
    """Seconds of the fastest of some runs."""
    best = float("inf")
    for _ in range(times):
        started = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - started)
    return best


@dataclass(frozen=True)
class Cost:
    """What storing some rows took: wall-clock and processor seconds (all threads)."""

    rows: int
    batches: int
    wall: float
    processor: float

    def line(self, stored_before: int) -> str:
        """One line of the table."""
        return (
            f"{self.rows / self.wall:>9,.0f}  {self.rows / self.processor:>10,.0f}  "
            f"{stored_before:>13,}  {self.rows // self.batches:>9,}  "
            f"{1e3 * self.wall / self.batches:>12.1f}"
        )


def append_all(store: MatchStore, stream: Iterator[Result], count: int, batch_size: int) -> Cost:
    """Stores `count` results, each batch on its own; the making of results does not count."""
    wall, processor, batches = 0.0, 0.0, 0
    for first in range(0, count, batch_size):
        batch = list(itertools.islice(stream, min(batch_size, count - first)))
        before = time.perf_counter(), time.process_time()
        store.append(GAME, batch)
        wall += time.perf_counter() - before[0]
        processor += time.process_time() - before[1]
        batches += 1
    return Cost(count, batches, wall, processor)


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--matches", type=int, default=1_000_000, help="stored before measuring")
    parser.add_argument("--policies", type=int, default=44, help="that play a round robin")
    parser.add_argument("--move-bytes", type=int, default=500, help="packed moves of a match")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="arena-store-") as folder:
        measure(Path(folder) / "matches.duckdb", options)


def measure(path: Path, options: argparse.Namespace) -> None:
    """Fills a store and asks it everything."""
    store = MatchStore(path, game_named=lambda name: GAME)
    digests = [f"{number:064x}" for number in range(options.policies)]
    pairs = len(digests) * (len(digests) - 1) // 2
    a_pair = 2 + -(-(options.matches + 200_000) // pairs)
    wanted = dict.fromkeys(itertools.combinations(digests, 2), a_pair)
    (plan,) = Schedule.by_count(store, GAME, wanted)
    stream = results(iter(plan), options.move_bytes, options.seed)
    print("   rows/s  rows/cpu-s  stored before      batch    ms a batch")
    for stage in ("empty", "full"):
        if stage == "full":
            before = _stored(store)
            print(append_all(store, stream, options.matches, 100_000).line(before))
            size = path.stat().st_size / _stored(store)
        for batch_size, times in ((50, 40), (500, 10), (5_000, 4), (50_000, 1)):
            before = _stored(store)
            print(append_all(store, stream, batch_size * times, batch_size).line(before))
    stored = _stored(store)
    some = store.matches(GAME.name, 1, limit=1, offset=stored // 2)[0]
    audited = min(stored, 10_000)
    cost = timed(lambda: store.record_audits(audits(store, audited)))
    print(f"\n{cost:.2f} s to choose and record {audited:,} audits")
    questions: tuple[tuple[str, Callable[[], object]], ...] = (
        ("pair_stats", lambda: store.pair_stats(GAME.name, 1)),
        ("pair_stats among 10", lambda: store.pair_stats(GAME.name, 1, among=digests[:10])),
        ("fingerprint", lambda: store.fingerprint(GAME.name, 1)),
        ("counts", store.counts),
        ("get", lambda: store.get(some.id)),
        ("find by 8 digits", lambda: store.find(some.id[:8])),
        ("matches of one, 20 newest", lambda: _newest(store, some.seats[0])),
        ("matches, 100,000", lambda: store.matches(GAME.name, 1, limit=100_000)),
        ("newest 200 unaudited", lambda: store.unaudited(GAME.name, 1, 200)),
        ("audits of one", lambda: store.audits(of=some.seats[0])),
        ("audit counts", lambda: store.audit_counts(GAME.name, 1)),
        ("sharing", lambda: store.sharing(GAME.name, 1)),
        ("fingerprint by a newcomer", lambda: MatchStore(path).fingerprint(GAME.name, 1)),
        ("export", lambda: store.export(path.with_name("export"))),
        ("returns in id order", lambda: store.returns_in_id_order(GAME.name, 1)),
        ("schedule", lambda: Schedule.by_count(store, GAME, wanted)),
    )
    print(f"\nseconds  question, {stored:,} matches of {pairs:,} pairs stored")
    for name, ask in questions:
        print(f"{timed(ask, times=3):>7.3f}  {name}")
    print(f"\n{size:.0f} bytes a match, {options.move_bytes} of them moves")


def _stored(store: MatchStore) -> int:
    return sum(count.matches for count in store.counts())


def _newest(store: MatchStore, digest: str) -> object:
    return store.matches(GAME.name, 1, of=digest, newest_first=True, limit=20)


if __name__ == "__main__":
    main()
