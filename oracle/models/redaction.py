"""Words of servers before they are told or kept: some repeat a key, or command terminals."""

from __future__ import annotations

import os
from collections.abc import Iterable

from registry.display import shown

SECRETS = ("OPENAI_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY")
"""Environment variables with keys, which no error of a call repeats."""
_SHORTEST_SECRET = 8
"""Characters.  Servers of one's own are given keys such as "x", which stands in many a word."""


def fit(text: str) -> str:
    """Words of a server, fit to be told and kept: no key is in them, and nothing unseen."""
    return shown(without_secrets(text, SECRETS))


def without_secrets(text: str, variables: Iterable[str]) -> str:
    """A text with the values of these environment variables struck out, but for short ones.

    Servers and proxies have been seen to repeat a key in their error about it.
    """
    for name in variables:
        secret = os.environ.get(name, "").strip()
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return text
