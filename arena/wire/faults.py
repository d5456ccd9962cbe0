"""Our own faults as JSON and back: the same class with the same words on both sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import arena.store.errors
from arena.errors import (
    KNOWN,
    BadRequest,
    NotAllowed,
    QuotaSpent,
    ServerFault,
    UsageFault,
)
from arena.wire.plain import Json
from registry.display import shown
from registry.errors import MalformedName, RegistryUnavailable, UnknownPolicy

_ATTRIBUTES = {"ref": str, "suggestions": tuple, "candidates": tuple}
"""What some of them carry beside their words."""
_LONGEST = 10_000
"""Characters of a server's words that are shown."""


def _below(kind: type[Exception]) -> Iterator[type[Exception]]:
    yield kind
    for one in kind.__subclasses__():
        yield from _below(one)


@cache
def kinds() -> Mapping[str, type[Exception]]:
    """The errors that cross a wire, by the names of their classes."""
    return {kind.__name__: kind for root in KNOWN for kind in _below(root)}


def document_of(error: Exception) -> Json:
    """An error as JSON; one that is none of ours tells nothing of itself."""
    if not isinstance(error, KNOWN):
        error = ServerFault("the server failed; its log says how")
    kind = next(one for one in type(error).__mro__ if one.__name__ in kinds())
    about: dict[str, Json] = {}
    for name in _ATTRIBUTES:
        value = getattr(error, name, None)
        if value:
            about[name] = value if isinstance(value, str) else list(value)
    return {"kind": kind.__name__, "message": str(error), **({"about": about} if about else {})}


def error_of(document: Json) -> Exception:
    """The inverse; of a class that is not known here, the nearest that is.

    A server's words are shown to people: what would steer a terminal is made visible, and no line
    after the first begins where a line of ours could.
    """
    known = document if isinstance(document, dict) else {}
    kind = kinds().get(str(known.get("kind")), ServerFault)
    given = known.get("about")
    about = _carried(given) if isinstance(given, dict) else {}
    said = known.get("message")
    message = clean(said) if said and isinstance(said, str) else "the server gave no reason"
    try:
        return kind(message, **about)
    except TypeError:  # an attribute that the class of this version has not
        return kind(message)


def _carried(about: Mapping[str, Json]) -> dict[str, Any]:
    """What an error carries beside its words, as far as it is of the right types."""
    made: dict[str, Any] = {}
    for name, of in _ATTRIBUTES.items():
        value = about.get(name)
        if of is str and isinstance(value, str):
            made[name] = clean(value)
        elif of is tuple and isinstance(value, list):
            made[name] = tuple(clean(one) for one in value if isinstance(one, str))
    return made


def clean(text: str) -> str:
    """Words of a server as they may be shown: see `error_of`."""
    first, *others = shown(text[:_LONGEST]).split("\n")
    return "\n".join([first, *(f"  {line.strip()}" for line in others)])


def passes(error: Exception) -> bool:
    """Whether it lies in something that may be there again soon: a database that is started anew.

    A registry that is damaged, too new or may not be written stays so.
    """
    return type(error) in (RegistryUnavailable, arena.store.errors.StoreBusy)


def asked_wrongly(error: Exception) -> bool:
    """Whether nothing was done of what was asked, as it was not written as it must be."""
    return isinstance(error, (BadRequest, UsageFault, MalformedName))


def status_of(error: Exception) -> int:
    """The HTTP status that goes with an error."""
    if asked_wrongly(error):
        return 400
    for kinds, status in (
        (QuotaSpent, 429),
        (NotAllowed, 403),
        (UnknownPolicy, 404),
        ((RegistryUnavailable, arena.store.errors.StoreBusy), 503),
        (ServerFault, 500),
        (KNOWN, 409),
    ):
        if isinstance(error, kinds):
            return status
    return 500
