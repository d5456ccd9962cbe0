"""SEARCH/REPLACE blocks: finding them in a reply and applying them to a program.

As in the paper's prompt (appendix, "Prompt for Repeated Leduc Poker"), a block replaces *all*
places that match it exactly.  Where nothing matches exactly, trailing blanks are forgiven, code
fences around the parts, then one uniform shift of the indentation if it is unique.  Otherwise the
block is refused, with the lines that come closest.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from arena.source_check import MAX_BYTES
from oracle.values import Failure, Rejected

_BEHIND = r"\b[ \t]*+:?+[ \t]*+\S*+[ \t]*+$"
"""A colon, and one word: a file's name or a code fence.  Nothing in it is tried twice."""
_HEAD = re.compile(rf"^[ \t\ufeff]*+<{{5,9}}+[ \t]*+(?i:SEARCH){_BEHIND}")
_MIDDLE = re.compile(r"^[ \t]*={5,9}[ \t]*$")
_DIVIDER = "======="
"""As the prompt asks for it; `_MIDDLE` is what is taken for one where there is no such line."""
_TAIL = re.compile(rf"^[ \t]*+>{{5,9}}+[ \t]*+(?i:REPLACE){_BEHIND}")
_FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)[ \t]*+[\w+.#-]*+[ \t]*+")
_TAB = 4
"""Columns of a tab, where either the program or the search is indented by tabs."""
_VOTES = 8
"""How many places of one line in a search count: a line such as "pass" may stand anywhere."""
_COMPARED = 200
"""Characters of a line that are compared."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines to look for, and the lines that take their place."""

    search: tuple[str, ...]
    replace: tuple[str, ...]


def _bad(reason: str) -> Failure:
    return Failure(Rejected.BAD_EDIT, reason)


def parse_edits(reply: str) -> tuple[Edit, ...] | Failure:
    """The blocks of a reply, in order; a failure where one is malformed or there is none."""
    found: list[Edit] = []
    block: list[str] | None = None  # None outside of blocks
    begun = 0
    for number, line in enumerate(reply.replace("\r\n", "\n").split("\n"), 1):
        if _HEAD.match(line):
            if block is not None:
                inside = _bad(f"line {number}: a SEARCH begins inside another block")
                return _doubled(block, begun) or inside
            block, begun = [], number
        elif _TAIL.match(line):
            edit = _divided(block or [], begun, number)
            if isinstance(edit, Failure):
                return edit
            found.append(edit)
            block = None
        elif block is not None:
            block.append(line)
    if block is not None:
        unended = "the last block does not end with a REPLACE line; the reply may be cut off"
        return _doubled(block, begun) or _bad(unended)
    if not found:
        return _bad("there is no SEARCH/REPLACE block in the reply")
    # A block that is said once in the plan and once behind it is meant once.
    return tuple(dict.fromkeys(found))


def without_edits(reply: str) -> str:
    """What stands outside of the blocks of a reply, all of which `parse_edits` takes."""
    kept: list[str] = []
    inside = False
    for line in reply.replace("\r\n", "\n").split("\n"):
        inside = inside or _HEAD.match(line) is not None
        if not inside:
            kept.append(line)
        inside = inside and not _TAIL.match(line)
    return "\n".join(kept)


def _divided(block: list[str], begun: int, ended: int) -> Edit | Failure:
    """The two parts of a block.

    A line that looks like a divider may be one of the program's, as the underline of a title in a
    docstring, so the one that is written as the prompt asks goes before all others.

    Args:
      block: its lines without the first and the last.
      begun: number of its first line in the reply.
      ended: of its last.
    """
    places = _dividers(block)
    if not places:
        return _bad(f"line {ended}: REPLACE without a SEARCH and a divider before it")
    doubled = _doubled(block, begun)
    return doubled or Edit(tuple(block[: places[0]]), tuple(block[places[0] + 1 :]))


def _doubled(block: list[str], begun: int) -> Failure | None:
    places = _dividers(block)
    if len(places) < 2:
        return None
    return _bad(f"line {begun + 1 + places[1]}: a block has two dividers")


def _dividers(block: list[str]) -> list[int]:
    exact = [at for at, line in enumerate(block) if line.rstrip() == _DIVIDER]
    if len(exact) == 1:
        return exact
    return [at for at, line in enumerate(block) if _MIDDLE.match(line)]


def apply_edits(source: str, edits: tuple[Edit, ...]) -> str | Failure:
    """The program after all edits, in order; a failure leaves it unused.

    No block may make it longer than a policy's source can be, whatever a later one would cut: each
    of a few that repeat what they replace doubles the program.
    """
    lines = source.replace("\r\n", "\n").split("\n")
    for number, edit in enumerate(edits, 1):
        changed = _apply(lines, _as_meant(lines, edit), f"block {number}")
        if isinstance(changed, Failure):
            return changed
        lines = changed
    after = "\n".join(lines)
    if after == source.replace("\r\n", "\n"):
        return _bad("the blocks change nothing")
    return after


def _as_meant(lines: list[str], edit: Edit) -> Edit:
    """The edit without fences around its parts, unless they are the program's, in a docstring."""
    search = _between_fences(edit.search)
    if search == edit.search or _places(lines, edit.search, _same_but_trailing_blanks):
        return edit
    return Edit(search, _between_fences(edit.replace))


def _between_fences(part: tuple[str, ...]) -> tuple[str, ...]:
    said = [at for at, line in enumerate(part) if line.strip()]
    if len(said) < 2:
        return part
    first, last = said[0], said[-1]
    opens = _FENCE.fullmatch(part[first])
    return part[first + 1 : last] if opens and part[last].strip() == opens[1] else part


def _apply(lines: list[str], edit: Edit, name: str) -> list[str] | Failure:
    if not any(line.strip() for line in edit.search):
        return _bad(f"{name}: its SEARCH part is empty; quote the lines that it replaces")
    for same in (str.__eq__, _same_but_trailing_blanks):
        places = _places(lines, edit.search, same)
        if places:
            return _replaced(lines, places, edit, name)
    shifted = [
        (at, shift)
        for at in range(len(lines) - len(edit.search) + 1)
        if (shift := _shift(lines[at : at + len(edit.search)], edit.search)) is not None
    ]
    if len(shifted) == 1:
        at, shift = shifted[0]
        by_tabs = any(line.startswith("\t") for line in lines[at : at + len(edit.search)])
        moved = tuple(_moved(line, shift, by_tabs) for line in edit.replace)
        return _replaced(lines, [at], Edit(edit.search, moved), name)
    if shifted:
        return _bad(
            f"{name}: its SEARCH part only matches with another indentation, in {len(shifted)} "
            "places; quote it exactly, with more lines around it"
        )
    return _bad(f"{name}: its SEARCH part is not in the program. {_nearest(lines, edit.search)}")


def _same_but_trailing_blanks(one: str, other: str) -> bool:
    return one.rstrip() == other.rstrip()


def _places(
    lines: list[str], search: tuple[str, ...], same: Callable[[str, str], bool]
) -> list[int]:
    """Where the search lines stand; places do not overlap."""
    found: list[int] = []
    at = 0
    while at + len(search) <= len(lines):
        if all(same(lines[at + k], line) for k, line in enumerate(search)):
            found.append(at)
            at += len(search)
        else:
            at += 1
    return found


def _replaced(lines: list[str], places: list[int], edit: Edit, name: str) -> list[str] | Failure:
    """The lines with those at these places, which are in order, replaced."""
    length = len(edit.search)
    gone = sum(_size(lines[at : at + length]) for at in places)
    size = _size(lines) - 1 - gone + len(places) * _size(edit.replace)
    if size > MAX_BYTES and gone < len(places) * _size(edit.replace):
        return _bad(
            f"{name}: replaced in {len(places):,} places it makes a program of {size:,} bytes; "
            f"the limit is {MAX_BYTES:,}"
        )
    result: list[str] = []
    start = 0
    for at in places:
        result += lines[start:at]
        result += edit.replace
        start = at + length
    return result + lines[start:]


def _size(lines: Sequence[str]) -> int:
    """Bytes of UTF-8, line feeds included; of what a model wrote, so it may be no valid text."""
    return sum(len(line.encode(errors="surrogatepass")) + 1 for line in lines)


def _indent(line: str) -> int:
    """Columns before the first word."""
    return len(line[: len(line) - len(line.lstrip())].expandtabs(_TAB))


def _shift(window: list[str], search: tuple[str, ...]) -> int | None:
    """By how many columns the window is indented more than the search; None if not uniformly."""
    shifts = set()
    for line, wanted in zip(window, search, strict=True):
        if line.strip() != wanted.strip():
            return None
        if wanted.strip():
            shifts.add(_indent(line) - _indent(wanted))
    return shifts.pop() if len(shifts) == 1 else None


def _moved(line: str, shift: int, by_tabs: bool) -> str:
    """A line with so many more columns before it; Python takes no mixture of tabs and blanks."""
    if not line.strip():
        return line
    columns = max(0, _indent(line) + shift)
    tabs = columns // _TAB if by_tabs else 0
    return "\t" * tabs + " " * (columns - _TAB * tabs) + line.lstrip()


def _nearest(lines: list[str], search: tuple[str, ...]) -> str:
    """A sentence that shows the lines of the program that read most like the search.

    The place where most lines agree but for blanks; where none does, the place of the single line
    that reads most like the longest line of the search.
    """
    wanted = [line.strip() for line in search]
    have = [line.strip() for line in lines]
    offsets: dict[str, list[int]] = {}
    for offset, line in enumerate(wanted):
        if line:
            offsets.setdefault(line, []).append(offset)
    votes = Counter(
        at - offset for at, line in enumerate(have) for offset in offsets.get(line, ())[:_VOTES]
    )
    if votes:
        start = min(votes, key=lambda place: (-votes[place], place))
    else:
        longest = max(range(len(wanted)), key=lambda offset: len(wanted[offset]))
        matcher = difflib.SequenceMatcher(None, b=wanted[longest][:_COMPARED])
        likeness, start = 0.0, 0
        for at, line in enumerate(have):
            matcher.set_seq1(line[:_COMPARED])
            if matcher.quick_ratio() > likeness and matcher.ratio() > likeness:
                likeness, start = matcher.ratio(), at - longest
    best = min(max(start, 0), max(0, len(lines) - len(search)))
    shown = "\n".join(lines[best : best + len(search)])
    return f"The nearest lines are {best + 1} to {best + len(search)}:\n{shown}"
