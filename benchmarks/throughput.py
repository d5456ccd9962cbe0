"""Matches per second: the arena beside bare engine loops and beside other tournament software.

    python benchmarks/throughput.py                 the arena against bare OpenSpiel loops
    python benchmarks/throughput.py --peers         also kaggle-environments and Axelrod, which
                                                    are installed into a temporary environment

Everything runs in turn on the same machine in one go; read the ratios, not the absolute numbers.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import random
import subprocess
import sys
import tempfile
import time
import venv
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median

import pyspiel

from arena import Arena
from arena.executors.local import processors

GAME = "repeated_game(stage_game=matrix_rps(),num_repetitions=1000)"

KAGGLE = """
import sys, time
from kaggle_environments import make
n = int(sys.argv[1])
env = make("rps", configuration={"episodeSteps": 1001})
env.run(["rock", "paper"])
started = time.perf_counter()
for _ in range(n):
    env.reset()
    env.run(["rock", "paper"])
print("RATE", n / (time.perf_counter() - started))
"""

AXELROD = """
import sys, time
import axelrod
n = int(sys.argv[1])
players = (axelrod.TitForTat(), axelrod.Alternator())
started = time.perf_counter()
for seed in range(n):
    axelrod.Match(players, turns=1000, seed=seed).play()
print("RATE", n / (time.perf_counter() - started))
"""


def bare_chunk(pairs: list[tuple[str, str]]) -> int:
    """Plays bots through pyspiel.evaluate_bots and keeps nothing."""
    libc = ctypes.CDLL(None)
    game = pyspiel.load_game(GAME)
    for seed, (one, other) in enumerate(pairs):
        libc.srandom(seed)
        bots = [pyspiel.make_roshambo_bot(0, one), pyspiel.make_roshambo_bot(1, other)]
        pyspiel.evaluate_bots(game.new_initial_state(), bots, seed)
    return len(pairs)


def bare_rate(pairs: list[tuple[str, str]], cores: int) -> float:
    """Matches per second of the bare loop on all cores, process start-up not counted."""
    chunks = [pairs[i::cores] for i in range(cores)]
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        list(pool.map(bare_chunk, [pairs[:1]] * cores))
        started = time.perf_counter()
        done = sum(pool.map(bare_chunk, chunks))
        return done / (time.perf_counter() - started)


def arena_rate(matches: int, cores: int) -> tuple[float, float]:
    """Matches per second of a round robin of the 43 bots into a fresh home, storing included.

    Returns:
      The rate of the whole command, and the rate once the workers have started.
    """
    first: list[float] = []
    counts: list[int] = []

    def seen(done: int, wanted: int) -> None:
        if done:
            first.append(time.perf_counter())
            counts.append(done)

    with (
        tempfile.TemporaryDirectory() as folder,
        Arena(Path(folder) / "home", workers=cores) as arena,
    ):
        started = time.perf_counter()
        bots = [bot.digest for bot in arena.policies("rrps", kind="native")]
        report = arena.play("rrps", matches, only=bots, progress=seen)
        ended = time.perf_counter()
    steady = (counts[-1] - counts[0]) / (ended - first[0])
    return report.played / (ended - started), steady


def python_loop_rate(pairs: list[tuple[str, str]]) -> float:
    """Matches per second when the engine's bots are stepped from Python, on one core."""
    game = pyspiel.load_game(GAME)
    started = time.perf_counter()
    for one, other in pairs:
        state = game.new_initial_state()
        bots = [pyspiel.make_roshambo_bot(0, one), pyspiel.make_roshambo_bot(1, other)]
        while not state.is_terminal():
            state.apply_actions([bot.step(state) for bot in bots])
    return len(pairs) / (time.perf_counter() - started)


def peer_rates() -> dict[str, float]:
    """Matches of 1000 rounds per second of other software, trivial players, one core."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        subprocess.run(
            [python, "-m", "pip", "install", "-q", "axelrod", "kaggle-environments"], check=True
        )
        rates = {}
        for name, code, count in (
            ("kaggle-environments rps, 1000 steps", KAGGLE, 4),
            ("Axelrod Match, 1000 turns", AXELROD, 60),
        ):
            run = subprocess.run(
                [python, "-c", code, str(count)], check=True, capture_output=True, text=True
            )
            rates[name] = float(run.stdout.rpartition("RATE")[2])
        return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--matches", type=int, default=4, help="a pair, in the arena's table")
    parser.add_argument("--rounds", type=int, default=3, help="how often both loops run in turn")
    parser.add_argument("--cores", type=int, default=processors())
    parser.add_argument("--peers", action="store_true", help="measure other software too")
    options = parser.parse_args()
    names = sorted(pyspiel.roshambo_bot_names())
    pairs = list(itertools.combinations(names, 2)) * options.matches
    random.Random(0).shuffle(pairs)
    bare, whole, steady = [], [], []
    for _ in range(options.rounds):
        bare.append(bare_rate(pairs, options.cores))
        total, after_start = arena_rate(options.matches, options.cores)
        whole.append(total)
        steady.append(after_start)
    print(f"{options.cores} cores, {len(pairs)} matches a round, median of {options.rounds} rounds")
    print(f"{'loop':46} {'matches/s':>10} {'of bare':>8}")
    base = median(bare)
    rows = [
        ("bare pyspiel.evaluate_bots", base, 1.0),
        (
            "arena play, stored",
            median(whole),
            median(w / b for w, b in zip(whole, bare, strict=True)),
        ),
        (
            "  the same after the workers' start",
            median(steady),
            median(s / b for s, b in zip(steady, bare, strict=True)),
        ),
    ]
    loop = python_loop_rate(pairs[:: max(1, len(pairs) // 100)])
    rows.append(("OpenSpiel's bots stepped from Python, 1 core", loop, loop / base))
    for name, rate in (peer_rates() if options.peers else {}).items():
        rows.append((f"{name}, 1 core", rate, rate / base))
    for name, rate, ratio in rows:
        print(f"{name:46} {rate:10.1f} {ratio:8.3f}")


if __name__ == "__main__":
    sys.exit(main())
