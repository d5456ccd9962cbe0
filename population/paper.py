"""The paper's tables, as it printed them, and the figures that ours are drawn beside."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

from arena.errors import UsageFault


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean and its ±; `error` is None where the paper gives none."""

    mean: float
    error: float | None


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One row of a table of the paper; units as the game's, per match.

    Attributes:
      method: what the paper calls it.
      pop_return: higher is better.
      pop_expl: lower is better.
      agg_score: higher is better.
      source: "measured" by the paper's authors, or whom they quote.
      best: the largest AggScore over the paper's seeds; None where it is not printed.
    """

    method: str
    pop_return: Figure
    pop_expl: Figure
    agg_score: Figure
    source: str
    best: float | None = None


_METHODS = {"rrps": "paper_rrps_methods.csv", "leduc": "paper_leduc_methods.csv"}
_VARIANTS = {"rrps": "paper_rrps_csro_variants.csv"}
STRONGEST_BOT = {"rrps": ("greenberg, the strongest of the 43 bots", 284.6)}
"""AggScore of the best member of the evaluation population (Lanctot et al. 2023: 284.5)."""


def methods(game: str) -> tuple[PaperRow, ...]:
    """The main table of a game.

    Raises:
      UsageFault: the paper has none for this game.
    """
    if game not in _METHODS:
        raise UsageFault(f"the paper has no table for {game!r}; it has: {', '.join(_METHODS)}")
    return tuple(
        PaperRow(
            method=row["method"],
            pop_return=_figure(row, "pop_return"),
            pop_expl=_figure(row, "pop_expl"),
            agg_score=_figure(row, "agg_score"),
            source=row.get("source") or "measured",
        )
        for row in _rows(_METHODS[game])
    )


def variants(game: str) -> tuple[PaperRow, ...]:
    """The supplementary table of CSRO's variants; empty where the paper has none."""
    if game not in _VARIANTS:
        return ()
    return tuple(
        PaperRow(
            method=f"CSRO {row['oracle']} ({row['opponent_input']}; {row['opponent_filter']})",
            pop_return=Figure(float(row["pop_return_mean"]), float(row["pop_return_err"])),
            pop_expl=Figure(float(row["pop_expl_mean"]), float(row["pop_expl_err"])),
            agg_score=Figure(float(row["agg_score_mean"]), float(row["agg_score_err"])),
            source="measured",
            best=float(row["agg_score_max"]),
        )
        for row in _rows(_VARIANTS[game])
    )


def reference_lines(game: str) -> tuple[tuple[str, float], ...]:
    """AggScores to draw beside a run's: the paper's best CSRO, its best other agent, a bot."""
    if game not in _METHODS:
        return ()
    rows = methods(game)
    ours = max((r for r in rows if r.method.startswith("CSRO")), key=lambda r: r.agg_score.mean)
    others = [r for r in rows if not r.method.startswith("CSRO")]
    other = max(others, key=lambda r: r.agg_score.mean)
    lines = [(f"paper: {row.method}", row.agg_score.mean) for row in (ours, other)]
    return (*lines, STRONGEST_BOT[game]) if game in STRONGEST_BOT else tuple(lines)


def _figure(row: dict[str, str], name: str) -> Figure:
    error = row[f"{name}_err"]
    return Figure(float(row[name]), float(error) if error else None)


def _rows(file: str) -> Iterator[dict[str, str]]:
    text = (files("population.data") / file).read_text(encoding="utf-8")
    yield from csv.DictReader(text.splitlines())
