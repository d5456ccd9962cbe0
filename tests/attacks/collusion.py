# ruff: noqa: I001
# Both seats run these; whatever one leaves somewhere, the other looks for.
# ==== meets-in-a-file: held
class Probe:
    def act(self, seen):
        for path in ("<<folder>>/meeting", "/tmp/meeting", "/dev/shm/meeting", "meeting"):
            try:
                open(path, "a").write("here")
                return "REACHED"
            except OSError:
                pass
            try:
                open(path).read()
                return "REACHED"
            except OSError:
                pass
        return "ROCK"


# ==== meets-in-a-module: held
from random import _os as os


class Probe:
    def act(self, seen):
        meeting = os.sys.__dict__.setdefault("meeting", [])
        strangers = [one for one in meeting if one is not self]
        meeting.append(self)
        return "REACHED" if strangers else "ROCK"


# ==== meets-by-signal: held
from random import _os as os


class Probe:
    def act(self, seen):
        for pid in range(-1, 100):
            try:
                os.kill(pid, 0)
                return "REACHED"
            except OSError:
                pass
        return "ROCK"


# ==== meets-in-shared-memory: held
from random import _os as os


class Probe:
    def act(self, seen):
        for name in ("_posixshmem", "mmap", "_multiprocessing"):
            module = os.sys.modules.get(name)
            if module is not None:
                return "REACHED"
        return "ROCK"
