"""Types that annotations do not describe: open values, bytes, arrays, games, lists with names."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Mapping
from types import GenericAlias
from typing import Any, get_args, get_origin

from arena.wire.plain import (
    DEEPEST,
    Codec,
    Json,
    Malformed,
    decode_float,
    decode_text,
    documented,
    encode_float,
)

Maker = Callable[[Any], Codec]
"""The codec of a type, for the parts of a special one."""
MARK = "~"
"""Key of an object that stands for what JSON has not: ["tuple", [...]], ["float", "NaN"], ..."""
LARGEST_ARRAY = 1 << 28
"""Bytes of one array; a table of 2,000 policies has 64 MB."""


def encode_open(value: Any, depth: int = 0) -> Json:
    """What an annotation leaves open, such as provenance: JSON values and tuples of them.

    Raises:
      TypeError: it is something else.
    """
    if depth > DEEPEST:
        raise TypeError(f"a value has more than {DEEPEST} levels")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, str)):
        return _plain(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else {MARK: ["float", encode_float(value)]}
    if isinstance(value, tuple):
        return {MARK: ["tuple", [encode_open(one, depth + 1) for one in value]]}
    if isinstance(value, list):
        return [encode_open(one, depth + 1) for one in value]
    if isinstance(value, Mapping):
        made = {_key(key): encode_open(one, depth + 1) for key, one in value.items()}
        return {MARK: ["object", made]} if MARK in made else made
    raise TypeError(f"a value of type {type(value).__name__} is none that JSON can hold")


def _plain(value: str | int) -> Json:
    """An enum of text or numbers equals its plain value, and goes as that."""
    return str.__str__(value) if isinstance(value, str) else int(value)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"{key!r} is no name in a JSON object")
    return str.__str__(key)


def decode_open(value: Json, depth: int = 0) -> Any:
    """The inverse of `encode_open`."""
    if depth > DEEPEST:
        raise Malformed(f"at most {DEEPEST} levels are wanted")
    if isinstance(value, list):
        return [decode_open(one, depth + 1) for one in value]
    if isinstance(value, str):
        return decode_text(value)
    if not isinstance(value, dict):
        return value
    if MARK not in value:
        return {decode_text(key): decode_open(one, depth + 1) for key, one in value.items()}
    marked = value[MARK]
    if len(value) == 1 and isinstance(marked, list) and len(marked) == 2:
        kind, told = marked
        if kind == "tuple" and isinstance(told, list):
            return tuple(decode_open(one, depth + 1) for one in told)
        if kind == "float":
            return decode_float(told)
        if kind == "object" and isinstance(told, dict):
            return {decode_text(key): decode_open(one, depth + 1) for key, one in told.items()}
    raise Malformed(f"an object with {MARK!r} holds a tuple, a float or an object")


def _encode_bytes(value: bytes) -> Json:
    return base64.b64encode(value).decode("ascii")


def _decode_bytes(value: Json) -> bytes:
    if isinstance(value, str):
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            pass
    raise Malformed("bytes in base64 are wanted")


_BYTES = Codec(_encode_bytes, _decode_bytes, {"type": "string", "contentEncoding": "base64"})
_OPEN = Codec(encode_open, decode_open, {})


def _bytes_and_open_values(of: Any, codec: Maker) -> Codec | None:
    if of is bytes:
        return _BYTES
    return _OPEN if of is Any or of is object else None


def _game(of: Any, codec: Maker) -> Codec | None:
    """A game crosses by its name; both sides have its rules."""
    from arena.errors import UnknownGame
    from arena.games import game
    from arena.games.protocol import Game

    if of is not Game:
        return None

    def decode(value: Json) -> Game:
        try:
            return game(value if isinstance(value, str) else "")
        except UnknownGame as error:
            raise Malformed(str(error)) from None

    name = {"type": "string", "description": "name of a game"}
    # Where a name is allowed in a game's place, the name is what is sent.
    return Codec(lambda one: one if isinstance(one, str) else one.name, decode, name, textual=True)


def _array(of: Any, codec: Maker) -> Codec | None:
    """An array: its shape, and its numbers as little-endian bytes, row by row."""
    import numpy as np

    if get_origin(of) is not np.ndarray:
        return None
    (kind,) = get_args(get_args(of)[1])
    dtype = np.dtype(kind).newbyteorder("<")

    def encode(value: np.ndarray[Any, Any]) -> Json:
        if value.dtype != np.dtype(kind):
            raise TypeError(f"an array has {value.dtype} in the place of {np.dtype(kind)}")
        rows = np.ascontiguousarray(value).astype(dtype, copy=False)
        return {
            "dtype": dtype.str,
            "shape": list(value.shape),
            "data": _encode_bytes(rows.tobytes()),
        }

    def decode(value: Json) -> np.ndarray[Any, Any]:
        found = documented(value)
        if found.keys() != {"dtype", "shape", "data"} or found["dtype"] != dtype.str:
            raise Malformed(f"an array of {dtype.str} is wanted, with dtype, shape and data")
        shape, data = shapes.decode(found["shape"]), _decode_bytes(found["data"])
        if any(side < 0 for side in shape) or len(shape) > 8:
            raise Malformed("a shape of at most 8 sides, none below 0, is wanted")
        wanted = dtype.itemsize * math.prod(shape)
        if wanted > LARGEST_ARRAY or len(data) != wanted:
            raise Malformed(f"the shape {list(shape)} does not go with {len(data)} bytes")
        return np.frombuffer(data, dtype).astype(np.dtype(kind)).reshape(shape)

    shapes = codec(tuple[int, ...])
    schema = {
        "type": "object",
        "properties": {
            "dtype": {"const": dtype.str},
            "shape": shapes.schema,
            "data": _BYTES.schema,
        },
        "required": ["dtype", "shape", "data"],
    }
    return Codec(encode, decode, schema)


def _named_lists(of: Any, codec: Maker) -> Codec | None:
    """Lists that are shown as tables, and what belongs to them."""
    from arena.listings import History, Matches, Policies, Practice, Seasons
    from arena.practice import PracticeMatch
    from registry.values import PolicyVersion, Season, StatusChange

    members: dict[Any, type[Any]] = {
        History: StatusChange,
        Policies: PolicyVersion,
        Practice: PracticeMatch,
        Seasons: Season,
    }
    if of in members:
        items = codec(GenericAlias(tuple, (members[of], ...)))
        return Codec(items.encode, lambda value: of(items.decode(value)), items.schema)
    if of is not Matches:
        return None
    from arena.store.values import MatchRow

    rows, refs = codec(tuple[MatchRow, ...]), codec(dict[str, str])
    parts = {"rows": rows.schema, "refs": refs.schema}

    def decode(value: Json) -> Matches:
        found = documented(value)
        if found.keys() != parts.keys():
            raise Malformed("an object with rows and refs is wanted")
        return Matches(rows.decode(found["rows"]), refs.decode(found["refs"]))

    return Codec(
        lambda value: {"rows": rows.encode(value), "refs": refs.encode(value.refs)},
        decode,
        {"type": "object", "properties": parts, "required": sorted(parts)},
    )


SPECIAL: tuple[Callable[[Any, Maker], Codec | None], ...] = (
    _bytes_and_open_values,
    _game,
    _array,
    _named_lists,
)
"""Each makes the codec of a type that annotations do not describe; None where it is another's."""
