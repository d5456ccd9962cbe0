"""Text, cards, charts and settings by themselves."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from arena.analysis.estimates import Estimate
from arena.analysis.leaderboard import Row
from arena.figures import cards, colours
from arena.figures.intervals import (
    APART,
    MOST_REFERENCES,
    Line,
    Reference,
    _span,
    comparable,
    fitting,
    intervals,
)
from arena.figures.scale import APART as TICKS_APART
from arena.figures.scale import MOST_TICKS, RootScale, Scale, round_numbers
from arena.figures.text import number, signed
from arena.games import game as game_named
from arena.games.leduc.telling import habits as hand_habits
from arena.games.leduc.telling import paid
from arena.games.rrps.telling import habits, outcome, throw
from arena.home import open_home
from dashboards import data, errors, theme
from dashboards.budgets import PlayingTime
from dashboards.charts.lineage import Family, line_styles, lineage_graph
from dashboards.settings import Settings, Submitting
from dashboards.text import in_markdown
from dashboards.views.leaderboard import bands_of
from registry import shown


@given(st.text())
def test_markdown_is_escaped(text: str) -> None:
    escaped = in_markdown(text)
    assert "\n" not in escaped
    # Every character that could begin markup stands behind a backslash.
    assert not re.search(r"(?<!\\)(?:\\\\)*[<>`*_\[\]$:|#]", escaped)


def test_readable_shows_direction_marks_and_controls() -> None:
    assert shown("a\u202eb\x00c\n\td") == "a[U+202E]b[U+0000]c\n\td"
    assert number(float("nan")) == "-"


def test_numbers_have_no_minus_before_zero() -> None:
    assert [number(value) for value in (-0.04, -0.0, 0.04, -0.06)] == ["0.0", "0.0", "0.0", "-0.1"]
    assert [signed(value) for value in (-0.04, -0.0, 0.0, 0.04)] == ["0.0"] * 4
    assert [signed(value) for value in (-0.06, 0.06, 1234.5)] == ["-0.1", "+0.1", "+1,234.5"]
    assert signed(float("nan")) == signed(None) == "-"
    assert [signed(value, 0) for value in (-0.4, 0.4, -3.0)] == ["0", "0", "-3"]


def test_stakes_follow_the_betting() -> None:
    # Preflop 0 raises, 1 calls; postflop 1 raises, 0 raises, 1 folds.
    betting = (((0, "RAISE"), (1, "CALL")), ((1, "RAISE"), (0, "RAISE"), (1, "FOLD")))
    assert paid(betting) == (11, 7)
    assert paid(((), ())) == (1, 1)


@pytest.mark.parametrize("seed", range(8))
def test_stakes_add_up_to_the_engines_pot(seed: int) -> None:
    leduc = game_named("leduc")
    table = leduc.table([seed])
    rng = np.random.default_rng(seed)
    seats = [leduc.seat(_Anything(rng)) for _ in range(2)]
    while not table.done:
        messages = table.messages()
        size = len(messages) // 2
        table.advance(
            bytes(
                253
                if messages[size * k] == 254
                else seat.reply(messages[size * k : size * (k + 1)])
                for k, seat in enumerate(seats)
            )
        )
    events = leduc.account(seed, table.moves(0), None).events
    assert len(events) == 100
    for event in events:
        stakes = paid(event["betting"])
        folded = event["outcome"] == "FOLD"
        assert sum(stakes) == event["pot"] or (not folded and 2 * max(stakes) == event["pot"])
    shares = hand_habits(events, 0).rows
    assert all(
        line["FOLD"] + line["CALL"] + line["RAISE"] == pytest.approx(100.0)  # type: ignore[operator]
        for line in shares
    )


class _Anything:
    """Acts at random among what is legal."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def restart(self, player_id: int) -> None:
        pass

    def act(self, obs: dict[str, dict[str, list[str]]]) -> str:
        return str(self._rng.choice(obs["player_view"]["legal_actions"]))

    def receive_outcome(self, obs: object) -> None:
        pass


def test_pictures_are_images_in_which_nothing_runs() -> None:
    for picture in (
        cards.card(None),
        cards.card("K"),
        cards.chips(3, colours.BLUE),
        throw("ROCK"),
        outcome(-1),
    ):
        found = re.fullmatch(r'<img [^<>]*src="data:image/svg\+xml;base64,([^"]+)">', picture)
        assert found is not None
        assert base64.b64decode(found[1]).startswith(b"<svg")


def test_habits_of_a_player_who_repeats_wins() -> None:
    events = [
        {"throw": 1, "actions": ("ROCK", "SCISSORS"), "payoff": 1, "total": 1},
        {"throw": 2, "actions": ("ROCK", "SCISSORS"), "payoff": 1, "total": 2},
        {"throw": 3, "actions": ("ROCK", "PAPER"), "payoff": -1, "total": 1},
        {"throw": 4, "actions": ("PAPER", "PAPER"), "payoff": 0, "total": 1},
    ]
    lines = {line["What"]: line["Share"] for line in habits(events, 0).rows}
    assert lines["ROCK"] == 75.0
    assert lines["after a win: the same again"] == 100.0
    assert lines["after a loss: one up"] == 100.0
    assert "after a loss: the same again" in {line["What"] for line in habits(events, 1).rows}


def row(place: int, low: int | None, high: int | None) -> Row:
    return Row(
        None if low is None else place,
        low,
        high,
        f"a/p{place}@1",
        f"d{place}",
        0.0,
        0.0,
        None,
        None,
        None,
        None,
        None,
        None,
        1,
        0,
        (),
    )


def test_bands_part_rows_that_are_surely_apart() -> None:
    rows = [row(1, 1, 2), row(2, 1, 3), row(3, 2, 4), row(4, 3, 4), row(5, None, None)]
    assert bands_of(rows) == {"d1": 1, "d2": 1, "d3": 2, "d4": 2}
    assert bands_of([]) == {}


def test_intervals_are_cut_to_the_span_and_survive_unknown_errors() -> None:
    nan = float("nan")
    lines = [
        Line("<b>x</b>", Estimate(1.0, nan, nan, nan)),
        Line("usual", Estimate(5.0, 1.0, 3.0, 7.0)),
        Line("y", Estimate(9.0, 1.0, -9e9, 9e9)),
        Line("never measured", Estimate(nan, nan, nan, nan)),
    ]
    text = intervals(lines, "unit", references=[Reference('<i>"r</i>', 5.0)])
    assert "<b>x</b>" not in text
    assert "<i>" not in text and '"r' not in text
    low, high = _span(lines, [5.0])
    assert -20 < low < 1 and 9 < high < 30
    places = [float(place) for place in re.findall(r"left:([-0-9.]+)%", text)]
    widths = [float(width) for width in re.findall(r"width:([-0-9.]+)%", text)]
    assert "nan" not in text
    assert all(0.0 <= one <= 100.0 for one in places + widths)
    assert widths[2:] == [100.0, 100.0]  # of the interval that is cut: its line and its ends
    assert intervals([], "nothing to draw")


@pytest.mark.parametrize(
    ("low", "high", "bars", "arrows"),
    [
        (3.0, 9.0, "0 2px 0 2px", []),
        (-900.0, 9.0, "0 2px 0 0", ["left"]),
        (3.0, 900.0, "0 0 0 2px", ["right"]),
        (-900.0, 900.0, "0 0 0 0", ["left", "right"]),
    ],
)
def test_an_interval_that_is_cut_ends_in_an_arrow(
    low: float, high: float, bars: str, arrows: list[str]
) -> None:
    usual = [Line(str(value), Estimate(value, 1.0, value - 2, value + 2)) for value in (4.0, 8.0)]
    text = intervals([*usual, Line("x", Estimate(6.0, 1.0, low, high))], "unit")
    drawn = re.findall(r"border-width:(0 \w+ 0 \w+)", text)
    assert drawn == ["0 2px 0 2px", "0 2px 0 2px", bars]
    assert re.findall(r"solid transparent;border-(\w+)-width:0", text) == arrows
    # What is told in words is never cut.
    assert f"{number(low)} to {number(high)}" in text


def _lines(*values: float, reach: float = 2.0) -> list[Line]:
    return [Line(str(v), Estimate(v, reach / 2, v - reach, v + reach)) for v in values]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ((309.0, 305.0, 300.0, 292.0, -1476.0), 4),
        ((309.0, 305.0, 300.0, 292.0, -1476.0, -1480.0), 4),
        ((82.0, 40.0, -20.0, -60.0), 4),
        ((300.0, -1476.0), 2),
        ((300.0, 299.9, 290.0), 3),
        ((300.0,), 1),
        ((), 0),
    ],
)
def test_lines_far_below_the_best_do_not_decide_the_axis(
    values: tuple[float, ...], shown: int
) -> None:
    lines = _lines(*values)
    assert comparable(lines) == lines[:shown]
    assert comparable(lines[::-1]) == lines[:shown][::-1]
    mirrored = _lines(*(-value for value in values))
    assert comparable(mirrored, smallest_first=True) == mirrored[:shown]


def test_noise_belongs_to_the_width_of_the_top() -> None:
    # 40 below, and no farther than the intervals of the best two reach.
    assert len(comparable(_lines(300.0, 299.9, 260.0, reach=10.0))) == 3
    assert len(comparable(_lines(300.0, 299.9, 260.0, reach=1.0))) == 2
    unknown = Line("never measured", Estimate(*[float("nan")] * 4))
    assert comparable([unknown]) == []


def test_references_stand_apart_and_near_the_lines() -> None:
    lines = _lines(100.0, 80.0)
    close = [Reference(str(value), value) for value in (90.0, 90.5, 95.0, 60.0, -500.0, 900.0)]
    assert [one.value for one in fitting(lines, close)] == [90.0, 95.0]
    many = [Reference(str(value), float(value)) for value in range(80, 100)]
    chosen = fitting(lines, many)
    assert 2 <= len(chosen) <= MOST_REFERENCES
    scale = Scale(*_span(lines, [one.value for one in chosen]))
    places = sorted(scale.at(one.value) for one in chosen)
    assert (np.diff(places) >= APART).all()
    assert fitting(lines, []) == []


def test_references_that_coincide_share_a_label() -> None:
    text = intervals(
        _lines(0.0, 100.0),
        "unit",
        references=[Reference("a", 50.0), Reference("b", 51.0), Reference("c", 90.0)],
    )
    assert re.findall(r">([\d, ]+)</div>", text.split("translateX")[-2]) == ["1, 2"]
    assert text.count("dotted") == 3


@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (-12.5, 290.0), (0.01, 0.02), (3.0, 4e6)])
def test_ticks_are_few_and_round(low: float, high: float) -> None:
    ticks = round_numbers(low, high)
    assert 2 <= len(ticks) <= MOST_TICKS + 1
    assert all(low <= one <= high for one in ticks)


@pytest.mark.parametrize(("low", "high"), [(-12.0, 250.0), (0.0, 9.0), (-3e4, 5.0), (0.2, 0.9)])
def test_a_scale_of_roots_keeps_order_and_parts_its_ticks(low: float, high: float) -> None:
    scale = RootScale(low, high)
    places = [scale.at(value) for value in np.linspace(low, high, 50)]
    assert places[0] == 0.0 and places[-1] == 100.0
    assert places == sorted(places)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 8 and all(low <= one <= high for one in ticks)
    between = np.diff([scale.at(one) for one in ticks])
    assert (between >= TICKS_APART).all()


def test_lineage_quotes_its_labels() -> None:
    graph = lineage_graph(Family((), (('a"];', "b\\", '"x'),), 0), "a", dark=False)
    assert '"a\\"];" -> "b\\\\" [style=solid];' in graph
    assert "x" not in graph.split("->")[1]


def test_relations_have_styles_of_their_own() -> None:
    family = Family((), (("a", "b", "responds-to"), ("c", "b", "made-from")), 0)
    assert line_styles(family) == {"made-from": "solid", "responds-to": "dashed"}


@pytest.mark.parametrize("hosted", [True, False])
def test_the_pages_of_a_server_do_not_say_where_its_home_is(
    home: Path, monkeypatch: pytest.MonkeyPatch, hosted: bool
) -> None:
    opened, said = open_home(home), list[str]()
    monkeypatch.setattr(data, "home", lambda: opened)
    monkeypatch.setattr(data, "settings", lambda: Settings(home, hosted=hosted))
    monkeypatch.setattr(errors.st, "error", lambda text, **_: said.append(text))
    with errors.told():
        opened.registry.by_digests(["0" * 64])
    opened.registry.close()
    assert (in_markdown(str(home)) in said[0]) is not hosted, said
    assert (in_markdown("HOME/registry.sqlite") in said[0]) is hosted


def test_settings_survive_the_environment() -> None:
    settings = Settings(
        Path("/somewhere"), "sqlite://", Submitting.ANY_WALL, 3, 4, 5, 0.5, PlayingTime(6, 7)
    )
    settings = replace(settings, by_invitation=True, hosted=True)
    assert Settings.from_environment(settings.to_environment()) == settings
    secret = replace(settings, seed_key=b"0123456789abcdef" * 2)
    assert secret.to_environment() == settings.to_environment()
    assert Settings.from_environment({}).submitting is Submitting.GVISOR
    with pytest.raises(ValueError):
        Settings.from_environment({"ARENA_SUBMITTING": "everybody"})


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("a\nb\n", "a\nb\n", "the same, character by character"),
        ("a\nb\n", "a\nb", "the end of the last one differs"),
        ("a b\n", "a\u00a0b\n", "the kind of a space"),
        ("a\r\nb\n", "a\nb\n", "1 of 2 lines differ"),
    ],
)
def test_texts_are_called_the_same_where_they_are(before: str, after: str, told: str) -> None:
    def page(before: str, after: str) -> None:
        from dashboards.views.side_by_side import side_by_side

        side_by_side(before, after, ("one", "other"))

    app = AppTest.from_function(page, default_timeout=60, args=(before, after)).run()
    assert not app.exception
    assert told in "".join(str(one.value) for one in (*app.info, *app.caption))


def _contrast(one: str, other: str, share: float = 1.0) -> float:
    """WCAG's ratio of two colours, the first of which covers its ground by a share."""

    def luminance(bands: list[float]) -> float:
        linear = [b / 12.92 if b <= 0.03928 else ((b + 0.055) / 1.055) ** 2.4 for b in bands]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    ink, ground = ([int(text[at : at + 2], 16) / 255 for at in (1, 3, 5)] for text in (one, other))
    mixed = [share * a + (1 - share) * b for a, b in zip(ink, ground, strict=True)]
    lights = sorted((luminance(mixed), luminance(ground)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


@pytest.mark.parametrize("side", ["light", "dark"])
def test_captions_can_be_read_on_every_ground(side: str) -> None:
    """Streamlit draws them with 60 % of the text's colour, inline code in them too."""
    told = {
        name.rpartition(".")[2]: str(value)
        for name, value in theme.options().items()
        if name.startswith(f"theme.{side}.")
    }
    for ink in ("textColor", "codeTextColor"):
        for ground in ("backgroundColor", "secondaryBackgroundColor", "codeBackgroundColor"):
            assert _contrast(told[ink], told[ground], 0.6) >= 4.5, (ink, ground)
    for seat, ink in zip(colours.SEATS, colours.ON_SEATS, strict=True):
        assert _contrast(ink, seat) >= 4.5
