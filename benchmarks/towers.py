"""Do towers of simulators still win where a share of a score comes from hidden opponents?

A scripted model answers the prompts of a run of best-of-n in rock-paper-scissors.  Every second
answer is a *tower*: it reads the heaviest opponent's program in the prompt, holds a copy of it,
lets that say what the opponent does next, and beats it.  The other answers are *students*: they
predict from what they see in the match, each with other memory lengths.  Matches are real.

    python benchmarks/towers.py --shares 0 0.5 0.8 --iterations 4

Prints for each share who joined in each iteration, how deep its tower is, its u against sigma, and
what the best tower and the best student returned by the matches that chose, to sigma and to the
hidden opponents; at the end what the last one to join and the meta-strategy score against the 43
bots (AggScore with 95 % interval).  Students and towers come in equal numbers, so that only the
score decides.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from arena import Arena, game
from oracle.models.prices import Price
from oracle.models.protocol import Reply, Request
from oracle.values import Score
from population.config import OracleChoice, RunConfig
from population.launch import carry_out
from population.matches import Matches
from population.measuring import Measuring
from population.oracles import Spending, workshop
from population.records import Iteration
from population.runs import Runs

RRPS = game("rrps")
_SHOWN = re.compile(r"## Opponent 1: .*?\n\n(`{3,})python\n(.*?)\n\1\n", re.DOTALL)
TOWER = '''"""A tower of {depth}."""

import random

BEATEN_BY = {{"ROCK": "PAPER", "PAPER": "SCISSORS", "SCISSORS": "ROCK"}}


def inner():
{source}
    return Agent


class Agent:
    """Holds a copy of its opponent, asks it for the next throw, and beats that; a tower of {depth}.

    Now and then ({often:.1%}) it throws at random.
    """

    def __init__(self):
        self.copy = inner()()

    def act(self, observation):
        seen = {{
            "my_action": observation["opponent_action"],
            "opponent_action": observation["my_action"],
        }}
        guess = self.copy.act(seen)
        if random.random() < {often}:
            return random.choice(list(BEATEN_BY))
        return BEATEN_BY[guess]
'''
STUDENT = '''"""A student."""

import random

ACTIONS = ("ROCK", "PAPER", "SCISSORS")
BEATEN_BY = {{"ROCK": "PAPER", "PAPER": "SCISSORS", "SCISSORS": "ROCK"}}
LENGTHS = {lengths}
FADE = {fade}


class Agent:
    """Predicts from what followed the last throws, by several lengths; believes who was right.

    Each length {lengths} has a count of what followed, fading by {fade}, and also stands one and
    two steps further, for opponents who foresee it.
    """

    def __init__(self):
        self.rounds = []
        self.counts = {{}}
        self.right = {{}}
        self.said = {{}}

    def act(self, observation):
        mine, theirs = observation["my_action"], observation["opponent_action"]
        if theirs is not None:
            self.learn(mine, theirs)
        self.said = self.guesses()
        if not self.said:
            return random.choice(ACTIONS)
        best = max(self.said, key=lambda name: self.right.get(name, 0.0))
        if self.right.get(best, 0.0) < {doubt}:
            return random.choice(ACTIONS)
        return self.said[best]

    def learn(self, mine, theirs):
        for name, throw in self.said.items():
            won = (ACTIONS.index(throw) - ACTIONS.index(theirs)) % 3
            self.right[name] = self.right.get(name, 0.0) * FADE + (0, 1, -1)[won]
        for length in LENGTHS:
            if len(self.rounds) >= length:
                key = (length, tuple(self.rounds[-length:]))
                seen = self.counts.setdefault(key, dict.fromkeys(ACTIONS, 0.0))
                for action in ACTIONS:
                    seen[action] *= FADE
                seen[theirs] += 1.0
        self.rounds.append((mine, theirs))

    def guesses(self):
        found = {{}}
        for length in LENGTHS:
            seen = self.counts.get((length, tuple(self.rounds[-length:])))
            if seen and len(self.rounds) >= length:
                throw = max(ACTIONS, key=lambda action: seen[action])
                for step in range(3):
                    throw = BEATEN_BY[throw]
                    found[length, step] = throw
        return found
'''


@dataclass
class Scripted:
    """Writes towers and students in turn; what it writes follows from the call's key."""

    name: str = "scripted:towers"
    price: Price = field(default_factory=lambda: Price(0.0, 0.0))

    def generate(self, request: Request) -> Reply:
        """See `oracle.models.protocol.Model`."""
        rng = random.Random(request.key)
        number = int(re.findall(r"\d+", request.key)[-1])
        shown = _SHOWN.search(request.prompt)
        text = tower(shown[2], rng) if shown and number % 2 else student(rng)
        reply = f"```python\n{text}```\n"
        tokens = len(request.prompt) // 4, len(reply) // 4
        return Reply(reply, prompt_tokens=tokens[0], output_tokens=tokens[1], cost=0.0)

    def close(self) -> None:
        """Nothing is open."""


def depth_of(source: str) -> int:
    """How many copies a program holds within each other; 0 for one that holds none."""
    return source.count("def inner():")


def tower(opponent: str, rng: random.Random) -> str:
    """A program that foresees this one by a copy of it."""
    inner = textwrap.indent(opponent, "    ", lambda line: bool(line.strip()))
    often = round(rng.uniform(0.0, 0.1), 3)
    return TOWER.format(depth=depth_of(opponent) + 1, source=inner, often=often)


def student(rng: random.Random) -> str:
    """A program that predicts from what it sees."""
    lengths = tuple(sorted(rng.sample(range(1, 6), 3)))
    fade, doubt = round(rng.uniform(0.9, 0.99), 3), round(rng.uniform(0.0, 1.0), 2)
    return STUDENT.format(lengths=lengths, fade=fade, doubt=doubt)


@dataclass(frozen=True)
class Plan:
    """What every run has in common."""

    iterations: int
    drafts: int
    seed: int
    matches: int


def play(folder: Path, share: float, plan: Plan) -> None:
    """A run with that share, and what it came to."""
    choice = OracleChoice("best-of-n", "openai:scripted", drafts=plan.drafts, shown="top-k:1")
    config = RunConfig(
        "rrps", choice, plan.iterations, plan.seed, matches=Measuring(8, 24), hidden_share=share
    )
    with Arena(folder, seed_key=bytes(range(32)), sandbox="process") as arena:
        runs = Runs(arena.home.path)
        record = runs.start("towers", config)
        shop = workshop(runs, record, Spending(), Scripted())
        matches = Matches(arena, RRPS, shared=True)  # the scripts are this file's own
        lineage_of = shop.authorship.lineage_of
        result = carry_out(runs, "towers", config, shop.oracle, lineage_of, matches)
        print(f"share {share:g}")
        for one in runs.iterations("towers"):
            _say(arena, one, share)
        for name, digest in (
            ("last to join", result.members[-1].digest),
            ("meta-strategy", result.mixture.digest),
        ):
            score = arena.evaluate(digest, RRPS, plan.matches, shared=True).scores.agg_score
            assert score is not None
            told = f"{score.value:6.1f} [{score.low:.1f}, {score.high:.1f}]"
            print(f"  {name:14} AggScore {told}", flush=True)


def _say(arena: Arena, iteration: Iteration, share: float) -> None:
    """Who joined, and what the best of both kinds returned to sigma and to the hidden opponents."""
    tried = [one for one in iteration.attempts if one.score is not None]
    sources = arena.versions([*(one.digest for one in tried), iteration.accepted])
    depth = depth_of(sources[iteration.accepted].payload)
    who = f"tower of {depth}" if depth else "student"
    line = f"  k{iteration.k:02} {who:11} u {iteration.u:+7.1f} +- {iteration.stderr:5.1f}"
    for kind, towers in (("tower", True), ("student", False)):
        same = [one for one in tried if bool(depth_of(sources[one.digest].payload)) is towers]
        best = max((one.score for one in same if one.score), key=lambda one: one.u, default=None)
        if best is None:
            continue
        shown = set(iteration.sigma.support)
        line += f"   best {kind} {_mean(best, shown, iteration.sigma.support):+7.1f}"
        if share:
            line += f" hidden {_mean(best, {a.digest for a in best.against} - shown):+7.1f}"
    print(line, flush=True)


def _mean(score: Score, among: set[str], weights: Mapping[str, float] | None = None) -> float:
    """What a program returned against some opponents, evenly or by weight."""
    met = [one for one in score.against if one.digest in among]
    shares = [weights[one.digest] if weights else 1.0 for one in met]
    return sum(a * one.mean for a, one in zip(shares, met, strict=True)) / sum(shares)


def main() -> None:
    """Prints what every share comes to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shares", type=float, nargs="+", default=[0.0, 0.5, 0.8])
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--drafts", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--matches", type=int, default=8, help="with each of the 43 bots")
    told = parser.parse_args()
    plan = Plan(told.iterations, told.drafts, told.seed, told.matches)
    for share in told.shares:
        with tempfile.TemporaryDirectory() as folder:
            play(Path(folder) / "home", share, plan)


if __name__ == "__main__":
    main()
