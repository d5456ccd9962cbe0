"""An answer as JSON that is safe to print: nothing in it steers a terminal or hides there."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Unicode's categories of controls, marks without a width or of direction, and ends of lines."""


def json_text(document: Mapping[str, Any]) -> str:
    """A document as JSON in which what cannot be seen is written as escapes (RFC 8259, section 7).

    JSON itself asks that of U+0000 to U+001F only.  Line feeds stand between values, never in them.
    """
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    unseen = {one for one in set(text) if unicodedata.category(one) in _UNSEEN} - {"\n"}
    return text.translate({ord(one): json.dumps(one)[1:-1] for one in unseen})
