# ruff: noqa: I001, DTZ001, DTZ005
# Each looks for something that tells how much time has passed between two moments.
from random import _os as os


def work():
    return sum(range(20_000))


def moves_on(look):
    """Whether what a call returns depends on how long somebody computed; errors are no clock.

    The virtual clock moves on by as much whether they did or not.
    """
    try:
        first, second = look(), look()
        work()
        third = look()
        if isinstance(first, (int, float)):
            return round(third - second, 6) != round(second - first, 6)
        return first == second != third
    except (OSError, ArithmeticError, LookupError, AttributeError, TypeError, ValueError):
        return False


def module(name):
    return os.sys.modules[name]


def everything():
    """Every object that can be found, functions of C modules included."""
    gc = module("gc")
    gc.unfreeze()
    found = gc.get_objects()
    for name in list(os.sys.modules):
        found += list(getattr(os.sys.modules[name], "__dict__", {}).values())
    return found


# ==== reads-other-processes-processor-time: held
class Probe:
    """By the numbers that Linux gives to the clocks of other processes."""

    def act(self, seen):
        if seen["last"] is not None:
            return "ROCK"
        for thing in everything():
            if getattr(thing, "__name__", "") in ("clock_gettime", "clock_gettime_ns"):
                for clock in (*range(16), *((~pid << 3) | 2 for pid in range(40))):
                    if moves_on(lambda: thing(clock)):
                        return "REACHED"
        return "ROCK"


# ==== calls-every-clock-there-is: held
NAMES = (
    "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time clock "
    "process_time_ns thread_time thread_time_ns ctime localtime gmtime asctime getrusage now today "
    "utcnow getloadavg getitimer get_clock_info clock_getres"
).split()


class Probe:
    def act(self, seen):
        if seen["last"] is not None:
            return "ROCK"
        for thing in everything():
            if getattr(thing, "__name__", "") in NAMES and callable(thing):
                for arguments in ((), (0,), (1,)):
                    if moves_on(lambda: thing(*arguments)):
                        return "REACHED"
        return "ROCK"


# ==== asks-the-real-classes-for-the-date: held
import datetime


class Probe:
    def act(self, seen):
        start = datetime.datetime(2000, 1, 1)
        for kind in (*datetime.datetime.__mro__, *datetime.date.__mro__):
            for name in ("now", "utcnow", "today"):
                look = getattr(kind, name, None)
                if look and moves_on(lambda: look()):
                    return "REACHED"
                if look and hasattr(look(), "hour"):
                    if moves_on(lambda: (look() - start).total_seconds()):
                        return "REACHED"
        return "ROCK"


# ==== looks-at-its-own-descriptors: held
class Probe:
    def act(self, seen):
        for number in range(6):
            for look in (os.fstat, os.isatty, os.fstatvfs, os.get_blocking):
                try:
                    look(number)
                    if look is not os.isatty:
                        return "REACHED"
                except OSError:
                    pass
            try:
                os.lseek(number, 0, 1)
                return "REACHED"
            except OSError:
                pass
        return "ROCK"


# ==== waits-for-so-long: held
class Probe:
    def act(self, seen):
        select, signal = module("select"), module("signal")
        for attempt in (
            lambda: select.select([], [], [], 0.001),
            lambda: select.select([3], [], [], 0),
            lambda: select.poll().poll(1),
            lambda: select.epoll(),
            lambda: signal.setitimer(0, 0.001),
            lambda: signal.getitimer(0)[0] and 1 / 0,
            lambda: signal.sigtimedwait([10], 0.001),
            lambda: signal.alarm(1) == 0xFFFFFFFF and 1 / 0,
            lambda: os.sched_yield(),
            lambda: os.sched_getaffinity(0),
            lambda: moves_on(lambda: os.times().elapsed) or 1 / 0,
            lambda: module("resource").getrusage(0),
            lambda: os.getloadavg(),
            lambda: os.sched_rr_get_interval(0),
            lambda: os.timerfd_create(0),
            lambda: os.eventfd(0),
        ):
            try:
                attempt()
                return "REACHED"
            except (OSError, AttributeError, ZeroDivisionError):
                pass
        return "ROCK"


# ==== counts-in-another-thread: held
class Probe:
    def act(self, seen):
        thread = module("_thread")
        count = [0]

        def run():
            while True:
                count[0] += 1

        try:
            thread.start_new_thread(run, ())
        except RuntimeError:
            return "ROCK"
        return "REACHED" if moves_on(lambda: count[0]) else "ROCK"


# ==== waits-for-a-lock-for-so-long: died
class Probe:
    def act(self, seen):
        lock = module("_thread").allocate_lock()
        lock.acquire()
        lock.acquire(True, 0.001)
        return "REACHED"


# ==== dumps-its-stack-later: held, died
class Probe:
    def act(self, seen):
        handler = module("sys").modules.get("faulthandler")
        if handler is not None:
            try:
                handler.dump_traceback_later(0.001, exit=True)
                return "REACHED"
            except (RuntimeError, OSError, ValueError):
                pass
        return "ROCK"


# ==== sleeps-and-reads-the-clock: held
import datetime
import time
from time import monotonic as now


class Probe:
    """The clock that it is given moves by looks and sleeps alone."""

    def act(self, seen):
        before = now()
        work()
        if round(now() - before, 9) != 0.001:
            return "REACHED"
        time.sleep(5)
        if round(now() - before, 9) != 5.002:
            return "REACHED"
        if not 5.0 < time.time() - 946_684_800 < 120.0:
            return "REACHED"
        then = datetime.datetime.now()
        work()
        return (
            "ROCK"
            if datetime.datetime.now() - then == datetime.timedelta(0, 0, 1000)
            else "REACHED"
        )
