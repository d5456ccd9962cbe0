"""Colours for a policy's source on a terminal.

The lexer looks at text that nobody vouches for, and can be made to take seconds over a few lines,
so this runs in a limited child (`sandbox/limited.py`).  `arena/cli/coloured.py` asks.
"""

from __future__ import annotations

from rich.style import Style
from rich.syntax import Syntax

_PYTHON = Syntax("", "python", background_color="default")
_PYTHON.highlight("x = 1")  # loads what it needs; behind the seal nothing can be loaded


def spans(source: str) -> list[tuple[int, int, str]]:
    """Where which style goes: first and last character, the style as rich writes it."""
    return [
        (span.start, span.end, _foreground(span.style))
        for span in _PYTHON.highlight(source).spans
        if isinstance(span.style, Style)
    ]


def _foreground(style: Style) -> str:
    return str(Style(color=style.color, bold=style.bold, italic=style.italic))
