"""The gVisor wall: a warm box in a Docker container whose kernel is gVisor's.

`python -m sandbox.gvisor build` makes the image that it runs, `... sweep` removes containers
that killed processes have left behind.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress

from sandbox.cores import CoreLease
from sandbox.errors import SandboxUnavailable
from sandbox.gvisor_containers import (
    NO_SUCH_CORE,
    ContainerLimits,
    new_name,
    remove,
    run_command,
    sweep,
)
from sandbox.gvisor_docker import explain, find_runtime
from sandbox.gvisor_image import (
    BOX_INSIDE,
    SITE_INSIDE,
    build_image,
    image_state,
    image_tag,
    require_image,
)
from sandbox.link import BoxLink, BoxOptions, box_command
from sandbox.values import Block, ExternalSeats, Outcome

# A cold container takes half a second; the rest is for a loaded machine.
START_SECONDS = 60.0


class GVisorWall:
    """A box in a container.  Not safe for use by two threads at once.

    Attributes:
      name: "gvisor/" and the release of runsc.
      platform: how gVisor intercepts system calls: "systrap", "ptrace", ...
      container: name of the container.
      core: of the machine, on which all of it stays: gVisor's kernel hands every system call of a
        policy from thread to thread, which takes longer from core to core.  None where the daemon
        is somewhere else.
    """

    def __init__(self, limits: ContainerLimits | None = None, *, core: int | None = None) -> None:
        """Starts a container; removes those whose owners have ended.

        Args:
          limits: of the whole box; cut to what the daemon's machine has.
          core: see `CoreLease`.

        Raises:
          SandboxUnavailable: Docker, the runtime, the image or the box is not to be had; the
            message says what to do.
        """
        runtime = find_runtime()
        image = require_image()
        sweep()
        self.name = f"gvisor/{runtime.version}"
        self.platform = runtime.platform
        self.container = new_name()
        self._closed = False
        self._lease = CoreLease(core) if runtime.is_here else None
        self.core = self._lease.core if self._lease else None
        within = (limits or ContainerLimits()).on(runtime)
        try:
            try:
                self._link = self._started(image, within)
            except SandboxUnavailable as error:
                if self.core is None or NO_SUCH_CORE not in str(error):
                    raise
                self.core = None
                self._link = self._started(image, within)
        except SandboxUnavailable as error:
            self._closed = True
            self._remove_container()
            raise SandboxUnavailable(explain("run", str(error))) from error

    def _started(self, image: str, within: ContainerLimits) -> BoxLink:
        python, *box = box_command("python3", BOX_INSIDE)
        command = run_command(self.container, image, within, python, box, self.core)
        options = BoxOptions(SITE_INSIDE, memory_mib=within.policies_mib)
        # Docker's client finds its daemon through its own environment and home folder; what the
        # box sees is in the command.
        return BoxLink(
            command, self.name, options, environment=os.environ, start_seconds=START_SECONDS
        )

    @property
    def remark(self) -> str:
        """See `Wall.remark`."""
        return self._link.remark

    @property
    def is_crowded(self) -> bool:
        """See `Wall.is_crowded`."""
        return self._lease is not None and self.core is not None and self._lease.is_crowded

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
        """Ends the box and removes its container.  Idempotent."""
        if self._closed:
            return
        self._closed = True
        self._link.close()
        self._remove_container()

    def _remove_container(self) -> None:
        if self._lease is not None:
            self._lease.close()
        # It removes itself when its box ends; this is for one that did not end.  A daemon that
        # has gone away cannot be asked, and the next wall sweeps up.
        with suppress(SandboxUnavailable):
            remove(self.container)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns an exit code."""
    parser = argparse.ArgumentParser(prog="python -m sandbox.gvisor", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build", help="make the image for the present box files")
    build.add_argument("--base", help="image to start from (default: the Dockerfile's)")
    build.add_argument(
        "--if-missing", action="store_true", help="do nothing where the image is there already"
    )
    commands.add_parser("sweep", help="remove containers of processes that have ended")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.command == "build":
            here = chosen.if_missing and image_state() == "current"
            print(image_tag() if here else build_image(chosen.base))
        else:
            for name in sweep():
                print(name)
    except SandboxUnavailable as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
