"""Ends an attempt when its time is over, however busily its server sends.

The time-outs of an HTTP client bound each wait by itself: for a connection, for the next byte.  A
server that sends a byte a second is never late for any of them, and a host with several addresses
may be waited for once at each.  So each wait gets what is left of the whole attempt, in the network
streams of httpx and httpx2, on which both SDKs stand.  Only the system's look-up of a host's name
is not bounded: it ends by the system's own rules.
"""

from __future__ import annotations

import logging
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from oracle.models.retry import MOST_LATE, Lost, Transient

_LOG = logging.getLogger(__name__)
MOST_BYTES = 32 << 20
"""Of all that a server sends in one attempt, packed or not: an answer is a thousandth of that."""
_TOO_LONG = "the answer is too long"
_AT_ONCE = 1.0
"""Seconds after a question; a connection that was closed before it came ends within one journey
there and back."""
_PIECE = 4096
"""Bytes to write at once: so few that a socket's buffer with room for any takes them all."""


class Attempt:
    """One attempt to get an answer, and the time that it has.

    Attributes:
      status: of HTTP, with which the answer began; 200 before it did.
    """

    def __init__(self, seconds: float, option: str = "--timeout") -> None:
        """Starts the clock.

        Args:
          seconds: that it has.
          option: with which users set them; "" where none does.
        """
        self._seconds = seconds
        self._option = option
        self._end = time.monotonic() + seconds
        self._bytes = self._unpacked = 0
        self._asked = self._connected = self._answered = False
        self._sent: float | None = None
        self._received: list[bytes] = []
        self.status = 200

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Whatever this thread does in here with bounded clients belongs to this attempt."""
        token = _ATTEMPT.set(self)
        try:
            yield
        finally:
            _ATTEMPT.reset(token)

    @property
    def left(self) -> float:
        """Seconds until its end, negative behind it."""
        return self._end - time.monotonic()

    def took(self, count: int) -> bool:
        """Notes bytes that came; returns whether that are more than an answer can have."""
        self._bytes += count
        self._answered |= count > 0
        return self._bytes > MOST_BYTES

    def unpacked(self, count: int) -> bool:
        """The same of bytes that came out of a packed answer: a few can hold a thousand each."""
        self._unpacked += count
        return self._unpacked > MOST_BYTES

    def begins(self, status: int) -> None:
        """Notes that an answer begins; what a redirect said before it is none."""
        self.status, self._received = status, []

    def keeps(self, piece: bytes) -> None:
        """Keeps a piece of an answer's body, which may be whole though its connection breaks."""
        self._received.append(piece)

    @property
    def received(self) -> str:
        """What came of an answer of status 200; "" for another, or none."""
        found = self._received if self.status == 200 else []
        return b"".join(found).decode(errors="replace")

    def connects(self) -> None:
        """Notes that this attempt has a connection of its own."""
        self._connected = True

    def asks(self, buffer: bytes) -> None:
        """Notes that something is sent: from a question's first part on it may cost something.

        Tunnels that proxies are asked for, and looks at models, are no questions.
        """
        self._asked |= buffer.startswith(b"POST ")
        self._answered, self._sent = False, None

    def asked(self) -> None:
        """Notes that what was to be sent is sent whole."""
        self._sent = time.monotonic() if self._asked else None

    def ran_out(self) -> Transient | None:
        """What to say of a connection that failed, where the time was over, or the room.

        None where neither was.  The system gives up on connections, too, and earlier than many a
        time-out of ours.
        """
        if max(self._bytes, self._unpacked) > MOST_BYTES:
            return Lost(f"the answer is longer than {MOST_BYTES:,} bytes, and was not read")
        if self.left > 0:
            return None
        told = f" ({self._option})" if self._option else ""
        said = f"the attempt timed out: no whole answer after {self._seconds:g} s{told}"
        if not (self._asked and self._option):
            return Transient(said)
        return Lost(said, f"give the server more time with a longer {self._option}", most=MOST_LATE)

    def broken(self, said: str) -> Transient:
        """What to say of a connection that failed before the time was over.

        Once the question is sent whole, its answer is probably paid for, though it was lost on its
        way.  Not where the connection was used before and ends at once, with no byte of an answer:
        then its server had closed it, as they do after a while, when the question was on its way,
        and nobody has read it.  A model that has it needs longer to answer, and a connection made
        for a question is not closed for being idle.
        """
        if self._sent is None or self.status != 200 or self._was_closed():
            return Transient(f"the server cannot be reached: {said}")
        return Lost(f"the connection was lost after the question was sent: {said}")

    def _was_closed(self) -> bool:
        """Whether the connection was closed before the question came."""
        if self._connected or self._answered or self._sent is None:
            return False
        return time.monotonic() - self._sent < _AT_ONCE


_ATTEMPT: ContextVar[Attempt | None] = ContextVar("attempt", default=None)


def bound(inside: Callable[[], Any]) -> None:
    """Makes an HTTP client keep to the attempt of whichever thread uses it.

    Neither library takes network streams from outside.  Where a version is made otherwise inside,
    its own time-outs are all there is, and that is logged.

    Args:
      inside: finds a `Client` of httpx or httpx2, which has not been used yet, in an SDK's client.
    """
    try:
        client = inside()
        # A proxy that some hosts are exempt from is a transport of None.
        transports = [one for one in (client._transport, *client._mounts.values()) if one]
        for pool in [transport._pool for transport in transports]:
            pool._network_backend = _Network(pool._network_backend)
        client.event_hooks["response"].append(_answered)
    except AttributeError as error:
        _LOG.warning("--timeout bounds each silence of a server, and no whole attempt: %s", error)


def _answered(response: Any) -> None:
    """Makes a response, whose body is still to be read, count what it unpacks."""
    attempt = _ATTEMPT.get()
    if attempt is None:
        return
    attempt.begins(response.status_code)
    decoder = getattr(response, "_get_content_decoder", None)
    if decoder is not None:
        errors = sys.modules[type(response).__module__.partition(".")[0]]
        response._decoder = _Decoder(decoder(), attempt, errors)


class _Decoder:
    """A decoder of httpx or httpx2 that stops at more than an answer can have."""

    def __init__(self, inner: Any, attempt: Attempt, errors: Any) -> None:
        self._inner = inner
        self._attempt = attempt
        self._errors = errors

    def decode(self, data: bytes) -> Any:
        """Bytes as httpx wants them, or an iterator over pieces of them as httpx2 does."""
        return self._counted(self._inner.decode(data))

    def flush(self) -> Any:
        """What is left, in the same form."""
        return self._counted(self._inner.flush())

    def _counted(self, found: Any) -> Any:
        if isinstance(found, bytes):
            return self._count(found)
        return map(self._count, found)

    def _count(self, piece: bytes) -> bytes:
        if self._attempt.unpacked(len(piece)):
            raise self._errors.ReadError(_TOO_LONG)
        self._attempt.keeps(piece)
        return piece


class _Network:
    """A network backend of httpcore or httpcore2 whose waits end with the attempt."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        # Each of the libraries knows its own errors alone.
        self._errors = sys.modules[type(inner).__module__.partition(".")[0]]

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **rest: Any) -> Any:
        """Connects to the first address that answers; each has its share of the time left."""
        addresses = self._addresses(host, port)
        while True:
            left = _left(timeout)
            if left == 0:
                raise self._errors.ConnectTimeout("timed out")
            share = None if left is None else left / len(addresses)
            address = addresses.pop(0)
            attempt = _ATTEMPT.get()
            if attempt is not None:
                attempt.connects()
            try:
                stream = self._inner.connect_tcp(address, port, timeout=share, **rest)
            except (self._errors.ConnectError, self._errors.ConnectTimeout):
                if not addresses:
                    raise
            else:
                return _Stream(stream, self._errors)

    def _addresses(self, host: str, port: int) -> list[str]:
        """Addresses of a host in the system's order; one of a link says which link."""
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise self._errors.ConnectError(error) from error
        return [
            f"{address[0]}%{address[3]}" if len(address) > 3 and address[3] else str(address[0])
            for *_, address in found
        ]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Stream:
    """A network stream of theirs whose waits end with the attempt."""

    def __init__(self, inner: Any, errors: Any) -> None:
        self._inner = inner
        self._errors = errors

    def read(self, max_bytes: int, timeout: float | None = None) -> Any:
        found = self._inner.read(max_bytes, self._until(timeout, self._errors.ReadTimeout))
        attempt = _ATTEMPT.get()
        if attempt is not None and attempt.took(len(found)):
            self._inner.close()
            raise self._errors.ReadError(_TOO_LONG)
        return found

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Writes it in pieces: theirs waits as long for each part that its socket takes."""
        attempt = _ATTEMPT.get()
        if attempt is not None:
            attempt.asks(buffer)
        for start in range(0, len(buffer), _PIECE):
            left = self._until(timeout, self._errors.WriteTimeout)
            self._inner.write(buffer[start : start + _PIECE], left)
        if attempt is not None:
            attempt.asked()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Stream:
        left = self._until(timeout, self._errors.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, left), self._errors)

    def _until(self, timeout: float | None, over: type[Exception]) -> float | None:
        """Seconds that a wait may take.

        Raises:
          over: none; the connection is closed, as not all who use a stream do that.
        """
        left = _left(timeout)
        if left == 0:
            self._inner.close()
            raise over("timed out")
        return left

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _left(timeout: float | None) -> float | None:
    """Seconds that a wait may take in this thread's attempt, 0 behind its end; None for any."""
    attempt = _ATTEMPT.get()
    if attempt is None:
        return timeout
    left = max(0.0, attempt.left)
    return left if timeout is None else min(timeout, left)
