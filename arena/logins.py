"""Tokens of servers, as `arena login` keeps them: one file that its owner alone can read."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from arena.errors import UsageFault
from registry.tokens import drawn

TOKEN = "ARENA_TOKEN"
"""Environment variable that comes before the file."""


def is_address(home: object) -> bool:
    """Whether a home is an arena behind an address, and no folder."""
    return isinstance(home, str) and home.lower().startswith(("http://", "https://"))


def address_of(url: str) -> str:
    """The address without what makes no difference.

    Raises:
      UsageFault: it is none of a server.
    """
    try:
        parts = urlsplit(url.strip())
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        parts, port = urlsplit(""), ""
    strange = parts.username or parts.password or parts.query or parts.fragment
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname or strange:
        raise UsageFault(
            f"{url!r} is no address of an arena; one looks like https://arena.example.org, and a "
            "token is never part of it"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme.lower()}://{host}{port}{parts.path.rstrip('/')}"


def file() -> Path:
    """Where tokens are kept."""
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "policy-arena" / "logins.json"


def token_for(url: str) -> str | None:
    """The token for a server: of the environment, else of the file; None where there is none.

    Raises:
      UsageFault: the file cannot be read, or others can read it too.
    """
    return os.environ.get(TOKEN) or _kept().get(address_of(url))


def keep(url: str, token: str) -> Path:
    """Keeps a token for a server, "" to forget it; returns the file.

    Raises:
      UsageFault: the file cannot be written.
    """
    return _changed(address_of(url), token)


def bring(url: str, code: str, name: str) -> str:
    """The token that an account shall have which is made with an invitation at a server.

    It is kept before it is sent: who is interrupted asks again with the same one, and is given
    the account that was made.

    Raises:
      UsageFault: the file cannot be read or written.
    """
    key = _errand(url, code, name)
    token = _kept().get(key) or drawn()
    _changed(key, token)
    return token


def brought(url: str, code: str, name: str) -> None:
    """Forgets what `bring` kept: the account is there and its token was shown, or never will be.

    Raises:
      UsageFault: the file cannot be read or written.
    """
    _changed(_errand(url, code, name), "")


def _errand(url: str, code: str, name: str) -> str:
    """What a token that is brought is kept under: no address, and nothing of the code."""
    about = hashlib.blake2b(f"{code.strip()} {name}".encode(errors="replace"), digest_size=16)
    return f"{address_of(url)}#{about.hexdigest()}"


def _changed(key: str, token: str) -> Path:
    """Keeps a token under a key, "" to forget it; returns the file."""
    path = file()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(path.with_name(f"{path.name}.lock"), "w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)  # two that change it at once lose nothing
            kept = {**_kept(), key: token}
            kept = {one: told for one, told in kept.items() if told}
            descriptor, name = tempfile.mkstemp(dir=path.parent)  # of mode 0600 from the beginning
            with open(descriptor, "w", encoding="utf-8") as fresh:
                fresh.write(json.dumps(kept, indent=2) + "\n")
            Path(name).replace(path)
    except OSError as error:
        raise UsageFault(f"{path} cannot be written: {error.strerror}") from error
    return path


def _kept() -> Mapping[str, str]:
    path = file()
    try:
        if path.stat().st_mode & 0o077:
            raise UsageFault(f"{path} has tokens in it and others can read it: chmod 600 {path}")
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageFault(f"{path} cannot be read ({error}): make it anew with `arena login`") from (
            error
        )
    known = found if isinstance(found, dict) else {}
    return {str(url): str(token) for url, token in known.items()}
