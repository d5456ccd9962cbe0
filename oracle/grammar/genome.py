"""Genomes as data: canonical JSON, and the comment in a source that says what it was made from."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from oracle.grammar import leduc, rrps
from oracle.grammar.leduc import LeducGenome
from oracle.grammar.rrps import RrpsGenome

Genome = RrpsGenome | LeducGenome
G = TypeVar("G", RrpsGenome, LeducGenome)

MARK = "# Made by the grammar from this genome:"
_WIDTH = 96


class NotGrammarMade(ValueError):
    """The source has no genome comment, or one that this grammar cannot read."""


@dataclass(frozen=True, slots=True)
class Grammar(Generic[G]):
    """The operations of one game's grammar.

    Attributes:
      full: the sentence that search starts from.
      draw: a random sentence.
      mutate: a neighbour of a sentence.
      cross: a child of two.
      render: the program, ending in a footer.
      parse: the sentence from its JSON document, without the game.
    """

    full: Callable[[], G]
    draw: Callable[[random.Random], G]
    mutate: Callable[[G, random.Random], G]
    cross: Callable[[G, G, random.Random], G]
    render: Callable[[G, str], str]
    parse: Callable[[Mapping[str, Any]], G]


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
    rrps.random_genome,
    rrps.mutate,
    rrps.crossover,
    rrps.render,
    _parse_rrps,
)
LEDUC = Grammar(
    leduc.full_genome,
    leduc.random_genome,
    leduc.mutate,
    leduc.crossover,
    leduc.render,
    _parse_leduc,
)
GRAMMARS: Mapping[str, Grammar[Any]] = {rrps.GAME: RRPS, leduc.GAME: LEDUC}
"""Name of a game -> its grammar."""


def game_of(genome: Genome) -> str:
    """Name of the game that a genome plays."""
    return rrps.GAME if isinstance(genome, RrpsGenome) else leduc.GAME


def to_json(genome: Genome) -> str:
    """Canonical JSON of a genome: equal genomes give equal text."""
    document = {"game": game_of(genome), **dataclasses.asdict(genome)}
    for name in {"parts", "styles"} & document.keys():
        document[name] = [list(entry.values()) for entry in document[name]]
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


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


def write_source(genome: Genome) -> str:
    """The policy's program, ending in a comment from which `read_source` gets the genome back."""
    text = to_json(genome)
    chunks = [f"# {text[i : i + _WIDTH]}" for i in range(0, len(text), _WIDTH)]
    return str(GRAMMARS[game_of(genome)].render(genome, "\n".join(("\n", MARK, *chunks, ""))))


def read_source(source: str) -> Genome:
    """The genome that a program was made from.

    Raises:
      NotGrammarMade: it was not made by this grammar.
    """
    _, found, comment = source.rpartition(MARK)
    if not found:
        raise NotGrammarMade("the source ends in no genome comment")
    return from_json("".join(line.removeprefix("# ") for line in comment.splitlines()))
