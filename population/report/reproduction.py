"""A game's published tables with our figures beside them: as a page, as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from numpy import quantile

from arena.analysis.estimates import Estimate
from arena.figures import colours
from arena.figures.intervals import Line, intervals
from arena.figures.templates import fill_page
from arena.figures.text import interval, number
from arena.games.protocol import Game
from arena.house.population import Population
from population import evolution
from population.figures import GLYPHS, over_iterations
from population.paper import Figure, against, reference_lines
from population.report.page import METRICS
from population.reproduction import Row

if TYPE_CHECKING:
    from markupsafe import Markup

Curves = Mapping[str, Mapping[str, evolution.Points]]
"""Scores over iterations, by metric and variant."""

_HEAD = ("method", *(f"{name}, {who}" for name in METRICS for who in ("paper", "here [95 %]")))
MOST_DRAWN = len(GLYPHS)
"""Variants in one chart: more have no marks of their own."""
_DEEPEST = 0.55
"""Of a ground's colour, so that a number stands out on it."""
_TAIL = ("seeds", "matches a member", "how", "note")


@dataclass(frozen=True, slots=True)
class Returns:
    """Of one method against each opponent, measured by one side.

    Attributes:
      method: what it is called.
      paper: whether the figures are the paper's, with its own ±; else ours, with 95 % intervals.
      against: opponent to mean return.
      how: what was run here; several may stand for one method.
      alone: whether nothing else was run here for the method.
    """

    method: str
    paper: bool
    against: dict[str, Estimate]
    how: str = ""
    alone: bool = True

    @property
    def whose(self) -> str:
        """Who measured it."""
        return "paper" if self.paper else "here"

    @property
    def title(self) -> str:
        """What tells it from all others."""
        return f"{self.method}, {self.whose}" + ("" if self.alone else f" ({self.how})")

    def mean(self, opponent: str) -> str:
        """A cell's number; "" where there is none."""
        found = self.against.get(opponent)
        return number(found.value) if found else ""

    def told(self, opponent: str) -> str:
        """What the pointer tells of a cell."""
        found = self.against[opponent]
        error = f"± {found.stderr:.1f}" if self.paper and found.stderr else ""
        doubt = error if self.paper else interval(found)
        return f"{self.title}, against {opponent} {doubt}".rstrip()

    def shade(self, opponent: str, largest: float) -> str:
        """A cell's ground: the more is won or lost, the stronger its colour."""
        mean = self.against[opponent].value
        share = min(1.0, abs(mean) / largest) if largest else 0.0
        hue = colours.GAIN if mean > 0 else colours.LOSS
        return f"background:color-mix(in srgb,{hue} {100 * share * _DEEPEST:.0f}%,transparent)"


def opponents(population: Population) -> list[str]:
    """Names of its members, without their author."""
    return [name.rpartition("/")[2] for name in population.members]


def returns_of(rows: Sequence[Row], population: Population) -> list[Returns]:
    """Returns of all methods against each opponent: the paper's, where it prints them, and ours."""
    published, names = against(population.game), opponents(population)
    theirs = [
        Returns(method, True, {name: _as_estimate(one) for name, one in figures.items()})
        for method, figures in published.items()
    ]
    ours = [
        Returns(
            row.method,
            False,
            dict(zip(names, row.ours.against, strict=True)),
            row.how,
            _alone(row, rows),
        )
        for row in rows
        if row.ours is not None
    ]
    return [*theirs, *ours]


def _alone(row: Row, rows: Sequence[Row]) -> bool:
    """Whether no other row was run here for the same method."""
    return sum(one.method == row.method and one.ours is not None for one in rows) < 2


def returns_table(rows: Sequence[Row], population: Population) -> str:
    """Returns against each opponent as CSV, a line for each method and opponent.

    Its ends are those of our 95 % intervals, and of the paper's ±.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("method", "measured", "opponent", "mean", "low", "high", "how"))
    for one in returns_of(rows, population):
        for name, mean in one.against.items():
            figures = (mean.value, mean.low, mean.high)
            writer.writerow((one.method, one.whose, name, *figures, one.how))
    return text.getvalue()


def _largest(returns: Sequence[Returns]) -> float:
    """What deserves the strongest colour; the few largest would drown all others."""
    means = [abs(mean.value) for one in returns for mean in one.against.values()]
    return float(quantile(means, 0.95)) if means else 0.0


def evolution_table(curves: Curves) -> str:
    """Means over seeds after each iteration, with the ends of their 95 % intervals."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("variant", "metric", "iteration", "mean", "low", "high"))
    for metric, variants in curves.items():
        for variant, points in variants.items():
            for iteration, mean in points:
                writer.writerow((variant, metric, int(iteration), mean.value, mean.low, mean.high))
    return text.getvalue()


def _over_iterations(game: Game, curves: Curves) -> list[tuple[str, Markup]]:
    """Charts by the metric's name; of many variants, of those whose AggScore ends highest."""
    known = curves.get("AggScore", {})
    ends = {variant: points[-1][1].value for variant, points in known.items()}
    best = sorted(ends, key=lambda variant: -ends[variant])[:MOST_DRAWN]
    unit = f"{game.unit} a match"
    return [
        (
            metric,
            over_iterations(
                {variant: variants[variant] for variant in best},
                unit,
                reference_lines(game.name, evolution.METRICS[metric]),
            ).alone(),
        )
        for metric, variants in curves.items()
        if variants
    ]


def page(
    game: Game,
    population: Population,
    rows: Sequence[Row],
    curves: Curves,
    run_pages: Sequence[str],
) -> str:
    """The whole page.

    Args:
      game: of the tables.
      population: what everything was measured against.
      rows: of the tables.
      curves: of the runs' scores over iterations.
      run_pages: file names of pages about single runs, beside this one.
    """
    returns = returns_of(rows, population)
    return fill_page(
        "population/report/reproduction.html.j2",
        title=game.title,
        population=population.name,
        unit=f"{game.unit} per match",
        head=(*_HEAD, *_TAIL[:2]),
        table=[_cells(row) for row in rows],
        bars=bars(rows),
        evolution=_over_iterations(game, curves),
        left_out=max(0, len(curves.get("AggScore", ())) - MOST_DRAWN),
        opponents=opponents(population),
        returns=returns,
        largest=_largest(returns),
        remarks=[(row.method, row.how, row.note) for row in rows],
        run_pages=run_pages,
    )


def bars(rows: Sequence[Row]) -> Markup | None:
    """AggScores with their intervals: the paper's figure above ours; None where there are none."""
    lines = []
    for row in rows:
        if row.published is not None:
            told = _as_estimate(row.published.agg_score)
            lines.append(Line(f"{row.method}, paper (±)", told, colours.GREY))
        if row.ours is not None:
            which = "" if _alone(row, rows) else f" ({row.how})"
            lines.append(Line(f"{row.method}, here{which}", row.ours.agg_score))
    return intervals(lines, "AggScore a match (here 95 %; the paper's own ±)") if lines else None


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
        found.append(str(published) if published else "")
        ours: Estimate | None = getattr(row.ours, field) if row.ours else None
        found.append(f"{number(ours.value)} {interval(ours)}" if ours else "")
    seeds = (str(row.ours.seeds), str(row.ours.matches)) if row.ours else ("", "")
    return [*found, *seeds]


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
