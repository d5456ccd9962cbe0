"""Servers for tests: of a copied home, on a free port, with accounts of all roles."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2

from arena.home import open_home
from arena.remote import RemoteArena
from arena.server.serving import InThread, Serving
from registry.rights import Role
from sandbox.choose import WallChoice

ROSTER = (("boss", Role.OPERATOR), ("ada", Role.AUTHOR), ("bob", Role.AUTHOR), ("eve", Role.READER))


@dataclass(frozen=True)
class Served:
    """A server that runs.

    Attributes:
      address: of it.
      home: its folder.
      tokens: by account.
      thread: it.
    """

    address: str
    home: Path
    tokens: dict[str, str]
    thread: InThread


@contextmanager
def served(home: Path, **options: object) -> Iterator[Served]:
    """Serves a home with one worker behind the process wall, and nothing in the background.

    A home that is served again keeps its accounts; their tokens are new.
    """
    opened = open_home(home, options.get("registry_url"))  # type: ignore[arg-type]
    known = {one.name for one in opened.registry.accounts()}
    new = [(name, role) for name, role in ROSTER if name not in known]
    tokens = dict(opened.registry.add_accounts(new)) if new else {}
    tokens |= {name: opened.registry.renew_token(name) for name, _ in ROSTER if name in known}
    opened.registry.close()
    serving = Serving(home, wall=WallChoice("process"), workers=1, **options)  # type: ignore[arg-type]
    with InThread(serving) as thread:
        yield Served(thread.address, home, tokens, thread)


@contextmanager
def doors(there: Served) -> Iterator[Callable[..., RemoteArena]]:
    """Opens a server's arena as somebody, by the name of the account; closes what was opened."""
    with ExitStack() as opened:

        def open_as(name: str, **options: Any) -> RemoteArena:
            asked = {"timeout": 5.0, **options}
            return opened.enter_context(RemoteArena(there.address, there.tokens[name], **asked))

        yield open_as


_NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""To be trusted: nothing here is encrypted, and to load the usual certificates takes long."""


def asked(
    there: Served, method: str, path: str, who: str = "boss", **options: Any
) -> httpx2.Response:
    """What a server answers to a request, which shows a token unless nobody makes it."""
    headers = {"Authorization": f"Bearer {there.tokens[who]}"} if who else {}
    headers |= options.pop("headers", {})
    settings = {"timeout": 30, "verify": _NOBODY, **options}
    return httpx2.request(method, there.address + path, headers=headers, **settings)


def words(answer: httpx2.Response) -> str:
    """In which words a server refused."""
    return str(answer.json()["error"]["message"])


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server of another making, on a free port; yields its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
