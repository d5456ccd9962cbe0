"""Forfeits on the pages: told once, with the line that raised, and a replay that opens there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from arena import Arena
from arena.figures.marks import CROSS
from arena.games import game as game_named
from arena.games.leduc.telling import TELLING as HANDS
from arena.games.parts import Forfeit
from arena.games.rrps import telling as throws
from arena.home import open_home
from arena.replay import stored_match
from arena.submission import prepare
from dashboards.views import faults, replay
from dashboards.views.faults import error_of, grouped
from registry.values import Submission
from tests.dashboards.conftest import Browse
from tests.dashboards.looking import (
    HOSTILE,
    HOSTILE_REF,
    hostile_in,
    said,
    tiles_of,
    unharmed,
)

Page = Callable[..., AppTest]

TRACEBACK = """\
Traceback (most recent call last):
  File "<policy>", line 14, in act
    return self._look("a")
           ^^^^^^^^^^^^^^^
  File "<policy>", line 19, in _look
    return self.seen[name]
KeyError: 'a'"""

LEDUC_CRASHER = '''
class RepeatedLeducPokerBot:
    """Calls, and fails where somebody raises in a later hand, or folds to its one raise."""

    def __init__(self):
        self.hands = 0

    def act(self, observation):
        if self.hands == 29 and "RAISE" in observation["player_view"]["legal_actions"]:
            return "RAISE"
        if 20 < self.hands < 29 and "RAISE'" in str(observation["action_history"]):
            raise RuntimeError("enough")
        return "CALL"

    def receive_outcome(self, observation):
        self.hands += 1
        if self.hands == 30 and "FOLD'" in str(observation["action_history"]):
            raise OSError("told")

    def restart(self, player_id):
        pass
'''


@pytest.mark.parametrize(
    ("message", "error", "line"),
    [
        (TRACEBACK, "KeyError: 'a'", 19),
        (f'{TRACEBACK}\nsecond line\n  File "no", line 3', "KeyError: 'a'", 19),
        ("the policy chose no action", "the policy chose no action", None),
        ("", "", None),
        ("Traceback (most recent call last):\nMemoryError", "MemoryError", None),
        (TRACEBACK.replace("KeyError: 'a'", "[...]\n the end"), "[...]", 19),
    ],
)
def test_a_message_comes_down_to_its_error(message: str, error: str, line: int | None) -> None:
    assert error_of(message) == (error, line)


def test_equal_errors_are_one_whatever_led_to_them(played_home: Path) -> None:
    home = open_home(played_home)
    one, two, three = home.store.matches("rrps", 1, faults_only=True, limit=3)
    another_way = TRACEBACK.replace("line 14", "line 15")
    rows = [
        replace(one, fault_message="other"),
        replace(two, fault_message=TRACEBACK),
        replace(three, fault_message=another_way),
    ]
    first, second = grouped(rows)
    assert (first.error, first.line, len(first.rows)) == ("KeyError: 'a'", 19, 2)
    assert second.error == "other"


def test_faults_are_told_once_with_links_to_their_matches(page: Page, played_home: Path) -> None:
    home = open_home(played_home)
    app = page(played_home, "policy", "rrps", policy=HOSTILE_REF)
    app.session_state["policy_part"] = "Faults"
    app.run()
    (table,) = app.dataframe
    rows = home.store.matches("rrps", 1, of=hostile_in(home).digest, faults_only=True)
    assert table.value["Message"].tolist() == [f"ValueError: {HOSTILE}"]
    assert table.value["Times"].tolist() == [len(rows)]
    raised = hostile_in(home).payload.splitlines()[int(table.value["Line"].iloc[0]) - 1]
    assert "raise ValueError" in raised
    assert app.code[-1].value.startswith("Traceback (most recent call last):")
    links = [one.value for one in app.markdown if "/replay?" in one.value]
    assert len(links) == min(len(rows), faults.LINKED)
    assert any(row.id in links[0] for row in rows)


def test_a_replay_opens_at_the_fault(page: Page, played_home: Path) -> None:
    home = open_home(played_home)
    row = home.store.matches("rrps", 1, faults_only=True, limit=1)[0]
    stored = stored_match(home, row.id)
    fault = len(stored.account.events) + 1
    app = page(played_home, "replay", "rrps", match=row.id)
    assert (app.slider[0].value, app.slider[0].max) == (fault, fault)
    assert f"forfeited in throw {fault} of 1,000: crashed" in app.warning[0].value
    lost = re.search(r"is lost to it: ([\d,]+) throws", app.warning[0].value)
    assert lost and int(lost[1].replace(",", "")) == 1000 - fault + 1
    drawn = next(str(one.proto.body) for one in app.get("html") if CROSS in str(one.proto.body))
    assert f">{fault}</div>" in drawn
    app.slider[0].set_value(1).run()
    assert app.slider[0].value == 1
    next(button for button in app.button if button.label == "To the fault").click().run()
    assert app.slider[0].value == fault


@pytest.fixture
def arena(home_copy: Path) -> Iterator[Arena]:
    """An arena on the played home's copy."""
    with Arena(home_copy, sandbox="process", workers=1) as arena:
        yield arena


def test_a_forfeit_in_the_first_throw_can_be_looked_at(page: Page, arena: Arena) -> None:
    source = (
        "class Agent:\n    made = 0\n\n    def act(self, observation):\n"
        "        return 'ROCK' if observation['opponent_action'] else self.first()\n\n"
        "    def first(self):\n        raise ValueError('first')\n"
    )
    # The trial would refuse it: it is registered as if it had passed.
    prepared = prepare(game_named("rrps"), source, name="eve/first")
    assert isinstance(prepared, Submission)
    version = arena.home.registry.submit(prepared).version
    other = arena.policy("starter/rrps", "rrps")
    arena.play_pairs("rrps", {(version.digest, other.digest): 2})
    (row, _) = arena.matches("rrps", version.ref)
    app = page(arena.home.path, "replay", "rrps", match=row.id)
    assert not app.exception
    assert "before anything was played" in said(app)
    assert "forfeited in throw 1 of 1,000" in app.warning[0].value


def test_replays_of_forfeited_hands(page: Page, arena: Arena) -> None:
    leduc, home = game_named("leduc"), arena.home
    # Its trial would refuse it, too.
    prepared = prepare(leduc, LEDUC_CRASHER, name="eve/hands")
    assert isinstance(prepared, Submission)
    version = home.registry.submit(prepared).version
    bots = [arena.policy(ref, "leduc").digest for ref in ("house/CFR+", "house/AlwaysFold")]
    arena.play_pairs("leduc", {(version.digest, bot): 2 for bot in bots})
    rows = arena.matches("leduc", version.ref, faults_only=True)
    assert len(rows) == 4
    for row in rows:
        stored = stored_match(home, row.id)
        forfeit = stored.forfeit
        assert forfeit
        unfinished = stored.account.events[-1]["outcome"] == "UNFINISHED"
        assert forfeit.step == len(stored.account.events) + (0 if unfinished else 1)
        # What was forfeited is what the chart makes of it.
        hands_lost = leduc.length - forfeit.step + 1
        assert abs(forfeit.end - replay.score_at_fault(stored)) == 13 * hands_lost
        app = page(home.path, "replay", "leduc", match=row.id)
        assert not app.exception
        assert app.slider[0].value == forfeit.step
        assert tiles_of(app)["Hands played"] == f"{forfeit.step - 1} of 100"
        html = "".join(str(one.proto.body) for one in app.get("html"))
        assert f"{CROSS} hand {forfeit.step}" in html


def test_the_strip_of_throws_is_full_and_has_the_fault() -> None:
    events = [{"actions": ("ROCK", "PAPER"), "payoff": -1}] * 50
    forfeit = Forfeit(51, 1, HOSTILE, 1000, 900.0)
    names = ("one", "other")
    drawn = throws.picture(events, 51, names, forfeit)
    assert drawn.count("font-size:.72rem") == throws.WINDOW
    assert ">51</div>" in drawn and ">31</div>" not in drawn and ">32</div>" in drawn
    assert drawn.index("?</span>") < drawn.index(f"{CROSS}</span>")  # seat 1 is below
    assert HOSTILE not in drawn
    early = throws.picture(events, 3, names, forfeit)
    assert ">3</div>" in early and ">2</div>" not in early and CROSS not in early
    assert throws.picture(events[:4], 4, names).count("font-size:.72rem") == 4


def test_names_of_forfeiting_seats_are_text() -> None:
    drawn = HANDS.picture([], 1, (HOSTILE, HOSTILE), Forfeit(1, 0, "crashed", 100, -1300.0))
    assert "Nobody had acted" in drawn and HOSTILE not in drawn


# In a browser: rows are clicked, and links lead where they say.


def test_from_the_worst_opponent_to_the_fault(played_pages: str, browse: Browse) -> None:
    with browse(played_pages) as browser:
        browser.open(f"/policy?game=rrps&policy={HOSTILE_REF}")
        browser.wait_for("Head to head with")
        third = browser.find('a[href*="/policy?"]')[2].text
        box = "return document.querySelector('[data-testid=stDataFrame]').clientHeight"
        # The third row: a header and rows of 35 pixels, selected in their first column.
        browser.point("[data-testid=stDataFrame]", 0.015, 3.5 * 35 / browser.run(box), click=True)
        browser.wait_for(f"Head to head with {third}")
        browser.wait_for(at="/policy")
        unharmed(browser, "an opponent selected")
        browser.click("Faults")
        browser.wait_for("Matches that ended so")
        # The link opens a window of its own, which this browser does not look at.
        link = browser.find('a[href*="/replay?"]')[0].get_attribute("href") or ""
        browser.open(link.removeprefix(played_pages))
        browser.wait_for("To the fault")
        browser.wait_for(element=".pointed-surface polyline[stroke-dasharray]")
        browser.point(".pointed-surface", 900.5 / 1001, 0.5)
        browser.wait_for("forfeited")
        assert re.search(r"Throw \d+: [+-][\d,]+ throws, forfeited", browser.text)
        unharmed(browser, "the replay")
