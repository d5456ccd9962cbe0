"""Known errors on a page: what is wrong and what to do, never a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from arena.errors import KNOWN
from arena.server.discretion import discretion_of
from arena.store import StoreBusy
from dashboards import data
from dashboards.text import in_markdown


@contextmanager
def told() -> Iterator[None]:
    """Shows an error that the library explains; everything else is a fault of ours and passes."""
    try:
        yield
    except StoreBusy as error:
        st.warning(f"Another program is writing matches just now. {_words(error)}")
        st.button("Try again", icon=":material/refresh:")
    except KNOWN as error:
        st.error(_words(error), icon=":material/error:")


def _words(error: Exception) -> str:
    """What a visitor is told; on a server, without where it keeps anything."""
    said = str(error)
    if data.settings().hosted:
        home = data.home()  # which was open before the first visitor came
        said = discretion_of(home.path, home.registry.database.where).words(said)
    return in_markdown(said)
