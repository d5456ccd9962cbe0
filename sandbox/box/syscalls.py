"""The system calls that a sealed worker may make, as a seccomp filter program.

Source of the numbers: the Linux kernel's syscall tables for x86_64 and (generic) aarch64.
Whatever is not listed fails with EPERM; a call through another instruction set's table kills
the process.  What is listed reads, writes, asks for memory and ends.  Nothing tells the time or
waits for it, names a process, a user or a processor, opens, signals, or makes memory that
another process shares or that can be executed.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_PROT_EXEC = 4
_MAP_PRIVATE_ANONYMOUS = 0x22
_MREMAP_MAYMOVE = 1


@dataclass(frozen=True)
class Condition:
    """What an argument of a call must be like.

    Attributes:
      argument: which one, from 0; its lower 32 bits are looked at, which is where all flags are.
      value: what it must equal, or with `lacks`, bits that must not be set.
    """

    argument: int
    value: int
    lacks: bool = False


@dataclass(frozen=True)
class Call:
    """A system call that is let through.

    Attributes:
      name: as the kernel calls it.
      numbers: by machine.
      reason: what needs it.
      conditions: all of which must hold.
    """

    name: str
    numbers: dict[str, int]
    reason: str
    conditions: Sequence[Condition] = ()


CALLS = (
    Call(
        "read",
        {"x86_64": 0, "aarch64": 63},
        "messages come in by the incoming pipe; the only other readable descriptor is /dev/null",
    ),
    Call(
        "write",
        {"x86_64": 1, "aarch64": 64},
        "replies go out by the outgoing pipe; print() writes to /dev/null",
    ),
    Call(
        "munmap",
        {"x86_64": 11, "aarch64": 215},
        "gives memory back",
    ),
    Call(
        "brk",
        {"x86_64": 12, "aarch64": 214},
        "the C library's heap grows",
    ),
    Call(
        "exit_group",
        {"x86_64": 231, "aarch64": 94},
        "the process ends",
    ),
    Call(
        "mmap",
        {"x86_64": 9, "aarch64": 222},
        "memory for Python's objects and numpy's arrays: private, of no file, not executable",
        (Condition(2, _PROT_EXEC, lacks=True), Condition(3, _MAP_PRIVATE_ANONYMOUS)),
    ),
    Call(
        "mremap",
        {"x86_64": 25, "aarch64": 216},
        "large lists, bytearrays and arrays grow: to wherever the kernel likes",
        (Condition(3, _MREMAP_MAYMOVE),),
    ),
)
"""Those that are made most often come first, because some kernels go through them one by one."""

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL_PROCESS, _ALLOW, _EPERM = 0x80000000, 0x7FFF0000, 0x00050001
_OFFSET_NUMBER, _OFFSET_ARCH, _OFFSET_ARGUMENTS = 0, 4, 16
_X32_BIT = 0x40000000


def _step(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _verdict(call: Call, machine: str) -> list[bytes]:
    """Steps that decide about one call and fall through for all others."""
    checks = []
    for condition in call.conditions:
        checks.append(_step(_LOAD, 0, 0, _OFFSET_ARGUMENTS + 8 * condition.argument))
        if condition.lacks:
            checks.append(_step(_JUMP_BITS, 0, 1, condition.value))
        else:
            checks.append(_step(_JUMP_EQUAL, 1, 0, condition.value))
        checks.append(_step(_RETURN, 0, 0, _EPERM))
    checks.append(_step(_RETURN, 0, 0, _ALLOW))
    return [_step(_JUMP_EQUAL, 0, len(checks), call.numbers[machine]), *checks]


def filter_program(machine: str) -> bytes:
    """The filter as an array of `struct sock_filter` (8 bytes each).

    Args:
      machine: as `platform.machine()` says it.

    Raises:
      KeyError: there is no table for that machine.
    """
    steps = [
        _step(_LOAD, 0, 0, _OFFSET_ARCH),
        _step(_JUMP_EQUAL, 1, 0, AUDIT_ARCH[machine]),
        _step(_RETURN, 0, 0, _KILL_PROCESS),
        _step(_LOAD, 0, 0, _OFFSET_NUMBER),
    ]
    if machine == "x86_64":
        steps += [
            _step(_JUMP_AT_LEAST, 0, 1, _X32_BIT),
            _step(_RETURN, 0, 0, _KILL_PROCESS),
        ]
    for call in CALLS:
        steps += _verdict(call, machine)
    return b"".join([*steps, _step(_RETURN, 0, 0, _EPERM)])
