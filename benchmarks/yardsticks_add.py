"""What do yardsticks add?  Runs with a hidden share, beside what the usual rule makes of them.

    python benchmarks/yardsticks_add.py FOLDER --game leduc --seeds 1-3

For each seed it makes a run from little whose drafts hidden opponents choose (README of the
grammar).  From its stored payoffs, the meta-strategy after each iteration is computed again by the
rule without yardsticks; both then meet the evaluation population, which takes part in nothing else,
through their members' matches.  So both have the very same programs: what differs is whom the rule
weighs.  Which programs a run without yardsticks would have found is not asked.  Homes are kept in
FOLDER, so an interrupted benchmark goes on, and more seeds can be added.

Prints PopReturn of both after each iteration, what yardsticks have more, with 95 % intervals over
seeds (Student's t, of paired differences; none allows for there being several), and what the most
that a member wins from each mixture is, by the table that the rule saw.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from growth_control import told
from growth_runs import NAME, run, seeds

from arena import Arena
from arena.analysis.nash import nash
from arena.games import game as game_named
from arena.house.population import default_population
from population.report.facts import members_of, sigmas_of
from population.runs import Runs
from population.scores import Scores, measured


@dataclass(frozen=True, slots=True)
class Both:
    """One meta-strategy with yardsticks, and what the usual rule makes of the same payoffs.

    Attributes:
      ours: PopReturn of the run's.
      usual: of the other.
      beaten: the most that a member wins from either, by its payoff in that table.
      apart: half the sum of differences of weights, in [0, 1].
    """

    ours: float
    usual: float
    beaten: tuple[float, float]
    apart: float


def compared(home: Path, name: str, count: int, wall: str) -> list[Both]:
    """The meta-strategies after each iteration of a stored run, the first one after one."""
    runs = Runs(home)
    record, iterations = runs.get(name), runs.iterations(name)
    game, found = game_named(record.config.game), []
    members = members_of(record, iterations)
    with Arena(home, sandbox=wall) as arena:
        for digest in members:
            arena.evaluate(digest, game, count, shared=True)
        known = measured(arena, game, list(members), default_population(game.name))
        for sigma in sigmas_of(record, iterations)[1:]:
            digests = tuple(one for one in members if one in sigma.weights)
            pairs = dict.fromkeys(combinations(digests, 2), record.config.matches.payoff)
            table = arena.exact_payoffs(game, digests, pairs)
            weights = nash(table.mean, table.stderr).weights
            usual = dict(zip(digests, weights.tolist(), strict=True))
            both = (sigma.weights, usual)
            vectors = [np.array([one.get(digest, 0.0) for digest in digests]) for one in both]
            most = [float((table.mean @ vector).max()) for vector in vectors]
            returns = [pop_return(known.of(one)) for one in both]
            apart = float(np.abs(vectors[0] - vectors[1]).sum()) / 2.0
            found.append(Both(*returns, (most[0], most[1]), apart))
    return found


def pop_return(scores: Scores | None) -> float:
    assert scores is not None, "a member did not meet everybody"
    return scores.pop_return.value


def summary(each: Mapping[int, Sequence[Both]]) -> None:
    """Prints, after each iteration that all seeds have."""
    for k, row in enumerate(zip(*each.values(), strict=False), 1):
        more = [one.ours - one.usual for one in row]
        beaten = " and ".join(f"{np.mean([one.beaten[w] for one in row]):.1f}" for w in (0, 1))
        print(
            f"k {k}: PopReturn {told([one.ours for one in row])}, by the usual rule "
            f"{told([one.usual for one in row])}; more {told(more)}; weights differ by "
            f"{np.mean([one.apart for one in row]):.2f}; members win up to {beaten}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--seeds", type=seeds, default=[1, 2, 3])
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--matches", type=int, default=100, help="of a member with each bot")
    parser.add_argument("--name", help="of stored runs in FOLDER/seedN instead, such as 'd{}'")
    parser.add_argument("--sandbox", default="auto")
    options = parser.parse_args()
    each = {}
    for seed in options.seeds:
        home = options.folder / f"seed{seed}"
        if options.name is None:
            run(home, seed, options.iterations, 8, 0.9, options.sandbox, options.game)
        name = (options.name or NAME).format(seed)
        each[seed] = compared(home, name, options.matches, options.sandbox)
        for k, one in enumerate(each[seed], 1):
            print(f"seed {seed}, k {k}: {one.ours:.1f}, usual {one.usual:.1f}", flush=True)
    summary(each)


if __name__ == "__main__":
    main()
