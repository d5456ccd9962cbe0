"""Filling templates in: text is escaped and can be read, markup goes in as it is."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError
from markupsafe import Markup

from arena.figures.templates import fill, fill_page
from registry import shown

TEMPLATE, MACRO = "arena/figures/hands.j2", "stacked"


@given(st.text())
def test_text_is_escaped_and_nothing_of_it_is_unseen(text: str) -> None:
    filled = fill(TEMPLATE, MACRO, parts=[text])
    assert not set("<>\"'") & set(filled)
    assert "&" not in re.sub(r"&(amp|lt|gt|#34|#39);", "", filled)
    assert html.unescape(filled) == shown(text)


def test_markup_goes_in_as_it_is_and_what_comes_out_is_markup() -> None:
    once = fill(TEMPLATE, MACRO, parts=[Markup("<b>"), "<b>", 1, 0.5])
    assert isinstance(once, Markup) and once == "<b>&lt;b&gt;10.5"
    assert fill(TEMPLATE, MACRO, parts=[once]) == once


def test_what_a_template_asks_for_must_be_given() -> None:
    with pytest.raises(UndefinedError, match="'parts'"):
        fill(TEMPLATE, MACRO)
    with pytest.raises(TypeError, match="another"):
        fill(TEMPLATE, MACRO, parts=[], another=1)
    with pytest.raises(UndefinedError, match="'root'"):
        fill_page("arena/server/description.j2")
