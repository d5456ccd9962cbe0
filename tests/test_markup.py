"""HTML and SVG come out of templates alone, and whatever an entrant wrote comes out as text."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from arena.analysis.estimates import Estimate
from arena.figures.heatmap import payoff_heatmap
from arena.figures.intervals import Line, Reference, interval_plot, intervals
from arena.figures.picture import Layer, Picture
from arena.figures.score import running_score
from arena.games import GAMES
from arena.games.parts import Forfeit
from arena.house.population import default_population
from arena.printed import Aside, Sheet
from population.figures import ladder, over_iterations, sigma_area
from population.records import Effort, Iteration, Sigma
from population.report import reproduction
from population.reproduction import Row
from registry import shown
from tests.arena.at_the_table import record

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("arena", "dashboards", "population")
MARKUP = re.compile(r"</?[a-zA-Z][\w-]*[ >/]")
NO_TEMPLATE = {
    "arena/practice.py": "no markup: what stands around a policy's output on a terminal",
    "arena/source_reading.py": "no markup: a file name that Python shows",
    "dashboards/views/faults.py": "no markup: the same file name, looked for in a traceback",
    "population/launch.py": "no markup: the name of a function without one",
    "population/mutants.py": "no markup: a group of a regular expression",
    "population/reproduction.py": "no markup: groups of a regular expression",
    "dashboards/headers.py": "looks for scripts in a page of Streamlit's",
    "dashboards/charts/pointing.py": "an empty element that a component is mounted on",
    "dashboards/theme.py": "the same, and a style sheet of ours with nothing put in",
    "dashboards/views/submit.py": "a style sheet of ours with nothing put in",
}
"""Modules that may hold what looks like markup, and why."""
HOSTILE = "</div><img src=x onerror=alert(1)>&\"'\u202e{{ 7 * 7 }}{% raw %}"
PLAIN = "plain"


def modules() -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            yield place, ast.parse(path.read_text(encoding="utf-8"))


def texts(tree: ast.Module) -> Iterator[Any]:
    """Every string of a module, those in f-strings too, but no docstring."""
    alone = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in alone:
            yield node


def test_no_program_writes_markup() -> None:
    found: dict[str, list[str]] = {}
    for place, tree in modules():
        written = (one for one in texts(tree) if MARKUP.search(one.value))
        found[place] = [f"{place}:{one.lineno}: {one.value[:60]!r}" for one in written]
    assert len(found) > 200
    refused = [lines for place, lines in found.items() if place not in NO_TEMPLATE and lines]
    assert not refused
    assert not [place for place in NO_TEMPLATE if not found[place]]


def imported(tree: ast.AST) -> set[str]:
    """What a module loads, be it late; not what it needs for types alone."""
    names: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            names |= {one.name.partition(".")[0] for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(str(node.module).partition(".")[0])
        names |= imported(node)
    return names


def test_there_is_one_environment_and_nobody_vouches_for_a_string() -> None:
    users = {place: imported(tree) & {"jinja2", "markupsafe", "html"} for place, tree in modules()}
    assert {place: used for place, used in users.items() if used} == {
        "arena/figures/templates.py": {"jinja2"}
    }
    for place in templates():
        text = (ROOT / place).read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe\b|autoescape", text), place


def templates() -> set[str]:
    found = (path for package in PACKAGES for path in (ROOT / package).rglob("*.j2"))
    return {path.relative_to(ROOT).as_posix() for path in found}


# --- a hostile name ----------------------------------------------------------------------------

ONE = Estimate(2.0, 1.0, 0.0, 4.0)


def interval_lines(name: str) -> str:
    lines, references = [Line(name, ONE), Line("other", ONE)], [Reference(name, 1.0)]
    plot = interval_plot(lines, name, references=references)
    return intervals(lines, name, references=references) + plot.html + plot.alone()


def payoffs(*names: str) -> Picture:
    square = np.zeros((len(names), len(names)))
    met = square.astype(np.int32) + 1
    table = SimpleNamespace(mean=square, stderr=square, count=met, forfeits=met)
    return payoff_heatmap(table, names, "chips")


def heat_map(name: str) -> str:
    drawn = payoffs(name, "other")
    return drawn.html + drawn.alone()


def picture(name: str) -> str:
    html, columns = payoffs("x").html, [name, "x"]
    layer = Layer(np.array([[1.0, np.nan]]))
    told = Picture(html, [name], columns, [layer], "{row} {column} {0}", "{row}: -")
    texts = Picture(html, [name], columns, [], [name, name])
    return told.alone() + texts.alone()


def score(name: str) -> str:
    forfeit = Forfeit(3, 1, name, 6, -4.0)
    drawn = running_score([1.0, 2.0], name, name, at=1, winner_up=name, forfeit=forfeit)
    return drawn.html + drawn.alone()


def tellings(one: str) -> Callable[[str], str]:
    game = GAMES[one]

    def drawn(name: str) -> str:
        whole = game.account(4, record(game, 4, 4), None)
        pictures = [game.telling.picture(whole.events, 2, (name, name), None)]
        for seat, moves in ((0, b""), (1, record(game, 4, 4)[:40])):
            ended = game.account(4, moves, seat)
            step = len(ended.totals) + 1
            forfeit = Forfeit(step, seat, name, game.length, ended.returns[0])
            pictures.append(game.telling.picture(ended.events, step, (name, name), forfeit))
        return "".join(pictures)

    return drawn


def sheet(name: str) -> str:
    return Sheet(name, {name: "left", "b": "right"}, ((name, Aside(name, name)),), name).html()


def runs(name: str) -> str:
    sigma = Sigma({"a": 0.5, "b": 0.5}, 0.0, "linear")
    series = {name: [(1.0, ONE), (2.0, ONE)]}
    nothing = Iteration(1, sigma, "", None, None, (), Effort())
    drawn = (
        sigma_area([sigma], {"a": name, "b": "other"}),
        over_iterations(series, name, [(name, 1.0)], axis=name),
        ladder([nothing], GAMES["leduc"]),
    )
    return "".join(one.html + one.alone() for one in drawn)


def tables(name: str) -> str:
    row = Row(name, None, None, name, name)
    population = default_population("leduc")
    curves = {"AggScore": {name: [(0.0, ONE), (1.0, ONE)]}}
    return reproduction.page(GAMES["leduc"], population, [row], curves, [name])


def two_texts(name: str) -> str:
    def page(name: str) -> None:
        from dashboards.views.side_by_side import side_by_side

        side_by_side(f"{name}\nbefore {name}", f"{name}\nafter", (name, "other"))

    app = AppTest.from_function(page, default_timeout=60, args=(name,)).run()
    assert not app.exception
    (drawn,) = app.get("html")
    return str(drawn.proto.body)


DRAWN: dict[str, Callable[[str], str]] = {
    "arena/figures/frame.j2": score,
    "arena/figures/hands.j2": tellings("leduc"),
    "arena/figures/heatmap.j2": heat_map,
    "arena/figures/intervals.j2": interval_lines,
    "arena/figures/picture.j2": picture,
    "arena/figures/score.j2": score,
    "arena/games/rrps/telling.j2": tellings("rrps"),
    "arena/printed.j2": sheet,
    "dashboards/views/side_by_side.j2": two_texts,
    "population/figures.j2": runs,
    "population/report/reproduction.html.j2": tables,
}
"""What each template draws with a name in every place that has room for one."""
NO_NAME = {
    "arena/figures/cards.j2": "ranks and numbers of chips",
    "arena/server/description.j2": "the API's own words",
    "population/attempt_tree.j2": "numbers of attempts",
    "population/report/page.html.j2": "tests/population/test_csro_report.py has hostile programs",
}
"""Templates that nobody's words get into, or where else they are looked at."""


def test_every_template_is_tried_with_a_hostile_name() -> None:
    assert templates() == {*DRAWN, *NO_NAME} and not {*DRAWN} & {*NO_NAME}


class Elements(HTMLParser):
    """The elements of some HTML, by the names of their attributes, and all of its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, ...]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, *(name for name, _ in attrs)))
        self.texts += [value for _, value in attrs if value]

    def handle_endtag(self, tag: str) -> None:
        self.found.append((f"/{tag}",))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN.keys())
def test_a_hostile_name_is_text(draw: Callable[[str], str]) -> None:
    hostile, plain = draw(HOSTILE), draw(PLAIN)
    assert Elements(hostile).found == Elements(plain).found
    assert shown(HOSTILE) in "\n".join(Elements(hostile).texts)
    assert "\u202e" not in hostile
