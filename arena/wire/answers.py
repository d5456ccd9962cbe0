"""What a server answers, read by a client that believes nothing of it but the form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.wire.plain import Codec, Json, Malformed, documented
from registry.rights import Role

STATES = frozenset({"waiting", "running", "done", "failed", "cancelled"})
_ID = re.compile(r"[0-9a-f]{32}")
_MOST = 1 << 31
"""Matches that a job can have to play, and times that it can change."""


@dataclass(frozen=True, slots=True)
class JobTold:
    """A job as a server tells of it.

    Attributes:
      id: 32 hexadecimal digits.
      state: one of `STATES`.
      progress: matches that are done and that are wanted; None where nothing is told.
      changes: how often it has changed.
      error: what went wrong, as `arena.wire.faults.error_of` takes it.
    """

    id: str
    state: str
    progress: tuple[int, int] | None
    changes: int
    error: Json

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state not in ("waiting", "running")


def document_in(body: bytes) -> dict[str, Json]:
    """The object in a body.

    Raises:
      Malformed: it is no JSON, or JSON of something else, or nested too deep.
    """
    try:
        return documented(json.loads(body))
    except (ValueError, RecursionError):
        raise Malformed("JSON is wanted") from None


def job_in(document: Mapping[str, Json]) -> JobTold:
    """The job that an answer tells of.

    Raises:
      Malformed: it tells of none.
    """
    name, state = document.get("job"), document.get("state")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise Malformed("the id of a job is wanted", "job")
    if not isinstance(state, str) or state not in STATES:
        raise Malformed(f"one of {', '.join(sorted(STATES))} is wanted", "state")
    told = document.get("progress")
    return JobTold(
        name,
        state,
        None if told is None else _progress(told),
        _count(document.get("changes", 0), "changes"),
        document.get("error"),
    )


def account_in(document: Mapping[str, Json]) -> dict[str, Json]:
    """Whose token it is: `name`, `role`, and `expires` (ISO 8601, or None).

    Raises:
      Malformed: it is not told.
    """
    name, role, until = (document.get(key) for key in ("name", "role", "expires"))
    if not isinstance(name, str) or role not in [one.value for one in Role]:
        raise Malformed("the name and the role of an account are wanted")
    if until is not None and not isinstance(until, str):
        raise Malformed("a time is wanted", "expires")
    return {"name": name, "role": role, "expires": until}


def plays_in(document: Mapping[str, Json]) -> int:
    """Matches of each pair that a server plays by itself.

    Raises:
      Malformed: it is not told.
    """
    return _count(document.get("plays"), "plays")


def result_in(document: Mapping[str, Json], of: Codec) -> Any:
    """What a call comes to.

    Raises:
      Malformed: it is not there, or not of its type.
    """
    if "result" not in document:
        raise Malformed("a result is wanted")
    try:
        return of.decode(document["result"])
    # A codec checks types, and the values behind it may still refuse each other.
    except (TypeError, ValueError, LookupError, ArithmeticError, RecursionError) as error:
        raise Malformed(f"a value is wanted that can be ({type(error).__name__})") from error


def _progress(told: Json) -> tuple[int, int]:
    if not isinstance(told, list) or len(told) != 2:
        raise Malformed("how many are done and wanted is wanted", "progress")
    return _count(told[0], "progress"), _count(told[1], "progress")


def _count(told: Json, place: str) -> int:
    if isinstance(told, bool) or not isinstance(told, int) or not 0 <= told < _MOST:
        raise Malformed("a count is wanted", place)
    return told
