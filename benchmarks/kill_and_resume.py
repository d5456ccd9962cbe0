"""Kills `arena play` at random moments and resumes it, then compares with an uninterrupted run.

    python benchmarks/kill_and_resume.py [--kills 20]

A reader looks at the store all the while: whatever it has seen once must stay.  Prints how many
matches were stored when, and fails where one was lost, doubled, or came out differently.
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
from pathlib import Path

from arena.play import PlayOptions, play

from arena.games import game as game_named
from arena.home import Home, open_home

BOTS = 16
"""The first so many of the house, in alphabetical order."""


def chosen(home: Home) -> list[str]:
    """Digests of the bots that play."""
    return [bot.digest for bot in home.registry.find("rrps", kind="native")[:BOTS]]


def table_of(home: Home) -> dict[str, tuple[object, ...]]:
    """Every stored match: id to returns, end and moves."""
    stored = {}
    for row in home.store.matches("rrps", 1):
        result = home.store.get(row.id)
        assert result is not None
        stored[row.id] = (result.returns, result.termination, result.moves)
    return stored


def kill_once(home: Home, matches: int, rng: random.Random, seen: set[str]) -> int:
    """Plays until a random moment; returns how many matches are stored after the kill."""
    only = [word for digest in chosen(home) for word in ("--only", digest)]
    command = [sys.executable, "-m", "arena", "play", "--game", "rrps", *only]
    process = subprocess.Popen(
        [*command, "--matches", str(matches), "--home", str(home.path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    moment = time.monotonic() + rng.uniform(0.5, 10.0)
    while time.monotonic() < moment and process.poll() is None:
        seen |= {row.id for row in home.store.matches("rrps", 1)}
        time.sleep(0.1)
    with suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    rows = [row.id for row in home.store.matches("rrps", 1)]
    assert len(rows) == len(set(rows)), "a match is stored twice"
    assert seen <= set(rows), f"{len(seen - set(rows))} matches that a reader saw are lost"
    return len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--matches", type=int, default=40, help="a pair")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    game = game_named("rrps")
    with tempfile.TemporaryDirectory() as folder:
        home = open_home(Path(folder) / "killed")
        seen: set[str] = set()
        for number in range(1, options.kills + 1):
            stored = kill_once(home, options.matches, rng, seen)
            print(f"kill {number:2}: {stored:6} stored", flush=True)
        last = play(home, game, PlayOptions(options.matches), only=chosen(home))
        print(f"resumed: {last.played} played, {last.skipped} were there")
        whole = open_home(Path(folder) / "whole")
        play(whole, game, PlayOptions(options.matches), only=chosen(whole))
        assert table_of(home) == table_of(whole), "the tables differ"
        stats = [h.store.pair_stats("rrps", 1).drop(["seconds"]).to_pylist() for h in (home, whole)]
        assert stats[0] == stats[1], "the sums of pairs differ"
        print(f"identical: {len(table_of(home))} matches, none lost, none doubled")


if __name__ == "__main__":
    sys.exit(main())
