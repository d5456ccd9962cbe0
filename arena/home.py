"""A home: one folder with everything that a tournament keeps.

home.json          format of the folder, and where its registry is
registry.sqlite    who takes part (or a PostgreSQL server, by URL)
matches.duckdb     what was played
matches.mark       says that matches were stored, so that their loss is noticed
"""

from __future__ import annotations

import getpass
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from arena.errors import HomeTooNew, HomeUnusable, UsageFault
from arena.home_marker import FORMAT, MATCHES, Marker, marker_of, no_home
from arena.house import house_submissions
from arena.registry_address import absolute, file_of, same_registry, without_secrets
from arena.seeds import Seeds
from registry import Registry, digest_of

if TYPE_CHECKING:
    from arena.games.protocol import Game
    from arena.store import MatchStore
    from arena.values import Result

HOUSE = "house"
"""Author name of the built-in entrants."""
REGISTRY, MARK = "registry.sqlite", "matches.mark"
FINALS = "finals"
"""Folder of the finals of tournaments, each with matches of its own."""
CERTIFICATE = "certificate.json"
"""Of a final, beside its matches; without sources."""
_GLANCE_SECONDS = 0.2
"""For which a command waits to learn whether there are matches, which it did not ask."""


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

    def acting_as(self, who: str) -> Home:
        """The same home, whose registry is changed in somebody's name."""
        made = replace(self, registry=self.registry.acting_as(who))
        made.__dict__["store"] = self.store
        return made

    @cached_property
    def store(self) -> MatchStore:
        """What was played."""
        from arena.store import MatchStore, StoreError  # much to load; many commands read no match

        store = MatchStore(self.path / MATCHES)
        if self.writable and store.path.exists() and not (self.path / MARK).exists():
            # Homes of older arenas have matches and no mark.  What is wrong with a store is told
            # to who asks it for something, and one that is busy is asked the next time.
            with suppress(StoreError):
                if MatchStore(store.path, timeout=_GLANCE_SECONDS).counts():
                    self._remember_matches()
        return store

    def keep(self, game: Game, results: Iterable[Result]) -> int:
        """Stores results as `MatchStore.append` does, and that this home has matches."""
        added = self.store.append(game, results)
        if added:
            self._remember_matches()
        return added

    def _remember_matches(self) -> None:
        """Notes beside the store that there is something in it to be lost."""
        if not (self.path / MARK).exists():
            with suppress(OSError):  # the matches are stored, and the next ones try again
                (self.path / MARK).touch()


def _make(path: Path) -> None:
    """Makes the folder."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_create(path, error) from error


def mark(path: Path, registry: str | None) -> None:
    """Keeps in the folder that it is a home, and which registry is its own."""
    try:
        fresh = path / f"home.json.{os.getpid()}"
        fresh.write_text(json.dumps({"format": FORMAT, "registry": registry}) + "\n")
        fresh.replace(path / "home.json")
    except OSError as error:
        raise _cannot_create(path, error) from error


def _cannot_create(path: Path, error: OSError) -> HomeUnusable:
    return HomeUnusable(
        f"the home {path} cannot be created: {error.strerror}; "
        "choose another folder with --home or ARENA_HOME"
    )


def _registry_target(path: Path, marker: Marker | None, given: str | None) -> Path | str:
    """Where the registry of a home is.

    Raises:
      UsageFault: another one was given than the home's own, or it is no address.
    """
    own = path / REGISTRY
    wanted = own if given is None else absolute(given)
    if marker is None or (marker.registry == "" and not own.exists()):
        return wanted
    if marker.registry:
        if given is not None and not same_registry(given, marker.registry):
            raise UsageFault(
                f"the home {path} belongs to the registry {marker.registry}, and not to "
                f"{without_secrets(given)}: leave --registry and ARENA_REGISTRY out; if the "
                "registry itself was moved, write its new address into the home's home.json"
            )
        return marker.registry if given is None else wanted
    if given is not None and file_of(given) != own.resolve():
        raise UsageFault(
            f"the home {path} has a registry of its own, {own}, and does not belong to "
            f"{without_secrets(given)}: leave --registry and ARENA_REGISTRY out; if that file is "
            "there by mistake, move it away"
        )
    return own


def _must_be_there(path: Path, target: Path | str) -> None:
    """A home in use has both its matches and the registry that names their policies.

    Raises:
      HomeUnusable: there are matches, and the file of their registry is gone or empty, or there
        were some, and their own file is.
    """
    file = target if isinstance(target, Path) else file_of(target)
    if file is not None and _is_lost(file) and (path / MATCHES).exists():
        raise HomeUnusable(
            f"{path / MATCHES} holds matches, but {file}, which says whose they are, is gone or "
            "empty: put it back from a copy, name the registry's server with --registry if that "
            "is where it is, or move the folder away to begin anew"
        )
    if (path / MARK).exists() and _is_lost(path / MATCHES):
        raise HomeUnusable(
            f"there were matches in this home, but {path / MATCHES} is gone or empty: put it back "
            "from a copy (`arena restore` makes a home from a backup), or delete "
            f"{path / MARK} to begin anew with the policies that are registered"
        )


def _is_lost(file: Path) -> bool:
    return not (file.exists() and file.stat().st_size)


def open_home(
    path: Path,
    registry_url: str | None = None,
    *,
    seed_key: bytes | None = None,
    create: bool = True,
    enrol: bool = True,
) -> Home:
    """Opens a home, creating it and enrolling the house on first use.

    Args:
      path: the folder.
      registry_url: SQLAlchemy URL of a shared registry; by default the one that the home was made
        with, a SQLite file in the folder unless it was told otherwise.
      seed_key: 32 bytes that all seeds follow from, for matches that others can repeat; by
        default a new home draws a secret.
      create: whether to make a home where there is none.
      enrol: whether to register what the house has more by now than when the home was made.

    Raises:
      UsageFault: there is none and none is to be made, or the registry is not this home's.
      HomeTooNew: a newer version of the arena wrote it; nothing is touched.
      HomeUnusable: it cannot be created or read, or of its registry and its matches one is gone.
      RegistryError: the registry cannot be opened, or has another key.
    """
    marker = marker_of(path)
    if marker is not None and marker.format > FORMAT:
        raise HomeTooNew(
            f"the home {path} has format {marker.format}, this arena reads up to {FORMAT}: "
            "update policy-arena, or point --home at another folder"
        )
    if marker is None and not create:
        raise no_home(path)
    target = _registry_target(path, marker, registry_url)
    _must_be_there(path, target)
    if marker is None:
        _make(path)
    writable = os.access(path, os.W_OK)
    registry = Registry.open(target, read_only=not writable).acting_as("operator", _login())
    home = Home(path, registry, writable)
    if writable:
        if marker is None or marker.registry == "":  # only now: the address has proved good
            mark(path, None if registry_url is None else without_secrets(registry_url))
        if seed_key is not None:
            home.registry.open_first_season(seed_key)
        home.registry.current_season()
        if enrol or marker is None:
            _enrol_house(home.registry)
    return home


def _login() -> str:
    """Whose process this is, for the audit log; "" where that has no name."""
    try:
        return f"login {getpass.getuser()}"
    except (OSError, KeyError, ImportError):  # a number without a name, as in some containers
        return ""


def _enrol_house(registry: Registry) -> None:
    """Registers the house entrants that this registry does not have yet."""
    house = {digest_of(one.game, one.kind, one.payload): one for one in house_submissions()}
    known = {version.digest for version in registry.find(author=HOUSE)}
    missing = [one for digest, one in house.items() if digest not in known]
    if missing:
        registry.submit_many(missing, reserved=True)
