"""The system calls that a sealed worker may make, as a seccomp filter program.

Source of the numbers: the Linux kernel's syscall tables for x86_64 and (generic) aarch64.
Whatever is not listed fails with EPERM; a call through another instruction set's table kills
the process.  There is no call in the list that opens, creates, connects, forks, executes,
signals, traces or changes identity, and none that makes memory executable.
"""

from __future__ import annotations

import struct

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

X86_64 = {
    "read": 0,
    "write": 1,
    "close": 3,
    "fstat": 5,
    "poll": 7,
    "lseek": 8,
    "mmap": 9,
    "mprotect": 10,
    "munmap": 11,
    "brk": 12,
    "rt_sigaction": 13,
    "rt_sigprocmask": 14,
    "rt_sigreturn": 15,
    "select": 23,
    "sched_yield": 24,
    "mremap": 25,
    "madvise": 28,
    "nanosleep": 35,
    "getpid": 39,
    "exit": 60,
    "uname": 63,
    "gettimeofday": 96,
    "getrusage": 98,
    "times": 100,
    "getuid": 102,
    "sigaltstack": 131,
    "gettid": 186,
    "time": 201,
    "futex": 202,
    "sched_getaffinity": 204,
    "restart_syscall": 219,
    "clock_gettime": 228,
    "clock_getres": 229,
    "clock_nanosleep": 230,
    "exit_group": 231,
    "getrandom": 318,  # numpy draws entropy before it looks at the seed it was given
    "rseq": 334,
}

AARCH64 = {
    "close": 57,
    "lseek": 62,
    "read": 63,
    "write": 64,
    "pselect6": 72,
    "ppoll": 73,
    "fstat": 80,
    "exit": 93,
    "exit_group": 94,
    "futex": 98,
    "nanosleep": 101,
    "clock_gettime": 113,
    "clock_getres": 114,
    "clock_nanosleep": 115,
    "sched_getaffinity": 123,
    "sched_yield": 124,
    "restart_syscall": 128,
    "sigaltstack": 132,
    "rt_sigaction": 134,
    "rt_sigprocmask": 135,
    "rt_sigreturn": 139,
    "times": 153,
    "uname": 160,
    "getrusage": 165,
    "gettimeofday": 169,
    "getpid": 172,
    "getuid": 174,
    "gettid": 178,
    "brk": 214,
    "munmap": 215,
    "mremap": 216,
    "mmap": 222,
    "mprotect": 226,
    "madvise": 233,
    "getrandom": 278,
    "rseq": 293,
}

CALLS = {"x86_64": X86_64, "aarch64": AARCH64}

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL_PROCESS, _ALLOW, _EPERM = 0x80000000, 0x7FFF0000, 0x00050001
_OFFSET_NUMBER, _OFFSET_ARCH, _OFFSET_PROT = 0, 4, 16 + 2 * 8
_X32_BIT = 0x40000000
_PROT_EXEC = 4


def _step(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def filter_program(machine: str) -> bytes:
    """The filter as an array of `struct sock_filter` (8 bytes each).

    Args:
      machine: as `platform.machine()` says it.

    Raises:
      KeyError: there is no table for that machine.
    """
    calls = dict(CALLS[machine])
    guarded = [calls.pop("mmap"), calls.pop("mprotect")]
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
    for number in guarded:  # allowed only without PROT_EXEC in the third argument
        steps += [
            _step(_JUMP_EQUAL, 0, 4, number),
            _step(_LOAD, 0, 0, _OFFSET_PROT),
            _step(_JUMP_BITS, 0, 1, _PROT_EXEC),
            _step(_RETURN, 0, 0, _EPERM),
            _step(_RETURN, 0, 0, _ALLOW),
        ]
    numbers = sorted(calls.values())
    steps += [
        _step(_JUMP_EQUAL, len(numbers) - position, 0, number)
        for position, number in enumerate(numbers)
    ]
    steps += [_step(_RETURN, 0, 0, _EPERM), _step(_RETURN, 0, 0, _ALLOW)]
    return b"".join(steps)
