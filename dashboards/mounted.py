"""The pages at the address of a server of the arena.

`arena serve` knows no pages: it finds this function as an entry point (`policy_arena.pages`).
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena.errors import UsageFault
from arena.extras import install_command
from arena.server.limits import Application
from dashboards.headers import Protected, front_page, headers
from dashboards.identity import SignIn, cookie_secret, read
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
      UsageFault: nobody could sign in as the operator wants.
    """
    import streamlit as st
    from streamlit.web import bootstrap

    sign_in = None if serving.oidc is None else _asked_for(serving.oidc)
    settings = Settings(
        serving.home, serving.registry_url, Submitting.OFF, hosted=True, oidc=serving.oidc
    )
    os.environ.update(settings.to_environment())
    submissions = warm_up(settings)
    flags = {name.replace(".", "_"): value for name, value in options(0).items()}
    for name in ("server_address", "server_port"):  # the server's, which a proxy may hide
        del flags[name]
    bootstrap.load_config_options(flags)
    told = headers(front_page())
    # By word of mouth: what Streamlit reads from files may lie in a folder that others read.
    secrets = sign_in.as_secrets(cookie_secret(serving.home)) if sign_in else None
    drawn: Application = st.App(APP, secrets=secrets)
    if sign_in is not None and sign_in.encrypted:
        drawn = _with_secure_cookies(drawn)
    shown, nothing_there = Protected(drawn, told), Protected(_nothing_there, told)

    async def answer(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        try:
            await (nothing_there if _is_closed(scope) else shown)(scope, receive, send)
        finally:
            if scope["type"] == "lifespan":
                submissions.leave()

    return answer


def _asked_for(path: Path) -> SignIn:
    """What the operator says of who may sign in.

    Raises:
      UsageFault: it means nothing, or what speaks the protocol is not installed.
    """
    if find_spec("authlib") is None or find_spec("httpx") is None:
        raise UsageFault(f"--oidc needs more packages:  {install_command('oidc')}")
    return read(path)


def _with_secure_cookies(app: Application) -> Application:
    """An application whose cookies go over encrypted connections alone.

    Streamlit sets them without, because a browser that comes by plain HTTP would drop them: here
    the address that browsers come by is known.
    """

    async def answer(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        async def sent(message: MutableMapping[str, Any]) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                told = [
                    (name, value + b"; Secure")
                    if name.lower() == b"set-cookie" and b"; secure" not in value.lower()
                    else (name, value)
                    for name, value in message.get("headers", ())
                ]
                message = {**message, "headers": told}
            await send(message)

        await app(scope, receive, sent)

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
