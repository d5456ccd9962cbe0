"""Genomes as data: canonical JSON, and the comment in a source that says what it was made from."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from oracle.grammar import rrps
from oracle.grammar.rrps import RrpsGenome

Genome = RrpsGenome

MARK = "# Made by the grammar from: "


class NotGrammarMade(ValueError):
    """The source has no genome comment, or one that this grammar cannot read."""


def to_json(genome: Genome) -> str:
    """Canonical JSON of a genome: equal genomes give equal text."""
    document = {"game": game_of(genome), **dataclasses.asdict(genome)}
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def from_json(text: str) -> Genome:
    """The inverse of `to_json`.

    Raises:
      NotGrammarMade: the text is not a genome's JSON.
    """
    try:
        document: dict[str, Any] = json.loads(text)
        game = document.pop("game")
        if game == rrps.GAME:
            return RrpsGenome(
                tuple(rrps.Part(**part) for part in document["parts"]),
                rrps.Blend(**document["blend"]),
                rrps.Choice(**document["choice"]),
            )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise NotGrammarMade(f"not a genome: {error}") from error
    raise NotGrammarMade(f"no grammar for the game {game!r}")


def game_of(genome: Genome) -> str:
    """Name of the game that a genome plays."""
    return rrps.GAME


def write_source(genome: Genome) -> str:
    """The policy's program, ending in a comment from which `read_source` gets the genome back."""
    return rrps.render(genome, footer=f"\n{MARK}{to_json(genome)}\n")


def read_source(source: str) -> Genome:
    """The genome that a program was made from.

    Raises:
      NotGrammarMade: it was not made by this grammar.
    """
    for line in reversed(source.splitlines()):
        if line.startswith(MARK):
            return from_json(line[len(MARK) :])
    raise NotGrammarMade("the source ends in no genome comment")
