"""Does a match against its own kind tell a good program from a bad one?  `selection_signal.py`.

Draws sentences of the grammar with as many predictors each, and compares what they return against
hand-written programs with what they return against each other, against sentences of one predictor
that never play safe, against credulous players and against strangers without memory.  A search that
chooses by matches against its own population can find no more than such a correlation has.
`--full` takes the full sentence and drafts of `--model grammar` in their place, which are what a
search that begins there chooses among.

    python benchmarks/selection_signal.py --sentences 16 --strangers 12
    python benchmarks/selection_signal.py --full --sentences 16 --strangers 40
    python benchmarks/selection_signal.py --step --strangers 40

Prints each criterion's spread and its rank correlation (Spearman) with the return on the field.
`--step` asks instead who can tell a step that is known to have raised the full sentence: what it
returns more against each kind of opponent, and against itself, than with the blend of before.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from grammar_rrps import DEVELOPMENT, DRAWN, MOVES, SENTENCES, THROWS, load, measure
from scipy.stats import spearmanr

from oracle.grammar import rrps
from oracle.grammar.genome import write_source
from oracle.grammar.search import GrammarOracle, Question

FIELD = DEVELOPMENT[::3]
FULL_FIELD = [*DEVELOPMENT, *DRAWN[:80]]
"""More of them, because drafts of the full sentence differ less."""
PREFERENCE = 0.8
"""How often a stranger does what it prefers after the last joint throw."""


def sentence(parts: int, seed: int, choice: rrps.Choice) -> rrps.RrpsGenome:
    """A sentence of distinct predictors, one of which can stand alone."""
    rng = random.Random(f"{parts}/{seed}")
    drawn: dict[rrps.Part, None] = {rrps.single_genome(rng).parts[0]: None}
    while len(drawn) < parts:
        drawn[rrps.random_part(rng)] = None
    return rrps.RrpsGenome(tuple(drawn), choice=choice)


def drafts(count: int, seed: int = 1) -> list[str]:
    """The full sentence, and what a search writes against it."""
    oracle = GrammarOracle()
    full = write_source(rrps.full_genome())
    question = Question("rrps", ((full, 1.0),), seed)
    return [full, *(oracle.propose(question, number) for number in range(1, count))]


def stranger(seed: int) -> type:
    """A policy without memory beyond the last joint throw."""
    rng, last = random.Random(seed), (None, *MOVES)
    table = {(mine, theirs): rng.choice(MOVES) for mine in last for theirs in last}

    class Agent:
        def act(self, observation: dict[str, Any]) -> str:
            preferred = table[observation["my_action"], observation["opponent_action"]]
            return preferred if random.random() < PREFERENCE else random.choice(MOVES)

    return Agent


def versus(one: Any, other: Any, seed: int, throws: int = THROWS) -> int:
    """Return of the first in a match."""
    random.setstate(random.Random(seed).getstate())
    players, total = (one(), other()), 0
    seen = [{"my_action": None, "opponent_action": None} for _ in players]
    for _ in range(throws):
        mine, theirs = (player.act(view) for player, view in zip(players, seen, strict=True))
        total += (MOVES.index(mine) - MOVES.index(theirs) + 1) % 3 - 1
        seen = [
            {"my_action": mine, "opponent_action": theirs},
            {"my_action": theirs, "opponent_action": mine},
        ]
    return total


def against(agents: Sequence[Any], others: Sequence[Any]) -> np.ndarray:
    """Mean return of each, one match with each of the others."""
    return np.array(
        [np.mean([versus(a, b, 100 * i + j) for j, b in enumerate(others)])
         for i, a in enumerate(agents)]
    )  # fmt: skip


def tell_step(kinds: dict[str, Sequence[Any]], matches: int) -> None:
    """Prints what the full sentence returns more than with the blend of before."""
    now, before = (load(write_source(SENTENCES[name]())) for name in ("full", "before"))
    for kind, others in kinds.items():
        more = [
            versus(now, other, 1000 + place) - versus(before, other, 1000 + place)
            for place, other in enumerate(others)
        ]
        print(f"against {kind}: {_mean(more)} more")
    head_to_head = [versus(now, before, 5000 + number) for number in range(matches)]
    print(f"against the blend of before: {_mean(head_to_head)}")


def _mean(values: Sequence[float]) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):+.1f} (standard error {error:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=16)
    parser.add_argument("--strangers", type=int, default=12)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--full", action="store_true", help="drafts of the full sentence")
    parser.add_argument("--step", action="store_true", help="a step that is known to pay")
    options = parser.parse_args()
    singles = [sentence(1, n, rrps.RECKLESS) for n in range(options.strangers)]
    believers = [rrps.credulous_genome(random.Random(n)) for n in range(options.strangers)]
    kinds: dict[str, Sequence[Any]] = {
        "reckless sentences of one predictor": [load(write_source(one)) for one in singles],
        "credulous players": [load(write_source(one)) for one in believers],
        "strangers without memory": [stranger(seed) for seed in range(options.strangers)],
    }
    if options.step:
        tell_step(kinds, options.strangers)
        return
    if options.full:
        title, opponents = "the full sentence and drafts", FULL_FIELD
        sources = drafts(options.sentences)
    else:
        genomes = [sentence(options.parts, n, rrps.Choice()) for n in range(options.sentences)]
        title, opponents = f"{options.parts} predictors", FIELD
        sources = [write_source(genome) for genome in genomes]
    agents = [load(source) for source in sources]
    returns = np.array([measure(agent, opponents, 1)[0] for agent in agents])
    field = returns.mean(axis=1)
    found = {
        "each other": against(agents, agents),
        **{kind: against(agents, others) for kind, others in kinds.items()},
    }
    print(f"{title}, against the field: {_told(field)}")
    if options.full:
        for number, less in enumerate(returns[1:] - returns[0], start=1):
            error = less.std(ddof=1) / np.sqrt(len(less))
            print(f"draft {number}: {less.mean():+.1f} (standard error {error:.1f})")
    for name, returns in found.items():
        print(f"against {name}: {_told(returns)}, rank correlation "
              f"{spearmanr(returns, field).statistic:+.2f}")  # fmt: skip


def _told(returns: np.ndarray) -> str:
    return f"mean {returns.mean():+.1f}, standard deviation {returns.std(ddof=1):.1f}"


if __name__ == "__main__":
    main()
