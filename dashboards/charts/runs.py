"""Figures of CSRO runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from arena.analysis.estimates import Estimate
from dashboards import theme
from dashboards.charts.figure import bare
from dashboards.text import in_html
from oracle.values import Attempt
from population.records import Iteration, Sigma

MOST_ATTEMPTS = 150
"""Nodes of a tree of attempts."""
DASHES = ("dot", "dash", "dashdot")
"""Of reference lines, which are all grey."""
HATCHES = ("", "/", "x", "-", "+")
"""Of areas whose colours were used before."""


def sigma_area(sigmas: Sequence[Sigma], labels: Mapping[str, str]) -> go.Figure:
    """How the meta-strategy moved: one layer for each member.

    Args:
      sigmas: over 1, 2, ... members.
      labels: of the members, by digest, in the order of joining.
    """
    figure = bare(340, hovermode="x", showlegend=True, legend={"orientation": "h", "y": -0.25})
    places = list(range(len(sigmas)))
    for number, (digest, label) in enumerate(labels.items()):
        weights = [sigma.weights.get(digest, 0.0) for sigma in sigmas]
        if not any(weights):
            continue
        figure.add_trace(
            go.Scatter(
                x=places,
                y=weights,
                name=in_html(label),
                stackgroup="sigma",
                mode="lines",
                line={"width": 0.6, "color": theme.SERIES[number % len(theme.SERIES)]},
                # Colours come round again after ten members; hatching tells the rounds apart.
                fillpattern={"shape": HATCHES[number // len(theme.SERIES) % len(HATCHES)]},
                hovertemplate="%{y:.1%}",
            )
        )
    figure.update_xaxes(title="policies added", dtick=max(1, len(places) // 20))
    figure.update_yaxes(title="weight", range=[0, 1], tickformat=".0%")
    return figure


def over_iterations(
    series: Mapping[str, Sequence[tuple[float, Estimate]]],
    unit: str,
    references: Sequence[tuple[str, float]] = (),
    *,
    axis: str = "policies added",
    legend: bool = True,
) -> go.Figure:
    """Numbers with their intervals over iterations.

    Args:
      series: name to (place, estimate).
      unit: of the numbers.
      references: horizontal lines.
      axis: what the places are.
      legend: whether the names of the series are shown below; charts side by side share them.
    """
    figure = bare(360, showlegend=True, legend={"orientation": "h", "y": -0.25})
    for number, (name, points) in enumerate(series.items()):
        figure.add_trace(
            go.Scatter(
                x=[place for place, _ in points],
                y=[estimate.value for _, estimate in points],
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": [_reach(one.high - one.value) for _, one in points],
                    "arrayminus": [_reach(one.value - one.low) for _, one in points],
                    "thickness": 1.2,
                    "width": 3,
                },
                name=in_html(name),
                showlegend=legend,
                mode="lines+markers",
                line={"color": theme.SERIES[number % len(theme.SERIES)], "width": 2},
                marker={"symbol": number % 8, "size": 8},
            )
        )
    last = max((place for points in series.values() for place, _ in points), default=0.0)
    # In the legend, because lines of equal height would write their names over each other.
    for number, (label, value) in enumerate(references):
        figure.add_trace(
            go.Scatter(
                x=[0.0, max(last, 1.0)],
                y=[value, value],
                name=f"{in_html(label)} {value:.1f}",
                mode="lines",
                line={"dash": DASHES[number % len(DASHES)], "width": 1.6, "color": theme.GREY},
                hoverinfo="skip",
            )
        )
    figure.update_xaxes(title=axis, dtick=max(1, int(last) // 20))
    figure.update_yaxes(title=in_html(unit))
    return figure


def _reach(width: float) -> float:
    return max(width, 0.0) if math.isfinite(width) else 0.0


def ladder(iterations: Sequence[Iteration], unit: str) -> go.Figure:
    """Every attempt of every iteration: expected return against the sigma of its iteration."""
    figure = bare(340, showlegend=True, legend={"orientation": "h", "y": -0.25})
    kinds: dict[str, list[tuple[float, float, str]]] = {"kept": [], "not kept": [], "rejected": []}
    for one in iterations:
        for place, attempt in enumerate(one.attempts):
            x = one.k + 0.7 * ((place + 0.5) / len(one.attempts) - 0.5)
            if attempt.score is None:
                kind = attempt.failure.kind.value if attempt.failure else "no score"
                kinds["rejected"].append((x, math.nan, f"attempt {attempt.number}: {kind}"))
                continue
            told = f"attempt {attempt.number}: {attempt.score.u:+.1f} ({attempt.score.stderr:.1f})"
            name = "kept" if attempt.kept else "not kept"
            kinds[name].append((x, attempt.score.u, told))
    scored = [y for name in ("kept", "not kept") for _, y, _ in kinds[name]]
    foot = min(scored, default=0.0)
    marks = {
        "kept": {"symbol": "circle", "size": 9, "color": theme.BLUE},
        "not kept": {"symbol": "circle-open", "size": 8, "color": theme.GREY},
        "rejected": {"symbol": "x", "size": 8, "color": theme.ORANGE},
    }
    for name, points in kinds.items():
        if points:
            figure.add_trace(
                go.Scatter(
                    x=[x for x, _, _ in points],
                    y=[y if y == y else foot for _, y, _ in points],
                    text=[in_html(told) for _, _, told in points],
                    name=name,
                    mode="markers",
                    marker=marks[name],
                    hovertemplate="%{text}<extra></extra>",
                )
            )
    figure.add_hline(0, line={"width": 1, "color": theme.faint()})
    figure.update_xaxes(title="iteration", dtick=1 if len(iterations) <= 25 else None)
    figure.update_yaxes(title=f"u, {in_html(unit)} a match")
    return figure


def attempt_tree(attempts: Sequence[Attempt], dark: bool) -> str:
    """Which attempt was made from which, in the DOT language; kept ones are filled."""
    ink = "#E6EBF1" if dark else "#1B2530"
    by_digest: dict[str, str] = {}
    lines = [
        'digraph attempts { rankdir=LR; bgcolor="transparent"; nodesep=0.08; ranksep=0.35;',
        f'node [shape=box, style=rounded, fontname="sans-serif", fontsize=10, color="{theme.GREY}",'
        f' fontcolor="{ink}", margin="0.08,0.03"]; edge [color="{theme.GREY}", arrowsize=0.6];',
    ]
    for attempt in attempts[:MOST_ATTEMPTS]:
        name = f"a{attempt.number}"
        if attempt.score is not None:
            told = f"{attempt.number}: {attempt.score.u:+.1f}"
        else:
            told = f"{attempt.number}: {attempt.failure.kind.value if attempt.failure else 'none'}"
        filled = f', style="rounded,filled", fillcolor="{theme.BLUE}", fontcolor="#FFFFFF"'
        lines.append(f'{name} [label="{told}"{filled if attempt.kept else ""}];')
        if attempt.parent in by_digest:
            lines.append(f"{by_digest[attempt.parent]} -> {name};")
        if attempt.digest:
            by_digest.setdefault(attempt.digest, name)
    return "\n".join([*lines, "}"])
