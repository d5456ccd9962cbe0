"""Who came from whom, as a graph in the DOT language."""

from __future__ import annotations

from dataclasses import dataclass

from dashboards import theme
from registry.values import PolicyVersion


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


def lineage_graph(family: Family, focus: str, dark: bool) -> str:
    """The graph, from parents on the left to children on the right."""
    ink, paper = ("#E6EBF1", "#1A212B") if dark else ("#1B2530", "#F3F5F8")
    lines = [
        "digraph lineage {",
        'rankdir=LR; bgcolor="transparent"; nodesep=0.15; ranksep=0.5;',
        f'node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=11, '
        f'color="{theme.GREY}", fillcolor="{paper}", fontcolor="{ink}"];',
        f'edge [color="{theme.GREY}", fontname="sans-serif", fontsize=9, fontcolor="{ink}"];',
    ]
    for version in family.versions:
        style = f', fillcolor="{theme.BLUE}", fontcolor="#FFFFFF"'
        lines.append(
            f"{_quoted(version.digest)} [label={_quoted(version.ref)}"
            f"{style if version.digest == focus else ''}];"
        )
    for parent, child, relation in family.edges:
        lines.append(f"{_quoted(parent)} -> {_quoted(child)} [label={_quoted(relation)}];")
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
