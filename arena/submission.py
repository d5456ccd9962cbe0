"""From a file, or a text, to a submission that the registry takes.  Nothing is executed here.

`arena.enrol` adds the trial in the sandbox; the static checks alone make no policy safe.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from arena.games.protocol import Game
from arena.kinds.neural import KIND as NEURAL
from arena.kinds.neural import described, payload_of
from arena.kinds.weights_file import MOST_BYTES
from arena.rejection import Rejection, RejectionKind
from arena.source_check import (
    MAX_BYTES,
    check_source,
    read_program,
    text_problem,
)
from registry.naming import check_submission
from registry.values import Parent, Status, Submission

__all__ = [
    "Rejection",
    "RejectionKind",
    "Source",
    "as_source",
    "check_source",
    "prepare",
    "read_source",
    "read_weights",
]

_SUMMARY_CHARS = 300

STANDARD_INPUT = Path("-")
"""Stands for what is piped in."""
KIND = "python"
"""Kind of all policies that are submitted as source."""


@dataclass(frozen=True, slots=True)
class Source:
    """A policy's source as text, its lines ended by LF, without a byte-order mark."""

    text: str


def read_source(path: Path) -> Source | Rejection:
    """Reads a policy's file.  Whatever is wrong with it is a rejection.

    The bytes are read as UTF-8, whatever an encoding cookie says.
    """
    try:
        # A named pipe without a writer would block; it is refused below.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError) as error:
        return _cannot_read(path, error)
    try:
        return _read_descriptor(path, descriptor)
    except OSError as error:
        return _cannot_read(path, error)
    finally:
        os.close(descriptor)


def read_weights(path: Path) -> bytes | Rejection:
    """Reads a file of weights; what is in it is checked by `prepare`."""
    try:
        if not path.is_file():
            return _cannot_read(path, OSError(errno.ENOENT, "no ordinary file"))
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        return _cannot_read(path, error)
    if len(data) > MOST_BYTES:
        return Rejection(
            RejectionKind.TOO_LARGE, f"{path} has more than {MOST_BYTES:,} bytes of weights"
        )
    return data


def read_stream(stream: BinaryIO) -> Source | Rejection:
    """The same from what is piped in, up to its end."""
    try:
        data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        return _cannot_read(STANDARD_INPUT, error)
    if len(data) > MAX_BYTES:
        return _too_large(STANDARD_INPUT, f"more than {MAX_BYTES:,} bytes")
    return _decoded(STANDARD_INPUT, data)


def as_source(text: str, *, max_bytes: int = MAX_BYTES) -> Source | Rejection:
    """A source from text that is in memory already."""
    if (problem := text_problem(text, max_bytes)) is not None:
        return problem
    lines_ended = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return Source(lines_ended)


def prepare(
    game: Game,
    path_or_text: Path | str | bytes,
    *,
    name: str,
    description: str = "",
    labels: Mapping[str, str] | None = None,
    provenance: Mapping[str, object] | None = None,
    parents: tuple[Parent, ...] = (),
    status: Status = Status.QUALIFIED,
) -> Submission | Rejection:
    """Reads and checks a policy and makes a submission of it; the trial is still to come.

    Args:
      game: what it plays.
      path_or_text: a `Path` is read; a `str` is the source itself; `bytes` are a file with the
        weights of a network (`arena.kinds.neural`), which is checked to the last byte.
      name: "author/name".
      description: by default the first paragraph of the class's docstring.
      labels: key-value pairs to find it by.
      provenance: where it came from.
      parents: versions that it came from.
      status: qualified or candidate.

    Returns:
      The submission, or why the source was rejected.

    Raises:
      MalformedName: the name is not "author/name".
      MalformedSubmission: the description, labels, provenance or parents cannot be stored.
      SandboxUnavailable: the process that reads sources cannot be started.
    """
    contents = _contents(game, path_or_text)
    if isinstance(contents, Rejection):
        return contents
    submission = Submission(
        game=game.name,
        name=name,
        kind=contents.kind,
        payload=contents.payload,
        status=status,
        description=description or contents.summary,
        labels=dict(labels or {}),
        provenance=dict(provenance or {}),
        parents=parents,
        code_digest=contents.code_digest,
    )
    check_submission(submission)
    return submission


@dataclass(frozen=True, slots=True)
class _Contents:
    """What was handed in, checked; `summary` describes it where its author does not."""

    kind: str
    payload: str
    summary: str
    code_digest: str = ""


def _contents(game: Game, path_or_text: Path | str | bytes) -> _Contents | Rejection:
    if isinstance(path_or_text, bytes):
        try:
            payload = payload_of(game, path_or_text)
        except ValueError as error:
            return Rejection(RejectionKind.BAD_WEIGHTS, str(error))
        return _Contents(NEURAL, payload, f"A network: {described(game, payload)}.")
    if isinstance(path_or_text, Path):
        source = read_source(path_or_text)
    else:
        source = as_source(path_or_text)
    if isinstance(source, Rejection):
        return source
    reading = read_program(source.text, game.contract)
    if reading.rejection is not None:
        return reading.rejection
    return _Contents(KIND, source.text, _summary(reading.docstring), reading.code_digest)


def _summary(docstring: str) -> str:
    """First paragraph of the docstring, on one line."""
    paragraph = docstring.strip().partition("\n\n")[0]
    words = " ".join(paragraph.replace("\0", " ").split())
    readable = words.encode(errors="replace").decode()
    return readable if len(readable) <= _SUMMARY_CHARS else readable[: _SUMMARY_CHARS - 3] + "..."


def _cannot_read(path: Path, error: OSError | ValueError) -> Rejection:
    if isinstance(error, ValueError):
        return Rejection(RejectionKind.FILE_MISSING, f"{str(path)!r} is no path: {error}")
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return Rejection(RejectionKind.FILE_MISSING, f"there is no file {path}")
    return Rejection(
        RejectionKind.UNREADABLE,
        f"{path} cannot be read: {error.strerror}; check its permissions",
    )


def _read_descriptor(path: Path, descriptor: int) -> Source | Rejection:
    facts = os.fstat(descriptor)
    if stat.S_ISDIR(facts.st_mode):
        return Rejection(
            RejectionKind.IS_DIRECTORY, f"{path} is a folder; give the policy's Python file"
        )
    if not stat.S_ISREG(facts.st_mode):
        return Rejection(
            RejectionKind.UNREADABLE,
            f"{path} is no ordinary file (a pipe, a socket or a device); save the policy to a "
            "file first",
        )
    with open(descriptor, "rb", closefd=False) as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        return _too_large(path, f"{facts.st_size:,} bytes")
    return _decoded(path, data)


def _too_large(path: Path, size: str) -> Rejection:
    return Rejection(
        RejectionKind.TOO_LARGE,
        f"{path} has {size} and a policy may have {MAX_BYTES:,}; shorten it "
        "(tables can often be computed when the policy is made)",
    )


def _decoded(path: Path, data: bytes) -> Source | Rejection:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Rejection(
            RejectionKind.NOT_TEXT,
            f"{path} is not UTF-8 text: byte {data[error.start]:#04x} on line {line}; save it as "
            "UTF-8",
            line,
        )
    return as_source(text, max_bytes=max(len(data), 1))
