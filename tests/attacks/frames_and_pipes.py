# ruff: noqa: I001
# ==== sends-frames-ahead: broke-protocol, held
from random import _os as os


class Probe:
    def act(self, seen):
        for mark in range(1, 40):
            os.write(4, bytes((mark, 0)))
        return "ROCK"


# ==== sends-long-frames: broke-protocol
from random import _os as os


class Probe:
    def act(self, seen):
        os.write(4, bytes(1000))
        return "ROCK"


# ==== sends-short-frames: broke-protocol
from random import _os as os


class Probe:
    def act(self, seen):
        os.write(4, b"\1")
        return "ROCK"


# ==== floods: broke-protocol
from random import _os as os


class Probe:
    def act(self, seen):
        while True:
            os.write(4, b"x" * 4096)


# ==== floods-while-loading: broke-protocol
from random import _os as os

os.write(4, b"x" * 4096)


class Probe:
    def act(self, seen):
        return "ROCK"


# ==== forges-the-referees-codes: broke-protocol
from random import _os as os


class Probe:
    def act(self, seen):
        frame = os.sys._getframe(1)
        while frame:
            if "replies" in frame.f_locals and isinstance(frame.f_locals["replies"], list):
                frame.f_locals["replies"].append(240)
            frame = frame.f_back
        os.write(4, bytes((1, 242)))
        os.read(3, 2)
        os.write(4, bytes((2, 241)))
        while True:
            os.read(3, 2)
            os.write(4, bytes((3, 240)))


# ==== answers-for-the-loop: held, broke-protocol
from random import _os as os


class Probe:
    def act(self, seen):
        frame = bytes((1,))
        while True:
            os.write(4, frame + b"\2" * 1)
            frame = os.read(3, 2)[:1]
            if not frame:
                os._exit(0)


# ==== closes-its-pipes: held
from random import _os as os


class Probe:
    def act(self, seen):
        for number in range(8):
            try:
                os.close(number)
                return "REACHED"
            except OSError:
                pass
        return "ROCK"


# ==== swallows-the-next-question: stalled, broke-protocol, timed-out, died
from random import _os as os


class Probe:
    def act(self, seen):
        os.write(4, b"\1\0")
        os.read(3, 1)
        return "ROCK"


# ==== lies-about-its-error: crashed
from random import _os as os


class Forger(Exception):
    def __str__(self):
        os.write(4, b"\0\xff\xff\xff\x7f" + b"x" * 4000)
        return "x"


class Probe:
    def act(self, seen):
        raise Forger()


# ==== sends-half-an-error: crashed
from random import _os as os


class Forger(Exception):
    def __str__(self):
        os.write(4, b"\0\x00\x10\x00\x00half")
        os._exit(0)


class Probe:
    def act(self, seen):
        raise Forger()


# ==== says-that-it-is-loaded-and-leaves: died, broke-protocol
from random import _os as os

os.write(4, b"\0")
os._exit(0)
# ==== loads-twice: broke-protocol, load-failed
from random import _os as os

os.write(4, b"\0\0")
raise ValueError
