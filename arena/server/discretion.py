"""What those who ask are told of an error: its words, without where this server keeps anything.

The errors of registry and store name files, which helps whoever has the folder.  To others they
tell how the machine is laid out.  Every error that leaves the server goes through here; the log has
the words whole.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.wire import faults
from arena.wire.plain import Json

_log = logging.getLogger("arena.server")
FOLDER, REGISTRY = "HOME", "REGISTRY"
"""What stands in the place of the home's folder, and of a registry elsewhere."""


@dataclass(frozen=True, slots=True)
class Discretion:
    """Tells of errors without some places.

    Attributes:
      places: a pattern for each, and what is said in its place.
    """

    places: tuple[tuple[re.Pattern[str], str], ...]

    def document_of(self, error: Exception) -> Json:
        """An error as JSON, for whoever asked."""
        whole = faults.document_of(error)
        told = self._without(whole)
        if told != whole:
            _log.info("told without its place: %s", error)
        return told

    def words(self, text: str) -> str:
        """Some words without the places."""
        for place, said in self.places:
            text = place.sub(said, text)
        return text

    def _without(self, document: Any) -> Any:
        if isinstance(document, str):
            return self.words(document)
        if isinstance(document, list):
            return [self._without(one) for one in document]
        if isinstance(document, dict):
            return {name: self._without(one) for name, one in document.items()}
        return document


def discretion_of(home: Path, registry: str) -> Discretion:
    """That of a server: nobody is told where its folder and its registry are.

    Args:
      home: the folder.
      registry: path of its file, or address without a password; "" where that is in the folder.
    """
    folders = {home.resolve(), home.absolute(), home}
    # The longest first: one may be the beginning of another.
    names = sorted(map(str, folders), key=len, reverse=True)
    kept = [(one, FOLDER) for one in names if one.startswith("/") and one != "/"]
    # In the folder it is named by its place there.
    if not registry or any(registry.startswith(f"{one}/") for one, _ in kept):
        return Discretion(tuple((_whole(place), said) for place, said in kept))
    # What the driver adds has host, user and database once more, in words of its own.
    why = re.compile(rf"{re.escape(registry)} (cannot be \w+): .*", re.DOTALL)
    told = rf"{REGISTRY} \1; the server's log says why"
    places = [(registry, REGISTRY), *kept]
    return Discretion(((why, told), *((_whole(place), said) for place, said in places)))


def _whole(place: str) -> re.Pattern[str]:
    """A place that is not the beginning of another name."""
    return re.compile(rf"{re.escape(place)}(?![\w-])")
