"""Options of how a model is asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from arena.errors import UsageFault
from oracle.models.options import THINKING, Asking
from population.config import ONE_BY_ONE, OracleChoice

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
_PACE_NAMES = ("timeout_seconds", "parallel", "context_tokens")
_WORD_NAMES = ("temperature", "max_output_tokens", "thinking")
SPENDING = ("max_cost", "max_calls", "max_tokens", "price")
"""Parameters of the options that limit what a run spends."""


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


pace_options = gathered(_PACE, _PACE_NAMES, "pace")
"""Adds the options that may change while a run goes on, as one `pace` mapping."""
_word_options = gathered(_WORDS, _WORD_NAMES, "words")


def asking_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of how a model is asked, as one `asking` argument."""

    @_word_options
    @pace_options
    @wraps(function)
    def run(words: Mapping[str, Any], pace: Mapping[str, Any], **kwargs: Any) -> Any:
        return function(asking=Asking(**words, **pace), **kwargs)

    return run


def given_pace(asking: Asking) -> dict[str, Any]:
    """Those of the values that may change while a run goes on which the command was given."""
    return {name: getattr(asking, name) for name in _PACE_NAMES if name in _given()}


def refuse_others(*wanted: str) -> None:
    """Refuses options that were given beside these and the session's own.

    Raises:
      UsageFault: there are some: they would do nothing.
    """
    kept = {*wanted, "home", "registry_url", "seed_key", "as_json"}
    refuse_given("with --run", *(name for name in _given() if name not in kept))


def refuse_given(where: str, *names: str) -> None:
    """Refuses options that were given though they do nothing there.

    Args:
      where: they would do nothing, as the message begins.
      names: of their parameters.

    Raises:
      UsageFault: one of them was given.
    """
    given = _among(names)
    if given:
        raise UsageFault(f"{where}, {_nothing(given)}")


def refuse_idle(
    oracle: OracleChoice, *, shaping: Collection[str] = (), chosen: bool = True
) -> None:
    """Refuses options that were given and do nothing for the oracle or the model that was chosen.

    Args:
      oracle: that was chosen.
      shaping: parameters that do something for this command all the same.
      chosen: whether this command chooses them; else they are those of a stored run.

    Raises:
      UsageFault: there are some.
    """
    first = _idle_for_oracle(oracle)
    why, second = _idle_for_model(oracle)
    second -= first | {*shaping}
    by_oracle, by_model = _among(first), _among(second)
    unshown = _among({"shown"} - first - second) if oracle.opponents == "none" else []
    unchosen = _among({"hidden_share"} - {*shaping}) if oracle.writes_one else []
    reasons = []
    if by_oracle:
        told = _nothing(by_oracle)
        other = ", or choose another with --oracle" if chosen else ""
        reasons.append(f"with the oracle {oracle.name}, {told}{other}")
    if by_model:
        other = ", or choose another with --model" if chosen else ""
        reasons.append(f"{why}, so {_nothing(by_model)}{other}")
    if unshown:
        reasons.append(f"with --opponents none no prompt shows an opponent, so {_nothing(unshown)}")
    if unchosen:
        one = f"{oracle.model} writes one program a task with the oracle {oracle.name}"
        reasons.append(f"{one}, so there is nothing to choose and {_nothing(unchosen)}")
    if reasons:
        raise UsageFault("; ".join(reasons))


def _idle_for_oracle(oracle: OracleChoice) -> set[str]:
    """Parameters that do nothing for the oracle, whoever writes its programs."""
    idle = {*oracle.idle_options()}
    if oracle.trains:
        return idle | {*_WORD_NAMES, *_PACE_NAMES, *SPENDING}
    one_by_one = {"parallel"} if oracle.name in ONE_BY_ONE else set()
    return (idle & {"drafts", "refinements"}) | one_by_one


def _idle_for_model(oracle: OracleChoice) -> tuple[str, set[str]]:
    """Parameters that do nothing for what writes the programs, after the reason."""
    from oracle.models.choice import names_of  # the help of the commands would take longer

    if oracle.trains:
        return "", set()
    if not oracle.writes_with_a_model:
        idle = {"opponents", "shown", *_WORD_NAMES, *_PACE_NAMES, *SPENDING}
        return f"{oracle.model} asks no model", idle
    recorded = [one for one in names_of(oracle.model) if one.startswith("recorded:")]
    if len(recorded) == len(names_of(oracle.model)):  # it costs nothing; its calls are counted
        return f"{oracle.model} asks no server", {*_WORD_NAMES, *_PACE_NAMES, "price"}
    return "a transcript is replayed call by call", {"parallel"} if recorded else set()


def _among(names: Collection[str]) -> list[str]:
    """Those of these parameters' options that were given, as they are typed."""
    return [option for name, option in _given().items() if name in names]


def _nothing(options: Sequence[str]) -> str:
    it = "it" if len(options) == 1 else "them"
    return f"{', '.join(options)} would do nothing: leave {it} out"


def _given() -> dict[str, str]:
    """The options of the current command that were given on the command line, by parameter."""
    context = click.get_current_context()
    return {
        str(parameter.name): parameter.opts[0]
        for parameter in context.command.params
        if context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    }
