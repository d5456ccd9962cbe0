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
    shown = Protected(st.App(APP), headers(front_page()))

    async def answer(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        try:
            await shown(scope, receive, send)
        finally:
            if scope["type"] == "lifespan":
                submissions.leave()

    return answer
