# ruff: noqa: I001
# ==== loops: timed-out
class Probe:
    def act(self, seen):
        while True:
            pass


# ==== loops-in-c: timed-out
class Probe:
    def act(self, seen):
        return sum(range(10**12))


# ==== loops-in-a-regular-expression: timed-out
import re


class Probe:
    def act(self, seen):
        return re.match(r"(a+)+$", "a" * 60 + "b")


# ==== loops-catching-everything: timed-out
class Probe:
    def act(self, seen):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass


# ==== loops-while-loading: load-failed
while True:
    pass


# ==== loops-in-the-constructor: load-failed
class Probe:
    def __init__(self):
        while True:
            pass

    def act(self, seen):
        return "ROCK"


# ==== uses-up-the-match: timed-out
class Probe:
    def act(self, seen):
        for _ in range(15_000_000):
            pass
        return "ROCK"


# ==== sleeps: held
import time


class Probe:
    def act(self, seen):
        time.sleep(1000)
        return "ROCK"


# ==== sleeps-while-loading: held
import time

time.sleep(1000)


class Probe:
    def act(self, seen):
        return "ROCK"


# ==== naps: held
import time


class Probe:
    def act(self, seen):
        time.sleep(0.2)
        return "ROCK"


# ==== waits-for-a-lock: died, timed-out
from random import _os as os


class Probe:
    def act(self, seen):
        lock = os.sys.modules["_thread"].allocate_lock()
        lock.acquire()
        lock.acquire()
        return "ROCK"


# ==== waits-for-messages-while-loading: load-failed
from random import _os as os

os.read(3, 100)


class Probe:
    def act(self, seen):
        return "ROCK"


# ==== waits-for-messages: stalled
from random import _os as os


class Probe:
    def act(self, seen):
        os.read(3, 100)
        return "ROCK"


# ==== error-text-loops: crashed
class Slow(Exception):
    def __str__(self):
        while True:
            pass


class Probe:
    def act(self, seen):
        raise Slow()


# ==== error-text-exits: crashed
from random import _os as os


class Leaving(Exception):
    def __str__(self):
        os._exit(0)


class Probe:
    def act(self, seen):
        raise Leaving()


# ==== equality-loops: malformed-action
class Slow(str):
    def __eq__(self, other):
        while True:
            pass

    def __hash__(self):
        while True:
            pass


class Probe:
    def act(self, seen):
        return Slow("ROCK")
