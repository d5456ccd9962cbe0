"""Text that entrants wrote, made harmless for HTML and SVG."""

from __future__ import annotations

import html

from registry import shown


def in_html(text: str) -> str:
    """The text as an HTML or SVG text node, or as a label of a chart."""
    return html.escape(shown(text))
