"""The running score of a match."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from arena.figures import colours
from arena.figures.frame import Frame, legend, mark, sample, stroke
from arena.figures.marks import CROSS
from arena.figures.picture import Layer, Picture
from arena.figures.scale import Scale
from arena.games.parts import Forfeit

HEIGHT_PIXELS = 190
DASHES = "5 4"


def running_score(
    totals: Sequence[float],
    step: str,
    unit: str,
    *,
    at: int,
    winner_up: str,
    forfeit: Forfeit | None = None,
) -> Picture:
    """Score of seat 0 after each throw or hand; cell i is step i, and cell 0 the beginning.

    What was forfeited is lost evenly over the steps that were left, as all games count it.

    Args:
      totals: (n,) after step 1, 2, ...; only those that were completed.
      step: what a step is, "throw" or "hand".
      unit: of the score.
      at: step to mark, from 1.
      winner_up: who is ahead where the line is above 0.
      forfeit: where the match was forfeited; the chart then goes on to the match's last step.
    """
    played = [0.0, *totals]
    values = played + _forfeited(played, forfeit)
    frame = Frame(
        [f"{place:,}" for place in range(len(values))],
        Scale.around(values, room=0.05),
        f"{winner_up} ahead, in {unit}",
        step,
        _described(played, step, unit, forfeit),
        HEIGHT_PIXELS,
    )
    ground = frame.y(0.0)
    points = [f"{place + 0.5:g},{frame.y(value):.2f}" for place, value in enumerate(values)]
    there, lost = points[: len(played)], points[len(played) - 1 :]
    # One area, whose colour changes where the lead does.
    drawing = (
        '<linearGradient id="lead" gradientUnits="userSpaceOnUse" x1="0" x2="0" y1="0" y2="100">'
        f'<stop offset="{ground:.2f}%" stop-color="{colours.GAIN}"/>'
        f'<stop offset="{ground:.2f}%" stop-color="{colours.LOSS}"/></linearGradient>'
        f"{_area(there, ground, 0.28)}{_area(lost, ground, 0.15)}"
        f'<path d="M{at + 0.5:g} 0V100" {stroke(colours.PINK, 2)}/>'
        f'<polyline points="{" ".join(there)}" {stroke(colours.GREY, 1.8)}/>'
    )
    marks = below = ""
    if forfeit:
        drawing += f'<polyline points="{" ".join(lost)}" {stroke(colours.GREY, 1.8, DASHES)}/>'
        place = frame.x(forfeit.step + 0.5), frame.y(values[forfeit.step])
        marks = mark(f"<b>{CROSS}</b>", "inherit", *place)
        below = legend(
            [
                (f"<b>{CROSS}</b>", f"{step} {forfeit.step:,}: seat {forfeit.seat} {forfeit.why}"),
                (sample(stroke(colours.GREY, 1.8, DASHES)), f"forfeited by seat {forfeit.seat}"),
            ]
        )
    columns = [
        "Beginning",
        *(f"{step.capitalize()} {place:,}" for place in range(1, len(values))),
    ]
    score = Layer(np.array([values]), digits=0, signed=True)
    html = frame.around(drawing, marks=marks, legend=below)
    return Picture(html, [""], columns, [score], _told(columns, values, unit, forfeit))


def _forfeited(played: Sequence[float], forfeit: Forfeit | None) -> list[float]:
    """Scores after the steps that were not completed; none in a match that was."""
    left = forfeit.steps - len(played) + 1 if forfeit else 0
    if forfeit is None or left < 1:
        return []
    return [float(value) for value in np.linspace(played[-1], forfeit.end, left + 1)[1:]]


def _area(points: Sequence[str], ground: float, opacity: float) -> str:
    """What is between a piece of the line and 0."""
    if len(points) < 2:
        return ""
    first, last = (point.partition(",")[0] for point in (points[0], points[-1]))
    return (
        f'<polygon points="{first},{ground:.2f} {" ".join(points)} {last},{ground:.2f}" '
        f'fill="url(#lead)" fill-opacity="{opacity:g}"/>'
    )


def _described(played: Sequence[float], step: str, unit: str, forfeit: Forfeit | None) -> str:
    if forfeit is None:
        return f"Running score: {played[-1]:+.0f} {unit} at the end."
    return (
        f"Running score: {played[-1]:+.0f} {unit} when seat {forfeit.seat} forfeited in "
        f"{step} {forfeit.step:,}, {forfeit.end:+.0f} at the end."
    )


def _told(
    columns: Sequence[str], values: Sequence[float], unit: str, forfeit: Forfeit | None
) -> str | list[str]:
    """What is told about the cells; one text for all where nothing was forfeited."""
    if forfeit is None:
        return f"{{column}}: {{0}} {unit}"
    texts = []
    for place, (column, value) in enumerate(zip(columns, values, strict=True)):
        text = f"{column}: {f'{value:+,.0f}' if value else '0'} {unit}"
        if place == forfeit.step:
            text += f", seat {forfeit.seat} {forfeit.why}"
        texts.append(f"{text}, forfeited" if place > forfeit.step else text)
    return texts
