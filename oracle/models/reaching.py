"""Key and client of a server, from an environment that people filled in by hand."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar
from urllib.parse import urlsplit

from arena.errors import UsageFault
from oracle.models.protocol import Reply
from oracle.models.redaction import without_secrets
from oracle.models.retry import Lost

_BEGINNING = 80
_PASSWORD = re.compile("//[^/]*@")


class Closable(Protocol):
    """A client of a library."""

    def close(self) -> None:
        """Ends its connections."""


C = TypeVar("C", bound=Closable)


class Connected(Generic[C]):
    """What has a client, which is built at the first call, when the key is read."""

    def __init__(self) -> None:
        self._client: C | None = None
        self._lock = threading.Lock()

    def connect(self) -> C:
        """Builds the client, where there is none yet; no server is asked.

        Raises:
          MissingKey, MissingPackage: the environment lacks something.
        """
        with self._lock:
            if self._client is None:
                self._client = self._new_client()
            return self._client

    def close(self) -> None:
        """Ends its connections.  It can still be asked, and then opens others."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _new_client(self) -> C:
        raise NotImplementedError


def unreadable(
    error: Exception, keys: Iterable[str], text: str, counts: Reply | None = None
) -> Lost:
    """Of an answer that is no document of the protocol; `counts` as far as it tells its tokens."""
    said = without_secrets(str(error).partition("\n")[0], keys)[:200]
    begins = without_secrets(text, keys)[:_BEGINNING]
    told = f"; it begins with {begins!r}" if text else ""
    if text.lstrip().startswith("<"):
        told += " (a page for people: does the address lack its API's path, such as /v1?)"
    advice = "look at what answers at the model's address, then try again"
    return Lost(f"the server's answer cannot be read: {said}{told}", advice, counts)


def key_in(variables: Iterable[str]) -> str:
    """The first key that is set, without blanks around it; "" for none.

    Raises:
      UsageFault: no header can carry it.
    """
    for name in variables:
        key = os.environ.get(name, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise UsageFault(
                f"{name} holds a character that no key has (a dash or blank of another kind, "
                "copied along?): set it anew"
            )
        if key:
            return key
    return ""


def address_of(text: str, name: str) -> str:
    """A server's address, without blanks around it; "" for none.

    Args:
      text: as a user gave it.
      name: of where it was given.

    Raises:
      UsageFault: nobody can be reached there; it says what to write.
    """
    address = text.strip()
    wrong = _wrong_with(address) if address else ""
    if wrong:
        shown = _PASSWORD.sub("//***@", address)
        raise UsageFault(f"{name} is {shown!r}, which is no address of a server: {wrong}")
    return address


def _wrong_with(address: str) -> str:
    """What is wrong with an address, and what to write; "" for nothing."""
    if "://" not in address:
        return f"write the whole of it, such as http://{address}"
    try:
        there = urlsplit(address)
        host, port = there.hostname, there.port
    except ValueError:
        return "write host and port as in http://localhost:11434/v1, with a port of 1 to 65535"
    if there.scheme not in ("http", "https"):
        return "it must begin with http:// or https://"
    if not host or port == 0:
        return "write it with a host, and with a port of 1 to 65535 or none"
    return ""


@contextmanager
def reaching(model: str, keys: Iterable[str]) -> Iterator[None]:
    """Building a client: what the environment has wrong is the user's to mend.

    Raises:
      UsageFault: address, proxy or certificates cannot be used.
    """
    try:
        yield
    except Exception as error:  # the libraries' own kinds differ from version to version
        said = without_secrets(str(error).partition("\n")[0], keys)[:300]
        raise UsageFault(
            f"{model} cannot be reached as it is set up ({type(error).__name__}: {said}): look at "
            "its address, at HTTP_PROXY, HTTPS_PROXY and ALL_PROXY, and at SSL_CERT_FILE"
        ) from error
