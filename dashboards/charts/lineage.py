"""Who came from whom, as a graph in the DOT language."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter

from arena.figures import colours
from arena.figures.text import short_ref
from registry.values import PolicyVersion

STYLES = ("solid", "dashed", "dotted")
"""Of edges, by their relation."""


@dataclass(frozen=True, slots=True)
class Family:
    """A version with its relatives.

    Attributes:
      versions: itself and its relatives.
      edges: (parent's digest, child's digest, relation).
      cut: relatives that were left out because there are too many.
    """

    versions: tuple[PolicyVersion, ...]
    edges: tuple[tuple[str, str, str], ...]
    cut: int


def line_styles(family: Family) -> dict[str, str]:
    """How the edges of each relation are drawn: words beside each edge would need much room."""
    relations = dict.fromkeys(
        relation for _, _, relation in sorted(family.edges, key=itemgetter(2))
    )
    return {name: STYLES[place % len(STYLES)] for place, name in enumerate(relations)}


def lineage_graph(family: Family, focus: str, dark: bool) -> str:
    """The graph, from parents on the left to children on the right.

    Names of the same author as the focus's go without it, and first numbers are left out.
    """
    ink, paper = ("#E6EBF1", "#1A212B") if dark else ("#1B2530", "#F3F5F8")
    styles = line_styles(family)
    lines = [
        "digraph lineage {",
        'rankdir=LR; bgcolor="transparent"; nodesep=0.12; ranksep=0.25;',
        f'node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=12, '
        f'color="{colours.GREY}", fillcolor="{paper}", fontcolor="{ink}", margin="0.08,0.04", '
        "height=0.3];",
        f'edge [color="{colours.GREY}", arrowsize=0.6];',
    ]
    author = next((f"{one.author}/" for one in family.versions if one.digest == focus), "")
    for version in family.versions:
        style = f', fillcolor="{colours.BLUE}", fontcolor="#FFFFFF"'
        name = short_ref(version.ref).removeprefix(author)
        lines.append(
            f"{_quoted(version.digest)} [label={_quoted(name)}"
            f"{style if version.digest == focus else ''}];"
        )
    for parent, child, relation in family.edges:
        lines.append(f"{_quoted(parent)} -> {_quoted(child)} [style={styles[relation]}];")
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
