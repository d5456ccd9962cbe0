"""Which opponents a prompt shows, and how: the columns Input and Filter of the paper's table 5.

Input: nothing, the opponents' programs, or descriptions of them.  Filter: the whole support of
sigma, the k most relevant members of the population, or the members of at least some weight.
Relevant are the members of the support by their weight, then the others, the newest first: sigma
is often a single program, and a model that sees nothing else learns to beat that one alone.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from arena.errors import UsageFault
from oracle.values import Opponent


class BadOption(UsageFault):
    """An option of the prompt is not written like that; the message says how it is."""


class OpponentInput(enum.StrEnum):
    """What a prompt tells of each opponent."""

    NONE = "none"
    """Nothing; results are still listed by opponent."""
    CODE = "code"
    """Its program."""
    DESCRIPTION = "description"
    """What another call to the model says that its program does."""


def parse_input(text: str) -> OpponentInput:
    """Reads "none", "code" or "description".

    Raises:
      BadOption: it is none of them.
    """
    try:
        return OpponentInput(text.strip().lower())
    except ValueError:
        choices = ", ".join(OpponentInput)
        raise BadOption(f"opponents cannot be shown as {text!r}; choose from {choices}") from None


@dataclass(frozen=True, slots=True)
class Shown:
    """An opponent that a prompt shows.

    Attributes:
      number: 1 for the heaviest of the whole support, whatever the filter; those without weight
        come after those that are shown of the support.
      opponent: with its weight in sigma.
      share: its weight among those that are shown; these add up to 1.
    """

    number: int
    opponent: Opponent
    share: float


@dataclass(frozen=True, slots=True)
class View:
    """What a prompt tells of the opponents.

    Attributes:
      form: of what `texts` holds.
      shown: who is shown, heaviest first.
      texts: digest to program or description; nothing where `form` is none.
    """

    form: OpponentInput
    shown: tuple[Shown, ...] = ()
    texts: Mapping[str, str] | None = None

    def only(self, number: int) -> View:
        """With fewer opponents, the heaviest; shares add up to 1 again."""
        kept = self.shown[:number]
        total = math.fsum(one.opponent.weight for one in kept) or 1.0
        shares = tuple(replace(one, share=one.opponent.weight / total) for one in kept)
        return View(self.form, shares, self.texts)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which members of the population a prompt shows.

    Attributes:
      top_k: that many, the heaviest first, then the newest of those that have no weight; None
        for the support.
      min_support: only those of at least this weight; None for no such limit.  The heaviest is
        always shown, so that there is something to respond to.
    """

    top_k: int | None = None
    min_support: float | None = None

    def __post_init__(self) -> None:
        if self.top_k is not None and self.min_support is not None:
            raise BadOption("filter by top-k or by min-support, not by both")
        if self.top_k is not None and self.top_k < 1:
            raise BadOption(f"top-k:{self.top_k} shows nobody; it must be at least 1")
        if self.min_support is not None and not 0.0 <= self.min_support <= 1.0:
            raise BadOption(f"min-support:{self.min_support} is no weight; it must be in [0, 1]")

    def __str__(self) -> str:
        if self.top_k is not None:
            return f"top-k:{self.top_k}"
        return "all" if self.min_support is None else f"min-support:{self.min_support!r}"

    def apply(
        self, opponents: Sequence[Opponent], others: Sequence[Opponent] = ()
    ) -> tuple[Shown, ...]:
        """Those that are shown, heaviest first; never nobody unless there is nobody.

        Args:
          opponents: the support of sigma.
          others: members without weight, the most relevant first.
        """
        ranked = sorted(opponents, key=lambda one: -one.weight)
        kept = ranked
        if self.top_k is not None:
            kept = [*ranked, *others][: self.top_k]
        if self.min_support is not None:
            kept = [one for one in ranked if one.weight >= self.min_support] or ranked[:1]
        total = math.fsum(one.weight for one in kept)
        return tuple(
            Shown(number, one, one.weight / total if total > 0.0 else 1.0 / len(kept))
            for number, one in enumerate(kept, 1)
        )


ALL = Filter()
TOP_5 = Filter(top_k=5)
"""The filter of the paper's best variant in repeated rock-paper-scissors."""
_DEFAULTS = {"top-k": "5", "min-support": "0.05"}
_FORMS = "all, top-k:K such as top-k:5, or min-support:P such as min-support:0.05"


def filter_in_words(text: str) -> str:
    """A filter as it is written, with whom it shows where the support has fewer members."""
    return f"{text}, filled with the newest" if parse_filter(text).top_k else text


def parse_filter(text: str) -> Filter:
    """Reads "all", "top-k:5" or "min-support:0.05"; "top-k" and "min-support" mean just these.

    Raises:
      BadOption: it is written otherwise, or the number is out of range.
    """
    kind, _, number = text.strip().lower().partition(":")
    if kind == "all" and not number:
        return ALL
    if kind not in _DEFAULTS:
        raise BadOption(f"opponents cannot be filtered by {text!r}; write {_FORMS}")
    number = number.strip() or _DEFAULTS[kind]
    try:
        return Filter(top_k=int(number)) if kind == "top-k" else Filter(min_support=float(number))
    except ValueError:
        raise BadOption(f"{number!r} in {text!r} is not a number; write {_FORMS}") from None
