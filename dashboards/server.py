"""Starts the pages on this machine."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.server.listening import listener
from dashboards.settings import Settings

if TYPE_CHECKING:
    from dashboards.submissions import SubmissionQueue

APP = Path(__file__).with_name("entry.py")
ADDRESS = "127.0.0.1"
WARM_SECONDS = 6.0
"""How long the start may take to work out what the first visitor will ask for."""
GOODBYE_SECONDS = 1
"""For what is under way when the server is told to stop."""
UPLOAD_MIB = 1
"""Largest upload; a policy may have 64 KiB."""


def free_port() -> int:
    """A port that nobody listens on just now."""
    with closing(socket.socket()) as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])


def options(port: int, address: str = ADDRESS) -> dict[str, object]:
    """Streamlit's options: quiet, local, and without telling anybody that it was used."""
    from dashboards import theme  # with all of Streamlit, which who asks for help does without

    return theme.options() | {
        "server.address": address,
        "server.port": port,
        "server.headless": True,
        "server.fileWatcherType": "none",
        "server.maxUploadSize": UPLOAD_MIB,
        "server.enableStaticServing": False,
        "browser.gatherUsageStats": False,
        "client.toolbarMode": "minimal",
        "client.showErrorDetails": "none",
        "client.showErrorLinks": False,
        "runner.magicEnabled": False,
        "logger.hideWelcomeMessage": True,
    }


def serve(
    settings: Settings,
    port: int = 0,
    *,
    address: str = ADDRESS,
    announce: Callable[[str], None] = click.echo,
) -> None:
    """Serves the pages until the process is interrupted.

    The home is opened first, so that one that cannot be opened is an error here and not on a page.

    Args:
      settings: where from, and what is allowed.
      port: 0 for a free one.
      address: to listen on; everything but loopback lets others in.
      announce: told the address in one line.

    Raises:
      ArenaError, RegistryError: the home cannot be opened.
      UsageFault: the port is taken.
    """
    # Half a second to import, which the settings and the errors of this module do without.
    import streamlit as st
    import uvicorn
    from streamlit.web import bootstrap

    from dashboards.headers import Protected, front_page, headers

    # uvicorn raises the signal again once it has shut down; without this that would kill us there.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with closing(listener(address, port)) as open_one:
        os.environ.update(settings.to_environment())
        submissions = warm_up(settings)
        port = open_one.getsockname()[1]
        flags = {name.replace(".", "_"): value for name, value in options(port, address).items()}
        bootstrap.load_config_options(flags)
        certificate = st.get_option("server.sslCertFile")
        config = uvicorn.Config(
            Protected(st.App(APP), headers(front_page())),
            log_level="warning",
            access_log=False,
            ws="websockets-sansio",
            ws_per_message_deflate=False,
            ssl_certfile=certificate,
            ssl_keyfile=st.get_option("server.sslKeyFile"),
            timeout_graceful_shutdown=GOODBYE_SECONDS,
            server_header=False,
        )
        host = f"[{address}]" if ":" in address else address
        announce(f"Policy Arena: {'https' if certificate else 'http'}://{host}:{port}")
        sys.stdout.flush()
        try:
            with suppress(KeyboardInterrupt):
                uvicorn.Server(config).run(sockets=[open_one])
        finally:
            submissions.leave()


def warm_up(settings: Settings) -> SubmissionQueue:
    """Opens the home, and begins to work out what the first visitor will ask for.

    Returns:
      The submission queue, which goes on with what an earlier server left.

    Raises:
      ArenaError, RegistryError, StoreError: the home cannot be opened.
    """
    from arena import Arena
    from arena.errors import KNOWN
    from arena.games import GAMES
    from dashboards import app, data, run_data

    assert app  # its imports take longer than all the rest
    if settings.seed_key is not None:
        # A new home is made with it; nobody needs it afterwards, and no environment has it.
        url, key = settings.registry_url, settings.seed_key
        Arena(settings.home, registry=url, seed_key=key).close()
    data.home().store.counts()
    submissions = data.submissions()

    def work_out() -> None:
        for game in GAMES.values():
            # What goes wrong here is told on the page that needs it.
            with suppress(*KNOWN):
                data.board(game)
                data.trends(game)
                data.live_ratings().finish()
                data.board(game)
                run_data.by_variant(run_data.records(game))
                for record in run_data.records(game):
                    run_data.scored(record)

    worker = threading.Thread(target=work_out, daemon=True)
    worker.start()
    worker.join(WARM_SECONDS)
    return submissions
