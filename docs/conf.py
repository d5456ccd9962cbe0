"""How Sphinx builds the site: `make docs` writes it to site/.

Everything is served from the site itself: no fonts, scripts or pictures of other hosts.  A warning
(a link that leads nowhere, a page that no table of contents has) ends the build.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent

project = "Policy Arena"
author = "Policy Arena contributors"
release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
exclude_patterns = ["**/__pycache__"]
myst_heading_anchors = 3
smartquotes = False  # two hyphens are an option

html_theme = "furo"
html_title = f"{project} {release}"
html_copy_source = False
html_show_copyright = False
# Pygments' default style has colours of less contrast than 4.5:1.
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_default_options = {"members": True}
napoleon_use_ivar = True

_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?\)")
_INCLUDED = {
    "ARCHITECTURE.md": "explanation/architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "explanation/contributing.md",
    "oracle/grammar/README.md": "explanation/grammar.md",
    "registry/README.md": "explanation/registry.md",
    "sandbox/README.md": "explanation/sandbox.md",
}
"""Documents beside the code, and the pages that show them."""


_LEFT_OUT = "tuple, ABC, Protocol, Generic"
"""Classes whose own members are nobody's promise here."""


def lead_to_pages(text: str, source: Path) -> str:
    """The text of a document beside the code, with links that hold on the site.

    What is on the site is linked there.  Of the rest, which only a checkout has, the words stay.
    """

    def link(found: re.Match[str]) -> str:
        words, target, anchor = found[1], found[2], found[3] or ""
        file = os.path.relpath((source.parent / target).resolve(), ROOT)
        there = file.removeprefix("docs/") if file.startswith("docs/") else _INCLUDED.get(file)
        if there is None:
            return words
        return f"[{words}](/{there}{anchor})"

    return _LINK.sub(link, text)


def public_names(package: str) -> Iterator[str]:
    """What a package lists as public, as lines of MyST, each with its docstring."""
    module = importlib.import_module(package)
    yield f"## {package}\n\n```{{eval-rst}}"
    for name in module.__all__:
        value = getattr(module, name)
        kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
        yield f".. auto{kind}:: {package}.{name}"
        if kind == "class" and not issubclass(value, (Exception, enum.Enum)):
            yield f"   :inherited-members: {_LEFT_OUT}"
        yield ""
    yield "```\n"


def _fill_in(app: Sphinx, page: str, content: list[str]) -> None:
    """Puts the public names where a page says `<!-- public names of PACKAGE -->`."""
    content[0] = re.sub(
        r"<!-- public names of (\w+) -->",
        lambda found: "\n".join(public_names(found[1])),
        content[0],
    )


def _include(app: Sphinx, path: Path, page: str, content: list[str]) -> None:
    content[0] = lead_to_pages(content[0], (Path(app.srcdir) / path).resolve())


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("include-read", _include)
    app.connect("source-read", _fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
