"""Why a search for a best response ended, and the most that was known to be had.

What ends it before its time is decided in `oracle.ending`; this is what is kept and told of it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arena.analysis.stationary import Ceiling


class Ended(enum.StrEnum):
    """Why a search, or one of its islands, asked for no more."""

    MADE = "made"
    """All drafts, refinements or generations that it may make were made."""
    BEATS = "beats"
    """A program does not lose to the mixture."""
    NOISE = "noise"
    """What came of it could not be told from the best before it any more."""
    REACHED = "reached"
    """A program returned the most that can be had, within its error."""
    BUDGET = "budget"
    """More matches than it may have played would have been needed."""
    DIVERGED = "diverged"
    """The training of a network came to numbers that are not finite."""


_WORDS = {
    Ended.MADE: "all drafts were made",
    Ended.BEATS: "a program does not lose",
    Ended.NOISE: "only noise was left",
    Ended.REACHED: "the most was reached",
    Ended.BUDGET: "its matches were used up",
    Ended.DIVERGED: "the training diverged",
}


@dataclass(frozen=True, slots=True)
class End:
    """How a search ended.

    Attributes:
      reasons: why; several where its islands ended for different ones.
      most: that can be won from the mixture, per match in the game's unit; None where nobody could
        tell.  Where the most was reached, by what was known of it then.
    """

    reasons: tuple[Ended, ...]
    most: Ceiling | None = None

    @property
    def usual(self) -> bool:
        """Whether nothing but its own length ended it."""
        return self.reasons == (Ended.MADE,)

    @property
    def why(self) -> str:
        """The reasons in words."""
        estimated = self.most is not None and not self.most.exact
        return " and ".join(
            "an estimate of the most was reached"
            if one is Ended.REACHED and estimated
            else _WORDS[one]
            for one in self.reasons
        )

    @property
    def bound(self) -> str:
        """The most that can be had, in words; "" where it is not known."""
        if self.most is None:
            return ""
        if self.most.exact:
            return f"at most {self.most.value:+.1f} (exact)"
        return (
            f"at most {self.most.value:+.1f} from who chooses by the situation alone (estimate, "
            f"standard error {self.most.stderr:.1f})"
        )

    def __str__(self) -> str:
        return "; ".join(filter(None, (self.why, self.bound)))

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "reasons": [one.value for one in self.reasons],
            "most": asdict(self.most) if self.most else None,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> End:
        """The value of such a document."""
        from arena.analysis.stationary import Ceiling  # most readers have no such value

        most = document["most"]
        reasons = tuple(map(Ended, document["reasons"]))
        return cls(reasons, Ceiling(**most) if most else None)


def joined(ends: Sequence[End], most: Ceiling | None) -> End:
    """How a search ended whose parts ended by themselves.

    Args:
      ends: of its parts, in order.
      most: that can be had by all that was tried; what was reached goes before it.
    """
    reasons = dict.fromkeys(reason for end in ends for reason in end.reasons)
    reached = [end.most for end in ends if Ended.REACHED in end.reasons and end.most]
    return End(tuple(reasons), reached[-1] if reached else most)
