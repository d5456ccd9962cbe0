"""Programs of different authors that are nearly the same by their syntax trees.

It is a hint for a human and no proof: short programs with one idea are alike, too.  What a
program shares with the starter that everybody begins with does not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from arena.contest.values import Taking
from arena.submission import KIND as PYTHON
from sandbox.errors import SandboxUnavailable
from sandbox.limited import Excess, LimitedCalls

ALIKE = 0.6
"""Share of common numbers among all (Jaccard) from which two programs are reported.

The starters and examples that come with the arena, which have one author and one style, share at
most 0.19 in pairs; a test holds that.
"""
FEWEST = 12
"""Numbers of its own that a program must have to be compared."""
_SHINGLES = "arena.contest.tree_shingles:shingles"
_MOST = 1 << 48


def alike(
    takings: Sequence[Taking], starter: str, *, least: float = ALIKE
) -> tuple[Mapping[str, Any], ...]:
    """The pairs of programs by different authors that are nearly the same, the likest first.

    Args:
      takings: with their sources; other kinds than programs are left out.
      starter: source of the game's starter.
      least: likeness from which a pair is reported.

    Returns:
      `one` and `other` (references); `same`, whether the normalised syntax trees are the same
      (the code digest; or one content under two names); `likeness`, 1.0 where they are, else the
      share of common numbers (`arena.contest.tree_shingles`) among all, to three digits.

    Raises:
      SandboxUnavailable: the limited child cannot be started.
    """
    programs = [one for one in takings if one.kind == PYTHON and one.source is not None]
    with closing(LimitedCalls((_SHINGLES,))) as child:
        common = _numbers(child, starter)
        numbers = [_numbers(child, one.source or "") - common for one in programs]
    found = []
    for place, one in enumerate(programs):
        for later, other in enumerate(programs[place + 1 :], place + 1):
            likeness = _likeness(one, other, numbers[place], numbers[later])
            if likeness >= least and _authors(one) != _authors(other):
                refs = sorted((one.names[0], other.names[0]))
                same = _same(one, other)
                found.append({"one": refs[0], "other": refs[1], "likeness": likeness, "same": same})
    found += [
        {"one": one.names[0], "other": name, "likeness": 1.0, "same": True}
        for one in programs
        for name in one.names[1:]
    ]
    return tuple(sorted(found, key=lambda row: (-float(row["likeness"]), row["one"], row["other"])))


def _likeness(one: Taking, other: Taking, own: set[int], others: set[int]) -> float:
    if _same(one, other):
        return 1.0
    if min(len(own), len(others)) < FEWEST:
        return 0.0
    return round(len(own & others) / len(own | others), 3)


def _same(one: Taking, other: Taking) -> bool:
    return bool(one.code_digest) and one.code_digest == other.code_digest


def _authors(taking: Taking) -> set[str]:
    return {name.partition("/")[0] for name in taking.names}


def _numbers(child: LimitedCalls, source: str) -> set[int]:
    """The numbers of a source; none where finding them takes too much."""
    answer = child.call(_SHINGLES, source)
    if isinstance(answer, Excess):
        return set()
    if not isinstance(answer, list) or not all(
        isinstance(number, int) and 0 <= number < _MOST for number in answer
    ):
        raise SandboxUnavailable("reading a source gave an answer that makes no sense")
    return set(answer)
