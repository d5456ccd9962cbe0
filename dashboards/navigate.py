"""Going from page to page, with everything that a page needs in its address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import streamlit as st

if TYPE_CHECKING:
    from registry.values import PolicyVersion

_PAGES = "_pages"


def remember(pages: Mapping[str, Any]) -> None:
    """Tells the pages of this visit, by their paths."""
    st.session_state[_PAGES] = dict(pages)


def go(page: str, **parameters: str) -> None:
    """Leaves for another page."""
    pages = st.session_state.get(_PAGES, {})
    if page in pages:
        st.switch_page(pages[page], query_params=parameters)


def address(page: str, **parameters: str) -> str:
    """A link to a page, relative to the site."""
    return f"/{page}?{urlencode(parameters)}"


def policy_address(version: PolicyVersion) -> str:
    """Link to a policy's page."""
    return address("policy", game=version.game, policy=version.ref)


def asked(name: str) -> str:
    """A parameter of this page's address; "" where it is not there."""
    return str(st.query_params.get(name, ""))
