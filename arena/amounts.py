"""How many matches a pair gets where nobody says; help texts name them, so nothing else is here."""

from __future__ import annotations

MATCHES = 16
"""Of a pair, unless somebody asks for another number."""
MOST_MATCHES = 1_000
"""That a pair may get for a precision, unless somebody asks for another number."""
