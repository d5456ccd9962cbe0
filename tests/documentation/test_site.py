"""The site: built without a warning, complete, without dead ends, and all from its own files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest

import arena
import oracle
import population
from arena.cli import main as arena_command
from dashboards.__main__ import main as dashboard_command
from dashboards.browser import Browser
from docs.conf import lead_to_pages
from population.cli import main as csro_command
from tests.dashboards.looking import needs_browser
from tests.documentation.pages import DOCS, PAGES, ROOT

LOADING = {
    ("audio", "src"),
    ("embed", "src"),
    ("form", "action"),
    ("iframe", "src"),
    ("img", "src"),
    ("img", "srcset"),
    ("input", "src"),
    ("link", "href"),
    ("object", "data"),
    ("script", "src"),
    ("source", "src"),
    ("source", "srcset"),
    ("video", "poster"),
    ("video", "src"),
}
"""Attributes for which a browser asks a server without anybody clicking."""


@dataclass
class Page(HTMLParser):
    """What one page names: anchors, links, and what it loads."""

    file: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.anchors.add(value or "")
            elif tag == "a" and name == "href":
                self.links.append(value or "")
            elif (tag, name) in LOADING:
                self.loaded.append(value or "")
            elif name == "style":
                self.loaded += loaded_by_css(value or "")


def loaded_by_css(text: str) -> list[str]:
    """What a style sheet asks for."""
    urls = re.findall(r"url\(\s*['\"]?(.*?)['\"]?\s*\)", text)
    return [*urls, *re.findall(r"@import\s+['\"](.*?)['\"]", text)]


def elsewhere(address: str) -> bool:
    """Whether a browser would ask another host for it."""
    return address.startswith("//") or urlsplit(address).scheme not in ("", "data")


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site that .ci/run has built, or else one that is built here in the same way."""
    if built := os.environ.get("ARENA_TEST_SITE"):
        return Path(built)
    folder = tmp_path_factory.mktemp("site")
    options = ["--fail-on-warning", "--keep-going", "--fresh-env", "--quiet", "-j", "auto"]
    assert f"-m sphinx {' '.join(options)} " in (ROOT / "Makefile").read_text()
    trees = str(tmp_path_factory.mktemp("doctrees"))
    command = [sys.executable, "-m", "sphinx", *options, "-d", trees, str(DOCS), str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site) -> dict[Path, Page]:
    return {file: Page(file) for file in sorted(site.rglob("*.html"))}


def test_every_document_has_a_page(site, pages):
    for document in PAGES:
        assert site / document.relative_to(DOCS).with_suffix(".html") in pages


def test_nothing_is_loaded_from_another_host(site, pages):
    loaded = {address for page in pages.values() for address in page.loaded}
    for sheet in site.rglob("*.css"):
        loaded |= set(loaded_by_css(sheet.read_text(encoding="utf-8")))
    assert any(address.endswith(".css") or ".css?" in address for address in loaded)
    assert [address for address in loaded if elsewhere(address)] == []


def test_links_and_their_anchors_lead_somewhere(pages):
    followed = 0
    for file, page in pages.items():
        for link in page.links:
            target = urlsplit(link)
            if target.scheme or target.netloc:
                continue
            there = (file.parent / unquote(target.path)).resolve() if target.path else file
            assert there.is_file(), f"{file.name}: {link}"
            if target.fragment and there in pages:
                assert unquote(target.fragment) in pages[there].anchors, f"{file.name}: {link}"
            followed += 1
    assert followed > 500


def test_every_picture_is_shown_somewhere(pages):
    shown = {
        Path(urlsplit(address).path).name for page in pages.values() for address in page.loaded
    }
    assert {file.name for file in (DOCS / "pictures").glob("*.png")} <= shown


def test_links_to_other_hosts_are_well_formed(pages):
    links = {link for page in pages.values() for link in page.links if urlsplit(link).scheme}
    assert "https://arxiv.org/abs/2303.03196" in links
    for link in links:
        assert re.fullmatch(r"https://[a-z0-9-]+(\.[a-z0-9-]+)+(/[\w./~#%+-]*)?", link), link


def test_all_that_is_public_is_described(site, pages):
    anchors = pages[site / "reference" / "api.html"].anchors
    for package in (arena, oracle, population):
        public = {f"{package.__name__}.{name}" for name in package.__all__}
        assert public <= anchors
    methods = {name for name in dir(arena.Arena) if not name.startswith("_")}
    assert {f"arena.Arena.{name}" for name in methods} <= anchors
    assert "arena.Leaderboard.to_pandas" in anchors


def commands(
    command: click.Command, *names: str
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield names, command
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from commands(inner, *names, name)


def test_every_option_is_described(site, pages):
    told = [*commands(arena_command, "arena"), *commands(csro_command, "csro")]
    told.append((("arena", "dashboard"), dashboard_command))
    anchors = pages[site / "reference" / "arena.html"].anchors
    anchors = anchors | pages[site / "reference" / "csro.html"].anchors
    for names, command in told:
        for one in command.params:
            if isinstance(one, click.Option) and one.name != "help":
                anchor = "-".join(("cmdoption", *names, one.opts[0].lstrip("-")))
                assert anchor in anchors, anchor


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A web server of a folder; yields its address."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_documents_beside_the_code_link_to_pages():
    text = "[a](../docs/csro.md#x), [b](../tests/attacks), [c](https://x.org/), [d](#e)"
    seen = lead_to_pages(text, ROOT / "sandbox" / "README.md")
    assert seen == "[a](/csro.md#x), b, [c](https://x.org/), [d](#e)"


@pytest.mark.browser
def test_a_browser_reads_and_searches_it_and_asks_nobody_else(site):
    needs_browser()
    loaded = "return performance.getEntriesByType('resource').map(one => one.name)"
    results = "return document.querySelectorAll('#search-results li').length"
    with served(site) as address, Browser(address) as browser:
        for place in ("/index.html", "/search.html?q=quarantine"):
            browser.go(place)
            names = browser.run(loaded)
            assert names
            assert [name for name in names if not name.startswith(f"{address}/")] == []
        deadline = time.monotonic() + 30
        while browser.run(results) < 3 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert browser.run(results) >= 3
        errors = [one for one in browser.console_errors() if "/favicon.ico" not in one]
        assert errors == []
