"""Keeps every model call, so that a reply that arrived is never paid for again."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Protocol

from oracle.models.budget import Budget, Spent
from oracle.models.errors import BudgetSpent, JournalUnusable, ModelError, PromptRefused
from oracle.models.prices import Price
from oracle.models.protocol import Model, Reply, Request
from oracle.models.recorded import RecordedModel
from oracle.models.refusals import Refusals, turned_down
from oracle.models.retry import paid_by
from registry import RegistryUnavailable
from registry.sqlite_file import LOCK_SECONDS, address, check_private, reading_mode, while_locked

_TABLE = """
create table if not exists model_call (
    place integer primary key autoincrement,
    scope text not null,
    key text not null,
    digest text not null,
    model text not null,
    request text not null,
    reply text not null,
    created text not null,
    unique (scope, key, digest, model)
)
"""
_LOST = """
create table if not exists lost_attempt (
    place integer primary key autoincrement,
    scope text not null,
    key text not null,
    model text not null,
    counts text not null,
    created text not null
)
"""


@dataclass(frozen=True, slots=True)
class Call:
    """A stored call.

    Attributes:
      request: what was asked, prompt and all.
      model: the name of the model that was asked.
      reply: what came back.
      created: when it was stored, in UTC.
    """

    request: Request
    model: str
    reply: Reply
    created: datetime

    @property
    def sent(self) -> str:
        """The question as it was sent: shortened, where the server could not read all of it."""
        return self.reply.sent or self.request.prompt


class Journal(Protocol):
    """Where the calls of one run are kept.  A call is identified by key, question and model."""

    def find(self, request: Request, model: str) -> Reply | None:
        """The stored reply to a request, None where it was never answered."""
        ...

    def store(self, request: Request, model: str, reply: Reply) -> Reply:
        """Keeps a reply for good; returns the one to use.

        The first one stored wins, but for one that was turned down: any later one wins over that.
        """
        ...

    def lose(self, request: Request, model: str, attempts: Sequence[Reply]) -> None:
        """Keeps the counts of attempts that are probably paid for, where no reply came of them."""
        ...

    def in_doubt(self, model: str) -> frozenset[tuple[str, str]]:
        """Keys and digests of what a model's server turned down since it last took a question."""
        ...

    def calls(self, prefix: str = "") -> tuple[Call, ...]:
        """Calls whose key begins like that, in the order in which they were stored."""
        ...


class JournaledModel:
    """A model whose replies are kept before anybody sees them.

    A request that was answered before is answered from the journal: nothing is asked and nothing
    is paid.  Two threads that ask the same at once pay once.

    A question that the provider withholds an answer to, that is answered by nothing, that the
    server cannot read or turns down with an error is stored like any other: asked again as it
    stands it would be refused again.  After too many of these in a row, without an answer in
    between, nothing more is asked; what comes from the journal does not count, so a run that goes
    on gets as many tries again.

    An error need not be the question's fault: with a wrong option a server turns down everything.
    Where it took a later question, it was.  So whoever goes on asks once more what was turned down
    since the server last took one.  Is it taken now, the user has mended something, and the answer
    replaces the error; is it turned down again, the error stands and does not count, so that the
    run still comes to others.  That costs nothing: no model has read it.
    """

    def __init__(self, model: Model, journal: Journal, budget: Budget | None = None) -> None:
        """Wraps a model.

        Args:
          model: what is asked where the journal has no answer.
          journal: where replies are kept.
          budget: limits; it should count what the journal holds (`Spent.on`) if the run goes on.

        Raises:
          UnknownPrice: the budget limits cost, and the model's price is not known.
        """
        self._model = model
        self._journal = journal
        self._budget = budget or Budget()
        self._budget.check(model)
        self._asking: dict[tuple[str, str], threading.Lock] = {}
        self._refusals = Refusals(model.name)
        self._in_doubt: set[tuple[str, str]] | None = None
        self._lock = threading.Lock()
        if isinstance(model, RecordedModel):
            model.mark_used(call.reply.origin for call in journal.calls())

    @property
    def name(self) -> str:
        """That of the model."""
        return self._model.name

    @property
    def price(self) -> Price | None:
        """That of the model."""
        return self._model.price

    @property
    def spent(self) -> Spent:
        """What the budget counts so far."""
        return self._budget.spent

    def generate(self, request: Request) -> Reply:
        """Answers from the journal, or asks, stores and answers.

        Raises:
          BudgetSpent: the answer is not stored, and nothing more may be spent, be it on another
            attempt.
          PromptRefused: the server turns the question down, now or when it was asked; stored.
          ModelError: as the model's `generate`; no reply is stored, only what was lost.
          ModelRefuses: too many questions in a row were refused; this reply is stored.
          JournalUnusable: the journal cannot be read or written.
        """
        identity = request.key, request.digest
        with self._lock:
            asking = self._asking.setdefault(identity, threading.Lock())
        with asking:
            doubtful = self._doubts(identity)
            stored = self._journal.find(request, self.name)
            if stored is None or (stored.turned_down and doubtful):
                reply = self._ask(request, again=stored is not None)
            else:
                reply = stored
        with self._lock:  # it is in the journal now: whoever asks next needs no lock to find it
            self._asking.pop(identity, None)
        if reply.turned_down:
            raise PromptRefused(reply.detail)
        return reply

    def _doubts(self, identity: tuple[str, str]) -> bool:
        """Whether a question was turned down before for what may be mended; true once for each."""
        with self._lock:
            if self._in_doubt is None:  # looked up before this session stores anything
                self._in_doubt = set(self._journal.in_doubt(self.name))
            doubtful = identity in self._in_doubt
            self._in_doubt.discard(identity)
        return doubtful

    def close(self) -> None:
        """Ends the model's connections."""
        self._model.close()

    def _ask(self, request: Request, *, again: bool) -> Reply:
        """Asks and stores; `again` where the server turned the question down in another session."""
        call = self._budget.admit(self.price)
        reply, said = None, ""
        lost: tuple[Reply, ...] = ()
        try:
            with paid_by(partial(self._budget.admit_again, call)):
                reply = self._model.generate(request)
        except PromptRefused as error:
            lost, said = error.lost, str(error)
        except (ModelError, BudgetSpent) as error:
            lost = error.lost
            self._journal.lose(request, self.name, [one.priced(self.price) for one in lost])
            raise
        finally:
            self._budget.settle(call, reply, lost)
        if reply is None:
            reply = turned_down(said).with_lost([one.priced(self.price) for one in lost])
        stored = self._journal.store(request, self.name, reply)
        if not (again and reply.turned_down):
            self._refusals.count(request, reply)
        return stored


class SqliteJournal:
    """Calls in a SQLite file, safe for threads and for several processes.

    Holds nothing open.  The table stands by itself, so the file may be one of its own or one that
    holds other tables.
    """

    def __init__(self, path: Path, scope: str = "") -> None:
        """Opens a file; makes it where there is none.

        Args:
          path: of the file.
          scope: whose calls these are, such as a run's name; scopes do not see each other.

        Raises:
          JournalUnusable: it cannot be read or written.
        """
        self.path = path
        self._scope = scope
        try:
            check_private(path)
        except RegistryUnavailable as error:
            raise JournalUnusable(f"the file of model calls cannot be used: {error}") from error
        if reading_mode(path):
            return  # what is there can be read
        with self._connected() as connection:
            (mode,) = connection.execute("pragma journal_mode").fetchone()
            if mode != "wal":
                while_locked(lambda: connection.execute("pragma journal_mode = wal"))
            connection.execute(_TABLE)
            connection.execute(_LOST)

    def find(self, request: Request, model: str) -> Reply | None:
        """The stored reply to a request, None where it was never answered."""
        with self._connected() as connection:
            return self._found(connection, request, model)

    def store(self, request: Request, model: str, reply: Reply) -> Reply:
        """Keeps a reply for good; returns the one to use.

        The first one stored wins, but for one that was turned down: any later one wins over that.
        """
        row = (
            self._scope,
            request.key,
            request.digest,
            model,
            json.dumps(request.to_document()),
            json.dumps(reply.to_document()),
            datetime.now(UTC).isoformat(),
        )
        with self._connected() as connection:
            connection.execute(
                "insert into model_call (scope, key, digest, model, request, reply, created) "
                "values (?, ?, ?, ?, ?, ?, ?) on conflict (scope, key, digest, model) do update "
                "set reply = excluded.reply, created = excluded.created "
                "where json_extract(model_call.reply, '$.turned_down')",
                row,
            )
            kept = self._found(connection, request, model)
        if kept is None:
            raise JournalUnusable(f"{self.path} did not keep the call {request.key!r}")
        return kept

    def lose(self, request: Request, model: str, attempts: Sequence[Reply]) -> None:
        """Keeps the counts of attempts that are probably paid for, where no reply came of them."""
        if not attempts:
            return
        now = datetime.now(UTC).isoformat()
        rows = [
            (self._scope, request.key, model, json.dumps(one.to_document()), now)
            for one in attempts
        ]
        with self._connected() as connection, connection:
            connection.execute("begin")
            connection.executemany(
                "insert into lost_attempt (scope, key, model, counts, created) "
                "values (?, ?, ?, ?, ?)",
                rows,
            )

    def lost(self) -> tuple[tuple[str, Reply], ...]:
        """Key and counts of each attempt that was paid for in vain and that no reply counts."""
        with self._connected() as connection:
            if not connection.execute(
                "select 1 from sqlite_master where type = 'table' and name = 'lost_attempt'"
            ).fetchone():
                return ()  # a file of before that may only be read
            rows = connection.execute(
                "select key, counts from lost_attempt where scope = ? order by place",
                (self._scope,),
            ).fetchall()
        return tuple((key, Reply.from_document(json.loads(counts))) for key, counts in rows)

    def calls(self, prefix: str = "") -> tuple[Call, ...]:
        """Calls whose key begins like that, in the order in which they were stored."""
        with self._connected() as connection:
            rows = connection.execute(
                "select request, model, reply, created from model_call "
                "where scope = ? and substr(key, 1, ?) = ? order by place",
                (self._scope, len(prefix), prefix),
            ).fetchall()
        return tuple(
            Call(
                Request.from_document(json.loads(request)),
                model,
                Reply.from_document(json.loads(reply)),
                datetime.fromisoformat(created),
            )
            for request, model, reply, created in rows
        )

    def in_doubt(self, model: str) -> frozenset[tuple[str, str]]:
        """Keys and digests of what a model's server turned down since it last took a question."""
        with self._connected() as connection:
            latest = connection.execute(
                "select key, digest, reply from model_call where scope = ? and model = ? "
                "order by place desc",
                (self._scope, model),
            )
            refused = takewhile(lambda row: json.loads(row[2]).get("turned_down"), latest)
            return frozenset((key, digest) for key, digest, _ in refused)

    def spent(self) -> Spent:
        """What all calls came to, and all that was lost; reads calls one by one, as many as are."""
        with self._connected() as connection:
            rows = connection.execute(
                "select reply from model_call where scope = ?", (self._scope,)
            )
            spent = Spent.on(Reply.from_document(json.loads(reply)) for (reply,) in rows)
        for _, counts in self.lost():
            spent = spent.after_lost(counts)
        return spent

    def authors(self) -> dict[str, str]:
        """The name of the model that answered each call, by the call's key."""
        with self._connected() as connection:
            rows = connection.execute(
                "select key, model from model_call where scope = ? order by place", (self._scope,)
            ).fetchall()
        return dict(rows)

    def forget(self) -> None:
        """Deletes all calls of this scope, and what was lost."""
        with self._connected() as connection:
            for table in ("model_call", "lost_attempt"):
                connection.execute(f"delete from {table} where scope = ?", (self._scope,))

    def _found(self, connection: sqlite3.Connection, request: Request, model: str) -> Reply | None:
        row = connection.execute(
            "select reply from model_call where scope = ? and key = ? and digest = ? and model = ?",
            (self._scope, request.key, request.digest, model),
        ).fetchone()
        return None if row is None else Reply.from_document(json.loads(row[0]))

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """A connection in which every statement is a transaction of its own."""
        with self._explained():
            connection = sqlite3.connect(
                address(self.path), uri=True, timeout=LOCK_SECONDS, isolation_level=None
            )
            try:
                yield connection
            finally:
                connection.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Says what to do about a file that cannot be used."""
        try:
            yield
        except sqlite3.Error as error:
            raise JournalUnusable(
                f"the file of model calls {self.path} cannot be used: {error}; "
                "check its folder and disk"
            ) from error
