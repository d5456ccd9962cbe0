"""How much too high a newcomer looks when it was chosen by the matches that its payoffs come from.

A game is simulated in which every program has a known mean against every opponent, and a match
adds noise.  The oracles, the account of their attempts and the confirmation are the real ones.
The rules choose among the same programs: the one of before, where scores, u and the payoffs come
from the same repetitions; scores from repetitions of their own; and the one of now, where drafts
race by those and are stopped when they cannot be the best any more.

    python benchmarks/winners_curse.py
    python benchmarks/winners_curse.py --tasks 2000 --spread 0

Prints, for each oracle: how far u lies above the truth, how far the newcomer's entries in the
payoff table do (weighted by sigma), and the true return of who joined, which the rule should not
change, each with its 95 % interval; and the matches that scoring took.
"""

from __future__ import annotations

import argparse
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import t as student_t

from arena.games import game
from arena.values import SELECTING
from oracle.asking import ask
from oracle.attempts import digest_in
from oracle.best_of_n import BestOfN
from oracle.drafts import Draft
from oracle.early_stop import EarlyStop
from oracle.linear_refinement import LinearRefinement
from oracle.values import Against, Failure, Opponent, Oracle, Score, Task
from population.confirmation import confirmed
from population.evaluator import shares

RRPS = game("rrps")
WEIGHTS = (0.5, 0.3, 0.2)
EVALUATION, PAYOFF = 24, 8
"""Matches, as they are by default in rock-paper-scissors."""
PROGRAM = '''class Agent:
    """Returns {mean!r} on average; number {number}."""

    def act(self, observation):
        return {mean!r}, {number}
'''


@dataclass(frozen=True)
class Family:
    """Writes programs whose true means scatter around their parent's, or around the start.

    Attributes:
      start: true mean of a first program.
      spread: standard deviation of a program's mean around it.
    """

    start: float
    spread: float
    name: str = "family"

    def write(self, task: Task, draft: Draft) -> Draft:
        """See `oracle.drafts.Writer`."""
        rng = np.random.default_rng([task.seed, zlib.crc32(draft.key.encode())])
        centre = mean_of(draft.source) if draft.source else self.start
        mean = round(float(rng.normal(centre, self.spread)), 3)
        source = PROGRAM.format(mean=mean, number=int(rng.integers(2**31)))
        return Draft(draft.key, source=source)


def mean_of(source: str) -> float:
    """True mean of a program, which is the same against everybody."""
    found = re.search(r"Returns (\S+) on average", source)
    assert found is not None
    return float(found[1])


@dataclass(frozen=True)
class Simulation:
    """Matches of one task that are drawn instead of played.

    Attributes:
      task: whose opponents are met.
      noise: standard deviation of one match.
      first: repetition that the matches of scores begin with.
    """

    task: Task
    noise: float
    first: int

    def returns(self, source: str, opponent: int, first: int, count: int) -> np.ndarray:
        """Returns of `count` repetitions in a row; the same whenever they are asked for."""
        band = [self.task.seed, zlib.crc32(source.encode()), opponent, first]
        return mean_of(source) + np.random.default_rng(band).normal(0.0, self.noise, count)

    def score(self, source: str, effort: float, first: int) -> Score:
        """What so many matches from one repetition on tell."""
        support = {one.digest: one.weight for one in self.task.opponents}
        number = shares(support, EVALUATION, effort)
        against, u, variance = [], 0.0, 0.0
        for place, (digest, weight) in enumerate(support.items()):
            drawn = self.returns(source, place, first, number[digest])
            mean, error = float(drawn.mean()), float(drawn.std(ddof=1) / np.sqrt(len(drawn)))
            against.append(Against(digest, mean, error, len(drawn)))
            u, variance = u + weight * mean, variance + (weight * error) ** 2
        return Score(u, float(np.sqrt(variance)), tuple(against))

    def __call__(
        self, sources: Sequence[str], *, effort: float = 1.0
    ) -> tuple[Score | Failure, ...]:
        """See `oracle.values.Evaluate`."""
        return tuple(self.score(source, effort, self.first) for source in sources)

    def payoff(self, source: str) -> float:
        """The program's entries in the payoff table, weighted by sigma."""
        drawn = [self.returns(source, place, 0, PAYOFF).mean() for place in range(len(WEIGHTS))]
        return float(np.dot(WEIGHTS, drawn))


def task_of(seed: int) -> Task:
    """A task whose meta-strategy mixes three programs."""
    opponents = tuple(
        Opponent(f"{place:032x}", f"k{place:02}", "class Agent:\n    pass\n", weight)
        for place, weight in enumerate(WEIGHTS)
    )
    return Task(RRPS, opponents, "", seed, "k03")


def biases(oracle: Oracle, seed: int, noise: float, *, afresh: bool) -> tuple[float, ...]:
    """Of one answer: u less the truth, its entries in U less the truth, the truth, and matches."""
    task = task_of(seed)
    simulation = Simulation(task, noise, SELECTING if afresh else 0)
    answer = ask(oracle, task, simulation)
    source, u = answer.source, answer.score
    if afresh:
        digest = digest_in(task, source)
        joining, answer = confirmed(answer, digest, lambda _: simulation.score(source, 1.0, 0))
        assert joining == digest
        u = answer.score
    assert u is not None
    truth = mean_of(source)
    tried = [one.score for one in answer.attempts if one.score] + [u] * afresh
    matches = sum(against.matches for score in tried for against in score.against)
    return u.u - truth, simulation.payoff(source) - truth, truth, matches


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=400, help="of each oracle and rule")
    parser.add_argument("--stderr", type=float, default=9.0, help="of a score, in the game's unit")
    parser.add_argument("--spread", type=float, default=10.0, help="of true means")
    told = parser.parse_args()
    # The error of a score is that of a weighted mean of the support's means.
    support = {f"{place}": weight for place, weight in enumerate(WEIGHTS)}
    number = shares(support, EVALUATION)
    parts = sum(weight**2 / number[one] for one, weight in support.items())
    noise = told.stderr / float(np.sqrt(parts))
    oracles = {
        "best-of-n, 10 drafts": BestOfN(Family(0.0, told.spread)),
        "linear, 10 refinements of a loser": LinearRefinement(Family(-60.0, told.spread)),
        "linear, 2 drafts a step": LinearRefinement(Family(-60.0, told.spread), width=2),
    }
    rules: tuple[tuple[str, bool, EarlyStop | None], ...] = (
        ("same matches", False, None),
        ("apart", True, None),
        ("apart, racing", True, EarlyStop()),
    )
    print(f"{told.tasks} tasks, a score's standard error {told.stderr}, spread {told.spread}")
    for name, oracle in oracles.items():
        for rule, afresh, early_stop in rules:
            asked = replace(oracle, early_stop=early_stop)
            found = np.array([biases(asked, s, noise, afresh=afresh) for s in range(told.tasks)])
            mean = found.mean(axis=0)
            reach = student_t.ppf(0.975, told.tasks - 1) * found.std(axis=0, ddof=1)
            reach /= np.sqrt(told.tasks)
            u, payoff, true = (
                f"{m:+6.1f} [{m - r:+5.1f}, {m + r:+5.1f}]"
                for m, r in zip(mean[:3], reach[:3], strict=True)
            )
            print(f"{name:34} {rule:13} u {u}  U {payoff}  true {true}  matches {mean[3]:.0f}")


if __name__ == "__main__":
    main()
