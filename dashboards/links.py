"""Names in tables that are links: a cell holds the address, and shows the name that is in it."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from arena.games.protocol import Game
from dashboards import navigate
from dashboards.text import in_markdown


def policy(game: Game, ref: str) -> str:
    """The cell of a policy."""
    return navigate.address("policy", game=game.name, policy=ref)


def policies(game: Game, refs: Iterable[str]) -> list[str]:
    """The cells of a column of policies."""
    return [policy(game, ref) for ref in refs]


def named(game: Game, ref: str) -> str:
    """A policy's name as a link to its page, in Markdown."""
    return f"[{in_markdown(ref)}]({policy(game, ref)})"


def run(game: str, name: str) -> str:
    """The cell of a CSRO run."""
    return navigate.address("runs", game=game, run=name)


def column(
    about: str = "policy",
    *,
    title: str | None = None,
    pinned: bool = False,
    width: int | None = None,
) -> ColumnConfig:
    """How such a column is drawn.

    Args:
      about: parameter of the addresses that has the name.
      title: of the column, where it is not its name in the table.
      pinned: whether it stays in view when the others are scrolled.
      width: in pixels; None for what it needs.
    """
    return st.column_config.LinkColumn(
        title, display_text=rf"[?&]{about}=([^&]+)", alignment="left", pinned=pinned, width=width
    )
