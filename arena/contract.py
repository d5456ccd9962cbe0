"""What a game asks of an author's file.  Standard library only: the limited child imports it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AuthorContract:
    """The class that an author's file defines.

    Attributes:
      class_name: what the class is called; constructed with no arguments for each match.
      methods: name of each required method and the number of its arguments after self.
      optional: methods that are called where they exist.
    """

    class_name: str
    methods: Mapping[str, int]
    optional: Mapping[str, int]
