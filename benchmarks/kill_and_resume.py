"""Kills `arena play` at random moments and resumes it, then compares with an uninterrupted run.

    python benchmarks/kill_and_resume.py [--kills 20]

A kill comes up to three seconds after the reader has seen the first match of that process, so each
falls into its work, however fast the machine is.  The reader looks at the store all the while:
whatever it has seen once must stay.  Prints how many matches were stored when, and fails where one
was lost, doubled, or came out differently, or where a process was done before it was killed.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from itertools import combinations
from pathlib import Path

from arena import Arena, game

BOTS = 16
"""The first so many of the house, in alphabetical order."""
LATEST = 3.0
"""Seconds between the first match of a process that is seen and the kill, at most."""
SEED_KEY = bytes(32)
"""Of both homes: under the same key a match is the same."""


def chosen(arena: Arena) -> list[str]:
    """Digests of the bots that play."""
    return [bot.digest for bot in arena.policies("rrps", kind="native")[:BOTS]]


def stored(arena: Arena) -> list[str]:
    """Ids of all stored matches."""
    return [row.id for row in arena.matches("rrps", limit=None)]


def table_of(arena: Arena) -> dict[str, tuple[object, ...]]:
    """Every stored match: id to returns, end and moves."""
    table: dict[str, tuple[object, ...]] = {}
    for pair in combinations(chosen(arena), 2):
        for result in arena.home.store.meetings(game("rrps"), pair):
            table[result.match.id] = (result.returns, result.termination, result.moves)
    return table


def sums_of(arena: Arena) -> dict[tuple[object, ...], dict[str, object]]:
    """What the store keeps of each pair and half of its deals, but for times."""
    rows = arena.home.store.pair_stats("rrps", 1).drop(["seconds"]).to_pylist()
    return {(row["low"], row["high"], row["half"]): row for row in rows}


def kill_once(arena: Arena, matches: int, rng: random.Random, seen: set[str]) -> int:
    """Plays until a random moment of its work; returns how many matches are stored after that."""
    only = [word for digest in chosen(arena) for word in ("--only", digest)]
    command = [sys.executable, "-m", "arena", "play", "--game", "rrps", *only]
    process = subprocess.Popen(
        [*command, "--matches", str(matches), "--home", str(arena.home.path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    seen |= set(stored(arena))
    before, delay, moment = len(seen), rng.uniform(0.0, LATEST), float("inf")
    while time.monotonic() < moment and process.poll() is None:
        seen |= set(stored(arena))
        if len(seen) > before:
            moment = min(moment, time.monotonic() + delay)
        time.sleep(0.1)
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it was done: ask for more --matches"
    rows = stored(arena)
    assert len(rows) == len(set(rows)), "a match is stored twice"
    assert seen <= set(rows), f"{len(seen - set(rows))} matches that a reader saw are lost"
    return len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--matches", type=int, default=80, help="a pair")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        killed, whole = (
            Arena(Path(folder) / name, seed_key=SEED_KEY) for name in ("killed", "whole")
        )
        seen: set[str] = set()
        for number in range(1, options.kills + 1):
            there = kill_once(killed, options.matches, rng, seen)
            print(f"kill {number:2}: {there:6} stored", flush=True)
        with killed, whole:
            last = killed.play("rrps", options.matches, only=chosen(killed))
            print(f"resumed: {last.played} played, {last.skipped} were there")
            whole.play("rrps", options.matches, only=chosen(whole))
        assert table_of(killed) == table_of(whole), "the tables differ"
        assert sums_of(killed) == sums_of(whole), "the sums of pairs differ"
        print(f"identical: {len(table_of(killed))} matches, none lost, none doubled")


if __name__ == "__main__":
    sys.exit(main())
