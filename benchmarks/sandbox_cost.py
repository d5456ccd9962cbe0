"""What the sandbox costs: matches a second and microseconds a throw, by wall and by mode.

    python benchmarks/sandbox_cost.py [--walls process,gvisor] [--policies 32] [--boxes 2]

Repeated rock-paper-scissors, 1000 throws a match.  Policies are trivial (one comparison) or
compute for about 100 microseconds an act.  "in-process" is the game's table and seats in one
process a core, without any protection: the floor.  It is measured before and after each group of
rows, as machines change their speed, and "of it" are parts of the mean of both.  Behind gVisor
it is another Python, the image's, whose speed for the same loop may differ much.  Processor time is
this process's and that of the policies together.
"""

from __future__ import annotations

import argparse
import itertools
import multiprocessing
import os
import resource
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from arena.games import game
from sandbox.choose import WallChoice, open_wall
from sandbox.errors import SandboxError
from sandbox.link import descendants
from sandbox.process import ProcessWall
from sandbox.values import Block, BlockMatch, Rules, SeatPlan
from sandbox.wall import Wall

GAME = game("rrps")
RULES = Rules(
    GAME.table_path, GAME.contract.class_name, tuple(sorted(GAME.contract.methods.items()))
)
TRIVIAL = """
class Agent:
    number = {number}
    def act(self, observation):
        return "ROCK" if observation["opponent_action"] is None else "PAPER"
"""
BUSY = """
class Agent:
    number = {number}
    def act(self, observation):
        total = 0
        for step in range({steps}):
            total += step
        return "PAPER"
"""


@dataclass(frozen=True)
class Measured:
    """One line of the table."""

    label: str
    matches: int
    seconds: float
    cpu_seconds: float

    @property
    def rate(self) -> float:
        """Matches a second."""
        return self.matches / self.seconds

    def line(self, floor: float) -> str:
        """As a row, beside the rate of the floor."""
        throw = 1e6 * self.cpu_seconds / self.matches / GAME.length
        part = self.rate / floor
        return f"{self.label:<44}{self.rate:>12.1f}{part:>8.2f}{throw:>16.2f}{self.matches:>10}"


def steps_of(microseconds: float) -> int:
    """How many steps of the busy loop take that long here."""
    best = min(_timed_loop(20_000) for _ in range(5))
    return int(20_000 * microseconds / 1e6 / best)


def _timed_loop(steps: int) -> float:
    started = time.process_time()
    total = 0
    for step in range(steps):
        total += step
    return time.process_time() - started


def sources(template: str, count: int, steps: int) -> tuple[str, ...]:
    return tuple(template.format(number=number, steps=steps) for number in range(count))


def round_robin(count: int, repetitions: int = 1) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(count), 2)) * repetitions


def blocks(
    programs: tuple[str, ...], pairs: Iterable[tuple[int, int]], *, isolate: bool, parts: int
) -> list[Block]:
    """The pairs, dealt out to so many blocks."""
    matches = [
        BlockMatch(number, (SeatPlan(one, 2 * number), SeatPlan(other, 2 * number + 1)))
        for number, (one, other) in enumerate(pairs)
    ]
    size = -(-len(matches) // parts)
    return [
        Block(RULES, programs, tuple(matches[start : start + size]), isolate)
        for start in range(0, len(matches), size)
    ]


def _cpu_here() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime


def measure_in_process(programs: tuple[str, ...], matches: int) -> tuple[float, float]:
    """Seconds on the wall and of the processor that so many matches take in this very process."""
    started, cpu = time.perf_counter(), time.process_time()
    namespaces: list[dict[str, Callable[[], object]]] = [{} for _ in programs]
    for source, namespace in zip(programs, namespaces, strict=True):
        exec(source, namespace)
    for number in range(matches):
        table = GAME.table([number])
        seats = [GAME.seat(namespaces[(number + side) % 2]["Agent"]()) for side in (0, 1)]
        while not table.done:
            messages = table.messages()
            table.advance(bytes((seats[0].reply(messages[:1]), seats[1].reply(messages[1:]))))
    return time.perf_counter() - started, time.process_time() - cpu


class Floor:
    """The game in processes of their own, one a core, all at once; ended by `close`."""

    def __init__(self, cores: int) -> None:
        self._cores = cores
        self._processes = ProcessPoolExecutor(cores, multiprocessing.get_context("spawn"))

    def measured(self, label: str, programs: tuple[str, ...], matches: int) -> Measured:
        """So many matches on each core."""
        some = [
            self._processes.submit(measure_in_process, programs, matches)
            for _ in range(self._cores)
        ]
        seconds, cpu = zip(*(one.result() for one in some), strict=True)
        return Measured(label, self._cores * matches, max(seconds), sum(cpu))

    def close(self) -> None:
        """Ends the processes."""
        self._processes.shutdown()


def _box_cpu(wall: Wall) -> float:
    """Processor time of a box's long-lived processes and everything that they have buried."""
    link = getattr(wall, "link", None)
    if link is None:
        return 0.0
    ticks = 0
    for pid in (link.pid, *descendants(link.pid)):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure_walls(label: str, walls: list[Wall], work: list[Block]) -> Measured:
    before = _cpu_here() + sum(map(_box_cpu, walls))
    started = time.perf_counter()
    with ThreadPoolExecutor(len(walls)) as threads:
        played = list(
            threads.map(lambda pair: pair[0].play(pair[1]), zip(walls, work, strict=True))
        )
    seconds = time.perf_counter() - started
    faults = [outcome.fault for block in played for outcome in block if outcome.fault]
    if faults:
        raise SystemExit(f"a policy of the benchmark was at fault: {faults[0]}")
    cpu = _cpu_here() + sum(map(_box_cpu, walls)) - before
    return Measured(label, sum(map(len, played)), seconds, cpu)


@dataclass(frozen=True)
class Started:
    """What it takes to have a box: medians of a few starts, megabytes where they can be seen."""

    name: str
    seconds: float
    box_megabytes: float
    worker_megabytes: float

    def line(self) -> str:
        text = f"{self.name}: first match after {self.seconds:.2f} s"
        if self.box_megabytes:
            text += f"; {self.box_megabytes:.0f} MB a box, {self.worker_megabytes:.1f} MB a worker"
        return text


def measure_start(open_one: Callable[[], Wall], steps: int, times: int = 3) -> Started:
    """Starts boxes one after the other and lets each play a match."""
    trivial, busy = sources(TRIVIAL, 2, 0), sources(BUSY, 2, steps)
    seconds, box, worker = [], [], []
    for _ in range(times):
        started = time.perf_counter()
        wall = open_one()
        wall.play(blocks(trivial, [(0, 1)], isolate=True, parts=1)[0])
        seconds.append(time.perf_counter() - started)
        idle = _megabytes(wall)
        long_one = blocks(busy, [(0, 1)], isolate=True, parts=1)[0]
        with ThreadPoolExecutor(1) as threads:
            playing = threads.submit(wall.play, long_one)
            time.sleep(0.1)
            at_work = _megabytes(wall)
            playing.result()
        name = wall.name
        wall.close()
        box.append(sum(idle.values()))
        workers = [size for pid, size in at_work.items() if pid not in idle]
        worker.append(statistics.fmean(workers) if workers else 0.0)
    return Started(name, *(statistics.median(values) for values in (seconds, box, worker)))


def _megabytes(wall: Wall) -> dict[int, float]:
    """Proportional memory of each process of a box, where the kernel tells."""
    link = getattr(wall, "link", None)
    return {} if link is None else megabytes(link.pid)


def megabytes(above: int) -> dict[int, float]:
    """Proportional memory of a process and of all below it, by number."""
    sizes: dict[int, float] = {}
    for pid in (above, *descendants(above)):
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    sizes[pid] = int(line.split()[1]) / 1024
    return sizes


def openers(names: list[str]) -> dict[str, Callable[[], Wall]]:
    known: dict[str, Callable[[], Wall]] = {
        "process": lambda: ProcessWall(),
        "process-plain": lambda: ProcessWall(bubblewrap=False),
        "gvisor": lambda: open_wall(WallChoice("gvisor")),
        "gvisor-rootless": lambda: open_wall(WallChoice("gvisor-rootless")),
    }
    return {name: known[name] for name in names}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--walls", default="process,process-plain,gvisor")
    parser.add_argument("--policies", type=int, default=32, help="in the round robin")
    parser.add_argument("--isolated", type=int, default=96, help="matches of mode A")
    parser.add_argument("--repetitions", type=int, default=1, help="of a pair, mode C")
    parser.add_argument("--busy-policies", type=int, default=8, help="in the busy round robin")
    parser.add_argument("--boxes", type=int, default=2, help="side by side, one for each core")
    options = parser.parse_args()
    steps = steps_of(100)
    trivial = sources(TRIVIAL, options.policies, 0)
    busy = sources(BUSY, options.busy_policies, steps)
    print(f"{'':<44}{'matches/s':>12}{'of it':>8}{'cpu us/throw':>16}{'matches':>10}")
    floor = Floor(options.boxes)
    floor.measured("a start", trivial[:2], 1)
    for name, open_one in openers(options.walls.split(",")).items():
        try:
            print(measure_start(open_one, steps).line())
        except (SandboxError, ImportError) as error:
            print(f"{name}: not here: {str(error).splitlines()[0]}")
            continue
        walls = [open_one() for _ in range(options.boxes)]
        try:
            for text, programs in (("trivial", trivial), ("100 us", busy)):
                light = text == "trivial"
                group = partial(
                    floor.measured,
                    f"  in-process, {options.boxes} cores, {text}",
                    programs[:2],
                    300 if light else 16,
                )
                before = group()
                rows = list(measure_group(name, text, walls, programs, options))
                after = group()
                mean = (before.rate + after.rate) / 2
                for row in (before, *rows, after):
                    print(row.line(mean), flush=True)
        finally:
            for wall in walls:
                wall.close()
    floor.close()


def measure_group(
    name: str, text: str, walls: list[Wall], programs: tuple[str, ...], options: argparse.Namespace
) -> Iterator[Measured]:
    """The rows of one wall and one kind of policies."""
    pairs = round_robin(len(programs), options.repetitions)
    isolated = pairs[: options.isolated if text == "trivial" else 16]
    for mode, isolate, some in (("A, isolated", True, isolated), ("C, lockstep", False, pairs)):
        work = blocks(programs, some, isolate=isolate, parts=len(walls))
        label = f"  {name}, {len(walls)} boxes, {mode}, {text}"
        yield measure_walls(label, walls[: len(work)], work)


if __name__ == "__main__":
    main()
