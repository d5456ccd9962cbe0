"""Why a policy's source was not taken in: data for its author, never an exception."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from registry.display import shown


class RejectionKind(enum.StrEnum):
    """What the checks can say.  Values are stable: programs and prompts rely on them."""

    FILE_MISSING = "file-missing"
    """There is no such file."""
    IS_DIRECTORY = "is-directory"
    """The path leads to a folder."""
    UNREADABLE = "unreadable"
    """The file cannot be read, or is no ordinary file."""
    NOT_TEXT = "not-text"
    """It is not UTF-8 text."""
    TOO_LARGE = "too-large"
    """It has more bytes than a policy may have."""
    SYNTAX_ERROR = "syntax-error"
    """It is not Python."""
    TOO_NESTED = "too-nested"
    """Its expressions or statements are nested deeper than Python can compile."""
    TOO_COSTLY = "too-costly"
    """To read it takes more processor time than a source may take."""
    BAD_WEIGHTS = "bad-weights"
    """Its file of weights is not of the format, or not of a network that plays the game."""
    CLASS_MISSING = "class-missing"
    """It does not define the class that the game asks for."""
    METHOD_MISSING = "method-missing"
    """The class lacks a method."""
    BAD_SIGNATURE = "bad-signature"
    """A method cannot be called as the game calls it."""
    IMPORT_NOT_ALLOWED = "import-not-allowed"
    """It imports a module that policies may not use."""
    NAME_NOT_ALLOWED = "name-not-allowed"
    """It uses a built-in that cannot work inside the sandbox."""
    DOES_NOT_REPEAT = "does-not-repeat"
    """With the same seeds and against the same opponent it moved differently."""
    QUARANTINED = "quarantined"
    """Its code is in quarantine."""
    TOO_SLOW = "too-slow"
    """Its matches would take longer than whoever takes it in allows."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a policy was not taken in.

    Attributes:
      kind: a `RejectionKind`, or the sandbox's kind of fault where a trial failed.
      message: what was wrong, where, and what to do, for the author.
      line: of the source, counted from 1; None where no line is to blame.
    """

    kind: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        """It in a line."""
        return shown(f"rejected: {self.kind}: {self.message}")
