"""Programs as a prompt shows them: each once, by a name, and relatives by what is different.

Programs of one run descend from each other, and some hold a copy of another to foresee it.  So a
program that is much like one that stands above is shown as the changes from it.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from arena.source_check import difference

_SHARED = 0.4
"""Of a program's lines must stand in another one before the two are compared."""
_WORTH = 0.6
"""The changes must be shorter than this share of the program, or it is shown as a whole."""
_CONTEXT = 2
_LEAST_CHARS = 600
"""A shorter program is shown as it is."""
_TOLD = 4
"""Characters of a line that tells two programs apart; shorter ones stand everywhere."""
_MARK = 40
"""Characters that the remark on what was left out may take."""


def fenced(text: str, language: str = "python") -> str:
    """The text as a code block whose fence cannot be closed from within."""
    runs = re.findall(r"`{3,}", text)
    fence = "`" * max(3, 1 + max(map(len, runs), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def clipped(text: str, most: int) -> str:
    """The text, without its middle where it has more characters than that, 100 or more."""
    if len(text) <= most:
        return text
    half = (most - _MARK) // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[{left_out} characters left out]\n{text[-half:]}"


class Shelf:
    """The programs that stand in one form of a prompt so far."""

    def __init__(self, whole: Collection[str] = ()) -> None:
        """Begins with none.

        Args:
          whole: programs that are never shown as changes, because edits will quote their lines.
        """
        self._whole = frozenset(whole)
        self._names: dict[str, str] = {}
        self._bases: dict[str, str] = {}

    def show(self, name: str, source: str) -> str:
        """The program as it is to stand here; where it stands above, only that it does.

        Args:
          name: of the program, for whatever comes after it, such as "attempt a02".
          source: the program.
        """
        if (known := self._names.get(source)) is not None:
            return f"It is {known}, which stands above."
        self._names[source] = name
        changed = "" if source in self._whole else self._changes(source)
        if changed:
            return changed
        self._bases[source] = name
        return fenced(source)

    def _changes(self, source: str) -> str:
        """What is different from the nearest program above; "" where none is near."""
        lines = _lines(source)
        if len(source) < _LEAST_CHARS:
            return ""
        near = {
            base: len(lines & _lines(base)) / len(lines)
            for base in self._bases
            if lines and len(lines & _lines(base)) >= _SHARED * len(lines)
        }
        if not near:
            return ""
        base = max(near, key=lambda one: near[one])
        found = difference(base, source, context=_CONTEXT)
        if not found or len(found) > _WORTH * len(source):
            return ""
        name = self._bases[base]
        changes = "\n".join(found.split("\n")[2:])  # without the two lines for names of files
        return (
            f"It is {name}, which stands above, with these changes (a line that "
            f"begins with - is not in it, one that begins with + is):\n\n{fenced(changes, 'diff')}"
        )


def _lines(source: str) -> set[str]:
    stripped = (line.strip() for line in source.splitlines())
    return {line for line in stripped if len(line) > _TOLD}
