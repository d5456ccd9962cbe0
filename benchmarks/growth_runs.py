"""What the loop adds to growing: whole plain runs beside chains that play nothing.

    python benchmarks/growth_runs.py FOLDER --seeds 1-9 --iterations 5 --matches 8

For each seed it makes a run of CSRO from little, in which credulous players have a say (README of
the grammar), and a chain of as many programs that grow by the same moves, where the first draft
joins (`benchmarks/growth_control.py`).  The run's meta-strategy, its newest member and the chain's
newest program meet the 43 bots, who take part in nothing else.  Homes are kept in FOLDER, so an
interrupted benchmark goes on, and more seeds can be added.

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
from population.members import AUTHOR

GAME, NAME, KEY = "rrps", "plain", bytes(range(32)).hex()
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


def measured(home: Path, seed: int, iterations: int, matches: int, wall: str) -> dict[str, float]:
    """PopReturn of the meta-strategy, of the newest member and of the chain that plays nothing."""
    chain = grown(seed, iterations, 1, first)[-1]
    with Arena(home, sandbox=wall) as arena:
        arena.submit(chain, GAME, f"control/grown-s{seed}-k{iterations}")
        joined = [one for one in arena.policies(GAME) if one.name.startswith(f"{AUTHOR}/{NAME}-k")]
        newest = max(joined, key=lambda one: one.name)
        predictors = f"{size(newest.payload)} predictors, {size(chain)} in the chain"
        refs = {
            "meta-strategy": f"{AUTHOR}/{NAME}",
            "newest member": newest.ref,
            "chain": f"control/grown-s{seed}-k{iterations}",
        }
        returns = {kind: reached(arena, ref, matches) for kind, ref in refs.items()}
    each = ", ".join(f"{kind} {value:.1f}" for kind, value in returns.items())
    print(f"seed {seed}: {each} ({predictors} of the newest)", flush=True)
    return returns


def seeds(text: str) -> list[int]:
    """From "1-3" to 1, 2, 3."""
    low, _, high = text.partition("-")
    return list(range(int(low), int(high or low) + 1))


def summary(found: Sequence[dict[str, float]]) -> None:
    """Prints means, and what runs have more."""
    values = {kind: [one[kind] for one in found] for kind in found[0]}
    for kind, returns in values.items():
        more = ""
        if kind != "chain" and len(returns) > 1:
            test = ttest_ind(returns, values["chain"], equal_var=False)
            low, high = test.confidence_interval(0.95)
            gap = float(np.mean(returns) - np.mean(values["chain"]))
            more = f"; {gap:.1f} [{low:.1f}, {high:.1f}] more than the chains"
        print(f"{kind}: PopReturn {told(returns)}{more}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=seeds, default=[1, 2, 3])
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--drafts", type=int, default=8)
    parser.add_argument("--hidden-share", type=float, default=0.9)
    parser.add_argument("--matches", type=int, default=8, help="with each bot")
    parser.add_argument("--sandbox", default="auto")
    options = parser.parse_args()
    found = []
    for seed in options.seeds:
        home = options.folder / f"seed{seed}"
        share, wall = options.hidden_share, options.sandbox
        run(home, seed, options.iterations, options.drafts, share, wall)
        found.append(measured(home, seed, options.iterations, options.matches, wall))
    summary(found)


if __name__ == "__main__":
    main()
