"""The `process` wall: the sealed box on the host itself, inside bubblewrap where that works.

The seal (see `sandbox/box/seal.py`) keeps a policy in; bubblewrap puts the referee, too, where
there is no network, no other process and no file but Python.  There is no second kernel as with
gVisor: fit for one's own and for generated code.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from sandbox.box import seal
from sandbox.cores import CoreLease
from sandbox.errors import SandboxRefused, SandboxUnavailable
from sandbox.link import BOX_FOLDER, BoxLink, BoxOptions, box_command
from sandbox.memory import memory_for_a_box
from sandbox.values import Block, ExternalSeats, Outcome

_BOX_INSIDE = "/box"
_SYSTEM_FOLDERS = ("/usr", "/lib", "/lib64", "/bin", "/nix/store", "/etc/ld.so.cache")
_ROOT_CAPABILITIES = ("CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_SYS_CHROOT")
_PROBE_SECONDS = 10


def numpy_folder() -> str | None:
    """The folder from which this Python would import numpy, or None."""
    spec = importlib.util.find_spec("numpy")
    if spec is None or spec.origin is None:
        return None
    return str(Path(spec.origin).parent.parent)


def base_python() -> str:
    """The interpreter behind any virtual environment."""
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


def bubblewrap_prefix(bwrap: str, site: str | None) -> list[str]:
    """The part of the command line that makes the namespace; the box's own follows."""
    command = [bwrap, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command += ["--unshare-cgroup-try", "--new-session", "--hostname", "box"]
    if os.geteuid() == 0:
        for capability in _ROOT_CAPABILITIES:
            command += ["--cap-add", capability]
    else:
        command += ["--unshare-user"]
    # First, so that it does not cover what is bound below: Python may be installed under /tmp.
    command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    for folder in (*_SYSTEM_FOLDERS, sys.base_prefix, sys.base_exec_prefix):
        command += ["--ro-bind-try", folder, folder]
    for name in ("numpy", "numpy.libs"):
        if site is not None:
            command += ["--ro-bind-try", f"{site}/{name}", f"{site}/{name}"]
    command += ["--ro-bind", str(BOX_FOLDER), _BOX_INSIDE]
    return [*command, "--chdir", "/", "--"]


def usable_bubblewrap() -> str | None:
    """Path of bubblewrap, where it is installed and may make namespaces here."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return None
    command = [*bubblewrap_prefix(bwrap, None), base_python(), "-S", "-c", "pass"]
    try:
        done = subprocess.run(
            command, env={}, capture_output=True, timeout=_PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return bwrap if done.returncode == 0 else None


class ProcessWall:
    """The sealed box on the host.

    Args:
      bubblewrap: None looks for it; True insists on it; False does without.
      allow_unsealed: where this platform cannot seal, run the code anyway.
      memory_mib: what all policies in the box may hold together; None takes the box's share of
        what the machine has to give.
      core: see `CoreLease`.

    Raises:
      SandboxRefused: this platform cannot seal a process, or has no usable bubblewrap.
      SandboxUnavailable: the box did not start.
    """

    def __init__(
        self,
        *,
        bubblewrap: bool | None = None,
        allow_unsealed: bool = False,
        memory_mib: int | None = None,
        core: int | None = None,
    ) -> None:
        problem = seal.why_not()
        if problem is not None and not allow_unsealed:
            raise SandboxRefused(
                f"policies cannot be sealed here: {problem}.  Use a Linux machine, or run only "
                "code that you vouch for, with --allow-unsealed"
            )
        unsealed = problem is not None
        bwrap = usable_bubblewrap() if bubblewrap is not False else None
        if bubblewrap and bwrap is None:
            raise SandboxRefused("bubblewrap is not installed, or may not make namespaces here")
        site = numpy_folder()
        folder = str(BOX_FOLDER) if bwrap is None else _BOX_INSIDE
        self._lease = CoreLease(core)
        command = box_command(base_python(), folder)
        options = BoxOptions(site, self.core, memory_mib or memory_for_a_box(), unsealed=unsealed)
        if bwrap is not None:
            command = bubblewrap_prefix(bwrap, site) + command
        self._name = "unsealed" if unsealed else "process"
        if bwrap is not None:
            self._name += "/bubblewrap"
        try:
            self._link = BoxLink(command, self._name, options)
        except SandboxUnavailable:
            self._lease.close()
            raise

    @property
    def name(self) -> str:
        """One of "process", "process/bubblewrap", or "unsealed": nothing protects the host."""
        return self._name

    @property
    def remark(self) -> str:
        """See `Wall.remark`."""
        return self._link.remark

    @property
    def core(self) -> int | None:
        """See `Wall.core`."""
        return self._lease.core

    @property
    def is_crowded(self) -> bool:
        """See `Wall.is_crowded`."""
        return self._lease.is_crowded

    @property
    def link(self) -> BoxLink:
        """The box itself, for diagnosis."""
        return self._link

    def play(self, block: Block, external: ExternalSeats | None = None) -> tuple[Outcome, ...]:
        """See `Wall.play`."""
        return self._link.play(block, external)

    def close(self) -> None:
        """See `Wall.close`."""
        self._link.close()
        self._lease.close()
