"""The tutorial is played from its first command to its last, and prints what the page shows."""

from __future__ import annotations

import pytest

from docs.transcript import CommandFailed, Session, sessions, surroundings
from tests.documentation.pages import DOCS

TUTORIAL = DOCS / "tutorial.md"


def test_the_tutorial_prints_what_it_shows(tmp_path):
    played = list(sessions(TUTORIAL.read_text(encoding="utf-8"), tmp_path, surroundings()))
    assert len(played) >= 8
    for one in played:
        assert one.same, f"shown:\n{one.shown}\nprinted now:\n{one.printed}\nsee docs/transcript.py"
    assert (tmp_path / "arena-home").is_dir()


def test_only_what_machines_differ_in_may_differ():
    shown = "played 12 matches in 3.4 s (3.5 a second)\n  12  process/bubblewrap\n"
    slower = "played 12 matches in 1,034.9 s (0.1 a second)\n  12  process\n"
    assert Session(shown, slower).same
    assert not Session(shown, slower.replace("played 12", "played 13")).same


def test_a_command_that_fails_is_noticed(tmp_path):
    page = "```console\n$ arena shwo ada/nobody\nada/nobody\n```\n"
    with pytest.raises(CommandFailed, match="No such command 'shwo'"):
        list(sessions(page, tmp_path, surroundings()))
