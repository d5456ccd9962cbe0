"""Which grammar or prompts wrote a run's programs: runs by another edition are another variant.

A run keeps what it began with; runs that began before this was recorded have nothing, and stay
together.  Networks and oracles of somebody's own are written by neither.
"""

from __future__ import annotations

from dataclasses import replace

from oracle.grammar import edition as grammar
from oracle.grammar.genome import GRAMMARS
from oracle.grammar.starts import STARTS
from oracle.prompts import edition as prompts_of_now
from population.config import RunConfig

_EARLIER = {"grammar": "of an earlier grammar", "prompts": "of earlier prompts"}
_UNRECORDED = {"grammar": "of an unrecorded grammar", "prompts": "of unrecorded prompts"}


def edition_of(config: RunConfig) -> str:
    """What would write the programs of such a run now, such as "grammar 728e11f2a407"."""
    if config.oracle.writes_with_a_model:
        return f"prompts {prompts_of_now()}"
    if config.oracle.model in STARTS and config.game in GRAMMARS:
        return f"grammar {grammar.edition(config.game, STARTS[config.oracle.model])}"
    return ""


def dated(config: RunConfig) -> RunConfig:
    """The configuration of a run that begins, with what writes its programs."""
    return replace(config, edition=config.edition or edition_of(config))


def told_apart(config: RunConfig) -> str:
    """In a few words, that others than those of now wrote a run's programs; "" where they did."""
    kind, _, now = edition_of(config).partition(" ")
    began = config.edition.partition(" ")[2]
    if began == now:
        return ""
    return f"{_EARLIER[kind]} ({began})" if began else _UNRECORDED[kind]
