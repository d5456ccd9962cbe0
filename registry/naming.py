"""How things in the registry may be called, what identifies them, and what a reference means."""

from __future__ import annotations

import enum
import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from registry.errors import MalformedName, MalformedSubmission, NameRefused
from registry.values import Status, Submission

MIN_PREFIX = 6
"""Fewest hexadecimal digits by which a version can be called."""
DIGEST_DIGITS = 32
MAX_LABEL_CHARS = 256
MAX_LABELS = 64
MAX_PROVENANCE_CHARS = 1 << 18
"""Of its JSON; lists of policies carry it."""
MAX_DESCRIPTION_CHARS = 20_000
MAX_REASON_CHARS = 4_000

_PART = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}"
_NAME = re.compile(rf"{_PART}/{_PART}")
_NUMBERED = re.compile(rf"({_PART}/{_PART})@([1-9][0-9]{{0,8}})")
_BARE = re.compile(_PART)
_HEX = re.compile(rf"[0-9a-f]{{{MIN_PREFIX},{DIGEST_DIGITS}}}")
_WORD = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_RELATION = re.compile(r"[a-z][a-z0-9_-]{0,63}")

_RULE = (
    "each part starts with a letter or digit, goes on with letters, digits and . _ + - , "
    "and has at most 64 characters"
)


RESERVED_AUTHORS = frozenset(
    {
        *("house", "starter", "csro", "demo", "check", "arena", "policy-arena"),
        *("operator", "admin", "administrator", "moderator", "referee", "root", "system"),
        *("official", "anonymous"),
    }
)
"""Authors that are the arena's own, or that would speak for it.  Whatever reads like one of them
is refused as well."""

_READS_AS = str.maketrans(
    {
        **{"0": "o", "1": "l", "i": "l", "|": "l", "5": "s", "2": "z", "8": "b"},
        **{"m": "rn", "w": "vv"},
        **dict.fromkeys("._+-"),
    }
)
_SEPARATORS = re.compile(r"[._+-]")


class RefForm(enum.Enum):
    """The ways of writing a reference."""

    NAME = enum.auto()
    NUMBERED = enum.auto()
    BARE = enum.auto()
    """An alias, a digest, or a digest's beginning."""


class ParsedRef(NamedTuple):
    """A reference taken apart: `number` is 0 unless the form is NUMBERED."""

    form: RefForm
    text: str
    number: int


def digest_of(game: str, kind: str, payload: str) -> str:
    """Identity of a policy: 32 hexadecimal digits (BLAKE2b, 128 bits) of its content."""
    identity = hashlib.blake2b(
        "\x1f".join(("policy", game, kind, "")).encode(), digest_size=DIGEST_DIGITS // 2
    )
    identity.update(payload.encode())
    return identity.hexdigest()


def check_name(name: str) -> str:
    """Returns the name where it is a well-formed "author/name".

    Raises:
      MalformedName: it is not; the message says how names are written.
    """
    if not _NAME.fullmatch(name):
        raise MalformedName(
            f"{_quoted(name)} is not a policy's name: write AUTHOR/NAME, as in ada/copycat; {_RULE}"
        )
    return name


def is_numbered_name(name: str, number: int) -> bool:
    """Whether both together can be a version's author/name@number."""
    return bool(_NUMBERED.fullmatch(f"{name}@{number}"))


def check_alias(alias: str) -> str:
    """Returns the alias where it is well formed and cannot be mistaken for a digest.

    Raises:
      MalformedName: it is not.
    """
    if not _BARE.fullmatch(alias):
        raise MalformedName(f"{_quoted(alias)} is not an alias: one word, no slash; {_RULE}")
    if _HEX.fullmatch(alias.lower()):
        raise MalformedName(f"the alias {_quoted(alias)} would read as the beginning of a digest")
    return alias


def skeleton(text: str) -> str:
    """What a reader sees: texts that are easily taken for one another have the same skeleton.

    Case makes no difference; 0 and o read alike, 1, i, l and |, 5 and s, 2 and z, 8 and b, rn and
    m, vv and w; the separators . _ + - are not there.  Each character is replaced by itself, so
    that the skeleton of two texts one after the other is that of both, one after the other.

    Names are ASCII by their pattern: letters of other scripts, which are confused far more
    easily (Unicode Technical Standard 39, whose idea this is), cannot be in one.
    """
    return text.casefold().translate(_READS_AS)


_RESERVED = {skeleton(author): author for author in sorted(RESERVED_AUTHORS)}


def author_of(name: str) -> str:
    """The part of an author/name before the slash."""
    return name.partition("/")[0]


def check_author(author: str) -> str:
    """Returns the author where it is well formed.

    Raises:
      MalformedName: it is not.
    """
    if not is_author(author):
        raise MalformedName(
            f"{_quoted(author)} is not an author's name: one word, no slash; {_RULE}"
        )
    return author


def check_roster(authors: Sequence[str]) -> Sequence[str]:
    """Returns the authors where all are well formed and none is there twice.

    Raises:
      MalformedName: one is not well formed.
      NameRefused: one is there twice.
    """
    for author in authors:
        check_author(author)
    twice = [author for author, count in Counter(authors).items() if count > 1]
    if twice:
        raise NameRefused(f"{_quoted(twice[0])} is there twice")
    return authors


def is_author(text: str) -> bool:
    """Whether this is well formed as an author's name."""
    return bool(_BARE.fullmatch(text))


def refuse_reserved(author: str) -> None:
    """Does nothing for an author that is not the arena's own and does not read like one.

    Raises:
      NameRefused: it is.
    """
    own = _RESERVED.get(skeleton(author))
    if own is not None:
        raise NameRefused(
            f"the author {_quoted(author)} is the arena's own; call yourself otherwise"
            if own == author
            else f"the author {_quoted(author)} reads like {own!r}, which is the arena's own; "
            "call yourself otherwise"
        )


def refuse_likeness(author: str, others: Collection[str]) -> None:
    """Does nothing for an author who is one of the others, or reads like none of them.

    Args:
      author: who wants to register something.
      others: authors that there are.

    Raises:
      NameRefused: one of the others is spelled differently and reads alike.
    """
    if author in others:
        return
    own = skeleton(author)
    for other in sorted(others):
        if skeleton(other) == own:
            raise NameRefused(
                f"the author {_quoted(author)} would be taken for {other!r}, who is here already: "
                f"write {other!r} if that is you, or call yourself otherwise"
            )


def refuse_reserved_alias(alias: str) -> None:
    """Does nothing for an alias that cannot be taken for a policy of a reserved author.

    Raises:
      NameRefused: it, or its first word, reads like one: "House", "house-greenberg".
    """
    for part in (alias, _SEPARATORS.split(alias)[0]):
        own = _RESERVED.get(skeleton(part))
        if own is not None:
            raise NameRefused(
                f"the alias {_quoted(alias)} would be taken for a policy of {own!r}, which is the "
                "arena's own; choose another word"
            )


def parse_ref(ref: str) -> ParsedRef:
    """Takes a reference apart.

    Raises:
      MalformedName: it is none of author/name, author/name@number, an alias, a digest or the
        beginning of one.
    """
    if numbered := _NUMBERED.fullmatch(ref):
        return ParsedRef(RefForm.NUMBERED, numbered[1], int(numbered[2]))
    if _NAME.fullmatch(ref):
        return ParsedRef(RefForm.NAME, ref, 0)
    if _BARE.fullmatch(ref):
        return ParsedRef(RefForm.BARE, ref, 0)
    raise MalformedName(
        f"{_quoted(ref)} does not refer to a policy: write AUTHOR/NAME, AUTHOR/NAME@NUMBER, an "
        f"alias, or at least {MIN_PREFIX} digits of a digest"
    )


def digest_prefix(text: str) -> str | None:
    """The text in lower case where it can be a digest or the beginning of one, else None."""
    lowered = text.lower()
    return lowered if _HEX.fullmatch(lowered) else None


def check_submission(submission: Submission) -> None:
    """Refuses what could not be stored, or not be found again, on either database.

    Raises:
      MalformedName: the name is not well formed.
      MalformedSubmission: another field is not.
    """
    check_name(submission.name)
    _check_word("game", submission.game)
    _check_word("kind", submission.kind)
    if submission.status not in (Status.QUALIFIED, Status.CANDIDATE):
        raise MalformedSubmission(
            f"{submission.name}: a version enters as qualified or candidate, "
            f"not as {submission.status}"
        )
    _check_text(submission.name, "payload", submission.payload, None)
    _check_text(submission.name, "description", submission.description, MAX_DESCRIPTION_CHARS)
    _check_text(submission.name, "code digest", submission.code_digest, MAX_LABEL_CHARS)
    _check_labels(submission.name, submission.labels)
    for parent in submission.parents:
        if not _RELATION.fullmatch(parent.relation):
            raise MalformedSubmission(
                f"{submission.name}: {_quoted(parent.relation)} is not a relation to a parent: "
                "one word in lower case, as in refined-from"
            )
    plain_provenance(submission)


def check_reason(reason: str) -> str:
    """Returns the reason of a status change where it can be stored.

    Raises:
      MalformedSubmission: it cannot.
    """
    _check_text("status", "reason", reason, MAX_REASON_CHARS)
    return reason


def plain_provenance(submission: Submission) -> dict[str, object]:
    """The provenance as plain JSON values, keys sorted, so that equal ones are stored alike.

    Raises:
      MalformedSubmission: JSON cannot hold it (NaN, a date, ...), or a database cannot.
    """
    name = submission.name
    try:
        text = json.dumps(dict(submission.provenance), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise MalformedSubmission(
            f"{name}: its provenance cannot be written as JSON: {error}"
        ) from error
    if len(text) > MAX_PROVENANCE_CHARS:
        raise MalformedSubmission(
            f"{name}: its provenance has {len(text):,} characters as JSON; at most "
            f"{MAX_PROVENANCE_CHARS:,} are kept"
        )
    if "\\u0000" in text or "\\ud" in text:
        _check_leaves(name, json.loads(text))
    plain: dict[str, object] = json.loads(text)
    return plain


def _check_leaves(name: str, value: object) -> None:
    if isinstance(value, str):
        _check_text(name, "provenance", value, None)
    elif isinstance(value, list):
        for item in value:
            _check_leaves(name, item)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_leaves(name, key)
            _check_leaves(name, item)


def _check_labels(name: str, labels: Mapping[str, str]) -> None:
    if len(labels) > MAX_LABELS:
        raise MalformedSubmission(
            f"{name}: it has {len(labels):,} labels; at most {MAX_LABELS} are kept"
        )
    for key, value in labels.items():
        if not _BARE.fullmatch(key):
            raise MalformedSubmission(f"{name}: {_quoted(key)} is not a label's key; {_RULE}")
        _check_text(name, f"label {key}", value, MAX_LABEL_CHARS)


def _check_word(field: str, value: str) -> None:
    if not _WORD.fullmatch(value):
        raise MalformedSubmission(
            f"{_quoted(value)} is not a {field}: one word in lower case of at most 32 characters"
        )


def _check_text(name: str, field: str, value: str, limit: int | None) -> None:
    if limit is not None and len(value) > limit:
        raise MalformedSubmission(
            f"{name}: its {field} has {len(value):,} characters; at most {limit:,} are kept"
        )
    if "\0" in value:
        raise MalformedSubmission(f"{name}: its {field} contains a NUL character")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise MalformedSubmission(
            f"{name}: its {field} is not valid Unicode at character {error.start}"
        ) from error


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
