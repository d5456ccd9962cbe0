"""Names of attributes that objects have which a policy did not define itself.

`library_words.txt` lists what the built-in types, the modules that a policy may import, and their
classes have (Python 3.11 to 3.13, numpy 2), one a line.  `relist()` made it, under each of them.
"""

from __future__ import annotations

import builtins
import importlib
import types
import warnings
from pathlib import Path

from sandbox.box.allowed import ALLOWED_MODULES

PATH = Path(__file__).with_name("library_words.txt")
WORDS = frozenset(PATH.read_text(encoding="ascii").split())
"""All of them; names that start with two underscores are left out."""

DUCK_WORDS = frozenset(
    {
        "as_integer_ratio",
        "close",
        "denominator",
        "fileno",
        "flush",
        "keys",
        "numerator",
        "read",
        "readline",
        "utcoffset",
        "write",
    }
)
"""Attributes that the library takes of whatever it is given."""

_PARTS = (
    "collections.abc",
    "json.decoder",
    "numpy.fft",
    "numpy.lib.stride_tricks",
    "numpy.linalg",
    "numpy.ma",
    "numpy.polynomial",
    "numpy.random",
)


def words_of_this_python() -> set[str]:
    """What a list made by this Python would hold."""
    found: set[str] = set()
    for kind in (*vars(builtins).values(), *vars(types).values()):
        if isinstance(kind, type):
            found.update(dir(kind))
    for name in (*sorted(ALLOWED_MODULES), *_PARTS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is deprecated is there as well
            module = importlib.import_module(name)
        found.update(dir(module))
        for value in vars(module).values():
            if not isinstance(value, types.ModuleType | types.FunctionType):
                found.update(dir(value))
    return {word for word in found if word.isidentifier() and not word.startswith("__")}


def relist() -> None:
    """Adds to the list what this Python has."""
    PATH.write_text("".join(f"{word}\n" for word in sorted(WORDS | words_of_this_python())))
