"""The image that the gVisor wall runs: which one it must be, whether it is there, how it is made.

An image is named by a digest of everything of ours that goes into it.  So whoever changes the
box gets another name, and an image with an old box in it cannot be run by accident.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sandbox.errors import SandboxUnavailable
from sandbox.gvisor_docker import ask_docker
from sandbox.link import BOX_FOLDER

REPOSITORY = "policy-arena-box"
LABEL = "policy-arena.box-files"
BASE_LABEL = "policy-arena.base"
BUILD_SECONDS = 900.0
"""After which building an image is given up."""
BOX_INSIDE = "/opt/box"
SITE_INSIDE = "/opt/site"
_HERE = Path(__file__).resolve().parent
_DOCKERFILE = _HERE / "Dockerfile"
_REQUIREMENTS = _HERE / "gvisor_requirements.txt"
# What wheels of numpy are tagged with, newest first, for the C library of current bases.
_LINUX_TAGS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")


def box_files() -> tuple[Path, ...]:
    """The box's own files, in the order in which they are digested."""
    return tuple(sorted(BOX_FOLDER.glob("*.py")))


def files_digest() -> str:
    """64 hexadecimal digits over the Dockerfile, the requirements and the box's files."""
    digest = hashlib.sha256()
    for path in (_DOCKERFILE, _REQUIREMENTS, *box_files()):
        content = path.read_bytes()
        digest.update(f"{path.name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def image_tag() -> str:
    """Name of the image that belongs to these files."""
    return f"{REPOSITORY}:{files_digest()[:16]}"


def require_image() -> str:
    """Tag of the image that belongs to these files.

    Raises:
      SandboxUnavailable: it is not there, or is not what its name says.
    """
    tag = image_tag()
    if image_state() != "current":
        raise SandboxUnavailable(
            f"the image {tag} is not there (the box's files may have changed since the last one "
            "was built): build it with 'python -m sandbox.gvisor build'"
        )
    return tag


def image_state() -> str:
    """Compares the daemon's images with our files: "current", "stale" (other files) or "missing".

    Raises:
      SandboxUnavailable: Docker does not answer.
    """
    digest = files_digest()
    listed = ask_docker(
        "image", "ls", "--filter", f"label={LABEL}", "--format", "{{.Repository}}:{{.Tag}}"
    ).split()
    tag = image_tag()
    if tag not in listed:
        return "stale" if listed else "missing"
    label = ask_docker(
        "image", "inspect", tag, "--format", f'{{{{index .Config.Labels "{LABEL}"}}}}'
    )
    return "current" if label == digest else "stale"


def build_image(base: str | None = None) -> str:
    """Builds the image for these files and returns its tag.

    Args:
      base: image to start from; None takes that of an earlier image of ours where there is
        one, so that building again needs no more than the first time, else the Dockerfile's.

    Raises:
      SandboxUnavailable: Docker failed, or the wheel of numpy could not be fetched.
    """
    base = base or _earlier_base() or _default_base()
    tag = image_tag()
    with tempfile.TemporaryDirectory(prefix="policy-arena-build-") as folder:
        context = Path(folder)
        shutil.copy(_DOCKERFILE, context / "Dockerfile")
        (context / "box").mkdir()
        for path in box_files():
            shutil.copy(path, context / "box" / path.name)
        (context / "wheels").mkdir()
        shutil.copy(_REQUIREMENTS, context / "wheels" / _REQUIREMENTS.name)
        _fetch_wheel(context / "wheels", *_interpreter_of(base))
        # The interpreter's probe above has pulled the base; nothing else comes from outside.
        ask_docker(
            "build", "--quiet", "--build-arg", f"BASE_IMAGE={base}",
            "--label", f"{LABEL}={files_digest()}", "--label", f"{BASE_LABEL}={base}",
            "--tag", tag, folder,
            seconds=BUILD_SECONDS,
        )  # fmt: skip
    return tag


def _earlier_base() -> str | None:
    """Base of the newest of our images, if that base is still there."""
    images = ask_docker("image", "ls", "--quiet", "--filter", f"label={BASE_LABEL}").split()
    if not images:
        return None
    base = ask_docker(
        "image", "inspect", images[0], "--format", f'{{{{index .Config.Labels "{BASE_LABEL}"}}}}'
    )
    return base if ask_docker("image", "ls", "--quiet", base) else None


def _default_base() -> str:
    for line in _DOCKERFILE.read_text().splitlines():
        if line.startswith("ARG BASE_IMAGE="):
            return line.partition("=")[2].strip()
    raise SandboxUnavailable(f"{_DOCKERFILE} names no BASE_IMAGE")


def _interpreter_of(base: str) -> tuple[str, str]:
    """Version ("3.12") and machine ("x86_64") of the Python in an image."""
    question = (
        "import json, platform, sys;"
        "print(json.dumps(['%d.%d' % sys.version_info[:2], platform.machine()]))"
    )
    answer = ask_docker(
        "run", "--rm", "--network", "none", "--entrypoint", "python3", base, "-I", "-c", question,
        seconds=600,
    )  # fmt: skip
    version, machine = json.loads(answer)
    if tuple(map(int, version.split("."))) < (3, 11):
        raise SandboxUnavailable(f"{base} has Python {version}; the box needs 3.11 or newer")
    return version, machine


def _fetch_wheel(folder: Path, version: str, machine: str) -> None:
    """Downloads numpy for the image's Python, checked against the pinned hashes."""
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes",
        "--only-binary", ":all:", "--python-version", version, "--implementation", "cp",
        "--dest", str(folder), "--requirement", str(_REQUIREMENTS),
    ]  # fmt: skip
    for tag in _LINUX_TAGS:
        command += ["--platform", f"{tag}_{machine}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    except subprocess.TimeoutExpired:
        raise SandboxUnavailable("pip did not fetch numpy within 600 s; try again") from None
    if done.returncode != 0:
        said = " ".join(done.stderr.split())[-600:]
        raise SandboxUnavailable(
            f"pip could not fetch numpy for Python {version} on {machine}: {said} "
            f"(the interpreter {sys.executable} needs pip and a package index)"
        )
