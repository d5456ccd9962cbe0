"""Genomes as data: canonical JSON, and the comments in a source that say what it was made from."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from oracle.grammar import leduc, leduc_render, rrps, rrps_render, story
from oracle.grammar.leduc import LeducGenome
from oracle.grammar.rrps import RrpsGenome
from oracle.grammar.story import Story

Genome = RrpsGenome | LeducGenome
G = TypeVar("G", RrpsGenome, LeducGenome)
NOTHING_TOLD = Story()

MARK = "# Made by the grammar from this genome:"
HISTORY_MARK = "# How it came about, for whoever changes it further:"
_WIDTH = 96


class NotGrammarMade(ValueError):
    """The source has no genome comment, or one that this grammar cannot read."""


@dataclass(frozen=True, slots=True)
class Grammar(Generic[G]):
    """The operations of one game's grammar.

    Attributes:
      full: the sentence that search starts from.
      single: a sentence of one random part, the start of a plain search.
      credulous: a sentence of few random parts that are believed whatever that has cost.
      draw: a random sentence.
      mutate: a neighbour of a sentence.
      grow: a sentence with up to three more parts.
      cross: a child of two.
      join: all parts of two, as far as there is room.
      render: the program, from a footer and a paragraph of its docstring.
      parse: the sentence from its JSON document, without the game.
      changes: what is different from one sentence to another, in words.
    """

    full: Callable[[], G]
    single: Callable[[random.Random], G]
    credulous: Callable[[random.Random], G]
    draw: Callable[[random.Random], G]
    mutate: Callable[[G, random.Random], G]
    grow: Callable[[G, random.Random], G]
    cross: Callable[[G, G, random.Random], G]
    join: Callable[[G, G], G]
    render: Callable[[G, str, str], str]
    parse: Callable[[Mapping[str, Any]], G]
    changes: Callable[[G, G], list[str]]


def _parse_rrps(document: Mapping[str, Any]) -> RrpsGenome:
    return RrpsGenome(
        tuple(rrps.Part(*part) for part in document["parts"]),
        rrps.Blend(**document["blend"]),
        rrps.Choice(**document["choice"]),
    )


def _parse_leduc(document: Mapping[str, Any]) -> LeducGenome:
    styles = tuple(leduc.Style(*style) for style in document["styles"])
    return LeducGenome(**{**document, "styles": styles})


RRPS = Grammar(
    rrps.full_genome,
    rrps.single_genome,
    rrps.credulous_genome,
    rrps.random_genome,
    rrps.mutate,
    rrps.grow,
    rrps.crossover,
    rrps.join,
    rrps_render.render,
    _parse_rrps,
    rrps.changes,
)
LEDUC = Grammar(
    leduc.full_genome,
    leduc.single_genome,
    leduc.credulous_genome,
    leduc.random_genome,
    leduc.mutate,
    leduc.grow,
    leduc.crossover,
    leduc.join,
    leduc_render.render,
    _parse_leduc,
    leduc.changes,
)
GRAMMARS: Mapping[str, Grammar[Any]] = {rrps.GAME: RRPS, leduc.GAME: LEDUC}
"""Name of a game -> its grammar."""


def game_of(genome: Genome) -> str:
    """Name of the game that a genome plays."""
    return rrps.GAME if isinstance(genome, RrpsGenome) else leduc.GAME


def to_json(genome: Genome) -> str:
    """Canonical JSON of a genome: equal genomes give equal text."""
    document = {"game": game_of(genome), **dataclasses.asdict(genome)}
    if isinstance(genome, RrpsGenome):
        document["blend"] = _told(genome.blend)
    for name in {"parts", "styles"} & document.keys():
        document[name] = [list(entry.values()) for entry in document[name]]
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _told(blend: rrps.Blend) -> dict[str, float]:
    """The settings of a blend; later ones are left out where a genome does not use them."""
    settings, unused = dataclasses.asdict(blend), {"views": 1, "spread": 1.0}
    return {name: value for name, value in settings.items() if unused.get(name) != value}


def from_json(text: str) -> Genome:
    """The inverse of `to_json`.

    Raises:
      NotGrammarMade: the text is not a genome's JSON.
    """
    try:
        document: dict[str, Any] = json.loads(text)
        genome: Genome = GRAMMARS[document.pop("game")].parse(document)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise NotGrammarMade(f"not a genome: {error!r}") from error
    return genome


def write_source(genome: Genome, told: Story = NOTHING_TOLD) -> str:
    """The policy's program, ending in comments from which its genome and story are read back."""
    footer = ["\n"]
    if told.steps:
        footer += [HISTORY_MARK, *_as_comment(story.to_json(told)), ""]
    footer += [MARK, *_as_comment(to_json(genome)), ""]
    grammar = GRAMMARS[game_of(genome)]
    return str(grammar.render(genome, "\n".join(footer), story.prose(told)))


def _as_comment(text: str) -> list[str]:
    return [f"# {text[i : i + _WIDTH]}" for i in range(0, len(text), _WIDTH)]


def _from_comment(comment: str) -> str:
    return "".join(line.removeprefix("# ") for line in comment.splitlines())


def read_source(source: str) -> Genome:
    """The genome that a program was made from.

    Raises:
      NotGrammarMade: it was not made by this grammar.
    """
    _, found, comment = source.rpartition(MARK)
    if not found:
        raise NotGrammarMade("the source ends in no genome comment")
    return from_json(_from_comment(comment))


def read_story(source: str) -> Story:
    """How a program came about; an empty story where its source does not tell."""
    told = source.rpartition(MARK)[0].rpartition(HISTORY_MARK)
    if not told[1]:
        return NOTHING_TOLD
    try:
        return story.from_json(_from_comment(told[2].strip()))
    except (ValueError, TypeError, KeyError, AttributeError):
        return NOTHING_TOLD
