"""Policy Arena: plays code policies against each other and keeps every match.

    from arena import Arena

    with Arena("arena-home") as arena:
        arena.submit(source, "rrps", "ada/copycat")
        arena.play("rrps")
        print(arena.leaderboard("rrps"))

What is listed here is the public surface; everything else may change without notice.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.analysis.estimates import Estimate
    from arena.analysis.focus import Focus
    from arena.conduct import Conduct
    from arena.enrol import Enrolled
    from arena.errors import ArenaError
    from arena.evaluation import Evaluated
    from arena.executors import Workers
    from arena.games import GAMES, Game, game
    from arena.listings import History, Matches, Policies, Practice, Seasons
    from arena.local import Arena
    from arena.payoffs import PayoffTable
    from arena.practice import PracticeMatch
    from arena.rejection import Rejection, RejectionKind
    from arena.replay import Comparison, Stored
    from arena.seam import AnyArena
    from arena.standings import Leaderboard
    from arena.tally import PlayReport
    from arena.values import Match, Result, Termination
    from registry.errors import RegistryError
    from registry.values import PolicyVersion, Season, Status
    from sandbox.errors import SandboxError

_HOMES = {
    "AnyArena": "arena.seam",
    "Arena": "arena.local",
    "ArenaError": "arena.errors",
    "Comparison": "arena.replay",
    "Conduct": "arena.conduct",
    "Enrolled": "arena.enrol",
    "Estimate": "arena.analysis.estimates",
    "Evaluated": "arena.evaluation",
    "Focus": "arena.analysis.focus",
    "GAMES": "arena.games",
    "Game": "arena.games",
    "History": "arena.listings",
    "Leaderboard": "arena.standings",
    "Match": "arena.values",
    "Matches": "arena.listings",
    "PayoffTable": "arena.payoffs",
    "PlayReport": "arena.tally",
    "Policies": "arena.listings",
    "PolicyVersion": "registry.values",
    "Practice": "arena.listings",
    "PracticeMatch": "arena.practice",
    "RegistryError": "registry.errors",
    "Rejection": "arena.rejection",
    "RejectionKind": "arena.rejection",
    "Result": "arena.values",
    "SandboxError": "sandbox.errors",
    "Season": "registry.values",
    "Seasons": "arena.listings",
    "Status": "registry.values",
    "Stored": "arena.replay",
    "Termination": "arena.values",
    "Workers": "arena.executors",
    "game": "arena.games",
}

__all__ = [
    "AnyArena",
    "Arena",
    "ArenaError",
    "Comparison",
    "Conduct",
    "Enrolled",
    "Estimate",
    "Evaluated",
    "Focus",
    "GAMES",
    "Game",
    "History",
    "Leaderboard",
    "Match",
    "Matches",
    "PayoffTable",
    "PlayReport",
    "Policies",
    "PolicyVersion",
    "Practice",
    "PracticeMatch",
    "RegistryError",
    "Rejection",
    "RejectionKind",
    "Result",
    "SandboxError",
    "Season",
    "Seasons",
    "Status",
    "Stored",
    "Termination",
    "Workers",
    "game",
]


def __getattr__(name: str) -> Any:
    """Loads what is asked for: a sealed worker or a light command needs little of all this."""
    if name not in _HOMES:
        raise AttributeError(f"module 'arena' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
