"""Movable names for versions."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlmodel import col, select

from registry import naming, refs, rows
from registry.errors import AliasProtected
from registry.events import note
from registry.part import Part
from registry.schema import AliasRow
from registry.values import Alias


class Aliases(Part):
    """Aliases: each game has its own."""

    __slots__ = ()

    def set_alias(
        self,
        game: str,
        name: str,
        ref: str,
        *,
        protected: bool | None = None,
        override: bool = False,
        reserved: bool = False,
    ) -> Alias:
        """Points an alias at a version of the game.

        Args:
          game: name of the game.
          name: one word without a slash.
          ref: as for `get`.
          protected: whether later moves need `override`; None keeps what it is (False at first).
          override: move it even where it is protected.
          reserved: let a new one read like a policy of the arena's own authors.

        Raises:
          MalformedName: the alias is not well formed, or reads like a digest.
          NameRefused: it is new, reads like a policy of the arena's own, and `reserved` is not
            set.
          AliasProtected: it is protected, points elsewhere, and `override` is not set.
          UnknownPolicy: nothing goes by the reference.
          AmbiguousRef: several versions do.
        """
        naming.check_alias(name)
        with self.database.writing() as session:
            digest = refs.resolve(session, game, ref).digest
            row = session.get(AliasRow, (game, name))
            if row is None:
                if not reserved:
                    naming.refuse_reserved_alias(name)
                row = AliasRow(
                    game=game, name=name, digest=digest, protected=False, changed=datetime.now(UTC)
                )
            elif row.digest != digest or (row.protected and protected is False):
                _check_unprotected(row, override)
                row.digest, row.changed = digest, datetime.now(UTC)
            if protected is not None:
                row.protected = protected
            changed = session.is_modified(row) or row not in session
            session.add(row)
            if changed:
                guarded = f"{digest}, protected" if row.protected else digest
                note(session, self.actor, "alias.set", [(f"{game} {name}", guarded)])
            return _alias(row)

    def aliases(self, game: str | None = None) -> tuple[Alias, ...]:
        """All aliases, of one game or of all."""
        statement = select(AliasRow)
        if game is not None:
            statement = statement.where(col(AliasRow.game) == game)
        with self.database.reading() as session, rows.legible(session):
            found = [_alias(row) for row in session.exec(statement)]
        return tuple(sorted(found, key=lambda alias: (alias.game, alias.name)))


def _check_unprotected(row: AliasRow, override: bool) -> None:
    if row.protected and not override:
        raise AliasProtected(
            f"the alias {row.name!r} of {row.game} is protected and points to {row.digest[:12]}; "
            "ask for the change explicitly to override that"
        )


def _alias(row: AliasRow) -> Alias:
    return Alias(row.game, row.name, row.digest, row.protected, row.changed)
