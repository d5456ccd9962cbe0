"""What it saves to cut shared sandbox blocks by what policies take, instead of by a fixed number.

    python benchmarks/block_size.py [--walls process,gvisor] [--matches 16]

Round robins of repeated rock-paper-scissors among 24 vouched policies through `Arena.play`, stored:
trivial ones, and predictors of the grammar.  "256" is every block of 256 matches, as it was once;
"demand" is how the arena cuts them now (`arena.demand`).  Two matches a pair are played before, so
that workers are warm and demands known.  Everything in turn, twice; memory is the most that all
boxes' processes held, where the kernel tells (not of gVisor's).
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from arena import Arena, plan
from arena.demand import Demand
from oracle.grammar import rrps
from oracle.grammar.genome import write_source

TRIVIAL = """
class Agent:
    number = {number}
    def act(self, observation):
        return "ROCK" if observation["opponent_action"] is None else "PAPER"
"""
POLICIES = 24
CUTS = {"256": (256, Demand(1e9, 1e9)), "demand": (plan.BLOCK_MATCHES, plan.BLOCK_DEMAND)}


def sources(what: str) -> list[str]:
    """Programs that are all different."""
    if what == "trivial":
        return [TRIVIAL.format(number=number) for number in range(POLICIES)]
    rng = random.Random(1)
    found: dict[str, None] = {}
    while len(found) < POLICIES:
        found[write_source(rrps.single_genome(rng))] = None
    return list(found)


def held_mebibytes(above: int) -> float:
    """Memory of all processes below one, shared pages counted once."""
    total, waiting = 0, [above]
    while waiting:
        pid = waiting.pop()
        try:
            waiting += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        except OSError:
            continue  # it has ended meanwhile
    return total / 1024


@contextmanager
def most_memory() -> Iterator[list[float]]:
    """The most memory so far, in a list of one number, looked at twice a second."""
    most, over = [0.0], threading.Event()

    def watch() -> None:
        while not over.wait(0.5):
            most[0] = max(most[0], held_mebibytes(os.getpid()))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield most
    finally:
        over.set()
        thread.join()


def measured(wall: str, what: str, cut: str, matches: int) -> str:
    """Matches a second, and memory."""
    plan.BLOCK_MATCHES, plan.BLOCK_DEMAND = CUTS[cut]
    with (
        tempfile.TemporaryDirectory() as folder,
        Arena(Path(folder) / "home", sandbox=wall, seed_key=bytes(32)) as arena,
    ):
        for number, source in enumerate(sources(what)):
            arena.submit(source, "rrps", f"me/p{number}")
        mine = [one.digest for one in arena.policies("rrps", kind="python") if "me/" in one.ref]
        arena.play("rrps", 4, only=mine, shared=True)
        with most_memory() as most:
            started = time.perf_counter()
            report = arena.play("rrps", 4 + matches, only=mine, shared=True)
            rate = report.played / (time.perf_counter() - started)
    return f"{rate:10.1f} {most[0]:10.0f}"


@click.command()
@click.option("--walls", default="process,gvisor", show_default=True)
@click.option("--matches", default=16, show_default=True, help="Of a pair of trivial policies.")
@click.option("--times", default=2, show_default=True)
def main(walls: str, matches: int, times: int) -> None:
    """Prints rates by wall, policies and cut."""
    click.echo(f"{'wall':10s} {'policies':10s} {'cut':8s} matches/s        MiB")
    for wall in walls.split(","):
        for what, count in (("trivial", matches), ("predictor", max(matches // 8, 2))):
            for _ in range(times):
                for cut in CUTS:
                    line = measured(wall, what, cut, count)
                    click.echo(f"{wall:10s} {what:10s} {cut:8s} {line}")
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
