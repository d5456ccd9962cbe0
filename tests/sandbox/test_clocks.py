"""No clock behind the seal, and a virtual one for those who ask for the time."""

from __future__ import annotations

import copy
import datetime
import pickle
import platform
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.box.virtual_time import (
    LOOK_NANOSECONDS,
    START_SECONDS,
    VirtualClock,
    datetime_classes,
    time_functions,
)
from sandbox.box.world import World, clone_datetime, clone_time
from sandbox.errors import SandboxUnavailable
from sandbox.process import ProcessWall
from sandbox.values import Block, BlockMatch, Limits, Rules, SeatPlan

BOX_PARENT = Path(__file__).parents[2] / "sandbox"


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


def test_the_clock_starts_with_the_year_2000(clock: VirtualClock) -> None:
    functions = time_functions(clock)
    assert functions["time"]() == START_SECONDS + 0.001
    assert functions["time_ns"]() == START_SECONDS * 10**9 + 2 * LOOK_NANOSECONDS
    assert functions["gmtime"]()[:6] == (2000, 1, 1, 0, 0, 0)
    clock.restart()
    assert functions["monotonic_ns"]() == LOOK_NANOSECONDS


@given(st.lists(st.floats(0, 1e6), max_size=5))
def test_it_moves_by_looks_and_sleeps_alone(naps: list[float]) -> None:
    functions = time_functions(VirtualClock())
    for nap in naps:
        assert functions["sleep"](nap) is None
    expected = sum(round(nap * 1e9) for nap in naps) + LOOK_NANOSECONDS
    assert functions["perf_counter_ns"]() == expected
    assert functions["process_time_ns"]() == expected + LOOK_NANOSECONDS


@pytest.mark.parametrize(
    ("nap", "error"),
    [(-1, ValueError), (float("nan"), ValueError), (float("inf"), OverflowError), ("1", TypeError)],
)
def test_it_refuses_what_the_real_one_refuses(
    clock: VirtualClock, nap: Any, error: type[Exception]
) -> None:
    for sleep in (time.sleep, clock.sleep):
        with pytest.raises(error):
            sleep(nap)


def test_every_function_that_tells_the_time_is_replaced() -> None:
    own = time_functions(VirtualClock())
    timeless = {"strptime", "mktime", "tzset", "struct_time"}
    everything = {name for name, value in vars(time).items() if callable(value)}
    assert everything - set(own) - timeless == {name for name in everything if name.startswith("_")}
    assert set(own) <= set(vars(time))


def test_given_moments_are_told_as_ever(clock: VirtualClock) -> None:
    own = time_functions(clock)
    moment = 1_000_000_000
    assert own["gmtime"](moment) == time.gmtime(moment)
    assert own["localtime"](moment) == time.localtime(moment)
    assert own["ctime"](moment) == time.ctime(moment)
    assert own["asctime"](time.gmtime(moment)) == time.asctime(time.gmtime(moment))
    assert own["strftime"]("%Y %j", time.gmtime(moment)) == "2001 252"
    assert own["monotonic_ns"]() == LOOK_NANOSECONDS, "none of these was a look"


def test_clocks_by_number(clock: VirtualClock) -> None:
    own = time_functions(clock)
    assert own["clock_gettime"](time.CLOCK_REALTIME) == START_SECONDS + 0.001
    assert own["clock_gettime_ns"](time.CLOCK_MONOTONIC) == 2 * LOOK_NANOSECONDS
    assert own["clock_getres"](time.CLOCK_MONOTONIC) == 0.001
    assert own["get_clock_info"]("time").resolution == 0.001
    for clock_id in ((~1 << 3) | 2, 99, -1):
        with pytest.raises(OSError, match="Invalid"):
            own["clock_gettime"](clock_id)
    with pytest.raises(ValueError, match="unknown"):
        own["get_clock_info"]("sun")
    with pytest.raises(PermissionError):
        own["clock_settime"](time.CLOCK_REALTIME, 1.0)


@pytest.fixture
def dates(clock: VirtualClock) -> Any:
    module = clone_datetime(clock)
    return module.module


def test_dates_follow_the_clock(dates: Any, clock: VirtualClock) -> None:
    assert dates.datetime.now() == datetime.datetime(2000, 1, 1, 0, 0, 0, 1000)  # noqa: DTZ001
    aware = dates.datetime.now(datetime.UTC)
    assert aware == datetime.datetime(2000, 1, 1, 0, 0, 0, 2000, datetime.UTC)
    east = datetime.timezone(datetime.timedelta(hours=5))
    assert dates.datetime.now(east).hour == 5
    assert dates.datetime.utcnow().tzinfo is None
    assert dates.datetime.today().year == 2000
    assert dates.date.today() == datetime.date(2000, 1, 1)
    clock.sleep(36 * 3600)
    assert dates.date.today() == datetime.date(2000, 1, 2)


def test_dates_are_what_they_are_elsewhere(dates: Any) -> None:
    real, ours = datetime.datetime(2001, 2, 3, 4), dates.datetime(2001, 2, 3, 4)  # noqa: DTZ001
    assert ours == real
    assert hash(ours) == hash(real)
    assert repr(ours) == repr(real)
    assert str(ours) == str(real)
    assert repr(dates.date(2001, 2, 3)) == repr(datetime.date(2001, 2, 3))
    assert isinstance(real, dates.datetime)
    assert isinstance(ours, datetime.datetime)
    assert isinstance(ours, dates.date)
    assert not isinstance(datetime.date(2001, 2, 3), dates.datetime)
    assert issubclass(dates.datetime, dates.date)
    assert type(ours.date()) is dates.date
    assert type(ours + datetime.timedelta(1)) is dates.datetime
    assert type(dates.datetime.strptime("2001", "%Y")) is dates.datetime
    assert type(dates.datetime.fromisoformat("2001-02-03")) is dates.datetime
    assert type(dates.datetime.max) is dates.datetime
    assert dates.datetime.max == datetime.datetime.max  # noqa: DTZ901
    assert dates.date.min == datetime.date.min
    assert copy.deepcopy(ours) == ours
    assert ours - real == datetime.timedelta(0)
    assert dates.timedelta is datetime.timedelta

    class Mine(dates.datetime):
        pass

    assert not isinstance(ours, Mine)
    assert isinstance(Mine(2001, 1, 1), dates.datetime)
    assert repr(Mine(2001, 1, 1)).startswith("Mine(2001")


def test_dates_can_be_pickled_where_an_instance_is_alone() -> None:
    world = World()
    world.prepare()
    try:
        for value in (datetime.datetime.now(datetime.UTC), datetime.date(2001, 2, 3)):
            again = pickle.loads(pickle.dumps(value))
            assert (again, type(again)) == (value, type(value))
    finally:
        world.share()


def test_clones_are_modules_like_the_others(clock: VirtualClock) -> None:
    ours = clone_time(clock).module
    namespace: dict[str, Any] = {}
    sys.modules["time_of_ours"] = ours
    try:
        exec("from time_of_ours import *\nfrom time_of_ours import perf_counter as now", namespace)
    finally:
        del sys.modules["time_of_ours"]
    assert namespace["now"]() == 0.001
    assert namespace["time"]() == START_SECONDS + 0.002
    assert ours.struct_time is time.struct_time
    assert set(vars(ours)) >= set(vars(time)) - {"__spec__", "__loader__"}
    assert set(datetime_classes(clock)) == {"date", "datetime"}


THINKER = """
import datetime, random, time
from time import perf_counter
class Probe:
    '''Thinks until its time is up, and plays by how far it got.'''
    def act(self, seen):
        start, steps = perf_counter(), 0
        while perf_counter() - start < 0.05:
            steps += random.randrange(100)
            sum(range(steps))
        time.sleep(0.25)
        steps += int(1000 * time.time()) + datetime.datetime.now().microsecond // 1000
        return ("ROCK", "PAPER", "SCISSORS")[steps % 3]
"""


def test_who_limits_his_thinking_by_the_clock_plays_the_same_under_load(throws: Rules) -> None:
    seats = (SeatPlan(0, 1), SeatPlan(0, 2))
    block = Block(throws, (THINKER,), (BlockMatch(1, seats),) * 6, True, Limits())
    wall = ProcessWall(bubblewrap=False)
    try:
        idle = wall.play(block)
        burners = [subprocess.Popen([sys.executable, "-c", "while 1: 0"]) for _ in range(4)]
        try:
            busy = wall.play(block)
        finally:
            for burner in burners:
                burner.kill()
                burner.wait()
    finally:
        wall.close()
    assert {outcome.fault for outcome in (*idle, *busy)} == {None}
    assert len({outcome.moves for outcome in (*idle, *busy)}) == 1
    assert len(set(idle[0].moves)) == 3, "it does not play one thing"


STOPPED = """
import ctypes, mmap, os, signal, sys, time
sys.path.insert(0, {parent!r})
from box import kernel
vvar = [line for line in open("/proc/self/maps") if "[vvar" in line]
before = time.monotonic()
kernel.stop_clocks()
assert time.monotonic() >= before, "by the system call"
assert 0 <= time.time() - {now} < 600
assert not [line for line in open("/proc/self/maps") if "[vvar" in line]
coarse = time.clock_gettime(6)  # CLOCK_MONOTONIC_COARSE
{more}
"""
COUNTER = """
page = mmap.mmap(-1, 4096, prot=7)
page.write(b"\\x0f\\x31\\xc3")  # rdtsc; ret
look = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
pid = os.fork()
if pid == 0:
    look()
    os._exit(0)
_, status = os.waitpid(pid, 0)
print(os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGSEGV)
"""


def run(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="other kernels have no such pages")
def test_the_kernels_clock_pages_are_covered() -> None:
    script = STOPPED.format(parent=str(BOX_PARENT), now=time.time(), more="print(coarse)")
    assert run(script) == "0.0", "without a system call there is no time"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="another processor, another counter")
def test_the_processors_counter_is_out_of_reach() -> None:
    """In a child, too: what is forked from the box's first process has no counter."""
    script = STOPPED.format(parent=str(BOX_PARENT), now=time.time(), more=COUNTER)
    assert run(script) == "True"


LEAKING = """
class Probe:
    def act(self, seen):
        return "ROCK"
"""


@pytest.fixture
def box_with_a_clock(tmp_path: Path) -> Iterator[Callable[[], ProcessWall]]:
    """A box whose filter forgot about a clock."""
    folder = tmp_path / "box"
    shutil.copytree(BOX_PARENT / "box", folder)
    calls = folder / "syscalls.py"
    number = '{"x86_64": 228, "aarch64": 113}'
    text = calls.read_text()
    calls.write_text(text.replace("CALLS = (", f'CALLS = (\n    Call("clock", {number}, "oh"),', 1))
    patch = pytest.MonkeyPatch()
    patch.setattr("sandbox.process.BOX_FOLDER", folder)
    yield lambda: ProcessWall(bubblewrap=False)
    patch.undo()


def test_a_seal_that_leaves_a_clock_plays_nothing(
    box_with_a_clock: Callable[[], ProcessWall], throws: Rules
) -> None:
    wall = box_with_a_clock()
    match = BlockMatch(1, (SeatPlan(0, 1), SeatPlan(0, 2)))
    with pytest.raises(SandboxUnavailable, match="leaves clock 0"):
        wall.play(Block(throws, (LEAKING,), (match,), True))
    wall.close()


def test_no_two_clocks_are_the_same() -> None:
    """Instances do not hear of each other's looks."""
    one, other = VirtualClock(), VirtualClock()
    for _ in range(random.randrange(5, 9)):
        one.look()
    assert other.look() == LOOK_NANOSECONDS
