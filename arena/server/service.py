"""What a server does for one request, without any HTTP: who asks, reads, changes, jobs."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from arena.errors import KNOWN, BadRequest, NotAllowed, QuotaSpent, UsageFault, VersionMismatch
from arena.home import Home
from arena.office import Office
from arena.registrar import Registrar
from arena.server.admission import check_data
from arena.server.job_runner import JobRunner
from arena.server.ledger import Job, Ledger, State
from arena.server.rights import check, handed_in, veiled, veiled_certificate, view_of
from arena.server.state import StateOfHome
from arena.server.veil import as_seen_by
from arena.visibility import hidden_digests
from arena.wire import faults
from arena.wire.calls import API, TELLS_A_SECRET, WITHOUT_ACCOUNT, Call, rules
from arena.wire.plain import Json
from registry.rights import Account, Role

KEPT_ANSWERS = 512
KEPT_BYTES = 128 << 20
"""Of answers to reads that are kept until something changes."""
MOST_WAITING, MOST_WAITING_BYTES = 16, 32 << 20
"""Jobs of one author that wait, and what was sent with them."""
KNOWN_SECONDS = 2.0
"""For which a token is known without asking the registry again: so long a shut account is open."""
_KEPT_TOKENS = 4_096


@dataclass(frozen=True, slots=True)
class Answer:
    """A read's answer.

    Attributes:
      body: JSON.
      tag: changes with the body, and with nothing that is told to nobody here.
    """

    body: bytes
    tag: str


class Service:
    """One home, served.  Safe for many threads.

    Args:
      home: what is read and changed.
      ledger: keeps what was asked for.
      job_runner: does what takes long.
      wall: says the name of the wall that matches are played behind, or raises `SandboxRefused`.
    """

    def __init__(
        self, home: Home, ledger: Ledger, job_runner: JobRunner, wall: Callable[[], str]
    ) -> None:
        self.ledger, self.job_runner = ledger, job_runner
        self._home, self._wall = home, wall
        self._state = StateOfHome(home)
        self.discretion = job_runner.discretion
        self._changing = threading.Lock()
        self._lock = threading.Lock()
        self._answers: OrderedDict[tuple[str, str, str], Answer] = OrderedDict()
        self._size = 0
        self._hidden: tuple[str, frozenset[str]] = "", frozenset()
        self._computing: dict[tuple[str, str, str], threading.Lock] = {}
        self._known: OrderedDict[str, tuple[float, Account]] = OrderedDict()

    def account_of(self, token: str | None) -> Account:
        """Who shows a token.

        Raises:
          NotAllowed: there is none, or it is nobody's.
          TokenRefused: its time is over, or the account is shut.
        """
        if not token:
            raise NotAllowed(
                "this arena asks for a token (Authorization: Bearer TOKEN); `arena login URL` "
                "keeps yours"
            )
        key = hashlib.blake2b(token.encode(errors="replace"), digest_size=16).hexdigest()
        with self._lock:
            until, known = self._known.get(key, (0.0, None))
        if known is not None and until > time.monotonic():
            return known
        account = self._home.registry.account_of(token)
        if account is None:
            raise NotAllowed("this token is nobody's here; the operator of this arena makes them")
        with self._lock:
            self._known[key] = (time.monotonic() + KNOWN_SECONDS, account)
            while len(self._known) > _KEPT_TOKENS:
                self._known.popitem(last=False)
        return account

    def check_version(self, api: str | None, known_rules: str | None) -> None:
        """Does nothing for a client that speaks the same language, or does not say which.

        Raises:
          VersionMismatch: it speaks another one.
        """
        if api is not None and api != str(API):
            raise VersionMismatch(
                f"this server speaks version {API} of the arena's API, and you version {api[:20]}: "
                "update policy-arena on whichever side is older"
            )
        ours = dict(one.split("=") for one in rules().split(","))
        for told in (known_rules or "").split(","):
            name, _, version = told.partition("=")
            if name in ours and version != ours[name]:
                raise VersionMismatch(
                    f"this server plays {name} by rules of version {ours[name]}, and you by "
                    f"version {version[:20]}: update policy-arena on whichever side is older"
                )

    # Reads.

    def read(self, call: Call, account: Account, document: Json) -> Answer:
        """Answers a read, from what is kept where nothing has changed since."""
        arguments = call.decode(document)
        registrar = self._registrar(account)
        check(call, account, arguments, registrar)
        view, state = view_of(call, account, arguments), self._word_for(call, arguments)
        asked = json.dumps([call.name, document, view], sort_keys=True)
        key = (hashlib.blake2b(asked.encode(), digest_size=16).hexdigest(), view, state)
        with self._lock:
            kept = self._answers.get(key)
            if kept is not None:
                self._answers.move_to_end(key)
                return kept
            computing = self._computing.setdefault(key, threading.Lock())
        try:
            with computing:  # of many who ask for the same at once, one works it out
                with self._lock:
                    kept = self._answers.get(key)
                if kept is None:
                    kept = self._work_out(call, account, arguments, registrar)
                    self._keep(key, kept)
        finally:
            with self._lock:
                self._computing.pop(key, None)
        return kept

    def _word_for(self, call: Call, arguments: Mapping[str, Any]) -> str:
        """Changes when another answer may be due.

        A certificate never changes, and which of its sources are open only with the standing of its
        policies: it takes seconds to read a large one, which nobody shall ask for at every match.
        """
        if call.name != "certificate":
            return self._state.word()
        one = self._home.registry.tournament(arguments["name"])
        if not one.certificate:
            return self._state.of_registry()
        if not arguments.get("sources", False):
            return one.certificate
        digests = sorted({*(entrant.digest for entrant in one.entrants), *one.hidden})
        versions = self._home.registry.by_digests(digests)
        _, hidden = self._hidden  # as of the registrar that was asked for just now
        told = [
            [digest, digest in hidden, [[c.name, c.status] for c in versions[digest].credits]]
            for digest in digests
        ]
        return one.certificate + hashlib.blake2b(json.dumps(told).encode()).hexdigest()

    def _registrar(self, account: Account) -> Registrar:
        """The registrar as an account sees it, which acts in its name."""
        state = self._state.of_registry()
        known, hidden = self._hidden
        if known != state:
            hidden = hidden_digests(self._home.registry)
            self._hidden = state, hidden
        return Registrar(as_seen_by(self._home.acting_as(account.name), account, hidden))

    def _work_out(
        self, call: Call, account: Account, arguments: dict[str, Any], registrar: Registrar
    ) -> Answer:
        if call.name == "wall":
            found: Any = self._wall()
        elif call.name == "certificate":
            # It names whom it was issued about, also where another tournament hides them now.
            found = veiled_certificate(
                Office(self._home).certificate(**arguments), account, registrar
            )
        else:
            try:
                found = getattr(Office(registrar.home) if call.of_office else registrar, call.name)(
                    **arguments
                )
            except ValueError as error:  # a number or a word that means nothing there
                raise UsageFault(f"{call.name}: {error}") from error
        document = call.result.encode(veiled(found, account, registrar))
        body = json.dumps({"result": document}, allow_nan=False, ensure_ascii=False).encode()
        return Answer(body, hashlib.blake2b(body, digest_size=12).hexdigest())

    def _keep(self, key: tuple[str, str, str], answer: Answer) -> None:
        with self._lock:
            self._answers[key] = answer
            self._size += len(answer.body)
            while len(self._answers) > KEPT_ANSWERS or self._size > KEPT_BYTES:
                _, dropped = self._answers.popitem(last=False)
                self._size -= len(dropped.body)

    # Changes.

    def change(self, call: Call, account: Account, document: Json, key: str | None) -> bytes:
        """Makes a change, once for each key; returns what came of it as JSON."""
        arguments = call.decode(document)
        registrar = self._registrar(account)
        with self._changing:
            job, state = None, None
            # Strangers leave nothing in the file of jobs.
            if key is not None and call.name not in WITHOUT_ACCOUNT:
                told = json.dumps(document, sort_keys=True)
                job, new = self.ledger.add(account.name, key, call.name, told, State.RUNNING)
                state = None if new else job.state
            if job is not None and state is not None:
                return _made_before(call, job)
            try:
                result = self._made(call, account, arguments, registrar)
            except KNOWN as error:
                if job is not None:
                    told = json.dumps(self.discretion.document_of(error))
                    self.ledger.end(job, State.FAILED, error=told)
                raise
            if job is not None:
                kept = None if call.name in TELLS_A_SECRET else result
                self.ledger.end(job, State.DONE, result=kept)
        return b'{"result": ' + result.encode() + b"}"

    def _made(
        self, call: Call, account: Account, arguments: dict[str, Any], registrar: Registrar
    ) -> str:
        check(call, account, arguments, registrar)
        if call.name == "register":
            check_data(arguments["submission"], account, registrar)
            self.job_runner.check_quota(account, 1)
        at = Office(registrar.home) if call.of_office else registrar
        found = getattr(at, call.name)(**arguments)
        if call.name == "register" and account.role is not Role.OPERATOR:
            registrar.home.registry.spend(account.name, submissions=1)
        return json.dumps(call.result.encode(veiled(found, account, registrar)), allow_nan=False)

    # Jobs.

    def take_in(self, call: Call, account: Account, document: Json, key: str | None) -> Job:
        """Takes in what takes long; the same job for the same key."""
        arguments = call.decode(document)
        check(call, account, arguments, self._registrar(account))
        told = json.dumps(document, sort_keys=True)
        if key is None or not self.ledger.known(account.name, key):
            self.job_runner.check_quota(account, handed_in(call, arguments))
            self._refuse_a_queue(account, len(told))
        job, new = self.ledger.add(account.name, key, call.name, told, State.WAITING)
        if new:
            self.job_runner.wake()
        return job

    def _refuse_a_queue(self, account: Account, size: int) -> None:
        """Does nothing while an author waits for few jobs.

        Raises:
          QuotaSpent: too many of theirs wait, or too much.
        """
        if account.role is Role.OPERATOR:
            return
        jobs, waiting = self.ledger.waiting(account.name)
        if jobs >= MOST_WAITING or waiting + size > MOST_WAITING_BYTES:
            raise QuotaSpent(
                f"{jobs} of your jobs wait, with {waiting:,} bytes; at most {MOST_WAITING} with "
                f"{MOST_WAITING_BYTES:,} may: ask again when one is over"
            )

    def job(self, job_id: str, account: Account) -> Job:
        """A job of somebody's.

        Raises:
          BadRequest: there is none of that id, or it is another's.
        """
        found = self.ledger.get(job_id)
        if found is None or (found.account != account.name and account.role is not Role.OPERATOR):
            raise BadRequest(
                "there is no job of that id (any more); those that are over are kept for a week"
            )
        return found

    def describe(self, job: Job, with_result: bool = True) -> bytes:
        """A job as JSON."""
        told: dict[str, Json] = {"job": job.id, "method": job.method, "state": job.state.value}
        if job.state is State.RUNNING:
            progress = self.job_runner.progress(job.id)
            told["progress"] = [progress.done, progress.wanted]
            told["changes"] = progress.changes
        if job.state is State.WAITING:
            told["ahead"] = self.ledger.ahead(job)
        if job.error is not None:
            told["error"] = json.loads(job.error)
        body = json.dumps(told).encode()
        if job.result is None or not with_result:
            return body
        return body[:-1] + b', "result": ' + job.result.encode() + b"}"

    def health(self) -> Mapping[str, Json]:
        """Whether everything works, for whoever restarts what does not.

        Raises:
          RegistryError, StoreError: it does not.
        """
        self._state.word()
        self._home.registry.current_season()
        good = self.job_runner.alive
        return {"status": "ok" if good else "the player has ended", "api": API, "rules": rules()}

    def close(self) -> None:
        """Closes what it opened."""
        self._state.close()


def _made_before(call: Call, job: Job) -> bytes:
    """What came of a change that was made with the same key."""
    if job.error is not None:
        raise faults.error_of(json.loads(job.error))
    if call.name in TELLS_A_SECRET:
        raise UsageFault(
            "what this made was told already, and is kept nowhere: make another with a new "
            "Idempotency-Key"
        )
    return b'{"result": ' + (job.result or "null").encode() + b"}"
