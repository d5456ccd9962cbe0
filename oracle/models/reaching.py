"""Key and client of a server, from an environment that people filled in by hand."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from arena.errors import UsageFault
from oracle.models.options import without_secrets


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
