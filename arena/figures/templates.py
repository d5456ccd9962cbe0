"""Markup comes out of templates: the one way in which HTML and SVG are made here.

A template is a file of Jinja2 beside the module that fills it in.  Most hold macros, one for each
piece of markup; a page of its own is a template as a whole.  Modules compute numbers and places,
templates say what is drawn there.

Whatever is put in is text: unseen characters in it become their code, and then it is escaped.
Markup that is finished is a `markupsafe.Markup`, and goes in as it is.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from arena.figures import colours
from arena.figures.marks import CROSS
from registry.display import shown

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def fill(template: str, macro: str, /, **values: object) -> Markup:
    """A piece of markup.

    Args:
      template: path of the file, from its package on, such as "arena/figures/frame.j2".
      macro: name of the macro in it.
      values: its arguments; each is escaped unless it is markup.

    Raises:
      jinja2.UndefinedError: an argument is missing.
      TypeError: there is one too many.
    """
    filled: Markup = getattr(_environment().get_template(template).module, macro)(**values)
    return filled


def fill_page(template: str, /, **values: object) -> str:
    """A whole page.

    Args:
      template: as in `fill`.
      values: what it names; each is escaped unless it is markup.

    Raises:
      jinja2.UndefinedError: the template names what is missing.
    """
    return _environment().get_template(template).render(**values)


@functools.cache
def _environment() -> Environment:
    """Compiles each template when it is first asked for, and keeps it."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # what prints text does without

    made = Environment(
        loader=FunctionLoader(_read),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_legible,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    made.globals |= {"colours": colours, "CROSS": CROSS}
    return made


def _read(template: str) -> tuple[str, str, None]:
    """Text of a template, and where it lies, for tracebacks."""
    from importlib.resources import files  # likewise

    package, _, path = template.partition("/")
    file = files(package) / path
    return file.read_text(encoding="utf-8"), str(file), None


def _legible(value: object) -> object:
    """What is escaped next."""
    return shown(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
