"""What a server of the arena takes: requests a second, latency, and a CSRO run against it.

    python benchmarks/serving.py requests --seconds 10 --clients 8
    python benchmarks/serving.py submissions --count 40 --authors 8
    python benchmarks/serving.py csro --iterations 3

The server is a process of its own on this machine (`arena serve`), so clients and server share its
processors.  `csro` runs the same run here and there, says whether the two are identical, and how
many requests an iteration took.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean

import httpx2
import numpy as np

from arena import Arena, game
from arena.home import open_home
from arena.remote import RemoteArena
from population.config import OracleChoice, RunConfig
from population.launch import carry_out
from population.logbook import at_work
from population.matches import Matches
from population.measuring import Measuring
from population.oracles import Spending, workshop
from population.runs import Runs
from registry.rights import Role

ROOT = Path(__file__).resolve().parent.parent
KEY = bytes(range(32))
ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'  # {}\n"


@contextmanager
def served(home: Path, names: list[tuple[str, Role]]) -> Iterator[tuple[str, dict[str, str]]]:
    """`arena serve` in a process of its own; yields its address and the accounts' tokens."""
    tokens = dict(open_home(home).registry.add_accounts(names))
    words = ["serve", "--home", str(home), "--port", "0", "--no-pages", "--no-player"]
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "arena",
            *words,
            "--author-submissions",
            "100000",
            "--rate",
            "1000000",
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[-1], tokens
    finally:
        process.terminate()
        process.wait()


def at_once(clients: int, work: Callable[[int], None]) -> None:
    """Runs the same work in several threads."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def said(what: str, taken: list[float], seconds: float) -> None:
    """One line: how many a second, and how long one took."""
    p50, p99 = np.percentile(np.array(taken) * 1000, [50, 99])
    rate = len(taken) / seconds
    print(f"{what:34} {rate:8.1f} a second   p50 {p50:8.1f} ms   p99 {p99:8.1f} ms", flush=True)


def requests(folder: Path, seconds: float, clients: int) -> None:
    """The leaderboard: polled where nothing has changed, and read in full."""
    home = folder / "home"
    with Arena(home, seed_key=KEY, sandbox="process") as arena:
        arena.play("rrps", 2)
    with served(home, [("boss", Role.OPERATOR)]) as (address, tokens):
        headers = {"Authorization": f"Bearer {tokens['boss']}"}
        board = f"{address}/api/v1/leaderboard?game=rrps"
        tag = httpx2.get(board, headers=headers, timeout=60).headers["ETag"]
        polled = headers | {"If-None-Match": tag}
        for what, told in (("polled (304)", polled), ("read in full", headers)):
            for count in (1, clients):
                taken = asked(board, told, count, seconds)
                said(f"leaderboard, {what}, {count} clients", taken, seconds)


def asked(url: str, headers: dict[str, str], clients: int, seconds: float) -> list[float]:
    """Times of all answers to the same question, asked again and again by several clients."""
    taken: list[float] = []
    until = time.perf_counter() + seconds

    def ask(_: int) -> None:
        with httpx2.Client(headers=headers, timeout=60) as client:
            while (began := time.perf_counter()) < until:
                assert client.get(url).status_code in (200, 304)
                taken.append(time.perf_counter() - began)

    at_once(clients, ask)
    return taken


def submissions(folder: Path, count: int, authors: int) -> None:
    """Submissions of several authors at once: taken in, and registered after their trial."""
    home = folder / "home"
    Arena(home, seed_key=KEY, sandbox="process").close()
    names = [f"author{number}" for number in range(authors)]
    roster = [(name, Role.AUTHOR) for name in names]
    with served(home, roster) as (address, tokens):
        accepted: list[float] = []
        done: list[float] = []
        began = time.perf_counter()

        def hand_in(number: int) -> None:
            name = names[number]
            headers = {"Authorization": f"Bearer {tokens[name]}"}
            with httpx2.Client(base_url=address, headers=headers, timeout=600) as client:
                for place in range(count // authors):
                    source = ROCK.format(f"{name} {place}")
                    document = {"source": {"str": source}, "game": "rrps", "name": f"{name}/rock"}
                    start = time.perf_counter()
                    job = client.post("/api/v1/submit", json=document).json()
                    accepted.append(time.perf_counter() - start)
                    while job["state"] in ("waiting", "running"):
                        job = client.get(f"/api/v1/jobs/{job['job']}?wait=20").json()
                    assert job["result"]["Enrolled"]["created"], job
                    done.append(time.perf_counter() - start)

        at_once(authors, hand_in)
        seconds = time.perf_counter() - began
        said(f"submission taken in, {authors} authors", accepted, seconds)
        said("submission registered", done, seconds)
    stored = open_home(home).registry.find("rrps", name=None)
    mine = [one for one in stored if one.author in names]
    print(f"registered {len(mine)} of {count // authors * authors}", flush=True)


def csro(folder: Path, iterations: int) -> None:
    """The same run here and there."""
    config = RunConfig("leduc", OracleChoice(), iterations, 1, matches=Measuring(8, 8))
    told, spent = [], []
    first = folder / "here"
    with Arena(first, seed_key=KEY, sandbox="process") as arena:
        spent.append(run(arena, first, config))
    told.append(kept(first))
    second, runs = folder / "there", folder / "runs"
    Arena(second, seed_key=KEY, sandbox="process").close()
    runs.mkdir()
    sent: Counter[str] = Counter()
    waited: dict[str, float] = {}
    with served(second, [("ada", Role.AUTHOR)]) as (address, tokens):
        made: type = RemoteArena
        with made(address, tokens["ada"]) as arena:
            began: list[float] = [0.0]

            def asking(request: httpx2.Request) -> None:
                sent[request.url.path] += 1
                began[0] = time.perf_counter()

            def answered(response: httpx2.Response) -> None:
                path = response.request.url.path
                waited[path] = waited.get(path, 0.0) + time.perf_counter() - began[0]

            arena._client.event_hooks = {"request": [asking], "response": [answered]}
            spent.append(run(arena, runs, config))
    told.append(kept(runs))
    here, there = (mean(one) for one in spent)
    print(f"identical: {told[0] == told[1]}")
    print(f"seconds an iteration: here {here:.2f}, there {there:.2f}, more {there - here:+.2f}")
    print(f"requests: {sum(sent.values())}, {sum(sent.values()) / iterations:.1f} an iteration")
    print(json.dumps(dict(sent.most_common())))
    print(json.dumps({path: round(value, 2) for path, value in waited.items()}))


def run(arena: Arena, folder: Path, config: RunConfig) -> list[float]:
    """A run; seconds of each of its iterations."""
    runs = Runs(folder)
    record = runs.start("ada-1", config)
    with at_work(runs, "ada-1"):
        matches = Matches(arena, game(config.game), config.vouched)
        shop = workshop(runs, record, Spending())
        carry_out(runs, "ada-1", config, shop.oracle, shop.authorship.lineage_of, matches)
        shop.close()
    return [one.effort.seconds for one in runs.iterations("ada-1")]


def kept(folder: Path) -> list[object]:
    """What two equal runs have in common: all but times."""
    runs = Runs(folder)
    record = runs.get("ada-1")
    return [
        (record.initial, record.final, record.mixture),
        *(
            (one.k, one.sigma, one.accepted, one.u, one.attempts)
            for one in runs.iterations("ada-1")
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["requests", "submissions", "csro"])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--authors", type=int, default=8)
    parser.add_argument("--iterations", type=int, default=3)
    told = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="arena-serving-"))
    try:
        if told.what == "requests":
            requests(folder, told.seconds, told.clients)
        elif told.what == "submissions":
            submissions(folder, told.count, told.authors)
        else:
            csro(folder, told.iterations)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
