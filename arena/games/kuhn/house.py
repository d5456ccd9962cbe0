"""The house entrants of repeated Kuhn poker: an equilibrium and three patterns to exploit."""

from __future__ import annotations

from collections.abc import Callable

from arena.games.kuhn.states import STATES
from arena.kinds.tabular import Probabilities, payload_of
from registry import Submission

_KUHN = (
    'H. W. Kuhn, "A simplified two-person poker", Contributions to the Theory of Games 1, '
    "Annals of Mathematics Studies 24, 1950"
)
ALPHA = 1 / 3
"""How often the equilibrium's first player bets a jack.  Kuhn's equilibria have 0 to 1/3; the
largest bets every king, and wins the most from those who fold too often."""


def kuhn_house() -> tuple[Submission, ...]:
    """AlwaysBet, AlwaysPass, Kuhn1950 and NeverBluffs, in that order."""
    return (
        _heuristic("AlwaysBet", "Bets every time: it opens with a bet and calls every bet.", _bet),
        _heuristic("AlwaysPass", "Passes every time: it never bets and folds to every bet.", _pass),
        _equilibrium(),
        _heuristic(
            "NeverBluffs",
            "Bets a king and nothing else, calls a bet with a queen or a king, folds a jack.",
            _honest,
        ),
    )


def _bet(card: str, line: str) -> float:
    return 1.0


def _pass(card: str, line: str) -> float:
    return 0.0


def _honest(card: str, line: str) -> float:
    facing_a_bet = line.endswith("B")
    return float(card == "K" or (card == "Q" and facing_a_bet))


def equilibrium(card: str, line: str, alpha: float = ALPHA) -> float:
    """How often Kuhn's equilibrium bets.

    Args:
      card: "J", "Q" or "K".
      line: the betting so far, as in the names of information states.
      alpha: which of the equilibria, 0 to 1/3.
    """
    match line, card:
        case "", _:
            return {"J": alpha, "Q": 0.0, "K": 3.0 * alpha}[card]
        case "PB", "Q":
            return alpha + 1 / 3
        case ("P", "J") | ("B", "Q"):
            return 1 / 3
        case _:
            return float(card == "K")


def table_of(bets: Callable[[str, str], float]) -> dict[str, Probabilities]:
    """A table from how often it bets, by card and betting so far."""
    found: dict[str, Probabilities] = {}
    for key in STATES.legal:
        card, line = key.split("|")
        found[key] = (1.0 - bets(card, line), bets(card, line))
    return found


def _heuristic(name: str, description: str, bets: Callable[[str, str], float]) -> Submission:
    return Submission(
        game=STATES.game,
        name=f"house/{name}",
        kind="tabular",
        payload=payload_of(STATES, table_of(bets)),
        description=description,
        labels={"role": "heuristic"},
        provenance={
            "author": "Policy Arena, by definition of the policy",
            "year": 2026,
            "source": f"the game: {_KUHN}",
            "role": "heuristic with a pattern that is easy to see",
        },
    )


def _equilibrium() -> Submission:
    return Submission(
        game=STATES.game,
        name="house/Kuhn1950",
        kind="tabular",
        payload=payload_of(STATES, table_of(equilibrium)),
        description=(
            "Kuhn's equilibrium of one hand that bluffs the most; plays it in every hand, whoever "
            "the opponent is."
        ),
        labels={"role": "equilibrium"},
        provenance={
            "author": "H. W. Kuhn",
            "year": 1950,
            "source": _KUHN,
            "alpha": "1/3",
            "value_of_player_0_chips_per_hand": "-1/18",
        },
    )
