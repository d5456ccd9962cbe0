"""The arena's secrets: seeds follow from the key of a season, so that nobody can foretell them.

While a season is open, its key is known to whoever can read the registry, and its commitment to
everybody.  When it is closed its key is published, and everybody can check two things: that the
key is the one that was committed to, and that the seeds of the season's matches follow from it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import replace
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlmodel import Session, col, select

from registry.errors import MalformedKey, RegistryCorrupt, SeasonConflict, UnknownSeason
from registry.events import note
from registry.part import Part
from registry.rows import legible, place
from registry.schema import SeasonRow
from registry.values import Season

KEY_BYTES = 32
COMMITMENT_PREFIX = b"policy-arena season key\n"
"""Stands before the key in what is hashed, so that no other use of the key gives the same hash."""

_BEFORE = datetime(1970, 1, 1, tzinfo=UTC)
PUBLIC_SEEDS = Season(0, "", _BEFORE, _BEFORE, given=False, key=None)
"""The time before there were secrets: seeds followed from public values.  Never stored."""


def commitment_of(key: bytes) -> str:
    """What is published of a key before the key itself is: 64 hexadecimal digits.

    The BLAKE2b hash (RFC 7693, unkeyed, 256 bits) of `COMMITMENT_PREFIX` and the key, 24 + 32
    bytes.  It tells nothing of a key that was drawn, and nobody finds a second key that has it.
    `README.md` beside this file has a shell command that computes it.

    Args:
      key: 32 bytes.

    Raises:
      MalformedKey: it is not that.
    """
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        found = f"{len(key)} bytes" if isinstance(key, bytes) else f"a {type(key).__name__}"
        raise MalformedKey(f"a season's key is {KEY_BYTES} bytes, this is {found}")
    return hashlib.blake2b(COMMITMENT_PREFIX + key, digest_size=32).hexdigest()


class Seasons(Part):
    """Which secret is in force, and which ones were."""

    __slots__ = ()

    def current_season(self) -> Season:
        """The open season; where there is none, one with a key that is drawn now.

        Processes that ask at once get the same one.

        Raises:
          RegistryReadOnly: there is none, and none can be stored.
          RegistryCorrupt: its key does not fit its commitment.
        """
        with self.database.reading() as session:
            season = _open_season(session)
        if season is not None:
            return season
        with self.database.writing() as session:
            return _open_season(session) or self._begin(session, secrets.token_bytes(KEY_BYTES))

    def open_first_season(self, key: bytes) -> Season:
        """Opens the first season with a given key, so that what is played can be repeated.

        Where the open season has this key already, it is returned as it is.

        Args:
          key: 32 bytes.  Whoever chooses one that can be guessed has no secret.

        Raises:
          MalformedKey: it is not 32 bytes.
          SeasonConflict: there are seasons, and the open one has another key.
        """
        commitment = commitment_of(key)
        with self.database.reading() as session:
            season = _open_season(session)
        if season is None:
            with self.database.writing() as session:
                season = _open_season(session) or self._begin(session, key, given=True)
        if season.key is None or not hmac.compare_digest(season.key, key):
            raise SeasonConflict(
                f"season {season.number} of the registry {self.database.where} has another key "
                f"(its commitment is {season.commitment[:16]}..., that of the key that was given "
                f"{commitment[:16]}...): leave the key out, or use another home"
            )
        return season

    def season(self, number: int) -> Season:
        """A season by its number; 0 is the time when seeds were public.

        Raises:
          UnknownSeason: there is none of that number.
          RegistryCorrupt: its key does not fit its commitment.
        """
        if number == 0:
            return PUBLIC_SEEDS
        with self.database.reading() as session, legible(session):
            row = session.get(SeasonRow, number)
            if row is None:
                raise UnknownSeason(
                    f"the registry {self.database.where} has no season {number}; its last one is "
                    f"{_last_number(session)}"
                )
            return _season(session, row)

    def seasons(self) -> tuple[Season, ...]:
        """All seasons that have a key (so without number 0), oldest first.

        Raises:
          RegistryCorrupt: a key does not fit its commitment.
        """
        with self.database.reading() as session, legible(session):
            found = session.exec(select(SeasonRow).order_by(col(SeasonRow.number))).all()
            return tuple(_season(session, row) for row in found)

    def reveal_season(self) -> tuple[Season, Season]:
        """Closes the open season and opens the next, whose key is drawn now, in one transaction.

        Returns:
          The closed season, whose key may now be published, and the one that is open.

        Raises:
          UnknownSeason: no season was ever opened.
        """
        with self.database.writing() as session:
            return self._turn(session)

    def _turn(self, session: Session) -> tuple[Season, Season]:
        """Closes the open season and opens the next, in somebody's transaction.

        Raises:
          UnknownSeason: no season was ever opened.
        """
        closing = _open_season(session)
        if closing is None:
            raise UnknownSeason(
                f"the registry {self.database.where} has no open season that could be "
                "revealed: the first one opens when a match is played"
            )
        opened = self._begin(session, secrets.token_bytes(KEY_BYTES))
        change = sa.update(SeasonRow).where(col(SeasonRow.number) == closing.number)
        session.execute(change.values(closed=opened.opened))
        note(session, self.actor, "season.revealed", [(str(closing.number), "")])
        return replace(closing, closed=opened.opened), opened

    def _begin(self, session: Session, key: bytes, *, given: bool = False) -> Season:
        number = _last_number(session) + 1
        if number == 1:
            self.database.hide_from_others()
        row = SeasonRow(
            number=number,
            commitment=commitment_of(key),
            opened=datetime.now(UTC),
            closed=None,
            given=given,
            key=key,
        )
        session.add(row)
        session.flush()
        note(session, self.actor, "season.opened", [(str(number), row.commitment)])
        return _season(session, row)


def _last_number(session: Session) -> int:
    return session.exec(select(sa.func.max(SeasonRow.number))).one() or 0


def _open_season(session: Session) -> Season | None:
    with legible(session):
        found = session.exec(select(SeasonRow).where(col(SeasonRow.closed).is_(None))).all()
        if len(found) > 1:
            raise RegistryCorrupt(
                f"{len(found)} seasons are open at once in the registry {place(session)}: it was "
                "edited; restore it from a copy"
            )
        return _season(session, found[0]) if found else None


def _season(session: Session, row: SeasonRow) -> Season:
    key = bytes(row.key)
    if len(key) != KEY_BYTES or commitment_of(key) != row.commitment:
        raise RegistryCorrupt(
            f"the key of season {row.number} in the registry {place(session)} is not the one that "
            "was committed to: it was damaged or edited; restore it from a copy"
        )
    return Season(row.number, row.commitment, row.opened, row.closed, row.given, key)
