"""The frame around every page: who is where, which game, and what happens to errors."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from arena.games import GAMES
from arena.games import game as game_named
from arena.games.protocol import Game
from dashboards import data, navigate, theme
from dashboards.errors import told
from dashboards.text import in_markdown
from dashboards.views import (
    about,
    account,
    exploitability,
    leaderboard,
    payoffs,
    policy,
    replay,
    runs,
    submit,
)
from registry import shown

TITLE = "Policy Arena"

OF_A_GAME: tuple[tuple[str, str, str, Callable[[Game], None]], ...] = (
    ("leaderboard", "Leaderboard", ":material/leaderboard:", leaderboard.show),
    ("payoffs", "Payoffs", ":material/grid_on:", payoffs.show),
    ("exploitability", "Exploitability", ":material/security:", exploitability.show),
    ("policy", "Policy", ":material/code:", policy.show),
    ("replay", "Replay", ":material/replay:", replay.show),
    ("runs", "CSRO runs", ":material/timeline:", runs.show),
    ("submit", "Submit", ":material/upload_file:", submit.show),
    ("about", "About", ":material/info:", about.show),
)
"""Path, title, icon and what draws it, in the order of the menu."""


def _chosen_game() -> Game:
    """The game that the visitor looks at: kept in the address, and from page to page."""
    asked = navigate.asked("game")
    if asked in GAMES and asked != st.session_state.get("_shown_game"):
        st.session_state.game = asked  # a link was followed
    elif "game" in st.session_state:
        st.session_state.game = st.session_state.game  # kept although another page drew it
    elif "_shown_game" in st.session_state:
        st.session_state.game = st.session_state["_shown_game"]
    first = next(iter(GAMES))
    name = st.segmented_control(
        "Game",
        list(GAMES),
        format_func=lambda name: game_named(name).short_title,
        default=None if "game" in st.session_state else first,
        required=True,
        key="game",
        wrap=True,
        label_visibility="collapsed",
    )
    game = game_named(name or first)
    st.session_state["_shown_game"] = game.name
    if not asked:
        st.query_params["game"] = game.name
    elif asked != game.name:
        # What else the address names belongs to the game that was left.
        st.query_params.from_dict({"game": game.name})
    return game


def _of_a_game(title: str, draw: Callable[[Game], None]) -> Callable[[], None]:
    def page() -> None:
        with told():
            asked = navigate.asked("game")
            with st.container(
                horizontal=True,
                vertical_alignment="center",
                horizontal_alignment="distribute",
            ):
                st.title(title, anchor=False, width="content")
                game = _chosen_game()
            if asked and asked not in GAMES:
                st.warning(f"There is no game {in_markdown(asked)} here.")
            st.set_page_config(page_title=_title(title, game.short_title))
            draw(game)

    return page


def _account() -> None:
    with told():
        st.title("Account", anchor=False)
        st.set_page_config(page_title=_title("Account", ""))
        account.show()


_SUBJECTS = ("policy", "match", "run", "ticket")
"""Parameters of an address that say what a page is about."""


def _title(title: str, game: str) -> str:
    """What is shown, for the browser's tab and history: the most particular first."""
    about = next((said for name in _SUBJECTS if (said := navigate.asked(name))), "")
    subject = about[:60] if title != "Submit" else ""  # a ticket's address is its secret
    return " · ".join(filter(None, (shown(subject), title, game, TITLE)))


def _to_first_page() -> None:
    navigate.go("leaderboard", **{name: navigate.asked(name) for name in st.query_params})


def main() -> None:
    """Draws the page that the address names."""
    st.set_page_config(page_title=TITLE, page_icon=theme.icon(), layout="wide")
    st.html(theme.style())
    theme.follow()
    navigate.count_steps()
    pages = {
        path: st.Page(
            _of_a_game(title, draw),
            title=title,
            icon=icon,
            url_path=path if path != "leaderboard" else "first",
            default=path == "leaderboard",
        )
        for path, title, icon, draw in OF_A_GAME
    }
    if data.settings().oidc:
        icon = ":material/person:"
        pages["account"] = st.Page(_account, title="Account", icon=icon, url_path="account")
    navigate.remember(pages)
    # The first page has the bare address; people type its name as well.
    named = st.Page(_to_first_page, title=TITLE, url_path="leaderboard", visibility="hidden")
    st.navigation([*pages.values(), named], position="top").run()
