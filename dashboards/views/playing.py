"""Matches that are being played while somebody looks on: a page that follows them."""

from __future__ import annotations

import time

import streamlit as st

from arena.games.protocol import Game
from arena.playing import Playing, now_playing
from dashboards import data

IDLE_SECONDS = 10.0
"""Between two looks while nothing is being played."""
SHARE = 0.1
"""Of a visitor's time that drawing the page again may take."""


def follow(game: Game, stamp: str, began: float) -> None:
    """Says what is being played, and draws the page again as matches are stored.

    Args:
      game: whose page it is.
      stamp: the store's fingerprint for which the page is drawn.
      began: when its drawing began, by the monotonic clock.
    """
    drawn = time.monotonic()
    pause = max(data.settings().live_seconds, (drawn - began) / SHARE)
    before = bool(now_playing(data.home().path, game.name))

    @st.fragment(run_every=pause if before else IDLE_SECONDS)
    def look() -> None:
        playing = now_playing(data.home().path, game.name)
        for one in playing:
            st.caption(f":material/sync: {told(one)}")
        rested = time.monotonic() - drawn >= 0.9 * pause  # clocks of browsers are not exact
        if rested and (bool(playing) != before or data.fingerprint(game) != stamp):
            st.rerun()

    look()


def told(one: Playing) -> str:
    """How far it is: "120 of 903 matches are played, 38 a second, 0:21 left"."""
    text = f"{one.done:,} of {one.wanted:,} matches are played"
    if one.left_seconds is None:
        return text
    minutes, seconds = divmod(round(one.left_seconds), 60)
    hours, minutes = divmod(minutes, 60)
    left = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
    return f"{text}, {number_of(one.rate)} a second, {left} left"


def number_of(rate: float) -> str:
    """A rate with as many digits as it needs."""
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
