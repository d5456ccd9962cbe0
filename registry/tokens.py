"""What proves who somebody is: 192 random bits, of which the hash alone is stored.

So a copy of the registry adds nothing in anybody's name.  The hash is a plain BLAKE2b: a slow one
protects secrets that can be guessed, and these cannot.
"""

from __future__ import annotations

import enum
import hashlib
import re
import secrets

TOKEN_BYTES = 24
_DRAWN = re.compile(rf"[0-9a-f]{{{2 * TOKEN_BYTES}}}")
_FEWEST_DIGITS = 8
"""Of 16, in a secret; of 10^13 that are drawn, one has fewer."""


class Proof(bytes, enum.Enum):
    """What is hashed before a secret, so that one kind of it never passes for another."""

    TOKEN = b"policy-arena author token\n"
    """Of an account."""
    INVITE = b"policy-arena invitation\n"
    """A code with which an account is made."""


def drawn() -> str:
    """A new secret, 48 hexadecimal digits."""
    return secrets.token_hex(TOKEN_BYTES)


def looks_drawn(secret: str) -> bool:
    """Whether a secret that somebody else made is as `drawn` would have made it.

    Nobody can see that a secret was drawn; what a careless program sends in its place (zeros, a
    word, one digit after the other again and again) is seen.
    """
    repeats = (secret + secret).find(secret, 1) < len(secret)
    return bool(_DRAWN.fullmatch(secret)) and len(set(secret)) >= _FEWEST_DIGITS and not repeats


def hashed(secret: str, proof: Proof = Proof.TOKEN) -> str:
    """What is stored of a secret: 64 hexadecimal digits.  Blanks around it do not count."""
    content = proof.value + secret.strip().encode(errors="surrogatepass")
    return hashlib.blake2b(content, digest_size=32).hexdigest()
