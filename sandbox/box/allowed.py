"""Which modules a policy may import, and what is loaded before a worker is sealed.

The list keeps policies to computing: no files, network, processes, threads or interpreter
internals.  It is there for clear messages and for results that can be repeated.  It is *not*
what holds a hostile policy; the seal is.
"""

from __future__ import annotations

ALLOWED_MODULES = frozenset(
    {
        "__future__",
        "abc",
        "array",
        "base64",
        "binascii",
        "bisect",
        "calendar",
        "cmath",
        "collections",
        "colorsys",
        "contextlib",
        "copy",
        "dataclasses",
        "datetime",
        "decimal",
        "difflib",
        "enum",
        "fractions",
        "functools",
        "graphlib",
        "hashlib",
        "heapq",
        "itertools",
        "json",
        "keyword",
        "math",
        "numbers",
        "numpy",
        "operator",
        "pprint",
        "random",
        "re",
        "reprlib",
        "statistics",
        "string",
        "struct",
        "textwrap",
        "time",
        "traceback",
        "types",
        "typing",
        "unicodedata",
        "warnings",
        "weakref",
        "zlib",
    }
)
"""Top-level names; their submodules come with them."""

PRELOADED = (
    *sorted(ALLOWED_MODULES - {"numpy"}),
    "_strptime",
    "collections.abc",
    "encodings.ascii",
    "encodings.idna",
    "encodings.latin_1",
    "encodings.utf_16",
    "encodings.utf_32",
    "inspect",
    "json.decoder",
    "json.encoder",
    "linecache",
    "stringprep",
    "tokenize",
)
"""A sealed worker opens no file, so whatever may be imported must be there already."""

PRELOADED_NUMPY = (
    "numpy",
    "numpy.fft",
    "numpy.lib.stride_tricks",
    "numpy.linalg",
    "numpy.ma",
    "numpy.polynomial",
    "numpy.random",
    "numpy.typing",
)


def wants_numpy(source: bytes) -> bool:
    """Whether a source may import numpy; such programs get workers that have it loaded.

    The word has to appear: numpy costs every worker 25 MB and two milliseconds.
    """
    return b"numpy" in source
