"""Oracles: what writes a policy that beats a mixture of others.

    def rock(task, evaluate):
        return PROGRAM

An oracle is a function like this one, or an object with the method `respond`.  It gets a `Task`
and a function that scores programs (`Evaluate`), and returns the source of a program.  Which runs
it: `population.run_csro`.

What is listed here is the public surface; everything else may change without notice.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oracle.alpha_evolve import AlphaEvolve, Evolution
    from oracle.asking import best_program
    from oracle.best_of_n import BestOfN
    from oracle.drafts import Draft, Writer
    from oracle.grammar_writer import GrammarWriter
    from oracle.linear_refinement import LinearRefinement
    from oracle.values import (
        Against,
        Attempt,
        Candidate,
        Evaluate,
        Failure,
        Opponent,
        Oracle,
        OracleExhausted,
        Rejected,
        Response,
        Score,
        Task,
    )
    from oracle.zero_shot import ZeroShot

_HOMES = {
    "Against": "oracle.values",
    "AlphaEvolve": "oracle.alpha_evolve",
    "Attempt": "oracle.values",
    "BestOfN": "oracle.best_of_n",
    "Candidate": "oracle.values",
    "Draft": "oracle.drafts",
    "Evaluate": "oracle.values",
    "Evolution": "oracle.alpha_evolve",
    "Failure": "oracle.values",
    "GrammarWriter": "oracle.grammar_writer",
    "LinearRefinement": "oracle.linear_refinement",
    "Opponent": "oracle.values",
    "Oracle": "oracle.values",
    "OracleExhausted": "oracle.values",
    "Rejected": "oracle.values",
    "Response": "oracle.values",
    "Score": "oracle.values",
    "Task": "oracle.values",
    "Writer": "oracle.drafts",
    "ZeroShot": "oracle.zero_shot",
    "best_program": "oracle.asking",
}

__all__ = [
    "Against",
    "AlphaEvolve",
    "Attempt",
    "BestOfN",
    "Candidate",
    "Draft",
    "Evaluate",
    "Evolution",
    "Failure",
    "GrammarWriter",
    "LinearRefinement",
    "Opponent",
    "Oracle",
    "OracleExhausted",
    "Rejected",
    "Response",
    "Score",
    "Task",
    "Writer",
    "ZeroShot",
    "best_program",
]


def __getattr__(name: str) -> Any:
    """Loads what is asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'oracle' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
