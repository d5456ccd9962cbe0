"""Runs of Code-Space Response Oracles: all of them, and how they compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import pyarrow as pa
import streamlit as st

from arena.analysis.estimates import Estimate
from arena.figures.text import interval
from arena.games.protocol import Game
from dashboards import links, navigate, run_data
from dashboards.charts.pointing import pointed
from dashboards.commands import typed
from dashboards.text import in_code, in_markdown
from dashboards.views import calls, run
from population.comparison import BEST_BY, OurRow
from population.evolution import METRICS, Points, lines_over_seeds, series_of
from population.figures import over_iterations
from population.paper import Figure, PaperRow, published_rows, reference_lines
from population.records import RunRecord
from registry import shown

COMPARED = 8
"""Runs that are drawn in one comparison."""
EACH, SEEDS = "Each run", "Mean over seeds"


def show(game: Game) -> None:
    """Draws the page."""
    found = run_data.records(game)
    if not found:
        st.info(
            "No run of CSRO yet. Start one without any key, from the command line; this page "
            "follows it:"
        )
        st.code(
            typed(f"csro run --game {game.name} --oracle linear --model grammar --iterations 5"),
            language="bash",
            wrap_lines=True,
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
    if asked and asked not in names:
        st.error(f"There is no run {in_markdown(asked)} of this game. These are all:")
    elif asked and chosen == options[0]:
        navigate.go("runs", game=game.name)
    if chosen in names:
        run.show(game, found[names.index(str(chosen))])
    else:
        _all(game, found)


def _all(game: Game, found: Sequence[RunRecord]) -> None:
    """The list of runs, their metrics over iterations, and the paper's figures."""
    _list(game, found)
    _compare(game, found)
    _by_variant(game, found)
    with st.expander("Model calls of all runs", icon=":material/search:"):
        calls.search(found)
    rows = [_published(row) for row in published_rows(game.name)]
    if not rows:
        return
    with st.expander("As published", icon=":material/article:"):
        st.dataframe(
            pa.Table.from_pylist(rows),
            hide_index=True,
            placeholder="-",
            column_config=_decimals(),
        )


def _list(game: Game, found: Sequence[RunRecord]) -> None:
    event = st.dataframe(
        pa.Table.from_pylist([_line(record) for record in found]),
        hide_index=True,
        placeholder="-",
        on_select="rerun",
        selection_mode="single-row",
        key=f"runs_{game.name}",
        column_config=_decimals() | {"Run": links.column("run", pinned=True)},
    )
    st.caption("Select a run to open it.")
    if event.selection.rows:
        navigate.go("runs", game=game.name, run=found[event.selection.rows[0]].name)


def _line(record: RunRecord) -> dict[str, object]:
    course, scores = run_data.course(record), run_data.latest(record)
    done, spent = run_data.done(record.name), run_data.spent(record)
    return {
        "Run": links.run(record.config.game, record.name),
        "State": run_data.phase(record).value,
        "Oracle": record.config.variant,
        "Seed": record.config.seed,
        "Iterations": f"{done} of {record.config.iterations}",
        **_scored("AggScore", scores.agg_score if scores else None),
        **_scored("PopReturn", scores.pop_return if scores else None),
        **_scored("PopExpl", scores.pop_expl if scores else None),
        "Minutes": course.minutes,
        "Rejected": f"{course.rejected} of {course.attempts}",
        "Model calls": spent.calls,
        "Tokens": spent.tokens,
        "Cost (USD)": spent.cost if spent.calls else 0.0,
        "Started (UTC)": record.created.replace(tzinfo=None),
    }


def _scored(metric: str, estimate: Estimate | None) -> dict[str, object]:
    """A score, and its own interval in the column after it."""
    told = None if estimate is None else interval(estimate)
    return {metric: None if estimate is None else estimate.value, f"{metric} 95 %": told}


def _compare(game: Game, found: Sequence[RunRecord]) -> None:
    """AggScore, PopReturn and PopExpl over iterations, side by side."""
    st.header("Compared", anchor=False)
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    names, key = [record.name for record in found], f"compared_{game.name}"
    measured = [record.name for record in found if run_data.scored(record)][:COMPARED]
    navigate.follow_all("compared", key, names, "run")
    st.session_state[key] = st.session_state.get(key, [])[:COMPARED] or measured
    chosen = left.multiselect("Runs", names, max_selections=COMPARED, key=key)
    navigate.keep_all("compared", key, [] if chosen == measured else chosen)
    how = navigate.one_of("Lines", (EACH, SEEDS), "lines", "compared_how", at=right, wrap=True)
    picked = [record for record in found if record.name in chosen]
    scored = {record.name: run_data.scored(record) for record in picked}
    if not any(scored.values()):
        st.info(
            "None of these runs was played against the evaluation population yet:  "
            + in_code(typed(f"csro report {found[0].name} --evaluate 100"))
        )
        return
    lines = {
        metric: lines_over_seeds(picked, scored, metric)
        if how == SEEDS
        else series_of(scored, metric)
        for metric in METRICS
    }
    _charts(game, lines)
    _configurations(picked)
    st.caption(
        "Bars: 95 % intervals of the mean over seeds; of a single seed, of its matches."
        if how == SEEDS
        else "Bars: 95 % intervals, of the matches that were played; other seeds differ by more."
    )
    gaps = [record for record in picked if run_data.unmeasured(record)]
    if gaps:
        st.caption(
            "Dashed: iterations between were not measured. What is missing of "
            f"{', '.join(in_markdown(record.name) for record in gaps)} is played by  "
            + in_code(typed(f"csro report {gaps[0].name} --evaluate 100"))
        )


def _configurations(picked: Sequence[RunRecord]) -> None:
    """What the compared runs were told otherwise than each other."""
    if len(picked) < 2:
        return
    told = {record.name: record.config.described() for record in picked}
    titles = dict.fromkeys(title for one in told.values() for title in one)
    differing = [
        title for title in titles if len({one.get(title, "") for one in told.values()}) > 1
    ]
    if not differing:
        st.caption("They were told the same.")
        return
    st.markdown("**Configurations**, where they differ")
    columns = {
        name: [shown(one.get(title, "-")) for title in differing] for name, one in told.items()
    }
    st.dataframe(pa.table({"What": differing, **columns}), hide_index=True)


def _charts(game: Game, lines: Mapping[str, Mapping[str, Points]]) -> None:
    unit = f"{game.unit} a match"
    with st.container(border=True):
        st.markdown("**AggScore** of the meta-strategy; larger is better")
        pointed(
            over_iterations(lines["AggScore"], unit, reference_lines(game.name)),
            key="compared_AggScore",
        )
    titles = {
        "PopReturn": "**PopReturn**; larger is better",
        "PopExpl": "**PopExpl**, what the worst opponent takes; smaller is better",
    }
    for column, (metric, title) in zip(st.columns(2), titles.items(), strict=True):
        with column, st.container(border=True):
            st.markdown(title)
            pointed(
                over_iterations(
                    lines[metric], unit, reference_lines(game.name, METRICS[metric]), names=False
                ),
                key=f"compared_{metric}",
            )


def _by_variant(game: Game, found: Sequence[RunRecord]) -> None:
    """Finished runs grouped by what they were told but for the seed, as `csro table` does."""
    rows = run_data.by_variant(found)
    if not rows:
        return
    st.header("By variant", anchor=False)
    st.dataframe(
        pa.Table.from_pylist([line for row in rows for line in _variant(row, found)]),
        hide_index=True,
        placeholder="-",
        column_config=_decimals(),
    )
    waiting = [name for row in rows for name in row.waiting]
    st.caption(
        "Finished runs: means over seeds with 95 % intervals; minutes, rejected attempts and "
        "cost are of an average run. What the first newcomers reach alone stands below: the rest "
        "of a run is what is above that. "
        + (
            f"Not measured yet: {', '.join(map(in_markdown, waiting))}; run  "
            + in_code(typed(f"csro report {waiting[0]} --evaluate 100"))
            if waiting
            else ""
        )
    )


def _variant(row: OurRow, found: Sequence[RunRecord]) -> list[dict[str, object]]:
    """The scores, and what a run cost on average; then what its first newcomers reach alone."""
    records = [record for record in found if record.name in row.runs]
    courses = [run_data.course(record) for record in records]
    costs = [run_data.spent(record).cost for record in records]
    known = [cost for cost in costs if cost is not None]
    attempts = sum(course.attempts for course in courses)
    whole: dict[str, object] = {
        "Variant": row.variant,
        "K": row.iterations,
        "Seeds": ", ".join(map(str, row.seeds)) or "none measured",
        **_with_intervals(row.agg_score, row.pop_return, row.pop_expl),
        "Best run": row.best,
        "Best policy": row.best_single,
        "Matches a cell": row.matches,
        "Minutes": fmean(course.minutes for course in courses),
        "Rejected": f"{sum(course.rejected for course in courses) / max(attempts, 1):.0%}",
        "Cost (USD)": fmean(known) if len(known) == len(records) else None,
    }
    if row.first is None:
        return [whole]
    alone = row.first.ours
    scores = _with_intervals(alone.agg_score, alone.pop_return, alone.pop_expl)
    first = dict.fromkeys(whole) | {
        "Variant": f"first newcomer of {row.variant}",  # whatever the rows are sorted by
        "K": row.iterations,
        "Seeds": str(row.first),
    }
    return [whole, first | scores]


def _published(row: PaperRow) -> dict[str, object]:
    return {
        "Method": row.method,
        **_with_errors(row.agg_score, row.pop_return, row.pop_expl),
        "Best run": row.best,
    }


def _with_intervals(*estimates: Estimate | None) -> dict[str, object]:
    """Means of AggScore, PopReturn and PopExpl, each beside its interval."""
    found: dict[str, object] = {}
    for metric, one in zip(METRICS, estimates, strict=True):
        found[metric] = one.value if one else None
        found[f"95 % {metric}"] = interval(one) if one else None
    return found


def _with_errors(*figures: Figure) -> dict[str, float | None]:
    """The paper's means of the same, each beside its own error."""
    found: dict[str, float | None] = {}
    for metric, figure in zip(METRICS, figures, strict=True):
        found[metric] = figure.mean
        found[f"± {metric}"] = figure.error
    return found


def _decimals() -> dict[str, Any]:
    one = st.column_config.NumberColumn(format="%.1f", width="small")
    errors = {
        f"± {metric}": st.column_config.NumberColumn("±", format="%.1f", width=56)
        for metric in METRICS
    }
    intervals = {
        f"95 % {metric}": st.column_config.TextColumn("95 %", width=84) for metric in METRICS
    }
    names = (*METRICS, "Minutes", "Best run")
    single = st.column_config.NumberColumn(
        format="%.1f", width="small", help=f"AggScore of the best single policy, {BEST_BY}."
    )
    cost = st.column_config.NumberColumn(format="%.2f", width="small")
    found = {**dict.fromkeys(names, one), **errors, **intervals}
    return found | {"Best policy": single, "Cost (USD)": cost}
