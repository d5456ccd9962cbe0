"""Headers of every answer: what a browser may do with a page, and who may frame it.

The policy of content is as strict as Streamlit's front end allows:

- scripts come from the server and from blobs, which the front end makes of our own component's
  code; the one script within its page is named by its digest;
- WebAssembly draws the lineages (Graphviz);
- styles within elements are how the front end's library of styles works.

Nobody may put a page into a frame, so no click can be stolen.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from arena.server.limits import Application, Message, Receive, Send

Header = tuple[bytes, bytes]

_REFUSAL = "websocket.http.response"
"""A refused handshake is an answer of its own (https://asgi.readthedocs.io, extensions)."""
_STARTS = ("http.response.start", "websocket.accept", f"{_REFUSAL}.start")
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def headers(page: str) -> list[tuple[str, str]]:
    """The headers, by name.

    Args:
      page: HTML that every visit begins with; the scripts in it are allowed, and no others.
    """
    inline = " ".join(f"'sha256-{_digest(script)}'" for script in _INLINE.findall(page))
    policy = {
        "default-src": "'self'",
        "script-src": f"'self' blob: 'wasm-unsafe-eval' {inline}".strip(),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "connect-src": "'self'",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    return [
        ("Content-Security-Policy", "; ".join(f"{name} {what}" for name, what in policy.items())),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        # The address of a ticket is all that it takes to see it: it is told to nobody.
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Permissions-Policy", "camera=(), geolocation=(), microphone=()"),
    ]


def front_page() -> str:
    """Streamlit's HTML."""
    import streamlit  # half a second, which nothing else here needs

    page = Path(streamlit.__file__).with_name("static") / "index.html"
    return page.read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


class Protected:
    """An ASGI application whose every answer has these headers, refused handshakes too.

    Args:
      app: the application.
      headers: by name; they replace what the application says under the same name.
    """

    def __init__(self, app: Application, headers: list[tuple[str, str]]) -> None:
        self._app = app
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers]

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answers one connection."""
        accepted = False

        async def sent(message: Message) -> None:
            nonlocal accepted
            kind = message["type"]
            if kind == "websocket.accept":
                accepted = True
            if kind in _STARTS:
                message = {**message, "headers": self._added_to(message.get("headers", ()))}
            elif kind == "websocket.close" and not accepted and _REFUSAL in _extensions(scope):
                start = {"type": f"{_REFUSAL}.start", "status": 403, "headers": self._headers}
                await send(start)
                message = {"type": f"{_REFUSAL}.body", "body": b""}
            await send(message)

        await self._app(scope, receive, sent)

    def _added_to(self, headers: Iterable[Header]) -> list[Header]:
        ours = {name for name, _ in self._headers}
        others = [(name, value) for name, value in headers if name.lower() not in ours]
        return others + self._headers


def _extensions(scope: Message) -> Mapping[str, Any]:
    return scope.get("extensions") or {}
