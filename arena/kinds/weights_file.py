"""Files of weights in the safetensors format: named arrays behind a JSON header, and no code.

Ours, in few lines, so that a machine that only plays needs no library for it, and because what a
stranger hands in is checked here to the last byte.  The format: eight bytes that say how long the
header is, the header, the arrays one after the other
(https://huggingface.co/docs/safetensors/index).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

MOST_BYTES = 8 << 20
"""Of a file: over three times the largest network that was published for one of our games."""
_MOST_HEADER = 1 << 16
_TYPES: Mapping[str, Any] = {"F32": np.dtype("<f4"), "I16": np.dtype("<i2")}
_NAMES = {dtype: name for name, dtype in _TYPES.items()}
_METADATA = "__metadata__"


@dataclass(frozen=True, slots=True, eq=False)
class WeightsFile:
    """What is in a file.

    Attributes:
      header: what its author says of it, words to words.
      arrays: by name; of 16-bit integers or 32-bit floats.
    """

    header: Mapping[str, str]
    arrays: Mapping[str, npt.NDArray[Any]]


def written(file: WeightsFile) -> bytes:
    """The file's bytes; equal content gives equal bytes.

    Raises:
      ValueError: an array is of another type.
    """
    header: dict[str, Any] = {_METADATA: dict(sorted(file.header.items()))}
    parts, at = [], 0
    for name in sorted(file.arrays):
        array = np.ascontiguousarray(file.arrays[name])
        if array.dtype not in _NAMES:
            raise ValueError(f"{name} is of type {array.dtype}; weights are I16 or F32")
        part = array.tobytes()
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [at, at + len(part)],
        }
        parts.append(part)
        at += len(part)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # readers may map the arrays, which begin at a whole word
    return len(text).to_bytes(8, "little") + text + b"".join(parts)


def read(data: bytes) -> WeightsFile:
    """Reads a file.

    Raises:
      ValueError: it is too large or not of the format, or there is a byte in it that is in no array
        or in two.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"the file has {len(data):,} bytes; {MOST_BYTES:,} are allowed")
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(len(data) - 8, _MOST_HEADER):
        raise ValueError("the file does not begin with a header of safetensors")
    try:
        header = json.loads(data[8 : 8 + length].decode())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the file's header is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise ValueError("the file's header is not a JSON object")
    told = header.pop(_METADATA, {})
    if not isinstance(told, dict) or not all(isinstance(one, str) for one in told.values()):
        raise ValueError(f'"{_METADATA}" must map words to words')
    body = memoryview(data)[8 + length :]
    found = {name: _entry(name, entry, len(body)) for name, entry in header.items()}
    end = 0
    for start, stop in sorted((start, stop) for _, _, start, stop in found.values()):
        if start != end:
            raise ValueError(f"byte {min(start, end)} of the arrays is in none of them, or in two")
        end = stop
    if end != len(body):
        raise ValueError(f"{len(body) - end} bytes follow the last array")
    arrays = {
        name: np.frombuffer(body[start:stop], dtype).reshape(shape)
        for name, (dtype, shape, start, stop) in found.items()
    }
    return WeightsFile(told, arrays)


def _entry(name: str, entry: Any, size: int) -> tuple[Any, tuple[int, ...], int, int]:
    """Type, shape, first byte and end of one array, checked."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{name[:80]!r}: an array has dtype, shape and data_offsets")
    dtype, shape, offsets = (entry[key] for key in ("dtype", "shape", "data_offsets"))
    if not isinstance(dtype, str) or dtype not in _TYPES:
        raise ValueError(f"{name[:80]!r} is of type {str(dtype)[:20]!r}; weights are I16 or F32")
    if not (_whole(shape) and _whole(offsets) and len(offsets) == 2 and len(shape) <= 2):
        raise ValueError(f"{name[:80]!r} has a shape or offsets that are no small whole numbers")
    start, stop = offsets
    expected = math.prod(shape) * _TYPES[dtype].itemsize
    if stop > size or stop - start != expected:
        raise ValueError(
            f"{name[:80]!r} should have {expected:,} bytes, and has {stop - start:,} of {size:,}"
        )
    return _TYPES[dtype], tuple(shape), start, stop


def _whole(values: Any) -> bool:
    return isinstance(values, list) and all(
        type(value) is int and 0 <= value <= MOST_BYTES for value in values
    )
