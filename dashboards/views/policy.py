"""One policy: what it is, where it came from, and how it fares."""

from __future__ import annotations

from typing import Literal

import pyarrow as pa
import streamlit as st

from arena.analysis.leaderboard import Row
from arena.figures.text import interval, labelled, number
from arena.games.protocol import Game
from arena.kinds.mixture import weights_of
from arena.kinds.neural import KIND as NEURAL
from arena.kinds.neural import file_of
from arena.listings import also
from arena.readable import readable
from arena.source_check import docstring_of
from dashboards import data, known, links, navigate, run_data
from dashboards.commands import typed
from dashboards.text import in_code, in_markdown
from dashboards.tiles import tiles
from dashboards.views import exploit, faults, lineage, opponents
from dashboards.views.side_by_side import side_by_side
from dashboards.views.watching import matches_to_watch
from population.evolution import METRICS
from population.records import RunRecord
from registry import AmbiguousRef, MalformedName, UnknownPolicy, shown
from registry.values import PolicyVersion, Status

Colour = Literal["green", "gray", "orange", "red"]

LISTED = 50
"""Matches that are listed, the newest first."""
_NOBODY = "nobody"
PARTS = ("Results", "Source", "Lineage", "Faults", "Matches", "Exploit")
_BADGES: dict[Status, Colour] = {
    Status.QUALIFIED: "green",
    Status.CANDIDATE: "gray",
    Status.QUARANTINED: "orange",
    Status.YANKED: "red",
}


def show(game: Game) -> None:
    """Draws the page."""
    version = _chosen(game)
    if version is None:
        return
    _heading(game, version)
    part = navigate.one_of(
        "Part", PARTS, "part", "policy_part", "part", label_visibility="collapsed"
    )
    match part:
        case "Source":
            _source(game, version)
        case "Lineage":
            lineage.show(game, version)
        case "Faults":
            faults.faults(game, version)
        case "Matches":
            _matches(game, version)
        case "Exploit":
            exploit.show(game, version)
        case _:
            opponents.results(game, version)


def _chosen(game: Game) -> PolicyVersion | None:
    """The policy that the address names, or the best one; with a box to choose another."""
    asked = navigate.asked("policy")
    refs = [version.ref for version in data.field(game).versions]
    if not asked and refs:
        best = next((row.ref for row in data.board(game)), refs[0])
        asked = best
    try:
        version = known.policy(game, asked) if asked else None
    except (UnknownPolicy, AmbiguousRef, MalformedName) as error:
        st.error(in_markdown(str(error)), icon=":material/error:")
        version = None
    options = refs if version is None or version.ref in refs else [version.ref, *refs]
    chosen = st.selectbox(
        "Policy",
        options,
        index=options.index(version.ref) if version else None,
        placeholder="Choose a policy",
        key=f"policy_{game.name}_{version.digest if version else ''}",
        label_visibility="collapsed",
    )
    if chosen and (version is None or chosen != version.ref):
        navigate.go("policy", game=game.name, policy=chosen)
    return version


def _heading(game: Game, version: PolicyVersion) -> None:
    with st.container(horizontal=True, gap="small"):
        st.badge(version.status.value, color=_BADGES[version.status])
        st.badge(version.kind, color="blue")
        st.badge(f"by {in_markdown(version.author)}", color="gray")
        if version.also:
            st.badge(in_markdown(also(version.also)), color="gray")
        st.badge(f"registered {version.created:%Y-%m-%d}", color="gray")
        for alias in data.home().registry.aliases(game.name):
            if alias.digest == version.digest:
                st.badge(in_markdown(alias.name), icon=":material/bookmark:", color="violet")
    if version.status_reason:
        st.text(shown(version.status_reason))
    if version.description:
        st.text(shown(version.description))
    labels = [
        f"{in_markdown(key)} \\= {in_markdown(value)}" for key, value in version.labels.items()
    ]
    if labels:
        st.caption(" · ".join(labels))
    record = _run_of(game, version)
    if record and version.digest != record.mixture:
        iteration = str(version.provenance.get("iteration") or "")
        of_it = f", iteration {in_markdown(iteration)}" if iteration else ""
        st.markdown(f"Written in {_run_link(game, record)}{of_it}")
    _scores(game, version, record)


def _run_of(game: Game, version: PolicyVersion) -> RunRecord | None:
    """The CSRO run that a version came from; None for none, or one that is not kept here."""
    name = version.provenance.get("run")
    return next((record for record in run_data.records(game) if record.name == name), None)


def _run_link(game: Game, record: RunRecord) -> str:
    """A run's name as a link to its page, in Markdown."""
    link = navigate.address("runs", game=game.name, run=record.name)
    return f"[the run {in_markdown(record.name)}]({link})"


def _scores(game: Game, version: PolicyVersion, record: RunRecord | None) -> None:
    """The rank, the metrics and the costs; a mixture has what its members did."""
    result = data.evaluated(game, version.digest)
    scores = {
        "AggScore": result.agg_score,
        "PopReturn": result.pop_return,
        "PopExpl": result.pop_expl,
        "PopExpl, cross-fitted": result.pop_expl_cross_fitted,
    }
    mixed = version.kind == "mixture"
    costs = data.costs(game, version.digest)
    row, ranked = _row(game, version)
    rank, could_be = _rank(row, ranked)
    tiles(
        {
            "Rank": rank,
            **{name: number(one.value if one else None) for name, one in scores.items()},
            "Forfeits": f"{row.forfeits if row else costs.forfeits:,}",
            **({} if mixed else {costs.label: costs.text}),
        },
        could_be
        | {name: labelled(one) for name, one in scores.items() if one}
        | {"Forfeits": f"of {row.matches if row else costs.matches:,} matches"},
    )
    if mixed:
        _by_members(game, record, measured=not result.missing)
    elif result.missing:
        st.info(
            f"{len(result.missing)} of {len(result.per_opponent)} opponents of the evaluation "
            "population were not met: run  "
            + in_code(typed(f"arena evaluate {version.ref} --game {game.name}"))
        )


def _row(game: Game, version: PolicyVersion) -> tuple[Row | None, int]:
    """Its row on the leaderboard, if it is on it, and how many are ranked there."""
    rows = data.board(game)
    ranked = sum(one.rank is not None for one in rows)
    return next((row for row in rows if row.digest == version.digest), None), ranked


def _rank(row: Row | None, ranked: int) -> tuple[str, dict[str, str]]:
    """Its place on the leaderboard, and the note below it where the noise leaves others open."""
    if row is None or row.rank is None:
        return "-", {}
    tied = row.rank_low is not None and row.rank_low != row.rank_high
    told = f"could be {row.rank_low} to {row.rank_high}" if tied else ""
    if row.provisional:  # a tile has room for no more
        told = f"provisional, {row.rank_low} to {row.rank_high}" if tied else "provisional"
    return f"{row.rank:,} of {ranked:,}", {"Rank": told} if told else {}


def _by_members(game: Game, record: RunRecord | None, *, measured: bool) -> None:
    """Where the scores of a mixture come from, or what they wait for."""
    run = f" of {_run_link(game, record)}" if record else ""
    if measured:
        st.info(
            f"Measured through its members{run}: each counts by its weight, and as many matches "
            "of one policy would be as sure.",
            icon=":material/group:",
        )
        return
    how = (
        f"csro report {record.name} --evaluate 100"
        if record
        else f"arena play --game {game.name} --matches 16"
    )
    st.info(
        f"Not measured yet: it will be, once its members{run} have met the evaluation "
        "population:  " + in_code(typed(how))
    )


def _source(game: Game, version: PolicyVersion) -> None:
    closed = known.why_closed(version)
    if closed:
        st.info(closed, icon=":material/visibility_off:")
        return
    if version.kind == "mixture":
        _members(game, version)
        return
    docstring = ""
    if version.kind == "python":
        docstring = docstring_of(version.payload, game.contract.class_name)
    if docstring:
        st.text(shown(docstring))
    content, ending, mime = _file(version)
    st.download_button(
        "Download",
        content,
        file_name=f"{version.ref.replace('/', '-').replace('@', '-')}.{ending}",
        mime=mime,
        icon=":material/download:",
        on_click="ignore",
    )
    other = _compared(game, version)
    if other is None:
        language = {"python": "python", NEURAL: None}.get(version.kind, "json")
        st.code(shown(readable(version)), language=language, line_numbers=True)
        return
    _scores_of_both(game, other, version)
    side_by_side(readable(other), readable(version), (other.ref, version.ref))


def _file(version: PolicyVersion) -> tuple[str | bytes, str, str]:
    """A version's content as its author would hand it in, the name's ending, and its type."""
    if version.kind == "python":
        return version.payload, "py", "text/x-python"
    if version.kind == NEURAL:
        return file_of(version.payload), "safetensors", "application/octet-stream"
    return version.payload, "json", "application/json"


def _compared(game: Game, version: PolicyVersion) -> PolicyVersion | None:
    """The policy that the source is to stand beside: a relative, or any other of the game."""
    relatives = {other.ref: (relation, other) for relation, other in _ancestors(version)}
    others = {
        one.ref: one
        for one in data.field(game).versions
        if one.kind == version.kind and one.digest != version.digest and one.ref not in relatives
    }
    options = [_NOBODY, *relatives, *others]
    key = f"beside_{version.digest}"
    navigate.follow("beside", key, options)
    chosen = st.selectbox(
        "Side by side with",
        options,
        format_func=lambda ref: f"{relatives[ref][0]}: {ref}" if ref in relatives else ref,
        key=key,
    )
    navigate.keep("beside", key, chosen, _NOBODY)
    return relatives[chosen][1] if chosen in relatives else others.get(chosen)


def _scores_of_both(game: Game, other: PolicyVersion, version: PolicyVersion) -> None:
    """Rank and metrics of two policies, and what one won from the other."""
    rows = []
    for one in (other, version):
        result, (row, _) = data.evaluated(game, one.digest), _row(game, one)
        scores = (result.agg_score, result.pop_return, result.pop_expl)
        told = {"Policy": links.policy(game, one.ref), "Rank": row.rank if row else None}
        for title, score in zip(METRICS, scores, strict=True):
            told[title] = number(score.value) if score else None
            told[f"{title} 95 %"] = interval(score) if score else None
        rows.append(told)
    st.dataframe(
        pa.Table.from_pylist(rows),
        hide_index=True,
        placeholder="-",
        column_config={"Policy": links.column()},
    )


def _ancestors(version: PolicyVersion) -> list[tuple[str, PolicyVersion]]:
    """What a version can be compared with: the one before of its name, and its parents."""
    registry = data.home().registry
    found = [
        ("version before", one)
        for one in registry.find(version.game, name=version.name)
        if one.number == version.number - 1
    ]
    relations = {parent.digest: parent.relation for parent in version.parents}
    found += [(relations[digest], parent) for digest, parent in known.by_digests(relations).items()]
    return [
        (relation, other)
        for relation, one in found
        for other in known.seen([one])
        if other.kind == version.kind and not known.why_closed(other)
    ]


def _members(game: Game, version: PolicyVersion) -> None:
    weights = weights_of(version.payload)
    called = known.names([one for one in weights if one not in known.hidden()], game)
    ordered = sorted(called, key=lambda digest: -weights[digest])
    st.caption("Before each match one member is drawn, and plays it. Select one to look.")
    event = st.dataframe(
        pa.table(
            {
                "Member": links.policies(game, [called[one] for one in ordered]),
                "Weight": [100.0 * weights[digest] for digest in ordered],
            }
        ),
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        key=f"members_{version.digest}",
        column_config={
            "Member": links.column(),
            "Weight": st.column_config.ProgressColumn(
                format="%.1f %%", min_value=0.0, max_value=100.0
            ),
        },
    )
    if event.selection.rows:
        navigate.go("policy", game=game.name, policy=ordered[event.selection.rows[0]])


def _matches(game: Game, version: PolicyVersion) -> None:
    rows = known.matches(known.newest(game, LISTED, version.digest))
    if not rows:
        st.info(
            "It plays through its members: their matches are on their pages."
            if version.kind == "mixture"
            else "It has played no match yet."
        )
        return
    sides = [row.seats.index(version.digest) for row in rows]
    called = known.names(sorted({digest for row in rows for digest in row.seats}), game)
    columns = {
        "Against": links.policies(
            game, [called[row.seats[1 - side]] for row, side in zip(rows, sides, strict=True)]
        ),
        "Return": [row.returns[side] for row, side in zip(rows, sides, strict=True)],
        "End": [row.termination.value for row in rows],
        "Behind": [row.wall for row in rows],
    }
    matches_to_watch(game, rows, columns, key=f"matches_{version.digest}")
