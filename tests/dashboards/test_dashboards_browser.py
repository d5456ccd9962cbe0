"""A walk through all pages in a real headless Chromium."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from arena.home import open_home
from dashboards.browser import LAPTOP, PHONE
from dashboards.serving import served
from dashboards.settings import Settings, Submitting
from tests.dashboards.conftest import Browse
from tests.dashboards.looking import addresses, darken, needs_browser, unharmed

pytestmark = pytest.mark.browser

CALLER = '''
class RepeatedLeducPokerBot:
    """Calls. <script>document.title='owned'</script> <img src=x onerror=alert(1)>"""

    def restart(self, player_id):
        pass

    def act(self, obs):
        return "CALL"

    def receive_outcome(self, obs):
        pass
'''
TITLES = {
    "/": "Leaderboard",
    "/payoffs": "Payoffs",
    "/exploitability": "Exploitability",
    "/policy": "Policy",
    "/replay": "Replay",
    "/runs": "CSRO runs",
    "/submit": "Submit",
    "/about": "About",
}
_WIDTH = """
    const parts = [document.documentElement, document.querySelector('[data-testid="stMain"]')];
    return Math.max(...parts.map((part) => part.scrollWidth));
"""
_FIRST = """return [...document.querySelectorAll(".stVerticalBlock > *")]
    .find((one) => one.offsetParent).innerText;"""


@pytest.fixture(scope="module")
def address(played_pages: str) -> str:
    """Of pages that are only looked at."""
    return played_pages


@pytest.fixture(scope="module")
def busy(played_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of pages where something happens, and their home."""
    needs_browser()
    folder = tmp_path_factory.mktemp("pages")
    log = folder / "log"
    home = Path(shutil.copytree(played_home, folder / "home"))
    settings = Settings(home, submitting=Submitting.ANY_WALL, matches=2, live_seconds=0.5)
    with served(settings, log) as url:
        yield url, home
    said = log.read_text()
    assert "Traceback" not in said, said


@pytest.mark.parametrize("game", ["rrps", "leduc"])
def test_every_page_draws(address: str, browse: Browse, game: str) -> None:
    with browse(address) as browser:
        for path, title in TITLES.items():
            browser.look(LAPTOP)
            browser.open(f"{path}?game={game}")
            browser.wait_for(title)
            unharmed(browser, f"{path} {game}")
            assert browser.run(_WIDTH) <= LAPTOP[0], f"{path} scrolls sideways"
            assert title in browser.run(_FIRST), f"{path} begins with a blank"
            if game == "leduc":
                darken(browser, PHONE)
                browser.wait_for(title)
                unharmed(browser, f"{path} {game}, dark on a phone")
                assert browser.run(_WIDTH) <= PHONE[0], f"{path} scrolls sideways on a phone"


def test_the_first_page_answers_to_its_name_too(address: str, browse: Browse) -> None:
    with browse(address) as browser:
        browser.open("/leaderboard?game=leduc")
        browser.wait_for("house/CFR+")
        assert browser.address.startswith(f"{address}/?")
        unharmed(browser, "/leaderboard")


def test_what_is_folded_away_is_drawn_when_it_is_opened(address: str, browse: Browse) -> None:
    with browse(address) as browser:
        browser.open("/about?game=leduc")
        browser.wait_for("NashConv")
        for part, text in (("Rules", "RepeatedLeducPokerBot"), ("This arena", "Versions")):
            assert text not in browser.text
            browser.click(part)
            browser.wait_for(text)
            unharmed(browser, part)
        browser.open("/submit?game=leduc")
        browser.wait_for("Rules and a policy to start from")  # once it knows which sandbox works
        browser.unfold("Rules and a policy to start from")
        browser.wait_for("RepeatedLeducPokerBot")
        browser.click("Starter")
        browser.wait_for("def receive_outcome")
        unharmed(browser, "help to submit")


def test_a_link_opens_the_same_replay(address: str, browse: Browse, played_home: Path) -> None:
    store = open_home(played_home).store
    match = store.matches("leduc", 1, limit=1)[0].id
    fault = store.matches("rrps", 1, faults_only=True, limit=1)[0].id
    with browse(address) as browser:
        browser.open(f"/replay?game=leduc&match={match}")
        browser.wait_for("Hands played")
        browser.wait_for(at=match)
        browser.click("Later")
        browser.wait_for("hand 2")
        assert len(browser.find('img[src^="data:image/svg"]')) >= 5
        browser.unfold("Link, sandbox and how to check it")
        browser.wait_for(f"match={match}")
        browser.wait_for("--verify")
        unharmed(browser, "replay of Leduc")
        # A link without the game, or with the wrong one, finds it.
        browser.open(f"/replay?match={fault}")
        browser.wait_for("forfeited")
        browser.wait_for("<script>document.title='owned'</script>")
        unharmed(browser, "replay of a forfeit")


def test_a_replay_plays_pauses_and_goes_on_to_the_next(
    address: str, browse: Browse, played_home: Path
) -> None:
    found = open_home(played_home).store.matches("leduc", 1, limit=1)[0]
    with browse(address) as browser:
        browser.open(f"/replay?game=leduc&match={found.id}")
        browser.wait_for("Link to hand 1")
        browser.click("Play")
        browser.wait_for("Link to hand 3")
        browser.click("Pause")
        browser.wait_for("Play")
        browser.settle()  # the button is drawn before the link
        (before,) = re.findall(r"Link to hand (\d+)", browser.text)
        browser.press("l")
        browser.wait_for(f"Link to hand {int(before) + 1}")
        browser.press("j")
        browser.wait_for(f"Link to hand {before}")
        unharmed(browser, "a replay that was paused")
        other = "Next match" if "Match 1 of 4" in browser.text else "Previous match"
        browser.click(other)
        browser.wait_for("Link to hand 1")
        assert f"match={found.id}" not in browser.address
        browser.open(f"/replay?game=leduc&match={found.id}&at=40")
        browser.wait_for("Link to hand 40")
        unharmed(browser, "a link to a hand")


def test_the_address_of_a_replay_follows_it_and_back_leaves_it(
    address: str, browse: Browse, played_home: Path
) -> None:
    found = open_home(played_home).store.matches("leduc", 1, limit=1)[0]
    with browse(address) as browser:
        browser.open("/about?game=leduc")
        browser.open(f"/replay?game=leduc&match={found.id}&at=40")
        for hand in (41, 42, 43):
            browser.press("l")
            browser.wait_for(f"Link to hand {hand}")
            browser.wait_for(at=f"at={hand}")
        sent = browser.address.removeprefix(address)
        browser.press("j")
        browser.wait_for("Link to hand 42")
        unharmed(browser, "a replay that was moved through")
        browser.run("history.back()")
        browser.wait_for("Measures")
        browser.wait_for(at="/about")
        assert browser.exceptions() == []  # the console has the connection that was left
    with browse(address) as other:  # somebody who was sent the address
        other.open(sent)
        other.wait_for("Link to hand 43")


def test_whatever_led_to_a_page_is_one_step_that_back_undoes(address: str, browse: Browse) -> None:
    with browse(address) as browser:
        browser.open("/?game=kuhn&by=pop_return")
        board, steps = browser.address, browser.run("return history.length")
        box = "return document.querySelector('[data-testid=stDataFrame]').clientHeight"
        browser.point("[data-testid=stDataFrame]", 0.015, 1.5 * 35 / browser.run(box), click=True)
        browser.wait_for("Head to head with")
        first = browser.address
        assert "/policy?" in first and browser.run("return history.length") == steps + 1
        browser.run("history.back()")
        browser.wait_for("Tick a row to open its policy")
        assert browser.address == board and "by=" in board
        browser.run("history.forward()")
        browser.wait_for("Head to head with")
        assert browser.address == first
        browser.run("history.back()")
        browser.wait_for("Tick a row to open its policy")
        browser.run("document.querySelector('a[href$=\"/about\"]').click()")  # in the menu
        browser.wait_for("Measures")
        assert browser.run("return history.length") == steps + 1
        browser.run("history.back()")
        browser.wait_for("Tick a row to open its policy")
        assert browser.address == board
        unharmed(browser, "the board after three steps back")


def test_back_leads_to_the_opponent_before(address: str, browse: Browse) -> None:
    with browse(address) as browser:
        browser.open("/policy?game=leduc&policy=starter%2Fleduc%401")
        names = [one for one in browser.text.split() if one.startswith("house/")]
        worst, *_, best = dict.fromkeys(name.removesuffix("@1") for name in names)
        browser.wait_for(f"Head to head with {worst}@1")
        box = "return document.querySelector('[data-testid=stDataFrame]').clientHeight"
        browser.point("[data-testid=stDataFrame]", 0.015, 3.5 * 35 / browser.run(box), click=True)
        browser.wait_for(f"Head to head with {best}@1")
        sent = browser.address.removeprefix(address)
        assert "against=" in sent
        browser.run("history.back()")
        browser.wait_for(f"Head to head with {worst}@1")
        assert "against=" not in browser.address
        browser.run("history.forward()")
        browser.wait_for(f"Head to head with {best}@1")
        unharmed(browser, "a policy, after a step back and one forward")
    with browse(address) as other:  # somebody who was sent the address
        other.open(sent)
        other.wait_for(f"Head to head with {best}@1")


def test_the_board_follows_matches_as_they_are_played(
    busy: tuple[str, Path], browse: Browse
) -> None:
    url, home = busy
    command = [sys.executable, "-m", "arena", "play", "--game", "kuhn", "--matches", "4000"]
    command += ["--home", str(home), "--workers", "1", "--vouched", "--sandbox", "process"]
    with browse(url) as browser:
        browser.open("/?game=kuhn")
        before = re.search(r"· [\d,]+ matches", browser.text)  # the dot: 4,840 holds 40 as well
        assert before and "are played" not in browser.text
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as one:
            try:
                browser.wait_for("are played")
                browser.wait_for(" left")
                deadline = time.monotonic() + 30
                while before[0] in browser.text and time.monotonic() < deadline:
                    time.sleep(0.2)
                assert before[0] not in browser.text
                assert re.search(r"of [\d,]+ matches are played, [\d.,]+ a second", browser.text)
            finally:
                one.kill()
        deadline = time.monotonic() + 30
        while "are played" in browser.text and time.monotonic() < deadline:
            time.sleep(0.2)
        assert "are played" not in browser.text
        unharmed(browser, "a board that followed matches")


def test_a_cell_tells_its_numbers_and_chooses_the_pair(address: str, browse: Browse) -> None:
    with browse(address) as browser:
        browser.open("/payoffs?game=leduc")
        browser.click("Name")
        names = browser.run(
            "return [...document.querySelectorAll('.pointed span')].map(one => one.innerText)"
        )
        names = [name for name in names if "/" in name]
        n, row, column = len(names), len(names) - 1, 1
        at = ((column + 0.5) / n, (row + 0.5) / n)
        browser.point(".pointed-surface", *at)
        browser.wait_for(f"{names[row]} against {names[column]}")
        assert re.search(r"95 % \[-?[0-9.]+, -?[0-9.]+\], 4 matches", browser.text)
        browser.point(".pointed-surface", *at, click=True)
        for label, name in (("Policy", names[row]), ("Against", names[column])):
            browser.wait_for(element=f'input[aria-label="{label}"][value^="{name}@"]')
        there = browser.address
        assert "by=Name" in there
        browser.open("/about")
        browser.open(there.removeprefix(address))
        for label, name in (("Policy", names[row]), ("Against", names[column])):
            browser.wait_for(element=f'input[aria-label="{label}"][value^="{name}@"]')
        unharmed(browser, "payoffs, a cell clicked")


def test_the_csv_of_all_payoffs_comes_when_it_is_asked_for(address: str, browse: Browse) -> None:
    with browse(address) as browser:
        browser.open("/payoffs?game=leduc")
        browser.run("HTMLAnchorElement.prototype.click = function () { window.asked = this.href }")
        browser.click("CSV")
        browser.settle()
        fetched = (
            "const read = new XMLHttpRequest(); read.open('GET', window.asked, false);"
            "read.send(); return read.responseText"
        )
        head, *rows = browser.run(fetched).splitlines()
        assert {'"policy"', '"stderr"', '"count"', '"forfeits"'} <= set(head.split(","))
        assert len(rows) == 4 * 5 / 2  # every pair, and everybody with itself
        unharmed(browser, "payoffs, CSV")


def test_the_score_is_pointed_at_and_clicked(
    address: str, browse: Browse, played_home: Path
) -> None:
    match = open_home(played_home).store.matches("leduc", 1, limit=1)[0].id
    with browse(address) as browser:
        browser.open(f"/replay?game=leduc&match={match}")
        browser.wait_for("Hands played")
        browser.point(".pointed-surface", 40.5 / 101, 0.5)
        browser.wait_for("Hand 40:")
        browser.point(".pointed-surface", 40.5 / 101, 0.5, click=True)
        browser.wait_for("hand 40")
        unharmed(browser, "replay, the score clicked")


def test_hostile_texts_are_only_text(address: str, browse: Browse) -> None:
    with browse(address) as browser:
        browser.open(f"/policy?game=rrps&policy={quote('eve/hostile@1')}")
        browser.wait_for("<script>document.title='owned'</script>")
        for part in ("Source", "Faults", "Lineage", "Matches", "Results"):
            browser.click(part)
            unharmed(browser, part)
        assert not browser.find('img[src="x"], img[src*="127.0.0.1/i.png"]')
        assert not browser.find('a[href^="javascript"]')


def test_a_policy_is_submitted_and_finds_its_place(busy: tuple[str, Path], browse: Browse) -> None:
    address, _ = busy
    with browse(address) as browser:
        browser.open("/submit?game=leduc")
        browser.wait_for("Sandbox:")
        browser.settle()
        browser.write("Name", "ada/calls")
        browser.write("Source", CALLER.replace("CALL", "NOTHING"))
        browser.click("Only check")
        browser.wait_for("Rejected: illegal-action")
        browser.click("Hand in another")
        browser.wait_for("Only check")
        browser.write("Name", "ada/calls")
        browser.write("Source", CALLER)
        browser.click("Submit")
        browser.wait_for("Registered as ada/calls@1")
        browser.wait_for("Worst opponents")
        assert re.search(r"\d+ of 5", browser.text)
        unharmed(browser, "submit")
        (link,) = set(addresses(browser, "a[href*='/policy?'][href*='calls']"))
        browser.open(link.removeprefix(address))
        browser.wait_for("by ada")
        assert "ada%2Fcalls" in browser.address or "ada/calls" in browser.address
        unharmed(browser, "the new policy")
        browser.open("/?game=leduc")
        browser.wait_for("5 policies")
        unharmed(browser, "leaderboard with the new policy")


def test_an_unknown_game_is_said(address: str, browse: Browse) -> None:
    with browse(address) as browser:
        browser.open("/?game=chess")
        browser.wait_for("There is no game chess here")
        assert "chess" not in browser.address
        unharmed(browser, "a page of an unknown game")


_HEADS = """
    const heads = [...document.querySelectorAll('.pointed [style*="rotate(50deg)"]')];
    return heads.filter(one => one.clientHeight).map(one => {
        const box = one.getBoundingClientRect();
        return [one.innerText, box.left, box.right];
    });
"""


_CUT = """
    const choices = [...document.querySelectorAll('[data-testid="stButtonGroup"] [role=radio]')];
    return choices.filter(one => {
        const box = one.parentElement.getBoundingClientRect();
        return one.getBoundingClientRect().right > box.right + 1;
    }).map(one => one.innerText);
"""


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_names_of_columns_and_choices_stay_on_the_page(
    address: str, browse: Browse, width: int
) -> None:
    with browse(address, (width, 900)) as browser:
        browser.open("/payoffs?game=leduc")
        heads = browser.run(_HEADS)
        assert "house/CFR+" in [name for name, _, _ in heads]
        assert [head for head in heads if head[1] < 0 or head[2] > width] == []
        assert browser.run(_CUT) == []
        assert browser.run("return document.documentElement.scrollWidth") <= width
