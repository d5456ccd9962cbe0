"""Commands that work: run, resume, prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.meta_strategy import DEFAULT_SOLVER, SOLVERS
from arena.cli.references import REF
from arena.cli.session import Session, game_option, optional_game, session_options
from arena.cli.walls import sandbox_options
from arena.cli.workers import workers_options
from arena.errors import UsageFault
from population.cli.asking import (
    asking_options,
    given_pace,
    pace_options,
    refuse_idle,
    refuse_others,
)
from population.cli.keeping import runs_of
from population.cli.learning import CHOICES, chosen, training_options
from population.config import OracleChoice, RunConfig
from population.errors import RunExists
from population.measuring import measuring_for

if TYPE_CHECKING:
    from arena.executors import Workers
    from arena.games.protocol import Game
    from population.oracles import Spending
    from sandbox.choose import WallChoice

# What the commands do is imported where they do it: their help would take four times as long.


def _shown_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --opponents and --filter, as `opponents` and `shown`."""
    opponents = click.option(
        "--opponents",
        default="code",
        show_default=True,
        type=click.Choice(["none", "code", "description"]),
        help="What of the opponents the model is shown.",
    )
    shown = click.option(
        "--filter",
        "shown",
        default="top-k:5",
        show_default=True,
        metavar="all|top-k:N|min-support:P",
        help="Which opponents it is shown.",
    )
    return opponents(shown(function))


def _search_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --refinements and --drafts: how long is searched."""
    refinements = click.option(
        "--refinements",
        default=10,
        show_default=True,
        type=click.IntRange(0),
        help="M: most refinements of a candidate (alpha-evolve: generations).",
    )
    drafts = click.option(
        "--drafts",
        default=10,
        show_default=True,
        type=click.IntRange(1),
        help="N: candidates of best-of-n.",
    )
    return refinements(drafts(function))


def oracle_options(function: Callable[..., Any], usual: str = "linear") -> Callable[..., Any]:
    """Adds the options that choose the oracle, the usual one by default, as `oracle`."""

    @click.option(
        "--oracle",
        "name",
        default=usual,
        show_default=True,
        type=click.Choice(CHOICES),
        help="How best responses are searched for.",
    )
    @click.option(
        "--model",
        metavar="grammar[:plain|:parts]|gemini[:NAME]|openai:NAME|text:NAME|recorded:FILE",
        help="What writes the programs [default: gemini where a key is set, else grammar]; several "
        "models with commas between them take turns.",
    )
    @_shown_options
    @_search_options
    @training_options
    @asking_options
    @wraps(function)
    def run(
        name: str,
        model: str | None,
        opponents: str,
        shown: str,
        refinements: int,
        drafts: int,
        **kwargs: Any,
    ) -> Any:
        told = {"opponents": opponents, "shown": shown, "refinements": refinements}
        told |= {"drafts": drafts, "asking": kwargs.pop("asking")}
        oracle = chosen(kwargs.get("game"), name, model, kwargs.pop("training"), **told)
        return function(oracle=oracle, **kwargs)

    return run


def hidden_share_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --hidden-share."""
    option = click.option(
        "--hidden-share",
        default=0.0,
        show_default=True,
        type=click.FloatRange(0, 1, max_open=True),
        metavar="SHARE",
        help="Of the score that chooses candidates: against opponents that are not shown, so that "
        "to foresee those that are is not enough; others like them then choose among equilibria.",
    )
    return option(function)


def spending_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --max-cost, --max-calls and --max-tokens as one `spending` argument."""

    @click.option(
        "--max-cost",
        type=click.FloatRange(0),
        metavar="USD",
        help="Stop before costing more, unless a call is dearer than all before it.",
    )
    @click.option("--max-calls", type=click.IntRange(0), help="Stop after so many model calls.")
    @click.option(
        "--max-tokens",
        type=click.IntRange(0),
        help="Stop before taking more, unless a call is longer than all before it.",
    )
    @click.option(
        "--price",
        metavar="PROMPT/OUTPUT",
        help="Of the model, in dollars per million tokens, where its list price is not known.",
    )
    @wraps(function)
    def run(
        max_cost: float | None,
        max_calls: int | None,
        max_tokens: int | None,
        price: str | None,
        **kwargs: Any,
    ) -> Any:
        from population.oracles import Spending

        return function(spending=Spending(max_cost, max_calls, max_tokens, price), **kwargs)

    return run


@click.command()
@game_option
@oracle_options
@click.option(
    "--iterations", default=20, show_default=True, type=click.IntRange(1), help="K: policies added."
)
@click.option("--seed", default=0, show_default=True, help="Of every random choice.")
@click.option("--name", "run_name", metavar="RUN", help="What the run is called.")
@click.option(
    "--meta-solver",
    "solver",
    default=DEFAULT_SOLVER,
    show_default=True,
    type=click.Choice(list(SOLVERS)),
    help="Finds the meta-strategy.",
)
@click.option(
    "--initial", default="", metavar="REF", type=REF, help="First policy [default: a plain one]."
)
@click.option(
    "--payoff-matches",
    type=click.IntRange(4),
    help="Matches of each pair of members [default: by game].",
)
@click.option(
    "--evaluation-matches",
    type=click.IntRange(4),
    help="Matches of a candidate against the meta-strategy [default: by game].",
)
@hidden_share_option
@workers_options
@click.option("--dry-run", is_flag=True, help="Print the first prompt and stop.")
@spending_options
@sandbox_options
@session_options
def run(
    session: Session,
    game: Game,
    oracle: OracleChoice,
    iterations: int,
    seed: int,
    run_name: str | None,
    solver: str,
    initial: str,
    payoff_matches: int | None,
    evaluation_matches: int | None,
    hidden_share: float,
    workers: Workers,
    dry_run: bool,
    spending: Spending,
    wall: WallChoice,
) -> None:
    """Runs CSRO and registers its meta-strategy as the policy csro/RUN.

    The same options give the same run.  Interrupt it, or kill it: `csro resume RUN` goes on.
    """
    from population.cli.prompts import show_first
    from population.cli.telling import answer
    from population.cli.working import (
        at_pace,
        name_for,
        ready,
        say_unguarded,
        say_what_holds,
        say_what_wrote,
        work,
    )
    from population.members import settled
    from population.oracles import check_writer
    from population.records import RunState
    from population.report.facts import result_of

    refuse_idle(oracle)
    matches = measuring_for(game.name, payoff_matches, evaluation_matches, hidden_share)
    config = RunConfig(
        game.name,
        oracle,
        iterations,
        seed,
        solver,
        initial,
        matches=matches,
        hidden_share=hidden_share,
    )
    if dry_run:
        show_first(session, config)
        return
    check_writer(config)
    with session.arena(wall, workers, new=True) as arena:
        runs = runs_of(session)
        name = run_name or name_for(config)
        known = {one.name: one.state for one in runs.all()}
        config = settled(arena, game, config)  # before anything is stored
        if known.get(name) is not RunState.FINISHED:
            if name in known:  # it may have been left with limits
                spending = say_what_holds(runs, name, spending)
            ready(arena, oracle, spending)
            say_unguarded(config)
        try:
            record = runs.start(name, config)
        except RunExists as error:
            raise RunExists(f"{error}: {session.typed(f'csro resume {name}')}") from None
        if record.state is RunState.FINISHED:
            say_what_wrote(record)
            answer(session, record, result_of(arena, runs, name), {})
        else:  # it may have been left at another pace
            pace = given_pace(oracle.asking)
            work(session, runs, at_pace(record, pace), arena, spending, pace)


@click.command()
@click.argument("run_name", metavar="RUN")
@workers_options
@pace_options
@spending_options
@sandbox_options
@session_options
def resume(
    session: Session,
    run_name: str,
    workers: Workers,
    pace: Mapping[str, Any],
    spending: Spending,
    wall: WallChoice,
) -> None:
    """Goes on with RUN from wherever it was left; a finished run is only told again.

    The limits, the price and the pace of before hold, where no others are given.
    """
    from population.cli.telling import answer
    from population.cli.working import at_pace, ready, say_what_holds, work
    from population.records import RunState
    from population.report.facts import result_of

    with session.arena(wall, workers) as arena:
        runs = runs_of(session)
        record = runs.get(run_name)
        refuse_idle(record.config.oracle, chosen=False)
        record = at_pace(record, pace)
        if record.state is RunState.FINISHED:
            answer(session, record, result_of(arena, runs, run_name), {})
        else:
            holding = say_what_holds(runs, run_name, spending)
            ready(arena, record.config.oracle, holding)
            work(session, runs, record, arena, holding, pace)


@click.command()
@optional_game
@oracle_options
@click.option(
    "--initial", default="", metavar="REF", type=REF, help="First policy [default: a plain one]."
)
@hidden_share_option
@click.option(
    "--run",
    "run_name",
    metavar="RUN",
    help="Show what this run has asked instead; or a search of csro exploit, by its name.",
)
@click.option("--call", "key", metavar="KEY", help="Of the run: one call, such as k03/a02, or k03.")
@session_options
def prompt(
    session: Session,
    game: Game | None,
    oracle: OracleChoice,
    initial: str,
    hidden_share: float,
    run_name: str | None,
    key: str | None,
) -> None:
    """Prints prompts; nothing is sent.

    With --game the first one that a run with these options would send; with --run a list of all
    that RUN has sent, and with --call one of them, or the first of an iteration (k03).
    """
    from population.cli.prompts import show_call, show_calls, show_first

    if (game is None) == (run_name is None):
        raise UsageFault("give either --game, with a run's options, or --run RUN")
    if run_name is None and key is not None:
        raise UsageFault("--call names a call of a run: give --run RUN too")
    if game is not None:
        # What a model would be shown is printed though the grammar writes, so these do something.
        refuse_idle(oracle, shaping=("opponents", "shown", "hidden_share"))
        config = RunConfig(game.name, oracle, initial=initial, hidden_share=hidden_share)
        show_first(session, config)
        return
    refuse_others("run_name", "key")
    if key is None:
        show_calls(session, str(run_name))
    else:
        show_call(session, str(run_name), key)


COMMANDS: tuple[click.Command, ...] = (run, resume, prompt)
