"""The queue held to a policy's time, and interrupted at a moment: these tests run alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from arena.home import open_home
from dashboards.budgets import PlayingTime
from dashboards.server import ADDRESS, free_port
from dashboards.serving import server_of
from dashboards.settings import Settings, Submitting
from dashboards.tickets import Stage
from tests.dashboards.conftest import Browse
from tests.dashboards.queues import OPPONENTS, SLOW, entry, opened, source, until_over, wait
from tests.dashboards.test_dashboards_submit import TIMEOUT_SECONDS, hand_in, to_the_form


def test_who_is_slow_plays_as_many_deals_as_the_budget_allows(home: Path) -> None:
    queue = opened(home, matches=2)
    quick = until_over(queue, queue.submit(entry("ada/slow", line=SLOW)).ticket)
    queue.leave()
    deal = quick.match_seconds * 2 * OPPONENTS
    again = opened(home, PlayingTime(quick.spent + 1.6 * deal, 1_000.0), matches=50)
    eve = until_over(again, again.submit(entry("eve/slow", "hers", SLOW)).ticket)
    assert eve.stage is Stage.DONE
    assert 2 <= eve.reached < 50
    assert eve.spent <= again.budget.submission + deal
    again.leave()


def test_what_a_server_left_is_finished_by_the_next(home: Path) -> None:
    first = opened(home, matches=12)
    receipt = first.submit(entry("ada/slow", line="sum(range(3_000))"))
    later = first.submit(entry("ada/later"), receipt.token).ticket
    wait(lambda: first.ticket(receipt.ticket).reached >= 2)
    first.leave()
    second = opened(home, matches=12)
    for one in (receipt.ticket, later):
        ticket = until_over(second, one)
        assert (ticket.stage, ticket.played) == (Stage.DONE, 12 * OPPONENTS), ticket
        assert "the server was started again" in [e.text for e in second.log(ticket)]
        rows = open_home(home).store.matches("leduc", 1, of=ticket.digest)
        assert len(rows) == len({row.id for row in rows}) == 12 * OPPONENTS
    second.leave()


@pytest.mark.browser
def test_a_ticket_outlives_its_server(house: Path, browse: Browse, tmp_path: Path) -> None:
    home = Path(shutil.copytree(house, tmp_path / "home"))
    settings = Settings(home, submitting=Submitting.ANY_WALL, matches=20)
    port, log = free_port(), tmp_path / "log"
    with browse(f"http://{ADDRESS}:{port}") as browser:
        with server_of(settings, log, port) as server:
            to_the_form(browser)
            hand_in(browser, "ada/slow", source("slow", "sum(range(5_000))"))
            browser.wait_for("played 2 of 20 matches with each opponent", TIMEOUT_SECONDS)
            ticket = browser.address.removeprefix(f"http://{ADDRESS}:{port}")
            server.kill()
        with server_of(settings, log, port):
            browser.open(ticket)
            browser.wait_for("the server was started again", TIMEOUT_SECONDS)
            browser.wait_for("everything is played", TIMEOUT_SECONDS)
            browser.wait_for(f"{20 * OPPONENTS}")
            assert browser.exceptions() == []
    found = open_home(home)
    digest = found.registry.get("leduc", "ada/slow").digest
    rows = found.store.matches("leduc", 1, of=digest)
    assert len(rows) == len({row.id for row in rows}) == 20 * OPPONENTS
