"""An arena behind an address: the same methods, asked of a server (`arena.server`) over HTTP.

    with Arena("https://arena.example.org", token=...) as arena:
        arena.submit(source, "rrps", "ada/echo")

Reads are asked again where the connection breaks.  What changes something carries a key, by which
the server knows it when it comes again, so that it is done once.  What takes long is a job: it goes
on at the server while the client is away, and the client finds it again by its key.
"""

from __future__ import annotations

import json
import logging
import random
import re
import secrets
import ssl
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Self, TypeVar, cast
from urllib.parse import urlencode, urlsplit

import httpx2

from arena import logins
from arena.errors import ServerError, ServerUnreachable, UsageFault, VersionMismatch
from arena.following import Told, events_in
from arena.remote_office import RemoteOffice, method_of
from arena.seam import AnyArena, Operations
from arena.tally import Progress, silent
from arena.wire import faults
from arena.wire.answers import JobTold, account_in, document_in, job_in, plays_in, result_in
from arena.wire.calls import API, WITHOUT_ACCOUNT, Call, How, calls, rules
from arena.wire.plain import Json, Malformed
from registry.display import shown

_log = logging.getLogger(__name__)

TIMEOUT_SECONDS = 120.0
"""For which a server may be away before a call is given up."""
WAIT_SECONDS = 20.0
"""For which the server holds a question about a job back until it has gone on."""
_LONGEST_ADDRESS = 2_000
"""Characters of arguments that go into an address; longer ones go into a body."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_AT_ONCE = 0.05
"""Seconds: who answers sooner has not waited for that, and is asked no sooner again than that."""
_AWAY = frozenset({502, 503, 504})
"""What a proxy answers while the server behind it is started again, or the server while its
database is."""
_KEPT_BYTES = 16 << 20
"""Of answers that are kept to ask whether they still hold."""
MOST_BYTES = 512 << 20
"""Of one answer, unpacked: a payoff table of 2,000 policies takes 427 MiB."""
_PACKED = frozenset({"", "identity", "gzip", "deflate"})
"""How an answer may be packed: once, as what is packed several times grows without measure."""
_TAG = re.compile(r'(?:W/)?"[!#-~]{0,128}"')
_TOKEN = re.compile(r"[!-~]{1,512}")
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer that was read to its end: its status, its headers and its body, unpacked."""

    status: int
    headers: httpx2.Headers
    body: bytes


def _nobody(request: httpx2.Request) -> httpx2.Request:
    """The request in nobody's name: a token that fits no more is no reason to refuse it."""
    request.headers.pop("Authorization", None)
    return request


class RemoteArena(AnyArena):
    """A tournament on a server.  A context manager; safe for many threads.

    It has every method of `arena.seam.AnyArena`; they are made from the table that the server's
    addresses are made from (`arena.wire.calls`).

    Args:
      url: of the server.
      token: of an account; by default that of ARENA_TOKEN or `arena login`.
      timeout: seconds for which the server may be away before a call is given up.

    Raises:
      UsageFault: it is no address, or no token.
    """

    def __init__(
        self, url: str, token: str | None = None, *, timeout: float = TIMEOUT_SECONDS
    ) -> None:
        self.address = logins.address_of(url)
        token = token or logins.token_for(url)
        if token and not _TOKEN.fullmatch(token):
            raise UsageFault("this is no token: one is a word of letters and digits")
        parts = urlsplit(self.address)
        if token and parts.scheme == "http" and parts.hostname not in _LOCAL:
            _log.warning("%s is not encrypted: everybody on the way reads the token", self.address)
        headers = {
            "Arena-Api": str(API),
            "Arena-Rules": rules(),
            "Accept-Encoding": "gzip, deflate",
        }
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._timeout, self._jitter = timeout, random.Random()
        self._client = httpx2.Client(
            base_url=self.address,
            headers=headers,
            timeout=httpx2.Timeout(30.0, read=WAIT_SECONDS + 20.0),
            # To load the certificates of those to be trusted takes 0.1 s; this trusts nobody.
            verify=parts.scheme == "https" or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        )
        self._kept: OrderedDict[str, tuple[str, bytes]] = OrderedDict()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Arena({self.address!r})"

    def close(self) -> None:
        """Closes the connections.  Jobs that were begun go on at the server."""
        self._client.close()

    @property
    def home(self) -> NoReturn:
        """There is none here: a UsageFault for whoever gave the address instead of a folder."""
        raise self._folder_wanted()

    def _folder_wanted(self) -> UsageFault:
        return UsageFault(
            f"this needs the folder of a home, and {self.address} is a server: run it there, or "
            "name a folder with --home"
        )

    def export(self, to: object, **_: object) -> NoReturn:
        """Not from here, as it reads all of the store: the UsageFault of `home`."""
        raise self._folder_wanted()

    @property
    def office(self) -> Operations:
        """What an operator does beside playing: accounts, the audit log, tournaments."""
        return cast(Operations, RemoteOffice(self._asked))

    def account(self) -> Mapping[str, Json]:
        """Whose token this is: name, role, and until when it fits."""
        told = self._told(self._sent("GET", "/api/v1/account"))
        return self._understood("account", lambda: account_in(told))

    def plays(self) -> int:
        """Matches of each pair that the server plays by itself; 0 where it waits to be asked."""
        told = self._told(self._sent("GET", "/api/v1/server"))
        return self._understood("server", lambda: plays_in(told))

    def notifications(self, after: int | None = None) -> Iterator[Told]:
        """What this account is told from now on, without end: jobs that are over, first ranks.

        A connection that breaks is made again, and nothing is told twice or left out.

        Args:
          after: number of the item that was seen last; 0 for all that the server still has (of a
            week), None for what comes from now on.

        Raises:
          ServerUnreachable: the server is away for too long.
          NotAllowed, QuotaSpent: the server does not tell, in its own words.
          ServerError: what it tells is no notification.
        """
        deadline = time.monotonic() + self._timeout
        while True:
            try:
                for one in self._streamed(after):
                    deadline = time.monotonic() + self._timeout
                    after = one if isinstance(one, int) else one.number
                    if isinstance(one, Told):
                        yield one
                why = "it ended what it was telling"
            except httpx2.TransportError as error:
                why = faults.clean(str(error)) or type(error).__name__
            except (Malformed, httpx2.HTTPError) as error:
                raise ServerError(
                    f"{self.address} tells what is no notification: {faults.clean(str(error))}"
                ) from error
            if time.monotonic() > deadline:
                raise ServerUnreachable(f"{self.address} cannot be reached ({why})")
            time.sleep(_LONGEST_PAUSE * self._jitter.uniform(0.1, 0.2))

    def _streamed(self, after: int | None) -> Iterator[Told | int]:
        """One connection's notifications."""
        # Unpacked: a little of what is packed can be very much.
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        if after is not None:
            headers["Last-Event-ID"] = str(after)
        with self._client.stream("GET", "/api/v1/notifications", headers=headers) as answer:
            if answer.status_code == 200 and "Arena-Api" in answer.headers:
                if answer.headers.get("Content-Encoding", "identity") != "identity":
                    raise Malformed("an answer is wanted that is not packed")
                yield from events_in(answer.iter_text())
                return
            refused = self._whole(answer)
        if refused.status not in _AWAY:
            self._check_version(refused)
            self._told(refused)
            raise ServerError(f"{self.address} sends no notifications ({refused.status})")

    # One question.

    def _asked(self, call: Call, arguments: dict[str, Any], progress: Progress) -> Any:
        document = call.encode(arguments)
        if call.how is How.READ:
            found = self._read(call, document)
        elif call.how is How.CHANGE:
            key = {"Idempotency-Key": secrets.token_hex(16)}
            path = f"/api/v1/{call.name}"
            who = {"auth": _nobody} if call.name in WITHOUT_ACCOUNT else {}
            found = self._told(self._sent("POST", path, json=document, headers=key, **who))
        else:
            found = self._done(call, document, progress)
        return self._understood(call.name, lambda: result_in(found, call.result))

    def _understood(self, name: str, read: Callable[[], _T]) -> _T:
        """What an answer says; a ServerError where it says something else."""
        try:
            return read()
        except Malformed as error:
            raise ServerError(
                f"{self.address} answers to {name} what this version does not understand: "
                f"{faults.clean(str(error))}"
            ) from error

    def _read(self, call: Call, document: Mapping[str, Json]) -> Json:
        path = f"/api/v1/{call.name}"
        query = urlencode(
            {
                name: told if call.parameters[name].textual else json.dumps(told)
                for name, told in document.items()
                if told is not None
            }
        )
        # An address has no word for None: it is left out where that means the same.
        said = any(told is None and name in call.not_none for name, told in document.items())
        if said or len(query) > _LONGEST_ADDRESS:
            return self._told(self._sent("POST", path, json=document))
        asked = f"{path}?{query}" if query else path
        tag, body = self._kept.get(asked, ("", b""))
        answer = self._sent("GET", asked, headers={"If-None-Match": tag} if tag else {})
        if tag and answer.status == 304:
            return document_in(body)  # which it was when it was kept
        found = self._told(answer)
        if _TAG.fullmatch(answer.headers.get("ETag", "")):
            self._keep(asked, answer.headers["ETag"], answer.body)
        return found

    def _keep(self, asked: str, tag: str, body: bytes) -> None:
        self._kept[asked] = (tag, body)
        while sum(len(one) for _, one in self._kept.values()) > _KEPT_BYTES:
            self._kept.popitem(last=False)

    def _done(self, call: Call, document: Mapping[str, Json], progress: Progress) -> Json:
        """What a job comes to; its progress is told meanwhile."""
        key = {"Idempotency-Key": secrets.token_hex(16)}
        path, wait = f"/api/v1/{call.name}", f"wait={WAIT_SECONDS:g}"
        watched = progress is not silent
        first = "wait=0.5" if watched else wait
        told = self._told(self._sent("POST", f"{path}?{first}", json=document, headers=key))
        job = self._job(call, told)
        pause = _AT_ONCE
        try:
            while not job.over:
                if job.progress is not None:
                    progress(*job.progress)
                seen, asked = f"&changes={job.changes}" if watched else "", time.monotonic()
                told = self._told(self._sent("GET", f"/api/v1/jobs/{job.id}?{wait}{seen}"))
                before, job = job, self._job(call, told)
                if not job.over and time.monotonic() - asked < _AT_ONCE:
                    # A server with nothing new to tell that does not wait is asked less and less.
                    gone_on = job.changes != before.changes
                    pause = _AT_ONCE if gone_on else min(2.0 * pause, _LONGEST_PAUSE)
                    time.sleep(pause)
        except BaseException as error:
            if not isinstance(error, ServerError):  # Ctrl-C, or the progress bar: nobody wants it
                self._give_up(job.id)
            raise
        if job.state == "cancelled":
            raise ServerError(f"somebody ended this {call.name} at the server")
        if job.state == "failed":
            raise faults.error_of(job.error)
        return told

    def _job(self, call: Call, told: Mapping[str, Json]) -> JobTold:
        return self._understood(call.name, lambda: job_in(told))

    def _give_up(self, job_id: str) -> None:
        try:
            with self._client.stream("DELETE", f"/api/v1/jobs/{job_id}", timeout=3.0):
                pass  # what it answers changes nothing, and is not read
        except httpx2.HTTPError:
            _log.warning("the job goes on at %s", self.address)

    # One request.

    def _sent(self, method: str, path: str, **options: Any) -> _Answer:
        """The answer of a request that may be sent again, and is while the server is away.

        Raises:
          ServerUnreachable: it is away for too long, or there is no arena.
          VersionMismatch: it speaks another language.
          ServerError: it answers what cannot be read, or is too long.
        """
        deadline, pause = time.monotonic() + self._timeout, _FIRST_PAUSE
        while True:
            try:
                answer = self._answer(method, path, options)
                over = time.monotonic() >= deadline and "Arena-Api" in answer.headers
                if answer.status not in _AWAY or over:
                    self._check_version(answer)
                    return answer
                why = f"it answers {answer.status}"
            except httpx2.TransportError as error:
                why = faults.clean(str(error)) or type(error).__name__
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                raise ServerError(
                    f"{self.address} answers what cannot be read ({type(error).__name__})"
                ) from error
            left = deadline - time.monotonic()
            if left <= 0:
                raise ServerUnreachable(
                    f"{self.address} cannot be reached ({why}); what it was asked before goes on "
                    "there, and asking again finds it"
                )
            # Clients that lost the same server do not come back all at once.
            time.sleep(min(left, pause * self._jitter.uniform(0.5, 1.0)))
            pause = min(2.0 * pause, _LONGEST_PAUSE)

    def _answer(self, method: str, path: str, options: Mapping[str, Any]) -> _Answer:
        """One request's answer, of which no more than MOST_BYTES are ever held."""
        with self._client.stream(method, path, **options) as answer:
            return self._whole(answer)

    def _whole(self, answer: httpx2.Response) -> _Answer:
        packed = answer.headers.get("Content-Encoding", "").strip().lower()
        if packed not in _PACKED:
            raise ServerError(f"{self.address} packs its answers in a way that was not asked")
        parts, size = [], 0
        for part in answer.iter_bytes():
            size += len(part)
            if size > MOST_BYTES:
                raise ServerError(
                    f"{self.address} answers more than {MOST_BYTES >> 20} MiB: ask for less"
                )
            parts.append(part)
        return _Answer(answer.status_code, answer.headers, b"".join(parts))

    def _check_version(self, answer: _Answer) -> None:
        told = answer.headers.get("Arena-Api")
        if told is None and answer.status not in (408, 413, 414):
            raise ServerUnreachable(
                f"{self.address} answers ({answer.status}), but is no arena: check the address"
            )
        if told is not None and told != str(API):
            raise VersionMismatch(
                f"{self.address} speaks version {shown(told[:20])} of the arena's API, and this "
                f"client version {API}: update policy-arena on whichever side is older"
            )

    def _told(self, answer: _Answer) -> dict[str, Json]:
        """The JSON object of an answer.

        Raises:
          ArenaError, RegistryError, SandboxError: what went wrong there, in its own words.
        """
        try:
            found = document_in(answer.body)
        except Malformed as error:
            raise ServerUnreachable(f"{self.address} answers what is no JSON object") from error
        if answer.status >= 400:
            raise faults.error_of(found.get("error"))
        return found


for _call in calls().values():
    if not _call.of_office:
        made = method_of(_call, "RemoteArena", "Arena")
        setattr(RemoteArena, _call.name, property(made) if _call.is_property else made)
