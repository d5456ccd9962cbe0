"""A connection whose requests have to begin: uvicorn waits for headers for ever.

A thousand connections that send half a header would otherwise keep everybody else out.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0
"""For the headers of a request, from its first byte, or from the connection's beginning."""


class PromptConnection(H11Protocol):
    """Speaks HTTP/1.1, and hangs up on whoever does not get to the end of a request's headers."""

    _waits_since: float | None = None
    _look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client is there."""
        super().connection_made(transport)
        self._waits_since = time.monotonic()
        self._look = self.loop.call_later(HEAD_SECONDS, self._hang_up_or_wait)

    def data_received(self, data: bytes) -> None:
        """A client sends something."""
        if self._waits_since is None and not self._answers():
            self._waits_since = time.monotonic()
        super().data_received(data)
        if self._answers():
            self._waits_since = None

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def _answers(self) -> bool:
        """Whether there is a request whose headers have come, and that is not answered yet."""
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete

    def _hang_up_or_wait(self) -> None:
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return  # a WebSocket by now, perhaps
        waited = 0.0 if self._waits_since is None else time.monotonic() - self._waits_since
        if waited >= HEAD_SECONDS:
            self.transport.close()
            return
        self._look = self.loop.call_later(HEAD_SECONDS - waited, self._hang_up_or_wait)
