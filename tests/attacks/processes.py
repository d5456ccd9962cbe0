# ruff: noqa: I001
# ==== forks: held
from random import _os as os


class Probe:
    def act(self, seen):
        for attempt in (os.fork, os.forkpty, lambda: os.posix_spawn("/bin/sh", ["sh"], {})):
            try:
                if attempt() == 0:
                    os._exit(0)
                return "REACHED"
            except OSError:
                pass
        return "ROCK"


# ==== fork-bomb: held, timed-out
from random import _os as os


class Probe:
    def act(self, seen):
        for _ in range(20_000):
            try:
                os.fork()
                return "REACHED"
            except OSError:
                pass
        return "ROCK"


# ==== executes: held
from random import _os as os


class Probe:
    def act(self, seen):
        for attempt in (
            lambda: os.execv("/bin/sh", ["sh", "-c", "touch <<folder>>/made"]),
            lambda: os.execve("/usr/bin/env", ["env"], {}),
            lambda: os.fexecve(3, ["x"], {}) if hasattr(os, "fexecve") else os.execv(3, ["x"]),
            lambda: os.system("touch <<folder>>/made") and 1 / 0,
        ):
            try:
                attempt()
                return "REACHED"
            except (OSError, ZeroDivisionError, TypeError):
                pass
        return "ROCK"


# ==== starts-threads: held
from random import _os as os


class Probe:
    def act(self, seen):
        try:
            os.sys.modules["_thread"].start_new_thread(lambda: None, ())
            return "REACHED"
        except RuntimeError:
            return "ROCK"


# ==== thread-bomb: held, timed-out
from random import _os as os


class Probe:
    def act(self, seen):
        start = os.sys.modules["_thread"].start_new_thread
        for _ in range(2000):
            try:
                start(lambda: 1, ())
                return "REACHED"
            except RuntimeError:
                pass
        return "ROCK"


# ==== kills-others: held
from random import _os as os


class Probe:
    def act(self, seen):
        me = os.getpid()
        for target in (os.getppid(), 1, -1, 0, me - 1, me + 1, me - 2, me + 2, -me):
            if target == me:
                continue
            for number in (0, 9, 15, 19):
                try:
                    os.kill(target, number)
                    return "REACHED"
                except OSError:
                    pass
        return "ROCK"


# ==== kills-itself: died, held
from random import _os as os


class Probe:
    def act(self, seen):
        try:
            os.kill(os.getpid(), 9)
        except OSError:
            pass
        return "ROCK"


# ==== stops-itself: held, stalled, died
from random import _os as os


class Probe:
    def act(self, seen):
        for attempt in (lambda: os.kill(os.getpid(), 19), lambda: os.killpg(0, 19)):
            try:
                attempt()
            except OSError:
                pass
        return "ROCK"


# ==== exits: crashed
class Probe:
    def act(self, seen):
        raise SystemExit(0)


# ==== exits-at-once: died
from random import _os as os


class Probe:
    def act(self, seen):
        os._exit(0)


# ==== exits-while-loading: died
from random import _os as os

os._exit(3)


class Probe:
    def act(self, seen):
        return "ROCK"


# ==== pretends-that-the-seal-failed: died
from random import _os as os

os._exit(70)


class Probe:
    def act(self, seen):
        return "ROCK"


# ==== aborts: died
from random import _os as os


class Probe:
    def act(self, seen):
        os.abort()


# ==== changes-identity: held
from random import _os as os


class Probe:
    def act(self, seen):
        for attempt in (
            lambda: os.setuid(0),
            lambda: os.setresuid(0, 0, 0),
            lambda: os.setgid(0),
            lambda: os.setgroups([0]),
            lambda: os.setsid(),
            lambda: os.setpgid(0, 0),
            lambda: os.nice(-5),
            lambda: os.setpriority(0, 0, -5),
            lambda: os.umask(0) and 1 / 0,
            lambda: os.sched_setaffinity(0, {0}),
            lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
        ):
            try:
                attempt()
                return "REACHED"
            except (OSError, ZeroDivisionError):
                pass
        return "ROCK"


# ==== raises-its-limits: held
from random import _os as os


class Probe:
    def act(self, seen):
        resource = os.sys.modules["resource"]
        for name in ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_FSIZE"):
            for pair in ((-1, -1), (1 << 40, 1 << 40)):
                try:
                    resource.setrlimit(getattr(resource, name), pair)
                    return "REACHED"
                except (OSError, ValueError):
                    pass
        return "ROCK"


# ==== handles-signals: timed-out
from random import _os as os


class Probe:
    def act(self, seen):
        signal = os.sys.modules["signal"]
        for number in range(1, 65):
            try:
                signal.signal(number, lambda *_: None)
            except (OSError, ValueError):
                pass
        while True:
            pass


# ==== leaves-exit-handlers: crashed
from random import _os as os


class Probe:
    def act(self, seen):
        atexit = os.sys.modules.get("atexit")
        if atexit:
            atexit.register(lambda: [0 for _ in iter(int, 1)])
        raise SystemExit(0)

    def __del__(self):
        while True:
            pass
