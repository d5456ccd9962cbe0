"""The folder that tells `runsc --rootless run` what to show and what to start.

Only what the box needs is visible inside: the interpreter and the system's libraries, numpy,
and the box's files, all read-only.  Home folders, configuration and the arena are not there,
so a policy that broke the seal and gVisor's file permissions would still find nothing.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from sandbox.link import BOX_ENVIRONMENT, BOX_FOLDER, BoxOptions, box_command
from sandbox.memory import memory_for_a_box
from sandbox.process import base_python, numpy_folder

BOX_INSIDE = "/opt/box"
SITE_INSIDE = "/opt/site"
# Where a dynamic linker looks, and what it looks it up in.
_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")
_CAPABILITIES = ("CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_SYS_CHROOT")


def write_bundle(folder: Path) -> None:
    """Writes `config.json` and an empty root folder.

    Args:
      folder: the bundle; must exist.
    """
    (folder / "rootfs").mkdir()
    (folder / "config.json").write_text(json.dumps(_specification(), indent=1))


def box_options() -> BoxOptions:
    """What the box in the bundle is told."""
    site = SITE_INSIDE if _numpy_folders() else None
    return BoxOptions(site, memory_mib=memory_for_a_box())


def _specification() -> dict[str, Any]:
    sets = ("bounding", "effective", "inheritable", "permitted", "ambient")
    return {
        "ociVersion": "1.0.0",
        "hostname": "box",
        "root": {"path": "rootfs", "readonly": True},
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": box_command(base_python(), BOX_INSIDE),
            "env": [f"{name}={value}" for name, value in BOX_ENVIRONMENT.items()],
            "cwd": "/",
            "noNewPrivileges": True,
            "capabilities": {name: list(_CAPABILITIES) for name in sets},
        },
        "mounts": _mounts(),
        "linux": {
            "namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")]
        },
    }


def _mounts() -> list[dict[str, Any]]:
    mounts: list[dict[str, Any]] = [{"destination": "/proc", "type": "proc", "source": "proc"}]
    shown = [Path(path) for path in _LIBRARIES if os.path.exists(path)]
    binary = Path(base_python())
    prefix = Path(sys.base_prefix).resolve()
    if prefix == Path("/usr"):
        shown.append(binary)
    else:
        shown.append(prefix)
        if not binary.is_relative_to(prefix):
            shown.append(binary)
    mounts += [_read_only(path.resolve(), str(path)) for path in shown]
    mounts += [_read_only(path, f"{SITE_INSIDE}/{path.name}") for path in _numpy_folders()]
    return [*mounts, _read_only(BOX_FOLDER, BOX_INSIDE)]


def _read_only(source: Path, destination: str) -> dict[str, Any]:
    return {
        "destination": destination,
        "type": "bind",
        "source": str(source),
        "options": ["ro", "rbind"],
    }


def _numpy_folders() -> tuple[Path, ...]:
    """The package and the libraries that its wheel brings; nothing else beside them."""
    site = numpy_folder()
    if site is None:
        return ()
    return tuple(path for path in (Path(site, "numpy"), Path(site, "numpy.libs")) if path.is_dir())
