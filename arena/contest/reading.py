"""Reads a certificate: text that anybody may have written, to facts whose every field has its type.

Nothing is believed here but the form.  Whether it is true is for `arena.contest.verification`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from arena.contest.certificate import Facts, Outcome
from arena.contest.values import FORMAT, Taking
from arena.errors import UsageFault
from registry import naming
from registry.tournaments import Entry

MOST_BYTES = 1 << 30
"""Of a certificate's file."""
_DEEPEST = 8
"""Levels of lists and objects; a certificate has four."""
_DIGEST, _KEY = re.compile(r"[0-9a-f]{32}"), re.compile(r"[0-9a-f]{64}")
_T = TypeVar("_T")


class Malformed(UsageFault):
    """A file that is no certificate, or one of another form; the message says where."""


def read_certificate(text: str | bytes) -> dict[str, Any]:
    """The document in a file.

    Raises:
      Malformed: it is no JSON object, or of a format that this arena does not know.
    """
    if len(text) > MOST_BYTES:
        raise Malformed(f"this is no certificate: it has more than {MOST_BYTES:,} bytes")
    try:
        document = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"this is no certificate: it cannot be read as JSON ({error})") from error
    if not isinstance(document, dict) or "format" not in document:
        raise Malformed("this is no certificate of a tournament")
    if document["format"] != FORMAT or isinstance(document["format"], bool):
        raise Malformed(
            f"this certificate has the format {document['format']!r:.40}, and this arena knows "
            f"{FORMAT}: update policy-arena"
        )
    _check_depth(document)
    return document


def _check_depth(document: Any) -> None:
    """Refuses what is nested so deep that comparing it would end in Python's own limit."""
    level = [document]
    for _ in range(_DEEPEST):
        inside = [one.values() if isinstance(one, dict) else one for one in level]
        level = [one for values in inside for one in values if isinstance(one, dict | list)]
        if not level:
            return
    raise Malformed(f"this is no certificate: it has more than {_DEEPEST} levels")


def facts_in(document: Mapping[str, Any]) -> Facts:
    """What a document says that does not follow from the rest of it.

    Raises:
      Malformed: a field is missing or of another type.
    """
    game, tournament = _get(document, "game", _object), _get(document, "tournament", _object)
    season = _get(document, "season", _object)
    return Facts(
        software=_get(document, "software", _texts),
        game=_get(game, "name", _text),
        game_version=_get(game, "version", _count),
        name=_get(tournament, "name", _word),
        opens=_get(tournament, "opens", _moment),
        closes=_get(tournament, "closes", _moment),
        frozen=_get(tournament, "frozen", _moment),
        entries=_get(tournament, "entries", _count),
        matches=_get(tournament, "matches", _count),
        season=_get(season, "number", _count),
        commitment=_get(season, "commitment", _key),
        key=bytes.fromhex(_get(season, "key", _key)),
        entered=_each(document, "entries", _entry),
        entrants=_each(document, "entrants", _taking),
        hidden=_each(document, "hidden", _taking),
        disqualified=_each(
            document,
            "disqualified",
            lambda one: (_get(one, "ref", _ref), _get(one, "reason", _text)),
        ),
        outcomes=_each(document, "matches", _outcome),
        alike=_each(document, "alike", _pair),
    )


def _get(where: Mapping[str, Any], name: str, kind: Callable[[Any], _T]) -> _T:
    if name not in where:
        raise Malformed(f"the certificate lacks {name!r}")
    try:
        return kind(where[name])
    except ValueError as error:
        raise Malformed(f"{name!r} in the certificate is {error}") from error


def _each(where: Mapping[str, Any], name: str, kind: Callable[[Any], _T]) -> tuple[_T, ...]:
    return _get(where, name, lambda found: tuple(kind(_object(one)) for one in _list(found)))


def _entry(one: Mapping[str, Any]) -> Entry:
    return Entry(
        _get(one, "author", _word),
        _get(one, "ref", _ref),
        _get(one, "digest", _digest),
        _get(one, "created", _moment),
    )


def _taking(one: Mapping[str, Any]) -> Taking:
    names = _get(one, "names", lambda found: tuple(_ref(name) for name in _list(found)))
    if not names:
        raise Malformed("a policy in the certificate has no name")
    return Taking(
        _get(one, "digest", _digest),
        _get(one, "kind", _text),
        names,
        _get(one, "code_digest", _text),
        _get(one, "source", _text) if "source" in one else None,
    )


def _outcome(one: Mapping[str, Any]) -> Outcome:
    seats = _get(one, "seats", lambda found: tuple(_digest(digest) for digest in _list(found)))
    returns = _get(one, "returns", lambda found: tuple(_number(value) for value in _list(found)))
    if len(seats) != 2 or len(returns) != 2:
        raise Malformed("a match in the certificate has no two seats or returns")
    low, high = sorted(seats)
    return Outcome(
        low,
        high,
        _get(one, "repetition", _count),
        (returns[0], returns[1]),
        _get(one, "termination", _text),
        _get(one, "fault_seat", _seat),
        _get(one, "moves", _digest),
    )


def _pair(one: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "one": _get(one, "one", _ref),
        "other": _get(one, "other", _ref),
        "likeness": _get(one, "likeness", _number),
        "same": _get(one, "same", _truth),
    }


def _is(kind: type[_T], called: str, value: Any) -> _T:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{value!r:.60}, and no {called}")
    return value


def _object(value: Any) -> dict[str, Any]:
    return _is(dict, "object", value)


def _list(value: Any) -> list[Any]:
    return _is(list, "list", value)


def _text(value: Any) -> str:
    text = _is(str, "text", value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{text!r:.60}, which is no Unicode") from None
    return text


def _texts(value: Any) -> dict[str, str]:
    return {_text(name): _text(one) for name, one in _object(value).items()}


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r:.60}, and neither true nor false")
    return value


def _count(value: Any) -> int:
    if _is(int, "number", value) < 0 or value >= 1 << 31:
        raise ValueError(f"{value}, which is no count")
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r:.60}, and no number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("a number that is too large")
    return number


def _seat(value: Any) -> int | None:
    if value is None or (value in (0, 1) and not isinstance(value, bool | float)):
        return value if value is None else int(value)
    raise ValueError(f"{value!r:.60}, and no seat")


def _matching(pattern: re.Pattern[str], value: Any) -> str:
    if not pattern.fullmatch(_text(value)):
        raise ValueError(f"{value!r:.80}, and no digest")
    return str(value)


def _digest(value: Any) -> str:
    return _matching(_DIGEST, value)


def _key(value: Any) -> str:
    return _matching(_KEY, value)


def _word(value: Any) -> str:
    if not naming.is_author(_text(value)):
        raise ValueError(f"{value!r:.80}, and no name")
    return str(value)


def _ref(value: Any) -> str:
    name, _, number = _text(value).rpartition("@")
    if not (number.isascii() and number.isdecimal() and naming.is_numbered_name(name, int(number))):
        raise ValueError(f"{value!r:.80}, and no AUTHOR/NAME@NUMBER")
    return str(value)


def _moment(value: Any) -> datetime:
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None:
        raise ValueError(f"{value!r:.60}, which is in no time zone")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{value!r:.60}, which is no moment in UTC") from None


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")
