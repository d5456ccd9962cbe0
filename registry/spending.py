"""What each author's submissions have cost, by day: a budget is held against it."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime

import sqlalchemy as sa
from sqlmodel import col, select

from registry import naming
from registry.part import Part
from registry.rows import legible
from registry.schema import SpendingRow
from registry.values import Spent


class Spending(Part):
    """A ledger of submissions and processor time.  Authors who read alike share one account."""

    __slots__ = ()

    def spend(
        self, author: str, seconds: float = 0.0, submissions: int = 0, *, day: date | None = None
    ) -> None:
        """Adds to what an author has spent; what several processes add at once is all counted.

        Args:
          author: the name, whether or not anything is registered under it.
          seconds: of processor time.
          submissions: how many.
          day: in UTC; today where it is left out.

        Raises:
          MalformedName: the author is not written as one can be.
          ValueError: an amount is negative or no number.
        """
        account = naming.skeleton(naming.check_author(author))
        if not (math.isfinite(seconds) and seconds >= 0 and submissions >= 0):
            raise ValueError(f"{seconds} seconds and {submissions} submissions cannot be spent")
        when = day or datetime.now(UTC).date()
        with self.database.writing() as session:
            row = session.get(SpendingRow, (account, when))
            if row is None:
                row = SpendingRow(skeleton=account, day=when, submissions=0, seconds=0.0)
            row.submissions += submissions
            row.seconds += seconds
            session.add(row)

    def spent(self, author: str, since: date) -> Spent:
        """What an author has spent since a day (in UTC), that day included.

        Raises:
          MalformedName: the author is not written as one can be.
        """
        account = naming.skeleton(naming.check_author(author))
        statement = select(
            sa.func.coalesce(sa.func.sum(SpendingRow.submissions), 0),
            sa.func.coalesce(sa.func.sum(SpendingRow.seconds), 0.0),
        ).where(col(SpendingRow.skeleton) == account, col(SpendingRow.day) >= since)
        with self.database.reading() as session, legible(session):
            submissions, seconds = session.exec(statement).one()
        return Spent(int(submissions), float(seconds))
