"""Options of how a model is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from arena.errors import UsageFault
from oracle.models.options import THINKING, Asking

if TYPE_CHECKING:
    from population.config import OracleChoice

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
