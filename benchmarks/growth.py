"""How cost grows: leaderboards and payoffs over thousands of policies, solvers, a large registry.

    python benchmarks/growth.py home --policies 2000 --matches 50   over matches that are made up
    python benchmarks/growth.py solvers                             25 to 1,000 policies
    python benchmarks/growth.py registry --policies 1000000         list, search and look-up

`home` writes what the store would hold after so many matches of every pair (2,000 policies and 50
matches a pair are 100 million), without moves, and prints the seconds of what people ask for: at
first, again, after another two matches of one pair were played, and after a newcomer met everybody.
Seconds of processor time stand behind in brackets: on a machine that others use too they tell more.
Each is measured in a process of its own, with its peak of memory.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
import duckdb
import numpy as np
import pyarrow as pa

from arena import Arena
from arena.analysis.meta_strategy import SOLVERS
from registry import Registry
from registry.values import Submission

GAME = "rrps"
STEPS = ("at first", "again", "after one more", "after a newcomer")
"""When something is asked: of a home that was just opened, once more, after matches of one pair,
and after those of a new policy against all others."""
NEWCOMER_MATCHES = 8
"""Of a newcomer against each other policy."""
SPREAD = 220.0
"""Standard deviation of a match's return, in throws; the differences in skill are as large."""


MATCHES = """
    insert into matches
    select uuid(), pair, ?, floor(random() * 401) - 200, 'completed', null, '', ''::blob,
           'native', 4000, 1000, 1000, now()::timestamp, 1, 1
    from listed
"""


def entrant(number: int) -> Submission:
    """A program that differs from all others."""
    source = f"class Agent:\n    def act(self, observation):\n        return 'ROCK'  # {number}\n"
    return Submission(GAME, f"made/p{number}", "python", source)


def aggregates(low: np.ndarray, high: np.ndarray, matches: int, first: int) -> pa.Table:
    """Two rows of `tallies` for each pair, as after so many matches with normal returns."""
    rng = np.random.default_rng(first)
    pairs, half = len(low), matches // 2
    skill = np.random.default_rng(7).normal(0, SPREAD, int(max(low.max(), high.max())) + 1)
    mean = np.repeat(skill[low] - skill[high], 2)
    total = np.round(mean * half + rng.normal(0, SPREAD * np.sqrt(half), 2 * pairs))
    squares = np.round(total**2 / half + SPREAD**2 * (half - 1))
    wins = np.clip(np.round(half * (0.5 + mean / 2000)), 0, half).astype(np.int64)
    columns = {
        "pair": np.repeat(np.arange(first, first + pairs), 2).astype(np.int32),
        "half": np.tile([0, 1], pairs).astype(np.uint8),
        "reach": np.full(2 * pairs, matches, np.int32),
        "matches": np.full(2 * pairs, half),
        "total": total,
        "total_squares": squares,
        "deals": np.full(2 * pairs, half),
        "deal_squares": squares,
        "deal_cross": total,
        "deal_sizes": np.full(2 * pairs, half),
        "wins": wins,
        "draws": np.zeros(2 * pairs, np.int64),
        "losses": half - wins,
        "forfeits_low": np.zeros(2 * pairs, np.int64),
        "forfeits_high": np.zeros(2 * pairs, np.int64),
        "micros": np.full(2 * pairs, half * 4000),
    }
    return pa.table(columns)


def fill(path: Path, digests: list[str], pairs: list[tuple[int, int]], matches: int) -> None:
    """Adds policies and the aggregates of pairs (places among the digests) to a store's file."""
    with duckdb.connect(str(path)) as store:
        found = dict(store.execute("select digest, policy from policies").fetchall())
        number = {digest: found.get(digest) for digest in digests}
        fresh = [digest for digest in digests if number[digest] is None]
        start = max(found.values(), default=-1) + 1
        number |= {digest: start + place for place, digest in enumerate(fresh)}
        store.register(
            "rows", pa.table({"policy": [number[one] for one in fresh], "digest": fresh})
        )
        store.execute("insert into policies select * from rows")
        ends = np.array([[number[digests[a]], number[digests[b]]] for a, b in pairs], np.int32)
        low, high = ends.T
        ((first,),) = store.execute("select coalesce(max(pair), -1) + 1 from pairs").fetchall()
        ((game,),) = store.execute("select game from games where name = ?", [GAME]).fetchall()
        listed = pa.table(
            {
                "pair": np.arange(first, first + len(low), dtype=np.int32),
                "game": np.full(len(low), game, np.int32),
                "low": low,
                "high": high,
            }
        )
        store.register("listed", listed)
        store.execute("insert into pairs select * from listed")
        store.register("sums", aggregates(low, high, matches, first))
        store.execute("insert into tallies select * from sums")
        store.register(
            "walls", pa.table({"pair": listed["pair"], "matches": np.full(len(low), matches)})
        )
        store.execute("insert into isolation select pair, 'native', matches, 0 from walls")
        for repetition in range(matches):  # as they are played: all pairs, then all pairs again
            store.execute(MATCHES, [repetition])
        store.execute(
            "update games set matches = matches + ? where game = ?", [len(low) * matches, game]
        )


def make(folder: Path, policies: int, matches: int) -> None:
    """A home with that many made-up policies, all of whom met."""
    with Arena(folder) as arena:
        house = [one.digest for one in arena.policies(GAME, kind="native")]
        arena.play(GAME, 2, only=house[:2])  # makes the file
        made = arena.home.registry.submit_many([entrant(n) for n in range(policies)])
        digests = sorted({*house, *(one.version.digest for one in made)})
        path = arena.home.store.path
    met = {digests.index(one) for one in house[:2]}
    pairs = [pair for pair in itertools.combinations(range(len(digests)), 2) if set(pair) != met]
    fill(path, digests, pairs, matches)


def play_on(arena: Arena) -> None:
    """Plays two more matches of the pair that really met."""
    pair = [one.ref for one in arena.policies(GAME, kind="native")[:2]]
    before = len(arena.matches(GAME, pair[0], against=pair[1], limit=None))
    arena.play(GAME, before + 2, only=pair)


def take_in(arena: Arena) -> None:
    """One more made-up policy, which met everybody."""
    known = [one.digest for one in arena.policies(GAME)]
    (newcomer,) = arena.home.registry.submit_many([entrant(len(known))])
    digests = sorted({*known, newcomer.version.digest})
    own = digests.index(newcomer.version.digest)
    pairs = [(min(own, one), max(own, one)) for one in range(len(digests)) if one != own]
    fill(arena.home.store.path, digests, pairs, NEWCOMER_MATCHES)


BEFORE: dict[str, Callable[[Arena], None]] = {
    "after one more": play_on,
    "after a newcomer": take_in,
}
"""What happens before a step."""

TASKS: dict[str, Callable[[Arena], object]] = {
    "leaderboard": lambda arena: arena.leaderboard(GAME),
    "leaderboard, all columns": lambda arena: arena.leaderboard(GAME, more=True),
    "payoffs of everybody": lambda arena: arena.payoffs(GAME),
    "payoffs of 20": lambda arena: arena.payoffs(
        GAME, [one.digest for one in arena.policies(GAME)[:20]]
    ),
    "list of policies": lambda arena: arena.policies(GAME),
}


@click.group()
def main() -> None:
    """Measures how cost grows."""


@main.command()
@click.option("--policies", default=2_000, show_default=True)
@click.option("--matches", default=50, show_default=True, help="Of a pair.")
@click.option("--folder", type=click.Path(path_type=Path), help="Keep the home there.")
def home(policies: int, matches: int, folder: Path | None) -> None:
    """Leaderboards and payoffs of a large home."""
    with tempfile.TemporaryDirectory() as passing:
        place = folder or Path(passing) / "home"
        if not place.exists():
            started = time.perf_counter()
            make(place, policies, matches)
            print(f"made in {time.perf_counter() - started:.0f} s", flush=True)
        for task in TASKS:
            words = [sys.executable, __file__, "one", str(place), task]
            run = subprocess.run(words, capture_output=True, text=True)
            if run.returncode:
                print(f"{task:28s} failed: {run.stderr.strip().splitlines()[-1]}", flush=True)
                continue
            told = json.loads(run.stdout.splitlines()[-1])
            seconds = ", ".join(
                f"{step} {told[step][0]:6.2f} s ({told[step][1]:.2f})" for step in STEPS
            )
            print(f"{task:28s} {seconds}, {told['mib']:6.0f} MiB", flush=True)


@main.command(hidden=True)
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("task")
def one(folder: Path, task: str) -> None:
    """Measures one task in this process."""
    spent = []
    with Arena(folder) as arena:
        for step in STEPS:
            if step in BEFORE:
                BEFORE[step](arena)
            started, processor = time.perf_counter(), time.process_time()
            TASKS[task](arena)
            spent.append((time.perf_counter() - started, time.process_time() - processor))
    print(json.dumps(dict(zip(STEPS, spent, strict=True)) | {"mib": peak()}))


def peak() -> float:
    """The most memory that this program had, in MiB.

    Not `getrusage`: there a process begins with the peak of who started it, which made the home.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    (kib,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(kib) / 1024


@main.command()
@click.option("--sizes", default="25,100,300,1000", show_default=True)
def solvers(sizes: str) -> None:
    """Solvers of made-up meta-games: skill, cycles and noise."""
    rng = np.random.default_rng(3)
    for size in map(int, sizes.split(",")):
        skill, turn = rng.normal(0, 150, size), rng.uniform(0, 2 * np.pi, size)
        mean = skill[:, None] - skill + 120 * np.sin(turn[:, None] - turn)
        noise = np.triu(rng.normal(0, 20, (size, size)), 1)
        mean = np.clip(mean + noise - noise.T, -1000, 1000)
        stderr = np.full((size, size), 20.0)
        np.fill_diagonal(stderr, 0.0)
        print(f"{size} policies:", end="", flush=True)
        for name, solve in SOLVERS.items():
            started = time.perf_counter()
            solve(mean, stderr)
            print(f"  {name} {time.perf_counter() - started:.2f} s", end="", flush=True)
        print(flush=True)


@main.command()
@click.option("--policies", default=1_000_000, show_default=True)
@click.option("--folder", type=click.Path(path_type=Path), help="Keep the registry there.")
def registry(policies: int, folder: Path | None) -> None:
    """A registry of so many policies: pages of the list, searches, look-ups, one more."""
    with tempfile.TemporaryDirectory() as passing:
        path = (folder or Path(passing)) / "registry.sqlite"
        with Registry.open(path) as known:
            started = time.perf_counter()
            there = known.count(GAME)
            for start in range(there, policies, 20_000):
                stop = min(start + 20_000, policies)
                known.submit_many([entrant(number) for number in range(start, stop)])
            print(f"made in {time.perf_counter() - started:.0f} s", flush=True)
            asked: dict[str, Callable[[], object]] = {
                "first 50": lambda: known.find(GAME, limit=50),
                "count": lambda: known.count(GAME),
                "search": lambda: known.find(GAME, search="p77777", limit=50),
                "look-up": lambda: known.get(GAME, "made/p4242"),
                "one more": lambda: known.submit(entrant(policies + 1)),
            }
            for name, ask in asked.items():
                started = time.perf_counter()
                ask()
                print(f"{name:12s} {time.perf_counter() - started:.3f} s", flush=True)


if __name__ == "__main__":
    main()
