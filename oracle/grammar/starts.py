"""Where a search of the grammar begins."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from oracle.grammar import judging


class Start(enum.StrEnum):
    """Where a search begins; the value is how that is written in the place of a model."""

    FULL = "grammar"
    """At the full sentence."""
    PLAIN = "grammar:plain"
    """At sentences of one part; everything else has to be found."""
    PARTS = "grammar:parts"
    """At all parts of the full sentence; how they are judged and blended has to be found."""

    def begins(self, game: str) -> bool:
        """Whether there is such a search in a game that has a grammar."""
        return self is not Start.PARTS or game == judging.GAME


STARTS: Mapping[str, Start] = {start.value: start for start in Start}
"""As it is written -> the start."""
