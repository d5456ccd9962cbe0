"""A ticket: what became of a submission, and why.  Its address is all that it takes to see it."""

from __future__ import annotations

import streamlit as st

from arena.analysis.leaderboard import Row
from arena.analysis.metrics import AgainstOpponent
from arena.figures.text import labelled, number, signed
from arena.games.protocol import Game
from arena.listings import also
from dashboards import data, known, links, navigate
from dashboards.budgets import duration
from dashboards.submissions import SubmissionQueue
from dashboards.text import in_markdown
from dashboards.tickets import Stage, Ticket
from dashboards.tiles import tiles
from dashboards.views import replay
from dashboards.views.opponents import met_in, worst_matches
from registry import shown
from registry.credits import own
from registry.values import PolicyVersion, Status

TICKET = "ticket"
"""Parameter of the address."""
TOKEN = "_new_token"
"""Where a visit keeps the token that was made in it, with the ticket that it was made for."""
LOOK_SECONDS, STANDING_SECONDS = 1.0, 5.0
"""Between two looks at a ticket that goes on, and at the place of its policy."""
WORST = 3
LOGGED = 60
"""Lines of the log that are shown, the newest."""


def show(game: Game, ticket_id: str) -> None:
    """Draws the page of a ticket."""
    ticket = data.submissions().ticket(ticket_id.strip().lower())
    if ticket is None:
        st.error(
            "There is no such ticket: look whether the whole address was copied. Tickets of checks "
            "are kept for a day."
        )
        _another("Hand in a policy")
        return
    if ticket.game != game.name:
        navigate.go("submit", game=ticket.game, ticket=ticket.id)
    what = "Check only" if ticket.checks_only else in_markdown(shown(ticket.name))
    st.header(what, anchor=False)
    _token(ticket)
    _watched(game, ticket)
    _standing(game, ticket)
    st.markdown("### What happened")
    _log(ticket)
    _address(ticket)
    _another("Hand in another")


def _another(label: str) -> None:
    if st.button(label, icon=":material/upload_file:"):
        del st.query_params[TICKET]
        st.rerun()


def _token(ticket: Ticket) -> None:
    """The token of an author who is new, to the visit that claimed the name and to nobody else."""
    made_for, token = st.session_state.get(TOKEN, ("", ""))
    if made_for != ticket.id:
        return
    author = in_markdown(ticket.author)
    st.warning(
        f"**The name {author} is yours. Keep this token:** it is shown only now, and whoever "
        f"shows it hands in policies as {author}.",
        icon=":material/key:",
    )
    st.code(token, language=None, wrap_lines=True)


def _watched(game: Game, ticket: Ticket) -> None:
    """How it stands; looks again every second until it is over."""
    queue = data.submissions()

    @st.fragment(run_every=None if ticket.over else LOOK_SECONDS)
    def watch() -> None:
        now = queue.ticket(ticket.id)
        if now is None:
            return
        _state(queue, now)
        _numbers(queue, game, now)
        # A deal more is a reason to draw the place and the log anew.
        if (now.over, now.reached, now.stage) != (ticket.over, ticket.reached, ticket.stage):
            st.rerun()

    watch()


def _state(queue: SubmissionQueue, ticket: Ticket) -> None:
    match ticket.stage:
        case Stage.WAITING if ticket.tries:
            st.info("Checked, and tried in the sandbox …", icon=":material/fact_check:")
        case Stage.WAITING | Stage.PLAYING:
            _waiting(queue, ticket)
        case Stage.REJECTED if ticket.rejection is not None:
            where = f", line {ticket.rejection.line}" if ticket.rejection.line else ""
            kind = in_markdown(shown(ticket.rejection.kind))
            st.error(f"Rejected: {kind}{where}", icon=":material/block:")
            st.code(shown(ticket.rejection.message), language=None, wrap_lines=True)
        case Stage.FAILED:
            st.error(
                "Something of the arena's own failed; your policy may be fine. Try again later.",
                icon=":material/error:",
            )
            st.code(shown(ticket.problem), language=None, wrap_lines=True)
        case _ if ticket.checks_only:
            st.success("It passes all checks. Nothing was stored.", icon=":material/check:")
        case _:
            _registered(ticket)


def _waiting(queue: SubmissionQueue, ticket: Ticket) -> None:
    """When its turn comes; how far it is already."""
    ahead = queue.ahead_of(ticket)
    turns = "one other turn comes" if ahead == 1 else f"{ahead:,} other turns come"
    if ticket.stage is Stage.WAITING:
        said = f"Waiting; {turns} before yours." if ahead else "Waiting; it is next."
        st.info(said, icon=":material/hourglass_top:")
        return
    _registered(ticket)
    share = ticket.played / max(ticket.wanted, 1)
    said = f"{ticket.played:,} of {ticket.wanted:,} matches"
    if ticket.tries:
        said += "; a deal against everybody is being played"
    elif queue.waits_for_tomorrow(ticket):
        said += "; its author's budget for today (UTC) is used: it goes on tomorrow"
    elif ahead:
        said += f"; {turns} before its next deal"
    st.progress(min(share, 1.0), said)


def _registered(ticket: Ticket) -> None:
    version = _version(ticket)
    ref = in_markdown(shown(version.ref))
    if ticket.fresh:
        said = f"Registered as {ref}."
        if version.also:
            said += " " + in_markdown(f"The same content is {also(version.also)}.")
        st.success(said, icon=":material/check:")
    else:
        st.info(
            f"The same content was registered before, as {ref}.", icon=":material/content_copy:"
        )


def _version(ticket: Ticket) -> PolicyVersion:
    """The version under the name of whoever handed it in."""
    version = data.home().registry.by_digests([ticket.digest])[ticket.digest]
    return own(version, ticket.author) or version


def _numbers(queue: SubmissionQueue, game: Game, ticket: Ticket) -> None:
    """What it costs: measured, estimated, and allowed."""
    plan = queue.plan(ticket)
    values, notes = {}, {}
    if not ticket.over:
        values["Place in the queue"] = (
            "its turn" if ticket.tries else f"{queue.ahead_of(ticket) + 1:,}"
        )
    if ticket.match_seconds:
        values[f"A {game.step}"] = duration(ticket.match_seconds / game.length)
        notes[f"A {game.step}"] = "measured"
        values["All matches need"] = duration(plan.needed)
        notes["All matches need"] = f"{plan.opponents} x {plan.wanted} matches"
    if not ticket.checks_only:
        if ticket.wanted:
            values["Played"] = f"{ticket.played:,}"
            notes["Played"] = f"of {ticket.wanted:,} matches"
        values["Used"] = duration(ticket.spent)
        notes["Used"] = f"of {duration(queue.budget.submission)}"
        values["Author today"] = duration(queue.used_today(ticket))
        notes["Author today"] = f"of {duration(queue.day(ticket))}"
    if values:
        tiles(values, notes)


def _log(ticket: Ticket) -> None:
    """What happened when, the newest last."""
    events = data.submissions().log(ticket)
    if len(events) > LOGGED:
        st.caption(f"The newest {LOGGED} of {len(events):,} lines.")
    days = {event.at.date() for event in events}
    form = "%H:%M:%S" if len(days) == 1 else "%Y-%m-%d %H:%M:%S"
    lines = [
        f"- `{event.at.strftime(form)}` {in_markdown(shown(event.text))}"
        for event in events[-LOGGED:]
    ]
    st.markdown("\n".join(lines))
    st.caption(f"Times in UTC; handed in on {ticket.created:%Y-%m-%d}.")


def _address(ticket: Ticket) -> None:
    origin = (st.context.url or "").partition("?")[0]
    query = navigate.address("submit", game=ticket.game, ticket=ticket.id).partition("?")[2]
    st.caption(
        "The address of this ticket. It works after a reload and when the server was started "
        "again, and whoever has it sees what you see here."
    )
    st.code(f"{origin}?{query}", language=None, wrap_lines=True)


def _standing(game: Game, ticket: Ticket) -> None:
    """Place and worst opponents of a policy that has played against everybody."""
    if not ticket.digest or not (ticket.reached or ticket.over):
        return

    @st.fragment(run_every=None if ticket.over else STANDING_SECONDS)
    def standing() -> None:
        version = _version(ticket)
        if version.status is not Status.QUALIFIED:
            st.info(f"It is {version.status.value}, and not on the leaderboard.")
            return
        rows = data.board(game)
        row = next((row for row in rows if row.digest == ticket.digest), None)
        if row is not None:
            _place(row, sum(one.rank is not None for one in rows))
        _worst(game, version)

    st.markdown("### How it does" if ticket.over else "### How it does so far")
    standing()


def _place(row: Row, ranked: int) -> None:
    metrics = {"AggScore": row.agg_score, "PopReturn": row.pop_return, "PopExpl": row.pop_expl}
    notes = {name: labelled(one) for name, one in metrics.items() if one}
    notes["Forfeits"] = f"of {row.matches:,} matches"
    if row.rank_low != row.rank_high:
        notes["Rank"] = f"between {row.rank_low} and {row.rank_high}"
    tiles(
        {
            "Rank": f"{row.rank or '-'} of {ranked}",
            **{name: number(one.value if one else None) for name, one in metrics.items()},
            "Forfeits": f"{row.forfeits:,}",
        },
        notes,
    )


def _worst(game: Game, version: PolicyVersion) -> None:
    """The worst opponents, each with the way into the match that was worst against it."""
    met = met_in(data.evaluated(game, version.digest))[:WORST]
    if met:
        called = known.names([one.digest for one in met], game)
        lines = [_line(game, version, one, called[one.digest]) for one in met]
        st.markdown("**Worst opponents**\n\n" + "\n".join(lines))
    st.markdown(f"All opponents, faults and matches: {links.named(game, version.ref)}")


def _line(game: Game, version: PolicyVersion, one: AgainstOpponent, ref: str) -> str:
    mean = signed(one.payoff.value if one.payoff else None)
    said = f"1. {links.named(game, ref)}: {mean} {game.unit} a match; won {one.wins}, "
    said += f"drawn {one.draws}, lost {one.losses}"
    found = worst_matches(game, version.digest, one.digest)[:1]
    for row in found:
        seat = row.seats.index(version.digest)
        if row.returns[seat] >= 0:
            continue
        at = replay.lost_at(row.id, seat)
        watch = navigate.address("replay", game=game.name, match=row.id, at=str(at))
        loss = f"{-row.returns[seat]:,.0f} from {game.step} {at:,}"
        said += f" · [watch it lose {loss}]({watch})"
    return said
