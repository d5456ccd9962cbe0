"""What is measured and how, what holds the policies back, and which versions run."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import pyarrow as pa
import streamlit as st

from arena.games import GAMES
from arena.games.protocol import Game
from arena.house.population import default_population
from dashboards import data, navigate
from dashboards.commands import typed
from dashboards.text import demoted, in_code, in_markdown
from registry import shown
from registry.values import Season

PACKAGES = ("policy-arena", "open_spiel", "duckdb", "numpy", "scipy", "streamlit")


def show(game: Game) -> None:
    """Draws the page."""
    parts = {
        "Measures": lambda: _measures(game),
        "Rules": lambda: st.markdown(demoted(game.rules)),
        "This arena": _machine,
    }
    part = navigate.one_of(
        "Part", list(parts), "part", "about_part", "part", label_visibility="collapsed"
    )
    parts[part]()


def _measures(game: Game) -> None:
    population = default_population(game.name)
    exactly = "; for policies of kind tabular, exactly" if game.states else ""
    st.markdown(
        f"A match of {in_markdown(game.title)} returns {game.unit}; what one side wins the other "
        "loses. $u(\\pi, b)$ is the mean return of policy $\\pi$ against $b$, estimated from "
        "stored matches in which seats swap. $B$ is the frozen evaluation population, here "
        f"{in_markdown(population.name)} with {len(population.digests)} members; a member meets "
        "itself with a return of 0."
    )
    st.latex(r"\text{PopReturn}(\pi) = \frac{1}{|B|}\sum_{b \in B} u(\pi, b)")
    st.latex(r"\text{PopExpl}(\pi) = -\min_{b \in B} u(\pi, b)")
    st.latex(r"\text{AggScore}(\pi) = \text{PopReturn}(\pi) - \text{PopExpl}(\pi)")
    st.markdown(
        "As in Lanctot et al. 2023, *Population-based evaluation in repeated rock-paper-scissors "
        "as a benchmark for multiagent reinforcement learning* "
        "([arXiv:2303.03196](https://arxiv.org/abs/2303.03196)).\n\n"
        "- **Intervals** cover 95 %. Matches of one deal are one sample; errors use Student's "
        "quantiles. A minimum of noisy means is too small on average, and the intervals of "
        "PopExpl and AggScore allow for that.\n"
        "- **Cross-fitted PopExpl**: half of the deals names the worst opponent, the other half "
        "says what was lost to it. It has no such bias.\n"
        "- **Bands and rank ranges**: a row is ahead for sure where the 95 % interval of the "
        "difference excludes 0. Rows that nothing parts from the best of their band share it.\n"
        "- **Rating** is the mean of TrueSkill's belief with its central 95 %; rows are ordered by "
        "mean - 3 standard deviations. It sees who won, not by how much, takes its model for "
        "granted, and is provisional; the official rank is by AggScore.\n"
        "- **NashConv** is what both players together gain by best responses. In the meta-game, "
        f"over its policies only{exactly}.\n"
        "- **Forfeits**: a policy that crashes, breaks the rules or exceeds its limits loses the "
        "rest of the match."
    )
    st.latex(
        r"\text{NashConv}(\sigma) = \sum_i \Big(\max_{\pi} u_i(\pi, \sigma_{-i}) - u_i(\sigma)\Big)"
    )


def _machine() -> None:
    opening = data.submissions().opening
    st.header("Sandbox", anchor=False)
    if opening.open:
        st.text(f"Submitted policies run behind: {shown(opening.wall)}")
    elif opening.open is None:
        st.text("Looking which sandbox works here; open this page again in a few seconds.")
    else:
        st.text(f"No policies are taken from pages: {shown(opening.reason)}")
    st.markdown("The wall of every match is stored with it. `arena doctor` examines this machine.")
    st.header("Stored", anchor=False)
    counts = data.home().store.counts()
    if counts:
        st.markdown(
            _table(
                ("Game", "Matches", "Pairs", "Policies", "Forfeits"),
                [
                    (
                        f"{one.game} (rules {one.version})",
                        *(f"{n:,}" for n in (one.matches, one.pairs, one.policies, one.forfeits)),
                    )
                    for one in counts
                ],
            )
        )
    else:
        first = next(iter(GAMES))
        command = in_code(typed(f"arena play --game {first}"))
        st.info(f"Nothing was played yet: run  {command}")
    st.header("Seasons", anchor=False)
    st.markdown(
        "All seeds and deals of a season follow from a secret key. Its commitment is fixed from "
        "the start; once the season is closed (`arena seed reveal`) everybody can check it."
    )
    st.dataframe(_seasons(data.home().registry.seasons()), hide_index=True)
    st.header("Versions", anchor=False)
    st.markdown(_table(("Package", "Version"), [(name, version(name)) for name in PACKAGES]))


def _seasons(seasons: Sequence[Season]) -> pa.Table:
    return pa.table(
        {
            "Season": [one.number for one in seasons],
            "Opened": [one.opened for one in seasons],
            "Closed": pa.array([one.closed for one in seasons], pa.timestamp("us", "UTC")),
            "Commitment": [one.commitment for one in seasons],
            "Key": [
                one.key.hex() if one.closed and one.key else "given" if one.given else "secret"
                for one in seasons
            ],
        }
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A small table in Markdown; numbers stand to the right."""
    lines = [head, [":--", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
