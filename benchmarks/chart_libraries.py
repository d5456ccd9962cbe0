"""What a chart costs a browser that never was here: ours, uPlot, Vega-Lite.

    npm install --ignore-scripts --prefix FOLDER uplot vega vega-lite
    python benchmarks/chart_libraries.py FOLDER

Each library draws the running score of a match of 1,000 throws, and ours and Vega-Lite a plot of 43
intervals as well, which uPlot has none of.  A page has nothing else, so these times come on top of
those of a page of the arena.  Every visit has a browser profile of its own, so nothing is cached.
Times are from the start of the visit until the frame after the drawing, medians of `--visits`.
"""

from __future__ import annotations

import functools
import gzip
import http.server
import json
import statistics
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click
import numpy as np

from arena.analysis.estimates import Estimate
from arena.figures.intervals import Line, interval_plot
from arena.figures.score import running_score
from dashboards.browser import Browser
from dashboards.charts import pointing

THROWS, LINES = 1_000, 43
SLOWER, BITS_A_SECOND, LATENCY_MS = 4, 10e6, 40
"""A slow visit: a processor of a quarter of the speed, behind a line of 10 Mbit/s and 40 ms."""
FILES = {
    "ours": {},
    "uPlot": {
        "u.js": "uplot/dist/uPlot.iife.min.js",
        "u.css": "uplot/dist/uPlot.min.css",
    },
    "Vega-Lite": {
        "v.js": "vega/build/vega.min.js",
        "l.js": "vega-lite/build/vega-lite.min.js",
    },
}
_DONE = "requestAnimationFrame(() => setTimeout(() => { window.drawn = performance.now() }))"


def numbers() -> tuple[list[float], list[Estimate]]:
    """The score after each throw, and some estimates."""
    rng = np.random.default_rng(1)
    score = np.cumsum(rng.integers(-1, 2, THROWS)).astype(float).tolist()
    middles = np.sort(rng.normal(50, 80, LINES))[::-1].tolist()
    return score, [Estimate(one, 8.0, one - 16.0, one + 16.0) for one in middles]


def page_of(name: str) -> str:
    """A page that draws with one of them."""
    score, estimates = numbers()
    if name == "ours":
        pictures = [
            running_score(score, "throw", "throws", at=1, winner_up="a/b"),
            interval_plot([Line(f"p{k}", one) for k, one in enumerate(estimates)], "throws"),
        ]
        documents = json.dumps([one.document(False) | {"address": {}} for one in pictures])
        return _page(
            '<link rel="stylesheet" href="p.css"><div><div class="pointed"></div></div>'
            '<div><div class="pointed"></div></div><script type="module">'
            'import draw from "./p.js"; '
            f"{documents}.forEach((data, place) => draw({{data, setTriggerValue() {{}}, "
            f'parentElement: document.querySelectorAll("body > div")[place]}})); {_DONE}</script>'
        )
    if name == "uPlot":
        data = json.dumps([list(range(THROWS)), score])
        return _page(
            '<link rel="stylesheet" href="u.css"><script src="u.js"></script><script>'
            "new uPlot({width: 900, height: 260, scales: {x: {time: false}}, "
            f'series: [{{}}, {{label: "score", stroke: "#0072B2"}}]}}, {data}, document.body); '
            f"{_DONE}</script>"
        )
    rows = [{"throw": k, "score": one} for k, one in enumerate(score)]
    found = [
        {"name": f"p{k}", "low": e.low, "high": e.high, "value": e.value}
        for k, e in enumerate(estimates)
    ]
    x, y = ({"field": field, "type": "quantitative"} for field in ("throw", "score"))
    named = {"field": "name", "type": "nominal", "sort": None}
    low, value = ({"field": field, "type": "quantitative"} for field in ("low", "value"))
    spec = {
        "vconcat": [
            {"data": {"values": rows}, "width": 900, "mark": {"type": "line", "tooltip": True},
             "encoding": {"x": x, "y": y}},
            {"data": {"values": found}, "layer": [
                {"mark": "rule", "encoding": {"y": named, "x": low, "x2": {"field": "high"}}},
                {"mark": "point", "encoding": {"y": named, "x": value}},
            ]},
        ]
    }  # fmt: skip
    return _page(
        '<script src="v.js"></script><script src="l.js"></script><div id="c"></div><script>'
        f'new vega.View(vega.parse(vegaLite.compile({json.dumps(spec)}).spec), {{renderer: "svg", '
        f'container: "#c"}}).runAsync().then(() => {{ {_DONE} }})</script>'
    )


def _page(body: str) -> str:
    return f'<!doctype html><meta charset="utf-8"><title>chart</title><body>{body}</body>'


class _Compressed(http.server.SimpleHTTPRequestHandler):
    def end_headers(self) -> None:
        """Says that the files are compressed, as `weigh` wrote them."""
        self.send_header("Content-Encoding", "gzip")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serves a folder on this machine."""
    handler = functools.partial(_Compressed, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


def visit(address: str, *, slow: bool) -> float:
    """Milliseconds until a browser that never was here shows the charts."""
    with Browser(address, (1200, 900)) as browser:
        if slow:
            browser.slow_down(SLOWER, BITS_A_SECOND, LATENCY_MS)
        browser.go("/page.html")
        return float(browser.run_until_answered(_WAIT))


_WAIT = "const look = () => window.drawn ? answer(window.drawn) : setTimeout(look, 5); look();"


def weigh(folder: Path, files: Mapping[str, bytes]) -> int:
    """Writes files, compressed as they are sent; returns what they weigh."""
    packed = {name: gzip.compress(content, 9) for name, content in files.items()}
    for name, content in packed.items():
        (folder / name).write_bytes(content)
    return sum(map(len, packed.values()))


@click.command()
@click.argument("libraries", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--visits", default=7, show_default=True)
def main(libraries: Path, visits: int) -> None:
    """Prints what each of them weighs, and how long it takes."""
    click.echo("drawn with   files, KB sent   page, KB sent   quick visit, ms   slow visit, ms")
    for name, needed in FILES.items():
        files = {
            to: (libraries / "node_modules" / source).read_bytes() for to, source in needed.items()
        }
        if name == "ours":
            own = Path(pointing.__file__).parent
            files = {f"p.{kind}": (own / f"pointing.{kind}").read_bytes() for kind in ("js", "css")}
        with tempfile.TemporaryDirectory() as text:
            folder = Path(text)
            sent = weigh(folder, files)
            page = weigh(folder, {"page.html": page_of(name).encode()})
            with served(folder) as address:
                times = [
                    statistics.median(visit(address, slow=slow) for _ in range(visits))
                    for slow in (False, True)
                ]
        click.echo(
            f"{name:<10} {sent / 1000:>16.0f} {page / 1000:>15.0f} {times[0]:>17.0f} "
            f"{times[1]:>16.0f}"
        )


if __name__ == "__main__":
    main()
