"""Programs that leave code out: what a model shows in place of writing it again.

They may parse and lack half of their methods, so none is taken where a whole program stands beside
it, and a comment that says so is sent back to whoever wrote it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

_SAID = re.compile(
    r'"""(?:\\.|[^\\"]|"(?!""))*+(?:"""|\\?\Z)'
    r"|'''(?:\\.|[^\\']|'(?!''))*+(?:'''|\\?\Z)|#[^\n]*",
    re.DOTALL,
)
"""Nothing in it is tried twice."""
_DOTS = re.compile(r"(?:^|:)[ \t]*+\.\.\.[ \t]*+$", re.MULTILINE)
_COMMENT = re.compile(r"[ \t]*+(pass[ \t]++)?#++[ \t]*+(.*)")
_CLEARLY = 0.95
_LONGEST = 100
"""Characters of a comment that stands for code; longer ones explain something."""
_WHAT = r"(?:code|methods?|functions?|logic|implementation|class(?:es)?|imports?|constants?)"
_OLD = r"(?:existing|previous|original|remaining|other|old)"
_REST = r"(?:rest|remainder|everything else|all else)"
_OF = rf"(?: of (?:the |your |my |this )?(?:{_WHAT}|program|file|bot|agent|body|script))?"
_SAME = r"(?:unchanged|the same|untouched|as (?:above|before|it is|it was|they are|they were))"
_STAYS = r"(?:stays?|remains?|goes here|continues?|follows)"
_AND = r"(?:is|are|all|exactly|kept|left|completely|just|stays?|remains?|continues?)"
_DOT = r"(?:\.{3}|\u2026)"
_STANDS_FOR_CODE = re.compile(
    rf"\W?{_DOT}\W*|\W?{_DOT}.*{_DOT}\W?"
    rf"|\W?{_DOT}.*\b(?:existing|rest|remaining|unchanged|omitted|truncated|{_WHAT})\b.*"
    rf"|\W*(?:all |the |your |my )*(?:{_REST}{_OF}|{_OLD} (?:\w+ )?{_WHAT})\b"
    rf"(?: (?:{_AND} )*?(?:{_SAME}|{_STAYS})(?: as (?:above|before))?)\W*"
    r"|\W*(?:code )?unchanged\W*"
    rf"|\W*(?:{_WHAT} |rest |body )?omitted(?: (?:for|here)\b.*)?\W*"
    rf"|[\[(<{{]\W*(?:the |your )?{_OLD} {_WHAT}.*[\])>}}]"
    r"|.*\bexisting (?:code|methods)(?: here)?\W*",
    re.IGNORECASE,
)
_STANDS_BEHIND_PASS = re.compile(
    rf"{_STANDS_FOR_CODE.pattern}|\W*(?:same )?as (?:above|before)\W*", re.IGNORECASE
)


def is_sketch(program: str, beside: Iterable[str] = ()) -> bool:
    """Whether it leaves something out: it says so in a comment, or has dots in the place of code.

    Dots alone may mean nothing: they do not count where there is as much of it as of the whole
    programs beside it.
    """
    said = left_out(program)
    if said is not None and said[1].strip("#.\u2026 \t"):
        return True
    if said is None and _DOTS.search(_SAID.sub("", program)) is None:
        return False
    return _size(program) < _CLEARLY * max(map(_size, beside), default=math.inf)


def left_out(program: str, known: Iterable[str] = ()) -> tuple[int, str] | None:
    """The first comment that stands for code which was not written, with its line's number.

    Args:
      program: of a model.
      known: lines that may stand in it; their blanks do not count.
    """
    spared = {line.strip() for line in known}
    for number, line in enumerate(program.split("\n"), 1):
        found = _COMMENT.fullmatch(line)
        if found is None or len(found[2]) > _LONGEST or line.strip() in spared:
            continue
        stands = _STANDS_BEHIND_PASS if found[1] else _STANDS_FOR_CODE
        if stands.fullmatch(found[2].strip()):
            return number, line.strip()
    return None


def _size(program: str) -> int:
    """Characters of its code, docstrings and comments left out."""
    return len("".join(_SAID.sub("", program).split()))
