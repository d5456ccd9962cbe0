"""The moves of a search: each makes a sentence from another, and says what for."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from oracle.grammar import judging, leduc, rrps
from oracle.grammar.credits import parts_of
from oracle.grammar.genome import GRAMMARS, Genome, Grammar, NotGrammarMade, game_of, read_source
from oracle.grammar.rrps import RrpsGenome


class Mixture(Protocol):
    """What a move has to know of the question."""

    @property
    def opponents(self) -> tuple[tuple[str, float], ...]:
        """(program, weight) of each."""
        ...

    def name(self, place: int) -> str:
        """Of an opponent."""
        ...


@dataclass(frozen=True, slots=True)
class Move:
    """A sentence and what it was made for, in words without a full stop."""

    genome: Genome
    reason: str

    def after(self, earlier: Move) -> Move:
        """This move, made on what an earlier one left."""
        if self.genome == earlier.genome:
            return earlier
        return Move(self.genome, f"{earlier.reason}, {self.reason}")


def mutate(start: Genome, grammar: Grammar[Any], rng: random.Random) -> Move:
    """A neighbour, by chance."""
    return Move(grammar.mutate(start, rng), "by chance")


def rejudge(start: Genome, rng: random.Random) -> Move:
    """Other records for its predictors, other rates to blend them, or both, by chance."""
    assert isinstance(start, RrpsGenome), "only such searches begin at parts"
    return Move(judging.judged_otherwise(start, rng), "judged in another way by chance")


def meet(start: Genome, mixture: Mixture, needs: Sequence[float], rng: random.Random) -> Move:
    """Adds mirrors of up to three predictors that a needed opponent runs on my moves.

    Where there are none to add, a neighbour by chance.

    Args:
      start: the sentence.
      mixture: the opponents.
      needs: how much each opponent asks for an answer.
      rng: of every choice.
    """
    place = rng.choices(range(len(needs)), [need + 1e-9 for need in needs])[0]
    grammar = GRAMMARS[game_of(start)]
    try:
        theirs = read_source(mixture.opponents[place][0])
    except NotGrammarMade:
        return mutate(start, grammar, rng)
    if not isinstance(start, RrpsGenome) or not isinstance(theirs, RrpsGenome):
        return mutate(start, grammar, rng)
    mirrors = [part for part in map(rrps.mirror, theirs.parts) if part not in start.parts]
    picked = rng.sample(mirrors, min(3, len(mirrors)))
    child = rrps.with_parts(start, [*start.parts, *picked])
    if child == start:
        return mutate(start, grammar, rng)
    return Move(child, f"to meet {mixture.name(place)}, who runs mirrors of what was added")


def follow(
    start: Genome, pays: Mapping[Any, float], grammar: Grammar[Any], rng: random.Random
) -> Move:
    """Adds up to two parts that pay and drops up to two that do not, at random by how much.

    Args:
      start: the sentence.
      pays: part -> what it is worth (`credits.part_credits`).
      grammar: of the game.
      rng: of every choice.
    """
    parts = list(parts_of(start))
    wanted = {part: pay for part, pay in pays.items() if pay > 0.0 and part not in parts}
    unwanted = {part: -pay for part, pay in pays.items() if pay < 0.0 and part in parts}
    for _ in range(2):
        if wanted and rng.random() < 0.7:
            part = rng.choices(list(wanted), list(wanted.values()))[0]
            parts.append(part)
            del wanted[part]
        if unwanted and len(parts) > 2 and rng.random() < 0.7:
            part = rng.choices(list(unwanted), list(unwanted.values()))[0]
            parts.remove(part)
            del unwanted[part]
    child: Genome
    if isinstance(start, RrpsGenome):
        child = rrps.with_parts(start, parts)
    else:
        child = leduc.with_styles(start, parts)
    if child == start:
        return mutate(start, grammar, rng)
    return Move(child, "by what parts have paid in the programs tried so far")
