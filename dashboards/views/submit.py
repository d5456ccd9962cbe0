"""Hand in a policy, and find the tickets of those that were handed in."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

import streamlit as st

from arena.games.protocol import Game
from arena.house.population import default_population
from arena.source_check import MAX_BYTES
from dashboards import data, navigate
from dashboards.budgets import duration
from dashboards.commands import server, typed
from dashboards.intake import DESCRIPTION_CHARS, Refused
from dashboards.settings import Settings, Submitting
from dashboards.text import demoted, in_markdown
from dashboards.tickets import Entry, Ticket
from dashboards.views import ticket as ticket_page
from registry import shown

NAME_CHARS, TOKEN_CHARS = 200, 100
"""What the fields take; which names there can be, the registry says."""
_DRAFT, _AUTHOR = "_draft", "_author"
_STYLE = """<style>
[class*="st-key-source_"] textarea { font-family: monospace; font-size: 0.85rem; }
.st-key-upload [data-testid="stFileUploaderDropzoneInstructions"] { display: none; }
</style>"""
"""Code in a face of fixed width.  The uploader counts in whole MB, and would promise too much."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a visit handed in last: it can be mended and handed in again."""

    game: str
    name: str
    token: str
    description: str
    source: str


def show(game: Game) -> None:
    """Draws the page: of a ticket, where the address names one, else the form."""
    asked = navigate.asked(ticket_page.TICKET)
    if asked:
        ticket_page.show(game, asked)
        return
    contract = game.contract
    st.caption(
        f"One Python file that defines the class `{contract.class_name}`. It is checked, tried "
        "in the sandbox, registered as a new version, and plays the evaluation population."
    )
    _help(game)
    if not _is_open(game):
        return
    _limits(game, data.settings())
    _form(game)
    _mine()


@st.fragment
def _help(game: Game) -> None:
    """The rules and a starter, drawn when somebody opens them."""
    title = "Rules and a policy to start from"
    box = st.expander(title, icon=":material/menu_book:", key="submit_help", on_change="rerun")
    if not box.open:
        return
    rules, starter = box.tabs(["Rules", "Starter"])
    rules.markdown(demoted(game.rules))
    source = game.starter.source
    starter.code(source, language="python", line_numbers=True)
    starter.download_button(
        "Download", source, file_name=f"{game.name}_starter.py", on_click="ignore"
    )


def _from_ones_own_machine(game: Game) -> None:
    """A server takes policies from accounts, by commands."""
    st.info(
        "This server takes policies by the command line, from accounts. Log in once with your "
        "account's token, then hand in:",
        icon=":material/terminal:",
    )
    st.code(
        f"arena login {shlex.quote(server())}\n"
        + typed(f"arena submit FILE --game {game.name} --name AUTHOR/NAME"),
        language="bash",
        wrap_lines=True,
    )


def _is_open(game: Game) -> bool:
    """Says whether policies are taken, and else why not and what to do."""
    opening = data.submissions().opening
    if opening.open is None:
        _wait_for_opening()
        return False
    if opening.open:
        st.caption(f"Sandbox: {in_markdown(opening.wall)}")
        return True
    if data.settings().hosted:
        _from_ones_own_machine(game)
        return False
    st.warning("Policies cannot be submitted from this page.", icon=":material/lock:")
    st.text(shown(opening.reason))
    if data.settings().submitting is Submitting.GVISOR:
        st.text(
            "Pages take strangers' code only behind gVisor. `arena doctor` says how to set it up. "
            "The operator can start the pages with --submitting any-wall where only trusted "
            "people reach them. From the command line:"
        )
    st.code(
        typed(f"arena submit FILE --game {game.name} --name AUTHOR/NAME"),
        language="bash",
        wrap_lines=True,
    )
    return False


@st.fragment(run_every=0.5)
def _wait_for_opening() -> None:
    st.info("Looking which sandbox works here …", icon=":material/hourglass_top:")
    if data.submissions().opening.open is not None:
        st.rerun()


def _limits(game: Game, settings: Settings) -> None:
    opponents = len(default_population(game.name).digests)
    budget = settings.budget
    st.caption(
        f"A file may have {MAX_BYTES:,} bytes. A policy plays {settings.matches} matches with each "
        f"of {opponents} opponents, or fewer if these would take more than "
        f"{duration(budget.submission)} of a processor; all policies of an author may take "
        f"{duration(budget.day)} a day. Authors take turns. A check alone needs no name and costs "
        "nothing."
    )


def _form(game: Game) -> None:
    draft: Draft = st.session_state.get(_DRAFT, Draft("", "", "", "", ""))
    source = draft.source if draft.game == game.name else game.starter.source
    st.html(_STYLE)
    with st.form(f"submit_{game.name}", border=False):
        left, right = st.columns(2)
        name = left.text_input("Name", draft.name, placeholder="author/name", max_chars=NAME_CHARS)
        token = right.text_input(
            "Token of the author",
            draft.token,
            type="password",
            placeholder="a new author's invitation"
            if data.settings().by_invitation
            else "empty for an author who is new",
            max_chars=TOKEN_CHARS,
            autocomplete="off",
            help="The first submission under a free name claims it and shows its token, once.",
        )
        description = st.text_input(
            "Idea, in a line (optional)", draft.description, max_chars=DESCRIPTION_CHARS
        )
        pasted = st.text_area("Source", source, height=320, key=f"source_{game.name}")
        uploaded = st.file_uploader(
            f"or upload a file of at most {MAX_BYTES:,} bytes",
            type=["py"],
            max_upload_size=1,
            key="upload",
        )
        with st.container(horizontal=True):
            submitted = st.form_submit_button("Submit", type="primary", icon=":material/upload:")
            checked = st.form_submit_button("Only check", icon=":material/fact_check:")
    if not (submitted or checked):
        return
    text = _text(uploaded.getvalue()) if uploaded is not None else pasted
    if text is not None:
        draft = Draft(game.name, name.strip(), token.strip(), description.strip(), text)
        _hand_in(draft, keep=submitted)


def _text(content: bytes) -> str | None:
    if len(content) > MAX_BYTES:
        st.error(f"The file has {len(content):,} bytes, and a policy may have {MAX_BYTES:,}.")
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        st.error(f"The file is not UTF-8 text (byte {error.start}); save it as UTF-8.")
        return None


def _hand_in(draft: Draft, *, keep: bool) -> None:
    """Takes it in and goes to its ticket, or says why not."""
    if keep and not draft.name:
        st.error("A policy that is registered needs a name: author/name, such as ada/copycat.")
        return
    entry = Entry(draft.game, draft.source, draft.name if keep else "", draft.description)
    try:
        receipt = data.submissions().submit(entry, draft.token)
    except Refused as refused:
        st.error(in_markdown(shown(str(refused))))
        return
    if receipt.token:
        st.session_state[ticket_page.TOKEN] = (receipt.ticket, receipt.token)
        draft = Draft(draft.game, draft.name, receipt.token, draft.description, draft.source)
    st.session_state[_DRAFT] = draft
    st.query_params[ticket_page.TICKET] = receipt.ticket
    st.rerun()


@st.fragment
def _mine() -> None:
    """An author's tickets, for whoever shows the token."""
    title = "My submissions"
    box = st.expander(title, icon=":material/history:", key="submit_mine", on_change="rerun")
    if not box.open:
        return
    draft: Draft = st.session_state.get(_DRAFT, Draft("", "", "", "", ""))
    with box, st.form("mine", border=False):
        left, right = st.columns(2)
        author = left.text_input("Author", draft.name.partition("/")[0], max_chars=NAME_CHARS)
        token = right.text_input(
            "Token",
            draft.token,
            type="password",
            max_chars=TOKEN_CHARS,
            autocomplete="off",
        )
        asked = st.form_submit_button("Show them", icon=":material/list:")
    if asked:
        st.session_state[_AUTHOR] = author.strip(), token
    if _AUTHOR not in st.session_state:
        return
    try:
        # Whoever has asked sees them however often the page is drawn, as they stand by then.
        found = data.submissions().mine(*st.session_state[_AUTHOR])
    except Refused as refused:
        del st.session_state[_AUTHOR]
        box.error(in_markdown(shown(str(refused))))
        return
    if found:
        box.markdown("\n".join(map(_line, found)))
    else:
        box.info("Nothing was handed in under this name through these pages.")


def _line(ticket: Ticket) -> str:
    link = navigate.address("submit", game=ticket.game, ticket=ticket.id)
    played = f", {ticket.played:,} of {ticket.wanted:,} matches" if ticket.wanted else ""
    name = in_markdown(shown(ticket.name))
    when = f"{ticket.created:%Y-%m-%d %H:%M} UTC"
    return f"- [{name}]({link}) · {when} · {ticket.game} · {ticket.stage.value}{played}"
