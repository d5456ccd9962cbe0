"""The one way to ask an oracle, whoever wrote it.

All that an oracle has to come back with is a program's source.  Whatever it had scored on the way
went through the function that it was given, so the account of its attempts is kept here.  The
oracles of this package keep a fuller one, with what was never scored, and hand that over.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from oracle.attempts import digest_in
from oracle.end import End, Ended
from oracle.insight import insight_of
from oracle.rations import ration_of
from oracle.values import (
    Attempt,
    Evaluate,
    Failure,
    Oracle,
    OracleExhausted,
    Response,
    Score,
    Task,
)

AnyOracle = Oracle | Callable[[Task, Evaluate], str | Response]
"""An object with `respond`, or a function of the same arguments."""

_LONGEST_IDENTITY = 160
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


@dataclass(frozen=True, slots=True)
class Answer:
    """What an oracle came to.

    Attributes:
      source: the program that it offers; "" where it found none.
      score: of that program; None where there is none.
      attempts: everything that it tried, in order.
      end: why it tried no more; None where it does not say.
    """

    source: str
    score: Score | None
    attempts: tuple[Attempt, ...]
    end: End | None = None


class Account:
    """An `Evaluate` that remembers what was scored, in the order in which it was first asked for.

    Attributes:
      insight: what whoever plays can tell beside the scores; None for nothing.
      ration: how many matches may be played; None for no limit.

    Raises:
      TypeError: a program is handed over by itself and not in a list.
    """

    def __init__(self, task: Task, evaluate: Evaluate) -> None:
        self._task = task
        self._evaluate = evaluate
        self.insight, self.ration = insight_of(evaluate), ration_of(evaluate)
        self._results: dict[str, Score | Failure] = {}

    def __call__(
        self, sources: Sequence[str], *, effort: float = 1.0
    ) -> tuple[Score | Failure, ...]:
        """See `oracle.values.Evaluate`."""
        if isinstance(sources, str):
            raise TypeError("evaluate takes a list of programs; put the one into a list")
        results = self._evaluate(sources, effort=effort)
        self._results.update(zip(sources, results, strict=True))
        return results

    def met(self, source: str) -> bool:
        """Whether a program was handed over before."""
        return source in self._results

    def end(self, told: End | None) -> End | None:
        """Why an oracle tried no more: as it says, unless it was not let."""
        if self.ration is None or not self.ration.exceeded:
            return told
        return End((Ended.BUDGET,), told.most if told else None)

    def attempts(self, kept: str) -> tuple[Attempt, ...]:
        """What was scored, each program once; one of them was kept."""
        return tuple(
            Attempt(
                number=number,
                parent="",
                call="",
                digest=digest_in(self._task, source),
                score=result if isinstance(result, Score) else None,
                failure=result if isinstance(result, Failure) else None,
                kept=source == kept,
            )
            for number, (source, result) in enumerate(self._results.items())
        )


def ask(oracle: AnyOracle, task: Task, evaluate: Evaluate) -> Answer:
    """Asks an oracle for a best response.

    A program that it offers without having had it scored is scored now; a source alone also where
    it was scored in part.

    Raises:
      TypeError: it answers with something else than a source or a `Response`.
      BudgetSpent: the model's budget is used up; what was done is kept.
    """
    account = Account(task, evaluate)
    respond = oracle.respond if isinstance(oracle, Oracle) else oracle
    try:
        found = respond(task, account)
    except OracleExhausted as empty_handed:
        tried = empty_handed.attempts or account.attempts("")
        return Answer("", None, tried, account.end(empty_handed.end))
    if isinstance(found, Response):
        best = found.best
        if best.source and not account.met(best.source):
            (result,) = account([best.source])
            if not isinstance(result, Score):
                return Answer("", None, account.attempts(""), account.end(found.end))
            best = dataclasses.replace(best, score=result)
        return Answer(best.source, best.score, found.attempts, account.end(found.end))
    if not isinstance(found, str):
        raise TypeError(
            f"{identity(oracle)} answered with {type(found).__name__}; an oracle returns the "
            'source of a program, or "" where it has none'
        )
    (score,) = account([found]) if found else (None,)
    if not isinstance(score, Score):
        return Answer("", None, account.attempts(""), account.end(None))
    return Answer(found, score, account.attempts(found), account.end(None))


def best_program(programs: Sequence[str], results: Sequence[Score | Failure]) -> str:
    """The program that returns most, the first of equals; "" where none could be scored.

    Args:
      programs: sources.
      results: what `Evaluate` says of them, in their order.
    """
    scored = [
        (result.u, program)
        for program, result in zip(programs, results, strict=True)
        if isinstance(result, Score)
    ]
    return max(scored, key=lambda pair: pair[0], default=(0.0, ""))[1]


def _called(oracle: object) -> str:
    if dataclasses.is_dataclass(oracle):
        shown = [one.name for one in dataclasses.fields(oracle) if one.repr]
        told = ", ".join(f"{name}={_told(getattr(oracle, name))}" for name in shown)
        return f"{type(oracle).__qualname__}({told})"
    if isinstance(oracle, functools.partial):
        given = [_told(one) for one in oracle.args]
        given += [f"{name}={_told(value)}" for name, value in sorted(oracle.keywords.items())]
        return f"{_called(oracle.func)}({', '.join(given)})"
    named = getattr(oracle, "name", None) or getattr(oracle, "__qualname__", None)
    return named if isinstance(named, str) else type(oracle).__qualname__


def _told(value: object) -> str:
    """As `repr`, but sets in an order that does not change from process to process."""
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    return repr(value)


def identity(oracle: AnyOracle) -> str:
    """What tells an oracle from others, and is the same whenever its script runs again.

    Of a dataclass its fields (but those of `repr=False`), of a `functools.partial` its arguments,
    so that other parameters are another oracle; else its `name`; else the name of its class or
    function.
    """
    text = " ".join(_ADDRESS.sub("", _called(oracle)).split())
    if len(text) <= _LONGEST_IDENTITY:
        return text
    digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    return f"{text[: _LONGEST_IDENTITY - 20]}... {digest}"
