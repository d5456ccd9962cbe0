"""Commands that pages tell people to type, and those that csro prints."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboards import commands, data
from dashboards.settings import Settings
from tests.dashboards.test_dashboards_pages import said

Page = Callable[..., AppTest]


def test_a_page_names_the_home_and_quotes_it(page: Page, tmp_path: Path) -> None:
    home = tmp_path / "some where"
    app = page(home, "leaderboard", "kuhn")
    command = f"arena play --game kuhn --home {shlex.quote(str(home))}"
    assert f"`{command}`" in said(app)


def test_the_usual_home_is_not_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(data, "settings", lambda: Settings(tmp_path / "arena-home"))
    assert commands.typed("arena list") == "arena list"


def test_the_runs_of_a_server_are_not_looked_for_among_a_visitors_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(data, "settings", lambda: Settings(tmp_path, hosted=True))
    monkeypatch.setattr(commands, "server", lambda: "https://arena.example")
    assert commands.typed("csro run --game rrps").endswith("--home https://arena.example")
    for words in ("csro resume one", "csro report one --evaluate 100"):
        assert commands.typed(words) == f"{words} {commands.ELSEWHERE}"


@pytest.mark.parametrize(
    ("address", "here"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_visitors_from_elsewhere_are_told_no_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str, here: bool
) -> None:
    monkeypatch.setattr(data, "settings", lambda: Settings(tmp_path))
    monkeypatch.setattr(st, "get_option", {"server.address": address}.__getitem__)
    told = commands.typed("arena list")
    assert (str(tmp_path) in told) == here
    assert "--home" in told
