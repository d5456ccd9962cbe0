"""Audits: a secret sample of the matches is played a second time, and must come out the same.

A policy gets the same seeds and the same observations again, in a fresh sealed process, so an
honest one makes the same moves.  One that does not has drawn on something that is neither its
seed nor the match: memory addresses, another match, a way out of the box.  Nothing tells it which
playing it is in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from arena.games.protocol import Game
from arena.nesting import quarantine_mixtures
from arena.plan import Bout
from arena.store import Audit, Verdict
from arena.values import LOCKSTEP, Result, Termination
from registry import Registry
from registry.values import PolicyVersion, Status

BUSY_MACHINE = frozenset({Termination.TIMED_OUT, Termination.STALLED})
"""Ends that a limit on time caused: they say something about the machine as well."""
FULL_MACHINE = BUSY_MACHINE | {Termination.DIED}
"""And the kernel ends a process where memory runs out.  That does not happen again and again."""
TRIES = 3
"""An audit that a limit cut short is made so often."""
ACTOR = "arena"
"""In whose name the audit log has what an audit has found; no account can be called so."""
_SHOWN_MOVES = 12


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A policy that did not repeat its moves, in which match, and the evidence in words."""

    digest: str
    match_id: str
    evidence: str


def compare(game: Game, bout: Bout, stored: Result, again: Result, *, last: bool = False) -> Audit:
    """What the second playing of a match says.

    A fault of the policy's own in one of the two is a difference like any other.  Only where the
    machine may have cut the shorter one off, and both agree until there, nothing can be
    concluded; nor where they were played behind walls of two kinds, as the machines of a cluster
    may have: Python and numpy need not be of one version there.

    Args:
      game: what was played.
      bout: the match as it was played, which names the members that mixtures drew.
      stored: the first playing.
      again: the second.
      last: whether this was the last of several tries.
    """
    if (stored.moves, stored.termination, stored.fault_seat) == (
        again.moves,
        again.termination,
        again.fault_seat,
    ):
        return _said(Verdict.SAME, again)
    old, new = stored.moves, again.moves
    shorter = min(len(old), len(new))
    move = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    machine = BUSY_MACHINE if last else FULL_MACHINE
    if _kind(stored) != _kind(again):
        return _said(Verdict.INCONCLUSIVE, again)
    if move == shorter and any(one.termination in machine for one in _cut(stored, again)):
        return _said(Verdict.INCONCLUSIVE, again)
    return replace(
        _said(Verdict.DIFFERENT, again),
        suspect=bout.players[_mover(game, bout, stored, again, move)],
        move=move,
        stored=_told(game, stored, move),
        again=_told(game, again, move),
    )


def _said(verdict: Verdict, again: Result) -> Audit:
    return Audit(again.match, verdict, None, None, "", "", again.wall, datetime.now(UTC))


def evidence(audit: Audit) -> str:
    """An audit's finding for the author of the suspect."""
    return (
        f"match {audit.match.id[:12]} did not come out the same when it was played again with the "
        f"same seeds: from move {audit.move} on it was {audit.stored} at first and {audit.again} "
        "then.  A policy's moves must follow from its seeded random choices and what it observes"
    )


def quarantine(registry: Registry, digest: str, reason: str) -> tuple[PolicyVersion, ...]:
    """Takes a Python policy, every version of the same code and all mixtures of it out of all play.

    Our own kinds are never quarantined: if one of them does not repeat, the fault is ours.  The
    audit log has it in the arena's own name, whoever asked for the matches.

    Returns:
      The versions that are in quarantine now.
    """
    registry = registry.acting_as(ACTOR)
    version = registry.by_digests([digest])[digest]
    if version.kind != "python":
        return ()
    if version.code_digest:
        found = registry.quarantine_code(version.game, version.code_digest, reason)
    else:
        found = (registry.set_status(digest, Status.QUARANTINED, reason),)
    suspects = {digest, *(one.digest for one in found)}
    return (*found, *quarantine_mixtures(registry, version.game, suspects, reason))


def _kind(result: Result) -> str:
    """The wall that a match was played behind, whether or not it shared a worker."""
    return result.wall.removesuffix(LOCKSTEP)


def _cut(stored: Result, again: Result) -> list[Result]:
    """Of two records that agree as far as both go, those that a fault ended.

    Where both end at one length, it is those with the lower seat at fault: where seats move at
    once, a game names the lowest of several, so only that seat's part is known to differ.
    """
    length = min(len(stored.moves), len(again.moves))
    at_fault = [one for one in (stored, again) if one.fault_seat is not None]
    cut = [one for one in at_fault if len(one.moves) == length] or at_fault
    lowest = min((one.fault_seat for one in cut if one.fault_seat is not None), default=None)
    return [one for one in cut if one.fault_seat == lowest]


def _told(game: Game, result: Result, move: int) -> str:
    """The next few moves, and the end where there is one among them."""
    shown = result.moves[move : move + _SHOWN_MOVES]
    words = [game.actions[action] for action in shown]
    if move + _SHOWN_MOVES >= len(result.moves):
        words.append(f"({result.termination.value})")
    return " ".join(words)


def _mover(game: Game, bout: Bout, stored: Result, again: Result, move: int) -> int:
    """The seat that made the move that differs, or ended one of the records before it."""
    shorter = min(stored, again, key=lambda result: len(result.moves))
    if move < len(shorter.moves):
        return game.movers(bout.deal_seed, shorter.moves, shorter.fault_seat)[move]
    fault = _cut(stored, again)[0].fault_seat
    assert fault is not None, "records of one length and without a fault cannot differ at their end"
    return fault
