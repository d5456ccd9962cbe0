"""The folder that tells `runsc --rootless run` what to show and what to start.

Only what the box needs is visible inside: the interpreter and the system's libraries, numpy,
and the box's files, all read-only.  Home folders, configuration and the arena are not there,
so a policy that broke the seal and gVisor's file permissions would still find nothing.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

_BOX = Path(__file__).resolve().parent / "box"
BOX_INSIDE = "/opt/box"
SITE_INSIDE = "/opt/site"
# Where a dynamic linker looks, and what it looks it up in.
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
_CAPABILITIES = ("CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_SYS_CHROOT")


def interpreter() -> Path:
    """This process's own interpreter, outside any virtual environment."""
    base = getattr(sys, "_base_executable", None) or sys.executable
    return Path(base).resolve()


def write_bundle(folder: Path, options: tuple[str, ...] = ()) -> None:
    """Writes `config.json` and an empty root folder.

    Args:
      folder: the bundle; must exist.
      options: further arguments for the box's start file.
    """
    (folder / "rootfs").mkdir()
    (folder / "config.json").write_text(json.dumps(_specification(options), indent=1))


def _specification(options: tuple[str, ...]) -> dict[str, Any]:
    start = [str(interpreter()), "-s", "-S", "-P", f"{BOX_INSIDE}/start.py"]
    environment = ["PYTHONHASHSEED=0", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"]
    sets = ("bounding", "effective", "inheritable", "permitted", "ambient")
    return {
        "ociVersion": "1.0.0",
        "hostname": "box",
        "root": {"path": "rootfs", "readonly": True},
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": [*start, "--site", SITE_INSIDE, *options],
            "env": [*environment, "PYTHONDONTWRITEBYTECODE=1"],
            "cwd": "/",
            "noNewPrivileges": True,
            "capabilities": {name: list(_CAPABILITIES) for name in sets},
        },
        "mounts": _mounts(),
        "linux": {
            "namespaces": [
                {"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")
            ]
        },
    }


def _mounts() -> list[dict[str, Any]]:
    mounts: list[dict[str, Any]] = [{"destination": "/proc", "type": "proc", "source": "proc"}]
    shown = [Path(path) for path in _LIBRARIES if os.path.exists(path)]
    binary = interpreter()
    prefix = Path(sys.base_prefix).resolve()
    if prefix == Path("/usr"):
        shown.append(binary)
    else:
        shown.append(prefix)
        if not binary.is_relative_to(prefix):
            shown.append(binary)
    for path in shown:
        mounts.append(_read_only(path.resolve(), str(path)))
    for package in _numpy_folders():
        mounts.append(_read_only(package, f"{SITE_INSIDE}/{package.name}"))
    mounts.append(_read_only(_BOX, BOX_INSIDE))
    return mounts


def _read_only(source: Path, destination: str) -> dict[str, Any]:
    return {
        "destination": destination,
        "type": "bind",
        "source": str(source),
        "options": ["ro", "rbind"],
    }


def _numpy_folders() -> tuple[Path, ...]:
    """numpy's package and the libraries that its wheel brings; nothing else beside them."""
    found = importlib.util.find_spec("numpy")
    if found is None or not found.submodule_search_locations:
        return ()
    package = Path(next(iter(found.submodule_search_locations))).resolve()
    libraries = package.with_name("numpy.libs")
    return (package, libraries) if libraries.is_dir() else (package,)
