"""A search that may have so many matches played and no more.

Whoever scores programs knows (`Ration`, an attribute of the function that scores them, if there is
one).  Where there is one, programs are scored in an order that does not depend on which of them is
written first: else who gets the last matches would be a matter of luck, and a search that is
repeated would end otherwise.
"""

from __future__ import annotations

from typing import Protocol


class Ration(Protocol):
    """Matches that a search may have played."""

    @property
    def exceeded(self) -> bool:
        """Whether something that was wanted was not played."""
        ...

    def closed(self) -> bool:
        """Whether no other program can be scored; asking means that one was wanted."""
        ...


def ration_of(evaluate: object) -> Ration | None:
    """The limit of whoever scores programs; None for none."""
    found: Ration | None = getattr(evaluate, "ration", None)
    return found
