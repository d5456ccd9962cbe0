"""Kills a run of CSRO at random moments and resumes it, then compares; and two runs at once.

    python benchmarks/csro_kills.py [--kills 10] [--game leduc] [--seed 1]

All runs go through the `csro` command in processes of their own, with small budgets.  First a run
is left alone.  The same run in another home is killed with SIGKILL again and again and resumed.
Then two shorter runs of different seeds work each alone, and both at the same time in one home.
Members, meta-strategies, attempts with their scores, and every move of every match have to be the
same.  Ends with status 1 where anything differs or a match is stored twice.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from csro_processes import Run, compared


def run_of(options: argparse.Namespace, home: Path, seed: int, iterations: int) -> Run:
    """The grammar's run of a seed: equal in every home."""
    words = ["--model", "grammar", "--oracle", "linear", "--seed", str(seed)]
    words += ["--iterations", str(iterations)]
    for name in ("refinements", "payoff_matches", "evaluation_matches", "workers"):
        words += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
    return Run(home, f"seed{seed}", options.game, words)


def kill_and_resume(run: Run, whole: Run, seconds: float, options: argparse.Namespace) -> int:
    """Kills a run at random moments, then lets it end; returns how often it was killed.

    Moments are drawn from about twice the even share of what is left to do, going by the run that
    was left alone; starting takes two seconds or more in which nothing is done.
    """
    rng, total = random.Random(options.seed), len(whole.matches())
    for number in range(1, options.kills + 1):
        left = 1.0 - len(run.matches()) / total
        moment = rng.uniform(0.5, 2.0 + 1.5 * left * seconds / (options.kills - number + 2))
        process = run.process()
        with suppress(subprocess.TimeoutExpired):
            process.wait(moment)
        if not run.killed(process):
            print(f"  finished before kill {number}")
            return number - 1
        print(f"  kill {number:2} after {moment:5.1f} s: {run.progress()}", flush=True)
    print(f"  resumed to the end in {run.to_the_end():.1f} s")
    return int(options.kills)


def killed(homes: Path, options: argparse.Namespace) -> bool:
    """A run left alone, and the same run killed and resumed; returns whether nothing differs."""
    whole, run = (
        run_of(options, homes / name, options.run_seeds[0], options.iterations)
        for name in ("whole", "killed")
    )
    seconds = whole.to_the_end()
    print(
        f"left alone: {seconds:.1f} s, {whole.progress()}; kills by seed {options.seed}", flush=True
    )
    done = kill_and_resume(run, whole, seconds, options)
    print(f"killed {done} times, against left alone:")
    same = compared(whole, run)
    moves, twice = run.matches() == whole.matches(), run.doubled()
    print(f"  {len(run.matches())} matches, {'all' if moves else 'NOT all'} equal; {twice} doubled")
    return same and moves and not twice and done == options.kills


def at_once(homes: Path, options: argparse.Namespace) -> bool:
    """Two runs, each alone and then both in one home; returns whether nothing differs."""
    seeds, iterations = options.run_seeds, options.iterations_at_once
    alone = [run_of(options, homes / f"alone{seed}", seed, iterations) for seed in seeds]
    for run in alone:
        print(f"{run.name} alone: {run.to_the_end():.1f} s, {run.progress()}", flush=True)
    together = [run_of(options, homes / "both", seed, iterations) for seed in seeds]
    started = time.perf_counter()
    processes = [run.process() for run in together]
    for run, process in zip(together, processes, strict=True):
        run.ended(process)
    print(f"both at once in one home, {time.perf_counter() - started:.1f} s, against each alone:")
    equal = [compared(*pair) for pair in zip(alone, together, strict=True)]
    apart = {row for run in alone for row in run.matches()}
    moves = set(together[0].matches()) == apart
    twice = together[0].doubled()
    print(f"  {len(apart)} matches, {'all' if moves else 'NOT all'} equal; {twice} doubled")
    return all(equal) and moves and not twice


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--game", default="leduc", choices=["rrps", "leduc"])
    parser.add_argument("--seed", type=int, default=1, help="of the moments of the kills")
    parser.add_argument("--run-seeds", type=int, nargs=2, default=[1, 2], help="of the two runs")
    parser.add_argument("--iterations", type=int, default=20, help="of the run that is killed")
    parser.add_argument("--iterations-at-once", type=int, default=8, help="of two runs at once")
    parser.add_argument("--refinements", type=int, default=1)
    parser.add_argument("--payoff-matches", type=int, default=4)
    parser.add_argument("--evaluation-matches", type=int, default=4)
    parser.add_argument("--workers", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        good = [killed(Path(folder), options), at_once(Path(folder), options)]
    print("identical: nothing lost, nothing doubled" if all(good) else "DIFFERENT")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
