r"""Text that entrants wrote, made harmless for where it is shown.

Names, descriptions, docstrings, sources and messages never reach a page as markup: they go through
`st.text`, `st.code` or a table's cells, which show characters as they are, or through these.
"""

from __future__ import annotations

import re

from arena.analysis.estimates import Estimate
from arena.figures.escaping import in_html as in_html
from registry import shown

readable = shown
"""The text with characters that nobody sees replaced by their codes."""
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&^=@/])")


def in_markdown(text: str) -> str:
    """The text on one line, with everything escaped that Markdown could read as markup."""
    return _MARKUP.sub(r"\\\1", " ".join(readable(text).split()))


def in_code(text: str) -> str:
    """The text on one line as code within Markdown, where backslashes would be shown."""
    return f"`{' '.join(readable(text).split()).replace('`', chr(39))}`"


def demoted(markdown: str) -> str:
    """Markdown of ours with its headings two levels down, below a page's title."""
    return re.sub(r"^#", "###", markdown, flags=re.MULTILINE)


def number(value: float | None, digits: int = 1) -> str:
    """A number; a dash where there is none, and no minus before what is rounded to 0."""
    return "-" if value is None or value != value else f"{value:z,.{digits}f}"


def signed(value: float | None, digits: int = 1) -> str:
    """A number with its sign; a dash where there is none, and no sign for what is rounded to 0."""
    shown = number(value, digits)
    rises = value is not None and value > 0 and shown != number(0.0, digits)
    return f"+{shown}" if rises else shown


def interval(estimate: Estimate | None) -> str:
    """The 95 % interval; a dash where it is not known."""
    if estimate is None or estimate.low != estimate.low:
        return "-"
    return f"[{estimate.low:z,.0f}, {estimate.high:z,.0f}]"


def short_ref(ref: str) -> str:
    """A reference without its number where that is 1: charts have little room."""
    return ref.removesuffix("@1")
