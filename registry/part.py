"""What the parts of a registry have in common."""

from __future__ import annotations

from dataclasses import dataclass

from registry.database import Database


@dataclass(frozen=True, slots=True)
class Part:
    """Methods about one thing, over the database that all parts of a registry share.

    `registry.Registry` is made of such parts, one module each.  A part has no fields of its own.
    """

    database: Database
