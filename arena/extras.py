"""Packages that only some commands need: how to install them where this program runs."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_BY_MAKE = {"rl": "setup-rl"}
"""Extras that the Makefile installs into the checkout's own environment, by target."""


def install_command(extra: str, root: Path = _ROOT, python: str = sys.executable) -> str:
    """The command that installs an extra of this package, quoted for a shell.

    In a checkout it is installed from there, because no index need have this package; `make` does
    it where the environment is the one that `make` made.

    Args:
      extra: its name in pyproject.toml.
      root: folder that the packages lie in.
      python: the interpreter that lacks it.
    """
    checkout = (root / "pyproject.toml").is_file() and (root / "Makefile").is_file()
    if checkout and extra in _BY_MAKE and Path(python).is_relative_to(root / ".venv"):
        return f"make -C {shlex.quote(str(root))} {_BY_MAKE[extra]}"
    what = f"-e {shlex.quote(f'{root}[{extra}]')}" if checkout else f"'policy-arena[{extra}]'"
    return f"{shlex.quote(python)} -m pip install {what}"
