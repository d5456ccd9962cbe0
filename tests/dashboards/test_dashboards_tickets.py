"""The file of tickets: what is kept, for whom, and what a foreign or damaged file leads to."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.rejection import Rejection, RejectionKind
from dashboards.tickets import CHECKS_KEPT, FILE, Entry, Stage, Tickets, TicketsUnusable
from dashboards.views.replay import deepest_fall

NOW = datetime(2030, 1, 1, tzinfo=UTC)
ENTRY = Entry("leduc", "class A: 'its source'", "ada/x", "an idea")


def test_a_ticket_is_found_again_by_its_id_alone(tmp_path: Path) -> None:
    ticket = Tickets(tmp_path).add(ENTRY, NOW)
    other = Tickets(tmp_path)
    assert other.get(ticket.id) == ticket
    assert other.entry(ticket) == ENTRY
    for wrong in ("", "0" * 32, ticket.id[:-1], ticket.id.upper() + "x", "' or 1=1 --", "é" * 32):
        assert other.get(wrong) is None
    assert other.of("ada") == [ticket]
    assert other.of("") == other.of("Ada") == []
    assert ticket.id not in repr(ticket)
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_what_changes_is_kept_and_logged(tmp_path: Path) -> None:
    tickets = Tickets(tmp_path)
    ticket = tickets.add(ENTRY, NOW)
    later = NOW + timedelta(seconds=5)
    rejection = Rejection(RejectionKind.TOO_SLOW, "<script> 'quoted'", 3)
    playing = tickets.change(ticket, later, "it plays", stage=Stage.PLAYING, spent=1.5, played=3)
    assert (playing.stage, playing.spent, playing.played) == (Stage.PLAYING, 1.5, 3)
    assert [one.number for one in tickets.unfinished()] == [ticket.number]
    over = tickets.change(playing, later, stage=Stage.REJECTED, rejection=rejection)
    assert over.rejection == rejection
    assert over.changed == later
    assert tickets.unfinished() == []
    assert tickets.entry(over).source == ""  # nobody needs it any more
    assert [(one.at, one.text) for one in tickets.log(over)] == [(later, "it plays")]
    with pytest.raises(ValueError, match="no value of a ticket"):
        tickets.change(over, later, id="0" * 32)


def test_checks_are_forgotten_after_a_day_and_submissions_never(tmp_path: Path) -> None:
    tickets = Tickets(tmp_path)
    over = {"stage": Stage.DONE}
    check = tickets.change(tickets.add(Entry("leduc", "x"), NOW), NOW, "checked", **over)
    kept = tickets.change(tickets.add(ENTRY, NOW), NOW, **over)
    tickets.forget_checks(NOW + CHECKS_KEPT)
    assert tickets.get(check.id) is not None
    tickets.forget_checks(NOW + CHECKS_KEPT + timedelta(seconds=1))
    assert tickets.get(check.id) is None
    assert tickets.get(kept.id) is not None
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("select count(*) from event").fetchone() == (0,)


def test_a_file_of_the_first_version_opens_and_its_authors_acted_themselves(tmp_path: Path) -> None:
    old = Tickets(tmp_path).add(ENTRY, NOW, "prof")
    assert old.who == "prof"
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("alter table ticket drop column who")
        connection.execute("pragma user_version = 1")
        connection.commit()
    for _ in range(2):
        kept = Tickets(tmp_path).get(old.id)
        assert kept is not None and kept.who == kept.author == "ada"
    assert Tickets(tmp_path).add(ENTRY, NOW, "prof").who == "prof"


def test_foreign_damaged_and_newer_files_are_told(tmp_path: Path) -> None:
    file = tmp_path / FILE
    file.write_bytes(b"no database at all" * 100)
    with pytest.raises(TicketsUnusable, match="move it away"):
        Tickets(tmp_path)
    file.unlink()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("pragma user_version = 99")
    with pytest.raises(TicketsUnusable, match="update policy-arena"):
        Tickets(tmp_path)
    file.unlink()
    tickets = Tickets(tmp_path)
    ticket = tickets.add(ENTRY, NOW)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("update ticket set stage = 'none of ours', created = 1e300")
        connection.commit()
    with pytest.raises(TicketsUnusable):
        tickets.get(ticket.id)


@given(st.lists(st.floats(-100, 100), max_size=40))
def test_the_deepest_fall_is_where_no_other_falls_deeper(scores: list[float]) -> None:
    points = [0.0, *scores]
    began = deepest_fall(scores)
    assert 1 <= began <= max(len(scores), 1)
    depth = points[began - 1] - min(points[began - 1 :])
    for start, score in enumerate(points):
        assert score - min(points[start:]) <= depth + 1e-9


def test_a_lead_that_is_lost_begins_to_fall_at_its_top() -> None:
    assert deepest_fall([1, 2, 3, 2, 1, 0]) == 4
    assert deepest_fall([-1, -2, -3]) == 1
    assert deepest_fall([5, 4, 6, 1]) == 4
    assert deepest_fall([]) == 1
