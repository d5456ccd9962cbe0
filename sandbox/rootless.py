"""The rootless wall: a warm box in gVisor from the binary `runsc` alone: no Docker, no root."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from sandbox.cores import CoreLease
from sandbox.errors import SandboxUnavailable
from sandbox.gvisor_docker import PREPARE, RUNTIME, default_platform, runsc_version
from sandbox.gvisor_owner import Owner
from sandbox.link import BoxLink
from sandbox.rootless_bundle import box_options, write_bundle
from sandbox.values import Block, ExternalSeats, Outcome

_PREFIX = "policy-arena-rootless-"
_OWNER_FILE = "owner.json"
_CONTAINER = "box"
START_SECONDS = 60.0


class RootlessWall:
    """A box under `runsc --rootless run`.  Not safe for use by two threads at once.

    There are no control groups without root, so gVisor itself has no memory limit; the policies
    have theirs (`Limits.memory_mib`), and all together the box's share of what the machine has.

    Attributes:
      name: "gvisor-rootless/" and the release of runsc.
      platform: how gVisor intercepts system calls: "systrap" or "ptrace".
      folder: the bundle and runsc's state, removed by `close`.
    """

    def __init__(self, *, core: int | None = None) -> None:
        """Starts a box; removes what ended processes have left behind.

        Args:
          core: see `CoreLease`.

        Raises:
          SandboxUnavailable: there is no runsc, or it cannot run without root here.
        """
        binary = shutil.which(RUNTIME)
        if binary is None:
            raise SandboxUnavailable(f"there is no runsc binary in PATH: {PREPARE}")
        sweep_folders()
        version = runsc_version(binary)
        self.name = f"gvisor-rootless/{version}"
        self.platform = default_platform(version)
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._closed = False
        self._binary = binary
        (self.folder / _OWNER_FILE).write_text(Owner.current().text())
        write_bundle(self.folder)
        command = [*_runsc(binary, self.folder), "run", "--bundle", str(self.folder), _CONTAINER]
        self._lease = CoreLease(core)  # see `GVisorWall.core`
        try:
            with self._lease.staying():
                self._link = BoxLink(
                    command,
                    self.name,
                    box_options(),
                    environment=_environment(),
                    start_seconds=START_SECONDS,
                )
        except SandboxUnavailable as error:
            self._closed = True
            self._lease.close()
            _remove_folder(binary, self.folder)
            raise SandboxUnavailable(
                f"{error} (runsc without root needs user namespaces: see 'arena doctor')"
            ) from error

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
    def box(self) -> BoxLink:
        """The box itself, for diagnosis."""
        return self._link

    def play(self, block: Block, external: ExternalSeats | None = None) -> tuple[Outcome, ...]:
        """See `Wall.play`."""
        try:
            return self._link.play(block, external)
        except SandboxUnavailable:
            self.close()
            raise

    def close(self) -> None:
        """Ends the box and removes its folder.  Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._link.close()
        self._lease.close()
        _remove_folder(self._binary, self.folder)


def sweep_folders() -> tuple[Path, ...]:
    """Removes the boxes and folders whose owners have ended; returns the folders."""
    removed = []
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            owner = Owner.parse((folder / _OWNER_FILE).read_text())
        except OSError:
            continue  # another user's, or just being made
        if owner is not None and owner.is_certainly_gone():
            _remove_folder(shutil.which(RUNTIME), folder)
            removed.append(folder)
    return tuple(removed)


def _runsc(binary: str, folder: Path) -> list[str]:
    state = f"--root={folder / 'state'}"
    return [binary, "--rootless", "--network=none", "--ignore-cgroups", state]


def _environment() -> dict[str, str]:
    """Of runsc itself, not of the box: where its helpers are, and nothing else."""
    return {"PATH": os.environ.get("PATH", os.defpath)}


def _remove_folder(binary: str | None, folder: Path) -> None:
    if binary is not None and (folder / "state").exists():
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                [*_runsc(binary, folder), "delete", "--force", _CONTAINER],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=_environment(),
                timeout=20,
                check=False,
            )
    shutil.rmtree(folder, ignore_errors=True)
