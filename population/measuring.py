"""How many matches the estimates of a run of CSRO are made from."""

from __future__ import annotations

from dataclasses import dataclass

from arena.errors import UsageFault
from arena.games import game as game_named


@dataclass(frozen=True, slots=True)
class Measuring:
    """How many matches estimates are made from.

    Attributes:
      payoff: matches of each pair of members, for the payoff table.
      evaluation: matches of a candidate against sigma, shared among its support by weight; and
        as many others of the one that is chosen.
      hidden: the fewest of a candidate with each hidden opponent, even: two deals, so that their
        error can be told, which is two matches where nothing is dealt.  In runs of before, four.
    """

    payoff: int = 8
    evaluation: int = 24
    hidden: int = 4

    def __post_init__(self) -> None:
        at_least(4, payoff=self.payoff, evaluation=self.evaluation)
        at_least(2, hidden=self.hidden)
        if self.hidden % 2:
            raise UsageFault(f"hidden is {self.hidden}; it must be even, for whole deals")


def measuring_for(
    game: str,
    payoff: int | None = None,
    evaluation: int | None = None,
    hidden_share: float = 0.0,
) -> Measuring:
    """How many matches, by default what the game's noise asks for.

    Args:
      game: its name.
      payoff: see `Measuring`; None for what the game asks.
      evaluation: likewise.
      hidden_share: of the run; without one `hidden` says nothing, and is what it always was.
    """
    rules = game_named(game)
    counts = rules.match_counts
    hidden = 2 if hidden_share and not rules.has_deals else 4
    return Measuring(
        counts.pair if payoff is None else payoff,
        counts.mixture if evaluation is None else evaluation,
        hidden,
    )


def at_least(least: int, **values: int) -> None:
    """Refuses values that are smaller.

    Raises:
      UsageFault: one is.
    """
    for name, value in values.items():
        if value < least:
            raise UsageFault(f"{name} is {value}; it must be at least {least}")
