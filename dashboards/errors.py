"""Known errors on a page: what is wrong and what to do, never a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from arena.errors import ArenaError
from arena.store import StoreBusy, StoreError
from dashboards.text import in_markdown
from registry import RegistryError
from sandbox.errors import SandboxError

KNOWN = (ArenaError, RegistryError, SandboxError, StoreError)


@contextmanager
def told() -> Iterator[None]:
    """Shows an error that the library explains; everything else is a fault of ours and passes."""
    try:
        yield
    except StoreBusy as error:
        st.warning(f"Another program is writing matches just now. {in_markdown(str(error))}")
        st.button("Try again", icon=":material/refresh:")
    except KNOWN as error:
        st.error(in_markdown(str(error)), icon=":material/error:")
