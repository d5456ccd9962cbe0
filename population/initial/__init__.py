"""The policies that a run starts from where none is named: plain ones, one for each game.

The files are read as text and registered through the same door as anyone's; nothing imports them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

_FOLDER = Path(__file__).parent

INITIAL: Mapping[str, Path] = MappingProxyType(
    {"rrps": _FOLDER / "rrps_win_stay.py", "leduc": _FOLDER / "leduc_by_hand.py"}
)
"""Name of the game to the file."""
