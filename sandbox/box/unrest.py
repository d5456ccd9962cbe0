"""Memory that is never the same twice, so that nobody's play can go by where its objects lie.

Workers that are forked from one zygote find the same memory free, and what one object gives back
the next one gets.  A program whose moves depend on addresses (the order of a set of objects, say)
would play the same again wherever it is tried, and differently on another machine.  So every
worker takes and gives back small pieces of memory at random, before the program is loaded and
with every answer.  Such a program shows it the first time that a match of it is played again.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

SALT_BYTES = 256
"""Random bytes that a worker's memory follows from."""

_SLOTS = 64
_STEPS_BEFORE = 256
_PLACES = 125
"""How many bytes of the salt say which piece is given back; the rest say what is taken.  The two
counts have no divisor in common, so that together they take long to come round again."""
_MOST_TAKEN_SIZES = (16, 16, 16, 32, 32, 32, 48, 48, 48, 64, 64, 64, 80, 96, 112, 128)
_HEAP_STEP = 16
_HELD_SIZES, _OFTEN_USED = 32, 8
_MANY, _FEW = 63, 7
"""How many pieces of one size are held at most: more of the sizes that instances of classes have,
since the order of a set of them follows from where the first one lies."""


def _taker(size: int) -> Callable[[], object]:
    """What makes an object of so many bytes; the garbage collector counts none of them."""
    if size == 16:
        return object
    digits = (size - 24) // 4  # of 30 bits each, after a header of 24 bytes
    return functools.partial((1).__lshift__, 30 * digits - 1)


_TAKERS = tuple(map(_taker, _MOST_TAKEN_SIZES))


def unrest(salt: bytes) -> Callable[[], None]:
    """Shifts this process's memory; returns what shifts it a little further with every call.

    Args:
      salt: SALT_BYTES random bytes, which tell nothing and which nothing else follows from.
    """
    # More than what Python hands out by itself comes from the C library's heap.
    held: list[object] = [bytes(1024 + _HEAP_STEP * salt[0])]
    for size, byte in enumerate(salt[:_HELD_SIZES]):
        most = _MANY if size < _OFTEN_USED else _FEW
        held += [bytes(31 + 16 * size) for _ in range(byte & most)]
    pieces: list[object] = [held] + [None] * _SLOTS
    place = itertools.cycle([1 + byte % _SLOTS for byte in salt[:_PLACES]]).__next__
    taker = itertools.cycle([_TAKERS[byte % len(_TAKERS)] for byte in salt[_PLACES:]]).__next__

    def stir() -> None:
        pieces[place()] = taker()()

    for _ in range(_STEPS_BEFORE):
        stir()
    return stir
