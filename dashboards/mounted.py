"""The pages at the address of a server of the arena.

`arena serve` knows no pages: it finds this function as an entry point (`policy_arena.pages`).
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from dashboards.headers import Application, Protected, front_page, headers
from dashboards.server import APP, options, warm_up
from dashboards.settings import Settings, Submitting

if TYPE_CHECKING:
    from arena.server.serving import Serving

CLOSED = ("/_stcore/metrics", "/_stcore/agent")
"""Addresses of Streamlit's own that no visitor of a page asks for: numbers about this process, and
pages for programs, which have the API."""


def pages(serving: Serving) -> Application:
    """The pages of a home that is served, as an ASGI application.

    Nobody hands in from a page here: the server takes submissions by its API, from accounts.  What
    was on its way in when the pages were a program of their own goes on there.

    Args:
      serving: what the operator decided.

    Raises:
      ArenaError, RegistryError: the home cannot be opened.
    """
    import streamlit as st
    from streamlit.web import bootstrap

    settings = Settings(serving.home, serving.registry_url, Submitting.OFF, hosted=True)
    os.environ.update(settings.to_environment())
    submissions = warm_up(settings)
    flags = {name.replace(".", "_"): value for name, value in options(0).items()}
    for name in ("server_address", "server_port"):  # the server's, which a proxy may hide
        del flags[name]
    bootstrap.load_config_options(flags)
    told = headers(front_page())
    shown, nothing_there = Protected(st.App(APP), told), Protected(_nothing_there, told)

    async def answer(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        try:
            await (nothing_there if _is_closed(scope) else shown)(scope, receive, send)
        finally:
            if scope["type"] == "lifespan":
                submissions.leave()

    return answer


def _is_closed(scope: MutableMapping[str, Any]) -> bool:
    path = str(scope.get("path", "")).rstrip("/")
    return any(path == one or path.startswith(f"{one}/") for one in CLOSED)


async def _nothing_there(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
    """Answers as if nothing were at this address."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1000})
        return
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b""})
