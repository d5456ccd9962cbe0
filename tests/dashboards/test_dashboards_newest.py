"""What is large is there once: the newest, for however many ask."""

from __future__ import annotations

import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from dashboards.newest import Newest


def test_the_old_value_is_gone_before_the_new_one_is_made():
    newest: Newest[np.ndarray] = Newest()
    old = weakref.ref(newest.get("rrps", 1, lambda: np.zeros(3)))
    assert newest.get("rrps", 1, lambda: np.ones(3)) is old()

    def make() -> np.ndarray:
        assert old() is None
        return np.ones(3)

    assert newest.get("leduc", 1, lambda: np.full(3, 7.0)).tolist() == [7.0] * 3
    assert old() is not None
    assert newest.get("rrps", 2, make).tolist() == [1.0] * 3


def test_who_asks_meanwhile_waits_and_gets_the_same():
    newest: Newest[list[int]] = Newest()
    asked, made = threading.Barrier(4), []

    def make() -> list[int]:
        made.append(1)
        return [len(made)]

    def ask(_: int) -> list[int]:
        asked.wait(10)
        return newest.get("rrps", "stamp", make)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, range(4)))
    assert len(made) == 1 and all(one is found[0] for one in found)


def test_what_failed_is_made_again():
    newest: Newest[int] = Newest()
    for _ in range(2):
        try:
            newest.get("rrps", 1, lambda: 1 // 0)
        except ZeroDivisionError:
            continue
        raise AssertionError("the error was swallowed")
    assert newest.get("rrps", 1, lambda: 5) == 5
