"""Text that nobody vouches for, with whatever a reader could not see made visible."""

from __future__ import annotations

import unicodedata

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Categories of characters that steer a terminal or the direction of writing, have no width, or
have no agreed form."""
_BLANK = frozenset(
    {
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164),
        *(*range(0xFE00, 0xFE0E), 0xFFA0, *range(0xE0100, 0xE01F0)),
    }
)
"""Characters that show as nothing though their category says otherwise: fillers and variation
selectors, but for the two that choose between the text and the emoji form of a character."""


def shown(text: str) -> str:
    """The text as it may be displayed: unseen characters become their code, as in [U+202E].

    Control characters, marks that turn the direction of writing and characters without a width
    are stored as they were handed in (a description says what its author wrote), and a reader is
    shown that they are there.  Line feeds and tabs stay, every other kind of space becomes a
    plain one.  Whatever escapes markup is applied to the result.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character in "\n\t" or " " < character < "\x7f":
        return character
    category = unicodedata.category(character)
    if category == "Zs":
        return " "
    if category in _UNSEEN or ord(character) in _BLANK:
        return f"[U+{ord(character):04X}]"
    return character
