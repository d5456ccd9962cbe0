"""What the loop adds to growing: whole plain runs beside chains that play nothing.

    python benchmarks/growth_runs.py FOLDER --seeds 1-5

For each seed it makes a run of CSRO from little, in which credulous players have a say (README of
the grammar), and two chains of as many programs that grow by the same moves and play nothing
(`benchmarks/growth_control.py`): in one the draft joins, of as many as the run has, that is nearest
in size to what joined the run in that step, in the other the first draft.  After so many steps the
program that joined the run last and the chains' meet the 43 bots, who take part in nothing else,
and so does the run's meta-strategy in the end.  Homes are kept in FOLDER, so an interrupted
benchmark goes on, and more seeds can be added (not to a folder of before there were yardsticks,
whose runs are others).  `--no-runs` makes chains alone: of first drafts, and where `--sizes` tells
how many predictors what joined had after which steps, as large ones.

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
from growth_control import as_large, first, grown, size, told
from scipy.stats import ttest_ind

from arena import Arena
from arena.enrol import Enrolled
from population.members import AUTHOR
from population.runs import Runs
from registry.values import PolicyVersion

GAME, NAME, KEY = "rrps", "plain", bytes(range(32)).hex()
Reached = dict[tuple[str, int], float]
"""PopReturn by whose program it is, and after which step."""
RUN, AS_LARGE, FIRST, META = "run", "as large", "first draft", "meta-strategy"
COUNTS = {GAME: ("--payoff-matches", "4", "--evaluation-matches", "6")}
"""Where a game's own numbers would make runs of many hours."""


def run(
    home: Path,
    seed: int,
    iterations: int,
    drafts: int,
    share: float,
    wall: str,
    game: str = GAME,
) -> None:
    """A whole run; one that is finished already is only told again."""
    words = ["run", "--home", str(home), "--game", game, "--model", "grammar:plain"]
    words += ["--oracle", "best-of-n", "--drafts", str(drafts), "--hidden-share", str(share)]
    words += [*COUNTS.get(game, ()), "--seed", str(seed), "--iterations", str(iterations)]
    words += ["--name", NAME, "--sandbox", wall, "--seed-key", KEY]
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


def entered(arena: Arena, kind: str, seed: int, step: int, chain: Sequence[str]) -> PolicyVersion:
    """The program of a chain's step, as a policy of the home."""
    name = f"control/{kind.replace(' ', '-')}-s{seed}-k{step}"
    found = arena.submit(chain[step - 1], GAME, name)
    assert isinstance(found, Enrolled), found
    return found.version


def chains_alone(
    home: Path,
    seed: int,
    steps: Sequence[int],
    sizes: Sequence[tuple[int, float]],
    drafts: int,
    matches: int,
    wall: str,
) -> Reached:
    """PopReturn after each step of a chain of first drafts, and of one with such sizes."""
    found, last = Reached(), max(steps)
    chains = {FIRST: grown(100 + seed, last, 1, first)}
    if sizes:
        wanted = np.interp(range(1, last + 1), *zip(*sizes, strict=True)).tolist()
        chains[AS_LARGE] = grown(100 + seed, last, drafts, as_large(wanted))
    with Arena(home, sandbox=wall, seed_key=bytes.fromhex(KEY)) as arena:
        for step in steps:
            for kind, chain in chains.items():
                version = entered(arena, kind, seed, step, chain)
                value = found[kind, step] = reached(arena, version.ref, matches)
                told_size = f"{size(version.payload)} predictors"
                print(f"seed {seed}, step {step}: {kind} {value:.1f} ({told_size})", flush=True)
    return found


def measured(
    home: Path, seed: int, steps: Sequence[int], drafts: int, matches: int, wall: str
) -> Reached:
    """PopReturn after each step of what joined the run last, and of the chains."""
    accepted = {one.k: one.accepted for one in Runs(home).iterations(NAME)}
    found, last = Reached(), max(steps)
    with Arena(home, sandbox=wall) as arena:
        newest, joined = "", list[PolicyVersion]()
        for k in range(1, last + 1):
            newest = accepted[k] or newest
            joined.append(arena.policy(newest, GAME))
        sizes = [size(one.payload) for one in joined]
        chains = {
            AS_LARGE: grown(100 + seed, last, drafts, as_large(sizes)),
            FIRST: grown(100 + seed, last, 1, first),
        }
        for step in steps:
            programs = {RUN: joined[step - 1]}
            for kind, chain in chains.items():
                programs[kind] = entered(arena, kind, seed, step, chain)
            each = []
            for kind, version in programs.items():
                value = found[kind, step] = reached(arena, version.ref, matches)
                each.append(f"{kind} {value:.1f} ({size(version.payload)} predictors)")
            print(f"seed {seed}, step {step}: {', '.join(each)}", flush=True)
        found[META, last] = reached(arena, f"{AUTHOR}/{NAME}", matches)
        print(f"seed {seed}: {META} {found[META, last]:.1f}", flush=True)
    return found


def seeds(text: str) -> list[int]:
    """From "1-3" to 1, 2, 3."""
    low, _, high = text.partition("-")
    return list(range(int(low), int(high or low) + 1))


def step_and_size(text: str) -> tuple[int, float]:
    """From "5:20" to 5, 20."""
    step, _, count = text.partition(":")
    return int(step), float(count)


def summary(found: Sequence[Reached]) -> None:
    """Prints means, and what runs have more."""
    for kind, step in found[0]:
        values = [one[kind, step] for one in found]
        more = ""
        if kind in (AS_LARGE, FIRST) and (RUN, step) in found[0] and len(found) > 1:
            runs = [one[RUN, step] for one in found]
            low, high = ttest_ind(runs, values, equal_var=False).confidence_interval(0.95)
            gap = float(np.mean(runs) - np.mean(values))
            more = f"; runs have {gap:.1f} [{low:.1f}, {high:.1f}] more"
        print(f"step {step}, {kind}: PopReturn {told(values)}{more}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=seeds, default=[1, 2, 3])
    parser.add_argument("--steps", type=int, nargs="+", default=[1, 2, 3, 5])
    parser.add_argument("--drafts", type=int, default=8)
    parser.add_argument("--hidden-share", type=float, default=0.9)
    parser.add_argument("--matches", type=int, default=4, help="with each bot")
    parser.add_argument("--runs", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--sizes", type=step_and_size, nargs="+", default=[], metavar="STEP:SIZE")
    parser.add_argument("--sandbox", default="auto")
    options = parser.parse_args()
    found = []
    for seed in options.seeds:
        home = options.folder / f"seed{seed}"
        share, wall = options.hidden_share, options.sandbox
        if not options.runs:
            found.append(
                chains_alone(
                    home,
                    seed,
                    options.steps,
                    options.sizes,
                    options.drafts,
                    options.matches,
                    wall,
                )
            )
            continue
        run(home, seed, max(options.steps), options.drafts, share, wall)
        told_of = measured(home, seed, options.steps, options.drafts, options.matches, wall)
        found.append(told_of)
    summary(found)


if __name__ == "__main__":
    main()
