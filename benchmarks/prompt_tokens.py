"""How much a run asks: calls, and characters of its prompts, with a model that is scripted.

The model answers every question with a relative of the game's starter policy: the same program with
other constants, as models do that improve on what they are shown.  It is no judge of prompts; it
makes the cost of a run comparable between versions of this project.  Tokens are characters / 4.
None of its answers is a best response; `exact_ending.py` has a search where one is.

    python benchmarks/prompt_tokens.py --game leduc --iterations 2 --generations 4
    PYTHONPATH=/path/of/another/version python benchmarks/prompt_tokens.py   # the same run there

Prints, by iteration, the calls, the mean and the longest prompt, and the tokens of all of them.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from arena import Arena
from arena.games import game as game_named
from arena.games.protocol import Game
from oracle.models.prices import Price
from oracle.models.protocol import Reply, Request
from population.config import OracleChoice, RunConfig
from population.launch import carry_out
from population.matches import Matches
from population.measuring import Measuring
from population.oracles import Spending, workshop
from population.runs import Runs

LESSON = '''

def lesson_{number}(told):
    """Number {number} of what the program remembers of earlier opponents; it is looked up."""
    return told * {number} % 97 - {number} / (1 + abs(told))
'''
"""What a longer program has more of; all relatives share it."""
_CONSTANT = re.compile(r"\b0\.\d+\b|\b\d+\b(?=\)|  #|$)", re.MULTILINE)


@dataclass
class Scripted:
    """Answers with relatives of a program; keeps how long every question was.

    Attributes:
      source: the program.
      asked: key of a call to the characters of its prompt.
    """

    source: str
    asked: dict[str, int] = field(default_factory=dict)
    name: str = "scripted:relatives"
    price: Price = field(default_factory=lambda: Price(0.0, 0.0))

    def generate(self, request: Request) -> Reply:
        """See `oracle.models.protocol.Model`."""
        size = len(request.system) + len(request.prompt)
        self.asked[request.key] = size
        text = relative(self.source, random.Random(request.key))
        reply = f"A relative.\n\n```python\n{text}```\n"
        tokens = size // 4, len(reply) // 4
        return Reply(reply, prompt_tokens=tokens[0], output_tokens=tokens[1], cost=0.0)

    def close(self) -> None:
        """Nothing is open."""


def relative(source: str, rng: random.Random) -> str:
    """The same program with other constants."""

    def other(found: re.Match[str]) -> str:
        return f"{rng.uniform(0.05, 0.95):.3f}" if "." in found[0] else found[0]

    text = _CONSTANT.sub(other, source)
    text = text.replace("(self.folded + 1)", f"(self.folded + {rng.randrange(1, 9)})")
    return text.replace("WINDOW = ", f"SALT = {rng.randrange(9**6)}\nWINDOW = ")


def longer(source: str, characters: int) -> str:
    """A program with so many characters at least."""
    number = 0
    while len(source) < characters:
        source += LESSON.format(number=number)
        number += 1
    return source


def play(
    folder: Path, game: Game, iterations: int, generations: int, seed: int, characters: int
) -> dict[str, int]:
    """A run with the scripted model; returns the prompts' characters by call."""
    choice = OracleChoice("alpha-evolve", "openai:scripted", refinements=generations)
    counts = Measuring(8, 24)
    config = RunConfig(game.name, choice, iterations, seed, matches=counts)
    model = Scripted(longer(game.starter.source, characters))
    with Arena(folder, seed_key=bytes(range(32)), sandbox="process") as arena:
        runs = Runs(arena.home.path)
        record = runs.start("tokens", config)
        shop = workshop(runs, record, Spending(), model)
        matches = Matches(arena, game)
        carry_out(runs, "tokens", config, shop.oracle, shop.authorship.lineage_of, matches)
        for one in runs.iterations("tokens"):
            print(f"k{one.k:02}: {len(one.attempts)} attempts, u {one.u:+.1f} +- {one.stderr:.1f}")
    return model.asked


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--iterations", type=int, default=2)
    parser.add_argument("--generations", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", type=int, default=12_000, help="characters of a program")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        game = game_named(told.game)
        place = Path(folder) / "home"
        told_of = (told.iterations, told.generations, told.seed, told.program)
        asked = play(place, game, *told_of)
    by_task: dict[str, list[int]] = defaultdict(list)
    for key, size in asked.items():
        by_task[key.partition("/")[0]].append(size)
    print(f"{'':9} {'calls':>5} {'mean prompt':>12} {'longest':>8} {'tokens':>9}")
    for task, sizes in sorted(by_task.items()):
        print(_row(task, sizes))
    print(_row("all", [size for sizes in by_task.values() for size in sizes]))


def _row(name: str, sizes: list[int]) -> str:
    mean, most, tokens = sum(sizes) // len(sizes), max(sizes), sum(sizes) // 4
    return f"{name:9} {len(sizes):5} {mean:12,} {most:8,} {tokens:9,}"


if __name__ == "__main__":
    main()
