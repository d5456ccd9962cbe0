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
_BEGINS, _ENDS = "*** Begin Patch", "*** End Patch"
"""Such a patch needs no fence."""
_ABOUT_FILES = re.compile(r"(?:--- |\+\+\+ |\*\*\* |diff |index |\\ No newline)")


def parse_diffs(reply: str) -> tuple[Edit, ...]:
    """The hunks of a reply's diffs that change something, in order; each means one place."""
    reply = reply.replace("\r\n", "\n")
    texts = [block.text for block in code_blocks(reply) if _is_diff(block)]
    hunks = [
        [line for line in part.strip("\n").split("\n") if not _ABOUT_FILES.match(line)]
        for text in texts or _patches(reply)
        for part in _HUNK.split(text)
    ]
    return tuple(
        Edit(_without("+", hunk), _without("-", hunk), once=True)
        for hunk in hunks
        if any(line[:1] in ("+", "-") for line in hunk)
    )


def _patches(reply: str) -> list[str]:
    found = []
    at = reply.find(_BEGINS)
    while at >= 0 and (end := reply.find(_ENDS, at)) >= 0:
        found.append(reply[at + len(_BEGINS) : end])
        at = reply.find(_BEGINS, end)
    return found


def _is_diff(block: CodeBlock) -> bool:
    return block.language in _LANGUAGES or _HUNK.search(block.text) is not None


def _without(mark: str, hunk: list[str]) -> tuple[str, ...]:
    """The lines of one side, without what marks them."""
    return tuple(line[1:] for line in hunk if line[:1] != mark)
