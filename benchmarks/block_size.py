"""What it saves to cut shared sandbox blocks by what policies take, instead of by a fixed number.

    python benchmarks/block_size.py [--walls process,gvisor] [--policies trivial,predictor]

Round robins of repeated rock-paper-scissors among 24 vouched policies through `Arena.play`, stored:
trivial ones, and predictors of the grammar.  "256" is every block of 256 matches, as it was once;
"demand" is how the arena cuts them now (`arena.demand`).  Four matches a pair are played before,
so that workers are warm and demands known.  Everything in turn; memory is the most that all
processes held, where the kernel tells (not of gVisor's).
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
from sandbox_cost import TRIVIAL, megabytes
from sandbox_cost import sources as numbered

from arena import Arena, plan
from arena.demand import Demand
from oracle.grammar import rrps
from oracle.grammar.genome import write_source

POLICIES = 24
CUTS = {"256": (256, Demand(1e9, 1e9)), "demand": (plan.BLOCK_MATCHES, plan.BLOCK_DEMAND)}


def sources(what: str) -> list[str]:
    """Programs that are all different."""
    if what == "trivial":
        return list(numbered(TRIVIAL, POLICIES, 0))
    rng = random.Random(1)
    found: dict[str, None] = {}
    while len(found) < POLICIES:
        found[write_source(rrps.single_genome(rng))] = None
    return list(found)


@contextmanager
def most_memory() -> Iterator[list[float]]:
    """The most memory so far, in a list of one number, looked at twice a second."""
    most, over = [0.0], threading.Event()

    def watch() -> None:
        while not over.wait(0.5):
            most[0] = max(most[0], sum(megabytes(os.getpid()).values()))

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
@click.option("--policies", default="trivial,predictor", show_default=True)
@click.option("--matches", default=16, show_default=True, help="Of a pair of trivial policies.")
@click.option("--times", default=2, show_default=True)
def main(walls: str, policies: str, matches: int, times: int) -> None:
    """Prints rates by wall, policies and cut."""
    click.echo(f"{'wall':10s} {'policies':10s} {'cut':8s} matches/s        MiB")
    for wall in walls.split(","):
        for what in policies.split(","):
            count = matches if what == "trivial" else max(matches // 8, 2)
            for _ in range(times):
                for cut in CUTS:
                    line = measured(wall, what, cut, count)
                    click.echo(f"{wall:10s} {what:10s} {cut:8s} {line}")
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
