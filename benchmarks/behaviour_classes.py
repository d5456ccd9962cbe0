"""Into how many classes of behaviour programs fall, and what a random player seems to be.

    python benchmarks/behaviour_classes.py FOLDER --game rrps --seeds 1-3

The archive of tried programs (`population.archive`) has classes by three values that are told from
two matches.  For each seed and each start of the grammar this draws drafts as a search draws them:
some against the policy that runs begin with, and as many against the first of these.  Each meets
whom it was drawn against.  A random player meets the initial policy many times: what it seems to be
is the floor, and cuts below that would tell noise apart.  With `--house` the house bots meet the
best of them, too; cuts were not chosen by these.

Prints quantiles of the values, without correction and with it, and how many classes are filled by
the cuts of now and by those of before.  The home is kept in FOLDER, so an interrupted benchmark
goes on.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from growth_runs import KEY, seeds

from arena import Arena
from arena.enrol import Enrolled
from arena.games import game as game_named
from arena.games.parts import Decision
from arena.games.protocol import Game
from arena.house.population import default_population
from arena.kinds.tabular import payload_of
from arena.submission import prepare
from oracle.grammar.search import GrammarOracle, Question
from oracle.grammar.starts import Start
from population.archive import CUTS, THIRDS, behaviour
from population.situations import retold
from registry.values import Status, Submission

MATCHES = 2
NAMES = ("predictability", "reactivity", "memory")
BEST = {"rrps": "house/greenberg", "leduc": "house/CFR+"}
QUANTILES = (0, 10, 25, 50, 75, 90, 100)
Choices = list[Sequence[Decision]]


def drawn(game: Game, start: Start, seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Drafts and whom they were drawn against, as two iterations of a search draw them."""
    oracle = GrammarOracle(start=start)
    known = game.initial
    for k in (1, 2):
        question = Question(game.name, ((known, 1.0),), 10 * seed + k)
        written = dict.fromkeys(oracle.propose(question, number) for number in range(count))
        yield from ((one, known) for one in written)
        known = next(iter(written))


def entered(arena: Arena, game: Game, sources: Sequence[str]) -> list[str]:
    """Digests of programs; they play their trials."""
    prepared = [prepare(game, one, name="check/draft", status=Status.CANDIDATE) for one in sources]
    found = arena.enter(game, prepared, ours=True)
    assert all(isinstance(one, Enrolled) for one in found), found
    return [one.version.digest for one in found if isinstance(one, Enrolled)]


def at_random(arena: Arena, game: Game) -> str:
    """Digest of a policy that takes every legal action as often."""
    assert game.stationary is not None
    table = {
        situation: tuple((one in legal) / len(legal) for one in range(len(game.actions)))
        for situation, legal in game.stationary.legal.items()
    }
    if game.states is None:
        assert game.stationary.program is not None
        return entered(arena, game, [game.stationary.program(table)])[0]
    name, payload = "check/random", payload_of(game.states, table)
    one = Submission(game.name, name, "tabular", payload, status=Status.CANDIDATE)
    return arena.register(one, ours=True).digest


def told(
    arena: Arena, game: Game, pairs: Sequence[tuple[str, str]], looks: int = 1
) -> list[Choices]:
    """What the first of each pair chose in two matches; as often as told, in others each time."""
    arena.play_pairs(game, dict.fromkeys(pairs, looks * MATCHES), shared=True)
    begun = range(0, looks * MATCHES, MATCHES)
    return [
        [one.stored.decisions(pair[0]) for one in retold(arena, game, *pair, at, at + MATCHES)]
        for pair in pairs
        for at in begun
    ]


def summary(title: str, game: Game, found: Sequence[Choices]) -> None:
    """Prints quantiles and classes."""
    throws = np.mean([sum(len(match) for match in one) for one in found])
    print(f"{title}: {len(found)} policies, {throws:.0f} choices each")
    plain, corrected = replace(CUTS, corrected=False), CUTS
    for words, cuts in (("as counted", plain), ("corrected", corrected)):
        how = [behaviour(one, len(game.actions), cuts) for one in found]
        values = np.array([(one.predictability, one.reactivity, one.memory) for one in how])
        for name, column in zip(NAMES, values.T, strict=True):
            spread = "  ".join(f"{one:.4f}" for one in np.percentile(column, QUANTILES))
            print(f"  {words:10} {name:15} {spread}")
    for words, cuts in (("now", CUTS), ("before", THIRDS)):
        filled = Counter(behaviour(one, len(game.actions), cuts).cell for one in found)
        most = max(filled.values()) / len(found)
        print(f"  by the cuts of {words}: {len(filled)} classes; the fullest has {most:.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--game", default="rrps", choices=sorted(BEST))
    parser.add_argument("--seeds", type=seeds, default=[1, 2, 3])
    parser.add_argument("--drafts", type=int, default=4, help="against each opponent")
    parser.add_argument(
        "--random", type=int, default=40, help="times the random player is looked at"
    )
    parser.add_argument("--house", action="store_true")
    parser.add_argument("--sandbox", default="auto")
    options = parser.parse_args()
    game = game_named(options.game)
    print(f"quantiles: {', '.join(f'{one} %' for one in QUANTILES)}")
    key = bytes.fromhex(KEY)
    with Arena(options.folder, sandbox=options.sandbox, seed_key=key) as arena:
        everything: list[Choices] = []
        for start in (one for one in Start if one.begins(game.name)):
            met = [
                pair for seed in options.seeds for pair in drawn(game, start, seed, options.drafts)
            ]
            sources = list(dict.fromkeys(one for pair in met for one in pair))
            digests = dict(zip(sources, entered(arena, game, sources), strict=True))
            pairs = dict.fromkeys(
                (digests[one], digests[other]) for one, other in met if one != other
            )
            found = told(arena, game, list(pairs))
            summary(f"drafts of {start.value}", game, found)
            everything += found
        summary("all drafts", game, everything)
        pair = (at_random(arena, game), *entered(arena, game, [game.initial]))
        summary("a random player", game, told(arena, game, [pair], options.random))
        if options.house:
            bots = default_population(game.name)
            best = bots.digests[bots.members.index(BEST[game.name])]
            pairs = dict.fromkeys((one, best) for one in bots.digests if one != best)
            summary(f"house bots against {BEST[game.name]}", game, told(arena, game, list(pairs)))


if __name__ == "__main__":
    main()
