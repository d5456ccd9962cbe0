"""Where a policy came from, what came from it, and what is registered of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
import streamlit as st

from arena.conduct import conduct_of, in_words
from arena.games.protocol import Game
from dashboards import data, known, navigate, theme
from dashboards.charts.lineage import line_styles, lineage_graph
from dashboards.text import in_markdown
from registry import shown
from registry.values import PolicyVersion


def show(game: Game, version: PolicyVersion) -> None:
    """Draws the part of a policy's page that is about its relatives and its origin."""
    family = known.family(version.digest)
    if len(family.versions) > 1:
        st.graphviz_chart(lineage_graph(family, version.digest, theme.is_dark()))
        told = [f"{style}: {in_markdown(name)}" for name, style in line_styles(family).items()]
        told += [f"{family.cut} more relatives are not drawn"] if family.cut else []
        st.caption(f"Lines: {'; '.join(told)}.")
        relatives = [one.ref for one in family.versions if one.digest != version.digest]
        with st.container(horizontal=True):
            for ref in relatives[:12]:
                st.markdown(
                    f"[{in_markdown(ref)}]"
                    f"({navigate.address('policy', game=game.name, policy=ref)})",
                    width="content",
                )
    else:
        st.info("No parents or children are registered: it was written from scratch.")
    facts = dict(_spread(version.provenance))
    facts["digest"] = version.digest
    facts |= in_words(conduct_of(data.home(), version, game.version))
    clones: tuple[PolicyVersion, ...] = ()
    if version.code_digest:
        clones = data.home().registry.find(version.game, code_digest=version.code_digest)
    others = [one.ref for one in known.seen(clones) if one.digest != version.digest]
    if others:
        facts["same code as"] = ", ".join(others)
    st.dataframe(
        pa.table({"What": list(facts), "Value": [shown(text) for text in facts.values()]}),
        hide_index=True,
    )


def _spread(document: Mapping[str, object], inside: str = "") -> Iterator[tuple[str, str]]:
    """What a document says, a line each: also what documents within it say."""
    for key, value in sorted(document.items()):
        name = f"{inside}{key}"
        if isinstance(value, Mapping):
            yield from _spread(value, f"{name} ")
        else:
            yield name, str(value)
