"""What is known of well-known models: prices, limits, options, and when they are switched off.

All of it is data, in `catalogue.json`, so that renewing it means editing one file:

* `checked` is the day on which somebody last looked through it;
* `defaults` has the model of each kind that is asked where none was named;
* `sources` says for each source where a figure comes from first (`original`), where it was read
  (`read_at`), of when that is (`dated`), and whether the two are the same (`primary`).  A figure
  from a source that is not primary was not compared with its origin;
* `models` has for each name its `prices` (pay as you go, text, standard tier; with the day `from`
  which they hold), `context` and `output` in tokens, the levels of `thinking` that it takes,
  whether it heeds a `temperature`, the day on which it `ends` and who answers `then`, and its
  `sources`.

What is not listed is unknown: no price is ever taken to be zero, or guessed from a prefix.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib.resources import files
from typing import Any

from oracle.models.prices import Price

_SNAPSHOT = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{3})$")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a figure comes from.

    Attributes:
      original: address of the page that has it first.
      read_at: address of the page where it was read.
      dated: of when that page is, as YYYY-MM or YYYY-MM-DD.
      primary: whether both are the provider's own.
    """

    original: str
    read_at: str
    dated: str
    primary: bool


@dataclass(frozen=True, slots=True)
class Listed:
    """A model of the catalogue.

    Attributes:
      name: its provider's name for it.
      prices: with the day from which each holds, in order.
      context: tokens of prompt and answer together; None where it is not known.
      output: tokens of an answer at most; None likewise.
      thinking: levels of thinking that it takes; None where they are not known.
      temperature: whether it heeds a temperature.
      ends: the day on which it is switched off; None where none is known.
      then: the model that answers in its place from then on, "" for none.
      sources: of all this.
    """

    name: str
    prices: tuple[tuple[date, Price], ...]
    context: int | None
    output: int | None
    thinking: tuple[str, ...] | None
    temperature: bool
    ends: date | None
    then: str
    sources: tuple[Source, ...]

    def price(self, on: date) -> Price:
        """Its list price on a day."""
        return [price for start, price in self.prices if start <= on][-1]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All that is listed.

    Attributes:
      checked: when somebody last looked through it.
      defaults: kind of model, such as "gemini", to the name that is asked where none was given.
      models: by name.
    """

    checked: date
    defaults: Mapping[str, str]
    models: Mapping[str, Listed]

    def find(self, model: str) -> Listed | None:
        """A model by its provider's name for it; None where it is not listed.

        A dated snapshot of a listed model (gpt-4o-2024-11-20, gemini-2.5-pro-001) is that model,
        where it is not listed itself.
        """
        name = plain_name(model)
        return self.models.get(name) or self.models.get(_SNAPSHOT.sub("", name))


@functools.cache
def catalogue() -> Catalogue:
    """The catalogue that comes with this package."""
    text = files("oracle.models").joinpath("catalogue.json").read_text(encoding="utf-8")
    return read_catalogue(json.loads(text))


def read_catalogue(document: Mapping[str, Any]) -> Catalogue:
    """A catalogue from its JSON document.

    Raises:
      KeyError, ValueError: it has no such form; it is a file of this package.
    """
    sources = {name: Source(**fields) for name, fields in document["sources"].items()}
    return Catalogue(
        date.fromisoformat(document["checked"]),
        dict(document["defaults"]),
        {name: _listed(name, one, sources) for name, one in document["models"].items()},
    )


def default_model(kind: str = "gemini") -> str:
    """The model of a kind that is asked where none was named."""
    return catalogue().defaults[kind]


def price_of(model: str, on: date | None = None) -> Price | None:
    """The list price of a model by its provider's name for it; None where it is not listed.

    Args:
      model: its name.
      on: the day of the call; today, in UTC, where it is None.
    """
    listed = catalogue().find(model)
    return listed.price(on or datetime.now(UTC).date()) if listed else None


def context_of(model: str) -> int | None:
    """Tokens of a listed model's context, prompt and answer together; None where not known."""
    listed = catalogue().find(model)
    return listed.context if listed else None


def plain_name(model: str) -> str:
    """A model's name without the folder that Google puts before it."""
    return model.removeprefix("models/")


def same_model(asked: str, answered: str) -> bool:
    """Whether who answered is who was asked, a dated snapshot of it included."""
    one, other = (_SNAPSHOT.sub("", plain_name(name)) for name in (asked, answered))
    return one == other


def _listed(name: str, one: Mapping[str, Any], sources: Mapping[str, Source]) -> Listed:
    known = {"prices", "context", "output", "thinking", "temperature", "ends", "then", "sources"}
    if set(one) - known:
        raise ValueError(f"{name}: unknown {sorted(set(one) - known)}; known are {sorted(known)}")
    prices = tuple(sorted((_period(period) for period in one["prices"]), key=lambda p: p[0]))
    if not prices or prices[0][0] != date.min:
        raise ValueError(f"{name}: no price without a day from which it holds")
    ends, thinking = one.get("ends"), one.get("thinking")
    return Listed(
        name=name,
        prices=prices,
        context=one.get("context"),
        output=one.get("output"),
        thinking=None if thinking is None else tuple(thinking),
        temperature=one.get("temperature", True),
        ends=None if ends is None else date.fromisoformat(ends),
        then=one.get("then", ""),
        sources=tuple(sources[source] for source in one["sources"]),
    )


def _period(period: Mapping[str, Any]) -> tuple[date, Price]:
    fields = dict(period)
    start = fields.pop("from", None)
    return (date.min if start is None else date.fromisoformat(start)), Price(**fields)
