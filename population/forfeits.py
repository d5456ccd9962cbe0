"""Why a candidate forfeited, as its author is told.

A program can put what it saw into the words of its own crash.  Where that would tell what others
are going to meet, the cards of a match or how a hidden opponent plays, its words are left out.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping, Sequence

from arena.store.values import MatchRow
from arena.values import COMMON
from oracle.values import Failure, Rejected

LONGEST_REASON = 1_500
"""Characters of a program's own words."""
_RAISED = re.compile(r"^(\w+)(?::|$)", re.MULTILINE)
_LINE = re.compile(r"\bline (\d{1,4})\b")


def forfeit(digest: str, forfeited: Sequence[MatchRow], shown: Mapping[str, str]) -> Failure:
    """Why a candidate forfeited: the first match with an opponent that it is told of, else any.

    How many matches with hidden opponents it forfeited is not told either: a program that crashes
    where it sees something would learn by that how many of them do it.

    Args:
      digest: of the candidate.
      forfeited: the matches that it forfeited, at least one.
      shown: digest to name of the opponents that are told of; all others are hidden.
    """
    told = [row for row in forfeited if _opponent(row, digest) in shown]
    if told:
        first = _earliest(told)
        where = (
            f"in {len(told)} of its matches, the first against {shown[_opponent(first, digest)]}"
        )
        why = _without_words(first, "cards") if _on_common_cards(first) else first.fault_message
    else:
        first = _earliest(forfeited)
        where, why = "against a hidden opponent", _without_words(first, "opponents")
    return Failure(Rejected.FAULTY, f"{first.termination.value} {where}: {why[:LONGEST_REASON]}")


def _opponent(row: MatchRow, digest: str) -> str:
    return next(other for other in row.seats if other != digest)


def _earliest(rows: Sequence[MatchRow]) -> MatchRow:
    """Whenever it was played."""
    return min(rows, key=lambda row: (row.match.repetition, row.id))


def _on_common_cards(row: MatchRow) -> bool:
    return row.match.repetition >= COMMON


def _without_words(row: MatchRow, same: str) -> str:
    """The kind of what was raised, and its line."""
    raised, line = (found.search(row.fault_message) for found in (_RAISED, _LINE))
    kind = getattr(builtins, raised[1], None) if raised else None
    told = kind.__name__ if isinstance(kind, type) and issubclass(kind, BaseException) else ""
    place = f" in line {line[1]}" if line else ""
    return f"{told}{place} (no more is told: others meet the same {same})".lstrip()
