"""Containers of ours: what each is started with, whose it is, and removing those left behind.

A container ends with its box, which ends when its standard input does, which ends when the
process that started it does.  Should the daemon itself have been in the way of that, the label
says whose container it was, and the next wall to be opened removes it.
"""

from __future__ import annotations

import os
import secrets
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxUnavailable
from sandbox.gvisor_docker import RUNTIME, Runtime, ask_docker
from sandbox.gvisor_owner import Owner
from sandbox.link import BOX_ENVIRONMENT

LABEL = "policy-arena.owner"
_NAME = "policy-arena-box"

# The referee is root in the container, which is nobody on the host, and needs these four to
# give each policy a user of its own in an empty root folder, and to kill it.
_CAPABILITIES = ("SETUID", "SETGID", "KILL", "SYS_CHROOT")
# Counts gVisor's own threads as well: 512 is too few for a busy box.
_PROCESSES = 4096
_GVISOR_MIB = 768


@dataclass(frozen=True, slots=True)
class ContainerLimits:
    """What one whole box may use; each policy in it is limited by `sandbox.values.Limits`.

    Attributes:
      memory_mib: of all processes in the box together, gVisor's own memory included.  A box
        that exceeds it is killed as a whole; see `policies_mib`.
      cpus: processors' worth of time; gVisor's kernel computes beside the policies.
    """

    memory_mib: int = 4096
    cpus: float = 2.0

    @property
    def policies_mib(self) -> int:
        """What all policies together may hold, so that the box itself lives.

        Seven tenths; of a small box less.  gVisor holds memory of its own, and that of policies
        that have ended for a while.
        """
        left = min(self.memory_mib * 7 // 10, self.memory_mib - _GVISOR_MIB)
        return max(left, self.memory_mib // 4)

    def on(self, runtime: Runtime) -> ContainerLimits:
        """The same, but no more processors than there are and three quarters of the memory."""
        return ContainerLimits(
            memory_mib=min(self.memory_mib, runtime.machine_memory_mib * 3 // 4),
            cpus=min(self.cpus, float(runtime.machine_cpus)),
        )


NO_SUCH_CORE = "Requested CPUs are not available"
"""In what Docker says where its daemon may not use the core that a container is to stay on."""


def new_name() -> str:
    """A name that no other container has."""
    return f"{_NAME}-{os.getpid()}-{secrets.token_hex(6)}"


def run_command(
    name: str,
    image: str,
    limits: ContainerLimits,
    python: str,
    box: list[str],
    core: int | None = None,
) -> list[str]:
    """The command that starts a container and connects its standard streams to ours.

    Args:
      name: from `new_name`.
      image: tag of the image, which must be there already.
      limits: of the whole box.
      python: the image's interpreter.
      box: its arguments.
      core: the processor core of the daemon's machine that it stays on, if any.
    """
    command = [
        "docker", "run", "--rm", "--interactive", "--pull", "never",
        "--runtime", RUNTIME,
        "--name", name,
        "--label", f"{LABEL}={Owner.current().text()}",
        "--network", "none", "--ipc", "none",
        "--read-only",
        "--cap-drop", "ALL",
        "--security-opt", "no-new-privileges",
        "--user", "0:0",
        "--pids-limit", str(_PROCESSES),
        "--memory", f"{limits.memory_mib}m", "--memory-swap", f"{limits.memory_mib}m",
        "--cpus", f"{limits.cpus:g}",
        "--log-driver", "none",
        "--hostname", "box",
        "--entrypoint", python,
    ]  # fmt: skip
    if core is not None:
        command += ["--cpuset-cpus", str(core)]
    for capability in _CAPABILITIES:
        command += ["--cap-add", capability]
    for variable, value in BOX_ENVIRONMENT.items():
        command += ["--env", f"{variable}={value}"]
    return [*command, image, *box]


def remove(name: str) -> None:
    """Removes a container, running or not; one that is gone already is fine.

    Raises:
      SandboxUnavailable: Docker does not answer or cannot remove it.
    """
    try:
        identity, process = ask_docker(
            "inspect", "--format", "{{.Id}} {{.State.Pid}}", name
        ).split()
        _kill_sandbox(identity, int(process))
        ask_docker("rm", "--force", name)
    except SandboxUnavailable as error:
        said = str(error).lower()
        if "no such " not in said and "already in progress" not in said:
            raise


def _kill_sandbox(identity: str, process: int) -> None:
    """Kills gVisor's own process, where it is on this machine and we may.

    A gVisor that hangs (the kernel killed a part of it for want of memory, say) does not end
    when Docker tells it to.  Docker then forgets the container and leaves the process behind.
    """
    with suppress(OSError):
        command = Path(f"/proc/{process}/cmdline").read_bytes()
        if process > 0 and identity.encode() in command and b"runsc" in command:
            os.kill(process, signal.SIGKILL)


def sweep() -> tuple[str, ...]:
    """Removes the containers whose owners have ended; returns their names.

    Raises:
      SandboxUnavailable: Docker does not answer.
    """
    listed = ask_docker(
        "ps", "--all", "--no-trunc", "--filter", f"label={LABEL}",
        "--format", f'{{{{.Names}}}}\t{{{{.Label "{LABEL}"}}}}',
    )  # fmt: skip
    removed = []
    for line in listed.splitlines():
        name, _, label = line.partition("\t")
        owner = Owner.parse(label)
        if owner is not None and owner.is_certainly_gone():
            remove(name)
            removed.append(name)
    return tuple(removed)


def ours() -> tuple[str, ...]:
    """Names of the containers that belong to this process.

    Raises:
      SandboxUnavailable: Docker does not answer.
    """
    listed = ask_docker(
        "ps", "--all", "--filter", f"label={LABEL}",
        "--format", f'{{{{.Names}}}}\t{{{{.Label "{LABEL}"}}}}',
    )  # fmt: skip
    current = Owner.current()
    rows = [line.partition("\t") for line in listed.splitlines()]
    return tuple(name for name, _, label in rows if Owner.parse(label) == current)
