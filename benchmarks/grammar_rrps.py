"""Plays grammar policies against hand-written opponents: `benchmarks/grammar_rrps.py [FILE]...`.

Prints the mean return per opponent and per group, PopReturn, PopExpl and AggScore of each group,
and microseconds an act.  FILE is a policy's source, or a word for a sentence of the grammar:
`full`, which plays where no FILE is named, or `before`, the same predictors judged by one record
each and blended at one rate, as the full sentence was before that.  `--field zoo`: the two halves
of the first zoo, both watched while the grammar was developed, and the kinds that were written
later.  `--field contest`: programs as people hand them in to contests, to develop against;
`--field held-out`: as many that nothing was tuned on.  `--field drawn`: opponents drawn from
families, some to choose by and others to check with.
The public evaluation bots take no part.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from grammar_contest import DEVELOPMENT, HELD_OUT
from grammar_drawn import DRAWN
from grammar_zoo import LATER, ZOO

from oracle.grammar import judging, rrps
from oracle.grammar.genome import write_source

MOVES = ("ROCK", "PAPER", "SCISSORS")
THROWS = 1000
FIELDS = {
    "zoo": {"half 1": ZOO[::2], "half 2": ZOO[1::2], "later": LATER},
    "contest": {"development": DEVELOPMENT},
    "drawn": {"to choose by": DRAWN[:80], "to check with": DRAWN[80:]},
    "held-out": {"held out": HELD_OUT},
}
SENTENCES = {
    "full": rrps.full_genome,
    "before": judging.simplest,
}
"""Word -> sentence."""


def source_of(text):
    """Of a sentence's word, or in a file."""
    return write_source(SENTENCES[text]()) if text in SENTENCES else Path(text).read_text()


def load(source):
    namespace = {"__name__": "policy"}
    exec(compile(source, "<policy>", "exec"), namespace)
    return namespace["Agent"]


def match(agent, maker, seed):
    """Return of an agent class against an opponent, and the CPU seconds that the agent took."""
    random.setstate(random.Random(seed + 1).getstate())
    player, policy = maker(random.Random(seed)), agent()
    mine, theirs, total, seconds = [], [], 0, 0.0
    observation = {"my_action": None, "opponent_action": None}
    for _ in range(THROWS):
        begin = time.process_time()
        name = policy.act(observation)
        seconds += time.process_time() - begin
        move, other = MOVES.index(name), player.move(theirs, mine)
        mine.append(move)
        theirs.append(other)
        observation = {"my_action": name, "opponent_action": MOVES[other]}
        total += (move - other + 1) % 3 - 1
    return total, seconds


def measure(agent, group, games):
    """Mean return against each opponent of a group, and CPU seconds a match."""
    means, seconds = [], 0.0
    for number, (_, maker) in enumerate(group):
        played = [match(agent, maker, 1000 * number + 2 * game) for game in range(games)]
        means.append(sum(total for total, _ in played) / games)
        seconds += sum(cost for _, cost in played)
    return means, seconds / len(group) / games


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("policies", nargs="*", default=["full"], metavar="FILE")
    parser.add_argument("--field", choices=FIELDS, default="zoo")
    parser.add_argument("--games", type=int, default=1)
    parser.add_argument("--brief", action="store_true", help="groups only")
    options = parser.parse_args()
    agents = [load(source_of(text)) for text in options.policies]
    for title, group in FIELDS[options.field].items():
        found = [measure(agent, group, options.games) for agent in agents]
        if not options.brief:
            for place, (name, _) in enumerate(group):
                print(f"{name:24s}" + "".join(f"{means[place]:8.1f}" for means, _ in found))
        for number, (means, seconds) in enumerate(found):
            mean, lost = sum(means) / len(means), max(0.0, -min(means))
            print(
                f"{title}, policy {number + 1}: PopReturn {mean:.1f}, PopExpl {lost:.1f}, "
                f"AggScore {mean - lost:.1f}; {seconds / THROWS * 1e6:.0f} microseconds an act"
            )


if __name__ == "__main__":
    main()
