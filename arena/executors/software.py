"""Which software decides how a match goes, as one digest: machines that share work must agree."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

_ENGINES = ("numpy", "open_spiel")
_OURS = ("arena", "registry", "sandbox")


@cache
def software() -> str:
    """Python, the engines and our own code, as text that is short and says what differs.

    Code is told apart by its contents: a checkout has no version of its own between two releases.
    """
    engines = " ".join(f"{name} {version(name)}" for name in _ENGINES)
    return f"Python {platform.python_version()}, {engines}, policy-arena {_digest()}"


def _digest() -> str:
    found = hashlib.blake2b(digest_size=8)
    for package in _OURS:
        spec = find_spec(package)
        assert spec is not None and spec.origin is not None
        folder = Path(spec.origin).parent
        for path in sorted(folder.rglob("*.py")):
            found.update(f"{package}/{path.relative_to(folder).as_posix()}\0".encode())
            found.update(path.read_bytes())
            found.update(b"\0")
    return found.hexdigest()
