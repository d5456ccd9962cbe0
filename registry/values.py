"""Facts about submissions, detached from any database session."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple


class Status(enum.StrEnum):
    """Where a version stands.  Versions are never deleted."""

    QUALIFIED = "qualified"
    """Plays in round robins and shows on leaderboards."""
    CANDIDATE = "candidate"
    """Scored by an oracle; stored so that every number has its source, but not an entrant."""
    QUARANTINED = "quarantined"
    """Its play could not be reproduced; kept, not trusted."""
    YANKED = "yanked"
    """Withdrawn by its author or the operator; its matches stay."""


@dataclass(frozen=True, slots=True)
class Parent:
    """One line of ancestry: which version, and how the child came from it."""

    digest: str
    relation: str


@dataclass(frozen=True, slots=True)
class Submission:
    """What is handed in.

    Attributes:
      game: name of the game.
      name: "author/name".
      kind: "native", "tabular", "neural", "python", "mixture" or "llm".
      payload: the canonical text of the policy (source, or JSON).
      status: qualified or candidate.
      description: one line or more, in the author's words (never trusted as markup).
      labels: short key-value pairs to filter by.
      provenance: author, year, source, licence, model, prompt and reply digests, tokens, cost...
        Anything that JSON can hold.
      parents: versions that it came from; they must be in the registry, or stand before it
        in the same `submit_many`.
      code_digest: digest of the normalised syntax tree for source, to spot clones; else "".
    """

    game: str
    name: str
    kind: str
    payload: str
    status: Status = Status.QUALIFIED
    description: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, object] = field(default_factory=dict)
    parents: tuple[Parent, ...] = ()
    code_digest: str = ""


class _Numbered:
    """What has a name, "author/name", and counts among those of that name."""

    __slots__ = ()
    name: str
    number: int

    @property
    def ref(self) -> str:
        """`author/name@number`, unique within the game."""
        return f"{self.name}@{self.number}"

    @property
    def author(self) -> str:
        """The part of the name before the slash."""
        return self.name.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Credit(_Numbered):
    """One name of a version, and where it stands under that name.

    Attributes:
      name: "author/name".
      number: counts the versions of that name from 1.
      status: withdrawing one name leaves the others as they are.
      status_reason: why it has that status.
      description: in the words of that author.
      created: when it was handed in under that name.
    """

    name: str
    number: int
    status: Status
    status_reason: str
    description: str
    created: datetime


@dataclass(frozen=True, slots=True)
class PolicyVersion(_Numbered):
    """A registered version, as it is seen under one of its names.

    `digest` is its identity; a name is a label.  Authors who hand in the same content share the
    version, its results and what is known of its origin (labels, provenance, parents); each has
    a name, a status and a description of their own.

    Attributes:
      credits: all its names, that of whoever was first at first.  Equality leaves them out: another
        author's name changes nothing of this one.
    """

    digest: str
    game: str
    name: str
    number: int
    kind: str
    payload: str = field(repr=False)
    status: Status
    status_reason: str
    description: str
    labels: Mapping[str, str]
    provenance: Mapping[str, object]
    parents: tuple[Parent, ...]
    code_digest: str
    created: datetime
    credits: tuple[Credit, ...] = field(default=(), compare=False, repr=False)

    @property
    def also(self) -> tuple[str, ...]:
        """References of the same content under other names that take part."""
        others = (one for one in self.credits if one.ref != self.ref)
        return tuple(one.ref for one in others if one.status is Status.QUALIFIED)


class Registered(NamedTuple):
    """What came of handing in a submission.

    Attributes:
      version: under the name of its author.
      created: False where the same content was there already.
      credited: whether the author got a name for it now; False where there was one, which keeps
        its number and status.
    """

    version: PolicyVersion
    created: bool
    credited: bool


@dataclass(frozen=True, slots=True)
class StatusChange:
    """One entry of a version's status history, oldest first; the first is its registration.

    `ref` is the name that it is about.
    """

    status: Status
    reason: str
    changed: datetime
    ref: str


@dataclass(frozen=True, slots=True)
class Alias:
    """A movable name for a version.

    Attributes:
      game: aliases of different games do not meet.
      name: without a slash: "champion".
      digest: the version that it points to.
      protected: whether it stays where it is unless its move is asked for explicitly.
      changed: when it was last set.
    """

    game: str
    name: str
    digest: str
    protected: bool
    changed: datetime


class Origin(enum.StrEnum):
    """By which door an author came."""

    OPERATOR = "operator"
    """By the command line: whoever may write to the registry."""
    PAGE = "page"
    """By the pages, where a token says who somebody is."""
    INVITE = "invite"
    """By an invitation of the operator's."""


@dataclass(frozen=True, slots=True)
class Author:
    """Who registers versions.

    Attributes:
      name: as it is written, the part of a version's name before the slash.
      skeleton: how a reader sees it (`registry.naming.skeleton`).
      has_token: whether a token was made; without one, nobody adds versions through the pages.
      created: when the first version was registered, or the token made.
      origin: by which door the author came.
    """

    name: str
    skeleton: str
    has_token: bool
    created: datetime
    origin: Origin


@dataclass(frozen=True, slots=True)
class Actor:
    """In whose name the registry is changed, for the audit log.

    Attributes:
      who: name of an account, "operator" for whoever can write to the registry, or "arena" for
        what the arena does by itself.
      detail: what else is known of them: a login name, an address.
    """

    who: str = "operator"
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of the audit log.

    Attributes:
      position: from 1, in the order in which entries were made.
      moment: when.
      who: name of an account, "operator" or "arena".
      what: one word, with dots: "account.disabled".
      subject: what it was done to: an account, a version's digest, a season.
      detail: what else there is to say.
    """

    position: int
    moment: datetime
    who: str
    what: str
    subject: str
    detail: str


@dataclass(frozen=True, slots=True)
class Spent:
    """What an author's submissions have cost.

    Attributes:
      submissions: how many there were.
      seconds: processor seconds that they used.
    """

    submissions: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Season:
    """A stretch of time in which all seeds follow from one secret key.

    The key is left out of `repr`.  `dataclasses.asdict` and `pickle` do not leave it out: neither
    belongs into anything that is published while the season is open.

    Attributes:
      number: from 1; 0 is the time before there were secrets, when seeds were public.
      commitment: 64 hexadecimal digits that fix the key and do not tell it
        (`registry.seasons.commitment_of`); "" for season 0.
      opened: when it began.
      closed: when its key was given up to be published; None while it is open.
      given: whether somebody chose the key, instead of its being drawn.
      key: 32 bytes; None for season 0.
    """

    number: int
    commitment: str
    opened: datetime
    closed: datetime | None
    given: bool
    key: bytes | None = field(repr=False)
