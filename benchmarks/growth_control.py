"""What plain programs reach that grow with and without matches: `benchmarks/growth_control.py`.

Each program of a chain is a draft of `--model grammar:plain` against all programs before it, in
equal parts.  Chains differ in which draft joins:

- selected: of so many drafts, the one that returns most against credulous players, which are drawn
  anew in each step, as the hidden opponents of `--hidden-share` are (one short match with each);
- as large: of as many drafts, the one whose number of predictors is nearest to that of the selected
  chain's program in the same step; nothing is played;
- first: the first draft, whatever it is; nothing is played.

More predictors are better on average, so what selected chains have more than the first drafts is
due to size as well.  What they have more than chains that are as large is due to the matches.

    python benchmarks/growth_control.py --field held-out

Prints PopReturn of the newest program after so many steps, one match with each opponent of the
field, and at the end means with the 95 % interval over seeds (Student's t) of each and of what the
selected chain has more than the mean of the others of its seed.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence

import numpy as np
from grammar_rrps import FIELDS, load, measure
from scipy.stats import t as student_t
from selection_signal import versus

from oracle.grammar import rrps
from oracle.grammar.genome import read_source, write_source
from oracle.grammar.search import GrammarOracle, Question
from oracle.grammar.starts import Start

Choose = Callable[[int, Sequence[str]], str]
"""From the number of a step and its drafts to the one that joins."""


def grown(seed: int, steps: int, drafts: int, choose: Choose) -> list[str]:
    """The programs of one chain, oldest first."""
    oracle, chain = GrammarOracle(Start.PLAIN), list[str]()
    for step in range(1, steps + 1):
        opponents = tuple((source, 1.0 / len(chain)) for source in chain)
        names = tuple(f"k{place:02}" for place in range(1, step))
        question = Question("rrps", opponents, 1000 * seed + step, names)
        written = dict.fromkeys(oracle.propose(question, number) for number in range(drafts))
        chain.append(choose(step, list(written)))
    return chain


def selected(seed: int, players: int, throws: int) -> Choose:
    """Chooses by matches with credulous players."""
    rng = random.Random(f"credulous/{seed}")

    def choose(step: int, drafts: Sequence[str]) -> str:
        drawn = [write_source(rrps.credulous_genome(rng)) for _ in range(players)]
        opponents = [load(source) for source in drawn]
        returns = []
        for source in drafts:
            agent = load(source)
            played = enumerate(opponents)
            returns.append(
                np.mean([versus(agent, one, 100 * step + n, throws) for n, one in played])
            )
        return drafts[int(np.argmax(returns))]

    return choose


def as_large(sizes: Sequence[float]) -> Choose:
    """Chooses by the number of predictors alone."""
    return lambda step, drafts: min(drafts, key=lambda one: abs(size(one) - sizes[step - 1]))


def first(step: int, drafts: Sequence[str]) -> str:
    """The first draft."""
    return drafts[0]


def size(source: str) -> int:
    """How many predictors a program has."""
    genome = read_source(source)
    assert isinstance(genome, rrps.RrpsGenome)
    return len(genome.parts)


def told(values: Sequence[float]) -> str:
    """Mean with its 95 % interval."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return f"{mean:.1f}"
    error = float(np.std(values, ddof=1)) / len(values) ** 0.5
    half = error * float(student_t.ppf(0.975, len(values) - 1))
    return f"{mean:.1f} [{mean - half:.1f}, {mean + half:.1f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--field", choices=FIELDS, default="contest")
    parser.add_argument("--steps", type=int, nargs="+", default=[5])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5, 6, 7, 8])
    parser.add_argument("--drafts", type=int, default=24)
    parser.add_argument("--players", type=int, default=20)
    parser.add_argument("--throws", type=int, default=300, help="of a match that chooses")
    parser.add_argument("--controls", type=int, default=2, help="of each kind, for each seed")
    options = parser.parse_args()
    field = [one for group in FIELDS[options.field].values() for one in group]
    longest, drafts = max(options.steps), options.drafts
    found: dict[tuple[int, str], list[float]] = {}
    for seed in options.seeds:
        chosen = grown(seed, longest, drafts, selected(seed, options.players, options.throws))
        sizes = [size(source) for source in chosen]
        others = [100 * (number + 1) + seed for number in range(options.controls)]
        chains = {
            "selected": [chosen],
            "as large": [grown(one, longest, drafts, as_large(sizes)) for one in others],
            "first": [grown(one, longest, 1, first) for one in others],
        }
        for step in options.steps:
            for kind, some in chains.items():
                newcomers = [chain[step - 1] for chain in some]
                returns = [float(np.mean(measure(load(one), field, 1)[0])) for one in newcomers]
                found.setdefault((step, kind), []).append(float(np.mean(returns)))
                each = ", ".join(
                    f"{value:.1f} ({size(one)} predictors)"
                    for value, one in zip(returns, newcomers, strict=True)
                )
                print(f"seed {seed}, step {step}, {kind}: {each}", flush=True)
    for (step, kind), values in found.items():
        more = np.subtract(found[step, "selected"], values).tolist()
        rest = "" if kind == "selected" else f"; selected chains have {told(more)} more"
        print(f"step {step}, {kind}: PopReturn {told(values)}{rest}")


if __name__ == "__main__":
    main()
