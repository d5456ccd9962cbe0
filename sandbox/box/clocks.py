"""What the kernel knows about another process's time.

Entrants are charged for the processor time that they use.  What is left of the time that the
referee waited, after processor time and time in which the machine was busy elsewhere, is idle
time: a policy that sleeps or blocks.
"""

from __future__ import annotations

import time


def cpu_seconds(pid: int) -> float | None:
    """Processor time that a process has used; None once it is gone.

    Linux makes the number of a process's clock from the process number: three low bits say
    "processor time of all threads", the rest is the complement of the number.
    """
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return None


def starved_seconds(pid: int) -> float | None:
    """Time that a process wanted to run and was not let; None where the kernel does not tell."""
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return None


def steady_seconds(pid: int) -> float | None:
    """`cpu_seconds`, where no worker is charged for what others beside it compute.

    A kernel that does not tell who was kept from computing may count that as computing: None.
    """
    return None if starved_seconds(pid) is None else cpu_seconds(pid)
