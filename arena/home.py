"""A home: one folder with everything that a tournament keeps.

home.json          format of the folder
registry.sqlite    who takes part (or a PostgreSQL server, by URL)
matches.duckdb     what was played
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from arena.errors import HomeTooNew, HomeUnusable
from arena.house import house_submissions
from arena.seeds import Seeds
from arena.store import MatchStore
from registry import Registry, digest_of

HOUSE = "house"
"""Author name of the built-in entrants."""
FORMAT = 1
"""Rises when an older arena could not read a newer home."""


@dataclass(frozen=True)
class Home:
    """An open home.

    Attributes:
      path: its folder.
      registry: who takes part.
      writable: whether anything can be added to it.
    """

    path: Path
    registry: Registry
    writable: bool

    def seeds(self, season: int | None = None) -> Seeds:
        """The seeds of a season; of the one that is open where none is named.

        Raises:
          UnknownSeason: there is none of that number.
        """
        if season is None:
            return Seeds(self.registry.current_season())
        return Seeds(self.registry.season(season))

    @cached_property
    def store(self) -> MatchStore:
        """What was played."""
        return MatchStore(self.path / "matches.duckdb")


def _format_of(path: Path) -> int | None:
    """Format of the home at `path`; None where there is none yet."""
    marker = path / "home.json"
    try:
        return int(json.loads(marker.read_text())["format"])
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HomeUnusable(f"{marker} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise HomeUnusable(
            f"{marker} is not a home's marker ({error}); point --home at a home or a new folder"
        ) from error


def _create(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
        fresh = path / f"home.json.{os.getpid()}"
        fresh.write_text(json.dumps({"format": FORMAT}) + "\n")
        fresh.replace(path / "home.json")
    except OSError as error:
        raise HomeUnusable(
            f"the home {path} cannot be created: {error.strerror}; "
            "choose another folder with --home or ARENA_HOME"
        ) from error


def open_home(
    path: Path, registry_url: str | None = None, *, seed_key: bytes | None = None
) -> Home:
    """Opens a home, creating it and enrolling the house on first use.

    Args:
      path: the folder.
      registry_url: SQLAlchemy URL of a shared registry; by default a SQLite file in the folder.
      seed_key: 32 bytes that all seeds follow from, for matches that others can repeat; by
        default a new home draws a secret.

    Raises:
      HomeTooNew: a newer version of the arena wrote it; nothing is touched.
      HomeUnusable: it cannot be created or read.
      RegistryError: the registry cannot be opened, or has another key.
    """
    found = _format_of(path)
    if found is not None and found > FORMAT:
        raise HomeTooNew(
            f"the home {path} has format {found}, this arena reads up to {FORMAT}: "
            "update policy-arena, or point --home at another folder"
        )
    if found is None:
        _create(path)
    writable = os.access(path, os.W_OK)
    target = registry_url or path / "registry.sqlite"
    home = Home(path, Registry.open(target, read_only=not writable), writable)
    if writable:
        if seed_key is not None:
            home.registry.open_first_season(seed_key)
        home.registry.current_season()
        _enrol_house(home.registry)
    return home


def _enrol_house(registry: Registry) -> None:
    """Registers the house entrants that this registry does not have yet."""
    house = {digest_of(one.game, one.kind, one.payload): one for one in house_submissions()}
    known = {version.digest for version in registry.find(author=HOUSE)}
    missing = [one for digest, one in house.items() if digest not in known]
    if missing:
        registry.submit_many(missing, reserved=True)
