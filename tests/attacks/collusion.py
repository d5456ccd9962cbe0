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
        sys = os.sys
        mine = os.getpid()
        others = [pid for pid in sys.__dict__.setdefault("meeting", []) if pid != mine]
        sys.meeting.append(mine)
        return "REACHED" if others else "ROCK"


# ==== meets-by-signal: held
from random import _os as os


class Probe:
    def act(self, seen):
        for distance in range(-40, 41):
            if distance:
                try:
                    os.kill(os.getpid() + distance, 10)
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
