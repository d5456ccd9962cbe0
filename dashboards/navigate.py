"""Going from page to page, with everything that a page needs in its address."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import streamlit as st

from dashboards.text import in_markdown

if TYPE_CHECKING:
    from types import ModuleType

    from streamlit.delta_generator import DeltaGenerator

_PAGES = "_pages"
_ON = "1"
"""What the address says of a switch."""
_STEPS = st.components.v2.component(
    "steps", js=Path(__file__).with_name("steps.js").read_text(encoding="utf-8")
)


def count_steps() -> None:
    """Before anything of a page: Back undoes what a visitor did last, all of it and no more."""
    with st.container(key="steps"):
        _STEPS(key="steps_of_a_visit")


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


def asked(name: str) -> str:
    """A parameter of this page's address; "" where it is not there."""
    return str(st.query_params.get(name, ""))


def follow(name: str, key: str, options: Collection[str] | None = None, what: str = "") -> None:
    """Before a widget is drawn: what the address says it shows, where a link or Back led there.

    Args:
      name: parameter of the address.
      key: of the widget.
      options: what it can show; None for any text.
      what: the options are, to say so where the address names none of them.
    """
    said, kept = asked(name), st.session_state.get(f"_kept_{key}", "")
    # A visit to another page forgets what widgets showed; Back from there has the address alone.
    if said == kept and (key in st.session_state or not said):
        return
    if not said:
        st.session_state.pop(key, None)  # Back to where it was as usual
    elif options is None or said in options:
        st.session_state[key] = said
    elif what:
        st.warning(f"There is no {what} {in_markdown(said)} here.")


def keep(name: str, key: str, shown: str | None, usual: str = "") -> None:
    """After it was drawn: the address says what it shows, unless that is as usual."""
    value = "" if shown is None or shown == usual else shown
    st.session_state[f"_kept_{key}"] = value
    if value and asked(name) != value:
        st.query_params[name] = value
    elif not value and name in st.query_params:
        del st.query_params[name]


def follow_row(name: str, key: str, options: Sequence[str], what: str) -> None:
    """As `follow`, for a table in which one row is always selected: the address names it.

    Args:
      name: parameter of the address.
      key: of the table.
      options: what its rows are about; the first is usual.
      what: they are.
    """
    follow(name, key, options, what)
    said = st.session_state.get(key, options[0])
    if isinstance(said, str):
        selection = {"rows": [options.index(said)], "columns": [], "cells": []}
        st.session_state[key] = {"selection": selection}


def follow_all(name: str, key: str, options: Collection[str], what: str = "") -> None:
    """As `follow`, for a widget that shows some of its options: the address names each of them."""
    named = st.query_params.get_all(name)
    said = [one for one in named if one in options]
    strange = [in_markdown(one) for one in named if one and one not in options]
    if strange and what:
        st.warning(f"There is no {what} {', '.join(strange)} here.")
    forgotten = said and key not in st.session_state
    if forgotten or said != st.session_state.get(f"_kept_{key}", []):
        st.session_state[key] = said


def keep_all(name: str, key: str, shown: Sequence[str]) -> None:
    """As `keep`, for a widget that shows some of its options."""
    st.session_state[f"_kept_{key}"] = list(shown)
    if shown and st.query_params.get_all(name) != list(shown):
        st.query_params[name] = list(shown)
    elif not shown and name in st.query_params:
        del st.query_params[name]


def selected(
    label: str, options: Sequence[str], name: str, key: str, what: str, help: str | None = None
) -> str:
    """A choice that the address keeps, unless it is the first of its options."""
    follow(name, key, options, what)
    if st.session_state.get(key) not in options:
        st.session_state[key] = options[0]
    chosen = str(st.selectbox(label, options, key=key, help=help))
    keep(name, key, chosen, options[0])
    return chosen


def one_of(
    label: str,
    options: Sequence[str],
    name: str,
    key: str,
    what: str = "",
    *,
    at: DeltaGenerator | ModuleType = st,
    **looks: Any,
) -> str:
    """One of some options side by side, which the address keeps unless it is the first.

    Args:
      label: of the choice.
      options: the first is usual.
      name: in the address.
      key: of the widget.
      what: the options are, for an address that names none of them; "" to say nothing.
      at: where it is drawn.
      looks: of the widget.
    """
    follow(name, key, options, what)
    chosen = at.segmented_control(
        label,
        options,
        default=None if key in st.session_state else options[0],
        required=True,
        key=key,
        **looks,
    )
    keep(name, key, chosen, options[0])
    return str(chosen or options[0])


def switched(label: str, name: str, key: str, help: str | None = None) -> bool:
    """A switch that the address keeps."""
    follow_all(name, key, [_ON])
    st.session_state[key] = bool(st.session_state.get(key))
    on = st.toggle(label, key=key, help=help)
    keep_all(name, key, [_ON] if on else [])
    return on
