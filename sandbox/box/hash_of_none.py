"""Gives None the same hash in every box.

Until Python 3.12 the hash of None is its address, which is another one each time that Python is
started.  With it the order of a set that holds None differs from box to box, or one that holds a
tuple with None in it: what an author would never take for an address, and no trial in one box
can show.  From Python 3.12 on the hash is a constant.
"""

from __future__ import annotations

import ctypes
import sys

_WORD = ctypes.sizeof(ctypes.c_void_p)
_HASH_SLOT = 15 * _WORD
"""Place of `tp_hash` in a type object; see `PyTypeObject` in CPython's object.h."""


def fix_hash_of_none() -> None:
    """Makes it 0, which is what the C API's test for truth says of None.

    To be called before any set or dictionary could hold None.  Does nothing to a Python whose
    hash of None is a constant, or whose objects look otherwise.
    """
    ordinary = sys.implementation.name == "cpython" and object.__basicsize__ == 2 * _WORD
    if sys.version_info >= (3, 12) or not ordinary:
        return
    by_address, slot = _hash_slot(object), _hash_slot(type(None))
    if slot.value == by_address.value:
        slot.value = ctypes.cast(ctypes.pythonapi.PyObject_IsTrue, ctypes.c_void_p).value


def _hash_slot(kind: type) -> ctypes.c_void_p:
    return ctypes.c_void_p.from_address(id(kind) + _HASH_SLOT)
