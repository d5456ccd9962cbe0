"""How fast the pages are over 200 policies and a million matches.

    python benchmarks/dashboard_home.py make DIR      makes such a home through the store's append
    python benchmarks/dashboard_home.py measure DIR   opens its pages in headless Chromium

`measure` prints, per page, seconds from asking for it until everything is drawn: in a browser that
was never here, which loads and compiles the front end (and there, seconds to the first content),
and in the same browser again; then seconds of interactions, and the memory of the server.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

from arena import Arena
from arena.games import game as game_named
from arena.values import Match, Result, Termination
from oracle.values import Attempt, Score
from population.config import RunConfig
from population.measuring import Measuring
from population.records import Effort, Iteration, Sigma
from population.runs import Runs
from registry.values import Submission

POLICIES = 200
MATCHES = 1_000_000
BATCH = 20_000
SETTLE_SECONDS, BROWSER_SECONDS = 5.0, 1.0
"""For what a server, and a browser, do by themselves after they have started."""
FIRST_PAINT = """
    const [paint] = performance.getEntriesByName('first-contentful-paint');
    return paint.startTime / 1000;
"""
RUNS, ITERATIONS, ATTEMPTS = 12, 20, 10
SCRIPTS = 81
"""Different records of moves; the matches share them out by the difference in skill."""

SOURCE = '''"""Synthetic entrant {number}."""
import random


class Agent:
    """Throws by a fixed mixture, number {number}."""

    def act(self, observation):
        return random.choices(("ROCK", "PAPER", "SCISSORS"), ({a}, {b}, {c}))[0]
'''


def scripts(rng: np.random.Generator) -> list[tuple[float, bytes]]:
    """(return of seat 0, moves) of made-up matches, from lost to won."""
    found = []
    for lean in np.linspace(-0.6, 0.6, SCRIPTS):
        second = rng.integers(0, 3, 1000)
        beats = rng.random(1000) < 1 / 3 + abs(lean) * 0.9
        shift = np.where(beats, 1 if lean > 0 else 2, rng.integers(0, 3, 1000))
        first = (second + shift) % 3
        moves = np.stack([first, second], axis=1).astype(np.uint8).tobytes()
        returns, _ = game_named("rrps").score(0, moves, None)
        found.append((returns, moves))
    return sorted(found)


def results(digests: list[str], repetitions: int, seed: int) -> Iterator[Result]:
    """So many matches of every pair; skill grows along a hidden order."""
    rng = random.Random(seed)
    made = scripts(np.random.default_rng(seed))
    skill = {digest: rng.gauss(0.0, 1.0) for digest in digests}
    for i, one in enumerate(digests):
        for other in digests[i + 1 :]:
            for repetition in range(repetitions):
                match = Match.between("rrps", 1, one, other, repetition)
                first, second = match.seats
                lead = skill[first] - skill[second] + rng.gauss(0.0, 0.4)
                place = min(max(int((lead / 6.0 + 0.5) * SCRIPTS), 0), SCRIPTS - 1)
                won, moves = made[place]
                yield Result(
                    match,
                    1,
                    (won, 0.0 - won),
                    Termination.COMPLETED,
                    None,
                    "",
                    moves,
                    "native",
                    0.004,
                    (0.001, 0.001),
                )


def runs(home: Path, digests: list[str], seed: int) -> None:
    """Finished CSRO runs whose members are policies of the home, with made-up attempts."""
    rng, kept = random.Random(seed), Runs(home)
    for number in range(RUNS):
        config = RunConfig("rrps", iterations=ITERATIONS, seed=number, matches=Measuring(8, 24))
        name, members = f"made-{number}", rng.sample(digests, ITERATIONS + 1)
        kept.start(name, config)
        kept.begin(name, members[0])
        for k in range(1, ITERATIONS + 1):
            tried = [
                Attempt(i, members[k - 1], "", digest, Score(rng.gauss(9, 5), 2.0, ()), None, i < 3)
                for i, digest in enumerate(rng.sample(digests, ATTEMPTS))
            ]
            found = Effort(40.0, 39.0, 0.5, 240, 10)
            sigma = made_sigma(rng, members[:k])
            kept.add(name, Iteration(k, sigma, members[k], 9.0, 2.0, tuple(tried), found))
        kept.finish(name, made_sigma(rng, members), "")


def made_sigma(rng: random.Random, members: list[str]) -> Sigma:
    """Weights of at most six members."""
    heavy = {member: rng.random() for member in rng.sample(members, min(len(members), 6))}
    weights = {member: heavy.get(member, 0.0) / sum(heavy.values()) for member in members}
    return Sigma(weights, rng.random(), "linear")


@click.group()
def main() -> None:
    """Makes a large home, and measures the pages over it."""


@main.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--policies", default=POLICIES, show_default=True)
@click.option("--matches", default=MATCHES, show_default=True)
@click.option("--seed", default=0, show_default=True)
def make(folder: Path, policies: int, matches: int, seed: int) -> None:
    """Makes the home; it takes a few minutes."""
    started = time.monotonic()
    home = Arena(folder).home
    known = home.registry.find("rrps")
    entrants = [
        Submission(
            "rrps",
            f"synthetic/s{number:03}",
            "python",
            SOURCE.format(number=number, a=1 + number % 7, b=1 + number % 5, c=1 + number % 3),
            description=f"Synthetic entrant {number}.",
            labels={"group": str(number % 4)},
        )
        for number in range(policies - len(known))
    ]
    home.registry.submit_many(entrants)
    digests = sorted(version.digest for version in home.registry.find("rrps"))
    pairs = len(digests) * (len(digests) - 1) // 2
    game, batch, stored = game_named("rrps"), [], 0
    for result in results(digests, -(-matches // pairs), seed):
        batch.append(result)
        if len(batch) == BATCH:
            stored += home.store.append(game, batch)
            batch = []
            click.echo(f"\r{stored:,} matches", nl=False, err=True)
    stored += home.store.append(game, batch)
    runs(folder, digests, seed)
    size = (folder / "matches.duckdb").stat().st_size / 2**20
    click.echo(
        f"\r{len(digests)} policies, {stored:,} matches in {time.monotonic() - started:.0f} s, "
        f"{size:.0f} MiB"
    )


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
def measure(folder: Path) -> None:
    """Opens every page twice in a browser that never was here, and clicks around."""
    from dashboards.browser import Browser
    from dashboards.serving import served
    from dashboards.settings import Settings

    (newest,) = Arena(folder).matches("rrps", limit=1)
    match = newest.id
    pages = {
        "leaderboard": ("/?game=rrps", ("Filters",)),
        "payoffs": ("/payoffs?game=rrps", ("Mean return", "Cluster", "Name")),
        "exploitability": ("/exploitability?game=rrps", ("Per opponent", "Meta-game")),
        "policy": ("/policy?game=rrps", ("Source", "Lineage", "Faults", "Matches", "Results")),
        "replay": (f"/replay?game=rrps&match={match}", ("Later", "Later", "Earlier")),
        "runs": ("/runs?game=rrps", ("Mean over seeds", "Each run")),
        "run": (
            "/runs?game=rrps&run=made-0",
            ("Against the population", "Payoffs", "Refinement", "Model calls"),
        ),
        "submit": ("/submit?game=rrps", ()),
        "about": ("/about?game=rrps", ("Rules", "This arena")),
    }
    settings = Settings(folder)
    with (
        tempfile.TemporaryDirectory() as scratch,
        served(settings, Path(scratch) / "log") as address,
    ):
        time.sleep(SETTLE_SECONDS)
        for name, (path, buttons) in pages.items():
            with Browser(address) as browser:
                time.sleep(BROWSER_SECONDS)
                first = browser.open(path)
                paint = browser.run(FIRST_PAINT)
                again = browser.open(path)
                clicks = [(label, browser.click(label)) for label in buttons]
                told = ", ".join(f"{label} {seconds:.2f}" for label, seconds in clicks)
                click.echo(
                    f"{name:15} new browser {first:5.2f} s (first content {paint:.2f})   "
                    f"again {again:5.2f} s   {told}"
                )
        click.echo(f"server memory: {_memory(address)}")


def _memory(address: str) -> str:
    """Resident memory of the process that listens at an address, and its peak (Linux)."""
    port = address.rpartition(":")[2]
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            command = (status.parent / "cmdline").read_bytes().split(b"\0")
            if b"dashboards" in command and port.encode() in command:
                lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
                return f"{lines['VmRSS'].strip()}, peak {lines['VmHWM'].strip()}"
        except (OSError, KeyError):
            continue
    return "not known"


if __name__ == "__main__":
    main()
