"""The grammar as an oracle: writes a policy against a mixture, and improves it from match results.

What a search can know here is text and results: the opponents' programs with their weights, and
what programs tried so far returned against each opponent.  It uses both.

* Programs that this grammar made name their parts.  A predictor that an opponent runs on my moves
  is met by running the same one as a mirror, which tells what that opponent expects of me.
* Over the programs scored so far, a ridge regression of the return on the presence of each part
  says which parts pay against this mixture; mutation adds the ones that pay and drops the ones
  that do not.

A plain search does not know the full sentence: its first program has one part, and later ones grow
from what the mixture's programs are made of.  One that begins at the parts has all of them, and
looks for how to judge and blend them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from oracle.grammar import judging, moves
from oracle.grammar.credits import part_credits
from oracle.grammar.genome import (
    GRAMMARS,
    NOTHING_TOLD,
    Genome,
    Grammar,
    NotGrammarMade,
    read_source,
    read_story,
    write_source,
)
from oracle.grammar.moves import Move
from oracle.grammar.starts import Start
from oracle.grammar.story import Measured, Step, Story, shortened


@dataclass(frozen=True, slots=True)
class Question:
    """A best response that is wanted.

    Attributes:
      game: "rrps" or "leduc".
      opponents: (program, weight) of each member of the mixture.
      seed: all random choices of the answer follow from it and from the attempt's number.
      names: of the opponents, for the programs' stories; "1", "2", ... where there are none.
      task: names the mixture in stories.
      others: (program, name) of members of the population that have no weight in the mixture.
    """

    game: str
    opponents: tuple[tuple[str, float], ...]
    seed: int
    names: tuple[str, ...] = ()
    task: str = ""
    others: tuple[tuple[str, str], ...] = ()

    @property
    def weights(self) -> tuple[float, ...]:
        """Of the opponents."""
        return tuple(weight for _, weight in self.opponents)

    def name(self, place: int) -> str:
        """Of an opponent."""
        return self.names[place] if self.names else str(place + 1)


@dataclass(frozen=True, slots=True)
class Scored:
    """A program that was played against the mixture.

    Attributes:
      source: the program.
      returns: mean return against each opponent, in the question's order.
      stderr: of what it is scored by, 0 where it is not known.
      u: what it is scored by where that is more than the mixture: hidden opponents count, too,
        and nobody who writes a program is shown those.
    """

    source: str
    returns: tuple[float, ...]
    stderr: float = 0.0
    u: float | None = None

    def score(self, weights: Sequence[float]) -> float:
        """What is to be raised."""
        return self.mean(weights) if self.u is None else self.u

    def mean(self, weights: Sequence[float]) -> float:
        """Return against an opponent drawn by the weights."""
        return sum(w * r for w, r in zip(weights, self.returns, strict=True)) / sum(weights)


class UnknownGame(ValueError):
    """There is no grammar for the game, or no such search in it."""


@dataclass(frozen=True, slots=True)
class GrammarOracle:
    """Writes policies of one grammar.  Equal arguments give equal answers.

    Attributes:
      start: where a search begins.
    """

    start: Start = field(default=Start.FULL)

    def propose(self, question: Question, attempt: int = 0) -> str:
        """A fresh program.

        From the full sentence: the first one against opponents of unknown make is that sentence;
        later ones vary it and cross it with what the mixture's own programs are made of.  From
        little: a sentence of one part, later one that grew from the mixture's programs.  From the
        parts: these in the simplest way, later variants that often judge them in another.
        """
        grammar = self._grammar(question)
        rng = random.Random(f"{question.seed}/propose/{attempt}")
        if self.start is Start.PLAIN:
            return self._from_little(question, grammar, rng)
        if self.start is Start.PARTS:
            return self._from_parts(question, grammar, rng, attempt)
        full, relatives = grammar.full(), _readable(question)
        known = [one.genome for one in relatives]
        if attempt == 0 and full not in known:
            return write_source(full)
        move = Move(full, "a variant of the grammar's full sentence")
        if relatives and rng.random() < 0.5:
            mate = _drawn(relatives, rng)
            child = grammar.cross(full, mate.genome, rng)
            move = Move(child, f"the full sentence crossed with {mate.name}")
        if rng.random() < 0.5:
            move = moves.meet(move.genome, question, question.weights, rng).after(move)
        return _written(question, full, moves.mutate(move.genome, grammar, rng).after(move))

    def _from_parts(
        self, question: Question, grammar: Grammar[Any], rng: random.Random, attempt: int
    ) -> str:
        """All parts judged in the simplest way, or a variant of that or of a member."""
        start: Genome = judging.simplest()
        relatives = _everybody(question)
        if attempt == 0 and all(one.genome != start for one in relatives):
            return write_source(start)
        move, told = Move(start, "a variant of all parts, judged in the simplest way"), NOTHING_TOLD
        if relatives and rng.random() < 0.5:
            member = _drawn(relatives, rng)
            start, told = member.genome, read_story(member.source)
            move = Move(start, f"a variant of {member.name}")
        if rng.random() < 0.5:
            move = moves.rejudge(move.genome, rng).after(move)
        if rng.random() < 0.5:
            move = moves.meet(move.genome, question, question.weights, rng).after(move)
        move = moves.mutate(move.genome, grammar, rng).after(move)
        return _written(question, start, move, told)

    def _from_little(self, question: Question, grammar: Grammar[Any], rng: random.Random) -> str:
        """A sentence of one part, or one that grew from what the population's programs are made of.

        Members without weight in the mixture count too: what they found may be wanted again.
        """
        relatives = _everybody(question)
        if not relatives:
            return write_source(grammar.single(rng))
        member = _drawn(relatives, rng)
        start, name = member.genome, member.name
        move = Move(start, f"grown from {name}")
        mates = [one for one in relatives if one.name != name]
        if mates:
            mate = rng.choice(mates)
            move = Move(grammar.join(start, mate.genome), f"{name} joined with {mate.name}")
        if rng.random() < 0.5:
            move = moves.meet(move.genome, question, question.weights, rng).after(move)
        move = Move(grammar.grow(move.genome, rng), "with parts drawn at random").after(move)
        if rng.random() < 0.5:
            move = moves.mutate(move.genome, grammar, rng).after(move)
        return _written(question, start, move, read_story(member.source))

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
        start = genome_or_none(current.source)
        if start is None:
            return self.propose(question, attempt)
        rng = random.Random(f"{question.seed}/refine/{attempt}/{current.source}")
        everyone = {scored.source: scored for scored in (*tried, current)}.values()
        found = [(genome_or_none(scored.source), scored) for scored in everyone]
        known = [(genome, scored) for genome, scored in found if genome is not None]
        for _ in range(20):
            move = self._step(start, question, current, known, rng)
            if all(move.genome != genome for genome, _ in known):
                break
        else:
            move = Move(grammar.mutate(grammar.draw(rng), rng), "a fresh draw, for want of better")
        told, parent = read_story(current.source), _measured(question, current)
        return _written(question, start, move, told, parent)

    def _step(
        self,
        start: Genome,
        question: Question,
        current: Scored,
        known: Sequence[tuple[Genome, Scored]],
        rng: random.Random,
    ) -> Move:
        """One of four moves: meet a strong opponent, follow the credits, cross, or mutate.

        A plain search grows as often as it mutates; one from the parts judges them in another way
        as often as it does all of this.
        """
        grammar, weights, dice = GRAMMARS[question.game], question.weights, rng.random()
        if self.start is Start.PARTS and rng.random() < 0.5:
            return moves.rejudge(start, rng)
        if dice < 0.3:
            mean = current.mean(weights)
            needs = [
                weight * max(mean - value, 0.0) + 1e-6
                for weight, value in zip(weights, current.returns, strict=True)
            ]
            return moves.meet(start, question, needs, rng)
        if dice < 0.6:
            rows = [(genome, scored.score(weights)) for genome, scored in known]
            return moves.follow(start, part_credits(rows), grammar, rng)
        if dice < 0.75 and len(known) > 1:
            best = sorted(known, key=lambda row: -row[1].score(weights))[:4]
            mate, scored = rng.choice(best)
            reason = f"crossed with one that returned {scored.score(weights):+.1f}"
            return Move(grammar.cross(start, mate, rng), reason)
        if self.start is Start.PLAIN and rng.random() < 0.5:
            return Move(grammar.grow(start, rng), "parts drawn at random")
        return moves.mutate(start, grammar, rng)

    def _grammar(self, question: Question) -> Grammar[Any]:
        games = [game for game in GRAMMARS if self.start.begins(game)]
        if question.game not in games:
            what = (
                f"no search from {self.start.value!r}"
                if question.game in GRAMMARS
                else "no grammar"
            )
            raise UnknownGame(f"{what} for {question.game!r}; there is {sorted(games)}")
        return GRAMMARS[question.game]


class Relative(NamedTuple):
    """A member of the population that this grammar made."""

    genome: Genome
    weight: float
    name: str
    source: str


def _readable(question: Question) -> list[Relative]:
    members = [
        (source, weight, question.name(place))
        for place, (source, weight) in enumerate(question.opponents)
    ]
    return _grammar_made(members)


def _everybody(question: Question) -> list[Relative]:
    """Members without weight in the mixture, too."""
    weightless = [(source, 0.0, name) for source, name in question.others]
    return _readable(question) + _grammar_made(weightless)


def _grammar_made(members: Sequence[tuple[str, float, str]]) -> list[Relative]:
    """Those of (program, weight, name) whose genomes can be read."""
    read = [(genome_or_none(one[0]), one) for one in members]
    return [
        Relative(genome, weight, name, source)
        for genome, (source, weight, name) in read
        if genome is not None
    ]


def _drawn(relatives: Sequence[Relative], rng: random.Random) -> Relative:
    return rng.choices(relatives, [one.weight + 0.01 for one in relatives])[0]


def _measured(question: Question, scored: Scored) -> Measured:
    """What a program returned, as stories tell it."""
    against = {question.name(i): value for i, value in enumerate(scored.returns)}
    hidden = scored.u is not None
    return Measured(scored.score(question.weights), scored.stderr, against, hidden)


def _written(
    question: Question,
    start: Genome,
    move: Move,
    told: Story = NOTHING_TOLD,
    parent: Measured | None = None,
) -> str:
    """The program of a move, with the story of how it came about.

    Args:
      question: what was asked.
      start: the sentence that the move began at.
      move: what was made of it.
      told: how the program of that sentence had come about.
      parent: what that program returned against the question's mixture, None where nobody knows.
    """
    changes = shortened(GRAMMARS[question.game].changes(start, move.genome))
    step = Step(question.task, move.reason, changes, parent)
    return write_source(move.genome, told.then(step))


def genome_or_none(source: str) -> Genome | None:
    """The genome of a program, None where this grammar did not make it."""
    try:
        return read_source(source)
    except NotGrammarMade:
        return None
