"""A game's published tables with our figures beside them: as a page, as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from arena.analysis.estimates import Estimate
from arena.figures import colours
from arena.figures.intervals import Line, intervals
from arena.figures.text import interval, number
from arena.games.protocol import Game
from population.paper import Figure
from population.report.page import METRICS
from population.reproduction import Row

_HEAD = ("method", *(f"{name}, {who}" for name in METRICS for who in ("paper", "here")))
_TAIL = ("seeds", "matches a member", "how", "note")


def page(game: Game, population: str, rows: Sequence[Row], run_pages: Sequence[str]) -> str:
    """The whole page.

    Args:
      game: of the tables.
      population: what everything was measured against.
      rows: of the tables.
      run_pages: file names of pages about single runs, beside this one.
    """
    here = files("population.report")
    texts = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    template = texts.from_string((here / "reproduction.html.j2").read_text(encoding="utf-8"))
    return template.render(
        title=game.title,
        population=population,
        unit=f"{game.unit} per match",
        style=Markup((here / "page.css").read_text(encoding="utf-8")),
        head=(*_HEAD, *_TAIL[:2]),
        table=[_cells(row) for row in rows],
        bars=Markup(bars(rows)),
        remarks=[(row.method, row.how, row.note) for row in rows],
        run_pages=run_pages,
    )


def bars(rows: Sequence[Row]) -> str:
    """AggScores with their intervals: the paper's figure above ours; "" where there are none."""
    lines = []
    for row in rows:
        if row.published is not None:
            told = _as_estimate(row.published.agg_score)
            lines.append(Line(f"{row.method}, paper (±)", told, colours.GREY))
        if row.ours is not None:
            lines.append(Line(f"{row.method}, here", row.ours.agg_score))
    return intervals(lines, "AggScore a match (here 95 %; the paper's own ±)") if lines else ""


def _as_estimate(figure: Figure) -> Estimate:
    error = figure.error or 0.0
    return Estimate(figure.mean, error, figure.mean - error, figure.mean + error)


def markdown(rows: Sequence[Row]) -> str:
    """The tables as Markdown."""
    head = (*_HEAD, *_TAIL)
    lines = [_line(head), _line(["---"] * len(head))]
    lines += [_line([*_cells(row), row.how, row.note]) for row in rows]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _cells(row: Row) -> list[str]:
    found = [row.method]
    for field in METRICS.values():
        published = getattr(row.published, field) if row.published else None
        found.append(_figure(published) if published else "")
        ours: Estimate | None = getattr(row.ours, field) if row.ours else None
        found.append(f"{number(ours.value)} {interval(ours)}" if ours else "")
    seeds = (str(row.ours.seeds), str(row.ours.matches)) if row.ours else ("", "")
    return [*found, *seeds]


def _figure(figure: Figure) -> str:
    error = "" if figure.error is None else f" ± {figure.error:.1f}"
    return f"{figure.mean:.1f}{error}"


def table(rows: Sequence[Row]) -> str:
    """The tables as CSV: the paper's figures and errors, ours with both ends of the interval."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    fields = list(METRICS.values())
    writer.writerow(
        [
            "method",
            *(f"paper_{name}{part}" for name in fields for part in ("", "_err")),
            *(f"{name}{part}" for name in fields for part in ("", "_low", "_high")),
            *("seeds", "matches", "how", "note"),
        ]
    )
    for row in rows:
        theirs = [getattr(row.published, name) if row.published else None for name in fields]
        ours = [getattr(row.ours, name) if row.ours else None for name in fields]
        writer.writerow(
            [
                row.method,
                *(x for one in theirs for x in ((one.mean, one.error) if one else (None, None))),
                *(
                    x
                    for one in ours
                    for x in ((one.value, one.low, one.high) if one else [None] * 3)
                ),
                row.ours.seeds if row.ours else None,
                row.ours.matches if row.ours else None,
                row.how,
                row.note,
            ]
        )
    return text.getvalue()
