"""Puts an oracle together from a run's configuration: model, journal, budget, writer, variant."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from arena.home import Home
from oracle.best_of_n import BestOfN
from oracle.grammar_writer import GrammarWriter
from oracle.linear_refinement import LinearRefinement
from oracle.trials import digest_in
from oracle.values import Draft, Oracle, Task, Writer
from oracle.zero_shot import ZeroShot
from population.config import OracleChoice
from population.evaluator import Lineage
from population.records import RunRecord

GRAMMAR = "grammar"
KEYS = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
GRAMMAR_WIDTH = 4
"""Programs that the grammar offers in each step of linear refinement: they cost nothing."""


def model_by_default() -> str:
    """What writes programs where nothing was chosen: Gemini where its key is set."""
    return "gemini" if any(os.environ.get(key) for key in KEYS) else GRAMMAR


@dataclass(frozen=True, slots=True)
class Spending:
    """Limits on what a run may spend in all, earlier sessions included; None is no limit.

    Attributes:
      max_cost: US dollars.
      max_calls: of the model.
      max_tokens: read, written and thought.
      price: of the model where its list price is not known, as "PROMPT/OUTPUT" in US dollars
        per million tokens.
    """

    max_cost: float | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    price: str | None = None


class Authorship:
    """A writer that remembers which draft each of its programs came from."""

    def __init__(self, writer: Writer, provenance: Mapping[str, object]) -> None:
        """Wraps a writer.

        Args:
          writer: writes.
          provenance: what is registered about every program: run, oracle, model.
        """
        self._writer = writer
        self._provenance = MappingProxyType(dict(provenance))
        self._lineages: dict[str, Lineage] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """That of the writer."""
        return self._writer.name

    def write(self, task: Task, draft: Draft) -> Draft:
        """See `oracle.values.Writer`."""
        written = self._writer.write(task, draft)
        if written.source:
            parent = digest_in(task, draft.source) if draft.source and draft.score else ""
            origin = {"iteration": task.key, "draft": written.key, "call": written.call}
            lineage = Lineage({**self._provenance, **origin}, parent)
            with self._lock:
                # Whoever wrote it first is its author, however threads take turns: a later
                # draft with the same program is refused as a duplicate.
                known = self._lineages.get(written.source)
                if known is None or str(known.provenance["draft"]) > written.key:
                    self._lineages[written.source] = lineage
        return written

    def lineage_of(self, source: str) -> Lineage:
        """What is registered about a program."""
        with self._lock:
            return self._lineages.get(source, Lineage(self._provenance))


@dataclass(frozen=True, slots=True)
class Workshop:
    """An oracle, and what it can tell about its programs."""

    oracle: Oracle
    authorship: Authorship


def oracle_of(choice: OracleChoice, writer: Writer) -> Oracle:
    """The variant that was chosen, around a writer."""
    grammar = choice.model == GRAMMAR
    if choice.name == "zero-shot":
        return ZeroShot(writer)
    if choice.name == "best-of-n":
        return BestOfN(writer, choice.drafts)
    if choice.name == "linear":
        return LinearRefinement(writer, choice.refinements, GRAMMAR_WIDTH if grammar else 1)
    raise AssertionError(choice.name)


def workshop(home: Home, record: RunRecord, spending: Spending) -> Workshop:
    """Makes the oracle of a run."""
    choice = record.config.oracle
    writer = GrammarWriter()
    provenance = {"run": record.name, "oracle": choice.name, "model": writer.name}
    authorship = Authorship(writer, provenance)
    return Workshop(oracle_of(choice, authorship), authorship)
