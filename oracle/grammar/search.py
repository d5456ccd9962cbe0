"""The grammar as an oracle: writes a policy against a mixture, and improves it from match results.

What a search can know here is text and results: the opponents' programs with their weights, and
what programs tried so far returned against each opponent.  It uses both.

* Programs that this grammar made name their parts.  A predictor that an opponent runs on my moves
  is met by running the same one as a mirror, which tells what that opponent expects of me.
* Over the programs scored so far, a ridge regression of the return on the presence of each part
  says which parts pay against this mixture; mutation adds the ones that pay and drops the ones
  that do not.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oracle.grammar import rrps
from oracle.grammar.genome import (
    GRAMMARS,
    Genome,
    NotGrammarMade,
    read_source,
    write_source,
)
from oracle.grammar.rrps import RrpsGenome

RIDGE = 2.0
"""Strength of the prior that a part makes no difference, in scored programs."""


@dataclass(frozen=True, slots=True)
class Question:
    """A best response that is wanted.

    Attributes:
      game: "rrps" or "leduc".
      opponents: (program, weight) of each member of the mixture.
      seed: all random choices of the answer follow from it and from the attempt's number.
    """

    game: str
    opponents: tuple[tuple[str, float], ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Scored:
    """A program that was played against the mixture.

    Attributes:
      source: the program.
      returns: mean return against each opponent, in the question's order.
    """

    source: str
    returns: tuple[float, ...]


class UnknownGame(ValueError):
    """There is no grammar for the game."""


class GrammarOracle:
    """Writes policies of one grammar.  Holds no state: equal arguments give equal answers."""

    def propose(self, question: Question, attempt: int = 0) -> str:
        """A fresh program.

        The first one against opponents of unknown make is the full sentence of the grammar; later
        ones vary it and cross it with what the mixture's own programs are made of.
        """
        grammar = self._grammar(question)
        rng = random.Random(f"{question.seed}/propose/{attempt}")
        relatives = [genome for genome, _ in self._readable(question)]
        full = grammar.full()
        if attempt == 0 and full not in relatives:
            return write_source(full)
        start = full
        if relatives and rng.random() < 0.5:
            weights = [weight + 0.01 for _, weight in self._readable(question)]
            start = grammar.cross(full, rng.choices(relatives, weights)[0], rng)
        if rng.random() < 0.5:
            start = self._meet(start, question, [weight for _, weight in question.opponents], rng)
        return write_source(grammar.mutate(start, rng))

    def refine(
        self, question: Question, current: Scored, tried: Sequence[Scored] = (), attempt: int = 0
    ) -> str:
        """A program that should do better than the current one against the mixture.

        Args:
          question: what is asked.
          current: the program to improve, with its returns.
          tried: other programs scored on the same question; the more, the better the guess.
          attempt: number of this refinement, so that asking again gives another answer.
        """
        grammar = self._grammar(question)
        rng = random.Random(f"{question.seed}/refine/{attempt}/{current.source}")
        try:
            start = read_source(current.source)
        except NotGrammarMade:
            return self.propose(question, attempt)
        weights = [weight for _, weight in question.opponents]
        known = {scored.source: scored for scored in (*tried, current)}
        pays = part_credits(list(known.values()), weights)
        for _ in range(20):
            child = self._step(start, question, current, pays, list(known.values()), rng)
            child = grammar.mutate(child, rng) if child == start else child
            source = write_source(child)
            if source not in known:
                return source
        return write_source(grammar.mutate(grammar.draw(rng), rng))

    def _step(
        self,
        start: Genome,
        question: Question,
        current: Scored,
        pays: Mapping[Any, float],
        known: Sequence[Scored],
        rng: random.Random,
    ) -> Genome:
        """One of four moves: meet a strong opponent, follow the credits, cross, or mutate."""
        grammar, move = GRAMMARS[question.game], rng.random()
        if move < 0.3:
            mean = sum(w * r for (_, w), r in zip(question.opponents, current.returns, strict=True))
            needs = [
                weight * max(mean - value, 0.0) + 1e-6
                for (_, weight), value in zip(question.opponents, current.returns, strict=True)
            ]
            return self._meet(start, question, needs, rng)
        if move < 0.6 and pays:
            return _follow(start, pays, rng)
        if move < 0.75 and len(known) > 1:
            weights = [weight for _, weight in question.opponents]
            best = sorted(known, key=lambda scored: -_value(scored, weights))[:4]
            mate = _genome_or_none(rng.choice(best).source)
            if mate is not None:
                child: Genome = grammar.cross(start, mate, rng)
                return child
        mutant: Genome = grammar.mutate(start, rng)
        return mutant

    @staticmethod
    def _grammar(question: Question) -> Any:
        if question.game not in GRAMMARS:
            raise UnknownGame(f"no grammar for {question.game!r}; there is {sorted(GRAMMARS)}")
        return GRAMMARS[question.game]

    @staticmethod
    def _readable(question: Question) -> list[tuple[Genome, float]]:
        """The opponents that this grammar made, with their weights."""
        found = ((_genome_or_none(source), weight) for source, weight in question.opponents)
        return [(genome, weight) for genome, weight in found if genome is not None]

    @staticmethod
    def _meet(
        start: Genome, question: Question, needs: Sequence[float], rng: random.Random
    ) -> Genome:
        """Adds mirrors of up to three predictors that a needed opponent runs on my moves."""
        source, _ = rng.choices(question.opponents, [need + 1e-9 for need in needs])[0]
        theirs = _genome_or_none(source)
        if not isinstance(start, RrpsGenome) or not isinstance(theirs, RrpsGenome):
            mutant: Genome = GRAMMARS[question.game].mutate(start, rng)
            return mutant
        mirrors = [part for part in map(rrps.mirror, theirs.parts) if part not in start.parts]
        picked = rng.sample(mirrors, min(3, len(mirrors), rrps.MOST_PARTS - len(start.parts)))
        return dataclasses.replace(start, parts=(*start.parts, *picked))


def part_credits(scored: Sequence[Scored], weights: Sequence[float]) -> dict[Any, float]:
    """What each part or style is worth against the mixture, in the game's unit.

    A ridge regression of the mixture's return on the presence of parts.  Parts that all programs
    have, or none, cannot be told apart from the rest and are left out.

    Args:
      scored: programs with their returns, in the order of `weights`.
      weights: of the opponents.
    """
    rows = [(genome, _value(s, weights)) for s in scored if (genome := _genome_or_none(s.source))]
    everything = sorted({part for genome, _ in rows for part in _parts(genome)})
    present = np.array([[part in _parts(genome) for part in everything] for genome, _ in rows])
    if len(rows) < 2 or not everything:
        return {}
    varying = [i for i in range(len(everything)) if 0 < present[:, i].sum() < len(rows)]
    if not varying:
        return {}
    features = present[:, varying].astype(float)
    values = np.array([value for _, value in rows])
    features -= features.mean(axis=0)
    gram = features.T @ features + RIDGE * np.eye(len(varying))
    worth = np.linalg.solve(gram, features.T @ (values - values.mean()))
    return {everything[i]: float(w) for i, w in zip(varying, worth, strict=True)}


def _follow(start: Genome, pays: Mapping[Any, float], rng: random.Random) -> Genome:
    """Adds up to two parts that pay and drops up to two that do not, at random by how much."""
    parts = list(_parts(start))
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
    if isinstance(start, RrpsGenome):
        return dataclasses.replace(start, parts=tuple(parts[: rrps.MOST_PARTS]))
    return dataclasses.replace(start, styles=(start.styles[0], *parts))


def _parts(genome: Genome) -> tuple[Any, ...]:
    """What a search may add or drop: predictors, or styles after the balanced one."""
    return genome.parts if isinstance(genome, RrpsGenome) else genome.styles[1:]


def _value(scored: Scored, weights: Sequence[float]) -> float:
    return sum(w * r for w, r in zip(weights, scored.returns, strict=True)) / sum(weights)


def _genome_or_none(source: str) -> Genome | None:
    try:
        return read_source(source)
    except NotGrammarMade:
        return None
