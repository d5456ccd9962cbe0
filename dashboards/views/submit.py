"""Hand in a policy, and watch what becomes of it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from arena.games.protocol import Game
from arena.house.starters import STARTERS
from arena.source_check import MAX_BYTES
from dashboards import data, navigate
from dashboards.desk import OVER, Entry, Refused, Stage, Ticket
from dashboards.settings import Submitting
from dashboards.text import demoted, in_markdown, number, readable, signed
from dashboards.tiles import tiles
from registry import MalformedName
from registry.naming import check_name

_TICKET = "ticket"
DESCRIPTION_CHARS = 2_000
WORST = 5


def show(game: Game) -> None:
    """Draws the page."""
    contract = game.contract
    st.caption(
        f"One Python file that defines the class `{contract.class_name}`. It is checked, tried "
        "in the sandbox, registered as a new version, and plays the evaluation population."
    )
    _help(game)
    if not _is_open():
        return
    _form(game)
    ticket = data.desk().ticket(st.session_state.get(_TICKET, 0))
    if ticket is not None:
        st.divider()
        _progress(game, ticket.number)


@st.fragment
def _help(game: Game) -> None:
    """The rules and a starter, drawn when somebody opens them."""
    title = "Rules and a policy to start from"
    box = st.expander(title, icon=":material/menu_book:", key="submit_help", on_change="rerun")
    if not box.open:
        return
    rules, starter = box.tabs(["Rules", "Starter"])
    rules.markdown(demoted(game.rules))
    source = _starter(game)
    starter.code(source, language="python", line_numbers=True)
    starter.download_button(
        "Download", source, file_name=f"{game.name}_starter.py", on_click="ignore"
    )


def _starter(game: Game) -> str:
    path = next(one.path for one in STARTERS.values() if one.game == game.name)
    return Path(path).read_text(encoding="utf-8")


def _is_open() -> bool:
    """Says whether policies are taken, and else why not and what to do."""
    opening = data.desk().opening
    if opening.open is None:
        _wait_for_opening()
        return False
    if opening.open:
        st.caption(f"Sandbox: {in_markdown(opening.wall)}")
        return True
    st.warning("Policies cannot be submitted from this page.", icon=":material/lock:")
    st.text(readable(opening.reason))
    if data.settings().submitting is Submitting.GVISOR:
        st.text(
            "Pages take strangers' code only behind gVisor. `arena doctor` says how to set it up. "
            "The operator can start the pages with --submitting any-wall where only trusted "
            "people reach them. From the command line:"
        )
    st.code("arena submit FILE --game " + "GAME --name AUTHOR/NAME", language="bash")
    return False


@st.fragment(run_every=0.5)
def _wait_for_opening() -> None:
    st.info("Looking which sandbox works here …", icon=":material/hourglass_top:")
    if data.desk().opening.open is not None:
        st.rerun()


def _form(game: Game) -> None:
    with st.form(f"submit_{game.name}", border=False):
        left, right = st.columns(2)
        name = left.text_input("Name", placeholder="author/name", max_chars=129)
        description = right.text_input("Idea, in a line (optional)", max_chars=DESCRIPTION_CHARS)
        pasted = st.text_area(
            "Source", height=260, max_chars=MAX_BYTES, placeholder="Paste it here …"
        )
        uploaded = st.file_uploader("or upload a file", type=["py"], max_upload_size=1)
        with st.container(horizontal=True):
            submitted = st.form_submit_button("Submit", type="primary", icon=":material/upload:")
            checked = st.form_submit_button("Only check", icon=":material/fact_check:")
    if not (submitted or checked):
        return
    source = _text(uploaded.getvalue()) if uploaded is not None else pasted
    if source is None:
        return
    if not source.strip():
        st.error("There is no source: paste it, or upload a file.")
        return
    _hand_in(Entry(game, name.strip(), source, description.strip(), keep=bool(submitted)))


def _text(content: bytes) -> str | None:
    if len(content) > MAX_BYTES:
        st.error(f"The file has {len(content):,} bytes, and a policy may have {MAX_BYTES:,}.")
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        st.error(f"The file is not UTF-8 text (byte {error.start}); save it as UTF-8.")
        return None


def _hand_in(entry: Entry) -> None:
    desk = data.desk()
    before = desk.ticket(st.session_state.get(_TICKET, 0))
    if before is not None and before.stage not in OVER:
        st.error("Your submission before is still being worked on; wait for it.")
        return
    try:
        if entry.keep:
            check_name(entry.name)
        st.session_state[_TICKET] = desk.submit(entry)
    except (MalformedName, Refused) as error:
        st.error(in_markdown(str(error)))


def _progress(game: Game, number_: int) -> None:
    """What became of the submission; looks again every second until it is over."""
    ticket = data.desk().ticket(number_)
    running = ticket is not None and ticket.stage not in OVER

    @st.fragment(run_every=1.0 if running else None)
    def watch() -> None:
        now = data.desk().ticket(number_)
        if now is None:
            return
        _state(game, now)
        if running and now.stage in OVER:
            st.rerun()

    watch()


def _state(game: Game, ticket: Ticket) -> None:
    match ticket.stage:
        case Stage.WAITING:
            ahead = data.desk().ahead_of(ticket.number)
            st.info(f"Waiting; {ahead} before yours.", icon=":material/hourglass_top:")
        case Stage.CHECKING:
            st.info("Checked, and tried in the sandbox …", icon=":material/fact_check:")
        case Stage.PLAYING:
            share = ticket.played / max(ticket.wanted, 1)
            st.progress(min(share, 1.0), f"{ticket.played:,} of {ticket.wanted:,} matches")
        case Stage.REJECTED if ticket.rejection is not None:
            where = f", line {ticket.rejection.line}" if ticket.rejection.line else ""
            st.error(
                f"Rejected: {in_markdown(ticket.rejection.kind)}{where}", icon=":material/block:"
            )
            st.code(readable(ticket.rejection.message), language=None, wrap_lines=True)
        case Stage.FAILED:
            st.error(
                "Something of the arena's own failed; your policy may be fine. Try again later.",
                icon=":material/error:",
            )
            st.code(readable(ticket.problem), language=None, wrap_lines=True)
        case Stage.DONE if ticket.version is None:
            st.success("It passes all checks. Nothing was stored.", icon=":material/check:")
        case _:
            _verdict(game, ticket)


def _verdict(game: Game, ticket: Ticket) -> None:
    """Place and worst opponents of an accepted policy."""
    version = ticket.version
    if version is None:
        return
    ref = in_markdown(version.ref)
    if ticket.created:
        st.success(f"Registered as {ref}.", icon=":material/check:")
    else:
        st.info(f"The same content was registered before, as {ref}.")
    played = game if game.name == version.game else None
    if played is None:
        st.info("It plays the other game; switch to see its place.")
        return
    rows = data.board(game)
    row = next((row for row in rows if row.digest == version.digest), None)
    if row is None:
        st.info(f"It is {version.status.value}, and not on the leaderboard.")
        return
    ranked = sum(one.rank is not None for one in rows)
    tied = f" ({row.rank_low} to {row.rank_high})" if row.rank_low != row.rank_high else ""
    tiles(
        {
            "Rank": f"{row.rank or '-'} of {ranked}",
            "AggScore": number(row.agg_score.value if row.agg_score else None),
            "PopReturn": number(row.pop_return.value if row.pop_return else None),
            "PopExpl": number(row.pop_expl.value if row.pop_expl else None),
            "Forfeits": f"{row.forfeits:,}",
        },
        {"Rank": tied.strip()} if tied else None,
    )
    result = data.evaluated(game, version.digest)
    met = sorted(
        (one.payoff.value, one.digest)
        for one in result.per_opponent
        if one.payoff and not one.itself
    )[:WORST]
    called = data.names([digest for _, digest in met], game)
    worst = ", ".join(f"{in_markdown(called[digest])} ({signed(mean)})" for mean, digest in met)
    st.markdown(f"**Worst opponents:** {worst}")
    if st.button("Open its page", icon=":material/arrow_forward:"):
        navigate.go("policy", game=game.name, policy=version.ref)
