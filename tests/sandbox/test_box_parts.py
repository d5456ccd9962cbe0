"""The parts of the box, one by one, in this process."""

from __future__ import annotations

import datetime
import os
import pickle
import random
import struct
import subprocess
import sys
import time
from dataclasses import asdict

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.box import frames, syscalls, tracebacks
from sandbox.box.allowed import ALLOWED_MODULES, PRELOADED, wants_numpy
from sandbox.box.frames import FrameError, Kind
from sandbox.box.instances import PolicyDefect, construct
from sandbox.box.limits import Limits as BoxLimits
from sandbox.box.occupants import EXTERNAL, gatherer, seating_plan
from sandbox.box.programs import Compiled, Programs
from sandbox.box.world import World, clone_numpy_random, clone_random
from sandbox.values import FaultKind, Limits

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON, st.binary())
def test_documents_come_back(value: object, blob: bytes) -> None:
    assert frames.parse_document(frames.document(value, blob)) == (value, blob)


@given(st.binary(max_size=64))
def test_garbage_is_no_document(body: bytes) -> None:
    try:
        _, blob = frames.parse_document(body)
    except FrameError:
        return
    assert len(blob) <= len(body) - 4


@given(st.lists(st.tuples(st.sampled_from(list(Kind)), st.binary(max_size=2000)), max_size=5))
def test_frames_pass_through_a_pipe(sent: list[tuple[Kind, bytes]]) -> None:
    read, write = os.pipe()
    try:
        for kind, body in sent:
            frames.write_frame(write, kind, body)
        assert [frames.read_frame(read) for _ in sent] == sent
        os.close(write)
        write = -1
        with pytest.raises(FrameError, match="ended"):
            frames.read_frame(read)
    finally:
        os.close(read)
        if write >= 0:
            os.close(write)


def test_an_absurd_length_is_no_frame() -> None:
    with pytest.raises(FrameError, match="4294967295"):
        frames.unpack_header(struct.pack("<IB", 2**32 - 1, 1))


@given(st.sets(st.integers(0, 40), min_size=1), st.sampled_from([1, 2, 5]))
def test_gathering_picks_the_right_messages(chosen: set[int], width: int) -> None:
    seats = tuple(sorted(chosen))
    messages = bytes(random.Random(width).randrange(256) for _ in range(41 * width))
    expected = b"".join(messages[seat * width : (seat + 1) * width] for seat in seats)
    assert gatherer(seats, width)(messages) == expected


@given(st.text(max_size=300), st.integers(20, 100))
def test_shortened_texts_fit(text: str, limit: int) -> None:
    short = tracebacks.shorten(text, limit)
    assert len(short) <= limit
    assert short == text or len(text) > limit
    assert short[-1:] == text[-1:]


def test_codes_name_every_fault() -> None:
    assert set(frames.FAULT_NAMES.values()) == {kind.value for kind in FaultKind}
    assert set(frames.FAULT_NAMES) >= frames.WORKER_WIDE
    assert frames.BROKE_PROTOCOL not in frames.WORKER_WIDE, "a broken reply is final"


def test_limits_grow_with_the_instances() -> None:
    limits = BoxLimits(**asdict(Limits()))
    assert limits.memory_bytes(1) == 512 * 1024 * 1024
    assert limits.memory_bytes(17) == 17 * limits.memory_bytes(1)
    assert limits.shared(0.5, 1) == 0.5
    assert 0.5 < limits.shared(0.5, 32) < 0.5 * 32
    assert limits.match_cpu(3) == 60.0
    assert limits.whole_cpu(1) == 22
    assert limits.whole_cpu(2) == 43  # 40 for the match, and 2.125 to load it


def test_random_is_a_stream_of_its_own() -> None:
    before = random.getstate()
    one, other = clone_random(), clone_random()
    clone, again = one.module, other.module
    one.reseed(5)
    other.reseed(5)
    values = [clone.random() for _ in range(3)]
    stream = random.Random(5)
    assert values == [stream.random() for _ in range(3)]
    clone.seed()
    [again.random() for _ in range(3)]
    again.seed()
    assert clone.random() == again.random()
    assert clone.Random().random() == again.Random().random()
    assert isinstance(clone.Random(), random.Random)
    assert clone.Random(7).random() == random.Random(7).random()
    one.reseed(5)
    assert [clone.random() for _ in range(3)] == values
    assert random.getstate() == before


def test_numpys_legacy_generator_is_a_stream_of_its_own() -> None:
    before = numpy.random.get_state()[1].tolist()
    clones = [clone_numpy_random() for _ in range(2)]
    for clone in clones:
        clone.reseed(5)
        clone.module.seed(3)
    expected = numpy.random.RandomState(3).random_sample(4).tolist()
    one, other = (clone.module for clone in clones)
    assert one.random(4).tolist() == expected
    assert other.random_sample(4).tolist() == expected
    draws = [module.default_rng().integers(1 << 60) for module in (one, other)]
    assert draws[0] == draws[1]
    states = [module.RandomState().rand() for module in (one, other)]
    assert states[0] == states[1]
    generators = [module.PCG64().random_raw() for module in (one, other)]
    assert generators[0] == generators[1]
    assert numpy.random.get_state()[1].tolist() == before


@given(st.integers(0, 62))
def test_every_bit_of_a_seed_counts_for_numpy(bit: int) -> None:
    clone, seed = clone_numpy_random(), 0x1234_5678_9ABC_DEF0
    clone.reseed(seed)
    first = clone.module.random(4).tolist()
    clone.reseed(seed ^ (1 << bit))
    assert clone.module.random(4).tolist() != first


def test_modules_are_taken_over_and_given_back() -> None:
    modules = (random, time, datetime, numpy.random)
    before = [dict(vars(module)) for module in modules]
    world = World()
    try:
        world.prepare()
        world.begin(5)
        assert time.time() == 946_684_800.001
        assert datetime.datetime.now(datetime.UTC).year == 2000
        assert random.random() == random.Random(5).random()
        assert pickle.loads(pickle.dumps(datetime.date(2001, 2, 3))).month == 2
    finally:
        world.share()
    assert [dict(vars(module)) for module in modules] == before


def test_instances_share_nothing() -> None:
    code = compile("seen = []\nclass P:\n def act(self): seen.append(1); return seen", "x", "exec")
    one = construct(code, World(), "P", [("act", 0)])
    other = construct(code, World(), "P", [("act", 0)])
    assert one.act() is not other.act()
    assert len(other.act()) == 2
    with pytest.raises(PolicyDefect, match="2 argument"):
        construct(code, World(), "P", [("act", 2)])
    del sys.modules["policy"]


@pytest.mark.parametrize(
    ("signature", "fits"),
    [
        ("self, a", True),
        ("self, a, b=1", True),
        ("self, *a", True),
        ("self, a, *, b=1", True),
        ("self", False),
        ("self, a, b", False),
        ("self, a, *, b", False),
    ],
)
def test_methods_have_to_take_what_they_are_given(signature: str, fits: bool) -> None:
    code = compile(f"class P:\n def act({signature}): pass", "x", "exec")
    if fits:
        construct(code, World(), "P", [("act", 1)])
    else:
        with pytest.raises(PolicyDefect, match=r"P\.act must take 1 argument"):
            construct(code, World(), "P", [("act", 1)])
    del sys.modules["policy"]


MATCHES = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.tuples(st.integers(EXTERNAL, 3), st.just(0)),
        st.tuples(st.integers(EXTERNAL, 3), st.just(0)),
    ),
    max_size=40,
)


@given(MATCHES, st.booleans())
def test_no_worker_plays_two_seats_of_one_deal(
    matches: list[tuple[int, tuple[int, int], tuple[int, int]]], isolate: bool
) -> None:
    plan = seating_plan(matches, isolate=isolate)
    seated = sorted(seat for _, seats in plan for seat in seats)
    assert seated == list(range(2 * len(matches)))
    for program, seats in plan:
        assert all(matches[seat // 2][1 + seat % 2][0] == program for seat in seats)
        assert list(seats) == sorted(seats)
        if program != EXTERNAL:
            deals = [matches[seat // 2][0] for seat in seats]
            assert len(set(deals)) == len(deals)
            assert len(seats) == 1 or not isolate


def test_programs_are_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox.box.programs.MOST_BYTES", 30)
    programs = Programs()
    programs.keep(b"bad", Compiled(fault=frames.LOAD_FAILED, text="no"))
    assert programs.get(b"bad") is None
    for name in (b"a", b"b", b"c"):
        programs.keep(name, Compiled(code=bytes(9)))
    assert programs.get(b"a") == Compiled(code=bytes(9))
    programs.keep(b"d", Compiled(code=bytes(9)))
    kept = [name for name in (b"a", b"b", b"c", b"d") if programs.get(name)]
    assert kept == [b"a", b"c", b"d"], "the one that was asked for last stays"


def test_what_is_allowed_is_loaded_before_the_seal() -> None:
    assert set(PRELOADED) | {"numpy"} >= ALLOWED_MODULES
    assert not ALLOWED_MODULES & {"os", "sys", "io", "socket", "subprocess", "ctypes", "threading"}
    assert wants_numpy(b"from numpy import array")
    assert not wants_numpy(b"import math")


def test_every_preloaded_module_exists() -> None:
    script = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]"
    subprocess.run([sys.executable, "-S", "-c", script, *PRELOADED], check=True)


@pytest.mark.parametrize("machine", sorted(syscalls.AUDIT_ARCH))
def test_filters_are_well_formed(machine: str) -> None:
    """Every jump lands inside the program, and the program ends with a verdict."""
    steps = list(struct.iter_unpack("=HBBI", syscalls.filter_program(machine)))
    for position, (code, if_true, if_false, _) in enumerate(steps):
        if code & 7 == 5:
            assert position + 1 + max(if_true, if_false) < len(steps)
    assert steps[-1][0] == 6


ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050001, 0x80000000


def decide(machine: str, number: int, *arguments: int, arch: int | None = None) -> int:
    """What the filter says about a call: its program, interpreted."""
    steps = list(struct.iter_unpack("=HBBI", syscalls.filter_program(machine)))
    audit = syscalls.AUDIT_ARCH[machine] if arch is None else arch
    data = struct.pack("=IIQ6Q", number, audit, 0, *(*arguments, *[0] * 6)[:6])
    at, loaded = 0, 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        if code == 0x06:
            return value
        if code == 0x20:
            (loaded,) = struct.unpack_from("=I", data, value)
        else:
            holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}
            at += if_true if holds[code] else if_false


@pytest.mark.parametrize("machine", sorted(syscalls.AUDIT_ARCH))
def test_filters_decide_as_the_table_says(machine: str) -> None:
    numbers = {call.name: call.numbers[machine] for call in syscalls.CALLS}
    for name in ("read", "write", "munmap", "brk", "exit_group"):
        assert decide(machine, numbers[name], *[(1 << 64) - 1] * 6) == ALLOW
    for number in range(600):
        if number not in numbers.values():
            assert decide(machine, number) == REFUSE
    memory = {(3, 0x22): ALLOW, (1, 0x22): ALLOW, (0, 0x22): ALLOW}
    for protection in range(8):
        for flags in (0x01, 0x02, 0x21, 0x22, 0x23, 0x32, 0x4022, 0x8022, 0x40022, 0x100022):
            verdict = decide(machine, numbers["mmap"], 0, 4096, protection, flags)
            allowed = flags == 0x22 and not protection & 4
            assert verdict == (ALLOW if allowed else REFUSE), (protection, flags)
            assert memory.get((protection, flags), verdict) == verdict
    for flags in range(8):
        verdict = decide(machine, numbers["mremap"], 0, 4096, 8192, flags)
        assert verdict == (ALLOW if flags == 1 else REFUSE)
    assert decide(machine, numbers["read"], arch=0x40000003) == KILL
    if machine == "x86_64":
        assert decide(machine, 0x40000000 + numbers["read"]) == KILL


def test_no_call_of_these_families_is_let_through() -> None:
    """A list of what must never come back, by name."""
    names = {call.name for call in syscalls.CALLS}
    clocks = {"clock_gettime", "gettimeofday", "time", "times", "getrusage", "nanosleep", "poll"}
    others = {"open", "openat", "futex", "madvise", "getpid", "fstat", "clone", "kill", "close"}
    assert not names & (clocks | others)
    assert all(call.reason for call in syscalls.CALLS)
