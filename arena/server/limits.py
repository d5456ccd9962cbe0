"""Bounds on what requests may take: bodies that are too long or too slow, and too many at once."""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

BODY_BYTES = 16 << 20
"""Of one request: 200 programs of the largest size fit, or the pairs of a table of 500."""
BODY_SECONDS = 20.0
"""For all of a body, once its headers are there."""
SMALL_BYTES = 1 << 16
"""Of one request that shows no token, or whose method needs no body: a stream of events holds its
request's body for as long as it goes on."""
ALL_BODIES_BYTES = 256 << 20
"""Of all requests at once that have not arrived whole or are being answered; nobody has shown yet
who he is when his body arrives."""
A_SECOND = 100.0
"""Requests of one client's address, in the long run.  A proxy on this machine says for whom it asks
(`X-Forwarded-For`)."""
_PAUSE = 10.0
"""Seconds after which a client that was silent may ask as often as it might have meanwhile."""
_KNOWN_CLIENTS = 10_000
ADDRESS_CHARS = 8_192
"""Of a request's query; clients send longer arguments in a body."""


class _TooLong(Exception):
    pass


class _TooMany(Exception):
    pass


class _Rates:
    """How many requests each client may still send: a leaky bucket for each address."""

    def __init__(self, a_second: float, clock: Callable[[], float]) -> None:
        self._a_second, self._clock = a_second, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allow(self, client: str) -> bool:
        """Counts a request; False where it is one too many."""
        now, most = self._clock(), self._a_second * _PAUSE
        left, at = self._buckets.pop(client, (most, now))
        left = min(most, left + (now - at) * self._a_second)
        allowed = left >= 1.0
        self._buckets[client] = (left - 1.0 if allowed else left, now)
        if len(self._buckets) > _KNOWN_CLIENTS:
            self._buckets.popitem(last=False)
        return allowed


class Limited:
    """An ASGI application whose requests have bounds.

    Args:
      app: the application.
      most: bytes of a body.
      seconds: for it to arrive.
      a_second: requests of one client, in the long run.
      clock: tells seconds.
    """

    def __init__(
        self,
        app: Application,
        most: int = BODY_BYTES,
        seconds: float = BODY_SECONDS,
        a_second: float = A_SECOND,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rates, self._a_second = _Rates(a_second, clock), a_second
        self._app, self._most, self._seconds = app, most, seconds
        self._arrived = 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answers one request, or refuses it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if not self._rates.allow(str((scope.get("client") or ("",))[0])):
            words = f"a client sends at most {self._a_second:g} requests a second: ask again later"
            await _refuse(send, 503, words)
            return
        if len(scope.get("query_string", b"")) > ADDRESS_CHARS:
            await _refuse(send, 414, f"an address has at most {ADDRESS_CHARS:,} characters")
            return
        large = scope.get("method") == "POST" and _shows_a_token(scope)
        most = self._most if large else min(self._most, SMALL_BYTES)
        if self._announced(scope) > most:
            await _refuse(send, 413, f"a request has at most {most:,} bytes")
            return
        messages: list[Message] = []
        try:
            refusal = await self._arrives(receive, messages, most)
            if refusal is not None:
                await _refuse(send, *refusal)
                return
            arrived = iter(tuple(messages))

            async def received() -> Message:
                return next(arrived, None) or await receive()

            await self._app(scope, received, send)
        finally:
            self._arrived -= sum(map(_size, messages))

    async def _arrives(
        self, receive: Receive, messages: list[Message], most: int
    ) -> tuple[int, str] | None:
        """Adds the messages of a whole body; returns a status and words where it is refused."""
        try:
            await asyncio.wait_for(self._body(receive, messages, most), self._seconds)
        except _TooLong:
            return 413, f"a request has at most {most:,} bytes"
        except _TooMany:
            return 503, "too much arrives at once: ask again in a moment"
        except TimeoutError:
            return 408, f"a request arrives within {self._seconds:g} seconds"
        return None

    def _announced(self, scope: Message) -> int:
        for name, value in scope["headers"]:
            if name.lower() == b"content-length":
                return int(value) if value.isdigit() else self._most + 1
        return 0

    async def _body(self, receive: Receive, messages: list[Message], most: int) -> None:
        """Adds the messages of a whole body.

        Raises:
          _TooLong: it is longer than it may be.
          _TooMany: the bodies of all requests are.
        """
        size = 0
        while True:
            message = await receive()
            messages.append(message)
            size += _size(message)
            self._arrived += _size(message)
            if size > most:
                raise _TooLong
            if self._arrived > ALL_BODIES_BYTES:
                raise _TooMany
            if not message.get("more_body", False):
                return


def _shows_a_token(scope: Message) -> bool:
    return any(name.lower() == b"authorization" for name, _ in scope["headers"])


def _size(message: Message) -> int:
    return len(message.get("body", b""))


async def _refuse(send: Send, status: int, words: str) -> None:
    """An answer that ends the connection: the rest of the body is not read."""
    body = json.dumps({"error": {"kind": "BadRequest", "message": words}}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *([(b"retry-after", b"1")] if status == 503 else []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
