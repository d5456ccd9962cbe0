"""What stands in the way of gVisor on this machine, found out one thing at a time."""

from __future__ import annotations

import enum
import shutil
import subprocess
from dataclasses import dataclass

from sandbox.errors import SandboxUnavailable
from sandbox.gvisor_containers import ours, sweep
from sandbox.gvisor_docker import (
    PREPARE,
    RUNTIME,
    Runtime,
    ask_docker,
    default_platform,
    find_runtime,
    runsc_version,
)
from sandbox.gvisor_image import image_state, image_tag

# What gVisor's kernel calls itself, whatever the host's is.
_GVISOR_KERNEL = "Linux version 4.4.0 "
_BUILD = "python -m sandbox.gvisor build"


class State(enum.StrEnum):
    """How a finding bears on running untrusted code."""

    OK = "ok"
    """As it should be."""
    WARN = "warn"
    """It works, with a weakness that the detail names."""
    MISSING = "missing"
    """Not there; something else may take its place."""
    FAIL = "fail"
    """There, but it does not work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of an examination.

    Attributes:
      name: what was looked at.
      state: how it is.
      detail: what was found.
      remedy: what to do about it; empty where there is nothing to do.
    """

    name: str
    state: State
    detail: str
    remedy: str = ""


def probe_gvisor() -> tuple[Finding, ...]:
    """Examines Docker, the runtime and the image; stops where the next step cannot work."""
    findings: list[Finding] = []
    client = _client()
    findings.append(client)
    if client.state is not State.OK:
        return tuple(findings)
    daemon = _daemon()
    findings.append(daemon)
    if daemon.state is not State.OK:
        return tuple(findings)
    try:
        runtime = find_runtime()
    except SandboxUnavailable as error:
        findings.append(Finding("runtime runsc", State.MISSING, str(error), PREPARE))
        return tuple(findings)
    findings += [_registration(runtime), _release(runtime)]
    image = _image()
    findings.append(image)
    if image.state is State.OK:
        findings.append(_kernel())
    findings.append(_leftovers())
    return tuple(findings)


def probe_rootless() -> Finding:
    """Whether `runsc --rootless` can run here, without starting anything large."""
    name = "runsc without root"
    binary = shutil.which(RUNTIME)
    if binary is None:
        return Finding(name, State.MISSING, "there is no runsc binary in PATH", PREPARE)
    version = runsc_version(binary)
    command = [binary, "--rootless", "--network=none", "--ignore-cgroups", "do", "/bin/true"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(name, State.FAIL, f"runsc {version}: {error}", "see the user namespaces")
    if done.returncode != 0:
        said = " ".join(done.stderr.split())[-300:] or f"exit code {done.returncode}"
        return Finding(name, State.FAIL, f"runsc {version}: {said}", "see the user namespaces")
    return Finding(name, State.OK, f"runsc {version} ({default_platform(version)})")


def _client() -> Finding:
    path = shutil.which("docker")
    if path is None:
        return Finding("docker client", State.MISSING, "there is no docker in PATH", PREPARE)
    try:
        version = ask_docker("--version")
    except SandboxUnavailable as error:
        return Finding("docker client", State.FAIL, str(error), PREPARE)
    return Finding("docker client", State.OK, version)


def _daemon() -> Finding:
    try:
        version = ask_docker("version", "--format", "{{.Server.Version}} on {{.Server.Os}}/"
                             "{{.Server.Arch}}")  # fmt: skip
    except SandboxUnavailable as error:
        return Finding("docker daemon", State.FAIL, str(error), PREPARE)
    return Finding("docker daemon", State.OK, version)


def _registration(runtime: Runtime) -> Finding:
    name = "runtime runsc"
    detail = f"{runtime.path} {' '.join(runtime.arguments)}".strip()
    if runtime.path.rpartition("/")[2] != "runsc":
        return Finding(name, State.WARN, detail, "the binary should be gVisor's runsc")
    if "--network=none" not in runtime.arguments and "-network=none" not in runtime.arguments:
        remedy = "add --network=none to the runtimeArgs (older releases fail without it)"
        return Finding(name, State.WARN, detail, remedy)
    return Finding(name, State.OK, detail)


def _release(runtime: Runtime) -> Finding:
    name = "runsc release"
    detail = f"{runtime.version}, platform {runtime.platform}"
    if runtime.platform == "kvm":
        remedy = "the kvm platform is known to hang on virtual machines; use systrap"
        return Finding(name, State.WARN, detail, remedy)
    if runtime.platform == "ptrace":
        return Finding(name, State.WARN, detail, "a newer runsc has systrap, which is faster")
    if runtime.version == "unknown":
        remedy = "the binary is not on this machine; matches are marked gvisor/unknown"
        return Finding(name, State.WARN, detail, remedy)
    return Finding(name, State.OK, detail)


def _image() -> Finding:
    try:
        state = image_state()
    except SandboxUnavailable as error:
        return Finding("image", State.FAIL, str(error), PREPARE)
    tag = image_tag()
    if state == "current":
        return Finding("image", State.OK, tag)
    why = "only images of other box files are there" if state == "stale" else "not built yet"
    return Finding("image", State.MISSING, f"{tag}: {why}", _BUILD)


def _kernel() -> Finding:
    """Starts a container and asks it for its kernel, for a runtime may be misnamed."""
    name = "a container's kernel"
    question = "print(open('/proc/version').read().strip())"
    try:
        said = ask_docker(
            "run", "--rm", "--pull", "never", "--runtime", RUNTIME, "--network", "none",
            "--read-only", "--cap-drop", "ALL", "--log-driver", "none",
            "--entrypoint", "python3", image_tag(), "-I", "-S", "-c", question,
            seconds=60,
        )  # fmt: skip
    except SandboxUnavailable as error:
        return Finding(name, State.FAIL, str(error), "read the daemon's log")
    if not said.startswith(_GVISOR_KERNEL):
        detail = f"this is not gVisor: {said}"
        return Finding(name, State.FAIL, detail, "register gVisor's runsc as the runtime")
    return Finding(name, State.OK, f"gVisor ({said[:20].strip()})")


def _leftovers() -> Finding:
    try:
        removed, alive = sweep(), ours()
    except SandboxUnavailable as error:
        return Finding("left-over containers", State.FAIL, str(error), PREPARE)
    if removed:
        detail = f"removed {len(removed)} of processes that have ended: {', '.join(removed)}"
        return Finding("left-over containers", State.WARN, detail)
    return Finding("left-over containers", State.OK, f"none ({len(alive)} in use here)")
