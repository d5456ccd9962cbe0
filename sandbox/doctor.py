"""Examines what this machine offers for running untrusted code.  Pure data: others print it."""

from __future__ import annotations

import platform
import shutil
import sys
from pathlib import Path

from sandbox.box.seal import why_not
from sandbox.choose import WallChoice, open_wall
from sandbox.errors import SandboxError
from sandbox.gvisor_probe import Finding, State, probe_gvisor, probe_rootless
from sandbox.memory import memory_for_a_box, too_little
from sandbox.process import usable_bubblewrap
from sandbox.self_check import environment_canary
from sandbox.self_check import self_check as run_self_check
from sandbox.values import Limits

WALL_KINDS = ("gvisor", "gvisor-rootless", "process")
__all__ = ["Finding", "State", "examine"]


def examine(*, self_check: bool = True) -> tuple[Finding, ...]:
    """Looks at everything that a wall needs, and lets each wall that can start check itself.

    Args:
      self_check: whether to start the walls and run hostile policies in them (some seconds).
    """
    findings = [_interpreter(), _seal(), _memory(), _user_namespaces(), _bubblewrap()]
    findings += probe_gvisor()
    findings.append(probe_rootless())
    if self_check:
        findings += [_self_check(kind) for kind in WALL_KINDS]
    return tuple(findings)


def _self_check(kind: str) -> Finding:
    """Starts a wall and runs the short list of attacks in it."""
    name = f"self-check of {kind}"
    remedy = "do not run code that others wrote behind it"
    with environment_canary() as secret:
        try:
            wall = open_wall(WallChoice(kind))
        except SandboxError as error:
            return Finding(name, State.MISSING, str(error), "see the lines above")
        try:
            results = run_self_check(wall, secret)
        except SandboxError as error:
            return Finding(name, State.FAIL, str(error), remedy)
        finally:
            wall.close()
    escaped = [result for result in results if not result.contained]
    if escaped:
        detail = "; ".join(f"{result.name}: {result.detail}" for result in escaped)
        return Finding(name, State.FAIL, detail, remedy)
    return Finding(name, State.OK, f"{wall.name} held all {len(results)} attacks")


def _interpreter() -> Finding:
    detail = f"{platform.python_implementation()} {platform.python_version()} on {sys.platform}"
    if sys.version_info < (3, 11) or sys.implementation.name != "cpython":
        return Finding("python", State.FAIL, detail, "use CPython 3.11 or newer")
    return Finding("python", State.OK, f"{detail} ({platform.machine()})")


def _seal() -> Finding:
    name = "system call filter"
    problem = why_not()
    if problem is not None:
        remedy = "only code that you vouch for may run here; use a Linux machine for the rest"
        return Finding(name, State.FAIL, problem, remedy)
    actions = Path("/proc/sys/kernel/seccomp/actions_avail")
    if not actions.exists():
        remedy = "the kernel needs CONFIG_SECCOMP_FILTER"
        return Finding(name, State.FAIL, "this kernel has no seccomp filters", remedy)
    return Finding(name, State.OK, f"seccomp: {' '.join(actions.read_text().split())}")


def _memory() -> Finding:
    name = "memory"
    memory_mib = memory_for_a_box()
    problem = too_little(memory_mib)
    if problem:
        return Finding(name, State.WARN, problem, "free some memory")
    matches = memory_mib // (2 * Limits().memory_mib)
    return Finding(name, State.OK, f"{memory_mib} MiB a box: room for {matches} matches at once")


def _user_namespaces() -> Finding:
    name = "user namespaces"
    remedy = "needed by bubblewrap and by runsc without root only"
    if not Path("/proc/self/ns/user").exists():
        return Finding(name, State.MISSING, "this kernel has none", remedy)
    for setting, forbidden in (
        ("user/max_user_namespaces", "0"),
        ("kernel/unprivileged_userns_clone", "0"),
        ("kernel/apparmor_restrict_unprivileged_userns", "1"),
    ):
        path = Path("/proc/sys") / setting
        if path.exists() and path.read_text().strip() == forbidden:
            detail = f"{setting.replace('/', '.')} is {forbidden}"
            return Finding(name, State.WARN, detail, f"{remedy}; allow it with sysctl")
    return Finding(name, State.OK, "allowed")


def _bubblewrap() -> Finding:
    name = "bubblewrap"
    path = shutil.which("bwrap")
    if path is None:
        remedy = "install bubblewrap for a second line around the process wall"
        return Finding(name, State.MISSING, "there is no bwrap in PATH", remedy)
    if usable_bubblewrap() is None:
        detail = f"{path} may not make namespaces here"
        return Finding(name, State.FAIL, detail, "see the user namespaces")
    return Finding(name, State.OK, path)
