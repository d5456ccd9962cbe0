"""What tests of pages share: a hostile text, and what a page must never do."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from arena.home import Home
from dashboards import theme
from dashboards.browser import Browser, missing_browser
from registry.values import PolicyVersion

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)> [x](javascript:y)"
HOSTILE_REF = "eve/hostile@1"


def said(app: AppTest) -> str:
    """All texts of a page, without the backslashes before what could be markup."""
    kinds = ("title", "markdown", "caption", "info", "error", "warning", "text", "success", "code")
    texts = "\n".join(str(one.value) for kind in kinds for one in app.get(kind))
    return re.sub(r"\\([^\w\s])", r"\1", texts)


def tiles_of(app: AppTest) -> dict[str, str]:
    """The numbers in large type, by what they are."""
    return {metric.label: metric.value for metric in app.metric}


def hostile_in(home: Home) -> PolicyVersion:
    """The entrant whose name and faults are hostile text."""
    return home.registry.get("rrps", HOSTILE_REF)


def names_in(cells: Iterable[str], about: str = "policy") -> list[str]:
    """The names that a column of links shows: each cell's address has it as a parameter."""
    found = []
    for cell in cells:
        (name,) = parse_qs(urlsplit(cell).query)[about]
        found.append(name)
    return found


def needs_browser() -> None:
    """Skips a test where there is no browser; fails it where there has to be one."""
    missing = missing_browser()
    if missing and os.environ.get("ARENA_REQUIRE_BROWSER") == "1":
        pytest.fail(f"a browser is required, but {missing}")
    if missing:
        pytest.skip(missing)


def unharmed(browser: Browser, place: str) -> None:
    """No exception on the page, no error on the console, and nobody's script has run."""
    assert browser.exceptions() == [], place
    errors = browser.console_errors()
    assert errors == [], f"{place}: {errors}"
    assert browser.run("return document.title") != "owned", place


def addresses(browser: Browser, selector: str, timeout: float = 20.0) -> list[str]:
    """Where the links of that kind lead, as soon as there are any.

    A page that draws itself anew has none for a moment, so all are read in one go.
    """
    script = f"return [...document.querySelectorAll({json.dumps(selector)})].map(link => link.href)"
    deadline = time.monotonic() + timeout
    while not (found := browser.run(script)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return [str(one) for one in found]


_DRAWN = "requestAnimationFrame(() => requestAnimationFrame(() => answer(true)))"
_HAS_STYLE = (
    "return [...document.querySelectorAll('style')].some((one) => one.textContent.includes({}))"
)


def turn(browser: Browser, size: tuple[int, int]) -> None:
    """Another size of the window in which a page is open: it comes to look as if loaded so."""
    browser.look(size)
    browser.run_until_answered(_DRAWN)
    browser.settle()


def darken(browser: Browser, size: tuple[int, int], timeout: float = 20.0) -> None:
    """The same with the dark theme, for which the page has itself drawn anew."""
    browser.look(size, dark=True)
    browser.run_until_answered(_DRAWN)
    script = _HAS_STYLE.format(json.dumps(theme._DARK_STYLE.strip()))
    deadline = time.monotonic() + timeout
    while not browser.run(script):
        assert time.monotonic() < deadline, "the page stays light"
        time.sleep(0.05)
    browser.settle()
