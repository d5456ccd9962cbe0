"""Starts the pages on this machine."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import click

from dashboards import theme
from dashboards.errors import KNOWN
from dashboards.settings import Settings

APP = Path(__file__).with_name("entry.py")
ADDRESS = "127.0.0.1"
WARM_SECONDS = 6.0
"""How long the start may take to work out what the first visitor will ask for."""
UPLOAD_MIB = 1
"""Largest upload; a policy may have 64 KiB."""


def free_port() -> int:
    """A port that nobody listens on just now."""
    with closing(socket.socket()) as probe:
        probe.bind((ADDRESS, 0))
        return int(probe.getsockname()[1])


def options(port: int, address: str = ADDRESS) -> dict[str, object]:
    """Streamlit's options: quiet, local, and without telling anybody that it was used."""
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
    from streamlit.web import bootstrap

    from arena.errors import UsageFault

    port = port or free_port()
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise UsageFault(
                f"port {port} of {address} cannot be used ({error.strerror}); name another --port"
            ) from error
    os.environ.update(settings.to_environment())
    _warm_up()
    flags = {name.replace(".", "_"): value for name, value in options(port, address).items()}
    bootstrap.load_config_options(flags)
    announce(f"Policy Arena: http://{address}:{port}")
    sys.stdout.flush()
    bootstrap.run(str(APP), False, [], flags)


def _warm_up() -> None:
    """Opens the home, and begins to work out what the first visitor will ask for.

    Raises:
      ArenaError, RegistryError, StoreError: the home cannot be opened.
    """
    from arena.games import GAMES
    from dashboards import app, data

    assert app  # its imports take longer than all the rest
    data.home().store.counts()

    def work_out() -> None:
        # What goes wrong here is told on the page that needs it.
        with suppress(*KNOWN):
            for game in GAMES.values():
                data.board(game)
                data.trends(game)
                data.live_ratings().finish()
                data.board(game)

    worker = threading.Thread(target=work_out, daemon=True)
    worker.start()
    worker.join(WARM_SECONDS)
