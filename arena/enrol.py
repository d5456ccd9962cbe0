"""Takes a policy in: static checks, a trial in the sandbox, then the registry.

A policy that fails is never stored.  Its author gets the reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from arena.bouts import rules_of
from arena.games.protocol import Game
from arena.submission import Rejection
from registry import Registry
from registry.values import PolicyVersion, Status, Submission
from sandbox.values import Block, BlockMatch, FaultKind, Limits, SeatPlan
from sandbox.wall import Wall

TRIAL_SEED = 20_260_101


@dataclass(frozen=True, slots=True)
class Enrolled:
    """A policy that was taken in.  `created` is False where the same content was known."""

    version: PolicyVersion
    created: bool


def trial(game: Game, source: str, wall: Wall, limits: Limits) -> Rejection | None:
    """Lets the policy play one whole match against itself in the sandbox.

    Returns:
      None where it played to the end without a fault.
    """
    rules = rules_of(game)
    seats = (SeatPlan(0, TRIAL_SEED), SeatPlan(0, TRIAL_SEED + 1))
    block = Block(rules, (source,), (BlockMatch(TRIAL_SEED, seats),), True, limits)
    (outcome,) = wall.play(block)
    if outcome.fault is None:
        return None
    if outcome.fault.kind is FaultKind.LOAD_FAILED:
        return Rejection(outcome.fault.kind.value, outcome.fault.message)
    where = f"after {len(outcome.moves)} moves of both sides in a trial match against itself"
    message = f"{outcome.fault.message} ({where})"
    if outcome.fault.kind is FaultKind.ILLEGAL_ACTION:
        message += f"; the actions are {', '.join(game.actions)}, written like this"
    return Rejection(outcome.fault.kind.value, message)


def enrol(
    registry: Registry,
    game: Game,
    submission: Submission | Rejection,
    wall: Wall,
    limits: Limits,
) -> Enrolled | Rejection:
    """Tries a prepared submission and registers it.

    Args:
      registry: where it goes.
      game: what it plays.
      submission: from `arena.submission.prepare`; a rejection passes through.
      wall: the sandbox of the trial.
      limits: what the policy may use.
    """
    if isinstance(submission, Rejection):
        return submission
    failed = trial(game, submission.payload, wall, limits)
    if failed is not None:
        return failed
    registered = registry.submit(submission)
    version = registered.version
    if version.status is Status.CANDIDATE and submission.status is Status.QUALIFIED:
        # An oracle had scored the same program; now somebody enters it.
        version = registry.set_status(version.digest, Status.QUALIFIED, "submitted as an entrant")
    return Enrolled(version, registered.created)
