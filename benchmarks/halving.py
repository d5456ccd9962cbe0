"""What does halving save?  Races among stored drafts that met all hidden opponents, run again.

    python benchmarks/halving.py FOLDER --model grammar:parts --iterations 10

Makes a run in FOLDER whose drafts all meet everybody (as runs did before drafts were halved); one
that is there already only goes on.  Its scores then serve looks at samples of the hidden opponents,
drawn as a run draws them: by the errors of differences alone (racing), and halved besides.  An
interrupted benchmark goes on.

Prints for both the share of matches that is played, and how much less the draft that is chosen has
than the best by all matches: by the very scores that chose that one, so rather too much.  Means
over iterations and draws.  (Matches with members of sigma, a tenth of a score, all count as
played.)
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from arena import Arena
from arena.games import game as game_named
from oracle.early_stop import EarlyStop
from oracle.values import Evaluate, Opponent, Score, Task
from population.config import OracleChoice, RunConfig
from population.errors import UnknownRun
from population.evaluator import sample
from population.launch import carry_out
from population.matches import Matches
from population.measuring import measuring_for
from population.oracles import Spending, workshop
from population.records import Iteration
from population.runs import Runs

GAME, SHARE = "rrps", 0.9


@dataclass(frozen=True, slots=True)
class Race:
    """What came of one: share of the matches, and return below the best's, in throws."""

    played: float
    behind: float


def run(home: Path, name: str, model: str, drafts: int, iterations: int, wall: str) -> None:
    """A run in which everybody meets all hidden opponents at once."""
    config = RunConfig(
        GAME,
        OracleChoice("best-of-n", model, drafts=drafts),
        iterations,
        seed=1,
        matches=measuring_for(GAME, 4, 6, SHARE),
        hidden_share=SHARE,
        halving=False,
    )
    runs = Runs(home)
    shop = workshop(runs, runs.start(name, config), Spending())
    with Arena(home, sandbox=wall, workers=1) as arena:
        matches = Matches(arena, game_named(GAME), shared=True)
        carry_out(runs, name, config, shop.oracle, shop.authorship.lineage_of, matches)


def scored(iteration: Iteration) -> list[Score]:
    """Scores of those who met all the others met."""
    found = [one.score for one in iteration.attempts if one.score is not None]
    most = max((len(one.against) for one in found), default=0)
    return [one for one in found if len(one.against) == most]


def task_of(scores: Sequence[Score], iteration: Iteration, seed: int) -> Task:
    """The question that these answered, as far as a race asks; the seed draws who is met."""
    sigma = iteration.sigma.support
    met = [one.digest for one in scores[0].against]
    shown = tuple(Opponent(one, one, "", sigma[one]) for one in met if one in sigma)
    hidden = tuple(Opponent(one, one, "", 0.0) for one in met if one not in sigma)
    return Task(game_named(GAME), shown, "", seed, "k", hidden=hidden, hidden_share=SHARE)


def evaluation(task: Task, scores: Sequence[Score]) -> Evaluate:
    """Looks at stored scores; a program's source is its place among these."""
    hidden = [one.digest for one in task.hidden]

    def look(source: str, effort: float) -> Score:
        left = set(hidden) - set(sample(hidden, effort, task.seed))
        against = [one for one in scores[int(source)].against if one.digest not in left]
        weights = np.array([task.weights[one.digest] for one in against])
        scale = np.where([one.digest in hidden for one in against], len(hidden), 1.0)
        weights = weights * np.where(scale > 1, scale / (len(hidden) - len(left)), 1.0)
        u = float(weights @ [one.mean for one in against] / weights.sum())
        return Score(u, math.nan, tuple(against))

    return lambda sources, *, effort=1.0: tuple(look(source, effort) for source in sources)


def races(iteration: Iteration, stop: EarlyStop, draws: int) -> Iterator[Race]:
    """Races among the drafts of an iteration, each with another sample."""
    scores = scored(iteration)
    if len(scores) < 2:
        return
    rng = random.Random(iteration.k)
    for _ in range(draws):
        task = task_of(scores, iteration, rng.getrandbits(32))
        found = stop.measure(task, evaluation(task, scores))([str(n) for n in range(len(scores))])
        ended = [one for one in found if isinstance(one, Score)]
        played = sum(one.matches for score in ended for one in score.against)
        whole = sum(one.matches for score in scores for one in score.against)
        best = max(score.u for score in ended if not score.stopped)
        yield Race(played / whole, max(score.u for score in scores) - best)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="grammar:parts")
    parser.add_argument("--name", default="all-at-once", help="of the run")
    parser.add_argument("--drafts", type=int, default=8)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--sandbox", default="auto")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    runs = Runs(options.folder)
    try:
        iterations = runs.iterations(options.name)
    except UnknownRun:
        iterations = ()
    if len(iterations) < options.iterations:
        run(
            options.folder,
            options.name,
            options.model,
            options.drafts,
            options.iterations,
            options.sandbox,
        )
        iterations = runs.iterations(options.name)
    iterations = iterations[: options.iterations]
    drafts = sum(len(scored(one)) for one in iterations)
    print(f"{len(iterations)} iterations, {drafts} drafts, {options.draws} draws of each")
    for title, stop in (("racing", EarlyStop()), ("halving", EarlyStop(halving=True))):
        found = [one for each in iterations for one in races(each, stop, options.draws)]
        played, behind = (
            float(np.mean([getattr(one, name) for one in found])) for name in ("played", "behind")
        )
        print(f"{title}: {played:.0%} of the matches; what is chosen has {behind:.2f} less")


if __name__ == "__main__":
    main()
