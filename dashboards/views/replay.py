"""One match, throw by throw or hand by hand."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from arena.errors import UsageFault
from arena.figures.score import running_score
from arena.figures.text import signed
from arena.games.parts import Event, Telling
from arena.games.protocol import Game
from arena.replay import Stored, stored_match
from arena.values import short
from dashboards import data, known, links, navigate
from dashboards.charts.pointing import pointed
from dashboards.commands import typed
from dashboards.text import in_code, in_markdown
from dashboards.tiles import tiles
from dashboards.views.watching import matches_to_watch
from registry import shown

LISTED = 200
NEIGHBOURS = 2_000
"""Matches of a pair that are gone through, the newest."""
SPEEDS = {"slow": 0.5, "normal": 1.0, "fast": 2.5}
"""Moves a second: faster than a page is drawn would only look faster."""
USUAL_SPEED = "normal"
_ANYBODY = "anybody"
_PUNCTUAL = 0.8
"""Share of the pause after which a turn of the clock counts; clocks of browsers are not exact."""


def show(game: Game) -> None:
    """Draws the page."""
    asked = navigate.asked("match").strip().lower()
    typed = st.text_input(
        "Match",
        value=asked,
        placeholder="The beginning of a match's id, or choose one below",
        key=f"replay_{game.name}_{asked}",
    )
    if typed.strip() and typed.strip().lower() != asked:
        navigate.go("replay", game=game.name, match=typed.strip())
    if not asked:
        _choose(game)
        return
    stored = _stored(str(data.home().path), asked)
    versions = known.seen(stored.versions)
    if len(versions) != 2:
        raise UsageFault(f"no stored match begins with {asked}; `arena matches` lists them")
    stored = replace(stored, versions=(versions[0], versions[1]))
    if stored.game.name != game.name:
        navigate.go("replay", game=stored.game.name, match=asked)
    _heading(stored)
    _neighbours(stored)
    _player(stored)


@st.cache_resource(max_entries=16, show_spinner=False)
def _stored(home: str, match: str) -> Stored:
    """A stored match never changes, so it is told once."""
    return stored_match(data.home(), match)


def _choose(game: Game) -> None:
    """The newest matches, to pick one from."""
    names = data.field(game).refs
    left, middle, right = st.columns([3, 3, 2], vertical_alignment="bottom")
    refs = sorted(names.values())
    with left:
        of = navigate.selected("Of", [_ANYBODY, *refs], "of", f"replay_of_{game.name}", "policy")
    with middle:
        key = f"replay_against_{game.name}"
        against = navigate.selected("Against", [_ANYBODY, *refs], "against", key, "policy")
    with right:
        faults = navigate.switched("Only forfeits", "forfeits", "replay_faults")
    digests = {ref: digest for digest, ref in names.items()}
    pair = digests.get(of), digests.get(against)
    found = known.matches(known.newest(game, LISTED, *pair, faults_only=faults))
    if not found:
        st.info(
            "No such match is stored. Choose others, or play a round robin:  "
            + in_code(typed(f"arena play --game {game.name}"))
        )
        return
    called = known.names(sorted({digest for row in found for digest in row.seats}), game)
    st.caption(f"The newest {len(found)}; select one to watch it.")
    columns = {
        "Seat 0": links.policies(game, [called[row.seats[0]] for row in found]),
        "Seat 1": links.policies(game, [called[row.seats[1]] for row in found]),
        "Return of seat 0": [row.returns[0] for row in found],
        "End": [row.termination.value for row in found],
    }
    key = f"replay_list_{game.name}_{of}_{against}_{faults}"
    matches_to_watch(game, found, columns, key=key)


def _heading(stored: Stored) -> None:
    result, game = stored.result, stored.game
    with st.container(horizontal=True, vertical_alignment="center"):
        for seat, version in enumerate(stored.versions):
            st.markdown(
                f"{':blue-badge' if seat == 0 else ':orange-badge'}[seat {seat}] "
                f"{links.named(game, version.ref)} "
                f"**{signed(result.returns[seat], 0)}** {game.unit}",
                width="content",
            )
    forfeit = stored.forfeit
    if forfeit:
        step, lost = game.step, abs(forfeit.end - score_at_fault(stored))
        st.warning(
            f"Seat {forfeit.seat}, {in_markdown(stored.versions[forfeit.seat].ref)}, forfeited in "
            f"{step} {forfeit.step:,} of {game.length:,}: {forfeit.why}. The rest of the match is "
            f"lost to it: {lost:,.0f} {game.unit}."
        )
        st.code(shown(result.fault_message) or "(no message)", language=None)
    played = len(stored.account.totals)
    tiles(
        {
            f"{game.step.capitalize()}s played": f"{played:,}"
            if played == game.length
            else f"{played:,} of {game.length:,}",
            "End": result.termination.value,
            "Repetition": str(result.match.repetition),
            "Seconds": f"{result.seconds:.3f}",
        }
    )
    _link(stored)


@st.fragment
def _link(stored: Stored) -> None:
    """How others get here, and how they check what they see; drawn when somebody opens it."""
    title, key = "Link, sandbox and how to check it", f"link_{stored.result.match.id}"
    box = st.expander(title, icon=":material/link:", key=key, on_change="rerun")
    if not box.open:
        return
    game, match = stored.game.name, stored.result.match.id
    origin = (st.context.url or "").partition("?")[0]
    query = navigate.address("replay", game=game, match=match).partition("?")[2]
    box.text("Link to this match")
    box.code(f"{origin}?{query}", language=None)
    box.text(f"Behind: {stored.result.wall}.  Play it again and compare move by move:")
    box.code(typed(f"arena replay {short(match)} --verify"), language="bash", wrap_lines=True)


def score_at_fault(stored: Stored) -> float:
    """Score of seat 0 after the last step that was completed."""
    totals = stored.account.totals
    return totals[-1] if totals else 0.0


def lost_at(match: str, seat: int) -> int:
    """The throw or hand from which a stored match was lost to a seat.

    Its forfeit; else where the score began to fall furthest, as that seat sees it.
    """
    stored = _stored(str(data.home().path), match)
    forfeit = stored.forfeit
    if forfeit is not None and forfeit.seat == seat:
        return forfeit.step
    sign = 1.0 if seat == 0 else -1.0
    return deepest_fall([sign * total for total in stored.account.totals])


def deepest_fall(scores: Sequence[float]) -> int:
    """The step (1 is the first) with which the deepest fall of a running score began."""
    best, since, deepest, began = 0.0, 1, 0.0, 1
    for step, score in enumerate(scores, 1):
        if best - score > deepest:
            deepest, began = best - score, since
        if score >= best:
            best, since = score, step + 1
    return began


def _neighbours(stored: Stored) -> None:
    """To the match of the same two before and after this one, in the order of repetitions."""
    match, game = stored.result.match, stored.game
    rows = data.home().store.matches(
        game.name,
        game.version,
        of=match.low,
        against=match.high,
        newest_first=True,
        limit=NEIGHBOURS,
    )
    ordered = sorted((row.match.repetition, row.id) for row in rows)
    places = [place for place, (_, one) in enumerate(ordered) if one == match.id]
    if not places or len(ordered) < 2:
        return
    (place,) = places
    with st.container(horizontal=True, vertical_alignment="center"):
        for label, icon, at, key in (
            ("Previous match", ":material/skip_previous:", place - 1, "P"),
            ("Next match", ":material/skip_next:", place + 1, "N"),
        ):
            there = 0 <= at < len(ordered)
            if st.button(label, icon=icon, disabled=not there, shortcut=key) and there:
                navigate.go("replay", game=game.name, match=ordered[at][1])
        st.caption(f"Match {place + 1} of {len(ordered)} of these two", width="content")


def _player(stored: Stored) -> None:
    """What happened, at one point of the match or moving through it."""
    key = f"playing_{stored.result.match.id}"
    playing = bool(st.session_state.get(key))
    pause = 1.0 / SPEEDS[st.session_state.get("replay_speed", USUAL_SPEED)]

    @st.fragment(run_every=pause if playing else None)
    def follow() -> None:
        before = playing, st.session_state.get("replay_speed", USUAL_SPEED)
        _moves(stored, key)
        if (bool(st.session_state.get(key)), st.session_state.replay_speed) != before:
            st.rerun()  # the fragment's clock is set where it is made

    follow()


@dataclass(frozen=True, slots=True)
class _Position:
    """Which step of a match is shown; it stands in the session.

    Attributes:
      key: of the session, of the step.
      playing: key of the session under which it stands whether the replay moves by itself.
      last: step of the match.
    """

    key: str
    playing: str
    last: int

    @property
    def at(self) -> int:
        """The step."""
        return int(st.session_state[self.key])

    def go(self, to: int) -> None:
        """To a step, or the nearest there is."""
        st.session_state[self.key] = min(max(to, 1), self.last)

    def move(self, by: int) -> None:
        """Some steps on, or back."""
        self.go(self.at + by)

    def pick(self, _: int, column: int) -> None:
        """To the step that was clicked in a chart."""
        self.go(column)

    def play(self) -> None:
        """Begins to move, or stops; at the end it begins anew."""
        st.session_state[self.playing] = not st.session_state.get(self.playing)
        st.session_state.pop(f"{self.playing}_since", None)
        if self.at >= self.last:
            self.go(1)


def _moves(stored: Stored, playing: str) -> None:
    """The score, and what happened at one point of the match.

    Args:
      stored: the match.
      playing: key of the session under which it stands whether the replay moves by itself.
    """
    events, forfeit, step = stored.account.events, stored.forfeit, stored.game.step
    st.session_state.setdefault("replay_speed", USUAL_SPEED)
    if not events:
        st.info("The match was forfeited before anything was played.")
    last = max(len(events), forfeit.step if forfeit else 1)
    position = _Position(f"at_{stored.result.match.id}", playing, last)
    _led_to(position.key, forfeit.step if forfeit else 1, last)
    telling = stored.game.telling
    _advance(playing, lambda: position.move(telling.window))
    at = position.at
    st.session_state[f"{position.key}_drawn"] = str(at)
    if at >= last:
        st.session_state[playing] = False
    if last > 1:
        _controls(stored, position)
    st.html(telling.picture(events, at, stored.seats, forfeit))
    pointed(
        running_score(
            stored.account.totals,
            step,
            stored.game.unit,
            at=at,
            winner_up=stored.versions[0].ref,
            forfeit=forfeit,
        ),
        key=f"score_{stored.result.match.id}",
        on_pick=position.pick,
        address={"at": str(at)} if last > 1 else None,
    )
    if events:
        _habits(telling, events, stored.seats)
        if telling.window == 1:
            with st.expander(f"All {step}s", icon=":material/list:"):
                rows = [telling.row(event) for event in events]
                st.dataframe(pa.Table.from_pylist(rows), hide_index=True)
                st.caption(telling.legend)


def _controls(stored: Stored, position: _Position) -> None:
    """What moves through a match, and a link to where it stands."""
    step, width, forfeit = stored.game.step, stored.game.telling.window, stored.forfeit
    moving = bool(st.session_state.get(position.playing))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        earlier, later = ":material/chevron_left:", ":material/chevron_right:"
        icon = ":material/pause:" if moving else ":material/play_arrow:"
        st.button("Pause" if moving else "Play", icon=icon, on_click=position.play, shortcut="K")
        st.button("Earlier", icon=earlier, on_click=position.move, args=(-width,), shortcut="J")
        st.slider(f"{step.capitalize()}", 1, position.last, key=position.key, width="stretch")
        st.button("Later", icon=later, on_click=position.move, args=(width,), shortcut="L")
        st.selectbox("Speed", list(SPEEDS), key="replay_speed", width=110)
        if forfeit:
            icon = ":material/error:"
            st.button("To the fault", icon=icon, on_click=position.go, args=(forfeit.step,))
    at = position.at
    link = navigate.address(
        "replay", game=stored.game.name, match=stored.result.match.id, at=str(at)
    )
    st.markdown(f"[Link to {step} {at:,}]({link})", width="content")


def _led_to(key: str, usual: int, last: int) -> None:
    """The step that the address names, where a link or Back led there.

    The address also follows what is shown; a browser that sends that back names what was drawn.
    """
    asked, state = navigate.asked("at"), st.session_state
    if key in state and asked in (state[f"{key}_asked"], state.get(f"{key}_drawn")):
        return
    state[f"{key}_asked"] = asked
    named = int(asked) if asked.isdecimal() and len(asked) < 9 else 0
    state[key] = min(named or usual, last)


def _advance(playing: str, move: Callable[[], None]) -> None:
    """While the replay moves by itself: one move with each of the clock's turns, and no more.

    A click draws the page, too; only what comes as late as the clock is its turn.
    """
    if not st.session_state.get(playing):
        return
    now, mark = time.monotonic(), f"{playing}_since"
    pause = 1.0 / SPEEDS[st.session_state.replay_speed]
    since = st.session_state.setdefault(mark, now)
    if now - since >= pause * _PUNCTUAL:
        st.session_state[mark] = now
        move()


def _habits(telling: Telling, events: Sequence[Event], names: tuple[str, str]) -> None:
    st.header("What each side did", anchor=False)
    for seat, column in enumerate(st.columns(2)):
        found = telling.habits(events, seat)
        with column:
            st.markdown(f"**Seat {seat}**, {in_markdown(names[seat])}")
            st.dataframe(
                pa.Table.from_pylist(list(found.rows)),
                hide_index=True,
                column_config={name: _share(alone=len(found.shares) == 1) for name in found.shares},
            )


def _share(*, alone: bool) -> ColumnConfig:
    """How a column of percents is drawn: as bars where it is the only one."""
    if not alone:
        return st.column_config.NumberColumn(format="%.0f %%")
    return st.column_config.ProgressColumn(format="%.0f %%", min_value=0.0, max_value=100.0)
