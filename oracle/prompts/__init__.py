"""The texts of the prompts, with places for what changes ($name, as in `string.Template`)."""

from __future__ import annotations

import functools
import hashlib
from importlib.resources import files
from string import Template

VERSION = 11
"""Rises whenever a text changes, so that runs can say which prompts they used."""
NAMES = (
    "aim",
    "angle",
    "angles_fresh",
    "angles_revision",
    "describe",
    "describe_role",
    "edit_request",
    "generality",
    "goal",
    "goal_shared",
    "incumbent",
    "inspirations",
    "interface",
    "leaked",
    "latest",
    "left_out",
    "mend",
    "opponents_code",
    "opponents_description",
    "opponents_none",
    "opponents_none_one",
    "opponents_unshown",
    "played",
    "program_request",
    "program_so_far",
    "reading",
    "refused",
    "refused_change",
    "repair",
    "role",
    "situation_many",
    "situation_one",
    "situation_pure",
    "traces",
    "tried",
    "unplayed",
)


@functools.cache
def text_of(name: str) -> str:
    """A template's text as it is stored."""
    return files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")


@functools.cache
def lines_of(name: str) -> tuple[str, ...]:
    """The lines of a text that is a list."""
    return tuple(line.strip() for line in text_of(name).splitlines() if line.strip())


def fill(name: str, **values: object) -> str:
    """A template with its places filled; a value's own dollar signs mean nothing.

    Raises:
      KeyError: a place is not filled.
    """
    return Template(text_of(name)).substitute(values).strip()


@functools.cache
def digest() -> str:
    """32 hex digits over all templates."""
    hashed = hashlib.blake2b(digest_size=16)
    for name in NAMES:
        hashed.update(f"{name}\x1f{text_of(name)}\x1e".encode())
    return hashed.hexdigest()


def edition() -> str:
    """Version and digest of the templates in a few characters, for a run to be told apart by."""
    return f"{VERSION}-{digest()[:12]}"
