"""Commands about language models that play move by move: agent play, price, replay."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click

from arena.cli.references import REF
from arena.cli.session import (
    Session,
    game_option,
    notice,
    plain,
    progress_bar,
    session_options,
)
from arena.cli.standings import document_of
from arena.cli.walls import sandbox_options
from arena.errors import UsageFault
from oracle.agent.settings import HISTORY, dialogue_of
from population.cli.asking import asking_options
from population.cli.running import spending_options
from population.paper import AGENT_MATCHES

if TYPE_CHECKING:
    from rich.console import Console

    from arena.games.protocol import Game
    from arena.local import Arena
    from arena.tally import Pair, PlayReport
    from oracle.agent.agents import Agents
    from oracle.agent.price import Estimate
    from oracle.agent.settings import AgentSettings
    from oracle.models.budget import Spent
    from oracle.models.options import Asking
    from oracle.models.protocol import Model
    from population.oracles import Spending
    from population.scores import Scores
    from registry.values import PolicyVersion
    from sandbox.choose import WallChoice

# What the commands do is imported where they do it: their help would take five times as long.

_SCORES = {"PopReturn": "pop_return", "PopExpl": "pop_expl", "AggScore": "agg_score"}


@click.group()
def agent() -> None:
    """A language model that plays a game move by move, as an entrant."""


def agent_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds what makes an agent, as `settings`, and whom it meets."""

    @game_option
    @click.option(
        "--model",
        required=True,
        metavar="gemini[:NAME]|openai:NAME|text:NAME",
        help="Who is asked.",
    )
    @click.option(
        "--history",
        default=HISTORY,
        show_default=True,
        type=click.IntRange(1),
        help="Throws or hands that a question shows: the last ones.",
    )
    @click.option(
        "--against",
        multiple=True,
        metavar="REF",
        type=REF,
        help="An opponent, of a mixture its members [default: the evaluation population].",
    )
    @click.option(
        "--matches",
        "count",
        default=AGENT_MATCHES,
        show_default=True,
        type=click.IntRange(1),
        metavar="N",
        help="With each opponent.",
    )
    @asking_options
    @spending_options
    @session_options
    @wraps(function)
    def run(game: Game, model: str, history: int, asking: Asking, **kwargs: Any) -> Any:
        from population.agents import settings_for

        settings = settings_for(game, dialogue_of(game).version, model, history, asking)
        return function(game=game, settings=settings, asking=asking, **kwargs)

    return run


@agent.command()
@agent_options
def price(
    session: Session,
    game: Game,
    settings: AgentSettings,
    against: tuple[str, ...],
    count: int,
    asking: Asking,
    spending: Spending,
) -> None:
    """Says what it would take to play what is missing; asks, registers and stores nothing.

    Takes what `play` takes about the agent, its opponents and its model; limits change no price.
    """
    from population.agents import estimate_in, model_maker, opponents_of

    model = model_maker(asking, spending)(settings.model)
    with session.practice() as arena:
        opponents = opponents_of(arena, game, against)
        found = estimate_in(arena, game, settings, opponents, count, model)
    session.answer(_priced(found), lambda out: out.print(plain(str(found))))


@agent.command()
@agent_options
@click.option("--name", metavar="AUTHOR/NAME", help="Of the agent [default: after the model].")
@click.option("--yes", is_flag=True, help="Agree to the price, however many calls it takes.")
@sandbox_options
def play(
    session: Session,
    game: Game,
    settings: AgentSettings,
    against: tuple[str, ...],
    count: int,
    asking: Asking,
    spending: Spending,
    name: str | None,
    yes: bool,
    wall: WallChoice,
) -> None:
    """Makes a model an entrant and plays what is missing of its matches.

    It is asked for every move.  Answers are kept in the home before they are used: interrupt it,
    or let it reach a limit, and the same command goes on without asking or paying again.
    """
    from arena.house.population import default_population
    from arena.kinds.asked import Asked
    from oracle.agent.agents import Agents
    from oracle.models.budget import NOTHING
    from population import agents as entrants
    from population.oracles import budget_of
    from population.scores import measured

    make = entrants.model_maker(asking, spending)
    agents = Agents(session.home_path, make, partial(budget_of, spending))
    model = make(settings.model)
    budget_of(spending, NOTHING).check(model)
    with session.practice() as arena:  # nothing is stored before somebody agreed
        opponents = entrants.opponents_of(arena, game, against)
        price = entrants.estimate_in(arena, game, settings, opponents, count, model)
    _agree(model, price, agreed=not entrants.must_be_agreed(price, spending, agreed=yes))
    try:
        with session.arena(wall, new=True, asked=Asked(agents, asking.parallel)) as arena:
            version = arena.register(entrants.submission_of(settings, name), ours=True)
            wanted = entrants.wanted_of(arena, game, version.digest, opponents, count)
            report = _report(arena, agents, game, version, wanted)
            known = measured(arena, game, [version.digest], default_population(game.name))
            scores = known.single(version.digest)
        spent, drawn = _account(agents, game, version)
    finally:
        agents.close()
    document = _played(version, report, spent, scores) | {"drawn_moves": drawn}
    told = (known.population, _told(spent, drawn))
    session.answer(document, lambda out: _say(out, version, report, scores, told))


def _agree(model: Model, price: Estimate, *, agreed: bool) -> None:
    """Says what is to come, and finds out whether the model can be asked.

    Raises:
      UsageFault: nobody agreed to so many calls.
      ModelError: the model cannot be asked.
    """
    from oracle.models.choice import check_access, remarks

    notice(f"{model.name}: {price}")
    if not agreed:
        raise UsageFault(
            f"that is {price.calls:,} model calls: set a limit with --max-cost or --max-calls, or "
            "agree with --yes"
        )
    for remark in remarks(model):
        notice(f"  {remark}")
    if price.calls:
        check_access(model)


def _report(
    arena: Arena, agents: Agents, game: Game, version: PolicyVersion, wanted: Mapping[Pair, int]
) -> PlayReport:
    """Plays an agent's matches; where it has to stop, says what it came to."""
    from oracle.agent.answers import played_alone
    from oracle.models.errors import BudgetSpent, ModelError

    try:
        with (
            played_alone(arena.home.path, version.digest),
            progress_bar(f"{version.ref}: matches") as progress,
        ):
            return arena.play_pairs(game, wanted, progress=progress)
    except (BudgetSpent, ModelError):
        notice(f"{_told(*_account(agents, game, version))}; what is over is stored, and the same")
        notice("command goes on from there without asking again for what was answered")
        raise


@agent.command()
@click.argument("match_id", metavar="MATCH")
@sandbox_options
@session_options
def replay(session: Session, match_id: str, wall: WallChoice) -> None:
    """Plays a stored match of an agent again from its kept answers; asks nothing."""
    from arena.kinds.asked import KIND, Asked
    from oracle.agent.agents import Agents, SilentModel
    from oracle.models.choice import model_from

    agents = Agents(session.home_path, lambda name: SilentModel(model_from(name).name))
    try:
        with session.arena(wall, asked=Asked(agents, 1)) as arena:
            stored = arena.match(match_id)
            if KIND not in {version.kind for version in stored.versions}:
                raise UsageFault(
                    f"no agent played {stored.result.match.id}: `arena replay --verify` is for it"
                )
            compared = arena.replay(match_id)
    finally:
        agents.close()
    document = {
        "id": stored.result.match.id,
        "verified": compared.same,
        "first_difference": compared.first_difference,
    }
    moves = len(stored.result.moves)
    said = f"reproduced: {moves:,} moves are the same" if compared.same else "it differs"
    session.answer(document, lambda out: out.print(said))
    if not compared.same:
        sys.exit(1)


def _priced(price: Estimate) -> dict[str, Any]:
    return {
        "matches": price.matches,
        "calls": price.calls,
        "prompt_tokens": price.prompt_tokens,
        "cost_usd": price.cost,
    }


def _account(agents: Agents, game: Game, version: PolicyVersion) -> tuple[Spent, int]:
    """What the agent took so far, and how many of its moves were not the model's."""
    return agents.spent(game, version.payload), agents.drawn(game, version.payload)


def _told(spent: Spent, drawn: int) -> str:
    return f"asked in all: {spent}; {drawn:,} moves drawn at random for want of an answer"


def _played(
    version: PolicyVersion, report: PlayReport, spent: Spent, found: Scores | None
) -> dict[str, Any]:
    return {
        "ref": version.ref,
        "digest": version.digest,
        "played": report.played,
        "skipped": report.skipped,
        "forfeits": report.forfeits,
        "calls": spent.calls,
        "tokens": spent.tokens,
        "cost_usd": spent.cost,
        "scores": {name: document_of(getattr(found, name)) for name in _SCORES.values()}
        if found
        else None,
    }


def _say(
    out: Console,
    version: PolicyVersion,
    report: PlayReport,
    scores: Scores | None,
    told: tuple[str, str],
) -> None:
    from arena.printed import estimated, marked

    population, account = told
    out.print(f"{plain(version.ref)}: {report.played:,} matches played, {report.skipped:,} before")
    out.print(plain(account))
    if scores is not None:
        for name, field in _SCORES.items():
            out.print(f"{name} {marked(estimated(getattr(scores, field)))} (95 %) on {population}")


COMMANDS: tuple[click.Command, ...] = (agent,)
