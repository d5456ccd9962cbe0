"""Texts that tell authors what their policy did wrong, made inside the worker."""

from __future__ import annotations

import linecache
import traceback

from .instances import FILE_NAME, PolicyDefect

_FRAMES = 8


def remember_source(source: str) -> None:
    """Lets tracebacks quote the policy's lines although there is no file."""
    lines = source.splitlines(keepends=True)
    linecache.cache[FILE_NAME] = (len(source), None, lines, FILE_NAME)


def describe(error: BaseException, limit: int) -> str:
    """The traceback as far as it concerns the policy, then the exception.

    Args:
      error: what was raised; formatting it may run the policy's code.
      limit: characters; the middle is cut out of what is longer.
    """
    if isinstance(error, PolicyDefect):
        return shorten(str(error), limit)
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE_NAME
    ]
    parts = traceback.format_exception_only(type(error), error)
    if frames:
        kept = traceback.format_list(frames[-_FRAMES:])
        head = "Traceback (most recent call last):\n"
        left_out = len(frames) - _FRAMES
        if left_out > 0:
            head += f"  ... {left_out} calls left out ...\n"
        parts = [head, *kept, *parts]
    return shorten("".join(parts).rstrip(), limit)


def shorten(text: str, limit: int) -> str:
    """The text, or its beginning and end where it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    mark = "\n[...]\n"
    room = max(limit - len(mark), 0)
    tail = room * 2 // 3
    return (text[: room - tail] + mark + text[len(text) - tail :])[:limit]
