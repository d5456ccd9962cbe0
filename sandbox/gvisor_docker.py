"""The Docker client as a function: what it prints, or why the sandbox is not available."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass

from sandbox.errors import SandboxUnavailable

RUNTIME = "runsc"
PREPARE = "run sandbox/prepare_debian.sh as root (Debian), or install Docker and gVisor yourself"
# Before this release runsc's platform was ptrace unless told otherwise, afterwards systrap.
_SYSTRAP_SINCE = 20230500


def ask_docker(*arguments: str, seconds: float = 30.0) -> str:
    """Runs the Docker client and returns its standard output, stripped.

    Raises:
      SandboxUnavailable: there is no client, it failed, or it took longer than `seconds`.
    """
    if shutil.which("docker") is None:
        raise SandboxUnavailable(f"the Docker client is not installed: {PREPARE}")
    try:
        done = subprocess.run(
            ["docker", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SandboxUnavailable(
            f"'docker {arguments[0]}' did not answer within {seconds:g} s: is the daemon healthy?"
        ) from None
    if done.returncode != 0:
        raise SandboxUnavailable(explain(arguments[0], done.stderr))
    return done.stdout.strip()


def explain(command: str, message: str) -> str:
    """What went wrong in a Docker command, and what to do about it, in one line."""
    said = " ".join(message.split()) or "it gave no reason"
    lowered = said.lower()
    if (
        "cannot connect to the docker daemon" in lowered
        or "is the docker daemon running" in lowered
    ):
        remedy = f"start the daemon ('systemctl start docker'), or {PREPARE}"
    elif "permission denied" in lowered and "sock" in lowered:
        remedy = "this user may not talk to the daemon: add it to the group 'docker'"
    elif "unknown or invalid runtime" in lowered or "unknown runtime" in lowered:
        remedy = f"the runtime '{RUNTIME}' is not registered with the daemon: {PREPARE}"
    elif "no such image" in lowered or "unable to find image" in lowered:
        remedy = "build the image with 'python -m sandbox.gvisor build'"
    else:
        remedy = "'arena doctor' examines the whole installation"
    return f"'docker {command}' failed: {said[-600:]} ({remedy})"


@dataclass(frozen=True, slots=True)
class Runtime:
    """The runtime `runsc` as the daemon knows it, and the daemon's machine.

    Attributes:
      path: of the binary on the daemon's machine.
      arguments: that the daemon adds to each call.
      version: "20240729.0", or "unknown" where the binary is not on this machine.
      platform: how it intercepts system calls: "systrap", "ptrace", "kvm" or "unknown".
      machine_cpus: processors of the daemon's machine, which need not be this one.
      machine_memory_mib: its memory.
      is_here: whether it goes by the name of this machine, and so most likely is it.
    """

    path: str
    arguments: tuple[str, ...]
    version: str
    platform: str
    machine_cpus: int
    machine_memory_mib: int
    is_here: bool = False


def find_runtime() -> Runtime:
    """Asks the daemon for the runtime and the binary for its version.

    Raises:
      SandboxUnavailable: Docker does not answer or does not know the runtime.
    """
    wanted = ("{{json .Runtimes}}", "{{.NCPU}}", "{{.Name}}", "{{.MemTotal}}")
    said = ask_docker("info", "--format", "\n".join(wanted))
    runtimes, cpus, host, memory = said.splitlines()
    known = json.loads(runtimes) or {}
    if RUNTIME not in known:
        raise SandboxUnavailable(
            f"the Docker daemon does not know the runtime '{RUNTIME}' "
            f"(it knows {', '.join(sorted(known)) or 'none'}): {PREPARE}"
        )
    path = known[RUNTIME].get("path") or RUNTIME
    arguments = tuple(known[RUNTIME].get("runtimeArgs") or ())
    version = runsc_version(path)
    return Runtime(
        path=path,
        arguments=arguments,
        version=version,
        platform=_platform(arguments, version),
        machine_cpus=int(cpus),
        machine_memory_mib=int(memory) // 2**20,
        is_here=host == os.uname().nodename,
    )


def runsc_version(binary: str) -> str:
    """Release of a runsc binary, such as "20240729.0"; "unknown" where it cannot be asked."""
    try:
        done = subprocess.run(
            [binary, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    words = done.stdout.split()
    if done.returncode != 0 or words[:2] != ["runsc", "version"] or len(words) < 3:
        return "unknown"
    return words[2].removeprefix("release-").removeprefix("0.0~")


def default_platform(version: str) -> str:
    """The platform that a release of runsc takes when it is not told one."""
    day = version.split(".")[0]
    if not day.isdigit():
        return "unknown"
    return "systrap" if int(day) >= _SYSTRAP_SINCE else "ptrace"


def _platform(arguments: tuple[str, ...], version: str) -> str:
    for argument in arguments:
        name, _, value = argument.lstrip("-").partition("=")
        if name == "platform" and value:
            return value
    return default_platform(version)
