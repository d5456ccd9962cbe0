"""Tournaments: when entries count, who is frozen into the final, and the season of its own.

A tournament runs from one moment to another.  When it is over it is *frozen*, in one
transaction: its entrants are written down, the open season is revealed, and the next one opens,
whose key is drawn then.  So the key of the final is known to nobody, not even to the operator,
while entries can still change.  At the end that season is revealed as well, and the digest of
the certificate is kept.

What counts as an entry is for `arena.contest` to say; rows are all that is here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlmodel import Session, col, select

from registry import naming
from registry.errors import RegistryCorrupt, TournamentConflict, UnknownTournament
from registry.events import note
from registry.rows import legible, place
from registry.schema import SeasonRow, TournamentRow
from registry.seasons import Seasons
from registry.values import Season

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One policy of one author in a final.

    Attributes:
      author: whose it is.
      ref: author/name@number.
      digest: of the policy.
      created: when it was handed in.
    """

    author: str
    ref: str
    digest: str
    created: datetime


@dataclass(frozen=True, slots=True)
class Tournament:
    """A tournament.

    Attributes:
      name: one word.
      game: name of the game.
      created: when it was announced.
      opens: from when on entries count.
      closes: from when on they count no more.
      entries: how many policies of one author take part: the last that many.
      matches: of each pair in the final; even, so that each deal has both its halves.
      hidden: digests of the hidden evaluation population; empty where entrants are measured
        against each other.
      frozen: when the entrants were written down; None before.
      season: number of the season that the final is played in; None before.
      entrants: those who take part in the final, and entries that are hidden as well, which take
        no part; empty before.
      certificate: digest of the certificate; "" before there is one.
    """

    name: str
    game: str
    created: datetime
    opens: datetime
    closes: datetime
    entries: int
    matches: int
    hidden: tuple[str, ...] = ()
    frozen: datetime | None = None
    season: int | None = None
    entrants: tuple[Entry, ...] = ()
    certificate: str = ""


class Tournaments(Seasons):
    """Tournaments and the seasons that their finals are played in."""

    __slots__ = ()

    def announce(
        self,
        name: str,
        game: str,
        opens: datetime,
        closes: datetime,
        *,
        entries: int = 1,
        matches: int = 32,
        hidden: Sequence[str] = (),
    ) -> Tournament:
        """Writes a tournament down; see `Tournament`.

        Raises:
          MalformedName: the name is not one word.
          TournamentConflict: there is one of that name, it would end before it begins, or nobody
            could play in it.
        """
        _check(name, opens, closes, entries, matches)
        with self.database.writing() as session:
            _refuse_taken(session, name)
            row = TournamentRow(
                name=name,
                game=game,
                created=datetime.now(UTC),
                opens=opens,
                closes=closes,
                entries=entries,
                matches=matches,
                hidden=list(dict.fromkeys(hidden)),
                entrants=[],
            )
            session.add(row)
            said = f"{game}, {opens.isoformat()} to {closes.isoformat()}"
            note(session, self.actor, "tournament.announced", [(name, said)])
            return _tournament(session, row)

    def check_announcement(
        self, name: str, opens: datetime, closes: datetime, *, entries: int, matches: int
    ) -> None:
        """Does nothing where `announce` would take it now; raises what that raises otherwise."""
        _check(name, opens, closes, entries, matches)
        with self.database.reading() as session:
            _refuse_taken(session, name)

    def tournament(self, name: str) -> Tournament:
        """The tournament of that name.

        Raises:
          UnknownTournament: there is none.
        """
        with self.database.reading() as session, legible(session):
            return _tournament(session, _row(session, name))

    def tournaments(self, game: str | None = None) -> tuple[Tournament, ...]:
        """All tournaments, of one game or of all, in the order in which they close."""
        order = (col(TournamentRow.closes), col(TournamentRow.name))
        statement = select(TournamentRow).order_by(*order)
        if game is not None:
            statement = statement.where(col(TournamentRow.game) == game)
        with self.database.reading() as session, legible(session):
            return tuple(_tournament(session, row) for row in session.exec(statement))

    def move_closing(self, name: str, closes: datetime) -> Tournament:
        """Lets a tournament close at another moment.

        Raises:
          UnknownTournament: there is none of that name.
          TournamentConflict: it is frozen, or would close before it opens.
        """
        with self.database.writing() as session, legible(session):
            row = _row(session, name)
            if row.frozen is not None:
                raise TournamentConflict(f"the entrants of the tournament {name!r} are frozen")
            if closes <= row.opens:
                raise TournamentConflict(f"the tournament {name!r} would close before it opens")
            row.closes = closes
            session.add(row)
            note(session, self.actor, "tournament.closing", [(name, closes.isoformat())])
            return _tournament(session, row)

    def freeze(self, name: str, entrants: Sequence[Entry], now: datetime) -> Tournament:
        """Writes down who takes part, and opens the season of the final.

        Where that was done, nothing changes as long as its season is open.  Where somebody
        revealed it before the final was over, its seeds are no secret any more: the same
        entrants get another season.

        Args:
          name: of the tournament.
          entrants: what counted when it closed.
          now: the moment.

        Raises:
          UnknownTournament: there is none of that name.
          TournamentConflict: it is not over yet, it has its certificate, or another final is
            being played.
        """
        with self.database.writing() as session, legible(session):
            row = _row(session, name)
            if now < row.closes:
                raise TournamentConflict(
                    f"the tournament {name!r} is open until {row.closes.isoformat()}"
                )
            if row.certificate:
                raise TournamentConflict(f"the tournament {name!r} has its certificate")
            if row.season is not None and _is_open(session, row.season):
                return _tournament(session, row)
            self._refuse_two_finals(session, name)
            _, opened = self._turn(session)
            if row.frozen is None:
                row.frozen = now
                row.entrants = [
                    [one.author, one.ref, one.digest, one.created.astimezone(UTC).isoformat()]
                    for one in entrants
                ]
            row.season = opened.number
            session.add(row)
            said = f"{len(row.entrants)} entrants, season {opened.number}, {opened.commitment}"
            note(session, self.actor, "tournament.frozen", [(name, said)])
            return _tournament(session, row)

    def certify(self, name: str, certificate: str) -> tuple[Tournament, Season]:
        """Reveals the season of a final that is over, and keeps the digest of its certificate.

        Args:
          name: of the tournament.
          certificate: 64 hexadecimal digits.

        Returns:
          The tournament, and the closed season.

        Raises:
          UnknownTournament: there is none of that name.
          TournamentConflict: it is not frozen, or has another certificate.
        """
        if not _DIGEST.fullmatch(certificate):
            raise ValueError(f"{certificate!r} is no digest of a certificate")
        with self.database.writing() as session, legible(session):
            row = _row(session, name)
            if row.season is None:
                raise TournamentConflict(f"the tournament {name!r} has no final yet")
            if row.certificate not in ("", certificate):
                raise TournamentConflict(
                    f"the tournament {name!r} has the certificate {row.certificate[:16]}..., and "
                    f"this is {certificate[:16]}...: what is stored was changed since"
                )
            if not row.certificate:
                row.certificate = certificate
                session.add(row)
                note(session, self.actor, "tournament.certified", [(name, certificate)])
            if _is_open(session, row.season):
                self._turn(session)
            found = _tournament(session, row)
        assert found.season is not None
        return found, self.season(found.season)

    def _refuse_two_finals(self, session: Session, name: str) -> None:
        """A season is of one final: another one's would reveal it in the middle."""
        for row in session.exec(select(TournamentRow).where(col(TournamentRow.certificate) == "")):
            if row.name != name and row.season is not None and _is_open(session, row.season):
                raise TournamentConflict(
                    f"the final of the tournament {row.name!r} is being played: finish it first"
                )


def _check(name: str, opens: datetime, closes: datetime, entries: int, matches: int) -> None:
    naming.check_author(name)
    if not opens < closes:
        raise TournamentConflict(f"the tournament {name!r} would close before it opens")
    if entries < 1 or matches < 2 or matches % 2:
        raise TournamentConflict(
            f"{entries} entries of an author and {matches} matches a pair: there must be one "
            "entry, and matches come in pairs, with the seats swapped"
        )


def _refuse_taken(session: Session, name: str) -> None:
    if session.get(TournamentRow, name) is not None:
        raise TournamentConflict(f"there is a tournament {name!r} already")


def _row(session: Session, name: str) -> TournamentRow:
    row = session.get(TournamentRow, name) if naming.is_author(name) else None
    if row is None:
        raise UnknownTournament(f"there is no tournament {name!r} in the registry {place(session)}")
    return row


def _is_open(session: Session, season: int) -> bool:
    row = session.get(SeasonRow, season)
    return row is not None and row.closed is None


def _tournament(session: Session, row: TournamentRow) -> Tournament:
    try:
        entrants = tuple(
            Entry(author, ref, digest, datetime.fromisoformat(created))
            for author, ref, digest, created in row.entrants
        )
        if not all(isinstance(digest, str) for digest in row.hidden):
            raise ValueError("a hidden policy is no digest")
    except (TypeError, ValueError) as error:
        raise RegistryCorrupt(
            f"the tournament {row.name!r} in the registry {place(session)} cannot be read "
            f"({error}): the registry was damaged or edited; restore it from a copy"
        ) from error
    return Tournament(
        row.name,
        row.game,
        row.created,
        row.opens,
        row.closes,
        row.entries,
        row.matches,
        tuple(row.hidden),
        row.frozen,
        row.season,
        entrants,
        row.certificate,
    )
