"""Addresses of registries as a home keeps them: without secrets, compared by what they mean."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from arena.errors import UsageFault
from registry import address

_POSTGRESQL_PORT = 5432


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise UsageFault(
            f"{url!r} is no address of a registry; one looks like postgresql://host/name"
        ) from None
    if parsed.get_backend_name() == "sqlite" and parsed.database:
        # A file that is named from the current folder would be another one tomorrow.
        parsed = parsed.set(database=str(Path(parsed.database).resolve()))
    return parsed


def absolute(url: str) -> str:
    """The address with everything in it, to open it: a file is named by its whole path.

    Raises:
      UsageFault: it is no URL.
    """
    return _parsed(url).render_as_string(hide_password=False)


def without_secrets(url: str) -> str:
    """The address as it may be kept in a file and shown.

    Raises:
      UsageFault: it is no URL.
    """
    return address.without_secrets(_parsed(url))


def same_registry(one: str, other: str) -> bool:
    """Whether two addresses lead to one database, whoever asks and by whatever driver."""
    return _place(_parsed(one)) == _place(_parsed(other))


def _place(url: URL) -> tuple[str, str, int, str]:
    backend = url.get_backend_name()
    host = url.host or str(url.query.get("host", ""))
    port = url.port or int(str(url.query.get("port", _POSTGRESQL_PORT)) or 0)
    return (backend, host.lower(), 0 if backend == "sqlite" else port, url.database or "")


def file_of(url: str) -> Path | None:
    """The file that an address names; None for a server."""
    parsed = _parsed(url)
    if parsed.get_backend_name() != "sqlite" or not parsed.database:
        return None
    return Path(parsed.database)
