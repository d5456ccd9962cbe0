"""Unified diffs in a reply, and patches of the same kind: read as edits.

No prompt asks for them, but some models were taught to answer so.  What a hunk says of line numbers
is not believed; its lines have to fit in one place (the format: GNU diffutils' manual, section
"Detailed Description of Unified Format").
"""

from __future__ import annotations

import re

from oracle.edits import Edit
from oracle.extract import CodeBlock, code_blocks

_LANGUAGES = {"diff", "patch", "udiff"}
_HUNK = re.compile(r"^@@.*$", re.MULTILINE)
_PATCH = re.compile(
    r"^\*\*\* Begin Patch[ \t]*+\n((?:(?!\*\*\* End Patch)[^\n]*+\n)*+)\*\*\* End Patch",
    re.MULTILINE,
)
"""Needs no fence."""
_ABOUT_FILES = re.compile(r"(?:--- |\+\+\+ |\*\*\* |diff |index |\\ No newline)")


def parse_diffs(reply: str) -> tuple[Edit, ...]:
    """The hunks of a reply's diffs that change something, in order; each means one place."""
    reply = reply.replace("\r\n", "\n")
    texts = [block.text for block in code_blocks(reply) if _is_diff(block)]
    hunks = [
        [line for line in part.strip("\n").split("\n") if not _ABOUT_FILES.match(line)]
        for text in texts or [patch[1] for patch in _PATCH.finditer(reply)]
        for part in _HUNK.split(text)
    ]
    return tuple(
        Edit(_without("+", hunk), _without("-", hunk), once=True)
        for hunk in hunks
        if any(line[:1] in ("+", "-") for line in hunk)
    )


def _is_diff(block: CodeBlock) -> bool:
    return block.language in _LANGUAGES or _HUNK.search(block.text) is not None


def _without(mark: str, hunk: list[str]) -> tuple[str, ...]:
    """The lines of one side, without what marks them."""
    return tuple(line[1:] for line in hunk if line[:1] != mark)
