"""Which lines of a program's code a text quotes.

Code only: a docstring and a comment are words about the program, and who describes it may well
find the same ones.  The program is taken apart by a pattern and never handed to Python's own
parser, because nobody vouches for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LEAK_CHARS = 12
"""A line of code that is shorter than this gives nothing away."""
_TOKEN = re.compile(
    r"(?P<string>[a-zA-Z]{0,3}(?:"
    r'"""(?:\\.|[^\\])*?"""|' + r"'''(?:\\.|[^\\])*?'''|"
    r'"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'))"
    r"|(?P<comment>\#[^\n]*)"
    r"|(?P<newline>\n)"
    r"|(?P<opens>[(\[{])"
    r"|(?P<closes>[)\]}])"
    r"|(?P<blank>(?:[^\S\n]|\\\n)+)"
    r"|(?P<word>\w+)"
    r"|(?P<sign>.)",
    re.DOTALL,
)
_MARKS = re.compile(r"[^\w\s,;!?-]")
"""What prose does not have in a line that reads like code; words and commas alone are prose."""


def code_lines(source: str) -> tuple[str, ...]:
    """The lines of a program that hold code, without comments, each once.

    Blanks and line breaks make no difference, so a statement that runs over several lines is there
    as a whole too.
    """
    found: dict[str, None] = {}
    for statement in _statements(source):
        lines = [" ".join(line.split()) for line in statement.split("\n")]
        for line in (*lines, " ".join(filter(None, lines))):
            if _MARKS.search(line):
                found[line] = None
    return tuple(found)


def _statements(source: str) -> Iterator[str]:
    """The text of each statement without its comments; those of strings alone are left out."""
    parts: list[str] = []
    depth, code = 0, False
    for token in _TOKEN.finditer(source):
        kind = token.lastgroup
        if kind == "newline" and depth == 0:
            if code:
                yield "".join(parts)
            parts, code = [], False
        elif kind != "comment":
            parts.append(token[0])
            depth += (kind == "opens") - (kind == "closes" and depth > 0)
            code = code or kind in ("opens", "closes", "word", "sign")
    if code:
        yield "".join(parts)


def leaks(text: str, source: str) -> tuple[str, ...]:
    """Lines of the program's code, of `LEAK_CHARS` or more characters, that the text quotes."""
    flat = " ".join(text.split())
    return tuple(line for line in code_lines(source) if len(line) >= LEAK_CHARS and line in flat)
