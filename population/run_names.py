"""What a run can be called: its policies are called by it, too."""

from __future__ import annotations

import re

from arena.errors import UsageFault

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,47}")
_HEX = re.compile(r"[0-9a-f]{6,32}")


def check_run_name(name: str) -> str:
    """Returns the name where policies can be called by it.

    Raises:
      UsageFault: they cannot.
    """
    if not _NAME.fullmatch(name) or _HEX.fullmatch(name.lower()):
        raise UsageFault(
            f"{name!r} cannot name a run: start with a letter or digit, go on with letters, "
            "digits and . _ + - (at most 48), and let it not read as the beginning of a digest"
        )
    return name
