"""The one thread that plays: jobs in turn, and while nobody waits what is missing of round robins.

An `Arena` is not for several threads, so it belongs to this one.  Whose turn it is: of the accounts
that wait, the one that was served longest ago; within an account the oldest job.  A job that plays
gives way after a while where others wait, and goes on from what is stored when its turn comes
again.  What fails because a database is away is done when it is back.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any

from arena.errors import KNOWN, NotAllowed, QuotaSpent
from arena.local import Arena
from arena.registrar import Registrar
from arena.server.admission import prepared_again
from arena.server.background import Background, Interrupted
from arena.server.bell import of_account
from arena.server.discretion import discretion_of
from arena.server.ledger import Job, Ledger, State
from arena.server.rights import check, handed_in, veiled, without_vouching
from arena.server.veil import as_seen_by
from arena.tally import PlayReport
from arena.wire import faults
from arena.wire.calls import Call, calls
from registry.rights import Account, Quota, Role, over_quota

_log = logging.getLogger("arena.server")

DAY = Quota(submissions=200, seconds=7_200.0)
"""What an author may have done on one day (in UTC), where nothing else was set for the account."""
SLICE_SECONDS = 30.0
"""For which a job may play while others wait."""
AWAY_SECONDS = 600.0
"""For which a job waits for a database that is away, before it fails."""
PAUSE_SECONDS = 1.0
"""Before the database is asked again, or whether others wait."""


class _Cancelled(Exception):
    """Whoever asked for the job wants it no more."""


@dataclass(slots=True)
class Progress:
    """How a job that is under way goes on: matches done and to do, and a number that rises."""

    done: int = 0
    wanted: int = 0
    changes: int = 0


@dataclass(slots=True)
class Counts:
    """What the job runner has done since the server was started."""

    matches: int = 0
    jobs: Counter[tuple[str, str]] = field(default_factory=Counter)


class JobRunner:
    """Works on a ledger's jobs with an arena.

    Args:
      arena: plays; from now on nobody else's.
      ledger: has the jobs.
      ring: called with a key of the bell (`arena.server.bell`) when something has changed.
      between: called between two pieces of work.
      matches: of each pair of a round robin that are played while nobody waits; 0 for none.
      quota: of authors.
    """

    def __init__(
        self,
        arena: Arena,
        ledger: Ledger,
        ring: Callable[[str], None],
        *,
        matches: int = 0,
        quota: Quota = DAY,
        between: Callable[[], None] = lambda: None,
    ) -> None:
        self._arena, self._ledger, self._ring, self._between = arena, ledger, ring, between
        self._home = home = arena.home
        self.discretion = discretion_of(home.path, home.registry.database.where)
        self._quota = quota
        self._progress: dict[str, Progress] = {}
        self._served: dict[str, int] = {}
        self._cancelled: set[str] = set()
        self._away_since: dict[str, float] = {}
        self._background = Background(arena, matches)
        self._stopping, self._wake = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="job runner", daemon=True)
        self.counts = Counts()

    def start(self) -> None:
        """Begins to work."""
        self._thread.start()

    def wake(self) -> None:
        """Says that there is a new job."""
        self._wake.set()

    def stop(self, timeout: float = 20.0) -> None:
        """Ends after the matches at hand; what is not done is done when a server is started again.

        Args:
          timeout: how long to wait for that, in seconds.
        """
        self._stopping.set()
        self._wake.set()
        self._thread.join(timeout)

    @property
    def in_background(self) -> int:
        """Matches that were played while nobody waited."""
        return self._background.played

    @property
    def plays(self) -> int:
        """Matches of each pair that it plays without being asked; 0 for none."""
        return self._background.matches

    @property
    def alive(self) -> bool:
        """Whether it still works."""
        return self._thread.is_alive()

    def progress(self, job_id: str) -> Progress:
        """How a job goes on."""
        return self._progress.get(job_id, Progress())

    def cancel(self, job: Job) -> None:
        """Ends a job at once where it waits, and soon where it is under way."""
        if self._ledger.cancel(job.id):
            self._is_over(job)
        else:
            self._cancelled.add(job.id)

    def check_quota(self, account: Account, submissions: int = 0) -> None:
        """Does nothing where an author may have more done today.

        Args:
          account: whose it is.
          submissions: that are to be handed in now.

        Raises:
          QuotaSpent: the message says what was used.
        """
        if account.role is Role.OPERATOR:
            return
        spent = self._home.registry.spent(account.name, _today())
        after = replace(spent, submissions=spent.submissions + max(0, submissions - 1))
        why = over_quota(after, account.quota, self._quota)
        if why:
            raise QuotaSpent(f"{why}; tomorrow (UTC) there is more")

    # The thread.

    def _work(self) -> None:
        try:
            while not self._stopping.is_set():
                self._wake.clear()
                try:
                    self._settle()
                    job = self._next()
                    if job is not None:
                        self._do(job)
                    elif not self._background.play(self._somebody_came):
                        self._wake.wait(1.0)
                    self._between()
                except Exception as error:  # noqa: BLE001 - nothing may end it but `stop`
                    if not faults.passes(error):
                        _log.exception("the job runner failed, and goes on")
                    self._stopping.wait(PAUSE_SECONDS)
        finally:
            self._arena.close()
            self._background.close()

    def _settle(self) -> None:
        """Plays the audits of jobs that were ended early; the end of the server alone ends them."""
        self._arena.runner.watch = self._refuse_if_stopping
        try:
            self._arena.runner.settle()
        except Interrupted:
            return
        finally:
            self._arena.runner.watch = None

    def _refuse_if_stopping(self) -> None:
        if self._stopping.is_set():
            raise Interrupted

    def _somebody_came(self) -> bool:
        return self._stopping.is_set() or self._wake.is_set()

    def _next(self) -> Job | None:
        waiting = [job for job in self._ledger.unfinished() if job.state is State.WAITING]
        if not waiting:
            return None
        return min(waiting, key=lambda job: (self._served.get(job.account, 0), job.number))

    def _do(self, job: Job) -> None:
        """Does one job, whatever comes of it."""
        if not self._ledger.begin(job):
            return
        self._served[job.account] = max(self._served.values(), default=0) + 1
        self._progress[job.id] = Progress()
        call, began = calls()[job.method], time.monotonic()
        state, result, error = State.DONE, None, None
        try:
            result = self._result(call, job)
        except Interrupted:
            self._ledger.put_back(job)
            return
        except _Cancelled:
            state = State.CANCELLED
        except Exception as fault:  # noqa: BLE001 - whoever waits for it is told, and the log
            if self._is_away(job, fault):
                self._ledger.put_back(job)
                self._stopping.wait(PAUSE_SECONDS)
                return
            if not isinstance(fault, KNOWN):
                _log.exception("job failed", extra={"job": job.id, "method": job.method})
            state, error = State.FAILED, json.dumps(self.discretion.document_of(fault))
        self._ledger.end(job, state, result=result, error=error)
        self._forget_cancelled()
        self.counts.jobs[job.method, state.value] += 1
        self._away_since.pop(job.id, None)
        _log.info(
            "job",
            extra={
                "job": job.id[:8],
                "account": job.account,
                "method": job.method,
                "state": state.value,
                "seconds": round(time.monotonic() - began, 3),
            },
        )
        self._is_over(job)
        self._progress.pop(job.id, None)

    def _is_over(self, job: Job) -> None:
        self._ring(job.id)
        self._ring(of_account(job.account))
        self._ring(of_account(""))

    def _forget_cancelled(self) -> None:
        """Keeps the ids of those jobs alone that are not over."""
        self._cancelled &= {one.id for one in self._ledger.unfinished()}

    def _is_away(self, job: Job, fault: Exception) -> bool:
        """Whether a job failed because a database is away, and not for too long."""
        if not faults.passes(fault):
            return False
        if job.id not in self._away_since:
            _log.warning("a job waits: %s", fault, extra={"job": job.id[:8]})
        since = self._away_since.setdefault(job.id, time.monotonic())
        return time.monotonic() - since < AWAY_SECONDS

    def _result(self, call: Call, job: Job) -> str:
        account = self._home.registry.account(job.account)
        arguments = call.decode(json.loads(self._ledger.arguments(job)))
        if account is None or _is_shut(account):
            raise NotAllowed(f"the account {job.account!r} is not good any more")
        self.check_quota(account, handed_in(call, arguments))
        home = as_seen_by(self._home.acting_as(account.name), account)
        # Since it was taken in, a role, a name or an alias may have changed.
        check(call, account, arguments, Registrar(home))
        arguments = without_vouching(account, arguments)
        self._arena.home = self._arena.runner.home = home
        began = time.monotonic()
        if call.name == "enter":
            arguments["submissions"] = prepared_again(arguments["game"], arguments["submissions"])
        if call.name == "play_pairs":
            arguments["processor_seconds"] = self._allowed(account, arguments)
        if "progress" in call.told:
            arguments["progress"] = self._teller(job, self._left(account))
        self._arena.runner.watch = self._watch(job)
        try:
            at = self._arena.office if call.of_office else self._arena
            found = getattr(at, call.name)(**arguments)
        except Interrupted:  # time is spent; what was handed in counts when it is done
            self._charge(account, 0, self._held(call, began))
            raise
        except Exception as error:
            if not faults.passes(error):  # that is not over
                taken = 0 if faults.asked_wrongly(error) else handed_in(call, arguments)
                self._charge(account, taken, self._held(call, began))
            raise
        finally:
            self._arena.runner.watch = None
            self._arena.home = self._arena.runner.home = self._home
        cost = _cost(found, time.monotonic() - began)
        self._charge(account, handed_in(call, arguments), cost)
        return json.dumps(
            call.result.encode(veiled(found, account, Registrar(home))), allow_nan=False
        )

    def _allowed(self, account: Account, arguments: Mapping[str, Any]) -> float | None:
        """Processor seconds that a request may use: what was asked for, and what is left today."""
        asked: float | None = arguments.get("processor_seconds")
        left = self._left(account)
        if left is None:
            return asked
        return left if asked is None else min(asked, left)

    def _left(self, account: Account) -> float | None:
        """Processor seconds that an account has left today; None where it has no limit."""
        most = account.quota.or_else(self._quota).seconds
        if account.role is Role.OPERATOR or most is None:
            return None
        return max(0.0, most - self._home.registry.spent(account.name, _today()).seconds)

    def _charge(self, account: Account, submissions: int, seconds: float) -> None:
        """Notes what a job cost; operators pay nothing."""
        if account.role is not Role.OPERATOR:
            self._home.registry.spend(account.name, seconds, submissions)

    def _held(self, call: Call, began: float) -> float:
        """Processor seconds of a call that did not come to its end: no more than these."""
        at_once = self._arena.runner.capacity if "progress" in call.told else 1
        return (time.monotonic() - began) * at_once

    def _watch(self, job: Job) -> Callable[[], None]:
        """Ends a job in the middle of a match where nobody wants it, or the server stops."""

        def look() -> None:
            self._refuse_if_stopping()
            if job.id in self._cancelled:
                raise _Cancelled

        return look

    def _teller(self, job: Job, left: float | None) -> Callable[[int, int], None]:
        """Tells how a job goes on, and interrupts it; `left` is what its account may still use."""
        told, watch = self._progress[job.id], self._watch(job)
        began = time.monotonic()
        look_at = began + SLICE_SECONDS
        spent_at = None if left is None else began + left

        def tell(done: int, wanted: int) -> None:
            nonlocal look_at
            watch()
            if spent_at is not None and done < wanted and time.monotonic() > spent_at:
                raise QuotaSpent("your processor time of today is used up; tomorrow there is more")
            if done < wanted and time.monotonic() > look_at:
                look_at = time.monotonic() + PAUSE_SECONDS
                if any(one.account != job.account for one in self._ledger.unfinished()):
                    raise Interrupted
            self.counts.matches += max(0, done - told.done)
            told.done, told.wanted = done, wanted
            told.changes += 1
            self._ring(job.id)

        return tell


def _cost(found: Any, seconds: float) -> float:
    """What is charged: what matches held a processor where that is known, else how long it took."""
    report = found if isinstance(found, PlayReport) else getattr(found, "report", None)
    return report.held_seconds if isinstance(report, PlayReport) else seconds


def _is_shut(account: Account) -> bool:
    """Whether a token that was good when a job was taken in would be refused now."""
    over = account.expires is not None and account.expires <= datetime.now(UTC)
    return account.disabled or over or not account.has_token


def _today() -> date:
    return datetime.now(UTC).date()
