"""Values that show as tables: printed, in a notebook, and as tables of other libraries.

What an arena answers with (leaderboards, payoffs, scores, lists) is `Printed`.  Each has a `sheet`
for people, with what fits on a screen, and `to_arrow` for programs, with everything.
"""

from __future__ import annotations

import io
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from arena.figures.templates import fill
from arena.figures.text import interval, number
from registry import shown

if TYPE_CHECKING:
    import pyarrow as pa
    from markupsafe import Markup
    from rich.console import Console

    from arena.analysis.estimates import Estimate

WIDTH = 140
"""Characters that a table has room for, where nobody says how wide the screen is."""
GAP = 2
"""Characters around each cell."""
_UNBOUND = 2_000

T = TypeVar("T")
Side = Literal["left", "right"]


class Aside(NamedTuple):
    """A cell with an aside that is shown fainter: a number and its interval."""

    text: str
    aside: str


Cell = str | Aside


def length(cell: Cell) -> int:
    """How many characters of a line a cell takes."""
    return len(cell) if isinstance(cell, str) else len(cell.text) + 1 + len(cell.aside)


def wider(left_out: Sequence[str]) -> str:
    """What is said of columns that a screen has no room for; "" where there are none."""
    return f"a wider screen also shows: {', '.join(left_out)}" if left_out else ""


def estimated(estimate: Estimate | None) -> Cell:
    """An estimate with its 95 % interval."""
    if estimate is None:
        return "-"
    return Aside(number(estimate.value), interval(estimate))


def estimate_columns(name: str, estimate: Estimate | None) -> dict[str, float | None]:
    """An estimate as columns of a table for programs: value, stderr, and the 95 % interval."""
    if estimate is None:
        return dict.fromkeys((name, f"{name}_stderr", f"{name}_low", f"{name}_high"))
    return {
        name: _finite(estimate.value),
        f"{name}_stderr": _finite(estimate.stderr),
        f"{name}_low": _finite(estimate.low),
        f"{name}_high": _finite(estimate.high),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def table_of(items: Sequence[T], columns: Mapping[str, Callable[[T], Any]]) -> pa.Table:
    """An Arrow table of some items; its columns are there also where there is no item.

    Args:
      items: one for each row.
      columns: name to what an item has in that column.
    """
    import pyarrow as pa  # lists on a terminal do without

    return pa.table({name: [of(item) for item in items] for name, of in columns.items()})


def continued(text: str) -> str:
    """Somebody's words as part of a title or a note: further lines of theirs look like no other."""
    return shown(text).replace("\n", "\n    ")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table for people.  Whatever stands in it may come from an entrant: it is text, no markup.

    Attributes:
      title: above it, in one line or several.
      columns: names, and to which side their cells are put.
      rows: one cell for each column.
      note: below it, likewise; "" for none.
    """

    title: str
    columns: Mapping[str, Side]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def taken(self) -> int:
        """Characters that its longest line takes, where no cell is folded."""
        cells = [[len(name)] for name in self.columns]
        for row in self.rows:
            for column, cell in zip(cells, row, strict=True):
                column.append(length(cell))
        return sum(GAP + max(column) for column in cells)

    def print_on(self, console: Console) -> None:
        """Prints it on a terminal, with the asides dimmed where it has colours."""
        from rich.table import Table  # what is answered as JSON does without all of rich

        for line in self.title.splitlines():
            console.print(f"[bold]{_plain(line)}[/]")
        table = Table(box=None, header_style="bold")
        for name, side in self.columns.items():
            table.add_column(_plain(name), justify=side, no_wrap=side == "right", overflow="fold")
        for row in self.rows:
            table.add_row(*map(marked, row))
        if self.columns:
            console.print(table)
        for line in self.note.splitlines():
            console.print(_plain(line))

    def text(self, width: int = _UNBOUND) -> str:
        """It as plain text of at most that many characters a line; by default nothing is folded."""
        from rich.console import Console

        written = io.StringIO()
        plain = Console(file=written, width=width, no_color=True, highlight=False, emoji=False)
        self.print_on(plain)
        return "\n".join(line.rstrip() for line in written.getvalue().splitlines())

    def html(self) -> Markup:
        """It as an HTML table that looks right in a notebook, light or dark."""
        sides = tuple(self.columns.values())
        return fill(
            "arena/printed.j2",
            "sheet",
            title=self.title.splitlines(),
            heads=self.columns.items(),
            rows=[
                [(side, *_parts(cell)) for cell, side in zip(row, sides, strict=True)]
                for row in self.rows
            ],
            note=self.note.splitlines(),
        )


class Printed(ABC):
    """A value that shows as a table."""

    __slots__ = ()

    @abstractmethod
    def sheet(self, width: int = WIDTH) -> Sheet:
        """It for people; columns that a screen of that many characters has no room for stay out."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """All of it for programs, as an Arrow table."""

    def to_pandas(self) -> Any:
        """The same as a pandas `DataFrame`.

        Raises:
          ImportError: pandas is not installed.
        """
        return self.to_arrow().to_pandas()

    def picture(self) -> str:
        """A chart of it as HTML (`Markup`) that needs nothing else; "" where there is none."""
        return ""

    def __str__(self) -> str:
        return self.sheet().text()

    def _repr_html_(self) -> str:
        """What a notebook shows: the table, and the chart where there is one."""
        return self.sheet().html() + self.picture()


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(shown(text))


def marked(cell: Cell) -> str:
    """A cell as rich markup."""
    if isinstance(cell, Aside):
        return f"{_plain(cell.text)} [dim]{_plain(cell.aside)}[/]"
    return _plain(cell)


def _parts(cell: Cell) -> tuple[str, str | None]:
    """A cell's text, and its aside where it has one."""
    return cell if isinstance(cell, Aside) else (cell, None)
