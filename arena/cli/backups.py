"""Commands that copy a whole home: backup, restore."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.backup import Manifest, back_up
from arena.backup import restore as restored
from arena.cli.session import Session, plain, session_options
from arena.home import open_home

if TYPE_CHECKING:
    from rich.console import Console


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@session_options
def backup(session: Session, file: Path) -> None:
    """Copies everything that a home keeps into one new FILE, also while it is in use.

    It holds the secrets of the open season and the hashes of tokens: only its owner may read it.
    """
    home = open_home(session.home_path, session.registry_url, create=False, enrol=False)
    manifest = back_up(home, file)
    session.answer(_document(manifest), lambda out: _say(out, manifest, f"written to {file}"))


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@session_options
def restore(session: Session, file: Path) -> None:
    """Makes the home from a FILE that `arena backup` wrote; --home names a new folder.

    With --registry its registry is copied into an empty one on a server.
    """
    manifest = restored(file, session.home_path, session.registry_url)
    said = f"the home {session.home_path} is as it was at {manifest.made:%Y-%m-%d %H:%M:%S} UTC"
    session.answer(_document(manifest), lambda out: _say(out, manifest, said))


def _document(manifest: Manifest) -> dict[str, Any]:
    return {
        "made": manifest.made.isoformat(),
        "files": [
            {"name": one.name, "bytes": one.size, "sha256": one.digest} for one in manifest.files
        ],
    }


def _say(out: Console, manifest: Manifest, said: str) -> None:
    for one in manifest.files:
        out.print(f"  {one.name:20s} {one.size:14,} bytes")
    out.print(plain(said))


COMMANDS: tuple[click.Command, ...] = (backup, restore)
