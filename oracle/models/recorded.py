"""Replays a transcript: replies that were given once, without asking anybody.

A transcript has one JSON object a line.  `text` is the reply; optional are `digest` (of the
request that it answers), `key`, `finish` (stopped, cut-off or blocked), `detail`,
`prompt_tokens`, `output_tokens`, `thought_tokens` and `model`.  `transcript` writes one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from oracle.models.errors import BadTranscript, TranscriptExhausted
from oracle.models.prices import FREE, Price
from oracle.models.protocol import Finish, Reply, Request

_TEXTS = ("text", "digest", "key", "finish", "detail", "model")
_COUNTS = ("prompt_tokens", "output_tokens", "thought_tokens")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a transcript."""

    reply: Reply
    digest: str
    key: str


class RecordedModel:
    """Answers from a transcript, each line once.

    A request is answered by the first unused line of its digest and key, else by the first of its
    digest, else by the first without a digest, else by the first at all: so a transcript can be
    replayed though the prompts' words have changed.  Nothing is paid, so replies cost 0.
    """

    price: Price | None = FREE

    def __init__(self, path: Path) -> None:
        """Reads a transcript.

        Raises:
          BadTranscript: it cannot be read; the message names the line.
        """
        self.name = f"recorded:{path.name}"
        self._path = path
        self._unused = {entry.reply.origin: entry for entry in _entries(path)}
        self._total = len(self._unused)
        self._lock = threading.Lock()

    def mark_used(self, origins: Iterable[str]) -> None:
        """Passes over lines that an earlier session used, by their replies' `origin`."""
        with self._lock:
            for origin in origins:
                self._unused.pop(origin, None)

    def generate(self, request: Request) -> Reply:
        """The line that answers a request.

        Raises:
          TranscriptExhausted: all lines are used.
        """
        with self._lock:
            if not self._unused:
                raise TranscriptExhausted(
                    f"the transcript {self._path} has {self._total} replies, all are used, and "
                    f"{request.key!r} asks for another: record more, or ask for fewer iterations"
                )
            origin = min(self._unused, key=lambda o: _distance(self._unused[o], request))
            return self._unused.pop(origin).reply

    def close(self) -> None:
        """Has nothing to close."""


def transcript(calls: Iterable[tuple[Request, Reply]]) -> str:
    """Calls as a transcript, to be replayed in the same order."""
    lines = []
    for request, reply in calls:
        line: dict[str, Any] = {"digest": request.digest, "key": request.key}
        line |= {name: getattr(reply, name) for name in ("text", "finish", "detail", "model")}
        line |= {name: getattr(reply, name) for name in _COUNTS}
        lines.append(json.dumps(line) + "\n")
    return "".join(lines)


def _distance(entry: Entry, request: Request) -> int:
    """0: same question and key, 1: same question, 2: a line for any question, 3: another's."""
    if entry.digest != request.digest:
        return 3 if entry.digest else 2
    return int(entry.key != request.key)


def _entries(path: Path) -> list[Entry]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadTranscript(f"the transcript {path} cannot be read: {error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(_entry(json.loads(line), f"{path.name}:{number}"))
            except ValueError as error:
                raise BadTranscript(f"{path}, line {number}: {error}") from error
    return found


def _entry(line: Any, origin: str) -> Entry:
    if not isinstance(line, dict) or not isinstance(line.get("text"), str):
        raise ValueError('expected a JSON object with "text", the reply')
    known = {*_TEXTS, *_COUNTS}
    if set(line) - known:
        raise ValueError(f"unknown {sorted(set(line) - known)}; known are {sorted(known)}")
    for name in _TEXTS:
        if not isinstance(line.get(name, ""), str):
            raise ValueError(f'"{name}" must be a text')
    for name in _COUNTS:
        count = line.get(name)
        if count is not None and (type(count) is not int or count < 0):
            raise ValueError(f'"{name}" must be a number of tokens')
    reply = Reply(
        text=line["text"],
        finish=Finish(line.get("finish", "stopped")),
        detail=line.get("detail", ""),
        prompt_tokens=line.get("prompt_tokens"),
        output_tokens=line.get("output_tokens"),
        thought_tokens=line.get("thought_tokens") or 0,
        cost=0.0,
        model=line.get("model", ""),
    )
    return Entry(replace(reply, origin=origin), line.get("digest", ""), line.get("key", ""))
