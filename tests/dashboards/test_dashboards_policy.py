"""A policy's page and its replays: from a number to the matches behind it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import astuple, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from arena import Arena
from arena.figures.marks import CROSS
from arena.figures.text import number
from arena.games import game as game_named
from arena.games.leduc.telling import TELLING as HANDS
from arena.games.parts import Forfeit
from arena.games.rrps import telling as throws
from arena.home import Home, open_home
from arena.house.population import default_population
from arena.replay import stored_match
from arena.submission import prepare
from dashboards import data, navigate
from dashboards.browser import Browser, served
from dashboards.settings import Settings
from dashboards.views import faults, opponents, policy, replay
from dashboards.views.faults import error_of, grouped
from population.report.facts import gather
from population.runs import Runs
from registry.values import PolicyVersion, Submission
from tests.dashboards.looking import HOSTILE, names_in, needs_browser, unharmed

Page = Callable[..., AppTest]
HOSTILE_REF = "eve/hostile@1"

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


def said(app: AppTest) -> str:
    """All texts of a page, without the backslashes before what could be markup."""
    kinds = ("markdown", "caption", "info", "error", "warning", "text", "code")
    texts = "\n".join(str(one.value) for kind in kinds for one in app.get(kind))
    return re.sub(r"\\([^\w\s])", r"\1", texts)


def tiles_of(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def select(app: AppTest, key: str, row: int) -> None:
    """Selects a row of a table."""
    app.session_state[key] = {"selection": {"rows": [row], "columns": [], "cells": []}}


def hostile_in(home: Home) -> PolicyVersion:
    return home.registry.get("rrps", HOSTILE_REF)


def test_the_worst_opponent_is_linked_and_its_matches_are_listed(
    page: Page, played_home: Path
) -> None:
    home = open_home(played_home)
    app = page(played_home, "policy", "rrps", policy=HOSTILE_REF)
    table, matches = (one.value for one in app.dataframe)
    worst = names_in(table["Opponent"])[0]
    assert table["Mean"].is_monotonic_increasing
    link = navigate.address("policy", game="rrps", policy=worst)
    assert f"[{worst}]({link}) ({table['Mean'].iloc[0]:+,.1f})" in said(app)  # above the chart
    assert f"Head to head with [{worst}]({link})" in said(app)
    stored = home.store.matches(
        "rrps", 1, of=hostile_in(home).digest, against=home.registry.get("rrps", worst).digest
    )
    assert sorted(matches["Match"]) == sorted(row.id[:12] for row in stored)
    assert matches["Return"].is_monotonic_increasing
    assert matches["Return"].mean() == pytest.approx(table["Mean"].iloc[0], abs=0.06)


def test_a_selected_opponent_stays_on_the_page_and_its_match_opens(
    page: Page, played_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[dict[str, str]] = []
    monkeypatch.setattr(navigate, "go", lambda where, **to: gone.append({"page": where, **to}))
    home = open_home(played_home)
    digest = hostile_in(home).digest
    app = page(played_home, "policy", "rrps", policy=HOSTILE_REF)
    opponent = names_in(app.dataframe[0].value["Opponent"])[5]
    select(app, f"opponents_{digest}_False", 5)
    app.run()
    assert f"Head to head with [{opponent}]" in said(app)
    assert not gone
    match = app.dataframe[1].value["Match"].iloc[1]
    select(app, f"pair_{digest}_{home.registry.get('rrps', opponent).digest}", 1)
    app.run()
    assert [one["page"] for one in gone] == ["replay"]
    assert gone[0]["match"].startswith(match)


def test_a_selected_row_that_is_no_more_does_not_break_the_page(
    page: Page, played_home: Path
) -> None:
    digest = hostile_in(open_home(played_home)).digest
    app = page(played_home, "policy", "rrps", policy=HOSTILE_REF)
    select(app, f"opponents_{digest}_False", 999)
    app.run()
    assert not app.exception


def test_only_the_worst_of_many_matches_are_listed(
    page: Page, played_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opponents, "SHOWN", 1)
    app = page(played_home, "policy", "rrps", policy=HOSTILE_REF)
    assert len(app.dataframe[1].value) == 1
    assert "1 of 2 matches, the worst for eve/hostile@1 first" in said(app)


def test_a_number_is_the_same_in_the_tile_the_text_and_the_table(
    page: Page, played_home: Path
) -> None:
    """-997.25 was 997.2 in the tile and -997.3 in the table, which a browser rounds."""
    app = page(played_home, "policy", "rrps", policy=HOSTILE_REF)
    table = app.dataframe[0].value
    least = f"{-table['Mean'].min():,.1f}"
    assert tiles_of(app)["PopExpl"] == least
    assert f"(-{least})" in said(app)
    for name in ("Mean", "95 % low", "95 % high"):
        assert (table[name] == table[name].round(1)).all()


def test_the_rank_counts_those_that_have_one(page: Page, played_home: Path) -> None:
    app = page(played_home, "policy", "leduc", policy="house/CFR+@1")
    assert re.fullmatch(r"[1-4] of 4", tiles_of(app)["Rank"])
    app = page(played_home, "policy", "rrps", policy=HOSTILE_REF)
    assert re.fullmatch(r"\d+ of [1-9]\d*", tiles_of(app)["Rank"])


def test_no_rank_is_a_dash_and_open_ranks_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def row(digest: str, rank: int | None, low: int | None, high: int | None) -> Any:
        return SimpleNamespace(
            digest=digest, rank=rank, rank_low=low, rank_high=high, provisional=digest == "b"
        )

    rows = [row("a", 1, 1, 2), row("b", 2, 2, 2), row("c", None, None, None)]
    monkeypatch.setattr(data, "board", lambda game: rows)

    def rank(digest: str) -> tuple[str, dict[str, str]]:
        version: Any = SimpleNamespace(digest=digest)
        return policy._rank(*policy._row(game_named("rrps"), version))

    assert rank("a") == ("1 of 2", {"Rank": "could be 1 to 2"})
    assert rank("b") == ("2 of 2", {"Rank": "provisional"})
    assert rank("c") == rank("not on the board") == ("-", {})


def test_a_policy_of_a_run_links_to_it(page: Page, runs_home: Path) -> None:
    home = open_home(runs_home)
    found = [one for one in home.registry.find("rrps") if one.provenance.get("run") == "asked"]
    written = next(one for one in found if one.kind == "python")
    app = page(runs_home, "policy", "rrps", policy=written.ref)
    assert f"[the run asked]({navigate.address('runs', game='rrps', run='asked')})" in said(app)
    assert f"iteration {written.provenance['iteration']}" in said(app)


def test_one_policy_has_one_score_on_every_face(page: Page, runs_home: Path) -> None:
    """A meta-strategy by its run, on the leaderboard, by itself, and as commands tell of it."""
    with Arena(runs_home, sandbox="process", workers=1) as arena:
        mixture = next(
            one
            for one in arena.policies("rrps", kind="mixture")
            if one.provenance.get("run") == "s1"
        )
        facts = gather(arena, Runs(runs_home), "s1")
        (row,) = (one for one in arena.leaderboard("rrps").rows if one.digest == mixture.digest)
        evaluated = arena.evaluate(mixture.ref, "rrps", 2)  # its members have met everybody
        opponents = [mixture.digest, *default_population("rrps").digests]
        table = arena.payoffs("rrps", opponents)
    assert facts.scores is not None and evaluated.report.played == 0
    assert table.mean[0, 1:].tolist() == [one.value for one in facts.scores.against]
    for name in ("pop_return", "pop_expl", "agg_score"):
        by_run, on_board = getattr(facts.scores, name), getattr(row, name)
        assert getattr(evaluated.scores, name) == on_board
        assert astuple(by_run) == pytest.approx(astuple(on_board), rel=1e-9)
    met = [one.matches for one in evaluated.scores.per_opponent]
    assert facts.scores.matches == min(met) and row.matches >= sum(met)

    app = page(runs_home, "policy", "rrps", policy=mixture.ref)
    assert "Measured through its members" in said(app)
    assert f"[the run s1]({navigate.address('runs', game='rrps', run='s1')})" in said(app)
    played = next(one.value for one in app.metric if one.label == "Matches")
    assert played == f"{row.matches:,}"
    assert tiles_of(app)["AggScore"] == number(row.agg_score.value if row.agg_score else None)
    there = page(runs_home, "runs", "rrps", run="s1")
    assert tiles_of(there)["AggScore"] == tiles_of(app)["AggScore"]
    board = page(runs_home, "leaderboard", "rrps").dataframe[0].value
    shown = board.iloc[names_in(board["Policy"]).index(mixture.ref)]
    assert number(shown["AggScore"]) == tiles_of(app)["AggScore"]
    assert shown["Matches"] == row.matches


def test_a_run_that_is_not_kept_here_is_no_link(page: Page, home_copy: Path) -> None:
    home, rrps = open_home(home_copy), game_named("rrps")
    prepared = prepare(
        rrps, "class Agent:\n    def act(self, o):\n        return 'ROCK'\n", name="x/y"
    )
    assert isinstance(prepared, Submission)
    version = home.registry.submit(replace(prepared, provenance={"run": HOSTILE}))
    ref = getattr(version, "ref", None) or home.registry.get("rrps", "x/y").ref
    app = page(home_copy, "policy", "rrps", policy=ref)
    assert not app.exception
    assert "the run" not in said(app)


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
        forfeit = replay.forfeit_of(stored)
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
    drawn = throws.strip(events, 51, forfeit)
    assert drawn.count("font-size:.72rem") == throws.WINDOW
    assert ">51</div>" in drawn and ">31</div>" not in drawn and ">32</div>" in drawn
    assert drawn.index("?</span>") < drawn.index(f"{CROSS}</span>")  # seat 1 is below
    assert HOSTILE not in drawn
    early = throws.strip(events, 3, forfeit)
    assert ">3</div>" in early and ">2</div>" not in early and CROSS not in early
    assert throws.strip(events[:4], 4, None).count("font-size:.72rem") == 4


def test_names_of_forfeiting_seats_are_text() -> None:
    drawn = HANDS.picture([], 1, (HOSTILE, HOSTILE), Forfeit(1, 0, "crashed", 100, -1300.0))
    assert "Nobody had acted" in drawn and HOSTILE not in drawn


# In a browser: rows are clicked, and links lead where they say.


def test_from_the_worst_opponent_to_the_fault(played_home: Path, tmp_path: Path) -> None:
    needs_browser()
    with served(Settings(played_home), tmp_path / "log") as address, Browser(address) as browser:
        browser.open(f"/policy?game=rrps&policy={HOSTILE_REF}")
        browser.wait_for("Head to head with")
        third = browser.find('a[href*="/policy?"]')[2].text
        box = "return document.querySelector('[data-testid=stDataFrame]').clientHeight"
        # The third row: a header and rows of 35 pixels, selected in their first column.
        browser.point("[data-testid=stDataFrame]", 0.015, 3.5 * 35 / browser.run(box), click=True)
        browser.wait_for(f"Head to head with {third}")
        assert "/policy" in browser.address
        unharmed(browser, "an opponent selected")
        browser.click("Faults")
        browser.wait_for("Matches that ended so")
        # The link opens a window of its own, which this browser does not look at.
        link = browser.find('a[href*="/replay?"]')[0].get_attribute("href") or ""
        browser.open(link.removeprefix(address))
        browser.wait_for("To the fault")
        assert browser.find(".pointed-surface polyline[stroke-dasharray]")
        browser.point(".pointed-surface", 900.5 / 1001, 0.5)
        browser.wait_for("forfeited")
        assert re.search(r"Throw \d+: [+-][\d,]+ throws, forfeited", browser.text)
        unharmed(browser, "the replay")
