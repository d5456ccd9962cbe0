"""What a run asked its model, what it answered, and what that cost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import pyarrow as pa
import streamlit as st

from arena.figures.text import number
from dashboards import navigate, run_data
from dashboards.text import in_markdown
from dashboards.tiles import tiles
from oracle.grammar.starts import STARTS
from oracle.models.budget import Spent
from oracle.models.journal import Call
from population.records import RunRecord
from population.report.facts import RunFacts
from registry import shown

MOST_FOUND = 100
"""Calls that a search lists."""


def cost_of(spent: Spent) -> str:
    """What calls cost, in words."""
    if not spent.calls:
        return "none"
    return "unknown" if spent.cost is None else f"{spent.cost:.4f} USD"


def show(facts: RunFacts) -> None:
    """Draws the part of a run's page that is about its model."""
    found = run_data.calls(facts.record.name)
    if not found and facts.record.config.oracle.trains:
        st.info("No model was asked: networks were trained.")
        return
    if not found:
        st.info(
            "No model was asked: the grammar wrote the programs, which costs nothing."
            if facts.record.config.oracle.model in STARTS
            else "The model was not asked anything yet."
        )
        return
    by_iteration, each = st.tabs(["By iteration", "Every call"])
    with by_iteration:
        _by_iteration(facts)
    with each:
        _every(found)
    _one(facts.record.name, found)


def _by_iteration(facts: RunFacts) -> None:
    """Calls, tokens and cost of each iteration; descriptions of opponents stand by themselves."""
    spent = facts.usage.by_task
    st.dataframe(
        pa.Table.from_pylist(
            [_spent(task, spent[task]) for task in sorted(spent)]
            + [_spent("total", facts.usage.total)]
        ),
        hide_index=True,
        placeholder="-",
        column_config=_NUMBERS,
    )


def _spent(task: str, spent: Spent) -> dict[str, object]:
    return {
        "Iteration": task,
        "Calls": spent.calls,
        "Tokens": None if spent.unmeasured else spent.tokens,
        "Cost (USD)": spent.cost,
        "Dearest call (USD)": spent.dearest,
    }


def search(records: Sequence[RunRecord]) -> None:
    """Looks for words in the prompts and replies of some runs, and shows a call that has them."""
    navigate.follow("calls", "calls_search")
    words = st.text_input(
        "Words in prompts or replies", placeholder="SyntaxError, greenberg …", key="calls_search"
    )
    navigate.keep("calls", "calls_search", words)
    if not words.strip():
        return
    every = (
        (record.name, *one) for record in records for one in run_data.calls_having(record, words)
    )
    found = list(islice(every, MOST_FOUND))
    if not found:
        st.info("No call of these runs has all of these words.")
        return
    number = f"{len(found)} call{'s' if len(found) > 1 else ''}"
    st.caption(number if len(found) < MOST_FOUND else f"The first {number}")
    chosen = st.selectbox(
        "Call",
        found,
        format_func=lambda one: f"{one[0]}: {one[1]}" + (f", {one[2] + 1}" if one[2] else ""),
        key=f"calls_found_{' '.join(sorted(words.lower().split()))}",  # other words, other calls
    )
    run, key, place = chosen or found[0]
    prompt_and_reply(run_data.calls_of(run, key)[place])


def _every(found: Sequence[Call]) -> None:
    st.dataframe(
        pa.table(
            {
                "Call": [call.request.key for call in found],
                "Model": [shown(call.reply.model or call.model) for call in found],
                "Finish": [call.reply.finish.value for call in found],
                "Read": [call.reply.prompt_tokens for call in found],
                "Written": [call.reply.output_tokens for call in found],
                "Thought": [call.reply.thought_tokens for call in found],
                "Cost (USD)": [call.reply.cost for call in found],
                "Seconds": [call.reply.seconds for call in found],
                "Attempts": [call.reply.attempts for call in found],
                "Stored (UTC)": [call.created.replace(tzinfo=None) for call in found],
            }
        ),
        hide_index=True,
        placeholder="-",
        column_config=_NUMBERS,
    )


_NUMBERS = {
    "Cost (USD)": st.column_config.NumberColumn(format="%.4f"),
    "Dearest call (USD)": st.column_config.NumberColumn(format="%.4f"),
    "Seconds": st.column_config.NumberColumn(format="%.1f"),
    "Read": st.column_config.NumberColumn(format="localized", help="Tokens of the prompt."),
    "Written": st.column_config.NumberColumn(format="localized", help="Tokens of the reply."),
    "Thought": st.column_config.NumberColumn(format="localized", help="Tokens of thinking."),
    "Tokens": st.column_config.NumberColumn(format="localized"),
}


def _one(run: str, found: Sequence[Call]) -> None:
    """Prompt and reply of one call.  Whatever stands in them is shown as characters."""
    place = st.selectbox(
        "Prompt and reply of",
        range(len(found)),
        # One key may have been asked more than once, with other prompts.
        format_func=lambda place: f"{place + 1}: {found[place].request.key}",
        key=f"run_call_{run}",
    )
    prompt_and_reply(found[place or 0])


def prompt_and_reply(call: Call) -> None:
    """One call: what was sent, what came back, and what it took."""
    reply = call.reply
    tiles(
        {
            "Finish": reply.finish.value,
            "Tokens": "unknown" if reply.tokens is None else f"{reply.tokens:,}",
            "Cost": "unknown" if reply.cost is None else f"{reply.cost:.4f} USD",
            "Seconds": number(reply.seconds),
        }
    )
    st.caption(f"Answered by {in_markdown(reply.model or call.model)}.")
    asked, answered = st.columns(2)
    with asked:
        st.markdown("**Prompt**")
        if call.request.system:
            with st.expander("System"):
                st.code(shown(call.request.system), language=None, wrap_lines=True)
        _long(shown(call.sent))
    with answered:
        st.markdown("**Reply**")
        _long(shown(reply.text) or "(nothing)")


def _long(text: str) -> None:
    """A text in a box that scrolls; scrolling within the text itself no key could reach it."""
    with st.container(height=520, border=False):
        st.code(text, language=None, wrap_lines=True)
