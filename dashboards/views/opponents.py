"""How a policy fares against each opponent, and the matches behind each of these numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import streamlit as st

from arena.analysis.metrics import AgainstOpponent, Evaluation
from arena.figures.intervals import Line, interval_plot
from arena.figures.text import labelled, short_ref, signed
from arena.games.protocol import Game
from arena.nesting import mixtures_of
from arena.store.values import MatchRow
from dashboards import data, known, links, navigate
from dashboards.charts.pointing import pointed
from dashboards.commands import typed
from dashboards.text import in_code, in_markdown
from dashboards.tiles import tiles
from dashboards.views.watching import matches_to_watch
from registry.values import PolicyVersion

CHARTED = 24
"""Opponents that the chart shows, worst first; the table has all."""
SHOWN = 20
"""Matches of a pair that are listed, the worst first."""
READ = 1_000
"""Matches of a pair that these are chosen from, the newest: the store orders by nothing else."""


def results(game: Game, version: PolicyVersion) -> None:
    """Draws the worst opponents, the mean return against each, and one of them head to head."""
    everybody = navigate.switched(
        "Everybody, not only the evaluation population", "everybody", "policy_everybody"
    )
    result = data.evaluated(game, version.digest, everybody=everybody)
    met = met_in(result)
    if not met:
        _nobody(game, version, everybody)
        return
    called = known.names([one.digest for one in met], game)
    worst = ", ".join(
        f"{links.named(game, called[one.digest])} ({signed(one.payoff.value)})"
        for one in met[:3]
        if one.payoff
    )
    st.markdown(f"**Worst opponents:** {worst}")
    lines = [
        Line.of_return(short_ref(called[one.digest]), one.payoff)
        for one in met[:CHARTED]
        if one.payoff
    ]
    pointed(
        interval_plot(lines, f"mean return, {game.unit} a match (95 % interval)"),
        key="policy_opponents",
    )
    if len(met) > CHARTED:
        st.caption(f"The {CHARTED} worst of {len(met)}; the table has all.")
    _table_and_pair(game, version, met, called, f"{version.digest}_{everybody}")


def met_in(result: Evaluation) -> list[AgainstOpponent]:
    """Those opponents that a policy really met, the worst for it first.

    What a mixture of one policy gets from that policy is known without a match.
    """
    met = [one for one in result.per_opponent if one.payoff and one.matches and not one.itself]
    return sorted(met, key=lambda one: one.payoff.value if one.payoff else 0.0)


def _nobody(game: Game, version: PolicyVersion, everybody: bool) -> None:
    whom = "nobody" if everybody else "none of the evaluation population"
    how = f"play --game {game.name} --only" if everybody else f"evaluate --game {game.name}"
    st.info(
        f"It has no worst opponent: it has met {whom} yet. Play it:  "
        + in_code(typed(f"arena {how} {version.ref}"))
    )


@st.fragment
def _table_and_pair(
    game: Game,
    version: PolicyVersion,
    met: Sequence[AgainstOpponent],
    called: Mapping[str, str],
    key: str,
) -> None:
    """All opponents, the worst first, and below them the one that is selected."""
    st.caption("Select an opponent to see their matches below.")
    refs, key = [called[one.digest] for one in met], f"opponents_{key}"
    navigate.follow_row("against", key, refs, "opponent")
    event = st.dataframe(
        _table(game, met, called),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row-required",
        key=key,
        column_config={
            name: st.column_config.NumberColumn(format="%.1f")
            for name in ("Mean", "95 % low", "95 % high")
        }
        | {"Opponent": links.column()},
    )
    # New matches may have changed the rows since one was selected.
    chosen = min(event.selection.rows[0] if event.selection.rows else 0, len(met) - 1)
    navigate.keep("against", key, refs[chosen], refs[0])
    _pair(game, version, met[chosen], called)


def _table(game: Game, met: Sequence[AgainstOpponent], called: Mapping[str, str]) -> pa.Table:
    # Browsers round a half up and Python to even digits: rounded here, a number is the same in
    # the table as in the tiles and the texts.
    known = [one.payoff for one in met if one.payoff]
    return pa.table(
        {
            "Opponent": links.policies(game, [called[one.digest] for one in met]),
            "Mean": [round(one.value, 1) for one in known],
            "95 % low": [round(one.low, 1) for one in known],
            "95 % high": [round(one.high, 1) for one in known],
            "Won": [one.wins for one in met],
            "Drawn": [one.draws for one in met],
            "Lost": [one.losses for one in met],
            "Forfeits": [one.forfeits for one in met],
            "Its forfeits": [one.opponent_forfeits for one in met],
        }
    )


def _pair(
    game: Game, version: PolicyVersion, one: AgainstOpponent, called: Mapping[str, str]
) -> None:
    """One opponent: the sums, and the matches that were worst for the policy."""
    ref = called[one.digest]
    st.markdown(f"## Head to head with {links.named(game, ref)}")
    payoff = one.payoff
    tiles(
        {
            "Mean return": signed(payoff.value if payoff else None),
            "Won, drawn, lost": f"{one.wins}, {one.draws}, {one.losses}",
            "Matches": f"{one.matches:,}",
            "Forfeits": f"{one.forfeits} : {one.opponent_forfeits}",
        },
        {"Mean return": labelled(payoff)},
    )
    players = _players(game, version)
    found = [
        row
        for player in players
        if player != one.digest
        for row in worst_matches(game, player, one.digest)
    ]
    sides = [1 - row.seats.index(one.digest) for row in found]
    worst = sorted(range(len(found)), key=lambda place: found[place].returns[sides[place]])[:SHOWN]
    found, sides = [found[place] for place in worst], [sides[place] for place in worst]
    among = f"their latest {READ:,}" if one.matches > READ else f"{one.matches:,}"
    st.caption(
        f"{len(found)} of {among} matches, the worst for {in_markdown(version.ref)} first; "
        "select one to watch it."
    )
    columns: dict[str, list[Any]] = {
        "Return": [row.returns[side] for row, side in zip(found, sides, strict=True)],
        "Seat": sides,
        "End": [_end(row, side) for row, side in zip(found, sides, strict=True)],
        "Behind": [row.wall for row in found],
    }
    if version.kind == "mixture":
        columns["Played by"] = links.policies(
            game, [players[row.seats[side]] for row, side in zip(found, sides, strict=True)]
        )
    matches_to_watch(game, found, columns, key=f"pair_{version.digest}_{one.digest}")


def _players(game: Game, version: PolicyVersion) -> dict[str, str]:
    """Who plays for a policy, by digest with references: itself, or the members of a mixture."""
    if version.kind != "mixture":
        return {version.digest: version.ref}
    return known.names(list(mixtures_of(data.home().registry, game.name)[version.digest]), game)


def _end(row: MatchRow, side: int) -> str:
    if row.fault_seat is None:
        return row.termination.value
    return f"{row.termination.value} ({'this policy' if row.fault_seat == side else 'opponent'})"


def worst_matches(game: Game, digest: str, other: str) -> list[MatchRow]:
    """At most `SHOWN` of the newest `READ` matches of a pair, the worst for `digest` first."""
    found = known.newest(game, READ, digest, other)
    return sorted(found, key=lambda row: row.returns[row.seats.index(digest)])[:SHOWN]
