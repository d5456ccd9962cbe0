"""The parts of the box, one by one, in this process."""

from __future__ import annotations

import os
import random
import struct
import subprocess
import sys
from dataclasses import asdict

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.box import complaints, control, frames, syscalls
from sandbox.box.allowance import Allowance
from sandbox.box.allowed import ALLOWED_MODULES, PRELOADED, wants_numpy
from sandbox.box.frames import FrameError, Kind
from sandbox.box.instances import PolicyDefect, construct, numpy_modules, random_module
from sandbox.box.players import gatherer
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
    short = complaints.shorten(text, limit)
    assert len(short) <= limit
    assert short == text or len(text) > limit
    assert short[-1:] == text[-1:]


def test_control_messages_may_be_large_and_carry_descriptors() -> None:
    ours, theirs = control.pair()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        asked = control.receive(theirs)
        assert asked is not None
        value, (descriptor,) = asked
        os.write(descriptor, str(len(value["source"])).encode())
        os._exit(0)
    control.send(ours, {"source": "x" * 1_000_000}, [write])
    os.waitpid(child, 0)
    assert os.read(read, 100) == b"1000000"
    theirs.close()
    with pytest.raises(OSError, match=r"\w"):
        control.send(ours, "x" * 1_000_000)
    ours.close()
    os.close(read)
    os.close(write)


def test_codes_name_every_fault() -> None:
    assert set(frames.FAULT_NAMES.values()) == {kind.value for kind in FaultKind}
    assert set(frames.FAULT_NAMES) >= frames.WORKER_WIDE


def test_limits_grow_with_the_instances() -> None:
    allowance = Allowance(**asdict(Limits()))
    assert allowance.memory_bytes(1) == 512 * 1024 * 1024
    assert allowance.memory_bytes(17) == 2 * allowance.memory_bytes(1)
    assert allowance.shared(0.5, 1) == 0.5
    assert 0.5 < allowance.shared(0.5, 32) < 0.5 * 32
    assert allowance.match_cpu(3) == 60.0
    assert allowance.kernel_cpu(1) > 22


def test_random_is_a_stream_of_its_own() -> None:
    before = random.getstate()
    clone = random_module(5)
    values = [clone.random() for _ in range(3)]
    stream = random.Random(5)
    assert values == [stream.random() for _ in range(3)]
    clone.seed()
    again = random_module(5)
    [again.random() for _ in range(3)]
    again.seed()
    assert clone.random() == again.random()
    assert clone.Random().random() == again.Random().random()
    assert isinstance(clone.Random(), random.Random)
    assert clone.Random(7).random() == random.Random(7).random()
    assert random.getstate() == before


def test_numpys_legacy_generator_is_a_stream_of_its_own() -> None:
    before = numpy.random.get_state()[1].tolist()
    one, other = numpy_modules(5), numpy_modules(5)
    for clones in (one, other):
        clones["numpy"].random.seed(3)
    expected = numpy.random.RandomState(3).random_sample(4).tolist()
    assert one["numpy.random"].random(4).tolist() == expected
    assert other["numpy"].random.random_sample(4).tolist() == expected
    draws = [clones["numpy.random"].default_rng().integers(1 << 60) for clones in (one, other)]
    assert draws[0] == draws[1]
    states = [clones["numpy.random"].RandomState().rand() for clones in (one, other)]
    assert states[0] == states[1]
    generators = [clones["numpy.random"].PCG64().random_raw() for clones in (one, other)]
    assert generators[0] == generators[1]
    assert numpy.random.get_state()[1].tolist() == before


def test_instances_share_nothing() -> None:
    code = compile("seen = []\nclass P:\n def act(self): seen.append(1); return seen", "x", "exec")
    one = construct(code, 1, "P", [("act", 0)])
    other = construct(code, 1, "P", [("act", 0)])
    assert one.act() is not other.act()
    assert len(other.act()) == 2
    with pytest.raises(PolicyDefect, match="2 argument"):
        construct(code, 1, "P", [("act", 2)])
    del sys.modules["policy"]


def test_what_is_allowed_is_loaded_before_the_seal() -> None:
    assert set(PRELOADED) | {"numpy"} >= ALLOWED_MODULES
    assert not ALLOWED_MODULES & {"os", "sys", "io", "socket", "subprocess", "ctypes", "threading"}
    assert wants_numpy("from numpy import array")
    assert not wants_numpy("import math")


def test_every_preloaded_module_exists() -> None:
    script = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]"
    subprocess.run([sys.executable, "-S", "-c", script, *PRELOADED], check=True)


@pytest.mark.parametrize("machine", sorted(syscalls.CALLS))
def test_filters_are_well_formed(machine: str) -> None:
    """Every jump lands inside the program, and the program ends with a verdict."""
    steps = list(struct.iter_unpack("=HBBI", syscalls.filter_program(machine)))
    for position, (code, if_true, if_false, _) in enumerate(steps):
        if code & 7 == 5:
            assert position + 1 + max(if_true, if_false) < len(steps)
    assert [code for code, *_ in steps[-2:]] == [6, 6]


@pytest.mark.parametrize("machine", sorted(syscalls.CALLS))
def test_filters_decide_as_the_table_says(machine: str) -> None:
    calls, steps = (
        syscalls.CALLS[machine],
        list(struct.iter_unpack("=HBBI", syscalls.filter_program(machine))),
    )

    def verdict(number: int, protection: int = 0, arch: int | None = None) -> int:
        audit = syscalls.AUDIT_ARCH[machine] if arch is None else arch
        data = struct.pack("=IIQ6Q", number, audit, 0, 0, 0, protection, 0, 0, 0)
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

    allow, refuse, kill = 0x7FFF0000, 0x00050001, 0x80000000
    assert all(verdict(number) == allow for number in calls.values())
    for number in range(600):
        if number not in calls.values():
            assert verdict(number) == refuse
    for name in ("mmap", "mprotect"):
        assert verdict(calls[name], protection=3) == allow
        assert verdict(calls[name], protection=7) == refuse
        assert verdict(calls[name], protection=4) == refuse
    assert verdict(calls["read"], arch=0x40000003) == kill
    if machine == "x86_64":
        assert verdict(0x40000000 + calls["read"]) == kill
