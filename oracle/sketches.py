"""Programs that leave code out: what a model shows in place of writing it again.

They may parse and lack half of their methods, so none is taken where a whole program stands beside
it, and a comment that says so is sent back to whoever wrote it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

_SAID = re.compile(r'"""(?:\\.|[^\\])*?"""|' r"|'''(?:\\.|[^\\])*?'''|#[^\n]*", re.DOTALL)
_DOTS = re.compile(r"(?:^|:)[ \t]*+\.\.\.[ \t]*+$", re.MULTILINE)
_COMMENT = re.compile(r"[ \t]*+(?:pass[ \t]++)?#++[ \t]*+(.*)")
_CLEARLY = 0.95
_LONGEST = 100
"""Characters of a comment that stands for code; longer ones explain something."""
_WHAT = r"(?:code|methods?|functions?|logic|implementation|class(?:es)?|imports?|constants?)"
_OLD = r"(?:existing|previous|original|remaining|other|old)"
_SAME = (
    r"(?:unchanged|the same|as (?:above|before|it is|it was|they are)|untouched|stays?|remains?)"
)
_STANDS_FOR_CODE = re.compile(
    r"[\[(<{]?\s?(?:\.{3}|\u2026)(?:[\s\])>}].*)?"  # ... existing code ...
    rf"|\W*(?:the |your )?(?:rest|remainder|everything else|all else|{_OLD})\b.*\b{_SAME}\W*"
    rf"|\W*(?:same |code )?(?:unchanged|as (?:above|before))\W*"
    rf"|\W*(?:{_WHAT} |rest |body )?omitted(?: (?:for|here)\b.*)?\W*"
    rf"|\W*(?:the |your )?{_OLD} {_WHAT}(?: (?:goes|continues|stays|remains|here|follows))+\W*"
    rf"|\W*(?:the |your )?(?:existing|previous|original) {_WHAT}\W*"
    r"|.*\bexisting code\W*",
    re.IGNORECASE,
)


def is_sketch(program: str, beside: Iterable[str] = ()) -> bool:
    """Whether it leaves something out: it says so in a comment, or has dots in the place of code.

    Dots alone may mean nothing: they do not count where there is as much of it as of the whole
    programs beside it.
    """
    said = left_out(program)
    if said is not None and said[1].strip("#.\u2026 \t"):
        return True
    dotted = said is not None or _DOTS.search(_SAID.sub("", program)) is not None
    largest = max(map(_size, beside), default=math.inf)
    return dotted and _size(program) < _CLEARLY * largest


def left_out(program: str, known: Iterable[str] = ()) -> tuple[int, str] | None:
    """The first comment that stands for code which was not written, with its line's number.

    Args:
      program: of a model.
      known: lines that may stand in it; their blanks do not count.
    """
    spared = {line.strip() for line in known}
    for number, line in enumerate(program.split("\n"), 1):
        found = _COMMENT.fullmatch(line)
        if found is None or len(found[1]) > _LONGEST or line.strip() in spared:
            continue
        if _STANDS_FOR_CODE.fullmatch(found[1].strip()):
            return number, line.strip()
    return None


def _size(program: str) -> int:
    """Characters of its code, docstrings and comments left out."""
    return len("".join(_SAID.sub("", program).split()))
