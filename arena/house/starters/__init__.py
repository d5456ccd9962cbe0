"""One plain Python policy per game, for authors to start from.

The files are read as text and submitted through the same door as anyone's; nothing imports them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Starter:
    """A starter policy: what `arena submit` needs to know about it."""

    game: str
    name: str
    path: Path
    description: str

    @property
    def source(self) -> str:
        """Text of the file."""
        return self.path.read_text(encoding="utf-8")

    @property
    def provenance(self) -> dict[str, object]:
        """Author, year, source and licence."""
        return {
            "author": "Policy Arena",
            "year": 2026,
            "source": f"arena/house/starters/{self.path.name}",
            "licence": "Apache-2.0",
        }


_ALL = (
    Starter(
        "rrps",
        "starter/rrps",
        _FOLDER / "rrps_starter.py",
        "Counts what follows the last two throws of both sides and beats it; random when behind.",
    ),
    Starter(
        "leduc",
        "starter/leduc",
        _FOLDER / "leduc_starter.py",
        "Plays by the strength of its hand and raises opponents who fold too often.",
    ),
)

STARTERS: Mapping[str, Starter] = MappingProxyType({starter.game: starter for starter in _ALL})
"""Name of the game to its starter policy."""
