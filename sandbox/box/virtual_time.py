"""Time as a policy sees it: a clock that moves by itself when somebody looks at it.

A real clock would tell a policy what other processes do, and would make its play depend on how
busy the machine is.  So each policy instance has a clock of its own that starts at the same
moment, moves on by a millisecond with every look, and by as much as it is asked to with every
sleep, which returns at once.  A policy that limits its thinking by the clock thinks as long,
and plays the same, on any machine.
"""

from __future__ import annotations

import datetime
import errno
import operator
import os
import time
import types
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

START_SECONDS = 946_684_800
"""When every clock starts, in seconds since 1970: the beginning of the year 2000, UTC."""
LOOK_NANOSECONDS = 1_000_000
"""By how much a look moves the clock on."""

_SINCE_1970 = ("CLOCK_REALTIME", "CLOCK_TAI")
_CLOCK_NAMES = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
_MODULE_TIME = vars(time).copy()
_Function = TypeVar("_Function", bound=Callable[..., Any])
_Date: TypeAlias = datetime.date
_DateTime: TypeAlias = datetime.datetime


class VirtualClock:
    """Nanoseconds since the clock was started."""

    def __init__(self) -> None:
        self._now = 0

    def restart(self) -> None:
        """Puts the clock back to where it started."""
        self._now = 0

    def look(self) -> int:
        """Moves the clock on and reads it."""
        self._now += LOOK_NANOSECONDS
        return self._now

    def since_1970(self) -> int:
        """A look, in nanoseconds since 1970."""
        return START_SECONDS * 1_000_000_000 + self.look()

    def sleep(self, seconds: float) -> None:
        """Moves the clock on and returns at once; refuses what `time.sleep` refuses."""
        if not isinstance(seconds, (int, float)):
            seconds = operator.index(seconds)
        if seconds != seconds:
            raise ValueError("Invalid value NaN (not a number)")
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        if seconds > _LONGEST_SLEEP:
            raise OverflowError("timestamp too large to convert to C PyTime_t")
        self._now += round(seconds * 1_000_000_000)


_LONGEST_SLEEP = (1 << 63) / 1e9


def time_functions(clock: VirtualClock) -> dict[str, Any]:
    """What the module `time` has that tells the time or waits, by name, on this clock."""
    look, since_1970 = clock.look, clock.since_1970
    functions: dict[str, Any] = {"sleep": clock.sleep}
    for name in _CLOCK_NAMES:
        read = since_1970 if name == "time" else look
        functions[name] = _clock_function(name, read, 1_000_000_000)
        functions[f"{name}_ns"] = _clock_function(f"{name}_ns", read, None)
    functions.update(_calendar_functions(since_1970))
    functions.update(_numbered_clocks(look, since_1970))
    return functions


def _clock_function(name: str, read: Callable[[], int], unit: int | None) -> Callable[[], Any]:
    def in_seconds() -> float:
        return read() / unit  # type: ignore[operator]

    def in_nanoseconds() -> int:
        return read()

    function = in_seconds if unit else in_nanoseconds
    function.__name__ = name
    return _as_in_module(function)


def _as_in_module(function: _Function) -> _Function:
    function.__qualname__, function.__module__ = function.__name__, "time"
    return function


def _calendar_functions(since_1970: Callable[[], int]) -> dict[str, Any]:
    """The functions that mean "now" when they are given no time."""
    real: Any = types.SimpleNamespace(**_MODULE_TIME)

    def gmtime(seconds: Any = None, /) -> Any:
        return real.gmtime(since_1970() // 1_000_000_000 if seconds is None else seconds)

    def localtime(seconds: Any = None, /) -> Any:
        return real.localtime(since_1970() // 1_000_000_000 if seconds is None else seconds)

    def ctime(seconds: Any = None, /) -> Any:
        return real.asctime(localtime(seconds))

    def asctime(*moment: Any) -> Any:
        return real.asctime(*(moment or (localtime(),)))

    def strftime(form: str, *moment: Any) -> Any:
        return real.strftime(form, *(moment or (localtime(),)))

    found = (gmtime, localtime, ctime, asctime, strftime)
    return {function.__name__: _as_in_module(function) for function in found}


def _numbered_clocks(look: Callable[[], int], since_1970: Callable[[], int]) -> dict[str, Any]:
    """The functions that take the number of a clock, or its name."""
    numbers = {value: name for name, value in _MODULE_TIME.items() if name.startswith("CLOCK_")}
    refused = OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    def clock_gettime_ns(clock: int, /) -> int:
        if clock not in numbers:
            raise refused
        return since_1970() if numbers[clock] in _SINCE_1970 else look()

    def clock_gettime(clock: int, /) -> float:
        return clock_gettime_ns(clock) / 1_000_000_000

    def clock_getres(clock: int, /) -> float:
        if clock not in numbers:
            raise refused
        return LOOK_NANOSECONDS / 1_000_000_000

    def clock_settime(clock: int, moment: float, /) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    def clock_settime_ns(clock: int, moment: int, /) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    def pthread_getcpuclockid(thread: int, /) -> int:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    def get_clock_info(name: str, /) -> types.SimpleNamespace:
        if name not in _CLOCK_NAMES:
            raise ValueError("unknown clock")
        return types.SimpleNamespace(
            implementation="virtual",
            monotonic=True,
            adjustable=False,
            resolution=LOOK_NANOSECONDS / 1_000_000_000,
        )

    found = (
        clock_gettime,
        clock_gettime_ns,
        clock_getres,
        clock_settime,
        clock_settime_ns,
        pthread_getcpuclockid,
        get_clock_info,
    )
    return {
        function.__name__: _as_in_module(function)
        for function in found
        if function.__name__ in _MODULE_TIME
    }


class _StandsFor(type):
    """Makes a class stand for a class of the real module: their objects are its objects."""

    _stands_for: type | None = None

    def __instancecheck__(cls, thing: Any) -> bool:
        own = cls.__dict__.get("_stands_for")
        return isinstance(thing, own) if own else type.__instancecheck__(cls, thing)

    def __subclasscheck__(cls, other: type) -> bool:
        own = cls.__dict__.get("_stands_for")
        return issubclass(other, own) if own else type.__subclasscheck__(cls, other)


def datetime_classes(clock: VirtualClock) -> dict[str, type]:
    """The classes `date` and `datetime`, whose `today`, `now` and `utcnow` follow this clock."""

    def seconds() -> float:
        return clock.since_1970() / 1_000_000_000

    def shown(self: Any, real_repr: str) -> str:
        return f"datetime.{real_repr}" if "_stands_for" in type(self).__dict__ else real_repr

    class Date(_Date, metaclass=_StandsFor):
        _stands_for = _Date

        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(seconds())

        def __repr__(self) -> str:
            return shown(self, super().__repr__())

    class DateTime(_DateTime, metaclass=_StandsFor):
        _stands_for = _DateTime

        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(seconds())

        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(seconds(), tz)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromtimestamp(seconds(), datetime.UTC).replace(tzinfo=None)

        def date(self) -> Any:
            return Date(self.year, self.month, self.day)

        def __repr__(self) -> str:
            return shown(self, super().__repr__())

    for ours, real in ((Date, _Date), (DateTime, _DateTime)):
        ours.__name__ = ours.__qualname__ = real.__name__
        ours.__module__, ours.__doc__ = "datetime", real.__doc__
        ours.min, ours.max = _copied(ours, real.min), _copied(ours, real.max)
    return {"date": Date, "datetime": DateTime}


def _copied(kind: Any, moment: Any) -> Any:
    """The same date or moment as an object of another class."""
    fields = ("year", "month", "day", "hour", "minute", "second", "microsecond")
    return kind(*(getattr(moment, field) for field in fields if hasattr(moment, field)))
