"""What an arena answers with shows as tables: in a terminal, in a notebook, to other libraries."""

import copy
import math
import pickle
import shutil
from dataclasses import replace
from html.parser import HTMLParser

import pyarrow as pa
import pytest

from arena import Arena, game
from arena.analysis.estimates import Estimate
from arena.analysis.rankings import RANKINGS
from arena.figures.text import number
from arena.payoffs import PayoffTable
from arena.printed import Aside, Printed, Sheet, estimate_columns, estimated
from arena.replay import match_sheet

STARTER = game("leduc").starter
HOSTILE = '<script>alert(1)</script>[bold]:smile:\u202e"&'


class Markup(HTMLParser):
    """Tags and text of some HTML; fails where a tag is closed that was not open."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in ("img", "path"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in ("img", "path"):
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def played(house, tmp_path_factory):
    """A home in which Leduc was played, open."""
    folder = shutil.copytree(house, tmp_path_factory.mktemp("printed") / "home")
    with Arena(folder, sandbox="process", workers=1) as arena:
        arena.play("leduc", 4)
        yield arena


def answers(arena):
    """One answer of each kind, and something that stands in it."""
    return {
        "leaderboard": (arena.leaderboard("leduc", more=True), "house/CFR+@1"),
        "payoffs": (arena.payoffs("leduc"), "house/AlwaysCall@1"),
        "evaluated": (arena.evaluate("starter/leduc", "leduc", 4), "house/AlwaysFold@1"),
        "policies": (arena.policies("leduc"), "starter/leduc@1"),
        "matches": (arena.matches("leduc", limit=3), "house/"),
        "report": (arena.play("leduc", 4), "were stored already"),
        "match": (a_match(arena), "house/CFR+@1"),
        "practice": (arena.practise(STARTER.source, "leduc", ["house/CFR+"]), "house/CFR+@1"),
        "history": (arena.history("house/CFR+", "leduc"), "qualified"),
        "seasons": (arena.seasons(), arena.seasons()[-1].commitment[:16]),
    }


def a_match(arena):
    """A match of Leduc that an equilibrium plays."""
    return arena.match(arena.matches("leduc", "house/CFR+", limit=1)[0].id)


@pytest.mark.parametrize(
    "kind",
    [
        "leaderboard",
        "payoffs",
        "evaluated",
        "policies",
        "matches",
        "report",
        "match",
        "practice",
        "history",
        "seasons",
    ],
)
def test_answers_print_and_convert(played, kind):
    answer, inside = answers(played)[kind]
    assert isinstance(answer, Printed)
    text, page, table = str(answer), answer._repr_html_(), answer.to_arrow()
    assert inside in text
    parsed = Markup(page)
    assert parsed.tags.count("table") == 1
    drawn = answer.picture()
    assert bool(drawn) == (kind in ("leaderboard", "payoffs", "evaluated", "match"))
    assert drawn in page
    label = "ahead, in chips" if kind == "match" else "CFR+"
    assert not drawn or label in "".join(Markup(drawn).texts)
    assert inside in "".join(parsed.texts)
    assert isinstance(table, pa.Table)
    assert table.num_rows == answer.to_pandas().shape[0] > 0
    shown = answer.sheet()
    assert all(len(row) == len(shown.columns) for row in shown.rows)


def test_a_match_shows_its_beginning_its_end_and_keeps_all_of_it(played):
    match = a_match(played)
    hands = match.game.length
    assert [row[0] for row in match.sheet().rows] == [
        str(hand) for hand in (*range(1, 21), *range(hands - 4, hands + 1))
    ]
    assert f"{hands - 25} hands in the middle are left out" in match.sheet().note
    assert len(match.sheet(everything=True).rows) == match.to_arrow().num_rows == hands
    assert match.to_arrow().to_pylist()[-1]["So far"] == match.result.returns[0]
    assert str(played.replay(match.result.match.id)).startswith("reproduced: ")


def test_the_key_of_an_open_season_is_in_no_table(played):
    seasons = played.seasons()
    key = seasons[-1].key.hex()
    assert key not in str(seasons) + repr(seasons) + seasons._repr_html_()
    assert seasons.to_arrow().to_pylist()[-1]["key"] is None


def test_what_is_no_table_prints_as_what_it_is(played):
    assert repr(played) == f"Arena({str(played.home.path)!r})"
    assert repr(game("leduc")) == "game('leduc')"
    version = played.policy("starter/leduc", "leduc")
    assert version.payload not in repr(version) and "starter/leduc" in repr(version)


def test_who_was_enrolled_prints_and_converts(house, tmp_path):
    with Arena(shutil.copytree(house, tmp_path / "home"), sandbox="process", workers=1) as arena:
        enrolled = arena.submit(STARTER.source, "leduc", "ada/one", description="calls")
    assert isinstance(enrolled, Printed)
    assert "ada/one@1" in str(enrolled) and enrolled.version.digest in str(enrolled)
    assert Markup(enrolled._repr_html_()).tags.count("table") == 1
    (row,) = enrolled.to_arrow().to_pylist()
    assert (row["policy"], row["created"], row["credited"]) == ("ada/one@1", False, True)


def test_a_message_of_several_lines_looks_like_no_line_of_ours(played):
    match = a_match(played)
    failed = replace(match.result, fault_seat=1, fault_message="bad\nended: completed")
    lines = match_sheet(match.game, match.seats, failed, match.account, "").title.splitlines()
    assert lines[-2:] == ["seat 1 forfeited: bad", "    ended: completed"]


def test_a_rejection_says_what_was_wrong(played):
    assert str(played.check("x =", "leduc")).startswith("rejected: syntax-error: line 1")


def test_a_leaderboard_keeps_its_numbers(played):
    board = played.leaderboard("leduc")
    table = board.to_arrow().to_pylist()
    assert [row["policy"] for row in table] == [row.ref for row in board.rows]
    for told, row in zip(table, board.rows, strict=True):
        assert told["agg_score"] == row.agg_score.value
        assert (told["agg_score_low"], told["agg_score_high"]) == (
            row.agg_score.low,
            row.agg_score.high,
        )
        assert told["rank"] == row.rank


def test_a_payoff_table_knows_its_names(played, tmp_path):
    table = played.payoffs("leduc")
    assert set(table.names) == set(table.digests)
    table.to_csv(tmp_path / "p.csv")
    assert PayoffTable.from_csv(tmp_path / "p.csv").names == table.names
    some = table.restrict(table.digests[:2])
    assert some.names == table.names


def test_a_narrow_screen_is_told_what_it_does_not_see(played):
    table = played.payoffs("leduc")
    assert not table.sheet(140).note
    board = played.leaderboard("leduc").sheet(80)
    provisional, wider = board.note.splitlines()
    assert provisional.startswith("* provisional: ")
    left_out = wider.removeprefix("a wider screen also shows: ").split(", ")
    assert "worst opponent" in left_out and "rating [95 %]" in left_out
    whole = played.leaderboard("leduc").sheet(400)
    assert "a wider screen" not in whole.note
    assert sorted([*board.columns, *left_out]) == sorted(whole.columns)  # nothing is lost silently
    assert max(map(len, board.text(80).splitlines())) <= 80


def test_a_narrow_screen_shows_who_is_ranked_and_what_was_asked_for(played):
    board = played.leaderboard("leduc", more=True)
    for width in (60, 80, 110, 160):
        sheet = board.sheet(width)
        assert [*sheet.columns][:2] == ["rank", "policy"]
        assert "Bradley-Terry [95 %]" in sheet.columns
        text = sheet.text(width)
        assert "house/CFR+@1" in text and max(map(len, text.splitlines())) <= width
        (wider,) = [line for line in sheet.note.splitlines() if line.startswith("a wider screen")]
        left_out = wider.removeprefix("a wider screen also shows: ").split(", ")
        assert sorted([*sheet.columns, *left_out]) == sorted(board.sheet(400).columns)


def test_every_metric_that_is_shown_has_its_interval(played):
    for by in RANKINGS:
        for width in (80, 110, 140, 400):
            sheet = played.leaderboard("leduc", by=by).sheet(width)
            scores = [title for title in sheet.columns if title.endswith("[95 %]")]
            assert scores, (by, width)
            assert not set(sheet.columns) & {"PopReturn", "PopExpl", "rating", "mean return"}
            for row in sheet.rows:
                cells = dict(zip(sheet.columns, row, strict=True))
                for title in scores:
                    if cells[title] == "-" or cells[title].aside == "-":
                        # Halves of few deals have no error, and mixtures no rating.
                        assert title in ("cross-fitted [95 %]", "rating [95 %]")
                        continue
                    value, *ends = (
                        float(text.replace(",", ""))
                        for text in (cells[title].text, *cells[title].aside.strip("[]").split(", "))
                    )
                    assert ends[0] - 1 <= value <= ends[1] + 1, (by, title)


def test_what_was_asked_for_is_shown_before_the_rest(played):
    board = played.leaderboard("leduc", by="mean_return", more=True).sheet(120)
    assert list(board.columns)[2] == "mean return [95 %]"
    assert {f"{one} [95 %]" for one in ("Bradley-Terry", "Nash mass", "alpha-rank")} <= set(
        board.columns
    )
    assert "mean return: over every opponent" in board.note


def test_a_narrow_payoff_table_counts_the_columns_that_it_lacks(played):
    table = played.payoffs("leduc")
    narrow = table.sheet(40)
    assert len(narrow.rows) == len(table.digests)
    left = len(table.digests) - (len(narrow.columns) - 1)
    assert left > 0
    assert narrow.note.startswith(f"{left} more columns")
    assert max(map(len, narrow.text(40).splitlines())) <= 40


def test_a_narrow_screen_is_shown_matches_without_their_walls(played):
    matches = played.matches("leduc", limit=5)
    room = matches.sheet(400).taken()
    assert "wall" in matches.sheet(room).columns
    narrow = matches.sheet(room - 1)
    assert "wall" not in narrow.columns
    assert narrow.note == "a wider screen also shows: wall"
    assert all(len(row) == len(narrow.columns) for row in narrow.rows)
    refs = {ref for one in matches for ref in (matches.refs[digest] for digest in one.seats)}
    assert all(ref in narrow.text(room - 1) for ref in refs)  # none is broken


def test_a_narrow_screen_is_shown_one_line_for_each_policy(played):
    policies = played.policies("leduc")
    assert any(len(one.description) > 40 for one in policies)
    for width in (80, 90, 110, 200):
        sheet = policies.sheet(width)
        text = sheet.text(width)
        assert len(text.splitlines()) == 1 + len(policies) + len(sheet.note.splitlines())
        assert ("description" in sheet.columns) is ("a wider screen" not in sheet.note)
    assert "description" in policies.sheet(110).columns
    bare = policies.sheet(60)
    assert "a wider screen also shows: description" in bare.note
    assert list(bare.columns)[-1] == "digest"


def test_a_list_of_nothing_has_its_columns(played):
    nobody = played.policies("leduc", author="nobody")
    assert len(nobody) == 0
    assert "policy" in nobody.to_arrow().column_names
    assert "0 policies" in str(nobody)


@pytest.mark.parametrize("kind", ["payoffs", "policies", "matches"])
def test_answers_are_passed_on_between_processes(played, kind):
    answer, _ = answers(played)[kind]
    for again in (pickle.loads(pickle.dumps(answer)), copy.deepcopy(answer)):
        assert type(again) is type(answer)
        assert str(again) == str(answer)


def test_what_entrants_wrote_is_text_and_no_markup():
    sheet = Sheet(HOSTILE, {HOSTILE: "left"}, ((HOSTILE,), (Aside("1", HOSTILE),)), HOSTILE)
    parsed = Markup(sheet.html())
    assert "script" not in parsed.tags
    assert "".join(parsed.texts).count("<script>alert(1)</script>[bold]:smile:[U+202E]") == 5
    assert sheet.text(300).count("<script>alert(1)</script>[bold]:smile:[U+202E]") == 5


def test_numbers_that_are_not_known_are_dashes_and_empty_cells():
    assert [number(one) for one in (None, math.nan, -0.04, 1234.56)] == ["-", "-", "0.0", "1,234.6"]
    assert estimated(None) == "-"
    assert estimated(Estimate(1.25, 1.0, math.nan, math.nan)) == Aside("1.2", "-")
    columns = estimate_columns("x", Estimate(1.0, math.nan, math.nan, math.inf))
    assert columns == {"x": 1.0, "x_stderr": None, "x_low": None, "x_high": None}
    assert set(estimate_columns("x", None).values()) == {None}
