"""What an oracle tried, as a tree: what was made from what, coloured by what it returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arena.figures import colours
from arena.figures.picture import Picture
from arena.figures.templates import fill
from arena.figures.text import signed
from arena.games.protocol import Game
from oracle.values import Attempt
from population import u_intervals
from population.records import Iteration

MOST_ATTEMPTS = 200
"""Nodes of one tree; the latest are left out."""
_ROW_PIXELS = 26
_LUMINANCE = (0.2126, 0.7152, 0.0722)
_SMALLEST_COLUMN = 6.8
"""Width of a node, in rem."""


@dataclass(frozen=True, slots=True)
class Tried:
    """An attempt of one iteration."""

    k: int
    attempt: Attempt

    @property
    def name(self) -> str:
        """Such as "k03 attempt 2"."""
        return f"k{self.k:02d} attempt {self.attempt.number}"


@dataclass(frozen=True, slots=True)
class Tree:
    """Attempts on a grid: a column for each generation, no two in one cell.

    Attributes:
      cells: (row, column) to the attempt that stands there.
      edges: from the cell of a parent to that of its child.
      rows: of the grid.
      columns: of the grid.
      left: attempts that had no room.
    """

    cells: Mapping[tuple[int, int], Tried]
    edges: tuple[tuple[tuple[int, int], tuple[int, int]], ...]
    rows: int
    columns: int
    left: int

    @property
    def tried(self) -> list[Tried]:
        """All that has a cell, in the order in which it was tried."""
        return sorted(self.cells.values(), key=lambda one: (one.k, one.attempt.number))


def tree_of(iterations: Sequence[Iteration]) -> Tree:
    """Lays out the attempts of some iterations.

    A program that an earlier attempt wrote is that attempt's child, whatever the iteration.
    """
    found = [Tried(one.k, attempt) for one in iterations for attempt in one.attempts]
    chosen = found[:MOST_ATTEMPTS]
    place_of: dict[str, int] = {}
    children: dict[int, list[int]] = {}
    roots: list[int] = []
    for place, tried in enumerate(chosen):
        parent = place_of.get(tried.attempt.parent)
        (roots if parent is None else children.setdefault(parent, [])).append(place)
        if tried.attempt.digest:
            place_of.setdefault(tried.attempt.digest, place)
    at: dict[int, tuple[int, int]] = {}
    row = 0
    # Depth first: the first child stands beside its parent, every other one in a row of its own.
    stack = [(root, 0, True) for root in reversed(roots)]
    while stack:
        place, column, fresh = stack.pop()
        if fresh and at:
            row += 1
        at[place] = (row, column)
        below = children.get(place, [])
        stack += [(one, column + 1, one != below[0]) for one in reversed(below)]
    edges = tuple((at[a], at[b]) for a, group in children.items() for b in group)
    columns = 1 + max((column for _, column in at.values()), default=0)
    cells = {cell: chosen[place] for place, cell in at.items()}
    return Tree(cells, edges, row + 1, columns, len(found) - len(chosen))


def attempt_tree(tree: Tree, game: Game, *, dark: bool = False) -> Picture:
    """The tree as a picture; a cell without an attempt tells nothing.

    Args:
      tree: with at least one attempt.
      game: that was played.
      dark: whether it stands on a dark ground.
    """
    known = [abs(one.attempt.score.u) for one in tree.cells.values() if one.attempt.score]
    limit = max(float(np.quantile(known, 0.95)) if known else 1.0, 1e-9)
    told_of_key = f"u from {-limit:,.0f} to +{limit:,.0f} {game.unit} a match"
    html = fill(
        "population/attempt_tree.j2",
        "tree",
        rows=tree.rows,
        columns=tree.columns,
        height=_ROW_PIXELS * tree.rows,
        width=f"{_SMALLEST_COLUMN * tree.columns:.1f}",
        edges=[_edge(*edge) for edge in tree.edges],
        nodes=[_node(tree, cell, limit, dark) for cell in tree.cells],
        key=(colours.ramp(dark), told_of_key),
    )
    told = [
        _told(tree.cells[row, column], game) if (row, column) in tree.cells else ""
        for row in range(tree.rows)
        for column in range(tree.columns)
    ]
    rows = [f"row {row + 1}" for row in range(tree.rows)]
    columns = [f"generation {column + 1}" for column in range(tree.columns)]
    return Picture(html, rows, columns, [], told)


def _edge(parent: tuple[int, int], child: tuple[int, int]) -> str:
    (top, left), (bottom, right) = parent, child
    return f"M{left + 0.5} {top + 0.5}L{left + 0.5} {bottom + 0.5}L{right + 0.5} {bottom + 0.5}"


class _Node(NamedTuple):
    """An attempt as it is drawn.

    Attributes:
      left, top: its place in percent.
      name: what it is called here.
      text: its return, "" where it was rejected.
      ground, ink: its colours.
      kept: whether it was kept when it was tried.
    """

    left: str
    top: str
    name: str
    text: str
    ground: str
    ink: str
    kept: bool


def _node(tree: Tree, cell: tuple[int, int], limit: float, dark: bool) -> _Node:
    attempt = tree.cells[cell].attempt
    row, column = cell
    several = len({one.k for one in tree.cells.values()}) > 1
    name = f"k{tree.cells[cell].k:02d}.{attempt.number}" if several else str(attempt.number)
    left, top = 100 * (column + 0.5) / tree.columns, 100 * (row + 0.5) / tree.rows
    text, ground, ink = "", "transparent", "inherit"
    if attempt.score is not None:
        text, (ground, ink) = signed(attempt.score.u), _paint(attempt.score.u / limit, dark)
    return _Node(f"{left:.2f}", f"{top:.2f}", name, text, ground, ink, attempt.kept)


def _paint(share: float, dark: bool) -> tuple[str, str]:
    """Ground and ink of a return, as a share of the largest: legible on each other."""
    stops = colours.diverging(dark)
    places = [place for place, _ in stops]
    at = min(max(share / 2 + 0.5, 0.0), 1.0)
    bands = [
        float(np.interp(at, places, [int(colour[start : start + 2], 16) for _, colour in stops]))
        for start in (1, 3, 5)
    ]
    # Relative luminance, as WCAG has it but for the exact exponent.
    light = sum(w * (band / 255) ** 2.2 for w, band in zip(_LUMINANCE, bands, strict=True))
    ground = f"rgb({' '.join(str(round(band)) for band in bands)})"
    return ground, "#101418" if light > 0.18 else "#FFFFFF"


def _told(tried: Tried, game: Game) -> str:
    attempt = tried.attempt
    if attempt.score is not None:
        u = u_intervals.told(u_intervals.of_score(attempt.score, game))
        given = u_intervals.forfeits_told(attempt.score.against, "opponents")
        lines = (tried.name, f"u {u} {game.unit} a match", given, attempt.fate)
        return "\n".join(filter(None, lines))
    return f"{tried.name}\n{attempt.failure.kind.value if attempt.failure else 'no score'}"
