"""What a run of CSRO costs: matches by what they were played for, calls, tokens and minutes.

    python benchmarks/run_cost.py compare --game leduc --seeds 1 --seeds 2
    python benchmarks/run_cost.py compare --oracle alpha-evolve --iterations 2 --scripted
    python benchmarks/run_cost.py compare --before DIR     # a checkout of a version before
    python benchmarks/run_cost.py of HOME RUN              # of a finished run

`compare` makes the same runs one after the other, each in processes and a home of its own: by the
rules that runs of before go on by (u and payoffs come from the matches that choose, every candidate
plays in full and on its own cards, a model is asked to the end), by those of now, and by a version
before, where one is there.  All else is as it is unless told otherwise.  The order turns from seed
to seed, as a machine's speed may change.

With `--scripted` a server on this machine speaks Gemini's protocol and answers with relatives of
the game's starter policy, without taking time.  Its tokens are characters / 4.

Matches that serve twice are counted once: the first of a fresh u are the payoffs' own, and where
the same matches choose and count, all but those of the payoffs are said to choose.  Those with the
house are an evaluation, and the trial of the first member.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import random
import resource
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import click
from prompt_tokens import relative

from arena import Arena
from arena.games import game as game_named
from arena.values import SELECTING
from population.commands import command_of
from population.config import OracleChoice, RunConfig
from population.measuring import measuring_for
from population.oracles import journal_of
from population.records import Iteration, RunRecord
from population.runs import Runs
from tests.oracle.llm_server import LLMServer

ROOT = Path(__file__).resolve().parents[1]
NAME = "measured"
KEY = bytes(range(32))
_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of Linux's prctl."""
_MOMENT_SECONDS = 2.0
PURPOSES = ("choosing", "hidden", "fresh u", "payoffs", "trials", "house")
COLUMNS = (*PURPOSES, "all", "calls", "tokens", "minutes", "processor")
CSRO = "import sys; from population.cli import main; sys.exit(main())"


@dataclass
class Cost:
    """What a run took.

    Attributes:
      matches: stored ones, by what they were played for.
      calls: of the model.
      tokens: of its prompts and answers.
      minutes: that passed.
      processor: minutes of all processes, the sandbox's and those of programs included.
    """

    matches: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    tokens: int = 0
    minutes: float = 0.0
    processor: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.matches + other.matches,
            self.calls + other.calls,
            self.tokens + other.tokens,
            self.minutes + other.minutes,
            self.processor + other.processor,
        )

    def row(self) -> str:
        """As a line under `COLUMNS`."""
        counts = [*(self.matches[one] for one in PURPOSES), self.matches.total(), self.calls]
        told = " ".join(f"{count:10,}" for count in (*counts, self.tokens))
        return f"{told} {self.minutes:10.2f} {self.processor:10.2f}"


@dataclass(frozen=True)
class Sorting:
    """Tells what a stored match was played for.

    Attributes:
      record: of the run.
      steps: its iterations.
      house: digests of the house's policies, which take no part in a run.
    """

    record: RunRecord
    steps: Sequence[Iteration]
    house: frozenset[str]

    @property
    def own(self) -> set[str]:
        """Digests of all that the run tried, and of what it began with."""
        return {self.record.initial, *(one.digest for step in self.steps for one in step.attempts)}

    def purpose(self, pair: tuple[str, str], repetition: int) -> str:
        """One of `PURPOSES`."""
        if self.house & {*pair}:
            return "house"
        afresh, counts = self.record.config.afresh, self.record.config.matches
        if repetition >= SELECTING:
            return "choosing" if self._chose(pair) else "hidden"
        members = {self.record.initial, *(one.accepted for one in self.steps)}
        if members >= {*pair} and repetition < counts.payoff:
            return "payoffs"
        if not afresh:
            return "choosing"
        return "fresh u" if members >= {*pair} else "trials"

    def _chose(self, pair: tuple[str, str]) -> bool:
        """Whether a candidate met what sigma played in the iteration that tried it."""
        for step in self.steps:
            tried = {one.digest for one in step.attempts}
            for candidate, opponent in (pair, pair[::-1]):
                if candidate in tried and opponent in step.sigma.support:
                    return True
        return False


def cost_of(home: Path, run: str) -> Cost:
    """What is stored of a run's cost; of time, that of its iterations."""
    runs = Runs(home)
    steps = runs.iterations(run)
    record = runs.get(run)
    with Arena(home, sandbox="process") as arena:
        stored = arena.matches(record.config.game, limit=None)
    house = frozenset(one for one, ref in stored.refs.items() if ref.startswith("house/"))
    sorting = Sorting(record, steps, house)
    own = sorting.own
    matches = Counter(
        sorting.purpose(one.seats, one.match.repetition)
        for one in stored
        if own & {*one.seats}  # others play in the same home
    )
    replies = [call.reply for call in journal_of(runs, run).calls()]
    minutes = sum(one.effort.seconds for one in steps) / 60
    return Cost(matches, len(replies), sum(one.tokens or 0 for one in replies), minutes)


def before(config: RunConfig) -> RunConfig:
    """The same run by the rules of before."""
    return replace(config, afresh=False, common_cards=False, frugal=False)


def measured(checkout: Path, words: Sequence[str], home: Path) -> Cost:
    """Runs a command of CSRO in a checkout, and looks what it took."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    used, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-c", CSRO, *words, "--home", str(home), "--sandbox", "process"]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    minutes = (time.perf_counter() - started) / 60
    reap()
    if done.returncode:
        raise SystemExit(done.stderr)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = (now.ru_utime - used.ru_utime + now.ru_stime - used.ru_stime) / 60
    return replace(cost_of(home, NAME), minutes=minutes, processor=processor)


def adopt() -> None:
    """Takes in processes whose parent is gone, as those of a killed box: their time counts too."""
    if ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "orphans cannot be taken in")


def reap() -> None:
    """Waits for those who were taken in, a moment: they were told to end."""
    end = time.monotonic() + _MOMENT_SECONDS
    while time.monotonic() < end:
        try:
            found, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not found:
            time.sleep(0.05)


def by_these_rules(config: RunConfig, home: Path, price: Sequence[str]) -> Cost:
    """A run of this version, begun by some rules; it goes on by them."""
    with Arena(home, seed_key=KEY, sandbox="process"):
        Runs(home).start(NAME, config)
    return measured(ROOT, ["resume", NAME, *price], home)


def by_version(checkout: Path, config: RunConfig, home: Path, price: Sequence[str]) -> Cost:
    """The same run of another version."""
    words = shlex.split(command_of(config))[1:]
    return measured(checkout, [*words, *price, "--name", NAME, "--seed-key", KEY.hex()], home)


@contextmanager
def scripted(game: str) -> Iterator[list[str]]:
    """A server that answers with relatives of the starter policy; yields what a run is told."""
    source, met, lock = game_named(game).starter.source, Counter[str](), threading.Lock()

    def reply(prompt: str) -> str:
        with lock:  # a question that is asked again gets another answer
            met[prompt] += 1
            asked = f"{met[prompt]}{prompt}"
        rng = random.Random(hashlib.sha256(asked.encode()).hexdigest())
        return f"A relative.\n\n```python\n{relative(source, rng)}```\n"

    with LLMServer(reply) as server:
        server.count = lambda text: len(text) // 4
        os.environ |= {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": server.url}
        yield ["--price", "0/0"]


@click.group()
def main() -> None:
    """Says what runs of CSRO cost."""


@main.command()
@click.argument("home", type=click.Path(exists=True, path_type=Path))
@click.argument("run")
def of(home: Path, run: str) -> None:
    """Of a finished run of a home; processor time is not kept."""
    click.echo(_head("run"))
    click.echo(f"{run:24} {cost_of(home, run).row()}")


@main.command()
@click.option("--game", default="rrps", show_default=True)
@click.option("--oracle", default="linear", show_default=True)
@click.option("--drafts", default=10, show_default=True)
@click.option("--refinements", default=10, show_default=True)
@click.option("--iterations", default=5, show_default=True)
@click.option("--hidden-share", default=0.0, show_default=True, help="By the rules of now.")
@click.option("--seeds", multiple=True, type=int, default=(1,), show_default=True)
@click.option("--scripted", "asks", is_flag=True, help="A scripted model writes, not the grammar.")
@click.option("--before", "checkout", type=click.Path(exists=True, path_type=Path))
def compare(
    game: str,
    oracle: str,
    drafts: int,
    refinements: int,
    iterations: int,
    hidden_share: float,
    seeds: tuple[int, ...],
    asks: bool,
    checkout: Path | None,
) -> None:
    """Makes the same runs by the rules of before and of now."""
    model = "gemini:local" if asks else "grammar"
    choice = OracleChoice(oracle, model, drafts=drafts, refinements=refinements)
    usual = RunConfig(game, choice, iterations, matches=measuring_for(game))
    adopt()
    totals: dict[str, Cost] = {}
    click.echo(_head(f"{game}, K {iterations}"))
    for place, seed in enumerate(seeds):
        asked: AbstractContextManager[list[str]] = scripted(game) if asks else nullcontext([])
        with asked as price:
            ways = _ways(replace(usual, seed=seed), hidden_share, checkout, price)
            for name, run in ways if place % 2 == 0 else ways[::-1]:
                with tempfile.TemporaryDirectory() as folder:
                    cost = run(Path(folder) / "home")
                totals[name] = totals.get(name, Cost()) + cost
                click.echo(f"{f'seed {seed}, {name}':24} {cost.row()}")
    for name, cost in totals.items():
        click.echo(f"{f'all, {name}':24} {cost.row()}")


def _ways(
    config: RunConfig, hidden_share: float, checkout: Path | None, price: Sequence[str]
) -> list[tuple[str, Callable[[Path], Cost]]]:
    """How one run is made, in which home."""
    counts = measuring_for(config.game, hidden_share=hidden_share)
    now = replace(config, hidden_share=hidden_share, matches=counts)
    ways: list[tuple[str, Callable[[Path], Cost]]] = [
        ("rules of before", lambda home: by_these_rules(before(config), home, price)),
        ("rules of now", lambda home: by_these_rules(now, home, price)),
    ]
    if checkout is not None:
        other = checkout.resolve()
        ways.append(("version before", lambda home: by_version(other, config, home, price)))
    return ways


def _head(first: str) -> str:
    return f"{first:24} {' '.join(f'{one:>10}' for one in COLUMNS)}"


if __name__ == "__main__":
    main()
