"""Plays a grammar policy against the zoo: `python benchmarks/grammar_rrps.py [FILE] [--games N]`.

Prints the mean return per opponent and over three groups: the two halves of the first zoo (every
other opponent), both watched while the grammar was developed, and the kinds that were
written later.  FILE is a policy's source; without it the full sentence of the grammar plays.
The public evaluation bots take no part.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from grammar_zoo import LATER, ZOO

from oracle.grammar import rrps
from oracle.grammar.genome import write_source

MOVES = ("ROCK", "PAPER", "SCISSORS")
THROWS = 1000


def load(source):
    namespace = {"__name__": "policy"}
    exec(compile(source, "<policy>", "exec"), namespace)
    return namespace["Agent"]


def match(agent, maker, seed):
    """Return of an agent class against a zoo player, and the CPU seconds that the agent took."""
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--games", type=int, default=1)
    options = parser.parse_args()
    source = options.file.read_text() if options.file else write_source(rrps.full_genome())
    agent, groups, seconds = load(source), {"half 1": [], "half 2": [], "later": []}, 0.0
    for number, (name, maker) in enumerate((*ZOO, *LATER)):
        played = [match(agent, maker, 1000 * number + 2 * game) for game in range(options.games)]
        mean = sum(total for total, _ in played) / options.games
        seconds += sum(cost for _, cost in played) / options.games
        group = "later" if number >= len(ZOO) else ("half 1", "half 2")[number % 2]
        groups[group].append(mean)
        print(f"{name:24s} {group:9s} {mean:8.1f}")
    for group, values in groups.items():
        print(f"{group}: mean {sum(values) / len(values):.1f}, worst {min(values):.1f}")
    print(f"{seconds / (len(ZOO) + len(LATER)) / THROWS * 1e6:.0f} microseconds an act")


if __name__ == "__main__":
    main()
