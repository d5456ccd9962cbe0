"""Signs that mean the same in every picture."""

from __future__ import annotations

CROSS = "\N{MULTIPLICATION X}"
"""Where a match was forfeited."""
