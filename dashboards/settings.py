"""What the operator decides when the pages are started."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dashboards.budgets import PlayingTime


class Submitting(enum.StrEnum):
    """Who may hand in policies from a page."""

    GVISOR = "gvisor"
    """Anybody who reaches the page, and only while a gVisor wall works here."""
    ANY_WALL = "any-wall"
    """The same behind the strongest wall that works: the operator knows who submits."""
    OFF = "off"
    """Nobody."""


@dataclass(frozen=True)
class Settings:
    """Where the pages read from, and what they allow.

    Attributes:
      home: folder of the tournament.
      registry_url: registry on a server; None for the one in the folder.
      seed_key: that all seeds of a new home follow from; None to draw a secret.
      submitting: see `Submitting`.
      matches: that a submitted policy plays against each member of the evaluation population.
      per_hour: submissions that one author may hand in within an hour, and names that all
        visitors together may claim.
      waiting: submissions of one author that may go on at once.
      budget: what submissions may cost.
      by_invitation: whether a name that is free takes an invitation's code to be claimed.
      live_seconds: between two looks at a CSRO run that is being worked on.
      hosted: whether strangers read the pages: errors name no place on this machine then.
      oidc: file that says who may sign in (`dashboards.identity`); None where nobody does.
    """

    home: Path
    registry_url: str | None = None
    submitting: Submitting = Submitting.GVISOR
    matches: int = 8
    per_hour: int = 30
    waiting: int = 5
    live_seconds: float = 4.0
    budget: PlayingTime = field(default_factory=PlayingTime)
    seed_key: bytes | None = field(default=None, repr=False)
    by_invitation: bool = False
    hosted: bool = False
    oidc: Path | None = None

    def to_environment(self) -> dict[str, str]:
        """As environment variables, for what draws the pages; without the key, a secret."""
        variables = {
            "ARENA_HOME": str(self.home),
            "ARENA_SUBMITTING": self.submitting.value,
            "ARENA_SUBMIT_MATCHES": str(self.matches),
            "ARENA_SUBMIT_PER_HOUR": str(self.per_hour),
            "ARENA_SUBMIT_WAITING": str(self.waiting),
            "ARENA_SUBMIT_SECONDS": str(self.budget.submission),
            "ARENA_AUTHOR_SECONDS": str(self.budget.day),
            "ARENA_LIVE_SECONDS": str(self.live_seconds),
            "ARENA_BY_INVITATION": str(int(self.by_invitation)),
            "ARENA_PAGES_HOSTED": str(int(self.hosted)),
            "ARENA_PAGES_OIDC": str(self.oidc or ""),  # nobody signs in by a variable left over
        }
        if self.registry_url:
            variables["ARENA_REGISTRY"] = self.registry_url
        return variables

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """The inverse of `to_environment`; what is not set has its default.  There is no key.

        Raises:
          ValueError: a variable has a value that means nothing.
        """
        return cls(
            home=Path(environment.get("ARENA_HOME", "./arena-home")),
            registry_url=environment.get("ARENA_REGISTRY") or None,
            submitting=Submitting(environment.get("ARENA_SUBMITTING", cls.submitting)),
            matches=int(environment.get("ARENA_SUBMIT_MATCHES", cls.matches)),
            per_hour=int(environment.get("ARENA_SUBMIT_PER_HOUR", cls.per_hour)),
            waiting=int(environment.get("ARENA_SUBMIT_WAITING", cls.waiting)),
            live_seconds=float(environment.get("ARENA_LIVE_SECONDS", cls.live_seconds)),
            by_invitation=bool(int(environment.get("ARENA_BY_INVITATION", "0"))),
            hosted=bool(int(environment.get("ARENA_PAGES_HOSTED", "0"))),
            oidc=Path(told) if (told := environment.get("ARENA_PAGES_OIDC")) else None,
            budget=PlayingTime(
                float(environment.get("ARENA_SUBMIT_SECONDS", PlayingTime.submission)),
                float(environment.get("ARENA_AUTHOR_SECONDS", PlayingTime.day)),
            ),
        )
