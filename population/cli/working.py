"""What `csro run` and `csro resume` do, and commands that run CSRO among other things."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from arena.cli.session import Session, notice
from arena.games import game as game_named
from arena.local import Arena
from oracle.grammar.starts import STARTS
from oracle.models.budget import NOTHING, Spent
from oracle.models.choice import names_of
from population.cli.progress import bars
from population.cli.telling import answer
from population.config import OracleChoice, RunConfig
from population.csro import Result
from population.edition import told_apart
from population.launch import carry_out
from population.limits import keep, keep_pace, kept
from population.logbook import at_work
from population.matches import Matches
from population.oracles import Spending, check_model, workshop
from population.records import RunRecord, RunState
from population.runs import Runs


def ready(arena: Arena, oracle: OracleChoice, spending: Spending) -> None:
    """Tries the model and the sandbox before a run stores or plays anything; says which they are.

    Raises:
      ModelError, SandboxError: one of them does not work.
    """
    remarks = check_model(oracle, spending)
    about = " (programs are made from a grammar; no key is used)" if oracle.model in STARTS else ""
    notice(f"model: {oracle.model}{about}")
    for remark in remarks:
        notice(f"  {remark}")
    notice("sandbox: networks need none" if oracle.trains else f"sandbox: {arena.wall}")


def say_unguarded(config: RunConfig) -> None:
    """Says where a model may win by foreseeing just the opponents whose code it is shown."""
    oracle = config.oracle
    if oracle.writes_with_a_model and oracle.opponents == "code" and not config.hidden_share:
        notice(
            "  it is shown its opponents' code and meets nobody else: programs that foresee just "
            "these may be chosen; --hidden-share 0.9 guards against that"
        )


def name_for(config: RunConfig) -> str:
    """What a run is called that was given no name: equal for equal variants and seeds."""
    model = "+".join(
        name.replace(":", "-") if name in STARTS else name.partition(":")[0]
        for name in names_of(config.oracle.model)
    )
    return f"{config.game}-{config.oracle.name}-{model}-s{config.seed}"


def at_pace(record: RunRecord, pace: Mapping[str, Any]) -> RunRecord:
    """A run as it goes on with another time-out or number of calls at once."""
    oracle = record.config.oracle
    changed = replace(oracle, asking=replace(oracle.asking, **pace))
    return replace(record, config=replace(record.config, oracle=changed))


def work(
    session: Session,
    runs: Runs,
    record: RunRecord,
    arena: Arena,
    spending: Spending,
    pace: Mapping[str, Any],
) -> None:
    """Runs or resumes, with progress on stderr, and answers; limits and pace are kept with it."""
    result, walls = go_on(runs, record, arena, spending, pace=pace)
    answer(session, record, result, walls)


def say_what_holds(runs: Runs, name: str, given: Spending) -> Spending:
    """The limits and the price that a run goes on with, told where they were given before."""
    holding = kept(runs, name, given)
    if holding != given:
        notice(f"limits and price that hold: {holding}")
    return holding


def say_what_wrote(record: RunRecord) -> None:
    """Says where a run goes on with another grammar or other prompts than it began with."""
    words = told_apart(record.config)
    if words and record.state is RunState.FINISHED:
        notice(f"{record.name} is {words}; for one of now choose another name with --name")
    elif words:
        notice(f"{record.name} began as one {words}, and stays so; those of now go on with it")


def go_on(
    runs: Runs,
    record: RunRecord,
    arena: Arena,
    spending: Spending,
    elsewhere: Spent = NOTHING,
    pace: Mapping[str, Any] | None = None,
) -> tuple[Result, Mapping[str, int]]:
    """Runs or resumes, with progress on stderr; says what the matches ran behind.

    Args:
      runs: where the run is kept.
      record: of it.
      arena: plays.
      spending: its limits.
      elsewhere: what others spent, which counts against the same limits.
      pace: is kept with the run, as the limits are; None keeps neither.
    """
    say_what_wrote(record)
    with at_work(runs, record.name), bars(record) as watcher:
        if pace is not None and record.state is not RunState.FINISHED:
            # Not before nobody else is at work on it: who is refused changes no limit of theirs.
            keep(runs, record.name, spending)
            keep_pace(runs, record.name, pace)
        config = record.config
        matches = Matches(arena, game_named(config.game), config.vouched, watcher.plays)
        shop = workshop(runs, record, spending, elsewhere=elsewhere, learns=watcher.learns)
        lineage_of = shop.authorship.lineage_of
        try:
            name = record.name
            result = carry_out(runs, name, config, shop.oracle, lineage_of, matches, watcher)
        finally:
            shop.close()
    for wall, number in sorted(matches.spent.walls.items()):
        notice(f"{number:,} matches played behind: {wall}")
    return result, matches.spent.walls
