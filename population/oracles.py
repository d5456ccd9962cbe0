"""Puts an oracle together from a run's configuration: model, journal, budget, writer, variant."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Protocol

from arena.errors import UsageFault
from arena.games import game as game_named
from arena.tally import Progress, silent
from oracle.alpha_evolve import AlphaEvolve, Evolution
from oracle.attempts import digest_in
from oracle.best_of_n import BestOfN
from oracle.context import OpponentInput, parse_filter, parse_input
from oracle.drafts import Draft, Writer
from oracle.early_stop import EarlyStop
from oracle.ending import Ending
from oracle.grammar.genome import GRAMMARS
from oracle.grammar.search import GrammarOracle
from oracle.grammar.starts import STARTS, Start
from oracle.grammar_writer import GrammarWriter
from oracle.linear_refinement import LinearRefinement
from oracle.models.budget import NOTHING, Budget, Spent
from oracle.models.catalogue import default_model
from oracle.models.choice import (
    check_access,
    check_asking,
    has_gemini_key,
    model_from,
    names_of,
    remarks,
)
from oracle.models.journal import Journal, JournaledModel, SqliteJournal
from oracle.models.options import ServerOptions
from oracle.models.prices import parse_price
from oracle.models.protocol import Model
from oracle.models.team import Team
from oracle.team_writer import TeamWriter
from oracle.values import Oracle, Task
from oracle.writer import ModelWriter, WriterOptions
from oracle.zero_shot import ZeroShot
from population.config import OracleChoice, RunConfig
from population.credit import standings_of
from population.evaluator import Lineage
from population.records import RunRecord
from population.runs import Runs
from population.training import check_game, check_training, trainer

GRAMMAR_WIDTH = 2
"""Programs that the grammar offers in each step of linear refinement: they cost nothing."""
SPECIALISTS = 0.25
"""How often alpha-evolve with a model starts from the best program against one opponent."""


def model_by_default() -> str:
    """What writes programs where nothing was chosen: Gemini where its key is set."""
    return f"gemini:{default_model()}" if has_gemini_key() else Start.FULL.value


def full_model_name(text: str) -> str:
    """The names with the default filled in, so that a run's record says which models it were."""
    usual = f"gemini:{default_model()}"
    return ",".join(usual if name == "gemini" else name for name in names_of(text))


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

    def __str__(self) -> str:
        given = {name: value for name, value in asdict(self).items() if value is not None}
        words = (f"--{name.replace('_', '-')} {value}" for name, value in given.items())
        return " ".join(words) or "none"


class Authorship:
    """A writer that remembers which draft each of its programs came from."""

    def __init__(
        self, writer: Writer, provenance: Mapping[str, object], journal: Journal | None = None
    ) -> None:
        """Wraps a writer.

        Args:
          writer: writes.
          provenance: what is registered about every program: run, oracle, model.
          journal: of the model calls, where a model writes.
        """
        self._writer = writer
        self._journal = journal
        self._provenance = MappingProxyType(dict(provenance))
        self._lineages: dict[str, Lineage] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """That of the writer."""
        return self._writer.name

    def write(self, task: Task, draft: Draft) -> Draft:
        """See `oracle.drafts.Writer`."""
        written = self._writer.write(task, draft)
        if written.source:
            parent = digest_in(task, draft.source) if draft.source and draft.score else ""
            origin = {"iteration": task.key, "draft": written.key, **self._call(written)}
            lineage = Lineage({**self._provenance, **origin}, parent)
            with self._lock:
                # Whoever wrote it first is its author, however threads take turns: a later
                # draft with the same program is refused as a duplicate.
                known = self._lineages.get(written.source)
                if known is None or str(known.provenance["draft"]) > written.key:
                    self._lineages[written.source] = lineage
        return written

    def _call(self, written: Draft) -> dict[str, Any]:
        """What is registered about the model call that a program came from."""
        if self._journal is None or not written.call:
            return {}
        call = next(
            call
            for call in self._journal.calls(written.call)
            if (call.request.key, call.request.digest) == (written.call, written.asked)
        )
        return {
            "call": written.call,
            "prompt_digest": call.request.digest,
            "reply_digest": hashlib.sha256(call.reply.text.encode(errors="replace")).hexdigest(),
            "answered_by": call.reply.model,
            "tokens": call.reply.tokens,
            "cost_usd": call.reply.cost,
        }

    def lineage_of(self, source: str) -> Lineage:
        """What is registered about a program."""
        with self._lock:
            return self._lineages.get(source, Lineage(self._provenance))


class Origins(Protocol):
    """What can tell where an oracle's answers come from."""

    def lineage_of(self, source: str) -> Lineage:
        """What is registered about an answer."""
        ...


@dataclass(frozen=True, slots=True)
class Workshop:
    """An oracle, and what it can tell about its answers."""

    oracle: Oracle
    authorship: Origins
    model: Model | None = None

    def close(self) -> None:
        """Ends the connections of its model, where it has one."""
        if self.model is not None:
            self.model.close()


def oracle_of(
    choice: OracleChoice,
    writer: Writer,
    early_stop: EarlyStop | None,
    *,
    frugal: bool = False,
    ends: bool = False,
    stranger: bool = False,
) -> Oracle:
    """The variant that was chosen, around a writer.

    Args:
      choice: of the run.
      writer: writes programs.
      early_stop: how drafts that cannot be the best are played less; None plays all in full, where
        the variant knows another way.
      frugal: whether a search by a model ends where it can win nothing more, and evolution changes
        now and then what is best against one opponent; neither in runs of before.
      ends: whether a search by the grammar ends where it has nearly the most that can be had.
      stranger: whether nobody knows who wrote the opponent, so that no estimate ends a search.
    """
    grammar = choice.model in STARTS
    thrifty = frugal and not grammar  # what the grammar writes costs nothing
    ending = Ending(estimates=not stranger) if thrifty else None
    if grammar and ends:
        # Its steps are small, and add up, so to stop short within an error would be too early; but
        # what learning an opponent costs is never made good.
        ending = Ending(patience=None, errors=0.0, slack=0.005, estimates=not stranger)
    # A transcript is replayed in the order in which it was recorded.
    alone = grammar or any(one.startswith("recorded:") for one in names_of(choice.model))
    workers = 1 if alone else choice.asking.parallel
    if choice.name == "zero-shot":
        return ZeroShot(writer)
    if choice.name == "best-of-n":
        return BestOfN(writer, choice.drafts, workers, early_stop)
    if choice.name == "linear":
        width = GRAMMAR_WIDTH if grammar else 1
        return LinearRefinement(
            writer, choice.refinements, width, early_stop=early_stop, ending=ending
        )
    # A prompt shows the program that is to be changed, and the incumbent is an opponent's: where
    # a model may not read those, evolution begins with programs of the model's own.  The grammar
    # reads every opponent's program, whatever is shown to a model.
    evolution = Evolution(
        generations=choice.refinements,
        specialists=SPECIALISTS if thrifty else 0.0,
        from_incumbent=grammar or parse_input(choice.opponents) is OpponentInput.CODE,
    )
    return AlphaEvolve(writer, evolution, workers=workers, ending=ending)


def writer_options(choice: OracleChoice) -> WriterOptions:
    """How a model is asked.

    Raises:
      BadOption: an option is not written as it should be.
    """
    asking = choice.asking
    return WriterOptions(
        parse_input(choice.opponents),
        parse_filter(choice.shown),
        temperature=asking.temperature,
        max_output_tokens=asking.max_output_tokens,
        thinking=asking.thinking,
    )


def journal_of(runs: Runs, name: str) -> SqliteJournal:
    """The model calls of a run; they are kept in the file of runs."""
    return SqliteJournal(runs.path, scope=name)


def check_writer(config: RunConfig) -> None:
    """Finds out whether what is to write the programs can write any of this game.

    Raises:
      UsageFault: it is the grammar, which knows other games, or no networks play it.
    """
    if config.oracle.trains:
        check_game(game_named(config.game))
    if config.oracle.model in STARTS and config.game not in GRAMMARS:
        raise UsageFault(
            f"the grammar writes programs of {' and '.join(GRAMMARS)}, not of {config.game}: "
            "a run of this game needs a model, such as --model gemini"
        )
    start = STARTS.get(config.oracle.model)
    if start is not None and not start.begins(config.game):
        raise UsageFault(
            f"there is no search from {start.value} in {config.game}: its sentences judge their "
            f"parts in one way only; use --model {Start.FULL.value} or {Start.PLAIN.value}"
        )


def check_model(choice: OracleChoice, spending: Spending) -> tuple[str, ...]:
    """Finds out, before anything is stored or played, whether a run's model can be asked.

    Returns:
      What is to be said of it: its price, and when it is switched off.

    Raises:
      UsageFault: the model, an option or a limit makes no sense, or the key is missing.
      ModelError: its server cannot be reached, or does not know the key or the model.
    """
    _refuse_custom(choice)
    if choice.training is not None:
        return (check_training(choice.training),)
    writer_options(choice)
    check_asking(choice.model, choice.asking)
    if choice.model in STARTS:
        return ()
    models = _models_of(choice, spending)
    found: list[str] = []
    for model in models:
        budget_of(spending, NOTHING).check(model)
        check_access(model)
        told = f"{model.name}: " if len(models) > 1 else ""
        found += [f"{told}{remark}" for remark in remarks(model)]
    return tuple(found)


def _refuse_custom(choice: OracleChoice) -> None:
    if choice.custom:
        raise UsageFault(
            f"the oracle of this run, {choice.name}, is Python code of its author's: go on with it "
            "by the script that began it, which calls population.run_csro"
        )


def _models_of(choice: OracleChoice, spending: Spending) -> list[Model]:
    """The models of a run; a price that was given is of those of several that have none listed."""
    asking = choice.asking
    options = ServerOptions(
        timeout_seconds=asking.timeout_seconds,
        concurrency=asking.parallel,
        context_tokens=asking.context_tokens,
    )
    priced = replace(options, price=parse_price(spending.price) if spending.price else None)
    names = names_of(choice.model)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageFault(f"{twice[0]} is named twice among the models; name each once")
    if len(names) == 1:
        return [model_from(choice.model, priced)]
    listed = [model_from(name, options) for name in names]
    return [
        model_from(name, priced) if model.price is None else model
        for name, model in zip(names, listed, strict=True)
    ]


def budget_of(spending: Spending, spent: Spent) -> Budget:
    """The limits, with what counts already."""
    return Budget(spending.max_cost, spending.max_calls, spending.max_tokens, spent)


def workshop(
    runs: Runs,
    record: RunRecord,
    spending: Spending,
    model: Model | None = None,
    elsewhere: Spent = NOTHING,
    learns: Progress = silent,
    *,
    ends: bool = False,
    stranger: bool = False,
) -> Workshop:
    """Makes the oracle of a run.

    Args:
      runs: where its model calls are kept.
      record: what it was told.
      spending: limits.
      model: what to ask; by default the one that the run's configuration names.
      elsewhere: what other runs spent of the same limits.
      learns: told of (decisions done, decisions to do) while a network is trained.
      ends: as for `oracle_of`.
      stranger: likewise.

    Raises:
      UsageFault: the model, an option or a limit makes no sense.
    """
    choice = record.config.oracle
    check_writer(record.config)
    _refuse_custom(choice)
    if choice.training is not None:
        return Workshop(*trainer(record.name, choice.training, learns))
    options = writer_options(choice)
    halving = record.config.halves and choice.name == "best-of-n"  # of drafts that are independent
    racing = EarlyStop(halving=halving) if record.config.afresh else None  # not in runs of before
    provenance: dict[str, object] = {"run": record.name, "oracle": choice.name}
    if choice.model in STARTS:
        grammar = GrammarWriter(GrammarOracle(STARTS[choice.model]))
        by_grammar = Authorship(grammar, {**provenance, "model": choice.model})
        oracle = oracle_of(choice, by_grammar, racing, ends=ends, stranger=stranger)
        return Workshop(oracle, by_grammar)
    journal = journal_of(runs, record.name)
    budget = budget_of(spending, journal.spent() + elsewhere)
    models = [model] if model else _models_of(choice, spending)
    journaled = [JournaledModel(one, journal, budget) for one in models]
    asked = journaled[0] if len(models) == 1 else _team(runs, record, journaled, journal)
    writer: Writer = ModelWriter(asked, options)
    if isinstance(asked, Team):
        writer = TeamWriter(writer, asked)
    authorship = Authorship(writer, {**provenance, "model": asked.name}, journal)
    frugal = record.config.frugal
    oracle = oracle_of(choice, authorship, racing, frugal=frugal, stranger=stranger)
    return Workshop(oracle, authorship, asked)


def _team(runs: Runs, record: RunRecord, models: Sequence[Model], journal: SqliteJournal) -> Team:
    return Team(models, record.config.seed, partial(standings_of, runs, record.name, journal))
