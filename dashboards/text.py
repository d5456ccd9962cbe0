r"""Text that entrants wrote, made harmless for where it is shown.

Names, descriptions, docstrings, sources and messages never reach a page as markup: they go through
`st.text`, `st.code` or a table's cells, which show characters as they are, or through these.
"""

from __future__ import annotations

import re

from registry import shown

_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~$:&^=@/])")


def in_markdown(text: str) -> str:
    """The text on one line, with everything escaped that Markdown could read as markup."""
    return _MARKUP.sub(r"\\\1", " ".join(shown(text).split()))


def in_code(text: str) -> str:
    """The text on one line as code within Markdown, where backslashes would be shown."""
    return f"`{' '.join(shown(text).split()).replace('`', chr(39))}`"


def demoted(markdown: str) -> str:
    """Markdown of ours with its headings two levels down, below a page's title."""
    return re.sub(r"^#", "###", markdown, flags=re.MULTILINE)
