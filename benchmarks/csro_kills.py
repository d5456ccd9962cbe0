"""Kills a run of CSRO at random moments and resumes it, then compares; and two runs at once.

    python benchmarks/csro_kills.py [--kills 10] [--game rrps] [--seed 1]

All runs go through the `csro` command in processes of their own, with small budgets.  First a run
is left alone.  The same run in another home is killed with SIGKILL again and again and resumed.
Then that run and one of another seed share a home and work at the same time; the other one is
also run alone.  Members, meta-strategies, attempts with their scores, and every move of every
match have to be the same.  Ends with status 1 where anything differs or a match is stored twice.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from csro_processes import Run, compared


def run_of(options: argparse.Namespace, home: Path, seed: int) -> Run:
    """The grammar's run of a seed: equal in every home."""
    words = ["--model", "grammar", "--oracle", "linear", "--seed", str(seed)]
    for name in ("iterations", "refinements", "payoff_matches", "evaluation_matches", "workers"):
        words += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
    return Run(home, f"seed{seed}", options.game, words)


def kill_and_resume(run: Run, kills: int, longest: float, rng: random.Random) -> int:
    """Kills a run at random moments, then lets it end; returns how often it was killed."""
    for number in range(1, kills + 1):
        moment = rng.uniform(0.5, longest)
        if not run.killed_after(moment):
            print(f"  finished before kill {number}")
            return number - 1
        print(f"  kill {number:2} after {moment:5.1f} s: {run.progress()}", flush=True)
    print(f"  resumed to the end in {run.to_the_end():.1f} s")
    return kills


def killed(whole: Run, run: Run, options: argparse.Namespace, seconds: float) -> bool:
    """Kills and compares; returns whether nothing differs."""
    # Starting takes seconds in which nothing is done, so the kills together leave some work over.
    longest = 2.0 + 1.6 * seconds / options.kills
    rng = random.Random(options.seed)
    done = kill_and_resume(run, options.kills, longest, rng)
    print(f"killed {done} times, against left alone:")
    same = compared(whole, run)
    moves = run.matches() == whole.matches()
    twice = run.doubled()
    print(f"  {len(run.matches())} matches, {'all' if moves else 'NOT all'} equal; {twice} doubled")
    return same and moves and not twice and done == options.kills


def at_once(alone: list[Run], together: list[Run]) -> bool:
    """Runs two runs in one home at the same time; returns whether each is as it is alone."""
    started = time.perf_counter()
    processes = [run.process() for run in together]
    for run, process in zip(together, processes, strict=True):
        run.ended(process)
    print(f"two at once in one home, {time.perf_counter() - started:.1f} s, against each alone:")
    equal = [compared(*pair) for pair in zip(alone, together, strict=True)]
    apart = {row for run in alone for row in run.matches()}
    moves = set(together[0].matches()) == apart
    twice = together[0].doubled()
    print(f"  {len(apart)} matches, {'all' if moves else 'NOT all'} equal; {twice} doubled")
    return all(equal) and moves and not twice


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--game", default="rrps", choices=["rrps", "leduc"])
    parser.add_argument("--seed", type=int, default=1, help="of the moments of the kills")
    parser.add_argument("--run-seeds", type=int, nargs=2, default=[1, 2], help="of the two runs")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--refinements", type=int, default=1)
    parser.add_argument("--payoff-matches", type=int, default=4)
    parser.add_argument("--evaluation-matches", type=int, default=4)
    parser.add_argument("--workers", type=int, default=0)
    options = parser.parse_args()
    first, second = options.run_seeds
    with tempfile.TemporaryDirectory() as folder:
        homes = Path(folder)
        whole = run_of(options, homes / "whole", first)
        seconds = whole.to_the_end()
        print(f"left alone: {seconds:.1f} s, {whole.progress()}; kills by seed {options.seed}")
        good = killed(whole, run_of(options, homes / "killed", first), options, seconds)
        other = run_of(options, homes / "other", second)
        print(f"the other run alone: {other.to_the_end():.1f} s, {other.progress()}")
        together = [run_of(options, homes / "both", seed) for seed in (first, second)]
        good &= at_once([whole, other], together)
    print("identical: nothing lost, nothing doubled" if good else "DIFFERENT")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
