"""One file with all that a home keeps, made while it is in use, and a home made from it again.

An archive is a tar file with a manifest and the home's databases.  They are copied in an order in
which what is copied later names only what is there: runs and tickets, then matches, then the
registry, each as it is at one moment.  So the copy may know policies that had not played yet, but
every match has its policies, and nothing that somebody was told is stored is missing if it was
stored before the copy began.  A registry on a server is copied as a file, and can become one on a
server again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from arena.errors import BackupUnusable, UsageFault
from arena.home import CERTIFICATE, FINALS, REGISTRY, Home, mark, open_home
from arena.home_marker import MATCHES
from arena.registry_address import without_secrets
from arena.store import MatchStore
from registry import Registry
from registry.copying import copy

FORMAT = 1
MANIFEST = "manifest.json"
_BLOCK = 1 << 20
_LARGEST_MANIFEST = 1 << 20
_NAME = re.compile(rf"({FINALS}/[A-Za-z0-9_-]{{1,100}}/)?[A-Za-z0-9_][A-Za-z0-9_.-]{{0,100}}")


@dataclass(frozen=True, slots=True)
class Kept:
    """A file in an archive: its path, its size in bytes, and the SHA-256 of what is in it."""

    name: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive says of itself.

    Attributes:
      format: of the archive.
      made: when the copy began.
      files: what is in it besides.
    """

    format: int
    made: datetime
    files: tuple[Kept, ...]


def back_up(home: Home, archive: Path) -> Manifest:
    """Writes everything that a home keeps to a file that only its owner may read.

    Args:
      home: may be in use by any number of programs.
      archive: where there is nothing yet.

    Raises:
      UsageFault: there is something at that path, or it is in no folder.
      StoreError, RegistryError, BackupUnusable: something cannot be read; no archive is left.
    """
    if archive.exists():
        raise UsageFault(f"{archive} is there already: name another file")
    if not archive.parent.is_dir():
        raise UsageFault(f"there is no folder {archive.parent}")
    made = datetime.now(UTC)
    try:
        with tempfile.TemporaryDirectory(prefix=f"{archive.name}.", dir=archive.parent) as passing:
            files = tuple(_kept(Path(passing), path) for path in _copies(home, Path(passing)))
            manifest = Manifest(FORMAT, made, files)
            written = Path(passing) / archive.name
            _write(written, manifest, Path(passing))
            os.replace(written, archive)
    except (OSError, sqlite3.Error) as error:
        raise BackupUnusable(f"{archive} could not be written: {error}") from error
    return manifest


def restore(archive: Path, folder: Path, registry: str | None = None) -> Manifest:
    """Makes a home from an archive, where there is none; its folder belongs to its owner alone.

    Args:
      archive: what `back_up` wrote.
      folder: of the home; new or empty.
      registry: address of an empty registry on a server; a file in the folder where none is named.

    Raises:
      UsageFault: the folder or the registry is in use.
      BackupUnusable: it is no archive, or not what was written; no home is left.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageFault(f"{folder} is not empty: name a new folder for the home")
    folder.parent.mkdir(parents=True, exist_ok=True)
    passing = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        manifest = _unpacked(archive, passing)
        if registry is not None:
            with Registry.open(passing / REGISTRY) as kept, Registry.open(registry) as target:
                copy(kept, target)
            _remove(passing, REGISTRY)
        mark(passing, None if registry is None else without_secrets(registry))
        open_home(passing, registry, create=False, enrol=False).registry.close()
        if folder.exists():
            folder.rmdir()
        passing.rename(folder)
    except BaseException:
        shutil.rmtree(passing, ignore_errors=True)
        raise
    return manifest


def _copies(home: Home, folder: Path) -> Iterator[Path]:
    """Copies the databases, in an order in which none names what is missing in the next."""
    for path in sorted(home.path.glob("*.sqlite")):
        if path.name != REGISTRY:
            yield _copied(path, folder / path.name)
    for path in sorted(home.path.glob("*.mark")):
        yield Path(shutil.copyfile(path, folder / path.name))
    yield from home.store.copied(folder / MATCHES)
    for path in sorted(home.path.glob(f"{FINALS}/*/{MATCHES}")):
        place = folder / path.relative_to(home.path)
        place.parent.mkdir(parents=True)
        yield from MatchStore(path).copied(place)
        certificate = path.with_name(CERTIFICATE)
        if certificate.exists():
            yield Path(shutil.copyfile(certificate, place.with_name(CERTIFICATE)))
    with Registry.open(folder / REGISTRY) as target:
        copy(home.registry, target)
    _settled(folder / REGISTRY)
    yield folder / REGISTRY


def _copied(path: Path, target: Path) -> Path:
    """A copy of an SQLite file that may be in use, as it is at one moment."""
    with (
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source,
        closing(sqlite3.connect(target)) as copied,
    ):
        source.backup(copied)
    _settled(target)
    return target


def _settled(path: Path) -> None:
    """Puts what is in an SQLite file's log into the file."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma journal_mode=delete")


def _kept(folder: Path, path: Path) -> Kept:
    name = path.relative_to(folder).as_posix()
    with path.open("rb") as file:
        return Kept(name, path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def _write(archive: Path, manifest: Manifest, folder: Path) -> None:
    document = asdict(manifest) | {"made": manifest.made.isoformat()}
    told = json.dumps(document, indent=2).encode()
    descriptor = os.open(archive, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        with tarfile.open(fileobj=file, mode="w") as tar:
            tar.addfile(_member(MANIFEST, len(told)), io.BytesIO(told))
            for one in manifest.files:
                with (folder / one.name).open("rb") as content:
                    tar.addfile(_member(one.name, one.size), content)
        file.flush()
        os.fsync(file.fileno())


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    return member


def _unpacked(archive: Path, folder: Path) -> Manifest:
    """The files of an archive in a folder, each as its manifest says; nothing else is written."""
    try:
        with tarfile.open(archive, "r:") as tar:
            manifest = _manifest(_content(tar, tar.next(), MANIFEST).read(_LARGEST_MANIFEST))
            for one in manifest.files:
                content = _content(tar, tar.next(), one.name)
                if _written(content, folder, one.name) != one:
                    raise BackupUnusable(f"{one.name} in {archive} is not what was written there")
            if tar.next() is not None:
                raise BackupUnusable(f"{archive} holds more than its manifest says")
    except (OSError, tarfile.TarError, ValueError, KeyError, TypeError) as error:
        raise BackupUnusable(f"{archive} is no archive of a home: {error}") from error
    if not {REGISTRY} <= {one.name for one in manifest.files}:
        raise BackupUnusable(f"{archive} holds no registry")
    return manifest


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo | None, name: str) -> IO[bytes]:
    if member is None or not member.isreg() or member.name != name:
        raise BackupUnusable(f"{tar.name!r} is no archive of a home: there should be {name}")
    content = tar.extractfile(member)
    assert content is not None, "a regular file has content"
    return content


def _manifest(text: bytes) -> Manifest:
    said: dict[str, Any] = json.loads(text)
    if said["format"] != FORMAT:
        raise BackupUnusable(
            f"the archive has format {said['format']!r}, this arena reads {FORMAT}: update it"
        )
    files = tuple(Kept(str(f["name"]), int(f["size"]), str(f["digest"])) for f in said["files"])
    strange = [one.name for one in files if not _NAME.fullmatch(one.name)]
    if strange or len({one.name for one in files}) < len(files):
        raise ValueError(f"its manifest names a file {strange[:1] or 'twice'}")
    return Manifest(FORMAT, datetime.fromisoformat(said["made"]), files)


def _written(content: IO[bytes], folder: Path, name: str) -> Kept:
    digest, size, path = hashlib.sha256(), 0, folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        while block := content.read(_BLOCK):
            digest.update(block)
            size += len(block)
            file.write(block)
    return Kept(name, size, digest.hexdigest())


def _remove(folder: Path, name: str) -> None:
    for path in folder.glob(f"{name}*"):
        path.unlink()
