"""One run of Code-Space Response Oracles: how it went, and how it goes on."""

from __future__ import annotations

from datetime import UTC, datetime
from math import nan

import pyarrow as pa
import streamlit as st

from arena.analysis.estimates import Estimate
from arena.analysis.metrics import payoff_intervals
from arena.analysis.stakes import stakes_of
from arena.figures.heatmap import payoff_heatmap
from arena.figures.text import interval, labelled, number
from arena.games.protocol import Game
from dashboards import data, known, links, navigate, run_data, theme
from dashboards.charts.pointing import pointed
from dashboards.commands import typed
from dashboards.liveness import FRESH_LOOKS, Phase, ago
from dashboards.text import in_code, in_markdown
from dashboards.tiles import tiles
from dashboards.views import attempts, calls
from oracle.grammar.starts import STARTS
from population import u_intervals
from population.commands import command_of
from population.config import NETWORK
from population.evolution import METRICS, points_of
from population.figures import over_iterations, sigma_area
from population.paper import reference_lines
from population.records import RunRecord
from population.report.facts import RunFacts, sigmas_of
from population.scores import Scores
from registry import shown

PARTS = (
    *("Meta-strategy", "Against the population", "Payoffs", "Refinement", "Model calls"),
    "Configuration",
)
_ICONS = {
    Phase.WORKING: ":material/pending:",
    Phase.LEFT: ":material/motion_photos_off:",
    Phase.STOPPED: ":material/pause:",
    Phase.FINISHED: ":material/check:",
}


def show(game: Game, record: RunRecord) -> None:
    """Draws one run; looks again every few seconds while somebody works on it."""
    part = navigate.one_of("Part", PARTS, "part", "run_part", "part", label_visibility="collapsed")
    phase = run_data.phase(run_data.facts(record.name).record)

    @st.fragment(run_every=_pause(phase))
    def follow() -> None:
        facts = run_data.facts(record.name)
        now = run_data.phase(facts.record)
        _heading(facts, now)
        match part:
            case "Against the population":
                _against_population(facts)
            case "Payoffs":
                _payoffs(facts)
            case "Refinement":
                attempts.show(facts)
            case "Model calls":
                calls.show(facts)
            case "Configuration":
                _configuration(facts)
            case _:
                _sigma(game, facts)
        if now is not phase:
            st.rerun()

    follow()


def _pause(phase: Phase) -> float | None:
    """Seconds until the next look.  A run that nobody works on may be gone on with."""
    live = data.settings().live_seconds
    if phase is Phase.WORKING:
        return live
    return None if phase is Phase.FINISHED else FRESH_LOOKS * live


def _tell(record: RunRecord, phase: Phase) -> None:
    """What is going on with a run, and how to go on with it."""
    alive = run_data.liveness(record)
    if alive is not None:
        silent = ago((datetime.now(UTC) - alive.last).total_seconds())
        since = f"{alive.last:%Y-%m-%d %H:%M:%S} UTC"
    if record.note:
        st.text(shown(record.note))
    again = in_code(typed(f"csro resume {record.name}"))
    if record.config.oracle.custom:
        again = "The script that began it, which calls `population.run_csro`,"
    match phase:
        case Phase.WORKING if alive is not None:
            st.caption(f"Being worked on; last heard of {silent} ago. This page follows it.")
        case Phase.LEFT if alive is not None:
            st.warning(
                f"Nobody works on it: not heard of since {since}, {silent} ago.  "
                f"{again}  goes on where it was left.",
                icon=":material/motion_photos_off:",
            )
        case Phase.STOPPED:
            st.info(f"{again}  goes on.", icon=":material/pause:")
        case _:
            pass


def _heading(facts: RunFacts, phase: Phase) -> None:
    record = facts.record
    with st.container(horizontal=True, gap="small"):
        st.badge(phase.value, icon=_ICONS[phase], color="blue")
        st.badge(in_markdown(record.config.variant), color="gray")
        st.badge(f"seed {record.config.seed}", color="gray")
        if facts.mixture:
            link = navigate.address("policy", game=facts.game.name, policy=facts.mixture)
            st.markdown(f"[{in_markdown(facts.mixture)}]({link})", width="content")
    _tell(record, phase)
    scores = facts.scores
    values = {
        "Iterations": f"{len(facts.steps)} of {record.config.iterations}",
        "AggScore": number(scores.agg_score.value if scores else None),
        "PopReturn": number(scores.pop_return.value if scores else None),
        "PopExpl": number(scores.pop_expl.value if scores else None),
        "Minutes": number(sum(step.iteration.effort.seconds for step in facts.steps) / 60),
    }
    if record.config.oracle.model not in (*STARTS, NETWORK):
        values["Model calls"] = f"{facts.usage.total.calls:,}"
        values["Cost"] = calls.cost_of(facts.usage.total)
    notes = {}
    if scores:
        notes = {
            "AggScore": labelled(scores.agg_score),
            "PopReturn": labelled(scores.pop_return),
            "PopExpl": labelled(scores.pop_expl),
        }
    tiles(values, notes)


def _sigma(game: Game, facts: RunFacts) -> None:
    sigmas = sigmas_of(facts.record, tuple(step.iteration for step in facts.steps))
    labels = {member.digest: member.label for member in facts.members}
    if not sigmas:
        st.info("No iteration is finished yet.")
        return
    st.markdown("**The meta-strategy** after each policy that joined")
    pointed(sigma_area(sigmas, labels), key="run_sigma")
    weights = sigmas[-1].weights
    members = sorted(facts.members, key=lambda one: -weights.get(one.digest, 0.0))
    event = st.dataframe(
        pa.table(
            {
                "Joined": [member.label for member in members],
                "Policy": links.policies(game, [member.ref for member in members]),
                "Weight": [100.0 * weights.get(one.digest, 0.0) for one in members],
                "Made from": [member.parent for member in members],
                "Idea": [shown(member.description) for member in members],
            }
        ),
        hide_index=True,
        placeholder="-",
        on_select="rerun",
        selection_mode="single-row",
        key=f"members_{facts.record.name}",
        column_config={
            "Policy": links.column(),
            "Weight": st.column_config.ProgressColumn(
                format="%.1f %%", min_value=0.0, max_value=100.0
            ),
            "Idea": st.column_config.TextColumn(width="large"),
        },
    )
    if event.selection.rows:
        member = members[event.selection.rows[0]]
        navigate.go("policy", game=game.name, policy=member.ref)


def _configuration(facts: RunFacts) -> None:
    """Everything that the run was told, and how to run the same."""
    told = facts.record.config.described()
    told["Evaluation population"] = facts.measured.population
    told["Started (UTC)"] = f"{facts.record.created:%Y-%m-%d %H:%M}"
    st.dataframe(
        pa.table(
            {"What": list(told), "Value": [shown(value) for value in told.values()]},
        ),
        hide_index=True,
        height="content",
        column_config={"Value": st.column_config.TextColumn(width="large")},
    )
    st.caption(
        "Options that do nothing for this oracle are left out. Runs that differ in nothing but "
        "their seed are one variant."
    )
    command = command_of(facts.record.config)
    if command:
        st.markdown("**To run the same** elsewhere")
        st.code(shown(command), language="bash", wrap_lines=True)


def _result(name: str, scores: Scores) -> dict[str, str]:
    """A row: each figure with its interval beside it."""
    row = {"Who": name}
    for metric, field in METRICS.items():
        one = getattr(scores, field)
        row |= {metric: number(one.value), f"{metric} 95 %": interval(one)}
    return row | {"Matches an opponent": f"{scores.matches:,}"}


def _against_population(facts: RunFacts) -> None:
    points = run_data.scored(facts.record)
    if not points:
        st.info(
            "The members were not played against the evaluation population yet:  "
            + in_code(typed(f"csro report {facts.record.name} --evaluate 100"))
        )
        return
    series = {metric: points_of(points, metric) for metric in METRICS}
    pointed(
        over_iterations(series, f"{facts.game.unit} a match", reference_lines(facts.game.name)),
        key="run_metrics",
    )
    st.caption(
        f"{in_markdown(facts.measured.population)}, {min(one.matches for _, one in points):,} or "
        "more matches with each opponent. Grey: AggScores as published."
    )
    if len(facts.results) > 1:
        st.markdown("**The whole beside its parts**")
        st.dataframe(
            pa.Table.from_pylist([_result(*one) for one in facts.results]), hide_index=True
        )
    if facts.scores:
        called = known.names(facts.measured.against, facts.game)
        against = sorted(
            zip(facts.scores.against, facts.measured.against, strict=True),
            key=lambda one: one[0].value,
        )
        mean = "Mean return of the meta-strategy"
        st.dataframe(
            pa.table(
                {
                    "Opponent": links.policies(facts.game, [called[one] for _, one in against]),
                    mean: [estimate.value for estimate, _ in against],
                    "95 %": [interval(estimate) for estimate, _ in against],
                }
            ),
            hide_index=True,
            placeholder="-",
            column_config={
                "Opponent": links.column(),
                mean: st.column_config.NumberColumn(format="%+.1f"),
            },
        )


def _payoffs(facts: RunFacts) -> None:
    """The table among the members as it grew, and what each newcomer won against sigma."""
    members = facts.members
    if len(members) < 2:
        st.info("Payoffs need two members, and no policy has joined yet.")
        return
    added = len(members) - 1
    if added > 1:
        added = st.slider("Policies added", 1, added, value=added, key=f"added_{len(members)}")
    shown = members[: int(added) + 1]
    st.markdown("**Payoffs** among the members in the order of joining, row against column")
    table = facts.payoffs.restrict([member.digest for member in shown])
    pointed(
        payoff_heatmap(
            table,
            [member.label for member in shown],
            facts.game.unit,
            height=min(120 + 14 * len(shown), 620),
            dark=theme.is_dark(),
            ends=payoff_intervals(table, stakes_of(facts.game)),
        ),
        key="run_payoffs",
    )
    iterations = [step.iteration for step in facts.steps]
    found = [
        (float(one.k), u_intervals.of_iteration(one, facts.record.config, facts.game))
        for one in iterations
    ]
    joined = [(k, u) for k, u in found if u is not None]
    before = [
        (float(one.k), Estimate(one.sigma.exploitability, nan, nan, nan)) for one in iterations
    ]
    st.markdown(
        "**u**, what the newcomer of each iteration won against the meta-strategy before it, "
        "beside what the best member so far won against that"
    )
    pointed(
        over_iterations(
            {"newcomer (95 % interval)": joined, "best member before": before},
            f"{facts.game.unit} a match",
            axis="iteration",
            roots=True,
        ),
        key="run_u",
    )
