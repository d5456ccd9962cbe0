"""Takes policies in: static checks, a trial, then the registry.  The one door for everybody.

A trial is nothing special: it is the first two matches that the newcomer would play against an
opponent drawn in secret, and the first of them once more, as in an audit.  From inside it cannot
be told from rated play, because it is rated play: where the newcomer is taken in, the two matches
are stored.  A policy that faults, or does not repeat its moves, is not taken in, and its author
gets the reason; who faults in the first match plays no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.audit import compare
from arena.games.protocol import Game
from arena.home import HOUSE
from arena.listings import Policies
from arena.plan import Bout, Player, bout_of
from arena.players import members_of, resolver
from arena.printed import WIDTH, Printed, Sheet
from arena.rejection import Rejection, RejectionKind
from arena.runner import Runner
from arena.seeds import Seeds
from arena.store import Verdict
from arena.tally import Request
from arena.values import Match, Result, Termination
from registry import Registry, digest_of
from registry.credits import is_kept
from registry.values import PolicyVersion, Status, Submission

if TYPE_CHECKING:
    import pyarrow as pa

Judge = Callable[[tuple[Result, ...]], Rejection | None]
"""Looks at the two matches of a trial that was passed; what it objects to is not taken in."""


@dataclass(frozen=True, slots=True)
class Enrolled(Printed):
    """A policy that was taken in.

    Attributes:
      version: as it is registered.
      created: False where the same content was known.
      credited: whether its author got a name for it now; False where there was one.
      trial: its matches, empty where there was no trial.
    """

    version: PolicyVersion
    created: bool
    credited: bool
    trial: tuple[Result, ...] = ()

    def sheet(self, width: int = WIDTH) -> Sheet:
        """What it is called, what it is, and how its trial went."""
        one = self.version
        facts = [("policy", one.ref), ("status", one.status.value), ("digest", one.digest)]
        if one.status_reason:
            facts.append(("reason", one.status_reason))
        if not self.created:
            facts.append(("content", "was known before"))
        if self.trial:
            facts.append(("trial", f"{len(self.trial)} matches"))
        return Sheet("", {"": "left", "enrolled": "left"}, tuple(facts))

    def to_arrow(self) -> pa.Table:
        """One row, as in a list of policies, and whether it was new."""
        row = Policies([self.version]).to_arrow()
        for name in ("created", "credited"):
            row = row.append_column(name, [[getattr(self, name)]])
        return row


def enrol(
    runner: Runner,
    game: Game,
    submissions: Sequence[Submission],
    *,
    opponents: Sequence[str] = (),
    ours: bool = False,
    judge: Judge | None = None,
) -> list[Enrolled | Rejection]:
    """Tries prepared submissions and registers those that pass, in their order.

    Args:
      runner: plays the trials.
      game: what they play.
      submissions: from `arena.submission.prepare`.
      opponents: digests of registered policies to draw the trials' opponents from; by default
        the house's.
      ours: whether names that are reserved for the arena and its clients are allowed.
      judge: has a say after the trial.

    Raises:
      MalformedName: a name is reserved, or reads like another author's.
      SandboxError, WorkerDied: nothing was registered.
    """
    registry = runner.home.registry
    if not ours:
        for submission in submissions:
            registry.check_author(submission.name.partition("/")[0])
    new = {digest_of(one.game, one.kind, one.payload): one for one in registry.missing(submissions)}
    known = {digest: _quarantined(registry, one) for digest, one in new.items()}
    wanted = {digest: one for digest, one in new.items() if known[digest] is None}
    tried = try_out(runner, game, wanted, opponents, judge)
    passed = [one for digest, one in wanted.items() if not isinstance(tried[digest], Rejection)]
    registry.submit_many(passed, reserved=ours)
    runner.home.keep(
        game, [result for found in tried.values() if isinstance(found, tuple) for result in found]
    )
    outcomes = {**known, **tried}
    entered = [_entered(registry, one, outcomes, new, ours) for one in submissions]
    _make_up(runner, game, entered, opponents)
    return entered


def _make_up(
    runner: Runner,
    game: Game,
    entered: Sequence[Enrolled | Rejection],
    opponents: Sequence[str],
) -> None:
    """Plays the matches of trials whose program is registered, and of which none is stored.

    A kill can come between the two, and this home may be another one than that of the trial.
    """
    home = runner.home
    bare = [
        one.version.digest
        for one in entered
        if isinstance(one, Enrolled)
        and not one.created
        and one.version.status is not Status.QUARANTINED
        and not home.store.matches(game.name, game.version, of=one.version.digest, limit=1)
    ]
    if bare:
        seeds, resting = home.seeds(), _resting(home.registry, game, opponents)
        others = {digest: [one for one in resting if one != digest] for digest in bare}
        owed = {(digest, _opponent(seeds, digest, others[digest])): 2 for digest in bare}
        runner.play(Request(game, owed))


def try_out(
    runner: Runner,
    game: Game,
    submissions: Mapping[str, Submission],
    opponents: Sequence[str] = (),
    judge: Judge | None = None,
) -> dict[str, tuple[Result, ...] | Rejection]:
    """Lets policies play their trials; nothing is registered or stored.

    Args:
      runner: plays.
      game: what they play.
      submissions: by digest.
      opponents: as for `enrol`.
      judge: as for `enrol`.

    Returns:
      By digest: the two matches, or why the policy cannot be taken in.
    """
    if not submissions:
        return {}
    home = runner.home
    seeds, resting = home.seeds(), _resting(home.registry, game, opponents)
    present = members_of(home.registry, home.registry.by_digests(resting).values())
    trials = {}
    for digest, submission in submissions.items():
        opponent = _opponent(seeds, digest, resting)
        players = present | {digest: Player(digest, submission.kind, submission.payload)}
        trials[digest] = (_trial(game, seeds, digest, opponent, players), players)
    # Who faults at once plays no more: a program that never ends would cost its limit again.
    played: dict[str, tuple[Result, ...]] = dict.fromkeys(trials, ())
    found: dict[str, tuple[Result, ...] | Rejection] = {}
    for number, again in ((0, False), (1, False), (0, True)):
        left = {d: (b[number : number + 1], p) for d, (b, p) in trials.items() if d not in found}
        for digest, results in (runner.try_out(game, left, again=again) if left else {}).items():
            played[digest] += results
            problem = _faulted(game, digest, left[digest][0], results)
            if problem is not None:
                found[digest] = problem
    for digest, (bouts, _) in trials.items():
        if digest not in found:
            two = played[digest][:2]
            problem = _unlike(game, digest, bouts[0], *played[digest][::2])
            if problem is None and judge is not None:
                problem = judge(two)
            found[digest] = problem or two
    return {digest: found[digest] for digest in trials}


def _resting(registry: Registry, game: Game, opponents: Sequence[str]) -> list[str]:
    """Whom a trial's opponent is drawn from."""
    house = (version.digest for version in registry.find(game.name, author=HOUSE))
    return sorted(opponents or house)


def _opponent(seeds: Seeds, digest: str, resting: Sequence[str]) -> str:
    return resting[seeds.choice("trial", digest, len(resting))]


def _trial(
    game: Game, seeds: Seeds, digest: str, opponent: str, players: Mapping[str, Player]
) -> tuple[Bout, ...]:
    """Both halves of the first deal."""
    resolve = resolver(players)
    matches = [Match.between(game.name, game.version, digest, opponent, n) for n in (0, 1)]
    return tuple(bout_of(match, seeds, resolve) for match in matches)


def _faulted(
    game: Game, digest: str, bouts: Sequence[Bout], results: Sequence[Result]
) -> Rejection | None:
    for bout, result in zip(bouts, results, strict=True):
        if result.fault_seat is not None and bout.players[result.fault_seat] == digest:
            return _fault(game, result)
    return None


def _unlike(game: Game, digest: str, bout: Bout, first: Result, again: Result) -> Rejection | None:
    found = compare(game, bout, first, again)
    if found.verdict is not Verdict.DIFFERENT or found.suspect != digest:
        return None
    return Rejection(
        RejectionKind.DOES_NOT_REPEAT,
        f"it played one match twice, with the same seeds and against the same opponent, and moved "
        f"differently from move {found.move} on: {found.stored} at first, {found.again} then.  Its "
        "moves must follow from `random` (seeded for each match) and what it observes; the "
        "order of a set of objects, hash() or id() of an object do not",
    )


def _fault(game: Game, result: Result) -> Rejection:
    where = f"after {len(result.moves)} moves of both sides in a trial match"
    message = f"{result.fault_message} ({where})"
    if result.termination is Termination.ILLEGAL_ACTION:
        message += f"; the actions are {', '.join(game.actions)}, written like this"
    return Rejection(result.termination.value, message)


def _quarantined(registry: Registry, submission: Submission) -> Rejection | None:
    """Why code that is in quarantine is not taken in under another layout or other names."""
    found = registry.quarantined_code(submission.game, submission.code_digest)
    if found is None:
        return None
    # A name under which the operator keeps content is told to nobody.
    whose = "this code" if is_kept(found) else f"this is the code of {found.ref}, which"
    return Rejection(RejectionKind.QUARANTINED, f"{whose} is in quarantine: {found.status_reason}")


def _entered(
    registry: Registry,
    submission: Submission,
    trials: Mapping[str, tuple[Result, ...] | Rejection | None],
    new: Mapping[str, Submission],
    ours: bool,
) -> Enrolled | Rejection:
    digest = digest_of(submission.game, submission.kind, submission.payload)
    trial = trials.get(digest)
    if trial is None and _is_newcomers(registry, submission, digest):
        trial = _quarantined(registry, submission)
    if isinstance(trial, Rejection):
        return trial
    version, _, credited = registry.submit(submission, reserved=ours)
    if version.status is Status.CANDIDATE and submission.status is Status.QUALIFIED:
        # Its author had an oracle score the same program, and enters it now.
        version = registry.set_status(
            version.digest, Status.QUALIFIED, "submitted as an entrant", ref=version.ref
        )
    return Enrolled(version, digest in new, digest in new or credited, trial or ())


def _is_newcomers(registry: Registry, submission: Submission, digest: str) -> bool:
    """Whether content that is known is new for its author."""
    author = submission.name.partition("/")[0]
    known = registry.by_digests([digest])[digest]
    return all(credit.author != author for credit in known.credits)
