"""CSRO runs in a real headless Chromium: followed while they go on, compared, and asked about."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import Image

from arena.analysis.estimates import Estimate
from arena.home import open_home
from dashboards.browser import LAPTOP, PHONE
from dashboards.serving import served
from dashboards.settings import Settings, Submitting
from dashboards.views.run import PARTS
from population.attempt_tree import tree_of
from population.exploit import Exploit
from population.exploits import keep_exploit
from population.runs import Runs
from population.situations import Situations
from tests.dashboards.conftest import Browse
from tests.dashboards.looking import needs_browser, unharmed

pytestmark = pytest.mark.browser

LIVE_SECONDS = 0.4
MARK = "window.sameVisit"


@pytest.fixture(scope="module")
def home(runs_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    needs_browser()
    return Path(shutil.copytree(runs_home, tmp_path_factory.mktemp("pages") / "home"))


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    log = home.parent / "log"
    settings = Settings(home, submitting=Submitting.OFF, live_seconds=LIVE_SECONDS)
    with served(settings, log) as url:
        yield url
    said = log.read_text()
    assert "Traceback" not in said, said


@contextmanager
def working(home: Path) -> Iterator[subprocess.Popen[str]]:
    """A program that works on the run "live"; it is killed at the end, if it still runs."""
    command = [sys.executable, "-m", "tests.dashboards.paced_run", str(home), "live", "4", "3"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True) as program:
        try:
            yield program
        finally:
            program.kill()


def go(program: subprocess.Popen[str]) -> None:
    """Lets the run take its next step."""
    assert program.stdin is not None
    program.stdin.write("\n")
    program.stdin.flush()


def until_stored(home: Path, iterations: int) -> None:
    deadline = time.monotonic() + 60
    while not any(one.name == "live" for one in Runs(home).all()) or (
        len(Runs(home).iterations("live")) < iterations
    ):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_page_follows_a_run_that_is_killed_and_resumed(
    address: str, browse: Browse, home: Path
) -> None:
    with browse(address) as browser:
        with working(home) as program:
            go(program)
            until_stored(home, 1)
            browser.open("/runs?game=rrps&run=live")
            browser.wait_for("1 of 3")
            browser.wait_for("Being worked on")
            browser.run(f"{MARK} = true")
            go(program)
            browser.wait_for("2 of 3")
            unharmed(browser, "a new iteration")
        browser.wait_for("Nobody works on it")
        browser.wait_for("csro resume live")
        unharmed(browser, "a killed run")
        with working(home) as program:
            browser.wait_for("Being worked on")
            go(program)
            browser.wait_for("3 of 3")
            go(program)
            browser.wait_for("csro/live@1")
            assert "finished" in browser.text
            assert program.wait(30) == 0
        assert browser.run(f"return {MARK}"), "the page was loaded again"
        unharmed(browser, "a finished run")


def test_what_a_model_wrote_stays_text(address: str, browse: Browse) -> None:
    with browse(address) as browser:
        browser.open("/runs?game=rrps&run=asked")
        browser.click("Model calls")
        browser.wait_for("<script>document.title='owned'</script>")
        browser.wait_for("[x](javascript:y)")
        browser.wait_for("Every call")
        browser.click("Every call")
        assert "0.0" in browser.text and "USD" in browser.text
        assert not browser.find('img[src="x"]')
        assert not browser.find('a[href^="javascript"]')
        unharmed(browser, "model calls")


@pytest.mark.parametrize(("size", "dark"), [(LAPTOP, False), (PHONE, True)])
def test_runs_are_compared(address: str, browse: Browse, size: tuple[int, int], dark: bool) -> None:
    with browse(address, size, dark=dark) as browser:
        browser.open("/runs?game=rrps")
        browser.wait_for("By variant")
        unharmed(browser, "each run")
        browser.click("Mean over seeds")
        browser.wait_for("95 % intervals of the mean over seeds")
        unharmed(browser, "means over seeds")
        assert browser.run("return document.documentElement.scrollWidth") <= size[0]


def test_every_part_of_a_run_draws_on_a_phone(address: str, browse: Browse) -> None:
    with browse(address, PHONE, dark=True) as browser:
        browser.open("/runs?game=rrps&run=s1")
        for part in PARTS:
            browser.click(part)
            unharmed(browser, part)
            assert browser.run("return document.documentElement.scrollWidth") <= PHONE[0], part


def test_an_attempt_shows_its_reason_its_program_and_its_call(
    address: str, browse: Browse, home: Path
) -> None:
    tree = tree_of(Runs(home).iterations("s1"))
    (row, column), tried = max(tree.cells.items(), key=lambda item: item[1].name)
    with browse(address) as browser:
        browser.open("/runs?game=rrps&run=s1&part=Refinement")
        browser.wait_for("kept when it was tried")
        at = (column + 0.5) / tree.columns, (row + 0.5) / tree.rows
        browser.point('[aria-label^="Tree of"]', *at, click=True)
        browser.wait_for(at=f"attempt={tried.name.replace(' ', '+')}")
        unharmed(browser, "an attempt")
        browser.open("/runs?game=rrps&run=asked&part=Refinement")
        browser.click("Model call")
        browser.wait_for("<script>document.title='owned'</script>")
        unharmed(browser, "a model's attempt")


def saved(folder: Path, ending: str) -> Path:
    """The file of that ending, as soon as all of it is there."""
    deadline = time.monotonic() + 20
    while not (found := list(folder.glob(f"*.{ending}"))) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found[0]


def test_a_picture_is_saved_and_drawn_wider(address: str, browse: Browse, tmp_path: Path) -> None:
    with browse(address, dark=True) as browser:
        browser.save_into(tmp_path)
        browser.open("/runs?game=rrps&run=s1&part=Refinement")
        browser.wait_for("kept when it was tried")
        width = "return document.querySelector('.pointed-drawing').getBoundingClientRect().width"
        before = browser.run(width)
        tools = "document.querySelector('.pointed-tools').querySelector('[aria-label={}]').click()"
        browser.run(tools.format('"Save as PNG"'))
        browser.run(tools.format('"Save as SVG, for browsers"'))
        picture = Image.open(saved(tmp_path, "png")).convert("RGB")
        assert picture.width == pytest.approx(3 * (before + 32), abs=2)
        # The dark ground, lines and marks are in it.
        assert picture.getpixel((1, 1)) == (16, 21, 28)
        assert len(picture.getcolors(picture.width * picture.height) or []) > 20
        drawn = saved(tmp_path, "svg").read_text()
        assert drawn.startswith("<svg") and "square-root scale" in drawn and "<script" not in drawn
        for times in (2, 4):
            browser.run(tools.format('"Wider"'))
            assert browser.run(width) == pytest.approx(times * before)
        assert browser.run("return document.documentElement.scrollWidth") <= LAPTOP[0]
        for _ in range(3):
            browser.run(tools.format('"Narrower"'))
        assert browser.run(width) == pytest.approx(before)
        unharmed(browser, "a picture")


def test_calls_of_all_runs_are_searched(address: str, browse: Browse) -> None:
    with browse(address) as browser:
        for words, told in (
            ("nowhere-found", "No call of these runs"),
            ("document.title", "1 call"),
        ):
            browser.open(f"/runs?game=rrps&calls={words}")
            browser.wait_for("By variant")
            browser.unfold("Model calls of all runs")
            browser.wait_for(told)
        browser.wait_for("<script>document.title='owned'</script>")
        unharmed(browser, "found calls")


def test_an_exploit_stands_on_the_policy_that_it_beats(
    address: str, browse: Browse, home: Path
) -> None:
    registry = open_home(home).registry
    target = registry.get("rrps", "house/rockbot")
    program = next(one for one in registry.find("rrps", kind="python") if "s1" in one.ref)
    gain = Estimate(812.5, 3.0, 806.0, 819.0)
    where = Situations((200.0, 204.5, 204.0, 204.0), 1.0, 811.5, 0.0, 0.0, 6)
    keep_exploit(Runs(home), Exploit(target, program, gain, 40, where, 7, None), "zero-shot")
    with browse(address, PHONE, dark=True) as browser:
        browser.open("/policy?game=rrps&policy=house/rockbot&part=Exploit")
        browser.wait_for("so it can be exploited by 806.0 at least")
        assert program.ref in browser.text and "812.5" in browser.text
        unharmed(browser, "an exploit")
        assert browser.run("return document.documentElement.scrollWidth") <= PHONE[0]
        browser.open("/policy?game=rrps&policy=house/greenberg&part=Exploit")
        browser.wait_for("csro exploit house/greenberg@1 --game rrps")
