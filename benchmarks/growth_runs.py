"""What the loop adds to growing: whole plain runs beside chains that play nothing.

    python benchmarks/growth_runs.py FOLDER --seeds 1-6

For each seed it makes a run of CSRO from little, in which credulous players have a say (README of
the grammar), and a chain of as many programs that grow by the same moves, where the first draft
joins (`benchmarks/growth_control.py`).  After so many steps the program that joined the run last
and the chain's meet the 43 bots, who take part in nothing else, and so does the run's
meta-strategy in the end.  Homes are kept in FOLDER, so an interrupted benchmark goes on, and more
seeds can be added.

Prints PopReturn and predictors of each, means with 95 % intervals over seeds (Student's t), and
what the runs have more than the chains (Welch's interval).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from growth_control import first, grown, size, told
from scipy.stats import ttest_ind

from arena import Arena
from arena.enrol import Enrolled
from population.members import AUTHOR
from population.runs import Runs

GAME, NAME, KEY = "rrps", "plain", bytes(range(32)).hex()
Reached = dict[str, tuple[float, float]]
"""When, and the PopReturn of the run and of the chain then."""
COUNTS = ("--payoff-matches", "4", "--evaluation-matches", "6")


def run(home: Path, seed: int, iterations: int, drafts: int, share: float, wall: str) -> None:
    """A whole run; one that is finished already is only told again."""
    words = ["run", "--home", str(home), "--game", GAME, "--model", "grammar:plain"]
    words += ["--oracle", "best-of-n", "--drafts", str(drafts), "--hidden-share", str(share)]
    words += [*COUNTS, "--seed", str(seed), "--iterations", str(iterations), "--name", NAME]
    words += ["--sandbox", wall, "--seed-key", KEY]
    program = "from population.cli import main; main()"
    root = str(Path(__file__).resolve().parents[1])
    subprocess.run(
        [sys.executable, "-c", program, *words],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": root},
    )


def reached(arena: Arena, ref: str, matches: int) -> float:
    """PopReturn against the 43 bots."""
    found = arena.evaluate(ref, GAME, matches, shared=True).scores.pop_return
    assert found is not None, f"{ref} did not meet everybody"
    return found.value


def measured(home: Path, seed: int, steps: Sequence[int], matches: int, wall: str) -> Reached:
    """PopReturn after each step of what joined the run last, and of the chain.

    The run's meta-strategy of the end stands beside the chain's last program.
    """
    chain, found = grown(seed, max(steps), 1, first), Reached()
    joined = {one.k: one.accepted for one in Runs(home).iterations(NAME) if one.accepted}
    with Arena(home, sandbox=wall) as arena:
        for step in steps:
            entered = arena.submit(chain[step - 1], GAME, f"control/grown-s{seed}-k{step}")
            assert isinstance(entered, Enrolled), entered
            newest = arena.policy(joined[max(k for k in joined if k <= step)], GAME)
            run = reached(arena, newest.ref, matches)
            control = reached(arena, entered.version.ref, matches)
            found[f"step {step}"] = run, control
            print(
                f"seed {seed}, step {step}: run {run:.1f} ({size(newest.payload)} predictors), "
                f"chain {control:.1f} ({size(chain[step - 1])} predictors)",
                flush=True,
            )
        mixture = reached(arena, f"{AUTHOR}/{NAME}", matches)
        print(f"seed {seed}, meta-strategy: {mixture:.1f}", flush=True)
        found["meta-strategy"] = mixture, found[f"step {max(steps)}"][1]
    return found


def seeds(text: str) -> list[int]:
    """From "1-3" to 1, 2, 3."""
    low, _, high = text.partition("-")
    return list(range(int(low), int(high or low) + 1))


def summary(found: Sequence[Reached]) -> None:
    """Prints means, and what runs have more."""
    for when in found[0]:
        runs, chains = zip(*(one[when] for one in found), strict=True)
        gap = float(np.mean(runs) - np.mean(chains))
        more = f"{gap:.1f}"
        if len(found) > 1:
            low, high = ttest_ind(runs, chains, equal_var=False).confidence_interval(0.95)
            more += f" [{low:.1f}, {high:.1f}]"
        print(f"{when}: runs {told(runs)}, chains {told(chains)}; runs have {more} more")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=seeds, default=[1, 2, 3])
    parser.add_argument("--steps", type=int, nargs="+", default=[1, 2, 3, 5])
    parser.add_argument("--drafts", type=int, default=8)
    parser.add_argument("--hidden-share", type=float, default=0.9)
    parser.add_argument("--matches", type=int, default=4, help="with each bot")
    parser.add_argument("--sandbox", default="auto")
    options = parser.parse_args()
    found = []
    for seed in options.seeds:
        home = options.folder / f"seed{seed}"
        share, wall = options.hidden_share, options.sandbox
        run(home, seed, max(options.steps), options.drafts, share, wall)
        found.append(measured(home, seed, options.steps, options.matches, wall))
    summary(found)


if __name__ == "__main__":
    main()
