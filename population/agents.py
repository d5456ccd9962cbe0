"""Language-model agents as entrants of a home: how they are called, asked, priced and measured."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from arena.errors import UsageFault
from arena.games.protocol import Game
from arena.house.population import Population, default_population
from arena.kinds.asked import KIND
from arena.mixing import through_members
from arena.nesting import mixtures_in
from arena.seam import AnyArena
from arena.tally import Pair
from oracle.agent.price import Estimate, estimate
from oracle.agent.settings import AgentSettings, dialogue_of, settings_of
from oracle.models.catalogue import price_of
from oracle.models.choice import ASKED, check_asking, model_from, names_of
from oracle.models.options import Asking, ServerOptions
from oracle.models.prices import parse_price
from oracle.models.protocol import Model
from population.members import AUTHOR
from population.oracles import Spending, full_model_name
from population.paper import AGENT_MATCHES, PaperRow, methods
from population.reproduction import Row
from population.scores import Scores, measured, over_seeds
from registry import digest_of
from registry.values import PolicyVersion, Status, Submission

UNASKED = 2_000
"""Calls that need no word from whoever pays for them: two matches of a thousand moves."""
TITLE = "LLM agent"
"""What the rows of agents begin with, before the model's name."""
_NO_NAME = re.compile(r"[^A-Za-z0-9._+-]+")
_SIGNS = re.compile(r"[^a-z0-9]+")


def settings_for(
    game: Game, dialogue: str, model: str, history: int, asking: Asking
) -> AgentSettings:
    """What an agent's version holds.

    Raises:
      UsageFault: the model does not take the options, or they are several.
    """
    name = full_model_name(model)
    if len(names_of(name)) > 1 or name.partition(":")[0] not in ASKED:
        raise UsageFault(
            f"an agent asks one model, gemini[:NAME], openai:NAME or text:NAME, and not {model!r}"
        )
    check_asking(name, asking)
    return AgentSettings(
        game.name,
        dialogue,
        name,
        history,
        asking.temperature,
        asking.max_output_tokens,
        asking.thinking,
    )


def submission_of(settings: AgentSettings, name: str | None) -> Submission:
    """What is registered of an agent."""
    bare = _NO_NAME.sub("-", settings.model.partition(":")[2])[:48].strip("-._+") or "model"
    return Submission(
        game=settings.game,
        name=name or f"{AUTHOR}/agent-{bare}",
        kind=KIND,
        payload=settings.payload,
        description=(
            f"Asks {settings.model} for every move, with the last {settings.history} lines of the "
            "match as its question."
        ),
        labels={"model": settings.model},
        provenance={"author": "Policy Arena", "model": settings.model},
    )


def model_maker(asking: Asking, spending: Spending) -> Callable[[str], Model]:
    """What makes a model by its name.

    Raises:
      UsageFault: the price is not written as one.
    """
    options = ServerOptions(
        timeout_seconds=asking.timeout_seconds,
        price=parse_price(spending.price) if spending.price else None,
        concurrency=asking.parallel,
        context_tokens=asking.context_tokens,
    )
    return lambda name: model_from(name, options)


def opponents_of(arena: AnyArena, game: Game, refs: Sequence[str]) -> list[str]:
    """Digests of the opponents: those named, else the evaluation population.

    Raises:
      UnknownPolicy: there is none of a name.
    """
    if refs:
        return [arena.policy(ref, game).digest for ref in dict.fromkeys(refs)]
    return list(default_population(game.name).digests)


def wanted_of(
    arena: AnyArena, game: Game, digest: str, opponents: Sequence[str], matches: int
) -> dict[Pair, int]:
    """The matches of an agent against some opponents; in the places of mixtures, their members.

    Its own matches against a mixture would be paid for and count in no score.
    """
    mixtures = mixtures_in(arena.policies(game, kind="mixture"))
    wanted = {(digest, other): matches for other in opponents if other != digest}
    return through_members(wanted, mixtures)


def estimate_in(
    arena: AnyArena,
    game: Game,
    settings: AgentSettings,
    opponents: Sequence[str],
    matches: int,
    model: Model,
) -> Estimate:
    """What is still to be played against some opponents, and what it would take.

    Raises:
      UsageFault: there is no opponent but the agent itself.
    """
    digest = digest_of(game.name, KIND, settings.payload)
    wanted = wanted_of(arena, game, digest, opponents, matches)
    others = sorted({other for pair in wanted for other in pair} - {digest})
    if not others:
        raise UsageFault("an agent does not play itself: name another opponent with --against")
    stored = arena.exact_payoffs(game, [digest, *others], wanted)
    missing = sum(wanted.values()) - int(stored.count[0].sum())
    return estimate(game, settings, missing, model.price)


def must_be_agreed(estimated: Estimate, spending: Spending, *, agreed: bool) -> bool:
    """Whether so many calls need a word of whoever pays: a limit, or a plain yes."""
    limits = (spending.max_cost, spending.max_calls, spending.max_tokens)
    limited = any(limit is not None for limit in limits)
    return estimated.calls > UNASKED and not (agreed or limited)


def is_agents(method: str) -> bool:
    """Whether a row of the paper's tables is that of a language-model agent."""
    return method.startswith(TITLE)


def agent_rows(arena: AnyArena, game: Game, population: Population) -> list[Row]:
    """The paper's rows of agents, each with those of its model or with what it would take.

    Agents that met the whole population and have no such row come after them.
    """
    versions = arena.policies(game, kind=KIND, status=Status.QUALIFIED)
    known = measured(arena, game, [one.digest for one in versions], population)
    entrants = {one.digest: one for one in versions}
    scores = {digest: known.single(digest) for digest in entrants}
    left = {digest: one for digest, one in scores.items() if one is not None}
    rows: list[Row] = []
    for published in methods(game.name):
        if is_agents(published.method):
            same = [
                digest
                for digest in left
                if _stands_for(published.method, _model_of(game, entrants[digest]))
            ]
            rows += [_row(game, entrants[one], left.pop(one), published) for one in same]
            rows += [] if same else [_not_run(game, published, population)]
    return rows + [_row(game, entrants[digest], one) for digest, one in left.items()]


def _row(game: Game, one: PolicyVersion, scores: Scores, published: PaperRow | None = None) -> Row:
    model = _model_of(game, one)
    method = published.method if published else f"{TITLE} {model}"
    note = "words of our own, and a model that chats" if published else ""
    how, digests = f"{one.ref}, by {model}", (one.digest,)
    return Row(method, published, over_seeds([scores], game), how, note, digests)


def _not_run(game: Game, published: PaperRow, population: Population) -> Row:
    model = full_model_name("gemini")
    settings = AgentSettings(game.name, dialogue_of(game).version, model)
    matches = AGENT_MATCHES * len(population.digests)
    price = estimate(game, settings, matches, price_of(model.partition(":")[2]))
    how = (
        f"csro agent play --game {game.name} --model openai:NAME --price PROMPT/OUTPUT "
        "--max-cost USD"
    )
    return Row(published.method, published, None, how, f"not run: needs a model; {model}: {price}")


def _model_of(game: Game, version: PolicyVersion) -> str:
    return settings_of(game, version.payload).model


def _stands_for(method: str, model: str) -> bool:
    """Whether a model's name has that of a row in it, however both are written."""
    named, asked = (_SIGNS.sub("", text.lower()) for text in (method.removeprefix(TITLE), model))
    return bool(named) and named in asked
