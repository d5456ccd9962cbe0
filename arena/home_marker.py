"""What tells a home from any other folder: quick to load, so a mistyped one is told at once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from arena.errors import HomeUnusable, UsageFault

MATCHES = "matches.duckdb"
FORMAT = 1
"""Rises when an older arena could not read a newer home."""


@dataclass(frozen=True, slots=True)
class Marker:
    """What home.json says.

    Attributes:
      format: of the folder.
      registry: address of its registry without any password; None for the file in the folder,
        and "" in homes from before it was kept.
    """

    format: int
    registry: str | None


def marker_of(path: Path) -> Marker | None:
    """What the home at `path` says of itself; None where there is none.

    Raises:
      HomeUnusable: there is something in its place.
    """
    marker = path / "home.json"
    try:
        said = json.loads(marker.read_text())
        return Marker(int(said["format"]), said.get("registry", ""))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HomeUnusable(f"{marker} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HomeUnusable(
            f"{marker} is not a home's marker ({error}): where this is a home, put it back from a "
            "copy, or move it away and let a command that plays or takes policies in make it "
            "anew; else point --home at a home or a new folder"
        ) from error


def has_home(path: Path) -> bool:
    """Whether there is a home.

    Raises:
      HomeUnusable: there is something in its place.
    """
    return marker_of(path) is not None


def no_home(path: Path) -> UsageFault:
    """What is said where a home is needed and there is none."""
    if (path / MATCHES).exists():
        return UsageFault(
            f"{path} has matches, but its home.json is gone: put it back from a copy, or let a "
            "command that plays or takes policies in make it anew"
        )
    return UsageFault(
        f"there is no home at {path}; commands that take policies in or play, such as `arena "
        "submit` and `arena play`, make one, and --home and ARENA_HOME name another"
    )
