"""What a run's oracle tried: the tree of attempts, and everything about one of them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import streamlit as st

from arena.figures.text import interval, labelled, signed
from arena.readable import readable
from dashboards import known, links, navigate, run_data, theme
from dashboards.charts.pointing import pointed
from dashboards.text import in_markdown
from dashboards.tiles import tiles
from dashboards.views import calls
from dashboards.views.side_by_side import side_by_side
from oracle.models.journal import Call
from population import u_intervals
from population.attempt_tree import Tried, attempt_tree, tree_of
from population.figures import ladder
from population.members import label_of
from population.records import Iteration
from population.report.facts import RunFacts
from registry import shown
from registry.values import PolicyVersion

ALL = "all iterations"


def show(facts: RunFacts) -> None:
    """Draws the part of a run's page that is about refinement."""
    iterations = [step.iteration for step in facts.steps]
    if not iterations:
        st.info("No iteration is finished yet.")
        return

    def choose(_: int, column: int) -> None:
        st.session_state.run_k = label_of(iterations[column].k)

    pointed(ladder(iterations, facts.game), key="run_ladder", on_pick=choose)
    meaning = u_intervals.meaning(facts.record.config)
    st.caption(f"{meaning} Click an iteration to see its attempts below.")
    with st.expander("Iterations in numbers"):
        _table(facts, iterations)
    options = [ALL, *(label_of(one.k) for one in iterations)]
    navigate.follow("k", "run_k", options)
    k = st.selectbox("Attempts of", options, key="run_k")
    navigate.keep("k", "run_k", k, ALL)
    chosen = [one for one in iterations if k in (ALL, label_of(one.k))]
    if not any(one.attempts for one in chosen):
        st.info("Nothing was tried here.")
        return
    _tree(facts, chosen)


def _table(facts: RunFacts, iterations: Sequence[Iteration]) -> None:
    remarks = [one or None for one in u_intervals.remarks(iterations)]
    st.dataframe(
        pa.table(
            {
                "k": [one.k for one in iterations],
                "u": [one.u for one in iterations],
                "u 95 %": [
                    interval(u_intervals.of_iteration(one, facts.record.config, facts.game))
                    for one in iterations
                ],
                **({"Of which": remarks} if any(remarks) else {}),
                "Attempts": [len(one.attempts) for one in iterations],
                "Rejected": [
                    ", ".join(f"{count} {kind}" for kind, count in step.rejected.items())
                    for step in facts.steps
                ],
                "Exploitability of sigma": [one.sigma.exploitability for one in iterations],
                "Matches": [one.effort.matches for one in iterations],
                "Seconds": [one.effort.seconds for one in iterations],
                "The search ended": [one.end.why if one.end else None for one in iterations],
                "The most that can be had": [
                    one.end.bound or None if one.end else None for one in iterations
                ],
            }
        ),
        hide_index=True,
        placeholder="-",
        column_config=dict.fromkeys(
            ("u", "Exploitability of sigma", "Seconds"),
            st.column_config.NumberColumn(format="%.1f"),
        ),
    )


def _tree(facts: RunFacts, iterations: Sequence[Iteration]) -> None:
    """The tree, a box for who cannot point, and the attempt that is chosen."""
    tree = tree_of(iterations)
    names = [one.name for one in tree.tried]

    def open_one(row: int, column: int) -> None:
        if (row, column) in tree.cells:
            st.session_state.run_attempt = tree.cells[row, column].name

    picture = attempt_tree(tree, facts.game, dark=theme.is_dark())
    pointed(picture, key="run_tree", on_pick=open_one)
    left = f" {tree.left:,} later attempts have no room: choose an iteration." if tree.left else ""
    st.caption(
        "Number of the attempt, and its u; a line leads from what it was made from. Click one to "
        f"see its program, what changed, and what it took.{left}"
    )
    navigate.follow("attempt", "run_attempt", names, "attempt")
    if st.session_state.get("run_attempt") not in names:
        st.session_state.run_attempt = names[0]
    name = st.selectbox("Attempt", names, key="run_attempt")
    navigate.keep("attempt", "run_attempt", name)
    tried = next(one for one in tree.cells.values() if one.name == name)
    _attempt(facts, tried)


def _attempt(facts: RunFacts, tried: Tried) -> None:
    """One attempt: score or reason, program, difference from its parent, call."""
    attempt = tried.attempt
    call = _call_of(facts, tried)
    versions = _versions(attempt.digest, attempt.parent)
    program, parent = versions.get(attempt.digest), versions.get(attempt.parent)
    score = attempt.score
    cost = call.reply.cost if call else None
    tiles(
        {
            "u": signed(score.u) if score else "-",
            "Fate": attempt.fate,
            "Repairs": str(attempt.repairs),
            "Cost": "none" if call is None else "unknown" if cost is None else f"{cost:.4f} USD",
        },
        {"u": labelled(u_intervals.of_score(score, facts.game))} if score else {},
    )
    if score and (given := u_intervals.forfeits_told(score.against, "Opponents")):
        st.markdown(f"{given} behind this u.")
    if attempt.failure:
        st.markdown(f"**Rejected**: {in_markdown(attempt.failure.kind.value)}")
        st.code(shown(attempt.failure.reason) or "(no reason)", language=None, wrap_lines=True)
    names = [("Program", program), ("made from", parent)]
    told = [f"{title}: {links.named(facts.game, one.ref)}" for title, one in names if one]
    if told:
        st.markdown(" · ".join(told))
    readables = [one for one in (program, parent) if one and not known.why_closed(one)]
    titles = [
        *(["Changes"] if len(readables) == 2 else []),
        *(["Source"] if program in readables else []),
    ]
    titles += ["Model call"] if call else []
    if program and program not in readables:
        st.info(known.why_closed(program), icon=":material/visibility_off:")
    if not titles:
        if program is None:
            st.info("It left no program, and no model was asked for it.")
        return
    for title, tab in zip(titles, st.tabs(titles), strict=True):
        with tab:
            if title == "Changes" and program and parent:
                side_by_side(readable(parent), readable(program), (parent.ref, program.ref))
            elif title == "Source" and program:
                language = "python" if program.kind == "python" else None
                # The box scrolls and not the code within it, which no key could reach.
                with st.container(height=560, border=False):
                    st.code(shown(readable(program)), language=language, line_numbers=True)
            elif call:
                calls.prompt_and_reply(call)


def _versions(*digests: str) -> dict[str, PolicyVersion]:
    return known.by_digests([digest for digest in digests if digest])


def _call_of(facts: RunFacts, tried: Tried) -> Call | None:
    """The model call that wrote it, the last one where it was asked again."""
    if not tried.attempt.call:
        return None
    found = run_data.calls_of(facts.record.name, tried.attempt.call)
    return found[-1] if found else None
