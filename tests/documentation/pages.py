"""The documents as the tests read them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
README = ROOT / "README.md"
CODE = ("arena", "dashboards", "oracle", "population", "registry", "sandbox")

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.S | re.M)


def blocks(page: Path, *kinds: str) -> list[str]:
    """Code blocks of some kinds, in their order."""
    text = page.read_text(encoding="utf-8")
    return [body for kind, body in _BLOCK.findall(text) if kind in kinds]


def shell_commands(page: Path) -> Iterator[list[str]]:
    """Commands of the shell blocks, each as its words; what comes after a pipe is left out."""
    for block in blocks(page, "sh"):
        yield from filter(None, map(_words, block.splitlines()))
    for block in blocks(page, "console"):
        shown = [line[2:] for line in block.splitlines() if line.startswith("$ ")]
        yield from filter(None, map(_words, shown))


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in lexer:
        if set(word) <= {"|", ";"}:
            break
        words.append(word)
    return words
