"""A server under load, and one that is killed: is anything that was acknowledged lost, or doubled?

    python benchmarks/serving_faults.py load [--authors 200] [--submissions 1000] [--minutes 60]
    python benchmarks/serving_faults.py kills [--kills 20]

`load` has authors hand in programs at random moments while readers look at leaderboards, at the
rate of so many submissions in so many minutes.  `kills` does the same in a hurry while the server,
its PostgreSQL or one of its workers is killed with SIGKILL and started again; clients are told
nothing and go on.  Both end with an error where something was lost or doubled.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import click
import psycopg

from arena import Arena, Enrolled
from arena.remote import RemoteArena
from registry.rights import Role

GAME = "rrps"
SOURCE = """
import random

class Agent:
    share = {share}
    def act(self, observation):
        return "ROCK" if random.random() < self.share else random.choice(["PAPER", "SCISSORS"])
"""
TIMEOUT_SECONDS = 300.0
"""Seconds for which a client asks again."""
PAUSE = 5.0
"""Seconds between two looks of a reader."""


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Postgres:
    """A database server of our own that can be killed."""

    folder: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Of its one database."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        (programs,) = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1:]
        user = "postgres" if os.geteuid() == 0 else None
        data = self.folder / "data"
        if not data.exists():
            if user:
                shutil.chown(self.folder, user)
            words = [programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust"]
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL, user=user)
        words = [programs / "postgres", "-D", data, "-h", "127.0.0.1", "-p", str(self.port)]
        deadline = time.monotonic() + 60
        while True:  # what its killed parent left behind holds the data for a moment
            self.process = subprocess.Popen(
                [*words, "-k", ""], user=user, stderr=subprocess.DEVNULL, cwd="/"
            )
            while self.process.poll() is None:
                with suppress(psycopg.OperationalError), psycopg.connect(self.url):
                    return
                time.sleep(0.1)
            assert time.monotonic() < deadline, "PostgreSQL did not start"
            time.sleep(0.5)

    def kill(self) -> None:
        """As a power cut would: nothing is written any more."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()


@dataclass
class Hosted:
    """A home that is served by a process of its own."""

    home: Path
    registry: str | None
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Of the server."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Starts it; clients wait for themselves."""
        words = f"serve --home {self.home} --port {self.port} --no-pages --matches 2"
        command = [str(Path(sys.executable).with_name("arena")), *words.split()]
        more = ["--sandbox", "process", "--workers", "2", "--author-submissions", "100000"]
        if self.registry:
            more += ["--registry", self.registry]
        with (self.home.parent / "server.log").open("ab") as log:
            self.process = subprocess.Popen([*command, *more], stdout=log, stderr=log)

    def kill(self) -> None:
        """Kills it in the middle of whatever it does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def kill_a_worker(self, rng: random.Random) -> bool:
        """Kills one of its worker processes; False where it has none now."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        with suppress(OSError):
            pids = [int(pid) for one in children for pid in one.read_text().split()]
            if pids:
                os.kill(rng.choice(pids), signal.SIGKILL)
                return True
        return False


@dataclass
class Seen:
    """What clients were told."""

    submitted: dict[str, str] = field(default_factory=dict)
    """Digest by name, as acknowledged."""
    matches: set[str] = field(default_factory=set)
    seconds: dict[str, list[float]] = field(
        default_factory=lambda: {"submit": [], "leaderboard": []}
    )
    faults: list[str] = field(default_factory=list)


def hand_in(
    hosted: Hosted, token: str, name: str, moments: list[float], seen: Seen, began: float
) -> None:
    """One author: hands in a program at each moment."""
    with RemoteArena(hosted.address, token, timeout=TIMEOUT_SECONDS) as arena:
        for number, moment in enumerate(moments):
            time.sleep(max(0.0, began + moment - time.monotonic()))
            share = random.Random(f"{name} {number}").random()
            started = time.monotonic()
            try:
                told = arena.submit(SOURCE.format(share=share), GAME, f"{name}/p{number}")
            except Exception as error:  # noqa: BLE001 - counted, and the run fails
                seen.faults.append(f"submit: {type(error).__name__}: {error}")
                continue
            if not isinstance(told, Enrolled):
                seen.faults.append(f"submit: {told}")
                continue
            seen.seconds["submit"].append(time.monotonic() - started)
            seen.submitted[f"{name}/p{number}"] = told.version.digest


def look(hosted: Hosted, token: str, stop: threading.Event, seen: Seen) -> None:
    """One reader: looks at the leaderboard and the newest matches until it is told to stop."""
    with RemoteArena(hosted.address, token, timeout=TIMEOUT_SECONDS) as arena:
        while not stop.wait(PAUSE * random.Random(id(seen)).uniform(0.5, 1.5)):
            try:
                started = time.monotonic()
                arena.leaderboard(GAME)
                seen.seconds["leaderboard"].append(time.monotonic() - started)
                seen.matches |= {row.id for row in arena.matches(GAME, limit=200)}
            except Exception as error:  # noqa: BLE001 - counted, and the run fails
                seen.faults.append(f"read: {type(error).__name__}: {error}")


@contextmanager
def everybody(
    hosted: Hosted, tokens: dict[str, str], submissions: int, seconds: float, readers: int
) -> Iterator[tuple[Seen, list[threading.Thread]]]:
    """Authors and readers at work; readers end with the block."""
    rng, seen, stop = random.Random(1), Seen(), threading.Event()
    authors = [name for name in tokens if name != "reader"]
    moments: dict[str, list[float]] = {name: [] for name in authors}
    for moment in sorted(rng.uniform(0, seconds) for _ in range(submissions)):
        moments[rng.choice(authors)].append(moment)
    began = time.monotonic()
    writing = [
        threading.Thread(target=hand_in, args=(hosted, tokens[name], name, times, seen, began))
        for name, times in moments.items()
        if times
    ]
    reading = [
        threading.Thread(target=look, args=(hosted, tokens["reader"], stop, seen))
        for _ in range(readers)
    ]
    for thread in (*writing, *reading):
        thread.start()
    try:
        yield seen, writing
        for thread in writing:
            thread.join()
    finally:
        stop.set()
        for thread in reading:
            thread.join()


def tokens_of(home: Path, registry: str | None, authors: int) -> dict[str, str]:
    """Makes the home and its accounts."""
    with Arena(home, registry=registry) as arena:
        roster = [(f"author{number}", Role.AUTHOR) for number in range(authors)]
        return dict(arena.home.registry.add_accounts([*roster, ("reader", Role.READER)]))


def account_for(home: Path, registry: str | None, seen: Seen) -> int:
    """Prints what was lost or doubled, and returns how much."""
    with Arena(home, registry=registry, create=False) as arena:
        versions = {
            f"{one.name}": one for one in arena.policies(GAME) if one.author.startswith("author")
        }
        rows = list(arena.matches(GAME, limit=None))
    lost = [
        name
        for name, digest in seen.submitted.items()
        if name not in versions or versions[name].digest != digest
    ]
    again = [one.ref for one in versions.values() if one.number != 1]
    ids = Counter(row.id for row in rows)
    repetitions = Counter((tuple(sorted(row.seats)), row.match.repetition) for row in rows)
    lost_matches = seen.matches - ids.keys()
    doubled = [one for counts in (ids, repetitions) for one, n in counts.items() if n > 1]
    click.echo(
        f"submissions acknowledged {len(seen.submitted)}, lost {len(lost)}, doubled {len(again)}; "
        f"matches stored {len(rows)}, of {len(seen.matches)} seen by readers lost "
        f"{len(lost_matches)}, doubled {len(doubled)}; requests that failed {len(seen.faults)}"
    )
    for fault in seen.faults[:5]:
        click.echo(f"  {fault}")
    return len(lost) + len(again) + len(lost_matches) + len(doubled) + len(seen.faults)


def tell_latency(seen: Seen) -> None:
    """Prints how long requests took, in seconds."""
    for what, seconds in seen.seconds.items():
        if len(seconds) > 1:
            cuts = statistics.quantiles(seconds, n=100)
            click.echo(
                f"{what:12s} {len(seconds):6d} requests, median {statistics.median(seconds):.2f} "
                f"s, 99 % within {cuts[98]:.2f} s, longest {max(seconds):.2f} s"
            )


@click.group()
def main() -> None:
    """Measures what a server holds."""


@main.command()
@click.option("--authors", default=200, show_default=True)
@click.option("--submissions", default=1_000, show_default=True)
@click.option("--minutes", default=60.0, show_default=True)
@click.option("--readers", default=20, show_default=True)
def load(authors: int, submissions: int, minutes: float, readers: int) -> None:
    """Many authors and readers at once."""
    with tempfile.TemporaryDirectory() as folder:
        hosted = Hosted(Path(folder) / "home", None)
        tokens = tokens_of(hosted.home, None, authors)
        hosted.start()
        try:
            with everybody(hosted, tokens, submissions, 60 * minutes, readers) as (seen, _):
                pass
        finally:
            hosted.kill()
        tell_latency(seen)
        if account_for(hosted.home, None, seen):
            raise SystemExit("something was lost or doubled")


@main.command()
@click.option("--kills", "count", default=20, show_default=True)
@click.option("--authors", default=20, show_default=True)
@click.option("--seed", default=1, show_default=True)
def kills(count: int, authors: int, seed: int) -> None:
    """The server, its database and its workers are killed at random moments."""
    rng = random.Random(seed)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        (folder / "postgres").mkdir()
        postgres = Postgres(folder / "postgres")
        postgres.start()
        stack.callback(postgres.kill)
        hosted = Hosted(folder / "home", postgres.url)
        tokens = tokens_of(hosted.home, postgres.url, authors)
        hosted.start()
        stack.callback(hosted.kill)
        done: Counter[str] = Counter()
        seconds = 6.0 * count
        with everybody(hosted, tokens, 5 * count, seconds, 3) as (seen, writing):
            while sum(done.values()) < count:
                time.sleep(rng.uniform(2, 8))
                what = rng.choice(["server", "PostgreSQL", "worker"])
                if what == "server":
                    hosted.kill()
                    hosted.start()
                elif what == "PostgreSQL":
                    postgres.kill()
                    time.sleep(rng.uniform(0, 2))
                    postgres.start()
                elif not hosted.kill_a_worker(rng):
                    continue
                done[what] += 1
                alive = sum(thread.is_alive() for thread in writing)
                click.echo(f"  killed {sum(done.values())}: {what}; {alive} authors at work")
        hosted.kill()
        tell_latency(seen)
        click.echo(", ".join(f"{what} killed {times} times" for what, times in done.items()))
        if account_for(hosted.home, postgres.url, seen):
            raise SystemExit("something was lost or doubled")


if __name__ == "__main__":
    main()
