"""Who signs in by OpenID Connect, and what that is worth: an account that was linked, or nothing.

The operator names a provider, and links identities to accounts: by what the provider calls somebody
(the issuer and the subject, https://openid.net/specs/openid-connect-core-1_0.html, 5.7), or by an
e-mail address that the provider has verified.  Streamlit speaks the protocol; its answer is claims
in a cookie that this server has signed.
"""

from __future__ import annotations

import os
import re
import secrets
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from arena.errors import UsageFault
from registry import Registry, naming
from registry.rights import Account, Role

COOKIE_SECRET = "pages.secret"
"""File of a home, of its owner alone: what cookies are signed with."""
FRESH = timedelta(hours=12)
"""For which somebody who signed in is known; the cookie itself would last for a month."""
_SKEW = timedelta(minutes=5)
MOST_TOKENS, WITHIN = 3, timedelta(hours=1)
"""That one account may make on the pages."""
_TEXTS = ("issuer", "client_id", "client_secret", "address")
_TABLES = ("subjects", "emails")
_LARGEST = 1 << 20
_SECRET = re.compile(r"[0-9a-f]{64}")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Unknown(Exception):
    """A visitor is nobody here; the message says what to do."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """A provider, and whom its identities are here.

    Attributes:
      issuer: address of the provider, as it writes it in its tokens.
      client_id: by which it knows this arena.
      client_secret: that it has given to it.
      address: of this arena, as browsers see it.
      subjects: names of accounts, by the provider's subjects.
      emails: the same by e-mail addresses in small letters.
    """

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    address: str
    subjects: Mapping[str, str]
    emails: Mapping[str, str]

    @property
    def encrypted(self) -> bool:
        """Whether browsers come by HTTPS."""
        return self.address.startswith("https:")

    def as_secrets(self, cookie_secret: str) -> dict[str, Any]:
        """What Streamlit has to be told."""
        metadata = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        return {
            "auth": {
                "redirect_uri": f"{self.address}/oauth2callback",
                "cookie_secret": cookie_secret,
                "client_id": self.client_id,
                "client_secret": self.client_secret,
                "server_metadata_url": metadata,
                "client_kwargs": {"scope": "openid email"},
            }
        }

    def name_of(self, claims: Mapping[str, Any], now: datetime) -> str:
        """The name of the account that somebody's claims are linked to.

        Args:
          claims: of an ID token, as they were when it was verified.
          now: the moment.

        Raises:
          Unknown: none; or they are another provider's, for another client, or from long ago.
        """
        audience = claims.get("aud")
        meant = self.client_id in (audience if isinstance(audience, list) else [audience])
        if claims.get("iss") != self.issuer or not meant:
            raise Unknown("you are signed in at another provider than this arena asks: sign out")
        since = claims.get("iat")
        if isinstance(since, bool) or not isinstance(since, (int, float)):
            raise Unknown("the provider does not say when you signed in: sign in again")
        if not -_SKEW.total_seconds() <= now.timestamp() - since <= FRESH.total_seconds():
            raise Unknown("you signed in some time ago: sign in again")
        subject = claims.get("sub")
        if isinstance(subject, str) and subject in self.subjects:
            return self.subjects[subject]
        email = verified_email(claims)
        if email and email in self.emails:
            return self.emails[email]
        raise Unknown(
            "no account here is linked to you, so signing in gives you no rights: send what stands "
            "below to whoever runs this arena"
        )


def verified_email(claims: Mapping[str, Any]) -> str:
    """The address that the provider has verified, in small letters; "" where there is none."""
    email = claims.get("email")
    # Anything but true, the word "true" too, is no promise of the provider's.
    good = isinstance(email, str) and claims.get("email_verified") is True and email.isascii()
    return str(email).lower() if good else ""


def read(path: Path) -> SignIn:
    """What the operator has written down.

    Args:
      path: a file of TOML with issuer, client_id, client_secret and address, and the tables
        subjects and emails, of accounts by name.

    Raises:
      UsageFault: it cannot be read, others can read it too, or something in it means nothing.
    """
    try:
        with path.open("rb") as opened:
            if os.fstat(opened.fileno()).st_mode & 0o077:
                raise UsageFault(f"{path} has a secret in it and others can read it: chmod 600")
            content = opened.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise UsageFault(f"{path} has more than {_LARGEST:,} bytes")
        said = tomllib.loads(content.decode())
    except OSError as error:
        raise UsageFault(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:  # neither TOML nor UTF-8
        raise UsageFault(f"{path} is no TOML: {error}") from error
    strange = sorted(said.keys() - {*_TEXTS, *_TABLES})
    if strange:
        raise UsageFault(f"{path} says {strange[0]!r:.60}, which means nothing here")
    texts = {name: _text(path, name, said.get(name)) for name in _TEXTS}
    texts["address"] = texts["address"].rstrip("/")
    for name in ("issuer", "address"):
        _check_address(path, name, texts[name])
    if urlsplit(texts["address"]).path:
        raise UsageFault(f"{path}: the pages are at the root of an address, without a path")
    subjects, emails = (_links(path, name, said.get(name, {})) for name in _TABLES)
    return SignIn(**texts, subjects=subjects, emails=_in_small_letters(path, emails))


def cookie_secret(home: Path) -> str:
    """What cookies of a home's pages are signed with: 256 random bits, drawn at first and kept.

    Raises:
      UsageFault: the file cannot be used, or others can read it too.
    """
    path = home / COOKIE_SECRET
    try:
        with suppress(FileExistsError):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with open(descriptor, "w", encoding="ascii") as fresh:
                fresh.write(secrets.token_hex(32))
        with path.open(encoding="ascii") as opened:
            if os.fstat(opened.fileno()).st_mode & 0o077:
                raise UsageFault(f"others can read {path}: remove it, and a new one is drawn")
            found = opened.read(1_000)
    except (OSError, ValueError) as error:
        raise UsageFault(f"{path} cannot be used: {error}") from error
    if not _SECRET.fullmatch(found):
        raise UsageFault(f"{path} is not what was drawn: remove it, and a new one is")
    return found


def account_of(
    sign_in: SignIn, registry: Registry, claims: Mapping[str, Any], now: datetime
) -> Account:
    """The account of somebody who signed in, where it is good now.

    Raises:
      Unknown: there is none, or it is shut or its time is over.
    """
    name = sign_in.name_of(claims, now)
    account = registry.account(name)
    if account is None:
        raise Unknown(f"the account {name!r}, to which you are linked, is not there: ask for it")
    if account.disabled:
        raise Unknown(f"the account {name!r} is disabled: ask whoever runs this arena")
    if account.expires is not None and account.expires <= now:
        raise Unknown(f"the time of the account {name!r} is over: ask whoever runs this arena")
    return account


def new_token(sign_in: SignIn, registry: Registry, claims: Mapping[str, Any], now: datetime) -> str:
    """Makes a token for the account of somebody who signed in; the one before fits no longer.

    Raises:
      Unknown: there is no such account, it is an operator's, or it has had enough of them.
    """
    account = account_of(sign_in, registry, claims, now)
    if account.role is Role.OPERATOR or not naming.is_author(account.name):
        raise Unknown("tokens of operators are made by the command line alone")
    made = registry.events(who=account.name, what="account.renewed", since=now - WITHIN)
    if len(made) >= MOST_TOKENS:
        raise Unknown(f"{len(made)} tokens were made within the last hour: come back later")
    own = registry.acting_as(account.name, "signed in on the pages")
    return own.renew_token(account.name, now=now)


def _text(path: Path, name: str, told: Any) -> str:
    if not isinstance(told, str) or not told.strip() or not told.isprintable():
        raise UsageFault(f"{path} does not say {name!r}")
    return told.strip()


def _check_address(path: Path, name: str, told: str) -> None:
    try:
        parts = urlsplit(told)
    except ValueError:
        parts = urlsplit("")
    safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if not safe or not parts.hostname or parts.query or parts.fragment or "@" in parts.netloc:
        raise UsageFault(f"{path}: {name} is no address that begins with https://")


def _links(path: Path, name: str, told: Any) -> dict[str, str]:
    good = isinstance(told, dict) and all(
        key and isinstance(one, str) and naming.is_author(one) for key, one in told.items()
    )
    if not good:
        raise UsageFault(f'{path}: [{name}] has a line for each identity: "..." = "ACCOUNT"')
    return dict(told)


def _in_small_letters(path: Path, emails: Mapping[str, str]) -> dict[str, str]:
    found = {email.lower(): name for email, name in emails.items()}
    if len(found) < len(emails) or not all(one.isascii() and "@" in one for one in found):
        raise UsageFault(f"{path}: [emails] has what is no address, or one of them twice")
    return found
