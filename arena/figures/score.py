"""The running score of a match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.figures.frame import Frame
from arena.figures.picture import Layer, Picture
from arena.figures.scale import Scale
from arena.figures.templates import fill
from arena.games.parts import Forfeit

HEIGHT_PIXELS = 190


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
    points = [f"{place + 0.5:g},{frame.y(value):.2f}" for place, value in enumerate(values)]
    html = fill(
        "arena/figures/score.j2",
        "score",
        frame=frame,
        ground=f"{frame.y(0.0):.2f}",
        there=points[: len(played)],
        lost=points[len(played) - 1 :],
        at=f"{at + 0.5:g}",
        fault=_fault(frame, values, step, forfeit) if forfeit else None,
    )
    columns = [
        "Beginning",
        *(f"{step.capitalize()} {place:,}" for place in range(1, len(values))),
    ]
    score = Layer(np.array([values]), digits=0, signed=True)
    return Picture(html, [""], columns, [score], _told(columns, values, unit, forfeit))


def _forfeited(played: Sequence[float], forfeit: Forfeit | None) -> list[float]:
    """Scores after the steps that were not completed; none in a match that was."""
    left = forfeit.steps - len(played) + 1 if forfeit else 0
    if forfeit is None or left < 1:
        return []
    return [float(value) for value in np.linspace(played[-1], forfeit.end, left + 1)[1:]]


class _Fault(NamedTuple):
    """Where the fault is, in percent, and what the legend says of it."""

    left: str
    top: str
    told: str
    seat: int


def _fault(frame: Frame, values: Sequence[float], step: str, forfeit: Forfeit) -> _Fault:
    left, top = frame.at(forfeit.step + 0.5, values[forfeit.step])
    told = f"{step} {forfeit.step:,}: seat {forfeit.seat} {forfeit.why}"
    return _Fault(left, top, told, forfeit.seat)


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
