"""What is asked of a runner, what came of it, and the account kept in between."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from arena.audit import TRIES, Suspicion, compare, evidence, quarantine
from arena.bouts import Played, Voided
from arena.games.protocol import Game
from arena.home import Home
from arena.plan import ISOLATED_CHUNK, Bout, Chunk, Player, box_chunk
from arena.printed import WIDTH, Printed, Sheet, Side, continued, table_of
from arena.store import Audit, Verdict
from arena.values import TRUSTED, Result, Termination

if TYPE_CHECKING:
    import pyarrow as pa

COMMIT_SECONDS = (1.0, 10.0)
"""Between two batches, at least and at most: who is killed loses what came since the last one."""
COMMIT_SHARE = 0.02
"""Of the time that batches may take, within these bounds."""
COMMIT_RESULTS = 2_000
"""In a batch, about; no more of them wait."""

Pair = tuple[str, str]
"""Digests of two policies, in either order."""
Progress = Callable[[int, int], None]
"""Called with (matches done, matches to do)."""


def pause_after(seconds: float) -> float:
    """How long the next batch waits after one that took so many seconds."""
    least, most = COMMIT_SECONDS
    return min(max(seconds / COMMIT_SHARE, least), most)


def silent(done: int, wanted: int) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True)
class Request:
    """Matches of one game that somebody wants.

    Attributes:
      game: what is played.
      wanted: pairs of registered policies, of any status, to numbers of matches.
      first: repetition that they are counted from: 0, or one from `SELECTING` on.
      shared: the caller vouches for the Python policies: matches of one may share a worker.
      processor_seconds: how long its matches in a sandbox, and those of networks, may hold a
        processor (`held_seconds`); what is under way then is played to its end.  None is no limit.
      progress: told after every chunk of matches.
    """

    game: Game
    wanted: Mapping[Pair, int]
    shared: bool = False
    processor_seconds: float | None = None
    progress: Progress = silent
    first: int = 0


@dataclass(frozen=True, slots=True)
class PlayReport(Printed):
    """What a request came to.

    Attributes:
      played: matches played and stored now.
      skipped: wanted matches that were stored already, or meanwhile by somebody else.
      meanwhile: of them, those that were played here too, but that somebody else stored first.
      left: wanted matches that were not played, because the budget was spent.
      forfeits: of the matches played here, those of `meanwhile` included.
      twice: of the same, those that were played once more because a worker failed.
      audited: matches that were played a second time to see whether they repeat.
      inconclusive: of these, those that a limit on time cut short, or that differed behind a wall
        of another kind.
      suspicions: what came out differently.
      quarantined: digests of the versions that were quarantined for it.
      seconds: elapsed time.
      processor_seconds: of the policies that a request pays for: those in a sandbox, and networks.
      held_seconds: that their matches held a processor (`held_seconds`).
      walls: kinds of wall that the same ran behind, with the number of matches.
      imprecise: pairs whose mean is not known as precisely as was asked for, because their share
        is spent or they went no further; None where no precision was asked for.
      left_out: references of the entrants that were left out of a round robin, because nobody
        here plays them (`arena.lineup`).
    """

    played: int = 0
    skipped: int = 0
    left: int = 0
    forfeits: int = 0
    twice: int = 0
    audited: int = 0
    inconclusive: int = 0
    suspicions: tuple[Suspicion, ...] = ()
    quarantined: tuple[str, ...] = ()
    seconds: float = 0.0
    processor_seconds: float = 0.0
    held_seconds: float = 0.0
    walls: Mapping[str, int] = field(default_factory=dict)
    imprecise: int | None = None
    left_out: tuple[str, ...] = ()
    meanwhile: int = 0

    def sheet(self, width: int = WIDTH) -> Sheet:
        """How many matches were played behind which walls, and what is worth a remark."""
        here = self.played + self.meanwhile
        rate = here / self.seconds if self.seconds else 0.0
        theirs = f", {self.meanwhile:,} of them stored meanwhile by somebody else"
        title = (
            f"played {here:,} matches in {self.seconds:,.1f} s ({rate:,.1f} a second)"
            f"{theirs if self.meanwhile else ''}; {self.skipped - self.meanwhile:,} were stored "
            f"already; {self.forfeits:,} forfeits"
        )
        walls = tuple((f"{count:,}", wall) for wall, count in sorted(self.walls.items()))
        columns: dict[str, Side] = {"matches": "right", "behind": "left"} if walls else {}
        return Sheet(title, columns, walls, "\n".join(self.remarks()))

    def remarks(self) -> Iterator[str]:
        """What is worth a remark, a line each."""
        if self.left:
            yield f"{self.left:,} were left: the budget is spent"
        if self.left_out:
            names = ", ".join(self.left_out)
            yield f"left out, as a language model plays (see `csro agent play`): {names}"
        if self.imprecise == 0:
            yield "every pair is as precise as asked for"
        elif self.imprecise is not None:
            yield (
                f"pairs that are not as precise as asked for: {self.imprecise:,}; they had all the "
                "matches that they may get, or went no further because one of the two was "
                "quarantined"
            )
        if self.twice:
            yield f"{self.twice} matches were played once more: a shared process had failed"
        if self.audited:
            yield f"audit: {self.audited} matches were played a second time"
        if self.inconclusive:
            yield f"  {self.inconclusive} say nothing: cut short by a limit, or behind another wall"
        for one in self.suspicions:
            yield f"quarantined {one.digest[:12]}: {continued(one.evidence)}"

    def to_arrow(self) -> pa.Table:
        """One row; walls and evidence as one text each."""
        return table_of(
            [self],
            {
                "played": lambda one: one.played,
                "skipped": lambda one: one.skipped,
                "left": lambda one: one.left,
                "forfeits": lambda one: one.forfeits,
                "twice": lambda one: one.twice,
                "audited": lambda one: one.audited,
                "inconclusive": lambda one: one.inconclusive,
                "quarantined": lambda one: list(one.quarantined),
                "seconds": lambda one: one.seconds,
                "processor_seconds": lambda one: one.processor_seconds,
                "held_seconds": lambda one: one.held_seconds,
                "imprecise": lambda one: one.imprecise,
                "left_out": lambda one: list(one.left_out),
                "meanwhile": lambda one: one.meanwhile,
                "evidence": lambda one: [found.evidence for found in one.suspicions],
                "walls": lambda one: [f"{count} {wall}" for wall, count in one.walls.items()],
            },
        )


def held_seconds(result: Result) -> float:
    """How long a match held a processor: what its policies computed, or longer if they idled.

    A box stays on one core, and the matches that are played together share its time evenly.  So a
    policy that sleeps, stalls or waits costs what it keeps others from using.
    """
    return max(sum(result.cpu_seconds), result.seconds)


class Tally:
    """Stores what comes in batches, and knows what has to be played once more and why.

    Args:
      home: where results and verdicts go.
      request: what was asked for.
      missing: matches of it that are not stored yet.
    """

    def __init__(self, home: Home, request: Request, missing: int) -> None:
        self._home, self._request, self._missing = home, request, missing
        self._seeds = home.seeds()
        self._voided: dict[Bout, Voided] = {}
        self._void_queue: list[Bout] = []
        self._audited: dict[Bout, tuple[Result, int]] = {}
        self._audit_queue: list[Bout] = []
        self._pending: list[Result] = []
        self._audits: list[Audit] = []
        self._next_commit = time.monotonic() + COMMIT_SECONDS[0]
        self._played = self._elsewhere = self._forfeits = self._twice = 0
        self._processor_seconds = self._held_seconds = 0.0
        self._walls: Counter[str] = Counter()
        self._verdicts: Counter[Verdict] = Counter()
        self._suspicions: list[Suspicion] = []
        self._quarantined: list[str] = []

    def within_budget(self, bouts: Iterable[Bout]) -> Iterator[Bout]:
        """The bouts, until the matches have used up what they may."""
        limit = self._request.processor_seconds
        for bout in bouts:
            if limit is not None and self._held_seconds >= limit:
                return
            yield bout

    def collect(self, answers: Iterable[Played]) -> None:
        """Takes the answers as they come."""
        try:
            for played in answers:
                if played.audit:
                    self._compare(played)
                else:
                    self._take(played)
                late = time.monotonic() > self._next_commit
                if late or len(self._pending) >= COMMIT_RESULTS:
                    self._commit()
                self._request.progress(self._done + len(self._pending), self._missing)
        finally:
            self._commit()
        self._request.progress(self._done, self._missing)

    @property
    def _done(self) -> int:
        return self._played + self._elsewhere

    @property
    def owes_audits(self) -> bool:
        """Whether stored matches are to be played a second time that were not yet."""
        return bool(self._audited)

    def only_audits(self) -> int:
        """Of a request that was ended early, keeps the audits that are owed; returns how many."""
        self._request = replace(self._request, progress=silent)
        self._voided, self._void_queue = {}, []
        self._audit_queue = list(self._audited)
        return len(self._audit_queue)

    def more(self, players: Mapping[str, Player]) -> Chunk | None:
        """What has to be played before anything else: voided matches and audits."""
        for queue, audit in ((self._void_queue, False), (self._audit_queue, True)):
            if queue:
                bouts, queue[:] = queue[:ISOLATED_CHUNK], queue[ISOLATED_CHUNK:]
                return box_chunk(self._request.game.name, bouts, players, audit=audit)
        return None

    def report(self, skipped: int, seconds: float) -> PlayReport:
        """What it came to."""
        return PlayReport(
            played=self._played,
            skipped=skipped + self._elsewhere,
            meanwhile=self._elsewhere,
            left=self._missing - self._done,
            forfeits=self._forfeits,
            twice=self._twice,
            audited=sum(self._verdicts.values()),
            inconclusive=self._verdicts[Verdict.INCONCLUSIVE],
            suspicions=tuple(self._suspicions),
            quarantined=tuple(dict.fromkeys(self._quarantined)),
            seconds=round(seconds, 3),
            processor_seconds=round(self._processor_seconds, 3),
            held_seconds=round(self._held_seconds, 3),
            walls=dict(self._walls),
        )

    def _take(self, played: Played) -> None:
        """New results; those of matches that are played once more must go on as they began.

        A policy's process that was killed may have killed itself, or the machine was out of
        memory or going down: that match is played once more too, and then its end stands.
        """
        for voided in played.voided:
            self._void(voided)
        for bout, result in zip(played.bouts, played.results, strict=True):
            before = self._voided.pop(bout, None)
            if before is None and result.termination is Termination.DIED:
                self._void(Voided(bout, result))
                continue
            if before is not None:
                result = replace(result, playings=2)
                audit = compare(self._request.game, bout, before.cut, result)
                if audit.verdict is Verdict.DIFFERENT:
                    self._judge(audit)
            self._pending.append(result)
            sandboxed = result.wall not in TRUSTED
            if sandboxed or played.charged:
                self._processor_seconds += sum(result.cpu_seconds)
                self._held_seconds += held_seconds(result)
            if sandboxed and self._seeds.audits(result.match):
                self._audit(bout, result)

    def _void(self, voided: Voided) -> None:
        self._voided[voided.bout] = voided
        self._void_queue.append(voided.bout)

    def _compare(self, played: Played) -> None:
        for bout, again in zip(played.bouts, played.results, strict=True):
            stored, tries = self._audited.pop(bout)
            last = tries == TRIES
            audit = compare(self._request.game, bout, stored, again, last=last)
            if audit.verdict is Verdict.INCONCLUSIVE and not last:
                self._audit(bout, stored, tries + 1)
            else:
                self._verdicts[audit.verdict] += 1
                self._judge(audit)

    def _audit(self, bout: Bout, result: Result, tries: int = 1) -> None:
        self._audited[bout] = (result, tries)
        self._audit_queue.append(bout)

    def _judge(self, audit: Audit) -> None:
        """Keeps a verdict; whoever did not repeat is quarantined, with everybody of its code."""
        self._audits.append(audit)
        if audit.verdict is not Verdict.DIFFERENT or audit.suspect is None:
            return
        reason = evidence(audit)
        self._suspicions.append(Suspicion(audit.suspect, audit.match.id, reason))
        if audit.suspect not in self._quarantined:
            found = quarantine(self._home.registry, audit.suspect, reason)
            self._quarantined += [version.digest for version in found]

    def _commit(self) -> None:
        started = time.monotonic()
        if self._pending:
            stored = self._home.keep(self._request.game, self._pending)
            self._played += stored
            self._elsewhere += len(self._pending) - stored
            for result in self._pending:
                self._forfeits += result.fault_seat is not None
                self._twice += result.playings > 1
                self._walls[result.wall] += 1
            self._pending = []
        if self._audits:
            self._home.store.record_audits(self._audits)
            self._audits = []
        now = time.monotonic()
        self._next_commit = now + pause_after(now - started)
