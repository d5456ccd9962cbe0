"""Options of how a model is asked, and the command that shows what it is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.table import Table

from arena.cli.session import Session, notice, plain
from arena.errors import UsageFault
from arena.games import game as game_named
from arena.local import Arena
from oracle.models.journal import Call
from oracle.models.options import THINKING, Asking
from oracle.prompt import Prompt
from population.cli.advice import advise
from population.cli.keeping import runs_of
from population.config import OracleChoice, RunConfig
from population.members import Member, built_in_initial, label_of, named_initial
from population.oracles import first_prompt, journal_of, prompt_against
from population.runs import Runs
from registry import shown

_PACE = (
    click.option(
        "--timeout",
        "timeout_seconds",
        type=click.FloatRange(0, min_open=True),
        metavar="SECONDS",
        help="For one attempt to ask the model [default: 600].",
    ),
    click.option(
        "--parallel", type=click.IntRange(1), help="Model calls under way at once [default: 4]."
    ),
    click.option(
        "--context",
        "context_tokens",
        type=click.IntRange(1),
        metavar="TOKENS",
        help="Of the model's server, prompt and answer together; longer prompts are shortened.",
    ),
)
_WORDS = (
    click.option(
        "--temperature",
        type=click.FloatRange(0, 2),
        help="Of the model, where it heeds one [default: its own].",
    ),
    click.option(
        "--max-output-tokens",
        type=click.IntRange(1),
        help="Of an answer, thinking included [default: the model's own].",
    ),
    click.option(
        "--thinking",
        type=click.Choice(THINKING),
        help="How much the model is to think first [default: its own].",
    ),
)


def gathered(
    options: Sequence[Callable[..., Any]], names: Sequence[str], argument: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that adds options and hands over those that were given, as one mapping."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(**kwargs: Any) -> Any:
            told = {name: kwargs.pop(name) for name in names}
            given = {name: value for name, value in told.items() if value is not None}
            return function(**{argument: given}, **kwargs)

        for option in reversed(options):
            run = option(run)
        return run

    return decorate


pace_options = gathered(_PACE, ("timeout_seconds", "parallel", "context_tokens"), "pace")
"""Adds the options that may change while a run goes on, as one `pace` mapping."""
_word_options = gathered(_WORDS, ("temperature", "max_output_tokens", "thinking"), "words")


def asking_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of how a model is asked, as one `asking` argument."""

    @_word_options
    @pace_options
    @wraps(function)
    def run(words: Mapping[str, Any], pace: Mapping[str, Any], **kwargs: Any) -> Any:
        return function(asking=Asking(**words, **pace), **kwargs)

    return run


def refuse_others(*wanted: str) -> None:
    """Refuses options that were given beside these and the session's own.

    Raises:
      UsageFault: there are some: they would do nothing.
    """
    kept = {*wanted, "home", "registry_url", "seed_key", "as_json"}
    given = [option for name, option in _given().items() if name not in kept]
    if given:
        raise UsageFault(f"with --run, {', '.join(given)} would do nothing: leave it out")


def refuse_idle(oracle: OracleChoice) -> None:
    """Refuses options of the oracle that were given and do nothing for the one that was chosen.

    Raises:
      UsageFault: there are some.
    """
    idle = set(oracle.idle_options())
    if "asking" in idle:
        idle |= {"temperature", "max_output_tokens", "thinking"}
    given = [option for name, option in _given().items() if name in idle]
    if given:
        raise UsageFault(
            f"with the oracle {oracle.name} by {oracle.model}, {', '.join(given)} would do "
            "nothing: leave it out, or choose another with --oracle and --model"
        )


def _given() -> dict[str, str]:
    """The options of the current command that were given on the command line, by parameter."""
    context = click.get_current_context()
    return {
        str(parameter.name): parameter.opts[0]
        for parameter in context.command.params
        if context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    }


def show_first(session: Session, config: RunConfig) -> None:
    """Prints what would be sent first; registers and stores nothing.

    Raises:
      UsageFault: the oracle sends no prompts.
    """
    if config.oracle.trains:
        raise UsageFault(f"the oracle {config.oracle.name} sends no prompts")
    game = game_named(config.game)
    if config.initial:
        with session.arena() as arena:
            initial = named_initial(arena, game, config.initial, config.oracle)
    else:
        initial = built_in_initial(game)
    first = first_prompt(config, initial)
    _show(session, first, {})
    notice(f"model: {config.oracle.model}; {_size(first)}; nothing was sent")


def show_calls(session: Session, run: str) -> None:
    """Lists what a run asked its model."""
    session.arena()
    runs = runs_of(session)
    runs.get(run)  # says so where there is none
    calls = journal_of(runs, run).calls()

    def human(out: Console) -> None:
        table = Table("call", "characters", "read", "written", "finish", "answered by", box=None)
        for call in calls:
            reply = call.reply
            table.add_row(
                call.request.key,
                f"{len(call.request.system) + len(call.sent):,}",
                "-" if reply.prompt_tokens is None else f"{reply.prompt_tokens:,}",
                "-" if reply.tokens is None else f"{reply.tokens - (reply.prompt_tokens or 0):,}",
                plain(f"{reply.finish.value} {reply.detail}".strip()),
                plain(reply.model or call.model),
            )
        out.print(table)
        command = session.typed(f"csro prompt --run {run}")
        advise(out, "one of them", f"{command} --call KEY")
        advise(out, "what is asked first in iteration 5", f"{command} --call k05")

    session.answer({"run": run, "calls": [_told(call) for call in calls]}, human)


def show_call(session: Session, run: str, key: str) -> None:
    """Prints what a run asked under a key, or is first asked in an iteration.

    Raises:
      UsageFault: there is no such call, and no such iteration; or the oracle is not ours.
    """
    arena = session.arena()
    runs = runs_of(session)
    record = runs.get(run)
    calls = journal_of(runs, run).calls(key)
    found = [call for call in calls if call.request.key == key]
    found = found or [call for call in calls if call.request.key.startswith(f"{key}/")][:1]
    if found:
        call = found[-1]  # a key may have been asked again with another prompt
        _show(session, Prompt(call.request.system, call.sent), _told(call))
        answered = call.reply.model or call.model
        notice(f"{call.request.key}: as it was sent; answered by {shown(answered)}")
        return
    sigmas = {label_of(one.k): (one.k, one.sigma) for one in runs.iterations(run)}
    if key not in sigmas:
        raise UsageFault(
            f"{run} has no model call {key!r} and no finished iteration of that name; see "
            + session.typed(f"csro prompt --run {run}")
        )
    if record.config.oracle.trains:
        raise UsageFault(f"{run} trains networks, and asks no model")
    if record.config.oracle.custom:
        raise UsageFault(
            f"{run} has an oracle of its author's own, {record.config.oracle.name}: nobody else "
            "knows what it asks"
        )
    k, sigma = sigmas[key]
    composed = prompt_against(record.config, members_before(arena, runs, run, k), sigma, k)
    _show(session, composed, {"key": key})
    notice(f"{key}: what would be asked first; {_size(composed)}; nothing was sent")


def members_before(arena: Arena, runs: Runs, run: str, k: int) -> list[Member]:
    """The members of a run's population that iteration k began with."""
    labels = {runs.get(run).initial: "initial"}
    for one in runs.iterations(run):
        if one.k < k and one.accepted:
            labels.setdefault(one.accepted, label_of(one.k))
    versions = arena.versions(labels)
    return [
        Member(digest, label, versions[digest].payload, versions[digest].kind)
        for digest, label in labels.items()
    ]


def _show(session: Session, prompt: Prompt, more: Mapping[str, Any]) -> None:
    document = {"system": prompt.system, "prompt": prompt.text, "digest": prompt.digest, **more}
    session.answer(document, lambda out: click.echo(f"{prompt.system}\n\n{prompt.text}"))


def _size(prompt: Prompt) -> str:
    return f"{len(prompt.system) + len(prompt.text):,} characters"


def _told(call: Call) -> dict[str, Any]:
    reply = call.reply
    return {
        "key": call.request.key,
        "model": call.model,
        "answered_by": reply.model,
        "characters": len(call.request.system) + len(call.sent),
        "shortened": bool(reply.sent),
        "prompt_tokens": reply.prompt_tokens,
        "tokens": reply.tokens,
        "cost_usd": reply.cost,
        "finish": reply.finish.value,
        "detail": reply.detail,
    }
