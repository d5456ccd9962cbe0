"""What a server says when it does not answer, in words that a user can act on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from oracle.models.chat_completions import Refusal, read_refusal
from oracle.models.redaction import without_secrets

_LONGEST = 500
_LOOKED_AT = 20_000
_HIDDEN = re.compile(r"<(script|style|head)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_OWN_PATHS = re.compile(r"/(?:chat/completions|completions|models)(?:/.*)?")
"""Paths of the protocol's own: an address that ends before them has no path."""


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """An error that a server answered with.

    Attributes:
      refusal: as far as it can be understood; its status is 0 where none was told.
      said: the server's words, keys struck out.
      delay: seconds that it asks to wait; None where it does not.
      address: that was asked, "" where it does not matter.
      redirected: whether the question, or its key, was lost on the way there.
    """

    refusal: Refusal
    said: str
    delay: float | None = None
    address: str = ""
    redirected: bool = False

    @classmethod
    def of(
        cls,
        status: int,
        body: object,
        keys: Iterable[str],
        *,
        delay: float | None = None,
        address: str = "",
        redirected: bool = False,
    ) -> ErrorAnswer:
        """From the body of an answer, which may be anything at all.

        Args:
          status: of HTTP, or what the body tells instead.
          body: its JSON, or its text.
          keys: environment variables whose values are struck out.
          delay: that it asks to wait.
          address: that was asked.
          redirected: whether a redirect to it lost the question, or its key.
        """
        if isinstance(body, str):
            body = _plain(body)
        refusal = read_refusal(status, body, "no message")
        said = without_secrets(refusal.message, keys)[:_LONGEST].strip()
        return cls(refusal, said or "no message", delay, address, redirected)

    @property
    def reason(self) -> str:
        """Status and words."""
        status = f"{self.refusal.status}: " if self.refusal.status else "with an error: "
        return f"the server answered {status}{self.said}"

    @property
    def advice(self) -> str:
        """What to look at."""
        if self.refusal.no_credit:
            return "the account has no credit"
        there = urlsplit(self.address)
        host = there.netloc.rpartition("@")[2]  # without a password
        where = f"{there.scheme}://{host}{there.path}"
        if self.redirected:
            return f"the address only redirects, to {where}: give the one that it leads to"
        if self.refusal.status in (404, 405) and self.address:
            lacks = "; does it lack /v1?" if _OWN_PATHS.fullmatch(there.path) else ""
            return f"check the model's name and the address (asked was {where}{lacks})"
        return "check the key, the model's name and the request"


def _plain(text: str) -> str:
    """The words of a text that may be a page of HTML, on one line."""
    text = text[:_LOOKED_AT]
    if "<" in text:
        text = _TAG.sub(" ", _HIDDEN.sub(" ", text))
    return " ".join(text.split())
