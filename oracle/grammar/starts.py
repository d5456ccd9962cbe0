"""Where a search of the grammar begins."""

from __future__ import annotations

import enum
from collections.abc import Mapping


class Start(enum.StrEnum):
    """Where a search begins; the value is how that is written in the place of a model."""

    FULL = "grammar"
    """At the full sentence."""
    PLAIN = "grammar:plain"
    """At sentences of one part; everything else has to be found."""


STARTS: Mapping[str, Start] = {start.value: start for start in Start}
"""As it is written -> the start."""
