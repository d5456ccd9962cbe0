"""Commands that pages tell people to type: they name the home where it is not the usual one."""

from __future__ import annotations

import ipaddress
import shlex
from pathlib import Path

import streamlit as st

from arena.cli.session import DEFAULT_HOME
from dashboards import data

_RUNS = ("csro resume ", "csro report ")
"""Runs are kept where they were started; those that pages show, in the folder of the pages."""
ELSEWHERE = "--home HOME"
"""For visitors from other machines, whom the folders of this one do not concern."""


def typed(words: str) -> str:
    """A command as it has to be typed on the machine of the pages, quoted for its shell.

    The folder is told in full: whoever reads it need not be where the server was started.  To
    the visitors of a server it is the address that they have come by, whatever it listens on.
    """
    home = data.settings().home.absolute()
    if data.settings().hosted and words.startswith(_RUNS):
        return f"{words} {ELSEWHERE}"
    if data.settings().hosted:
        return f"{words} --home {shlex.quote(server())}"
    if home == Path(DEFAULT_HOME).absolute():
        return words
    if not _is_here(str(st.get_option("server.address") or "")):
        return f"{words} {ELSEWHERE}"
    return f"{words} --home {shlex.quote(str(home))}"


def server() -> str:
    """The address of the server whose pages these are, or HOME where no browser tells."""
    page = (st.context.url or "").partition("?")[0]
    return page.rpartition("/")[0] if page.count("/") > 2 else page or "HOME"


def _is_here(address: str) -> bool:
    """Whether only this machine reaches the pages."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address in ("", "localhost")
