"""The paper's tables, as it printed them, and the figures that ours are drawn beside."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace

from arena.games import game as game_named

AGENT_MATCHES = 16
"""Of a language model that plays move by move, with each opponent."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean and its ±; `error` is None where the paper gives none."""

    mean: float
    error: float | None

    def __str__(self) -> str:
        error = "" if self.error is None else f" ± {self.error:.1f}"
        return f"{self.mean:.1f}{error}"


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


def methods(game: str) -> tuple[PaperRow, ...]:
    """The main table of a game; empty where the paper has none."""
    published = game_named(game).published
    if published is None:
        return ()
    return tuple(
        PaperRow(
            method=row["method"],
            pop_return=_figure(row, "pop_return"),
            pop_expl=_figure(row, "pop_expl"),
            agg_score=_figure(row, "agg_score"),
            source=row.get("source") or "measured",
        )
        for row in _rows(published.methods)
    )


def published_rows(game: str) -> tuple[PaperRow, ...]:
    """Both tables of a game as one: what stands in both is there once, with its best run."""
    more = {(one.pop_return, one.pop_expl, one.agg_score): one for one in variants(game)}
    rows = []
    for row in methods(game):
        same = more.pop((row.pop_return, row.pop_expl, row.agg_score), None)
        rows.append(replace(row, best=same.best) if same else row)
    return (*rows, *more.values())


def variants(game: str) -> tuple[PaperRow, ...]:
    """The supplementary table of CSRO's variants; empty where the paper has none."""
    published = game_named(game).published
    if published is None or not published.variants:
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
        for row in _rows(published.variants)
    )


def reference_lines(game: str, metric: str = "agg_score") -> tuple[tuple[str, float], ...]:
    """What to draw beside a run's: the paper's best CSRO and its best other agent, by AggScore.

    Args:
      game: its name.
      metric: of `PaperRow`; beside AggScores there is a bot as well.
    """
    published = game_named(game).published
    if published is None:
        return ()
    rows = methods(game)
    ours = [row for row in rows if row.method.startswith("CSRO")]
    others = [row for row in rows if not row.method.startswith("CSRO")]
    best = [max(some, key=lambda row: row.agg_score.mean) for some in (ours, others) if some]
    lines = [(f"paper: {row.method}", getattr(row, metric).mean) for row in best]
    bot = [published.strongest] if published.strongest and metric == "agg_score" else []
    return (*lines, *bot)


def against(game: str) -> dict[str, dict[str, Figure]]:
    """Method to opponent, by its name without author, to the mean return against it."""
    published = game_named(game).published
    found: dict[str, dict[str, Figure]] = {}
    for row in _rows(published.against if published else ""):
        error = float(row["err"]) if row["err"] else None
        found.setdefault(row["method"], {})[row["opponent"]] = Figure(float(row["mean"]), error)
    return found


def _figure(row: dict[str, str], name: str) -> Figure:
    error = row[f"{name}_err"]
    return Figure(float(row[name]), float(error) if error else None)


def _rows(text: str) -> Iterator[dict[str, str]]:
    yield from csv.DictReader(text.splitlines())
