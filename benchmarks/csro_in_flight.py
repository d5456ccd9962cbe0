"""How well a slow model and the matches share the time: calls in flight over one CSRO run.

    python benchmarks/csro_in_flight.py [--oracle alpha-evolve] [--slots 8] [--seconds 2] [--seed 1]

A server on this machine speaks Gemini's protocol and answers as many questions at once as it has
slots; an answer takes a time that is drawn from a lognormal distribution, so that some take three
times as long as most.  Prints, for one run in RRPS: the wall-clock time, the mean number of calls
in flight while there was any, the time in which none was, and u and identity of the policy that
joined last, which have to be the same whatever the number of calls at once (`--parallel`).
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from click.testing import CliRunner

from population.cli import main
from population.runs import Runs
from tests.oracle.llm_server import LLMServer
from tests.population.scripted_oracles import program

SPREAD = 0.6
"""Standard deviation of the logarithm of an answer's time."""


class SlowServer:
    """Answers as many at once as it has slots, and remembers when it was busy."""

    def __init__(self, slots: int, seconds: float, seed: int) -> None:
        self._free = threading.Semaphore(slots)
        self._seconds = seconds
        self._seed = seed
        self.spans: list[tuple[float, float]] = []

    def __call__(self, prompt: str) -> str:
        """A program, and a wait, that follow from the question."""
        rng = random.Random(hashlib.sha256(f"{self._seed}{prompt}".encode()).hexdigest())
        started = time.perf_counter()
        with self._free:
            time.sleep(self._seconds * rng.lognormvariate(0.0, SPREAD))
        self.spans.append((started, time.perf_counter()))
        return f"```python\n{program(rng)}```"


def in_flight(spans: list[tuple[float, float]]) -> tuple[float, float]:
    """Seconds in which any call was in flight, and the mean number of calls over those."""
    events = sorted([(start, 1) for start, _ in spans] + [(end, -1) for _, end in spans])
    busy = calls = 0.0
    number, before = 0, 0.0
    for moment, change in events:
        if number:
            busy += moment - before
            calls += number * (moment - before)
        number, before = number + change, moment
    return busy, calls / busy if busy else 0.0


def run(arguments: argparse.Namespace, parallel: int) -> str:
    slow = SlowServer(arguments.slots, arguments.seconds, arguments.seed)
    with LLMServer(slow) as server, tempfile.TemporaryDirectory() as home:
        os.environ["GEMINI_API_KEY"] = "k"
        os.environ["GOOGLE_GEMINI_BASE_URL"] = server.url
        words = f"run --game rrps --model gemini:local --price 0/0 --oracle {arguments.oracle}"
        words += f" --iterations {arguments.iterations} --name slow --sandbox process"
        if arguments.oracle == "best-of-n":
            words += f" --drafts {arguments.drafts}"
        else:
            words += f" --refinements {arguments.generations}"
        words += f" --evaluation-matches {arguments.matches} --parallel {parallel}"
        started = time.perf_counter()
        done = CliRunner().invoke(main, [*words.split(), "--home", home])
        seconds = time.perf_counter() - started
        if done.exit_code:
            raise SystemExit(done.stderr)
        busy, mean = in_flight(slow.spans)
        last = Runs(Path(home)).iterations("slow")[-1]
    return (
        f"{parallel:8} {seconds:8.1f} s {len(slow.spans):6} {mean:10.2f} {seconds - busy:10.1f} s "
        f"{last.u:8.2f} {last.accepted[:12]}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--oracle", default="alpha-evolve", choices=["alpha-evolve", "best-of-n"])
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--iterations", type=int, default=2)
    parser.add_argument("--generations", type=int, default=9)
    parser.add_argument("--drafts", type=int, default=24)
    parser.add_argument("--matches", type=int, default=48)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parallel", type=int, nargs="*", default=[8, 1])
    told = parser.parse_args()
    print("parallel     time        calls  in flight  none in flight  u of the last, who")
    for parallel in told.parallel:
        print(run(told, parallel), flush=True)
