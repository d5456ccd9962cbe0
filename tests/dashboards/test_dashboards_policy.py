"""A policy's page and its replays: from a number to the matches behind it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from arena import Arena
from arena.figures.text import number
from arena.games import game as game_named
from arena.home import open_home
from arena.house.population import default_population
from arena.kinds.mixture import payload_of
from arena.submission import prepare
from dashboards import data, navigate
from dashboards.views import opponents, policy
from population.report.facts import gather
from population.runs import Runs
from registry.values import Submission
from tests.dashboards.looking import (
    HOSTILE,
    HOSTILE_REF,
    hostile_in,
    names_in,
    said,
    tiles_of,
)

Page = Callable[..., AppTest]


def select(app: AppTest, key: str, row: int) -> None:
    """Selects a row of a table."""
    app.session_state[key] = {"selection": {"rows": [row], "columns": [], "cells": []}}


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


def test_the_selected_opponent_is_in_the_address(page: Page, played_home: Path) -> None:
    asked = {"policy": "starter/leduc@1", "against": "house/AlwaysFold@1"}
    app = page(played_home, "policy", "leduc", **asked)
    assert f"Head to head with [{asked['against']}]" in said(app)
    first, *_, last = names_in(app.dataframe[0].value["Opponent"])
    key = f"opponents_{open_home(played_home).registry.get('leduc', asked['policy']).digest}_False"
    select(app, key, 2)
    app.run()
    assert f"Head to head with [{last}]" in said(app)
    assert app.query_params["against"] in (last, [last])
    select(app, key, 0)
    app.run()
    assert f"Head to head with [{first}]" in said(app)
    assert "against" not in app.query_params


def test_who_met_nobody_has_no_worst_opponent(page: Page, home_copy: Path) -> None:
    """A mixture of one policy gets nothing from that policy, which no match has shown."""
    registry = open_home(home_copy).registry
    one = registry.get("rrps", "house/rockbot").digest
    registry.submit(Submission("rrps", "ada/mixed", "mixture", payload_of({one: 1.0})))
    app = page(home_copy, "policy", "rrps", policy="ada/mixed@1")
    assert not app.exception
    assert "It has no worst opponent: it has met none of the evaluation population" in said(app)
    assert "Worst opponents" not in said(app) and "Head to head" not in said(app)
    asked = {"part": "Per opponent", "policy": "ada/mixed@1"}
    app = page(home_copy, "exploitability", "rrps", **asked)
    assert "It has met no member of the evaluation population" in said(app)


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
    forfeits = next(one for one in app.metric if one.label == "Forfeits")
    assert (forfeits.value, forfeits.delta) == ("0", f"of {row.matches:,} matches")
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
