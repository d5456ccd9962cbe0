"""Answers that go on: server-sent events, for who wants to be told and not to ask.

The format is that of https://html.spec.whatwg.org/multipage/server-sent-events.html.  A client that
was cut off says in `Last-Event-ID` what it saw last, and gets what came after.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable

from fastapi.responses import StreamingResponse

from arena.errors import KNOWN, QuotaSpent
from arena.server.bell import Bell, aside, of_account
from arena.server.ledger import Job, State
from arena.server.limits import Message, Receive, Send
from arena.server.notifications import Notifications
from arena.server.service import Service
from registry.rights import Account, Role

MOST_OF_ONE, MOST_OF_ALL = 8, 200
"""Streams that one account, and all together, may hold open."""
BEAT_SECONDS = 15.0
"""Between two signs of life, which proxies and clients wait for; the token is tried again then."""
_AGAIN_MILLISECONDS = 2_000
"""After which a client that was cut off comes again."""
_BEGINNING = f"retry: {_AGAIN_MILLISECONDS}\n\n"
_BEAT = ": still here\n\n"


class Streams:
    """What goes on being told to accounts.

    Args:
      service: knows accounts and jobs.
      bell: rung when something has changed.
      notifications: what accounts are told.
    """

    def __init__(self, service: Service, bell: Bell, notifications: Notifications) -> None:
        self._service, self._bell, self._notifications = service, bell, notifications
        self._open: Counter[str] = Counter()
        self._lock = threading.Lock()

    async def of_notifications(self, account: Account, token: str, after: int | None) -> Stream:
        """Everything that an account is told after some number, without end.

        Args:
          account: who is told.
          token: by which it is known, asked for again at every beat.
          after: of the item that was seen last; None for what comes from now on.

        Raises:
          QuotaSpent: too many streams are open.
        """
        known = await aside(self._notifications.latest) if after is None else after
        return self._stream(account, self._notifications_after(account, token, known))

    async def of_job(self, account: Account, token: str, job: Job, seen: str) -> Stream:
        """A job each time that it has gone on, until it is over.

        Args:
          account: who is told.
          token: by which it is known.
          job: of the account's.
          seen: the last state that was seen, as events are named; "" for none.

        Raises:
          QuotaSpent: too many streams are open.
        """
        return self._stream(account, self._job_after(account, token, job, seen))

    def _stream(self, account: Account, told: AsyncIterator[str]) -> Stream:
        with self._lock:
            if self._open[account.name] >= MOST_OF_ONE or self._open.total() >= MOST_OF_ALL:
                raise QuotaSpent(
                    f"{self._open[account.name]} streams of yours are open, and "
                    f"{self._open.total()} in all; {MOST_OF_ONE} of one account may be, and "
                    f"{MOST_OF_ALL} in all: close one"
                )
            self._open[account.name] += 1

        def left() -> None:
            with self._lock:
                self._open[account.name] -= 1
                if not self._open[account.name]:
                    del self._open[account.name]

        return Stream(told, left)

    async def _notifications_after(
        self, account: Account, token: str, number: int
    ) -> AsyncIterator[str]:
        yield _BEGINNING
        yield f"id: {number}\n\n"  # who is cut off before anything happens knows where that was
        found = await aside(self._notifications.since, account, number)
        # Operators are told of everybody's ranks: every author's rings for them too.
        key = of_account("" if account.role is Role.OPERATOR else account.name)
        while await self._still_good(account, token):
            for item in found:
                number = item.number
                yield _event(str(number), item.kind, item.about)
            if not found:
                yield _BEAT
            await self._bell.heard(key, self._anything_after(account, number), BEAT_SECONDS)
            found = await aside(self._notifications.since, account, number)

    def _anything_after(self, account: Account, number: int) -> Callable[[], bool]:
        return lambda: bool(self._notifications.since(account, number))

    async def _job_after(
        self, account: Account, token: str, job: Job, seen: str
    ) -> AsyncIterator[str]:
        yield _BEGINNING
        while await self._still_good(account, token):
            now = await aside(self._service.job, job.id, account)
            name = self._name_of(now)
            if name != seen:
                seen = name
                body = await aside(self._service.describe, now, False)
                yield _event(seen, "job", body.decode())
            else:
                yield _BEAT
            if now.state.over:
                return
            await self._bell.heard(job.id, self._gone_on(job, account, seen), BEAT_SECONDS)

    def _gone_on(self, job: Job, account: Account, seen: str) -> Callable[[], bool]:
        return lambda: self._name_of(self._service.job(job.id, account)) != seen

    def _name_of(self, job: Job) -> str:
        """A state of a job: another one has another name."""
        if job.state is not State.RUNNING:
            return job.state.value
        return f"{job.state.value}-{self._service.job_runner.progress(job.id).changes}"

    async def _still_good(self, account: Account, token: str) -> bool:
        """Whether to go on: an account that is shut, or has another role now, is told no more.

        Nor is anybody while the server stops.  Whoever comes again is told what fits the new role.
        """
        if self._bell.closed:
            return False
        try:
            now: Account = await aside(self._service.account_of, token)
        except KNOWN:
            return False
        return now.role is account.role


class Stream(StreamingResponse):
    """An answer of events.

    Args:
      told: the events, as text.
      left: called once it is over, however that came.
    """

    def __init__(self, told: AsyncIterator[str], left: Callable[[], None]) -> None:
        # Proxies that collect answers before they pass them on know this header.
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(told, media_type="text/event-stream", headers=headers)
        self._left = left

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Sends events until the client leaves."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._left()


def _event(number: str, kind: str, document: str) -> str:
    """One event.  JSON without line ends is one line of data."""
    return f"id: {number}\nevent: {kind}\ndata: {document}\n\n"
