"""What a Ray cluster costs and saves, on node processes of this machine.

    python benchmarks/cluster.py rate                   the same round robin, local and on Ray
    python benchmarks/cluster.py kills [--kills 20]     nodes killed at random moments
    python benchmarks/cluster.py cost                   2,000 policies on 1, 10 and 100 machines,
                                                        simulated from the times measured first

`rate` prints matches a second and the processor time that the process which owns the store takes
for a match; everything runs in turn in one go, so read the ratios.  `kills` fails where a match was
lost, doubled or came out differently.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from arena import Arena, Workers, game
from arena.plan import ISOLATED_CHUNK, NATIVE_CHUNK
from arena.tally import COMMIT_RESULTS, pause_after
from tests.arena.ray_cluster import kill, ray_cluster

SEED_KEY = bytes(32)
"""Of all homes: under the same key a match is the same."""
POLICIES, MATCHES = 2_000, 16
CORES = 16
"""Of a machine in the simulation."""
SPIN = """
import random
import time

class Agent:
    def act(self, observation):
        total = 0
        for number in range({steps}):
            total += number
        return random.choice(["ROCK", "PAPER", "SCISSORS"])
"""


@dataclass(frozen=True)
class Work:
    """A round robin among some policies.

    Attributes:
      name: what plays.
      python: how many Python policies play; 0 for bots of the house.
      steps: of a loop that each act of theirs takes (about 20 ns each).
      matches: of a pair.
      batch: matches of a task.
    """

    name: str
    python: int
    steps: int
    matches: int
    batch: int


NATIVE = Work("43 native bots", 0, 0, 8, NATIVE_CHUNK)
PYTHON = Work("8 Python policies, about 100 us an act", 8, 4_000, 4, ISOLATED_CHUNK)


@dataclass(frozen=True)
class Rate:
    """Of one run: matches a second, and processor seconds of the store's owner a match."""

    matches: float
    owner: float


@contextmanager
def new_arena(work: Work, workers: Workers) -> Iterator[Arena]:
    """An arena on a new home with the policies that play."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Arena(
            Path(folder) / "home", workers=workers, sandbox="process", seed_key=SEED_KEY
        ) as arena,
    ):
        for number in range(work.python):
            arena.submit(f"# {number}\n{SPIN.format(steps=work.steps)}", "rrps", f"me/p{number}")
        yield arena


def only(arena: Arena, work: Work) -> list[str]:
    """Who plays."""
    kind = "python" if work.python else "native"
    everybody = arena.policies("rrps", kind=kind)
    return [one.digest for one in everybody if one.ref.startswith("me/") or not work.python]


def rate(work: Work, workers: Workers) -> Rate:
    """Plays it once to start the workers, and measures the rest."""
    with new_arena(work, workers) as arena:
        chosen = only(arena, work)
        arena.play("rrps", 2, only=chosen)
        started, spent = time.perf_counter(), time.process_time()
        report = arena.play("rrps", 2 + work.matches, only=chosen)
        owner = (time.process_time() - spent) / report.played
        return Rate(report.played / (time.perf_counter() - started), owner)


def rates() -> None:
    """Prints the table of rates."""
    for work in (NATIVE, PYTHON):
        base = rate(work, Workers(1))
        print(f"{work.name}: matches a second; owner's processor time a match")
        print(f"  local, 1 worker       {base.matches:8.1f}  1.00  {base.owner * 1e6:8.0f} us")
        two = rate(work, Workers(2))
        shown = f"{two.matches / base.matches:.2f}  {two.owner * 1e6:8.0f} us"
        print(f"  local, 2 workers      {two.matches:8.1f}  {shown}")
        for nodes in (1, 2):
            with ray_cluster(nodes=nodes) as cluster:
                there = rate(work, Workers(0, cluster.address))
            shown = f"{there.matches / base.matches:.2f}  {there.owner * 1e6:8.0f} us"
            print(f"  Ray, {nodes} node(s) of one  {there.matches:8.1f}  {shown}", flush=True)


def table_of(arena: Arena) -> dict[str, tuple[object, ...]]:
    """Every stored match: id to returns, end and moves."""
    table = {}
    for row in arena.matches("rrps", limit=None):
        result = arena.match(row.id).result
        table[row.id] = (result.returns, result.termination, result.moves)
    return table


def kills(count: int) -> None:
    """Kills nodes in the middle of a round robin until so many are gone.

    Raises:
      SystemExit: a match was lost, doubled or came out differently.
    """
    rng = random.Random(1)
    work = Work("kills", 6, 2_000, 0, ISOLATED_CHUNK)
    lost = matches = 0
    with ray_cluster() as cluster, new_arena(work, Workers(0, cluster.address)) as there:
        chosen = [*only(there, work), "house/markov5", "house/rockbot"]
        moment = [time.monotonic() + rng.uniform(1, 4)]

        def progress(done: int, wanted: int) -> None:
            nonlocal lost
            if done < wanted and time.monotonic() > moment[0] and lost < count:
                kill(cluster, rng.choice(sorted(cluster.worker_nodes, key=lambda n: n.unique_id)))
                lost += 1
                cluster.add_node(num_cpus=1, wait=False)
                moment[0] = time.monotonic() + rng.uniform(3, 8)
                print(f"  killed {lost}: {done} of {wanted} stored or on their way", flush=True)

        while lost < count:
            matches += 60
            there.play("rrps", matches, only=chosen, progress=progress)
        played = len(list(there.matches("rrps", limit=None)))
        found = table_of(there)
    with new_arena(work, Workers(2)) as here:
        here.play("rrps", matches, only=chosen)
        alone = table_of(here)
    print(
        f"{lost} nodes killed, {played} matches: lost {len(alone.keys() - found.keys())}, ", end=""
    )
    differ = sum(found.get(key) != row for key, row in alone.items())
    print(f"doubled {played - len(found)}, other than on one machine {differ}")
    if played != len(found) or found != alone:
        raise SystemExit("matches were lost, doubled or came out differently")


@dataclass(frozen=True)
class Owner:
    """What the process that owns the store is busy with, in processor seconds.

    Attributes:
      match: for each match: seeds, handing it out, taking it back, storing it.
      commit: for each commit, however many matches it has.
    """

    match: float
    commit: float

    @property
    def pause(self) -> float:
        """Seconds from commit to commit, at least."""
        return pause_after(self.commit)


def commit_seconds() -> float:
    """What the shorter of two commits of a few matches takes, as they come from workers."""
    with new_arena(NATIVE, Workers(2)) as arena, new_arena(NATIVE, Workers(1)) as other:
        some = sorted(only(arena, NATIVE)[:10])
        arena.play("rrps", 4, only=some)
        results = [
            result
            for pair in itertools.combinations(some, 2)
            for result in arena.home.store.meetings(game("rrps"), pair)
        ]
        spent = []
        for start in range(0, 150, 50):  # the first makes the file
            started = time.process_time()
            other.home.store.append(game("rrps"), results[start : start + 50])
            spent.append(time.process_time() - started)
    return min(spent[1:])


def owner_of(found: Rate, commit: float) -> Owner:
    """What a round robin took of its owner, told apart into matches and commits.

    Of many quick matches: where they are slow, it is busy with waiting most of all.
    """
    pause = Owner(0.0, commit).pause
    return Owner(found.owner - commit / min(found.matches * pause, COMMIT_RESULTS), commit)


def simulated(
    task: float, owner: Owner, batch: int, workers: int, rng: random.Random
) -> tuple[float, float]:
    """A round robin: tasks go to workers, answers to the one that owns the store.

    Args:
      task: seconds of a task, in the mean; each takes between half and one and a half times that.
      owner: what an answer costs.
      batch: matches of a task.
      workers: how many.
      rng: of the tasks' times.

    Returns:
      Hours for all matches of `POLICIES` policies, and the share of them that the owner is busy.
    """
    total = POLICIES * (POLICIES - 1) // 2 * MATCHES // batch
    shown = min(total, 200_000)
    done = [task * rng.uniform(0.5, 1.5) for _ in range(workers)]
    heapq.heapify(done)
    free = busy = 0.0
    next_commit, waiting = owner.pause, 0
    for _ in range(shown):
        free, spent = max(free, heapq.heappop(done)), owner.match * batch
        waiting += batch
        if free >= next_commit or waiting >= COMMIT_RESULTS:
            next_commit = free + owner.pause
            waiting, spent = 0, spent + owner.commit
        free, busy = free + spent, busy + spent
        heapq.heappush(done, free + task * rng.uniform(0.5, 1.5))
    return free / shown * total / 3600, busy / free


def cost() -> None:
    """Prints what a round robin of 2,000 policies would take."""
    print(f"{POLICIES} policies, {MATCHES} matches a pair, machines of {CORES} cores, simulated")
    rng, commit = random.Random(1), commit_seconds()
    owner: Owner | None = None
    for work in (NATIVE, PYTHON):
        with ray_cluster(nodes=1) as cluster:
            found = rate(work, Workers(1, cluster.address))
        if owner is None:
            owner = owner_of(found, commit)
            costs = f"{owner.match * 1e6:.0f} us a match and {owner.commit * 1e3:.0f} ms a commit"
            print(f"the owner of the store takes {costs}")
        task = work.batch / found.matches
        print(f"{work.name}: a task of {work.batch} matches takes {task:.3f} s")
        for machines in (1, 10, 100):
            workers = machines * CORES
            took, busy = simulated(task, owner, work.batch, workers, rng)
            total = POLICIES * (POLICIES - 1) // 2 * MATCHES / work.batch
            even = total * task / 3600 / workers
            print(
                f"  {machines:4d} machines  {took:9.2f} h  "
                f"efficiency {even / took:.2f}  owner busy {busy:.0%}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["rate", "kills", "cost"])
    parser.add_argument("--kills", type=int, default=20)
    chosen_ = parser.parse_args()
    if chosen_.what == "kills":
        kills(chosen_.kills)
    else:
        {"rate": rates, "cost": cost}[chosen_.what]()
