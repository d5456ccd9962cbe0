"""Tickets: what becomes of the submissions of a home, in `submissions.sqlite` beside its matches.

They belong to the home and not to the registry, because the home's server plays the matches and
several homes may share a registry.  The file holds sources that nobody has looked at yet, and the
addresses of tickets: only its owner can read it.  Safe for many threads and processes at once.
"""

from __future__ import annotations

import enum
import re
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path

from arena.errors import ArenaError
from arena.rejection import Rejection
from registry import RegistryUnavailable
from registry.sqlite_file import check_private

FILE = "submissions.sqlite"
VERSION = 2
_WHO = "alter table ticket add column who text not null default ''"
"""Of version 2; whoever handed in before was the author."""
CHECKS_KEPT = timedelta(days=1)
"""How long the ticket of a check stays after the check is over; others stay for good."""
_ID = re.compile(r"[0-9a-f]{32}")
_BUSY_SECONDS = 30.0
_LONGEST_SECONDS = 20.0
"""For what is done in milliseconds: the pages of a doctored file can lead in circles."""
_STEPS_BETWEEN_LOOKS = 1_000_000

_TABLES = """
    create table if not exists ticket (
        number integer primary key autoincrement, id text not null unique,
        game text not null, author text not null, name text not null,
        description text not null, source text not null, stage text not null,
        created real not null, changed real not null, opponents integer not null,
        matches integer not null, reached integer not null, played integer not null,
        digest text not null, fresh integer not null, match_seconds real not null,
        spent real not null, tries integer not null, kind text not null, message text not null,
        line integer, problem text not null, wall text not null,
        who text not null default ''
    ) strict;
    create index if not exists ticket_author on ticket (author, number);
    create index if not exists ticket_stage on ticket (stage);
    create table if not exists event (
        ticket integer not null references ticket on delete cascade,
        at real not null, text text not null
    ) strict;
    create index if not exists event_ticket on event (ticket);
"""


class TicketsUnusable(ArenaError):
    """The file of tickets cannot be opened, read or written; the message says what to do."""


class Stage(enum.StrEnum):
    """How far a submission has come."""

    WAITING = "waiting"
    """For its checks and its trial."""
    PLAYING = "playing"
    """It is registered, and plays deal by deal."""
    DONE = "done"
    REJECTED = "rejected"
    """By the checks, the trial or the budget; the policy's own fault."""
    FAILED = "failed"
    """Something of ours broke; the policy may be fine."""


OVER = (Stage.DONE, Stage.REJECTED, Stage.FAILED)


@dataclass(frozen=True, slots=True)
class Entry:
    """What a visitor hands in.

    Attributes:
      game: name of the game.
      source: of the policy.
      name: "author/name"; "" where only the checks are wanted.
      description: its idea, in the author's words.
    """

    game: str
    source: str = field(repr=False)
    name: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Ticket:
    """One submission, as it stands.  Seconds are those of a held processor (`arena.tally`).

    Attributes:
      number: in the order in which they came.
      id: 32 hexadecimal digits that nobody can guess: whoever knows them sees the ticket.
      game: name of the game.
      author: who hands in; "" for a check.
      name: "author/name"; "" for a check.
      stage: see `Stage`.
      created: when it came, in UTC.
      changed: when it changed last, in UTC.
      opponents: that the policy is to meet; 0 until that is known.
      matches: with each of them, as many as the budget allows.
      reached: matches that were played with each of them so far.
      played: matches stored so far, of `opponents * matches`.
      digest: of the version; "" until it is registered.
      fresh: False where its author had registered the same content before.
      match_seconds: what one match takes; 0 until that is measured.
      spent: what the checks, the trial and the matches took.
      tries: how often the slice at hand was begun.
      rejection: why it was not taken in.
      problem: what broke, where something of ours did.
      wall: what it ran behind.
      who: in whose name it is done: the author's, or that of an operator's account.
    """

    number: int
    id: str = field(repr=False)
    game: str
    author: str
    name: str
    stage: Stage
    created: datetime
    changed: datetime
    opponents: int = 0
    matches: int = 0
    reached: int = 0
    played: int = 0
    digest: str = ""
    fresh: bool = True
    match_seconds: float = 0.0
    spent: float = 0.0
    tries: int = 0
    rejection: Rejection | None = None
    problem: str = ""
    wall: str = ""
    who: str = ""

    @property
    def checks_only(self) -> bool:
        """Whether nothing is to be registered."""
        return not self.name

    @property
    def over(self) -> bool:
        """Whether nothing more will become of it."""
        return self.stage in OVER

    @property
    def wanted(self) -> int:
        """Matches to play in all."""
        return self.opponents * self.matches


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a ticket, and when (in UTC)."""

    at: datetime
    text: str


_KEPT = {one.name for one in fields(Ticket)} - {"number", "id", "rejection", "created", "changed"}


class Tickets:
    """The tickets of one home.  Holds nothing open.

    Every method may raise `TicketsUnusable`.
    """

    def __init__(self, folder: Path) -> None:
        """Opens the file in a home's folder; makes it where there is none.

        Raises:
          TicketsUnusable: it cannot be used, or a newer program wrote it.
        """
        self.path = folder / FILE
        try:
            check_private(self.path)
        except RegistryUnavailable as error:
            raise TicketsUnusable(f"the file of tickets cannot be used: {error}") from error
        with self._connection() as connection:
            (found,) = connection.execute("pragma user_version").fetchone()
            if found > VERSION:
                raise TicketsUnusable(
                    f"{self.path} has version {found}, this program reads up to {VERSION}: "
                    "update policy-arena"
                )
            if found == 1:
                _add_who(connection)
            elif found < VERSION:
                connection.executescript(_TABLES)
                connection.execute(f"pragma user_version = {VERSION}")

    def add(self, entry: Entry, now: datetime, who: str = "") -> Ticket:
        """Takes an entry in, from the account `who`; the author's where that is not said."""
        author = entry.name.partition("/")[0]
        row = {
            "id": secrets.token_hex(16),
            "game": entry.game,
            "author": author,
            "name": entry.name,
            "description": entry.description,
            "source": entry.source,
            "stage": Stage.WAITING.value,
            "created": now.timestamp(),
            "changed": now.timestamp(),
            **dict.fromkeys(("opponents", "matches", "reached", "played", "tries"), 0),
            **dict.fromkeys(("match_seconds", "spent"), 0.0),
            **dict.fromkeys(("digest", "kind", "message", "problem", "wall"), ""),
            "who": who or author,
            "fresh": 1,
            "line": None,
        }
        columns = ", ".join(row)
        places = ", ".join(f":{column}" for column in row)
        with self._connection() as connection:
            done = connection.execute(f"insert into ticket ({columns}) values ({places})", row)
            found = connection.execute("select * from ticket where rowid = ?", [done.lastrowid])
            return _ticket(found.fetchone())

    def get(self, ticket_id: str) -> Ticket | None:
        """The ticket of that id; None where there is none."""
        if not _ID.fullmatch(ticket_id):
            return None
        found = self._found("where id = ?", ticket_id)
        return found[0] if found else None

    def unfinished(self) -> list[Ticket]:
        """Those that go on, oldest first."""
        stages = [stage.value for stage in Stage if stage not in OVER]
        return self._found(f"where stage in ({_places(stages)}) order by number", *stages)

    def of(self, author: str, limit: int = 100) -> list[Ticket]:
        """An author's tickets, newest first."""
        if not author:
            return []
        return self._found("where author = ? order by number desc limit ?", author, limit)

    def accepted(self, author: str, since: datetime) -> list[datetime]:
        """When an author handed in policies since then, oldest first."""
        wanted = "select created from ticket where author = ? and created > ? order by created"
        with self._connection() as connection:
            found = connection.execute(wanted, [author, since.timestamp()]).fetchall()
            return [_moment(created) for (created,) in found]

    def entry(self, ticket: Ticket) -> Entry:
        """What was handed in; the source is kept until the ticket is over."""
        wanted = "select game, source, name, description from ticket where number = ?"
        with self._connection() as connection:
            return Entry(*connection.execute(wanted, [ticket.number]).fetchone())

    def log(self, ticket: Ticket) -> list[Event]:
        """What happened to a ticket, oldest first."""
        wanted = "select at, text from event where ticket = ? order by rowid"
        with self._connection() as connection:
            found = connection.execute(wanted, [ticket.number]).fetchall()
            return [Event(_moment(at), text) for at, text in found]

    def change(self, ticket: Ticket, now: datetime, say: str = "", **values: object) -> Ticket:
        """Stores new values of a ticket's fields, and a line of its log.

        Returns:
          The ticket as it stands now.
        """
        row: dict[str, object] = {"changed": now.timestamp()}
        for name, value in values.items():
            if name == "rejection" and isinstance(value, Rejection):
                row |= {"kind": value.kind, "message": value.message, "line": value.line}
            elif name in _KEPT:
                row[name] = value.value if isinstance(value, Stage) else value
            else:
                raise ValueError(f"{name} = {value!r} is no value of a ticket")
        if values.get("stage") in OVER:
            row["source"] = ""
        columns = ", ".join(f"{column} = :{column}" for column in row)
        with self._connection() as connection:
            where = {"number": ticket.number}
            connection.execute(f"update ticket set {columns} where number = :number", row | where)
            if say:
                moment = [ticket.number, now.timestamp(), say]
                connection.execute("insert into event (ticket, at, text) values (?, ?, ?)", moment)
            found = connection.execute("select * from ticket where number = :number", where)
            return _ticket(found.fetchone())

    def forget_checks(self, now: datetime) -> None:
        """Drops the tickets of checks that were over long ago."""
        stages = [stage.value for stage in OVER]
        with self._connection() as connection:
            connection.execute(
                f"delete from ticket where name = '' and stage in ({_places(stages)}) "
                "and changed < ?",
                [*stages, (now - CHECKS_KEPT).timestamp()],
            )

    def _found(self, where: str, *values: object) -> list[Ticket]:
        with self._connection() as connection:
            rows = connection.execute(f"select * from ticket {where}", values).fetchall()
            return [_ticket(row) for row in rows]

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own for one transaction, which is stored unless something raises."""
        began = time.thread_time()
        try:
            with closing(sqlite3.connect(self.path, timeout=_BUSY_SECONDS)) as connection:
                connection.row_factory = sqlite3.Row
                connection.set_progress_handler(
                    lambda: time.thread_time() - began > _LONGEST_SECONDS, _STEPS_BETWEEN_LOOKS
                )
                connection.execute("pragma foreign_keys = on")
                connection.execute("pragma trusted_schema = off")
                with connection:
                    yield connection
        except (sqlite3.Error, LookupError, TypeError, ValueError, OverflowError) as error:
            raise TicketsUnusable(
                f"the file of tickets {self.path} cannot be used: {error}; check its folder and "
                "disk, or move it away: its tickets are lost then, policies and matches are not"
            ) from error


def _add_who(connection: sqlite3.Connection) -> None:
    """Makes a file of version 1 one of version 2; of several programs that try, one does."""
    connection.execute("begin immediate")
    (found,) = connection.execute("pragma user_version").fetchone()
    if found == 1:
        connection.execute(_WHO)
        connection.execute("pragma user_version = 2")


def _places(values: list[str]) -> str:
    return ", ".join("?" * len(values))


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _ticket(row: sqlite3.Row) -> Ticket:
    found = dict(row)
    kept = {name: found[name] for name in _KEPT}
    rejection = Rejection(found["kind"], found["message"], found["line"]) if found["kind"] else None
    kept |= {"stage": Stage(found["stage"]), "fresh": bool(found["fresh"])}
    kept["who"] = kept["who"] or kept["author"]
    return Ticket(
        number=found["number"],
        id=found["id"],
        created=_moment(found["created"]),
        changed=_moment(found["changed"]),
        rejection=rejection,
        **kept,
    )
