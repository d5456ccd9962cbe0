"""Notifications: accounts are told without asking that a job is over, or a policy of theirs ranked.

They are kept in the server's file for as long as jobs are, so that whoever was away gets them by
the number of the last that was seen.  That a job is over is written down in one step with the job.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from arena.errors import HomeUnusable
from arena.server.ledger import KEPT_SECONDS
from arena.wire.calls import How, calls
from arena.wire.plain import Json
from registry.rights import Account, Role

AT_ONCE = 100
"""Entries that are read at once."""
_TABLES = """
create table if not exists news (
  number integer primary key autoincrement, account text not null, kind text not null,
  about text not null, created real not null
);
create index if not exists news_of on news (account, number);
create index if not exists news_old on news (created);
create table if not exists ranked (
  game text not null, ref text not null, primary key (game, ref)
) without rowid;
drop trigger if exists job_is_over;
create trigger job_is_over after update of state on job
when old.state in ('waiting', 'running') and new.state in ('done', 'failed', 'cancelled')
  and new.method in ({jobs})
begin
  insert into news (account, kind, about, created) values (
    new.account, 'job', json_object('job', new.id, 'method', new.method, 'state', new.state),
    coalesce(new.ended, 0)
  );
end;
"""


@dataclass(frozen=True, slots=True)
class Notification:
    """One thing that an account is told without asking.

    Attributes:
      number: they rise; a client that knows one gets those that came later.
      kind: "job" or "ranked".
      about: a JSON object.
    """

    number: int
    kind: str
    about: str


@dataclass(frozen=True, slots=True)
class Rank:
    """Where a policy stands when it has a rank for the first time.

    Attributes:
      game: name of the game.
      author: who is told.
      ref: author/name@number.
      about: what is told beside these, as JSON can hold it.
    """

    game: str
    author: str
    ref: str
    about: Mapping[str, Json]


class Notifications:
    """What the accounts of one home are told.  Safe for many threads.

    Args:
      path: of the server's file, which has a ledger already.

    Raises:
      HomeUnusable: it cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        jobs = ", ".join(f"'{name}'" for name, call in calls().items() if call.how is How.JOB)
        try:
            self._file = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._file.executescript(_TABLES.format(jobs=jobs))
        except sqlite3.Error as error:
            raise HomeUnusable(f"{path}, the server's file of jobs, cannot be used: {error}") from (
                error
            )

    def since(self, account: Account, number: int) -> list[Notification]:
        """What an account is told after some number, at most `AT_ONCE`, the oldest first.

        Operators are told of everybody's ranks.
        """
        also = "or kind = 'ranked'" if account.role is Role.OPERATOR else ""
        with self._lock:
            rows = self._file.execute(
                f"select number, kind, about from news where number > ? and (account = ? {also}) "
                "order by number limit ?",
                [number, account.name, AT_ONCE],
            ).fetchall()
        return [Notification(*row) for row in rows]

    def latest(self) -> int:
        """The number of what was told last; 0 where nothing was."""
        with self._lock:
            (found,) = self._file.execute("select coalesce(max(number), 0) from news").fetchone()
        return int(found)

    def none_ranked(self) -> bool:
        """Whether no policy's rank was ever noted: the home is served for the first time."""
        with self._lock:
            return self._file.execute("select 1 from ranked limit 1").fetchone() is None

    def unranked(self, game: str, refs: Iterable[str]) -> set[str]:
        """Those of some policies of whose rank nobody was told yet."""
        with self._lock:
            rows = self._file.execute("select ref from ranked where game = ?", [game]).fetchall()
        return set(refs) - {ref for (ref,) in rows}

    def ranked(self, found: Iterable[Rank], *, tell: bool = True) -> None:
        """Notes that policies have a rank now, and tells their authors, once."""
        with self._lock, self._file:
            self._file.execute("begin immediate")
            for one in found:
                new = self._file.execute(
                    "insert or ignore into ranked (game, ref) values (?, ?)", [one.game, one.ref]
                )
                if tell and new.rowcount == 1:
                    about = {"game": one.game, "ref": one.ref, **one.about}
                    self._file.execute(
                        "insert into news (account, kind, about, created) "
                        "values (?, 'ranked', ?, ?)",
                        [one.author, json.dumps(about), time.time()],
                    )

    def prune(self, most: int) -> int:
        """Forgets what is older than it is kept, the oldest first.

        Args:
          most: how many at once.

        Returns:
          How many.
        """
        with self._lock:
            found = self._file.execute(
                "delete from news where number in "
                "(select number from news where created < ? order by created limit ?)",
                [time.time() - KEPT_SECONDS, most],
            )
            return found.rowcount

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._file.close()
