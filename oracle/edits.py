"""SEARCH/REPLACE blocks: finding them in a reply and applying them to a program.

As in the paper's prompt (appendix, "Prompt for Repeated Leduc Poker"), a block replaces *all*
places that match it exactly.  Where nothing matches exactly, trailing blanks are forgiven, code
fences around the parts, then empty lines, blanks within lines and one uniform shift of the
indentation, if the place is unique.  Otherwise the block is refused, with the lines that come
closest.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from arena.source_check import MAX_BYTES
from oracle.sketches import left_out
from oracle.values import Failure, Rejected

_BEHIND = r"\b[ \t]*+:?+[ \t]*+(?:\([^()]*+\)|\S*+)[ \t]*+$"
"""A colon, and one word: a file's name, a place or a code fence.  Nothing is tried twice."""
_HEAD = re.compile(rf"^[ \t\ufeff]*+(?:\*\*)?(?:<{{3,10}}+|-{{5,10}}+)[ \t]*+(?i:SEARCH){_BEHIND}")
_MIDDLE = re.compile(r"^[ \t]*={5,9}[ \t]*$")
_DIVIDER = "======="
"""As the prompt asks for it; `_MIDDLE` is what is taken for one where there is no such line."""
_TAIL = re.compile(rf"^[ \t]*+(?:\*\*)?(?:>{{3,10}}+|\+{{5,10}}+)[ \t]*+(?i:REPLACE){_BEHIND}")
_BARE_TAIL = re.compile(r"^[ \t]*+>{5,9}+[ \t]*+$")
"""Ends a block that has a divider already."""
_FENCE = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)[ \t]*+[\w+.#-]*+[ \t]*+")
_TAB = 4
"""Columns of a tab, where either the program or the search is indented by tabs."""
_VOTES = 8
"""How many places of one line in a search count: a line such as "pass" may stand anywhere."""
_MOST_TRIED = 4_000_000
"""Lines that are compared in looking for a place that fits but for blanks."""
_MOST_COLUMNS = 8
"""Indentations that are tried for a line that may have lost its own."""
_COMPARED = 200
"""Characters of a line that are compared."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines to look for, and the lines that take their place.

    Attributes:
      search: the former.
      replace: the latter.
      once: whether one place is meant, and not all.
    """

    search: tuple[str, ...]
    replace: tuple[str, ...]
    once: bool = False


def _bad(reason: str) -> Failure:
    return Failure(Rejected.BAD_EDIT, reason)


def parse_edits(reply: str) -> tuple[Edit, ...] | Failure:
    """The blocks of a reply, in order; a failure where one is malformed or there is none."""
    found: list[Edit] = []
    block: list[str] | None = None  # None outside of blocks
    begun, divided = 0, False
    for number, line in enumerate(reply.replace("\r\n", "\n").split("\n"), 1):
        if _HEAD.match(line):
            if block is not None:
                inside = _bad(f"line {number}: a SEARCH begins inside another block")
                return _doubled(block, begun) or inside
            block, begun, divided = [], number, False
        elif _ends(line, divided=block is not None and divided):
            edit = _divided(block or [], begun, number)
            if isinstance(edit, Failure):
                return edit
            found.append(edit)
            block = None
        elif block is not None:
            block.append(line)
            divided = divided or _MIDDLE.match(line) is not None
    if block is not None:
        unended = "the last block does not end with a REPLACE line; the reply may be cut off"
        return _doubled(block, begun) or _bad(unended)
    if not found:
        return _bad("there is no SEARCH/REPLACE block in the reply")
    # A block that is said once in the plan and once behind it is meant once.
    return tuple(dict.fromkeys(found))


def _ends(line: str, *, divided: bool) -> bool:
    return bool(_TAIL.match(line) or (divided and _BARE_TAIL.match(line)))


def without_edits(reply: str) -> str:
    """What stands outside of the blocks of a reply, all of which `parse_edits` takes."""
    kept: list[str] = []
    inside = divided = False
    for line in reply.replace("\r\n", "\n").split("\n"):
        if inside:
            inside = not _ends(line, divided=divided)
            divided = divided or _MIDDLE.match(line) is not None
        elif _HEAD.match(line):
            inside, divided = True, False
        else:
            kept.append(line)
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
            others = "\nNo block was applied: send all of them again." if len(edits) > 1 else ""
            return _bad(f"{changed.reason}{others}")
        lines = changed
    after = "\n".join(lines)
    if after == source.replace("\r\n", "\n"):
        return _bad("the blocks change nothing")
    return after


def _as_meant(lines: list[str], edit: Edit) -> Edit:
    """The edit without fences around its parts, unless they are the program's, in a docstring."""
    search = _between_fences(edit.search)
    if search == edit.search or _places(lines, edit.search, blanks=False):
        return edit
    return replace(edit, search=search, replace=_between_fences(edit.replace))


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
    if (said := left_out("\n".join(edit.replace), lines)) is not None:
        return _bad(
            f'{name}: "{said[1]}" stands for lines that are not there; write every line that is to '
            "take the place of those quoted, and quote no others"
        )
    for blanks in (True, False):
        places = _places(lines, edit.search, blanks=blanks)
        if len(places) > 1 and edit.once:
            return _bad(f"{name}: its lines stand in {len(places)} places; quote more around them")
        if places:
            return _replaced(lines, places, edit, name)
    edit = _with_first_indented(lines, edit)
    near = _nearly(lines, edit.search)
    if len(near) == 1:
        at, end, shift = near[0]
        by_tabs = any(line.startswith("\t") for line in lines[at:end])
        moved = tuple(_moved(line, shift, by_tabs) for line in _tight(edit.replace))
        return _replaced(lines, [at], Edit(tuple(lines[at:end]), moved), name)
    if near:
        return _bad(
            f"{name}: its SEARCH part only matches with other blanks, in {len(near)} places; quote "
            "it exactly, with more lines around it"
        )
    return _bad(f"{name}: its SEARCH part is not in the program. {_nearest(lines, edit.search)}")


def _with_first_indented(lines: list[str], edit: Edit) -> Edit:
    """The edit with the blanks that its first lines alone lost, as where a part was stripped.

    It stays as it is unless the rest of SEARCH stands as it is below just one such line.
    """
    search, new = _tight(edit.search), _tight(edit.replace)
    if len(search) < 2 or _nearly(lines, search):
        return edit
    own, words = _indent(search[0]), search[0].split()
    columns = {_indent(line) for line in lines if line.split() == words} - {own}
    found = []
    for shift in sorted(one - own for one in columns)[:_MOST_COLUMNS]:
        moved = (_moved(search[0], shift, False), *search[1:])
        if [place for place in _nearly(lines, moved) if place[2] == 0]:
            found.append((shift, moved))
    if len(found) != 1:
        return edit
    ((shift, moved),) = found
    if new and _indent(new[0]) == own:
        new = (_moved(new[0], shift, False), *new[1:])
    return replace(edit, search=moved, replace=new)


def _nearly(lines: list[str], search: tuple[str, ...]) -> list[tuple[int, int, int]]:
    """Where the search stands but for empty lines, blanks within lines and a shift of all.

    Returns:
      Of each place its first line, the line behind its last, and by how many columns it is indented
      more than the search.
    """
    said = [at for at, line in enumerate(lines) if line.strip()]
    have = [(lines[at].split(), _indent(lines[at])) for at in said]
    wanted = [(line.split(), _indent(line)) for line in search if line.strip()]
    if len(have) * len(wanted) > _MOST_TRIED:
        return []
    found = []
    for first in range(len(have) - len(wanted) + 1):
        shift = _shift(have, first, wanted)
        if shift is not None:
            found.append((said[first], said[first + len(wanted) - 1] + 1, shift))
    return found


def _tight(part: tuple[str, ...]) -> tuple[str, ...]:
    """The lines without empty ones at either end."""
    said = [at for at, line in enumerate(part) if line.strip()]
    return part[said[0] : said[-1] + 1] if said else ()


def _places(lines: list[str], search: tuple[str, ...], *, blanks: bool) -> list[int]:
    """Where the search lines stand; places do not overlap.

    Looked for as one text, which takes time in proportion to its length, whatever is repeated.

    Args:
      lines: of the program.
      search: looked for.
      blanks: whether those at the ends of lines count.
    """
    program, wanted = (
        "\n" + "".join(f"{line if blanks else line.rstrip()}\n" for line in part)
        for part in (lines, search)
    )
    found: list[int] = []
    line, begun, at = 0, 0, program.find(wanted)
    while at >= 0:
        line, begun = line + program.count("\n", begun, at), at
        found.append(line)
        at = program.find(wanted, at + len(wanted) - 1)  # they may share a line's end
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


_Words = tuple[list[str], int]
"""Of a line, and the columns before them."""


def _shift(have: Sequence[_Words], first: int, wanted: Sequence[_Words]) -> int | None:
    """By how many columns lines from the first one on are indented more than those wanted.

    Returns:
      None where they are others, or not uniformly indented.
    """
    shift = have[first][1] - wanted[0][1]
    for offset, (words, indent) in enumerate(wanted):
        if have[first + offset] != (words, indent + shift):
            return None
    return shift


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
