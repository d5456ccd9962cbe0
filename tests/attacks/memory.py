# ruff: noqa: I001
# ==== takes-memory-fast: out-of-memory, died, timed-out
class Probe:
    def act(self, seen):
        hoard = []
        while True:
            hoard.append(bytearray(1 << 26))


# ==== takes-memory-slowly: out-of-memory, died, timed-out
class Probe:
    def act(self, seen):
        hoard = []
        while True:
            hoard.append([0] * 1000)


# ==== takes-memory-over-many-acts: out-of-memory, died, held
class Probe:
    def __init__(self):
        self.hoard = []

    def act(self, seen):
        self.hoard.append(bytearray(1 << 25))
        return "ROCK"


# ==== swallows-memory-errors: timed-out, out-of-memory, died
class Probe:
    def act(self, seen):
        hoard = []
        while True:
            try:
                hoard.append(bytearray(1 << 20))
            except MemoryError:
                pass


# ==== takes-memory-with-numpy: out-of-memory, died, timed-out
import numpy


class Probe:
    def act(self, seen):
        return [numpy.ones((1 << 24,)) for _ in range(1000)]


# ==== huge-integer: timed-out, out-of-memory, died
class Probe:
    def act(self, seen):
        return 9 ** (9**9)


# ==== huge-repeat: out-of-memory, died
class Probe:
    def act(self, seen):
        return "x" * (1 << 40)


# ==== inflates: out-of-memory, died, timed-out
import zlib


class Probe:
    def act(self, seen):
        packer = zlib.compressobj()
        packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(64)) + packer.flush()
        return [zlib.decompress(packed) for _ in range(64)]


# ==== recurses: crashed
class Probe:
    def act(self, seen):
        return self.act(seen)


# ==== recurses-without-limit: died, out-of-memory, timed-out, crashed
from random import _os as os


class Probe:
    def act(self, seen):
        os.sys.setrecursionlimit(1 << 30)

        def down(*_):
            return sorted([1, 2], key=down)

        return down()


# ==== class-body-bomb: load-failed, out-of-memory, died
class Probe:
    hoard = [bytearray(1 << 26) for _ in range(1000)]

    def act(self, seen):
        return "ROCK"


# ==== constant-bomb: load-failed, out-of-memory, died
exec(
    compile(
        "value = (((((1,) * 100,) * 100,) * 100,) * 100,)\n" * 5
        + "flat = [list(range(10**7)) for _ in range(10**4)]",
        "bomb",
        "exec",
    )
)


class Probe:
    def act(self, seen):
        return "ROCK"


# ==== source-bomb: load-failed, out-of-memory, died
eval("(" * 5000 + ")" * 5000)


class Probe:
    def act(self, seen):
        return "ROCK"


# ==== nested-source-bomb: load-failed, out-of-memory, died
exec("\n".join(" " * n + "if 1:" for n in range(99)) + "\n" + " " * 99 + "pass\n")
eval("-" * 1_000_000 + "1")


class Probe:
    def act(self, seen):
        return "ROCK"
