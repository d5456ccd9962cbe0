"""Every page over a real home, without a browser: what it says, and that nothing breaks."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from arena.games import GAMES
from arena.games import game as game_named
from arena.home import open_home
from arena.payoffs import PayoffTable
from arena.record import Record
from dashboards.views.payoffs import as_csv
from registry.values import Status
from tests.dashboards.looking import names_in, said

Page = Callable[..., AppTest]
PAGES = ("leaderboard", "payoffs", "exploitability", "policy", "replay", "runs", "submit", "about")


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("name", PAGES)
def test_page_draws(page: Page, played_home: Path, name: str, game: str) -> None:
    app = page(played_home, name, game)
    assert not app.exception
    assert not app.error


@pytest.mark.parametrize("name", PAGES)
def test_page_of_an_empty_home_says_what_to_do(page: Page, tmp_path: Path, name: str) -> None:
    app = page(tmp_path / "new", name, "leduc")
    assert not app.exception
    assert not app.error
    if name in ("payoffs", "exploitability", "policy", "replay"):
        assert "arena play" in said(app) or "arena evaluate" in said(app)
    if name == "runs":
        assert "csro run" in said(app)


def test_leaderboard_ranks_like_the_library(page: Page, played_home: Path) -> None:
    app = page(played_home, "leaderboard", "leduc")
    (table,) = app.dataframe
    refs = names_in(table.value["Policy"])
    assert refs[0] in ("starter/leduc@1", "house/CFR+@1")
    assert set(refs) == {
        "house/AlwaysCall@1",
        "house/AlwaysFold@1",
        "house/CFR+@1",
        "starter/leduc@1",
    }
    assert table.value["AggScore"].is_monotonic_decreasing
    assert table.value.columns[:5].tolist() == [
        "Rank",
        "Policy",
        "AggScore",
        "AggScore 95 %",
        "PopReturn",
    ]
    assert table.value["Rank"].tolist() == [1, 2, 3, 4]
    assert "not measured" not in said(app)


def test_payoffs_say_who_is_not_drawn_and_their_csv_has_everybody(
    page: Page, played_home: Path, tmp_path: Path
) -> None:
    app = page(played_home, "payoffs", "rrps")
    assert "are drawn" not in said(app)
    app.select_slider[0].set_value(20).run()
    everybody = len(open_home(played_home).registry.find("rrps", status=Status.QUALIFIED))
    assert f"The 20 best of {everybody} by AggScore are drawn." in said(app)
    whole = Record(open_home(played_home)).payoffs("rrps")
    file = tmp_path / "payoffs.csv"
    file.write_bytes(as_csv(whole))
    again = PayoffTable.from_csv(file)
    assert len(again.digests) == everybody and again.names == whole.names
    assert (again.count == whole.count).all()
    assert again.stderr == pytest.approx(whole.stderr, nan_ok=True)


def test_payoffs_can_be_narrowed_to_some_and_shaded_for_the_strong(
    page: Page, played_home: Path
) -> None:
    some = ["house/CFR+@1", "house/AlwaysCall@1"]
    app = page(played_home, "payoffs", "leduc", only=some, colours="fine")
    assert not app.exception
    assert app.multiselect[0].value == some
    assert sorted(app.selectbox[0].options) == sorted(some)
    app.multiselect[0].set_value(some[:1]).run()  # one alone meets nobody: all are shown
    assert len(app.selectbox[0].options) == 4
    assert app.query_params["only"] in (some[0], some[:1])
    app.multiselect[0].set_value([]).run()
    assert "only" not in app.query_params


def test_a_pair_has_one_interval_whichever_page_tells_it(page: Page, played_home: Path) -> None:
    one, other = "house/CFR+@1", "house/AlwaysCall@1"
    told = [
        next(tile for tile in app.metric if tile.label == "Mean return")
        for app in (
            page(played_home, "payoffs", "leduc", policy=one, against=other),
            page(played_home, "policy", "leduc", policy=one, against=other),
        )
    ]
    assert told[0].value == told[1].value
    assert told[0].delta == told[1].delta
    assert re.fullmatch(r"95 % \[.+, .+\]", told[0].delta)


def test_payoffs_of_a_mixture_say_where_its_matches_are(page: Page, runs_home: Path) -> None:
    pair = ["csro/s1@1", "house/greenberg@1"]
    app = page(runs_home, "payoffs", "rrps", only=pair, policy=pair[0], against=pair[1])
    assert not app.exception
    assert "Members of a mixture played these matches" in said(app)
    assert "Their latest" not in said(app)


def test_the_size_of_the_payoffs_is_in_the_address(page: Page, played_home: Path) -> None:
    app = page(played_home, "payoffs", "rrps", most="20")
    assert "The 20 best of" in said(app)
    app.select_slider[0].set_value(app.select_slider[0].options[-1]).run()
    assert "most" not in app.query_params


def test_leaderboard_filters_are_in_the_address(page: Page, played_home: Path) -> None:
    app = page(played_home, "leaderboard", "leduc", author="house", more="1")
    table = app.dataframe[0].value
    assert {name.partition("/")[0] for name in names_in(table["Policy"])} == {"house"}
    assert "Nash mass" in table
    by_title = {one.label: one for one in app.multiselect}
    by_title["Author"].set_value(["house", "starter"]).run()
    assert len(app.dataframe[0].value) == 4
    assert app.query_params["author"] == ["house", "starter"]
    by_title["Kind"].set_value(["python"]).run()
    assert names_in(app.dataframe[0].value["Policy"]) == ["starter/leduc@1"]
    assert app.query_params["kind"] in ("python", ["python"])
    app.toggle(key="board_more").set_value(False).run()
    assert "more" not in app.query_params
    assert "Nash mass" not in app.dataframe[0].value
    one = page(played_home, "leaderboard", "leduc", author="who is that")
    assert len(one.dataframe[0].value) == 4  # a filter that means nothing filters nothing


@pytest.mark.parametrize("game", GAMES)
def test_every_score_of_the_leaderboard_has_its_interval_beside_it(
    page: Page, played_home: Path, game: str
) -> None:
    app = page(played_home, "leaderboard", game)
    table = app.dataframe[0].value
    scores = ("AggScore", "PopReturn", "PopExpl", "Cross-fitted", "Rating", "Mean return")
    columns = table.columns.tolist()
    for score in scores:
        assert columns[columns.index(score) + 1] == f"{score} 95 %"
        known = table[table[score].notna()]
        assert len(known)
        for value, told in zip(known[score], known[f"{score} 95 %"], strict=True):
            if told != "-":
                low, high = (float(end.replace(",", "")) for end in told[1:-1].split(", "))
                assert low - 0.6 <= value <= high + 0.6
    assert "Mean return: over every opponent" in said(app)
    assert re.search(r"as of \d\d:\d\d:\d\d UTC", said(app))


def test_leaderboard_numbers_only_who_is_measured(page: Page, played_home: Path) -> None:
    app = page(played_home, "leaderboard", "rrps")
    table = app.dataframe[0].value
    scored = table["AggScore"].notna()
    assert 0 < scored.sum() < len(table)
    assert table["Rank"][scored].tolist() == list(range(1, scored.sum() + 1))
    assert table["Rank"][~scored].isna().all()
    assert table["Policy"][~scored].is_monotonic_increasing
    assert f"{(~scored).sum()} policies are not measured yet" in said(app)
    assert "arena play --game rrps" in said(app)


def test_leaderboard_of_an_empty_home_has_no_ranks(page: Page, tmp_path: Path) -> None:
    app = page(tmp_path / "new", "leaderboard", "rrps")
    table = app.dataframe[0].value
    assert len(table) >= 43
    for column in ("Rank", "AggScore", "Band", "Could be", "Worst opponent"):
        assert table[column].isna().all()
    assert f"{len(table)} policies are not measured yet" in said(app)


def test_leaderboard_search_and_order(page: Page, played_home: Path) -> None:
    app = page(played_home, "leaderboard", "leduc")
    app.text_input(key="board_search").set_value("alwaysfold").run()
    assert names_in(app.dataframe[0].value["Policy"]) == ["house/AlwaysFold@1"]
    assert "1 of 4 policies" in said(app)
    app.text_input(key="board_search").set_value("nobody has this name").run()
    assert "No policy fits" in said(app)
    app.text_input(key="board_search").set_value("").run()
    app.selectbox(key="board_by").set_value("pop_expl").run()
    assert app.dataframe[0].value["PopExpl"].is_monotonic_increasing
    assert app.dataframe[0].value.columns[2] == "PopExpl"
    assert "4 policies" in said(app) and "of 4 policies" not in said(app)


def test_policy_shows_faults_with_messages(page: Page, played_home: Path) -> None:
    app = page(played_home, "policy", "rrps", policy="eve/hostile@1")
    app.session_state["policy_part"] = "Faults"
    app.run()
    (table,) = app.dataframe
    assert "crashed" in table.value["What"].tolist()
    assert "<script>" in table.value["Message"].iloc[0]


def test_unknown_policy_is_an_error_that_helps(page: Page, played_home: Path) -> None:
    app = page(played_home, "policy", "leduc", policy="house/AlwaysCal")
    assert "AlwaysCall" in app.error[0].value
    assert not app.exception


def test_unknown_match_is_an_error_that_helps(page: Page, played_home: Path) -> None:
    app = page(played_home, "replay", "leduc", match="0123456789")
    assert "no stored match begins with" in app.error[0].value.replace("\\", "")
    app = page(played_home, "replay", "leduc", match="<script>")
    assert "not a match id" in app.error[0].value.replace("\\", "")


@pytest.mark.parametrize("game", GAMES)
def test_replay_of_every_kind_of_match(page: Page, played_home: Path, game: str) -> None:
    rules = game_named(game)
    store = open_home(played_home).store
    rows = store.matches(game, rules.version, limit=2)
    if game == "rrps":
        rows += store.matches(game, rules.version, faults_only=True, limit=1)
    for row in rows:
        app = page(played_home, "replay", game, match=row.id)
        assert not app.exception
        assert f"{rules.step.capitalize()}s played" in [metric.label for metric in app.metric]
        if row.fault_seat is not None:
            assert "forfeited" in app.warning[0].value


def test_replay_moves_through_the_match(page: Page, played_home: Path) -> None:
    match = open_home(played_home).store.matches("leduc", 1, limit=1)[0].id
    app = page(played_home, "replay", "leduc", match=match)
    assert app.slider[0].value == 1
    app.button[-1].click().run()
    assert app.slider[0].value == 2
    assert not app.exception


def test_hostile_texts_never_become_markup(page: Page, played_home: Path) -> None:
    for name in ("policy", "leaderboard"):
        app = page(played_home, name, "rrps", policy="eve/hostile@1")
        for one in app.markdown:
            assert not one.allow_html
        for kind in ("markdown", "caption", "info", "error"):
            texts = [str(one.value) for one in app.get(kind)]
            assert not any(re.search(r"(?<!\\)[<\]]", text) for text in texts if "script" in text)
        assert not any("<script" in str(one.proto.body) for one in app.get("html"))


@pytest.mark.parametrize(
    ("game", "ceiling", "best"),
    [
        ("leduc", "82.22", "house/CFR+@1"),  # the mean of 146.67, 100.00 and 0
        ("kuhn", "37.50", "house/Kuhn1950@1"),  # of 100.00, 33.33, 16.67 and 0
    ],
)
def test_exact_values_and_ceiling(
    page: Page, played_home: Path, game: str, ceiling: str, best: str
) -> None:
    app = page(played_home, "exploitability", game)
    app.session_state[f"expl_part_{game}"] = "Exact"
    app.run()
    values = {metric.label: metric.value for metric in app.metric}
    assert values["Ceiling"] == ceiling
    if values["Gap"] != "≈ 0":  # nobody exceeds it: the interval reaches the ceiling
        gap = round(float(values["Ceiling"]) - float(values["Best PopReturn"]), 2)
        assert float(values["Gap"]) == gap > 0
    assert names_in(app.dataframe[0].value["Policy"])[0] == best


def test_meta_game_weights_add_up(page: Page, played_home: Path) -> None:
    app = page(played_home, "exploitability", "leduc")
    app.session_state["expl_part_leduc"] = "Meta-game"
    app.run()
    assert app.dataframe[0].value["Weight"].sum() == pytest.approx(100.0)


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("leaderboard", {"by": "luck"}),
        ("leaderboard", {"author": "nobody"}),
        ("leaderboard", {"kind": "luck"}),
        ("leaderboard", {"label": "luck"}),
        ("leaderboard", {"run": "luck"}),
        ("policy", {"policy": "starter/leduc@1", "against": "no/body@1"}),
        ("payoffs", {"policy": "no/body@1"}),
        ("payoffs", {"only": "no/body@1"}),
        ("exploitability", {"part": "Luck"}),
        ("exploitability", {"part": "Per opponent", "policy": "no/body@1"}),
        ("exploitability", {"part": "Meta-game", "solver": "luck"}),
        ("replay", {"of": "no/body@1"}),
        ("about", {"part": "Luck"}),
    ],
)
def test_what_an_address_names_and_nobody_knows_is_said(
    page: Page, played_home: Path, path: str, named: dict[str, str]
) -> None:
    app = page(played_home, path, "leduc", **named)
    assert not app.exception
    parameter, value = list(named.items())[-1]
    assert re.search(f"There is no [a-z]+ {value} here", said(app))
    assert parameter not in app.query_params


def test_what_a_list_of_matches_shows_is_in_the_address(page: Page, played_home: Path) -> None:
    pair = {"of": "starter/leduc@1", "against": "house/CFR+@1"}
    app = page(played_home, "replay", "leduc", **pair)
    table = app.dataframe[0].value
    for low, high in zip(names_in(table["Seat 0"]), names_in(table["Seat 1"]), strict=True):
        assert {low, high} == set(pair.values())
    of = next(one for one in app.selectbox if one.label == "Of")
    of.set_value("anybody").run()
    assert "of" not in app.query_params and app.query_params["against"] == pair["against"]


def test_parts_of_exploitability_are_in_the_address(page: Page, played_home: Path) -> None:
    chosen = {"part": "Per opponent", "policy": "house/AlwaysFold@1"}
    app = page(played_home, "exploitability", "leduc", **chosen)
    assert next(one for one in app.selectbox if one.label == "Policy").value == chosen["policy"]
    app = page(played_home, "exploitability", "leduc", part="Meta-game", solver="prd")
    assert next(one for one in app.selectbox if one.label == "Meta-solver").value == "prd"
    app = page(played_home, "exploitability", "leduc", fitted="1")
    assert app.toggle(key="expl_fitted").value
    app.toggle(key="expl_fitted").set_value(False).run()
    assert "fitted" not in app.query_params


def test_every_policy_s_popexpl_has_its_interval_beside_it(page: Page, played_home: Path) -> None:
    table = page(played_home, "exploitability", "leduc").dataframe[0].value
    columns = table.columns.tolist()
    for score in ("PopExpl", "Cross-fitted"):
        assert columns[columns.index(score) + 1] == f"{score} 95 %"
