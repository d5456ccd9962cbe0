"""What the parts of a registry have in common."""

from __future__ import annotations

from dataclasses import dataclass

from registry.database import Database
from registry.values import Actor

OPERATOR = Actor()
"""Whoever can write to the registry."""


@dataclass(frozen=True, slots=True)
class Part:
    """Methods about one thing, over the database that all parts of a registry share.

    `registry.Registry` is made of such parts, one module each.  A part has no fields of its own.

    Attributes:
      database: where everything is kept.
      actor: in whose name changes are made.
    """

    database: Database
    actor: Actor = OPERATOR
