"""Figures of CSRO runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from arena.analysis.estimates import Estimate
from arena.figures import colours
from arena.figures.frame import Frame
from arena.figures.picture import Picture
from arena.figures.scale import RootScale, Scale
from arena.figures.templates import fill
from arena.figures.text import number
from arena.games.protocol import Game
from oracle.values import Attempt
from population import u_intervals
from population.records import Iteration, Sigma
from registry import shown

_TEMPLATE = "population/figures.j2"
MOST_TOLD = 8
"""Lines about one column."""
DASHES = ("2 4", "8 4", "8 4 2 4")
"""Of reference lines, which are all grey."""
GLYPHS = "●■▲◆▼✚★⬟"
"""Of series, so that colour is not all that tells them apart."""
_STRIPE = "rgb(255 255 255/55%)"
HATCHES = (
    "",
    f"repeating-linear-gradient(45deg,{_STRIPE} 0 2px,transparent 2px 8px)",
    f"repeating-linear-gradient(135deg,{_STRIPE} 0 2px,transparent 2px 8px)",
    f"repeating-linear-gradient(90deg,{_STRIPE} 0 2px,transparent 2px 8px)",
    f"repeating-linear-gradient(0deg,{_STRIPE} 0 2px,transparent 2px 8px)",
)
"""Of areas whose colours were used before."""


def sigma_area(sigmas: Sequence[Sigma], labels: Mapping[str, str]) -> Picture:
    """How the meta-strategy moved: one layer for each member.

    Args:
      sigmas: before the first iteration and after each.
      labels: of the members, by digest, in the order of joining.
    """
    columns = [str(place) for place in range(len(sigmas))]
    frame = Frame(
        columns,
        Scale(0.0, 1.0),
        "weight",
        "iterations",
        f"Weights of the meta-strategy after each of {len(sigmas) - 1} iterations.",
        height=300,
        percent=True,
    )
    below = [0.0] * len(sigmas)
    areas = []
    for place, (digest, label) in enumerate(labels.items()):
        weights = [sigma.weights.get(digest, 0.0) for sigma in sigmas]
        if not any(weights):
            continue
        above = [low + weight for low, weight in zip(below, weights, strict=True)]
        areas.append((_hatched(place), _outline(frame, below, above), label))
        below = above
    told = [
        _lines(
            f"After iteration {place}" if place else "At the beginning",
            [
                f"{shown(labels.get(digest, digest[:8]))}: {weight:.1%}"
                for digest, weight in sigma.support.items()
            ],
        )
        for place, sigma in enumerate(sigmas)
    ]
    html = fill(_TEMPLATE, "sigma", frame=frame, areas=areas)
    return Picture(html, [""], columns, [], told)


def _hatched(place: int) -> str:
    """Colours come round again after ten members; hatching tells the rounds apart."""
    colour = colours.SERIES[place % len(colours.SERIES)]
    hatch = HATCHES[place // len(colours.SERIES) % len(HATCHES)]
    return f"{hatch},{colour}" if hatch else colour


def _outline(frame: Frame, below: Sequence[float], above: Sequence[float]) -> str:
    """Corners of the area between two curves, in steps: between two mixtures there was none."""

    def corners(curve: Sequence[float]) -> list[str]:
        return [
            f"{frame.x(edge):.2f}% {frame.y(value):.2f}%"
            for place, value in enumerate(curve)
            for edge in (place, place + 1)
        ]

    return ",".join([*corners(above), *reversed(corners(below))])


def over_iterations(
    series: Mapping[str, Sequence[tuple[float, Estimate]]],
    unit: str,
    references: Sequence[tuple[str, float]] = (),
    *,
    axis: str = "iterations",
    names: bool = True,
    roots: bool = False,
) -> Picture:
    """Numbers with their intervals over iterations.

    Args:
      series: name to (place, estimate); places are whole numbers.
      unit: of the numbers.
      references: horizontal lines.
      axis: what the places are.
      roots: whether a few large numbers must not press all others together.
      names: whether the names of the series are shown below; charts side by side share them.
    """
    points = [point for one in series.values() for point in one]
    first = int(min((place for place, _ in points), default=0.0))
    last = int(max((place for place, _ in points), default=0.0))
    columns = [str(place) for place in range(first, last + 1)]
    kind = RootScale if roots else Scale
    reached = [end for _, one in points for end in (one.value, one.low, one.high)]
    frame = Frame(
        columns,
        kind.around([*reached, *(value for _, value in references)], room=0.04),
        f"{unit}, square-root scale" if roots else unit,
        axis,
        f"{', '.join(series)} over {len(columns)} {axis}.",
        height=300,
    )
    lines = [
        (f"{frame.y(value):.2f}", DASHES[place % len(DASHES)], f"{label} {value:.1f}")
        for place, (label, value) in enumerate(references)
    ]
    drawn = [_series(frame, place, *one, first) for place, one in enumerate(series.items())]
    told = [
        _lines(f"{axis.capitalize()}: {place}", _told_at(series, float(place)))
        for place in range(first, last + 1)
    ]
    html = fill(
        _TEMPLATE, "over_iterations", frame=frame, references=lines, series=drawn, named=names
    )
    return Picture(html, [""], columns, [], told)


class _Series(NamedTuple):
    """A series as it is drawn.

    Attributes:
      name: of the series.
      colour: of all of it.
      glyph: of its numbers.
      paths: data, width and dashes of its lines.
      marks: places of its numbers, in percent.
    """

    name: str
    colour: str
    glyph: str
    paths: list[tuple[str, float, str]]
    marks: list[tuple[str, str]]


def _series(
    frame: Frame, place: int, name: str, points: Sequence[tuple[float, Estimate]], first: int
) -> _Series:
    """A line through the numbers that are known, dashed over gaps, and their intervals."""
    known = [(at - first + 0.5, one) for at, one in points if math.isfinite(one.value)]
    line, gaps = "", ""
    for (x, one), (after, other) in pairwise(known):
        piece = f"M{x:g} {frame.y(one.value):.2f}L{after:g} {frame.y(other.value):.2f}"
        if after - x > 1:
            gaps += piece
        else:
            line += piece
    bars = "".join(
        f"M{x:g} {frame.y(one.low):.2f}V{frame.y(one.high):.2f}"
        for x, one in known
        if math.isfinite(one.low) and math.isfinite(one.high)
    )
    drawn = ((line, 2, ""), (gaps, 1, "3 5"), (bars, 1.2, ""))
    return _Series(
        name,
        colours.SERIES[place % len(colours.SERIES)],
        GLYPHS[place % len(GLYPHS)],
        [one for one in drawn if one[0]],
        [frame.at(x, one.value) for x, one in known],
    )


def _told_at(series: Mapping[str, Sequence[tuple[float, Estimate]]], place: float) -> list[str]:
    told = []
    for name, points in series.items():
        for at, one in points:
            if at == place:
                known = math.isfinite(one.low) and math.isfinite(one.high)
                reach = f"  [{number(one.low)}, {number(one.high)}]" if known else ""
                told.append(f"{shown(name)}: {number(one.value)}{reach}")
    return told


def _lines(title: str, told: Sequence[str]) -> str:
    more = [f"and {len(told) - MOST_TOLD} more"] if len(told) > MOST_TOLD else []
    return "\n".join([title, *told[:MOST_TOLD], *more])


MARKS = {
    "kept": ("●", colours.BLUE),
    "not kept": ("○", colours.GREY),
    "given up": ("◌", colours.GREY),
    "rejected": ("✕", colours.ORANGE),
}
"""Glyph and colour of attempts by what came of them."""


def ladder(iterations: Sequence[Iteration], game: Game) -> Picture:
    """Every attempt of every iteration with the score by which it was chosen.

    That is the expected return against the sigma of its iteration, with the hidden opponents' share
    in it where there is one.

    Args:
      iterations: at least one.
      game: that was played.
    """
    scored = [a.score.u for one in iterations for a in one.attempts if a.score is not None]
    columns = [str(one.k) for one in iterations]
    frame = Frame(
        columns,
        RootScale.around([*scored, 0.0], room=0.06),
        f"u, {game.unit} a match, square-root scale",
        "iteration",
        f"u of every attempt of {len(columns)} iterations.",
        height=300,
    )
    foot, attempts = min(scored, default=0.0), []
    for column, one in enumerate(iterations):
        for place, attempt in enumerate(one.attempts):
            x = column + 0.5 + 0.7 * ((place + 0.5) / len(one.attempts) - 0.5)
            u = foot if attempt.score is None else attempt.score.u
            attempts.append((*MARKS[attempt.fate], *frame.at(x, u)))
    told = [_lines(f"Iteration {one.k}", _told_about(one.attempts, game)) for one in iterations]
    html = fill(_TEMPLATE, "ladder", frame=frame, attempts=attempts, kinds=MARKS.items())
    return Picture(html, [""], columns, [], told)


def _told_about(attempts: Sequence[Attempt], game: Game) -> list[str]:
    """The attempts, best first, then those that were rejected."""
    told = []
    for attempt in sorted(attempts, key=lambda one: -one.score.u if one.score else math.inf):
        if attempt.score is not None:
            u = u_intervals.told(u_intervals.of_score(attempt.score, game))
            given = u_intervals.forfeits_told(attempt.score.against, "opponents")
            said = filter(None, (u, given, attempt.fate))
            told.append(f"attempt {attempt.number}: {', '.join(said)}")
        else:
            kind = attempt.failure.kind.value if attempt.failure else "no score"
            told.append(f"attempt {attempt.number}: {kind}")
    return told or ["nothing was tried"]
