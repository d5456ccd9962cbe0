"""Every page before an accessibility checker, axe-core, in a real browser and in both themes.

What it finds by itself is a part of what matters: contrast, headings in order, names of what can be
used, keys for what scrolls.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from urllib.parse import quote

import pytest

from arena.figures import colours
from arena.home import open_home
from arena.rejection import Rejection, RejectionKind
from dashboards.browser import LAPTOP, PHONE, Browser
from dashboards.serving import served
from dashboards.settings import Settings, Submitting
from dashboards.tickets import Entry, Stage, Tickets
from dashboards.views import policy, run
from tests.dashboards.conftest import Browse
from tests.dashboards.looking import darken, needs_browser, turn, unharmed

pytestmark = pytest.mark.browser

WIDE = (1440, 900)
FOUND_BY_AXE = """
const left = Object.fromEntries(["duplicate-id", "duplicate-id-active"].map(
  (rule) => [rule, {enabled: false}]));
axe.run(document, {resultTypes: ["violations"], rules: left}).then((found) => answer(
  found.violations.filter((one) => one.impact !== "minor").flatMap((one) => one.nodes.map(
    (node) => `${one.impact} ${one.id}: ${node.html.slice(0, 160)} ${node.failureSummary}`))));
"""
"""Minor findings are of Streamlit's own elements, as are ids that stand twice where a page has two
tables: WCAG 2.2 asks no more for that, and axe-core of now does not look."""


TICKETS = ("Waiting", "Rank", "6 of 24 matches", "too long", "no space", "passes", "no such ticket")
"""What the pages of `add_tickets` say, one after the other."""


def checker() -> str:
    """The source of axe-core, of the package that carries it."""
    return (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")


def findings(
    browser: Browser, pages: Sequence[str], texts: Sequence[str] = (), *, phone: bool = True
) -> list[str]:
    """What axe-core finds on some pages, which say those texts, wide and on a phone and dark."""
    axe = checker()
    found = []
    for page, text in zip_longest(pages, texts, fillvalue=""):

        def look(how: str, page: str = page, text: str = text) -> None:
            browser.wait_for(text)
            said = browser.run_until_answered(FOUND_BY_AXE)
            found.extend(f"{page} {how}: {one}" for one in said)

        browser.look(WIDE)
        browser.open(page)
        browser.run(axe)
        look("wide")
        if phone:
            turn(browser, PHONE)
            look("on a phone")
        darken(browser, WIDE)
        look("dark")
    return found


@pytest.fixture(scope="module")
def of_runs(runs_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    needs_browser()
    settings = Settings(runs_home, submitting=Submitting.OFF)
    with served(settings, tmp_path_factory.mktemp("pages") / "log") as url:
        yield url


def test_pages_about_matches(played_pages: str, browse: Browse, played_home: Path) -> None:
    match = open_home(played_home).store.matches("kuhn", 1, limit=1)[0].id
    pages = [
        "/?game=rrps",
        "/payoffs?game=leduc",
        "/exploitability?game=kuhn",
        f"/replay?game=kuhn&match={match}",
        *(f"/policy?game=rrps&policy=eve/hostile&part={part}" for part in policy.PARTS),
        "/policy?game=leduc&policy=house/CFR%2B",
        "/submit?game=rrps",
        "/about?game=rrps",
    ]
    with browse(played_pages) as browser:
        assert findings(browser, pages) == []


def add_tickets(home: Path) -> list[str]:
    """A ticket in each of its stages; the addresses of their pages."""
    tickets, now = Tickets(home), datetime.now(UTC)
    digest = open_home(home).registry.get("leduc", "starter/leduc").digest
    source = "class A: 'nothing that could be played'"
    rejected = Rejection(RejectionKind.TOO_SLOW, "line 3: <b>it</b> took too long", 3)
    known = {"digest": digest, "wall": "process", "opponents": 3, "matches": 8}
    stages: dict[str, dict[str, object]] = {
        "ada/waiting": {},
        "ada/played": {"stage": Stage.DONE, "played": 24, "reached": 8, **known},
        "ada/playing": {"stage": Stage.PLAYING, "played": 6, "reached": 2, **known},
        "ada/rejected": {"stage": Stage.REJECTED, "rejection": rejected},
        "ada/failed": {"stage": Stage.FAILED, "problem": "no space left on device"},
        "": {"stage": Stage.DONE, "wall": "process"},
    }
    found = []
    for name, values in stages.items():
        ticket = tickets.add(Entry("leduc", source, name, "an idea"), now)
        tickets.change(ticket, now, f"{name or 'a check'} came to this", **values)
        found.append(f"/submit?game=leduc&ticket={ticket.id}")
    return [*found, f"/submit?game=leduc&ticket={'0' * 32}"]


@pytest.fixture(scope="module")
def of_tickets(
    played_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, list[str]]]:
    """A server, and the addresses of tickets on it."""
    folder = tmp_path_factory.mktemp("tickets")
    home = Path(shutil.copytree(played_home, folder / "home"))
    pages = add_tickets(home)
    # Nobody works on them while they are looked at.
    with served(Settings(home, submitting=Submitting.OFF), folder / "log") as url:
        yield url, pages


def test_tickets(of_tickets: tuple[str, list[str]], browse: Browse) -> None:
    address, pages = of_tickets
    with browse(address) as browser:
        assert findings(browser, pages, TICKETS) == []


def test_pages_about_runs(of_runs: str, browse: Browse) -> None:
    pages = [
        "/runs?game=rrps",
        "/runs?game=leduc",
        *(f"/runs?game=rrps&run=s1&part={quote(part)}" for part in run.PARTS),
        "/runs?game=rrps&run=asked&part=Model%20calls",
        "/policy?game=rrps&policy=csro/s1",
    ]
    with browse(of_runs) as browser:
        assert findings(browser, pages, phone=False) == []


def test_charts_of_an_open_page_turn_dark_with_the_system(
    played_pages: str, browse: Browse
) -> None:
    middles = [dict(colours.diverging(dark))[0.5] for dark in (False, True)]
    with browse(played_pages) as browser:
        browser.open("/payoffs?game=kuhn")
        for dark in (True, False):
            assert middles[dark] not in browser.source and middles[not dark] in browser.source
            browser.look(LAPTOP, dark=dark)
            deadline = time.monotonic() + 20
            while middles[dark] not in browser.source:
                assert time.monotonic() < deadline, "the chart keeps its colours"
                time.sleep(0.1)
            browser.settle()
        unharmed(browser, "payoffs that turned dark and light")
