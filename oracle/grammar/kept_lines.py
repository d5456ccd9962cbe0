"""Text with lines that are kept only where they are needed."""

from __future__ import annotations

from collections.abc import Collection


def kept_lines(text: str, has: Collection[str]) -> str:
    """The lines of a text that begin with no bracket, or with a bracket around a word in `has`.

    The word and its brackets are taken off: with {"match"}, "[match]    self.codes = {}" becomes
    "    self.codes = {}", and without it the line is left out.
    """
    kept = []
    for line in text.splitlines():
        word, bracket, rest = line.partition("]")
        if not (bracket and word.startswith("[")):
            kept.append(line)
        elif word[1:] in has:
            kept.append(rest)
    return "\n".join(kept)
