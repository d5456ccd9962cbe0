"""The payoff table as a heat map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from scipy.cluster.hierarchy import leaves_list, linkage

from arena.payoffs import PayoffTable
from dashboards import theme
from dashboards.charts.figure import bare
from dashboards.text import in_html, short_ref

MOST_LABELS = 60
"""More names than that would be unreadable; the hover tells."""
MOST_COLUMN_LABELS = 24
"""Columns are in the order of the rows, and a phone has room for few names side by side."""


def payoff_heatmap(
    table: PayoffTable, refs: Sequence[str], unit: str, height: int = 720
) -> go.Figure:
    """Mean return of row against column, in the order of the table.

    Args:
      table: n policies.
      refs: (n,) what to call them.
      unit: of returns.
      height: in pixels.
    """
    labels = [in_html(short_ref(ref)) for ref in refs]
    n = len(labels)
    # Single precision is exact enough, and hundreds of rows go to the browser at once.
    values = np.where(table.count > 0, table.mean, np.nan).round(1).astype(np.float32)
    known = np.abs(values[np.isfinite(values)])
    # The largest payoffs (against a bot that always throws the same) would drown all others.
    limit = float(np.quantile(known, 0.95)) if known.size else 1.0
    hover = (
        f"<b>%{{y}}</b> against <b>%{{x}}</b><br>%{{z:+.1f}} {in_html(unit)} a match"
        "<br>standard error %{customdata[0]:.1f}, %{customdata[1]:.0f} matches"
    )
    figure = bare(height)
    figure.add_trace(
        go.Heatmap(
            z=values,
            x=labels,
            y=labels,
            zmid=0.0,
            zmin=-max(limit, 1e-9),
            zmax=max(limit, 1e-9),
            colorscale=theme.diverging(),
            customdata=np.stack([table.stderr.round(2), table.count], axis=-1).astype(np.float32),
            hoverongaps=False,
            hovertemplate=hover + "<extra></extra>",
            colorbar={
                "thickness": 10,
                "outlinewidth": 0,
                "orientation": "h",
                "y": -0.02,
                "yanchor": "top",
                "title": {"text": f"{in_html(unit)} a match", "side": "bottom"},
            },
        )
    )
    show = n <= MOST_LABELS
    figure.update_yaxes(
        autorange="reversed", showticklabels=show, tickfont={"size": 10}, dtick=1, showgrid=False
    )
    figure.update_xaxes(
        side="top",
        tickangle=-60,
        showticklabels=n <= MOST_COLUMN_LABELS,
        tickfont={"size": 10},
        dtick=1,
        showgrid=False,
    )
    return figure


def clustered(table: PayoffTable) -> list[int]:
    """An order of the policies that puts those side by side who fare alike against everybody.

    Average linkage over the Euclidean distance of rows; missing payoffs count as 0.
    """
    if len(table.digests) < 3:
        return list(range(len(table.digests)))
    rows = np.nan_to_num(table.mean, nan=0.0)
    tree = linkage(rows, method="average", optimal_ordering=len(rows) <= 120)
    order: list[int] = leaves_list(tree).tolist()
    return order
