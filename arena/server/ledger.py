"""What was asked of a server: kept in a file before anybody is told that it will be done.

A job that was under way when the server died is begun again.  That doubles nothing: matches are
wanted minus stored, and the same content is the same version.  Whoever asks again with the same key
(`Idempotency-Key`) gets the same job, whether or not the server was started again meanwhile.
"""

from __future__ import annotations

import enum
import hashlib
import os
import secrets
import sqlite3
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from arena.errors import BadRequest, HomeUnusable
from arena.wire.calls import How, calls
from registry.sqlite_file import hide_from_others

FILE = "server.sqlite"
KEPT_SECONDS = 7 * 86_400.0
"""For which a job that is over, and its key, are known."""
LONGEST_KEY = 200
ONCE = frozenset({"reveal_season", "add_accounts", "invite", "invite_all"})
"""Changes that are another change when they are made again."""
_ID_BYTES = 16
_TABLES = """
create table if not exists job (
  number integer primary key autoincrement, id text not null unique, account text not null,
  key text, method text not null, arguments text not null, asked text not null, state text not null,
  result text, error text, created real not null, ended real, deaths integer not null default 0,
  unique (account, key)
);
create index if not exists unfinished on job (state) where state in ('waiting', 'running');
create index if not exists over on job (ended) where ended is not null;
"""
_COLUMNS = "number, id, account, method, asked, state, result, error"
_WAITING = "number, id, account, method, asked, state, null, null"
MOST_DEATHS = 5
"""A job that as many servers died of is not begun again: it may be what kills them."""
CUT_OFF = (
    "the server was stopped while it did this, so nobody knows whether it was done: look, and ask "
    "again with a new key if it was not"
)


_DEADLY = (
    '{"kind": "ServerFault", "message": "the server was stopped in the middle of this every time '
    'it was begun, so it is not begun again"}'
)


class State(enum.StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self in (State.DONE, State.FAILED, State.CANCELLED)


@dataclass(frozen=True, slots=True)
class Job:
    """One request that was taken in.

    Attributes:
      number: jobs are numbered as they come.
      id: by which its owner asks for it; nobody can guess it.
      account: who asked.
      method: of the seam.
      asked: digest of its arguments.
      state: where it stands.
      result: JSON, where it is done.
      error: JSON, where it failed.
    """

    number: int
    id: str
    account: str
    method: str
    asked: str
    state: State
    result: str | None = None
    error: str | None = None


class Ledger:
    """The jobs of one home.  Safe for many threads; one server of a home has it open.

    Args:
      path: of its file, made where there is none.

    Raises:
      HomeUnusable: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        try:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
            self._file = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._file.execute("pragma journal_mode = wal")
            self._file.execute("pragma synchronous = full")
            self._file.executescript(_TABLES)
            hide_from_others(path)
        except (sqlite3.Error, OSError) as error:
            raise HomeUnusable(f"{path}, the server's file of jobs, cannot be used: {error}") from (
                error
            )

    def reopen(self) -> None:
        """Goes on with what an earlier server left: its jobs wait again."""
        changes = [name for name, call in calls().items() if call.how is How.CHANGE]
        with self._lock:
            for name in changes:
                if name in ONCE:
                    self._file.execute(
                        "update job set state = 'failed', error = ?, ended = ? "
                        "where method = ? and state = 'running'",
                        [
                            '{"kind": "ServerFault", "message": "' + CUT_OFF + '"}',
                            time.time(),
                            name,
                        ],
                    )
                else:  # whoever asks again has it done again, which comes to the same
                    self._file.execute(
                        "delete from job where method = ? and state = 'running'", [name]
                    )
            self._file.execute(
                "update job set state = 'waiting', deaths = deaths + 1 where state = 'running'"
            )
            self._file.execute(
                "update job set state = 'failed', error = ?, ended = ?, arguments = '' "
                "where state = 'waiting' and deaths >= ?",
                [_DEADLY, time.time(), MOST_DEATHS],
            )

    def prune(self, most: int) -> int:
        """Forgets jobs that have been over for longer than they are kept, the oldest first.

        Args:
          most: how many at once; answers can be long, and others wait meanwhile.

        Returns:
          How many.
        """
        with self._lock:
            found = self._file.execute(
                "delete from job where number in "
                "(select number from job where ended < ? order by ended limit ?)",
                [time.time() - KEPT_SECONDS, most],
            )
            return found.rowcount

    def add(
        self, account: str, key: str | None, method: str, arguments: str, state: State
    ) -> tuple[Job, bool]:
        """Takes a request in; when it returns, the request survives the server's death.

        Args:
          account: who asks.
          key: by which the same request is known when it comes again; None where it will not.
          method: of the seam.
          arguments: JSON.
          state: waiting, or running for what is done at once.

        Returns:
          The job, and whether it is new.

        Raises:
          BadRequest: the key is too long, or another request came with it.
        """
        if key is not None and not 0 < len(key) <= LONGEST_KEY:
            raise BadRequest(f"an Idempotency-Key has 1 to {LONGEST_KEY} characters")
        asked = hashlib.blake2b(arguments.encode(), digest_size=16).hexdigest()
        with self._lock:
            if key is not None:
                known = self._one("account = ? and key = ?", account, key)
                if known is not None:
                    if (known.method, known.asked) != (method, asked):
                        raise BadRequest(
                            f"the Idempotency-Key {key!r} came with another request before: every "
                            "request has a key of its own"
                        )
                    return known, False
            made = secrets.token_hex(_ID_BYTES)
            self._file.execute(
                "insert into job (id, account, key, method, arguments, asked, state, created) "
                "values (?, ?, ?, ?, ?, ?, ?, ?)",
                [made, account, key, method, arguments, asked, state.value, time.time()],
            )
            job = self._one("id = ?", made)
        assert job is not None
        return job, True

    def known(self, account: str, key: str) -> bool:
        """Whether an account has used a key."""
        with self._lock:
            return self._one("account = ? and key = ?", account, key) is not None

    def get(self, job_id: str) -> Job | None:
        """The job of that id; None where there is none (any more)."""
        with self._lock:
            return self._one("id = ?", job_id)

    def arguments(self, job: Job) -> str:
        """A job's arguments as JSON; "" where it is over."""
        with self._lock:
            row = self._file.execute("select arguments from job where id = ?", [job.id]).fetchone()
        return "" if row is None else str(row[0])

    def waiting(self, account: str) -> tuple[int, int]:
        """How many jobs of an account are not over, and the characters of their arguments."""
        with self._lock:
            found: tuple[int, int] = self._file.execute(
                "select count(*), coalesce(sum(length(arguments)), 0) from job "
                "where account = ? and state in ('waiting', 'running')",
                [account],
            ).fetchone()
        return found

    def ahead(self, job: Job) -> int:
        """How many jobs that are not over came before."""
        with self._lock:
            (found,) = self._file.execute(
                "select count(*) from job where state in ('waiting', 'running') and number < ?",
                [job.number],
            ).fetchone()
        return int(found)

    def unfinished(self, account: str | None = None) -> list[Job]:
        """Jobs that are not over, in the order in which they came; of one account, or of all."""
        whose, values = ("and account = ?", [account]) if account else ("", [])
        with self._lock:
            rows = self._file.execute(
                f"select {_WAITING} from job where state in ('waiting', 'running') {whose} "
                "order by number",
                values,
            ).fetchall()
        return [_job(row) for row in rows]

    def begin(self, job: Job) -> bool:
        """Notes that a job is under way; False where it was cancelled before."""
        with self._lock:
            changed = self._file.execute(
                "update job set state = 'running' where id = ? and state = 'waiting'", [job.id]
            )
            return changed.rowcount == 1

    def put_back(self, job: Job) -> None:
        """Notes that a job was interrupted, and waits."""
        with self._lock:
            self._file.execute(
                "update job set state = 'waiting', deaths = 0 where id = ?", [job.id]
            )

    def end(
        self, job: Job, state: State, *, result: str | None = None, error: str | None = None
    ) -> None:
        """Notes what came of a job."""
        with self._lock:
            self._file.execute(
                "update job set state = ?, result = ?, error = ?, ended = ?, arguments = '' "
                "where id = ?",
                [state.value, result, error, time.time(), job.id],
            )

    def cancel(self, job_id: str) -> bool:
        """Ends a job that waits; False where it does not."""
        with self._lock:
            changed = self._file.execute(
                "update job set state = 'cancelled', ended = ?, arguments = '' "
                "where id = ? and state = 'waiting'",
                [time.time(), job_id],
            )
            return changed.rowcount == 1

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._file.close()

    def _one(self, where: str, *values: str) -> Job | None:
        row = self._file.execute(f"select {_COLUMNS} from job where {where}", values).fetchone()
        return None if row is None else _job(row)


def _job(row: tuple[int, str, str, str, str, str, str | None, str | None]) -> Job:
    number, job_id, account, method, asked, state, result, error = row
    return Job(number, job_id, account, method, asked, State(state), result, error)
