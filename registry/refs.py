"""From a reference to the version that it means."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from sqlmodel import Session, col, select

from registry.errors import AmbiguousRef, UnknownPolicy
from registry.naming import RefForm, digest_prefix, parse_ref
from registry.rows import fetch_by_digest, fetch_each, legible
from registry.schema import AliasRow, VersionRow
from registry.values import PolicyVersion, Status

_WITHDRAWN = (Status.YANKED.value, Status.QUARANTINED.value)
_SHOWN = 10
"""Candidates that the message about an ambiguous reference lists."""
_SUGGESTED = 3


def resolve(session: Session, game: str | None, ref: str) -> PolicyVersion:
    """The version that a reference means, in one game or (None) in whichever has it.

    A name without a number means its newest version that is not withdrawn, or its newest where
    all are.  A word is an alias first, then the beginning of a digest.

    Raises:
      MalformedName: it is not written as a reference.
      UnknownPolicy: nothing goes by it.
      AmbiguousRef: several versions do.
      RegistryCorrupt: what it means is not what was registered.
    """
    with legible(session):
        digests = _digests(session, game, ref)
        if not digests:
            raise _unknown(session, game, ref)
    found = fetch_each(session, digests)
    if len(found) > 1:
        raise _ambiguous(ref, found)
    return found[0]


def _digests(session: Session, game: str | None, ref: str) -> list[str]:
    parsed = parse_ref(ref)
    if parsed.form is RefForm.NUMBERED:
        return _numbered(session, game, parsed.text, parsed.number)
    if parsed.form is RefForm.NAME:
        return _newest(session, game, parsed.text)
    return _aliased(session, game, parsed.text) or _by_prefix(session, game, parsed.text)


def _numbered(session: Session, game: str | None, name: str, number: int) -> list[str]:
    statement = select(VersionRow.digest).where(
        col(VersionRow.name) == name, col(VersionRow.number) == number
    )
    if game is not None:
        statement = statement.where(col(VersionRow.game) == game)
    return list(session.exec(statement))


def _newest(session: Session, game: str | None, name: str) -> list[str]:
    statement = select(VersionRow.game, VersionRow.number, VersionRow.status, VersionRow.digest)
    statement = statement.where(col(VersionRow.name) == name)
    if game is not None:
        statement = statement.where(col(VersionRow.game) == game)
    newest: dict[str, tuple[bool, int, str]] = {}
    for in_game, number, status, digest in session.exec(statement):
        standing = (status not in _WITHDRAWN, number, digest)
        newest[in_game] = max(newest.get(in_game, standing), standing)
    return [digest for _, _, digest in newest.values()]


def _aliased(session: Session, game: str | None, alias: str) -> list[str]:
    statement = select(AliasRow.digest).where(col(AliasRow.name) == alias)
    if game is not None:
        statement = statement.where(col(AliasRow.game) == game)
    return list(session.exec(statement))


def _by_prefix(session: Session, game: str | None, text: str) -> list[str]:
    prefix = digest_prefix(text)
    if prefix is None:
        return []
    # A range, and not LIKE: PostgreSQL uses no index for LIKE in most locales.
    statement = select(VersionRow.digest).where(
        col(VersionRow.digest) >= prefix, col(VersionRow.digest) < prefix + "g"
    )
    if game is not None:
        statement = statement.where(col(VersionRow.game) == game)
    return list(session.exec(statement.order_by(col(VersionRow.digest)).limit(_SHOWN + 1)))


def _unknown(session: Session, game: str | None, ref: str) -> UnknownPolicy:
    place = "in the registry" if game is None else f"in {game}"
    message = f"there is no policy {ref!r} {place}"
    elsewhere = [] if game is None else _digests(session, None, ref)
    near = _suggestions(session, game, ref)
    if elsewhere:
        games = sorted({found.game for found in fetch_by_digest(session, elsewhere).values()})
        message += f" (there is one in {' and '.join(games)})"
    elif near:
        message += f"; did you mean {' or '.join(near)}?"
    else:
        message += "; `arena list` shows what there is"
    return UnknownPolicy(message, ref, near)


def _suggestions(session: Session, game: str | None, ref: str) -> tuple[str, ...]:
    """Names like the one given, by the whole name or by its part after the slash."""
    names = select(VersionRow.name).distinct()
    aliases = select(AliasRow.name)
    if game is not None:
        names = names.where(col(VersionRow.game) == game)
        aliases = aliases.where(col(AliasRow.game) == game)
    spelled: dict[str, list[str]] = {}
    for name in sorted({*session.exec(names), *session.exec(aliases)}):
        for form in {name.lower(), name.partition("/")[2].lower()} - {""}:
            spelled.setdefault(form, []).append(name)
    wanted, _, number = ref.lower().partition("@")
    near = _like(wanted, spelled)
    if wanted.partition("/")[2]:
        near += _like(wanted.partition("/")[2], spelled)
    exact = [name for name in near if number and name.lower() == wanted]
    return tuple(dict.fromkeys(exact + near))[:_SUGGESTED]


def _like(word: str, spelled: dict[str, list[str]]) -> list[str]:
    forms = difflib.get_close_matches(word, spelled, n=_SUGGESTED, cutoff=0.7)
    return [name for form in forms for name in spelled[form]]


def _ambiguous(ref: str, found: Collection[PolicyVersion]) -> AmbiguousRef:
    shown = tuple(
        f"{version.ref} of {version.game} ({version.digest[:12]})"
        for version in sorted(found, key=lambda version: version.digest)
    )[:_SHOWN]
    more = ", and more" if len(found) > _SHOWN else ""
    return AmbiguousRef(
        f"{ref!r} could be any of {', '.join(shown)}{more}; give the game, or more of the digest",
        ref,
        shown,
    )
