"""Which programs this grammar writes, as a short digest.

A run by a grammar of before is no run by this one, so that a run says which of them wrote it.
"""

from __future__ import annotations

import functools
import hashlib
import random
from collections.abc import Iterator

from oracle.grammar.genome import GRAMMARS, write_source
from oracle.grammar.search import GrammarOracle, Question
from oracle.grammar.starts import Start

_ALWAYS = (Start.FULL, Start.PLAIN)
"""Starts whose programs count in each edition; those of another count in its own runs alone."""
_SEED = 1
_DRAWN = 4
"""Sentences of each kind, and first programs of each start.

What follows from matches is left out: it comes from sums of floating-point numbers, which need not
be the same to the last bit on every machine.
"""


@functools.cache
def edition(game: str, start: Start = Start.FULL) -> str:
    """12 hex digits over programs that the grammar of a game writes from fixed seeds.

    Equal in every process and on every machine; another one once what is drawn, grown or proposed
    is, or how it is written down.

    Args:
      game: its name.
      start: where a search begins.

    Raises:
      KeyError: there is no grammar for the game.
    """
    hashed = hashlib.blake2b(digest_size=6)
    for source in _programs(game, start):
        hashed.update(f"{source}\x1e".encode())
    return hashed.hexdigest()


def _programs(game: str, start: Start) -> Iterator[str]:
    grammar, rng = GRAMMARS[game], random.Random(_SEED)
    full = grammar.full()
    yield write_source(full)
    grown = grammar.single(rng)
    for _ in range(_DRAWN):
        drawn = grammar.draw(rng)
        grown = grammar.mutate(grammar.grow(grown, rng), rng)
        crossed = grammar.cross(drawn, full, rng)
        for genome in (drawn, grown, crossed, grammar.join(drawn, grown), grammar.credulous(rng)):
            yield write_source(genome)
    opponents = ((write_source(full), 0.6), (write_source(grown), 0.4))
    question = Question(game, opponents, _SEED)
    for one in dict.fromkeys((*_ALWAYS, start)):
        for attempt in range(_DRAWN):
            yield GrammarOracle(one).propose(question, attempt)
