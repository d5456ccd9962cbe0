"""A policy cannot tell a trial from an audit from rated play by anything that it can look at.

A hostile policy writes down all that it sees and says it in its error text.  The report has to
be the same in a match that is played alone, in the middle of a large block, in the first match
of a new box and in a late one of an old box, beside a worker and beside a seat of the host's.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.box.unrest import SALT_BYTES, unrest
from sandbox.process import ProcessWall
from sandbox.values import EXTERNAL, Block, BlockMatch, Fault, Limits, Rules, SeatPlan
from sandbox.wall import Wall

ROOM = Limits(message_chars=200_000, memory_mib=256)
SEED = 4711

OBSERVER = r"""
import json
from random import _os as os


def attempt(look):
    try:
        return repr(look())[:300]
    except BaseException as error:
        return f"{type(error).__name__} {getattr(error, 'errno', '')}"


def plain(value):
    if type(value) in (int, str, bytes, bool, float, type(None)):
        return repr(value)[:200]
    if type(value) in (tuple, list) and len(value) < 50:
        return [plain(item) for item in value]
    return type(value).__name__


def frames():
    frame, seen = os.sys._getframe(1), []
    while frame is not None:
        names = sorted(frame.f_locals.items())
        if frame.f_code.co_filename != "<policy>":
            # What shifts a worker's memory is random: it tells nothing.
            random = ("stir", "order")
            names = [(name, plain(value)) for name, value in names if name not in random]
            seen.append([frame.f_code.co_name, frame.f_lineno, names])
        frame = frame.f_back
    return seen


def memory():
    hoard = []
    try:
        while True:
            hoard.append(bytes(1 << 20))
    except MemoryError:
        return len(hoard) // 8


def kinds(gc):
    count = {}
    gc.unfreeze()
    for thing in gc.get_objects():
        name = repr(type(thing))
        count[name] = count.get(name, 0) + 1
    return sorted(count.items())


class Probe:
    def act(self, seen):
        sys = os.sys
        gc, thread = sys.modules["gc"], sys.modules["_thread"]
        threading, resource = sys.modules.get("threading"), sys.modules.get("resource")
        report = {
            "collector": [gc.get_count(), gc.get_threshold(), gc.isenabled()],
            "frames": frames(),
            "seen": seen,
            "arguments": [sys.argv, sys.orig_argv, list(sys.path), sys.flags, sys.version],
            "environment": sorted(os.environ.items()),
            "modules": sorted(sys.modules),
            "caches": [sorted(sys.path_importer_cache), sorted(sys.modules["linecache"].cache)],
            "switches": [sys.getswitchinterval(), sys.getrecursionlimit(), sys.gettrace()],
            "numbers": [
                attempt(look)
                for look in (os.getpid, os.getppid, os.getuid, os.getgid, os.getpgrp, os.uname)
            ],
            "native": [
                attempt(lambda: thread.get_native_id()),
                attempt(lambda: threading.main_thread().native_id),
                attempt(lambda: threading.active_count()),
            ],
            "limits": [attempt(lambda: resource.getrlimit(kind)) for kind in range(16)],
            "descriptors": [attempt(lambda: os.write(number, b"")) for number in range(5, 40)],
            "places": [attempt(os.getcwd), attempt(lambda: os.listdir("/"))],
            "processors": [attempt(os.cpu_count), attempt(os.getloadavg)],
            "interned": attempt(lambda: len(sys.modules["builtins"].__dict__)),
            "hash": [hash("x"), hash(1.5), hash((1, "y")), hash((None, "y"))],
            "objects": kinds(gc),
            "memory": memory(),
        }
        raise ValueError("REPORT" + json.dumps(report, default=repr))
"""
NATIVE_OBSERVER = OBSERVER.replace(
    "import json",
    """import json
import numpy


def thread_block():
    for module in list(os.sys.modules.values()):
        for thing in list(getattr(module, "__dict__", {}).values()):
            if getattr(thing, "__name__", "") == "ctypes" and hasattr(thing, "CDLL"):
                library = thing.CDLL(None)
                library.pthread_self.restype = thing.c_ulong
                block = thing.string_at(library.pthread_self(), 2048)
                small = [int.from_bytes(block[at : at + 4], "little") for at in range(0, 2048, 4)]
                return [number for number in small if number < 1 << 22]
    raise ValueError("no ctypes to be found")

""",
    1,
).replace('"hash":', '"thread": thread_block(), "hash":')
QUIET = "class Probe:\n    def act(self, seen):\n        return 'ROCK'\n"


def report_of(fault: Fault | None) -> dict[str, object]:
    assert fault is not None
    assert fault.seat == 0
    _, found, text = fault.message.rpartition("ValueError: REPORT")
    assert found, fault.message
    report: dict[str, object] = json.loads(text)
    return report


def observed(wall: Wall, rules: Rules, observer: str, place: str) -> dict[str, object]:
    """What the observer sees in a match of that kind."""
    own = SeatPlan(0, SEED)
    match = BlockMatch(SEED, (own, SeatPlan(1, 5)))
    quiet = [BlockMatch(n, (SeatPlan(1, n), SeatPlan(2, n))) for n in range(20)]
    matches, at = [match], 0
    if place == "against itself":
        matches = [BlockMatch(SEED, (own, SeatPlan(0, 6)))]
    elif place == "in a large block":
        matches, at = [*quiet[:7], match, *quiet[7:]], 7
    elif place == "beside the host":
        matches = [BlockMatch(SEED, (own, SeatPlan(EXTERNAL, 0)))]
    programs = (observer, QUIET, QUIET + "# another")
    block = Block(rules, programs, tuple(matches), True, ROOM)
    outcomes = wall.play(block, lambda messages: bytes(len(messages)))
    return report_of(outcomes[at].fault)


@pytest.fixture(params=[OBSERVER, NATIVE_OBSERVER], ids=["python", "native"])
def observer(request: pytest.FixtureRequest) -> str:
    source: str = request.param
    return source


PLACES = ("against itself", "in a large block", "beside the host", "late")


def test_all_kinds_of_play_look_the_same(wall: Wall, throws: Rules, observer: str) -> None:
    alone = observed(wall, throws, observer, "alone")
    assert alone["memory"], "it looked at something"
    for place in PLACES:
        seen = observed(wall, throws, observer, place)
        assert seen == alone, place


@pytest.fixture
def two_boxes() -> Iterator[tuple[Wall, Wall]]:
    walls = (
        ProcessWall(bubblewrap=False, memory_mib=1024),
        ProcessWall(bubblewrap=False, memory_mib=4096),
    )
    yield walls
    for wall in walls:
        wall.close()


def test_all_boxes_look_the_same(two_boxes: tuple[Wall, Wall], throws: Rules) -> None:
    """On this host, where process numbers go on and on: except for that of the first zygote."""
    old, new = two_boxes
    observed(old, throws, NATIVE_OBSERVER, "in a large block")
    reports = [observed(wall, throws, OBSERVER, "alone") for wall in (old, new)]
    numbers = [report.pop("native") for report in reports]
    assert numbers[0] != numbers[1], "that is the exception"
    assert reports[0] == reports[1]


def test_none_has_one_hash(two_boxes: tuple[Wall, Wall], throws: Rules) -> None:
    """Before Python 3.12 it was an address, and the order of sets differed from box to box."""
    source = "class Probe:\n    def act(self, seen):\n        raise ValueError((%s))\n"
    seats = (SeatPlan(0, SEED), SeatPlan(1, 5))
    look = source % "hash(None), hash((None, 1)), list({None, 'a', 'b', 'c', 'd'}), {None: 1}[None]"
    block = Block(throws, (look, QUIET), (BlockMatch(SEED, seats),), True, ROOM)
    faults = [wall.play(block)[0].fault for wall in two_boxes]
    assert faults[0] is not None
    assert "ValueError: (" in faults[0].message
    assert faults[0] == faults[1]


def test_other_games_leave_no_trace(throws: Rules) -> None:
    """A box that has played another game looks like one that has not."""
    other = Path(__file__).parents[2] / "arena" / "games" / "rrps" / "table.py"
    wall = ProcessWall(bubblewrap=False)
    try:
        before = observed(wall, throws, OBSERVER, "alone")
        rules = Rules(other, "Probe", (("act", 1),))
        seats = (SeatPlan(0, 1), SeatPlan(0, 2))
        wall.play(Block(rules, (QUIET,), (BlockMatch(1, seats),), True, ROOM))
        assert observed(wall, throws, OBSERVER, "alone") == before
    finally:
        wall.close()


SET_ORDER = """
class Thing:
    pass
class Probe:
    def __init__(self):
        things = [Thing() for _ in range(60)]
        for number, thing in enumerate(things):
            thing.number = number
        self.order = [thing.number for thing in set(things)]
    def act(self, seen):
        return ("ROCK", "PAPER", "SCISSORS")[self.order.pop() ** 2 // 7 % 3]
"""
GIVEN_BACK = """
class Probe:
    "Goes by an object that is gone at once: the next one would get the same memory."
    def act(self, seen):
        return ("ROCK", "PAPER", "SCISSORS")[id(object()) // 16 % 3]
"""


@pytest.mark.parametrize("source", [SET_ORDER, GIVEN_BACK], ids=["set order", "given back"])
def test_whose_moves_depend_on_addresses_plays_differently_each_time(
    wall: Wall, throws: Rules, source: str
) -> None:
    seats = (SeatPlan(0, 1), SeatPlan(1, 2))
    block = Block(throws, (source, QUIET), (BlockMatch(1, seats),) * 6, True, ROOM)
    outcomes = wall.play(block)
    assert all(outcome.fault is None for outcome in outcomes)
    # Two of some fifty places may be the same by chance; that three of six are is one in thousands.
    assert len({outcome.moves for outcome in outcomes}) >= 3


@given(st.binary(min_size=SALT_BYTES, max_size=SALT_BYTES))
def test_the_collector_does_not_count_what_stirs_memory(salt: bytes) -> None:
    """When it runs would differ from match to match, and with it an honest policy's finalizers."""
    stir = unrest(salt)
    gc.disable()
    try:
        before = gc.get_count()[0]
        for _ in range(500):
            stir()
        assert abs(gc.get_count()[0] - before) <= 5
    finally:
        gc.enable()
