"""The house entrants of repeated Leduc hold'em: an equilibrium and two patterns to exploit."""

from __future__ import annotations

import functools

from arena.games.leduc.cfr_solution import shipped
from arena.games.leduc.states import STATES
from arena.games.leduc.table import CALL, FOLD
from arena.kinds.tabular import Probabilities, payload_of, pure
from registry import Submission

_LEDUC_SOURCE = (
    "the game: F. Southey, M. Bowling, B. Larson, C. Piccione, N. Burch, D. Billings, C. Rayner, "
    '"Bayes\' Bluff: Opponent Modelling in Poker", UAI 2005'
)
_CFR_PLUS_SOURCE = (
    'the method: O. Tammelin, "Solving Large Imperfect Information Games Using CFR+", 2014, '
    "arXiv:1407.5042"
)


@functools.cache
def leduc_house() -> tuple[Submission, ...]:
    """AlwaysCall, AlwaysFold and CFR+, in that order."""
    return (
        _heuristic("AlwaysCall", "Calls every time, and never raises or folds.", (CALL,)),
        _heuristic(
            "AlwaysFold", "Folds whenever that is legal, and calls where it is not.", (FOLD, CALL)
        ),
        _cfr_plus(),
    )


def _always(wishes: tuple[int, ...]) -> dict[str, Probabilities]:
    """Everywhere the first of these actions that is legal."""
    return {
        key: pure(STATES, next(wish for wish in wishes if wish in legal))
        for key, legal in STATES.legal.items()
    }


def _heuristic(name: str, description: str, wishes: tuple[int, ...]) -> Submission:
    return Submission(
        game=STATES.game,
        name=f"house/{name}",
        kind="tabular",
        payload=payload_of(STATES, _always(wishes)),
        description=description,
        labels={"role": "heuristic"},
        provenance={
            "author": "Policy Arena, by definition of the policy",
            "year": 2026,
            "source": _LEDUC_SOURCE,
            "role": "heuristic with a pattern that is easy to see",
        },
    )


def _cfr_plus() -> Submission:
    solution = shipped()
    return Submission(
        game=STATES.game,
        name="house/CFR+",
        kind="tabular",
        payload=solution.payload,
        description=(
            f"Near-equilibrium of one hand, by {solution.iterations:,} iterations of CFR+, the "
            "linearly weighted average; plays it in every hand, whoever the opponent is."
        ),
        labels={"role": "equilibrium"},
        provenance={
            "author": "Policy Arena, with OpenSpiel's CFR+ solver",
            "year": 2026,
            "source": f"{_CFR_PLUS_SOURCE}; {_LEDUC_SOURCE}",
            "solver": solution.solver,
            "solved_game": solution.game,
            "iterations": solution.iterations,
            "engine": solution.engine,
            "exploitability_chips_per_hand": solution.exploitability,
            "nash_conv_chips_per_hand": solution.nash_conv,
            "reproduce": "python -m arena.games.leduc.cfr_plus",
        },
    )
