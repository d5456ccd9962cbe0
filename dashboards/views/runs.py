"""Runs of Code-Space Response Oracles: how they went, and how they compare."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import streamlit as st

from arena.games.protocol import Game
from dashboards import navigate, run_data, theme
from dashboards.charts.figure import CONFIG
from dashboards.charts.heatmap import payoff_heatmap
from dashboards.charts.runs import attempt_tree, ladder, over_iterations, sigma_area
from dashboards.text import in_markdown, interval, number, readable
from dashboards.tiles import tiles
from oracle.models.budget import Spent
from population.paper import methods, reference_lines
from population.records import RunRecord, RunState
from population.report.facts import RunFacts, sigmas_of

PARTS = ("Meta-strategy", "Against the population", "Payoffs", "Refinement", "Model calls")
LIVE_SECONDS = 4.0
COMPARED = 6
"""Runs that are drawn in one comparison."""
_ICONS = {
    RunState.FINISHED: ":material/check:",
    RunState.UNFINISHED: ":material/pending:",
    RunState.STOPPED: ":material/pause:",
}


def show(game: Game) -> None:
    """Draws the page."""
    found = run_data.records(game)
    if not found:
        st.info(
            "No run of CSRO yet. Start one without any key, from the command line; this page "
            "follows it:"
        )
        st.code(
            f"csro run --game {game.name} --oracle linear --model grammar --iterations 5",
            language="bash",
        )
        return
    names = [record.name for record in found]
    asked = navigate.asked("run")
    options = ["all runs, compared", *names]
    chosen = st.selectbox(
        "Run",
        options,
        index=options.index(asked) if asked in names else 0,
        key=f"run_{game.name}_{asked}",
        label_visibility="collapsed",
    )
    if chosen in names and chosen != asked:
        navigate.go("runs", game=game.name, run=str(chosen))
    if asked and chosen == options[0]:
        navigate.go("runs", game=game.name)
    if asked and asked not in names:
        st.error(f"There is no run {in_markdown(asked)} of this game.")
    if chosen in names:
        _one(game, found[names.index(str(chosen))])
    else:
        _all(game, found)


def _all(game: Game, found: Sequence[RunRecord]) -> None:
    """The list of runs, their AggScore over iterations, and the paper's figures."""
    event = st.dataframe(
        pa.Table.from_pylist([_line(record) for record in found]),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"runs_{game.name}",
        column_config={
            name: st.column_config.NumberColumn(format="%.1f")
            for name in ("AggScore", "PopReturn", "PopExpl")
        },
    )
    st.caption("Select a run to open it.")
    if event.selection.rows:
        navigate.go("runs", game=game.name, run=found[event.selection.rows[0]].name)
    chosen = st.multiselect(
        "Compared",
        [record.name for record in found],
        default=[record.name for record in found[:COMPARED]],
        max_selections=COMPARED,
        key=f"compared_{game.name}",
    )
    series = {
        name: [(place, scores.agg_score) for place, scores in run_data.scored(name)]
        for name in chosen
    }
    series = {name: points for name, points in series.items() if points}
    if series:
        st.markdown("**AggScore** of the meta-strategy, with 95 % intervals")
        st.plotly_chart(
            over_iterations(series, f"{game.unit} a match", reference_lines(game.name)),
            config=CONFIG,
            key="runs_compared",
        )
    else:
        st.info(
            "None of these runs was played against the evaluation population yet:  "
            f"`csro report {in_markdown(found[0].name)} --evaluate 100`"
        )
    with st.expander("As published", icon=":material/article:"):
        st.dataframe(
            pa.table(
                {
                    "Method": [row.method for row in methods(game.name)],
                    "AggScore": [row.agg_score.mean for row in methods(game.name)],
                    "Error": [row.agg_score.error for row in methods(game.name)],
                    "PopReturn": [row.pop_return.mean for row in methods(game.name)],
                    "PopExpl": [row.pop_expl.mean for row in methods(game.name)],
                }
            ),
            hide_index=True,
        )


def _line(record: RunRecord) -> dict[str, object]:
    points = run_data.scored(record.name)
    scores = points[-1][1] if points else None
    return {
        "Run": record.name,
        "State": record.state.value,
        "Oracle": record.config.variant,
        "Seed": record.config.seed,
        "Iterations": f"{run_data.done(record.name)} of {record.config.iterations}",
        "AggScore": scores.agg_score.value if scores else None,
        "PopReturn": scores.pop_return.value if scores else None,
        "PopExpl": scores.pop_expl.value if scores else None,
        "Started (UTC)": record.created.replace(tzinfo=None),
    }


def _one(game: Game, record: RunRecord) -> None:
    """One run; looks again every few seconds until it is finished."""
    live = record.state is RunState.UNFINISHED
    part = st.segmented_control(
        "Part",
        PARTS,
        default=PARTS[0],
        required=True,
        key="run_part",
        label_visibility="collapsed",
    )

    @st.fragment(run_every=LIVE_SECONDS if live else None)
    def follow() -> None:
        facts = run_data.facts(record.name)
        _heading(facts)
        match part:
            case "Against the population":
                _against_population(facts)
            case "Payoffs":
                _payoffs(facts)
            case "Refinement":
                _refinement(facts)
            case "Model calls":
                _calls(facts)
            case _:
                _sigma(game, facts)
        if live and facts.record.state is not RunState.UNFINISHED:
            st.rerun()

    follow()


def _heading(facts: RunFacts) -> None:
    record = facts.record
    with st.container(horizontal=True, gap="small"):
        st.badge(record.state.value, icon=_ICONS[record.state], color="blue")
        st.badge(in_markdown(record.config.variant), color="gray")
        st.badge(f"seed {record.config.seed}", color="gray")
        if facts.mixture:
            link = navigate.address("policy", game=facts.game.name, policy=facts.mixture)
            st.markdown(f"[{in_markdown(facts.mixture)}]({link})", width="content")
    if record.note:
        st.text(readable(record.note))
    scores = facts.scores
    values = {
        "Iterations": f"{len(facts.steps)} of {record.config.iterations}",
        "AggScore": number(scores.agg_score.value if scores else None),
        "PopReturn": number(scores.pop_return.value if scores else None),
        "PopExpl": number(scores.pop_expl.value if scores else None),
        "Model calls": f"{facts.usage.total.calls:,}",
        "Cost": _cost(facts.usage.total),
        "Minutes": number(sum(step.iteration.effort.seconds for step in facts.steps) / 60),
    }
    notes = {}
    if scores:
        notes = {
            "AggScore": interval(scores.agg_score),
            "PopReturn": interval(scores.pop_return),
            "PopExpl": interval(scores.pop_expl),
        }
    tiles(values, notes)


def _cost(spent: Spent) -> str:
    if not spent.calls:
        return "none"
    return "unknown" if spent.cost is None else f"{spent.cost:.4f} USD"


def _sigma(game: Game, facts: RunFacts) -> None:
    sigmas = sigmas_of(facts.record, tuple(step.iteration for step in facts.steps))
    labels = {member.digest: member.label for member in facts.members}
    if not sigmas:
        st.info("The first iteration is still being worked on.")
        return
    st.markdown("**The meta-strategy** as policies joined")
    st.plotly_chart(sigma_area(sigmas, labels), config=CONFIG, key="run_sigma")
    weights = sigmas[-1].weights
    event = st.dataframe(
        pa.table(
            {
                "Joined": [member.label for member in facts.members],
                "Policy": [member.ref for member in facts.members],
                "Weight": [100.0 * weights.get(one.digest, 0.0) for one in facts.members],
                "Made from": [member.parent for member in facts.members],
                "Idea": [readable(member.description) for member in facts.members],
            }
        ),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"members_{facts.record.name}",
        column_config={
            "Weight": st.column_config.ProgressColumn(
                format="%.1f %%", min_value=0.0, max_value=100.0
            ),
            "Idea": st.column_config.TextColumn(width="large"),
        },
    )
    if event.selection.rows:
        member = facts.members[event.selection.rows[0]]
        navigate.go("policy", game=game.name, policy=member.ref)


def _against_population(facts: RunFacts) -> None:
    points = run_data.scored(facts.record.name)
    if not points:
        st.info(
            "The members were not played against the evaluation population yet:  "
            f"`csro report {in_markdown(facts.record.name)} --evaluate 100`"
        )
        return
    names = {"AggScore": "agg_score", "PopReturn": "pop_return", "PopExpl": "pop_expl"}
    series = {
        name: [(place, getattr(scores, field)) for place, scores in points]
        for name, field in names.items()
    }
    st.plotly_chart(
        over_iterations(series, f"{facts.game.unit} a match", reference_lines(facts.game.name)),
        config=CONFIG,
        key="run_metrics",
    )
    st.caption(
        f"{in_markdown(facts.measured.population)}, at least {facts.measured.least_matches:,} "
        "matches with each opponent. Dotted: AggScores as published."
    )
    if facts.scores:
        against = sorted(zip(facts.scores.against, facts.measured.bots, strict=True))
        st.dataframe(
            pa.table(
                {
                    "Opponent": [bot for _, bot in against],
                    "Mean return of the meta-strategy": [mean for mean, _ in against],
                }
            ),
            hide_index=True,
        )


def _payoffs(facts: RunFacts) -> None:
    labels = [member.label for member in facts.members]
    st.markdown("**Payoffs** among the members, row against column")
    st.plotly_chart(
        payoff_heatmap(
            facts.payoffs, labels, facts.game.unit, height=min(300 + 16 * len(labels), 760)
        ),
        config=CONFIG | {"displayModeBar": False},
        key="run_payoffs",
    )


def _refinement(facts: RunFacts) -> None:
    iterations = [step.iteration for step in facts.steps]
    if not iterations:
        st.info("The first iteration is still being worked on.")
        return
    st.plotly_chart(ladder(iterations, facts.game.unit), config=CONFIG, key="run_ladder")
    st.dataframe(
        pa.table(
            {
                "k": [one.k for one in iterations],
                "u": [one.u for one in iterations],
                "Standard error": [one.stderr for one in iterations],
                "Attempts": [len(one.attempts) for one in iterations],
                "Rejected": [
                    ", ".join(f"{count} {kind}" for kind, count in step.rejected.items())
                    for step in facts.steps
                ],
                "Exploitability of sigma": [one.sigma.exploitability for one in iterations],
                "Matches": [one.effort.matches for one in iterations],
                "Seconds": [one.effort.seconds for one in iterations],
            }
        ),
        hide_index=True,
    )
    k = st.selectbox("Attempts of iteration", [one.k for one in iterations], key="run_k")
    attempts = next(one.attempts for one in iterations if one.k == k)
    if not attempts:
        st.info("Nothing was tried in this iteration.")
        return
    st.graphviz_chart(attempt_tree(attempts, theme.is_dark()))
    st.caption("Filled: became the best of its iteration when it was tried.")
    failed = [one for one in attempts if one.failure]
    if failed:
        st.dataframe(
            pa.table(
                {
                    "Attempt": [one.number for one in failed],
                    "Rejected": [one.failure.kind.value if one.failure else "" for one in failed],
                    "Reason": [
                        readable(one.failure.reason) if one.failure else "" for one in failed
                    ],
                }
            ),
            hide_index=True,
            column_config={"Reason": st.column_config.TextColumn(width="large")},
        )


def _calls(facts: RunFacts) -> None:
    calls = run_data.calls(facts.record.name)
    if not calls:
        st.info("No model was asked: the grammar wrote the programs, which costs nothing.")
        return
    st.dataframe(
        pa.table(
            {
                "Call": [call.request.key for call in calls],
                "Model": [call.reply.model or call.model for call in calls],
                "Finish": [call.reply.finish.value for call in calls],
                "Tokens": [call.reply.tokens for call in calls],
                "Cost (USD)": [call.reply.cost for call in calls],
                "Seconds": [call.reply.seconds for call in calls],
                "Attempts": [call.reply.attempts for call in calls],
            }
        ),
        hide_index=True,
    )
    key = st.selectbox("Prompt and reply of", [call.request.key for call in calls], key="run_call")
    call = next(call for call in calls if call.request.key == key)
    prompt, reply = st.columns(2)
    with prompt:
        st.markdown("**Prompt**")
        if call.request.system:
            st.code(readable(call.request.system), language=None, wrap_lines=True)
        st.code(readable(call.request.prompt), language=None, wrap_lines=True, height=520)
    with reply:
        st.markdown("**Reply**")
        st.code(
            readable(call.reply.text) or "(nothing)", language=None, wrap_lines=True, height=520
        )
