"""Handing in a policy in a real browser: the ticket, the token, and a server that is killed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboards.browser import PHONE, Browser
from dashboards.serving import served
from dashboards.settings import Settings, Submitting
from tests.dashboards.conftest import Browse
from tests.dashboards.looking import HOSTILE, addresses, needs_browser, unharmed
from tests.dashboards.queues import source, wait

pytestmark = pytest.mark.browser

TOKEN = re.compile(r"\b[0-9a-f]{48}\b")
TIMEOUT_SECONDS = 180.0


@pytest.fixture(scope="module")
def address(house: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    needs_browser()
    folder = tmp_path_factory.mktemp("submit")
    home = Path(shutil.copytree(house, folder / "home"))
    settings = Settings(home, submitting=Submitting.ANY_WALL, matches=2)
    with served(settings, folder / "log") as url:
        yield url
    said = (folder / "log").read_text()
    assert "Traceback" not in said, said


def to_the_form(browser: Browser) -> None:
    browser.open("/submit?game=leduc")
    browser.wait_for("Only check", TIMEOUT_SECONDS)
    browser.settle()


def hand_in(browser: Browser, name: str, text: str, token: str = "") -> None:
    browser.write("Name", name)
    browser.write("Token of the author", token)
    browser.write("Source", text)
    browser.click("Submit")


def test_a_name_is_claimed_and_the_token_shown_once(address: str, browse: Browse) -> None:
    with browse(address) as browser:
        to_the_form(browser)
        hand_in(browser, "ada/one", source("one"))
        browser.wait_for("Keep this token")
        wait(lambda: TOKEN.search(browser.text) is not None)  # it is drawn after its warning
        (token,) = TOKEN.findall(browser.text)
        browser.wait_for(at="ticket=")
        ticket = browser.address.removeprefix(address)
        browser.wait_for("everything is played", TIMEOUT_SECONDS)
        browser.wait_for("Worst opponents")
        for said in ("Registered as ada/one@1", "a hand: 3 opponents x 2 matches", "of 30 minutes"):
            assert said in browser.text
        unharmed(browser, "a ticket")

        browser.open(ticket)  # a reload is a new visit
        browser.wait_for("Registered as ada/one@1")
        assert not TOKEN.search(browser.text)
        assert "Keep this token" not in browser.text

        to_the_form(browser)
        hand_in(browser, "ada/two", source("two"))
        browser.wait_for("show the token that was made for it")
        hand_in(browser, "ada/two", source("two"), "0" * 48)
        browser.wait_for("this is not the token of ada")
        hand_in(browser, "ada/two", source("two"), token)
        browser.wait_for("Registered as ada/two@1", TIMEOUT_SECONDS)
        assert not TOKEN.search(browser.text)

        browser.wait_for("everything is played", TIMEOUT_SECONDS)
        # Until then what is clicked may be drawn anew meanwhile.
        browser.wait_for("Worst opponents")
        browser.click("Hand in another")
        browser.wait_for("My submissions")
        browser.unfold("My submissions")
        browser.wait_for("Show them")
        browser.settle()
        browser.write("Author", "ada")
        browser.write("Token", token)
        browser.click("Show them")
        browser.wait_for("ada/one")
        links = addresses(browser, "a[href*='ticket=']")
        assert len(links) == 2
        assert f"{address}{ticket}" in links
        browser.unfold("My submissions")
        wait(lambda: "ada/one" not in browser.text)
        browser.unfold("My submissions")  # what was asked for is still there
        browser.wait_for("ada/one")
        unharmed(browser, "my submissions")


def test_a_lost_match_is_one_click_away(address: str, browse: Browse) -> None:
    with browse(address) as browser:
        to_the_form(browser)
        hand_in(browser, "grace/raises", source("raises", "return 'RAISE'"))
        browser.wait_for("illegal-action", TIMEOUT_SECONDS)
        browser.click("Hand in another")
        browser.wait_for("Only check")
        assert browser.run(
            "return document.querySelector('textarea[aria-label=Source]').value"
        ) == source("raises", "return 'RAISE'")
        token = browser.run("return document.querySelector('input[type=password]').value")
        hand_in(browser, "grace/calls", source("grace"), token)
        browser.wait_for("Worst opponents", TIMEOUT_SECONDS)
        browser.wait_for("everything is played", TIMEOUT_SECONDS)
        links = addresses(browser, "a[href*='/replay?']")
        assert links
        at = re.search(r"at=(\d+)", links[0])
        assert at
        browser.open(links[0].removeprefix(address))
        browser.wait_for("Hands played")
        browser.wait_for(f"hand {at[1]}")
        unharmed(browser, "a lost match")


def test_what_is_refused_is_said_and_runs_nowhere(address: str, browse: Browse) -> None:
    with browse(address, PHONE) as browser:
        to_the_form(browser)
        for name, said in (
            ("", "needs a name"),
            ("house/better", "own"),
            ("x" * 190 + "/y", "at most"),
            (HOSTILE, "is not a policy's name"),
        ):
            hand_in(browser, name, source("refused"))
            browser.wait_for(said)
            unharmed(browser, name)
        hand_in(browser, "eve/x", source("eve") + "x" * 65_536)
        browser.wait_for("65,536")
        hand_in(browser, "eve/x", source("eve", "pass  # \u202e"))
        browser.wait_for("U+202E")
        hand_in(browser, "eve/x", source("eve", f"raise ValueError({HOSTILE!r})"))
        browser.wait_for("Rejected: crashed", TIMEOUT_SECONDS)
        unharmed(browser, "a rejection")
        for ticket in ("0" * 32, "x", "%00", "../../etc/passwd"):
            browser.open(f"/submit?game=leduc&ticket={ticket}")
            browser.wait_for("There is no such ticket")
            unharmed(browser, ticket)
