"""What plain programs reach that grow and are never played: `benchmarks/growth_control.py`.

Each program is the first draft of `--model grammar:plain` against all programs before it, in equal
parts, and joins whatever it is worth: growth without selection.  What a run of `csro run --model
grammar:plain` has more than this at as many predictors is due to the matches that it plays.

    python benchmarks/growth_control.py --field held-out --steps 5 10

Prints PopReturn of the newest program after so many steps, for each seed; one match with each
opponent of the field.
"""

from __future__ import annotations

import argparse

import numpy as np
from grammar_rrps import FIELDS, load, measure

from oracle.grammar.genome import read_source
from oracle.grammar.search import GrammarOracle, Question
from oracle.grammar.starts import Start


def grown(seed: int, steps: int) -> list[str]:
    """The programs of one chain, oldest first."""
    oracle, chain = GrammarOracle(Start.PLAIN), list[str]()
    for step in range(1, steps + 1):
        opponents = tuple((source, 1.0 / len(chain)) for source in chain)
        names = tuple(f"k{place:02}" for place in range(1, step))
        chain.append(oracle.propose(Question("rrps", opponents, 1000 * seed + step, names)))
    return chain


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--field", choices=FIELDS, default="contest")
    parser.add_argument("--steps", type=int, nargs="+", default=[1, 5, 10])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    for seed in range(1, options.seeds + 1):
        chain = grown(seed, max(options.steps))
        for step in options.steps:
            source = chain[step - 1]
            agent, parts = load(source), len(read_source(source).parts)
            for title, group in FIELDS[options.field].items():
                means, _ = measure(agent, group, 1)
                print(
                    f"seed {seed}, step {step}: {parts} predictors, PopReturn "
                    f"{np.mean(means):.1f} against {title}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
