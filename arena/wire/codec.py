"""Values as JSON and back, exactly, by their annotations.

A codec is made once for a type and has three parts: to JSON, from JSON, and a JSON schema of that.
What comes back equals what went in, to the last bit of a float.  What another program sent is never
trusted: whatever does not fit the type is a `Malformed` that says where.

Pydantic would do part of this.  But tuples with attributes (`Matches`), games by their names,
arrays, and unions that must say which of them they are need hooks in the arena's own classes there,
and the words of its errors are for programmers.
"""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from arena.wire.plain import (
    NOT_FINITE,
    Codec,
    Json,
    Malformed,
    decode_float,
    decode_text,
    documented,
    encode_float,
    refuse,
)
from arena.wire.values import SPECIAL

_SEQUENCES = (Sequence, Iterable, Collection)


@cache
def codec(of: Any) -> Codec:
    """The codec of a type.

    Raises:
      TypeError: no value of that type crosses the wire.
    """
    for make in SPECIAL:
        found = make(of, codec)
        if found is not None:
            return found
    origin = get_origin(of)
    if of in _PLAIN:
        return _PLAIN[of]
    if origin in (Union, types.UnionType):
        return _union(get_args(of))
    if origin is tuple:
        return _tuple(get_args(of))
    if origin is list or origin in _SEQUENCES:
        return _listing(get_args(of)[0], list if origin is list else tuple)
    if origin in (dict, Mapping):
        return _mapping(*get_args(of))
    if isinstance(of, type) and issubclass(of, enum.Enum):
        return _enum(of)
    if isinstance(of, type) and is_dataclass(of):
        return _record(of)
    raise TypeError(f"nothing of type {of!r} crosses the wire")


# Plain values.


def _truth(value: Json) -> bool:
    return value if isinstance(value, bool) else refuse("true or false is wanted")


def _whole(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        refuse("a whole number is wanted")
    return value


def _moment(value: Json) -> datetime:
    try:
        return datetime.fromisoformat(decode_text(value))
    except ValueError:
        refuse("a time is wanted, such as 2026-01-31T12:00:00+00:00")


def _nothing(value: Json) -> None:
    if value is not None:
        refuse("nothing (null) is wanted")


_NUMBER = {"anyOf": [{"type": "number"}, {"enum": list(NOT_FINITE)}]}
_PLAIN: dict[Any, Codec] = {
    str: Codec(decode_text, decode_text, {"type": "string"}, textual=True),
    bool: Codec(bool, _truth, {"type": "boolean"}),
    int: Codec(int, _whole, {"type": "integer"}),
    float: Codec(encode_float, decode_float, _NUMBER),
    datetime: Codec(datetime.isoformat, _moment, {"type": "string", "format": "date-time"}),
    type(None): Codec(_nothing, _nothing, {"type": "null"}),
    None: Codec(_nothing, _nothing, {"type": "null"}),
}


def _enum(of: type[enum.Enum]) -> Codec:
    known = {str(one.value): one for one in of}

    def decode(value: Json) -> enum.Enum:
        found = known.get(value) if isinstance(value, str) else None
        return found if found is not None else refuse(f"one of {', '.join(known)} is wanted")

    schema = {"type": "string", "enum": list(known)}
    return Codec(lambda value: str(of(value).value), decode, schema, textual=True)


# Values of values.


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else refuse("a list is wanted")


def _each(of: Codec, values: list[Json]) -> Iterable[Any]:
    for place, value in enumerate(values):
        try:
            yield of.decode(value)
        except Malformed as error:
            raise error.inside(str(place)) from None


def _listing(item: Any, made: type[list[Any]] | type[tuple[Any, ...]]) -> Codec:
    of = codec(item)
    return Codec(
        lambda values: [of.encode(value) for value in values],
        lambda value: made(_each(of, _listed(value))),
        {"type": "array", "items": of.schema},
    )


def _tuple(items: tuple[Any, ...]) -> Codec:
    if len(items) == 2 and items[1] is Ellipsis:
        return _listing(items[0], tuple)
    parts = [codec(item) for item in items]

    def encode(values: Sequence[Any]) -> Json:
        return [of.encode(value) for of, value in zip(parts, values, strict=True)]

    def decode(value: Json) -> tuple[Any, ...]:
        found = _listed(value)
        if len(found) != len(parts):
            refuse(f"a list of {len(parts)} is wanted")
        return tuple(next(iter(_each(of, [one]))) for of, one in zip(parts, found, strict=True))

    size = {"minItems": len(parts), "maxItems": len(parts)}
    return Codec(
        encode, decode, {"type": "array", "prefixItems": [of.schema for of in parts], **size}
    )


def _mapping(key: Any, value: Any) -> Codec:
    """By text as an object; by anything else as a list of pairs."""
    of = codec(value)
    if codec(key).textual:
        name = codec(key)

        def decode(found: Json) -> dict[Any, Any]:
            made = {}
            for one, told in documented(found).items():
                try:
                    made[name.decode(one)] = of.decode(told)
                except Malformed as error:
                    raise error.inside(_written(one)) from None
            return made

        return Codec(
            lambda values: {name.encode(one): of.encode(told) for one, told in values.items()},
            decode,
            {"type": "object", "additionalProperties": of.schema},
        )
    pairs = _listing(tuple[key, value], list)
    return Codec(
        lambda values: pairs.encode(values.items()),
        lambda found: dict(pairs.decode(found)),
        pairs.schema,
    )


def _written(key: str) -> str:
    """A key that somebody sent, for a message: short, and in characters that can be sent back."""
    return key[:40].encode(errors="backslashreplace").decode()


def name_of(member: Any) -> str:
    """What a member of a union is called on the wire."""
    plain = get_origin(member) or member
    return str(plain.__name__)


def _union(members: tuple[Any, ...]) -> Codec:
    """One of several types; but for None each says which it is, as {"Rejection": ...}."""
    some = tuple(one for one in members if one is not type(None))
    if len(some) == 1:
        return _or_nothing(codec(some[0]))
    if str in some and all(codec(one).textual for one in some):
        of = _text_or([codec(one) for one in some if one is not str])
        return _or_nothing(of) if len(some) < len(members) else of
    by_name = {name_of(one): codec(one) for one in some}
    kinds = {name_of(one): get_origin(one) or one for one in some}

    enums = [one for one in some if isinstance(one, type) and issubclass(one, enum.StrEnum)]

    def encode(value: Any) -> Json:
        if type(value) is str and enums:  # its value will do, and is no collection of letters
            value = enums[0](value)
        for name, kind in kinds.items():
            if isinstance(value, kind):
                return {name: by_name[name].encode(value)}
        raise TypeError(f"{type(value).__name__} is none of {', '.join(kinds)}")

    def decode(value: Json) -> Any:
        found = documented(value)
        if len(found) != 1 or not found.keys() <= by_name.keys():
            refuse(f"an object with one of {', '.join(by_name)} is wanted")
        ((name, told),) = found.items()
        try:
            return by_name[name].decode(told)
        except Malformed as error:
            raise error.inside(name) from None

    of = Codec(
        encode,
        decode,
        {
            "oneOf": [
                {"type": "object", "properties": {name: one.schema}, "required": [name]}
                for name, one in by_name.items()
            ]
        },
    )
    return _or_nothing(of) if len(some) < len(members) else of


def _text_or(others: Sequence[Codec]) -> Codec:
    """Text, or what is written as text: on the wire nobody can tell them apart, nor needs to."""

    def encode(value: Any) -> Json:
        return str.__str__(value) if isinstance(value, str) else others[0].encode(value)

    return Codec(encode, decode_text, _PLAIN[str].schema, textual=True)


def _or_nothing(of: Codec) -> Codec:
    return Codec(
        lambda value: None if value is None else of.encode(value),
        lambda value: None if value is None else of.decode(value),
        {"anyOf": [of.schema, {"type": "null"}]},
        of.textual,
    )


def _record(of: type[Any]) -> Codec:
    """A dataclass as an object; fields with a default may be left out."""
    hints = get_type_hints(of)
    parts = {field.name: codec(hints[field.name]) for field in fields(of)}
    needed = {
        one.name for one in fields(of) if one.default is MISSING and one.default_factory is MISSING
    }

    def encode(value: Any) -> Json:
        return {name: part.encode(getattr(value, name)) for name, part in parts.items()}

    def decode(value: Json) -> Any:
        found = documented(value)
        strange = [*(found.keys() - parts.keys()), *(needed - found.keys())]
        if strange:
            refuse(f"an object with {', '.join(parts)} is wanted (see {min(strange)!r:.80})")
        made = {}
        for name, told in found.items():
            try:
                made[name] = parts[name].decode(told)
            except Malformed as error:
                raise error.inside(name) from None
        try:
            return of(**made)
        except ValueError as error:
            refuse(f"it is no {of.__name__}: {error}")

    schema = {
        "title": of.__name__,
        "type": "object",
        "properties": {name: part.schema for name, part in parts.items()},
        "required": sorted(needed),
        "additionalProperties": False,
    }
    return Codec(encode, decode, schema)


def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Types of a function's parameters and of what it returns."""
    return typing.get_type_hints(function)
