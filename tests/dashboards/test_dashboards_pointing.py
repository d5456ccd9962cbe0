"""Pictures that tell what is under the pointer."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from PIL import Image

from arena.analysis.estimates import Estimate
from arena.figures.heatmap import MOST_LABELS, MOST_NUMBERS, Shades, payoff_heatmap
from arena.figures.intervals import Line, interval_plot
from arena.figures.marks import CROSS
from arena.figures.picture import Layer, Picture
from arena.figures.score import running_score
from arena.games.parts import Forfeit
from arena.payoffs import PayoffTable
from dashboards.charts import pointing
from dashboards.charts.pointing import pointed

HOSTILE = "<img src=x onerror=alert(1)>"


@dataclass
class Ends:
    low: np.ndarray
    high: np.ndarray


def table(n: int) -> PayoffTable:
    """Place i wins (j - i) from place j; the first and the last never met."""
    mean = np.subtract.outer(-np.arange(n), -np.arange(n)).astype(float)
    count = np.full((n, n), 4, np.int32) - 4 * np.eye(n, dtype=np.int32)
    count[0, -1] = count[-1, 0] = 0
    mean[0, -1] = mean[-1, 0] = np.nan
    half = np.zeros((2, n, n))
    whole = np.zeros((n, n), np.int32)
    return PayoffTable(
        tuple(f"d{place}" for place in range(n)),
        mean,
        np.full((n, n), 0.25),
        count,
        count,
        half,
        half,
        half.astype(np.int32),
        half.astype(np.int32),
        whole,
        whole,
        whole,
    )


def numbers(layer: dict[str, str], n: int) -> np.ndarray:
    return np.frombuffer(base64.b64decode(layer["values"]), "<f4").reshape(n, n)


def pixels(picture: Picture) -> np.ndarray:
    packed = re.search(r"data:image/png;base64,([A-Za-z0-9+/=]+)", picture.html)
    assert packed
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(packed[1]))))


def test_the_browser_is_sent_every_number_of_the_table() -> None:
    n = 5
    sent = payoff_heatmap(table(n), [f"a/p{place}@1" for place in range(n)], "chips").document(True)
    means, errors, counts = (numbers(layer, n) for layer in sent["layers"])
    assert means[1, 3] == 2.0 and means[3, 1] == -2.0
    assert np.isnan(means[0, 4]) and np.isnan(means.diagonal()).all()
    assert (errors == 0.25).all()
    assert counts[1, 2] == 4 and counts[0, 4] == 0
    assert sent["rows"] == sent["columns"] == [f"a/p{place}" for place in range(n)]
    assert sent["picks"] is True


def test_a_cell_tells_its_interval_and_who_forfeited() -> None:
    n = 3
    lost = np.zeros((n, n), np.int32)
    lost[0, 1] = 3
    known = replace(table(n), forfeits=lost)
    ends = Ends(known.mean - 1.5, known.mean + 1.5)
    told = str(payoff_heatmap(known, list("abc"), "chips", ends=ends).alone())
    assert "a against b\n+1.0 chips a match\n95 % [-0.5, 2.5], 4 matches\nforfeits 3 : 0" in told
    assert "b against a\n-1.0 chips a match\n95 % [-2.5, 0.5], 4 matches\nforfeits 0 : 3" in told
    assert "forfeits" not in payoff_heatmap(table(n), list("abc"), "chips", ends=ends).alone()


def test_wins_are_blue_losses_orange_and_cells_without_matches_transparent() -> None:
    drawn = pixels(payoff_heatmap(table(4), list("abcd"), "chips")).astype(int)
    assert drawn.shape == (4, 4, 4)
    assert drawn[0, 1, 2] > drawn[0, 1, 0]  # more blue than red
    assert drawn[1, 0, 0] > drawn[1, 0, 2]
    assert drawn[0, 3, 3] == drawn[2, 2, 3] == 0
    assert drawn[0, 1, 3] == 255


def test_names_are_text_and_are_left_out_where_nobody_could_read_them() -> None:
    def html(n: int) -> str:
        return payoff_heatmap(table(n), [f"{HOSTILE}{place}" for place in range(n)], "chips").html

    assert HOSTILE not in html(3)
    assert html(3).count("&lt;img") == 6
    assert html(MOST_LABELS).count("&lt;img") == 2 * MOST_LABELS
    assert "&lt;img" not in html(MOST_LABELS + 1)


def test_cells_have_their_numbers_in_the_colour_that_can_be_read() -> None:
    def written(n: int, dark: bool) -> list[tuple[str, str]]:
        html = payoff_heatmap(table(n), ["x"] * n, "chips", dark=dark).html
        return re.findall(r'<span style="color:(#\w+)">([^<]*)</span>', html)

    assert written(MOST_NUMBERS + 1, dark=False) == []
    for dark in (False, True):
        cells = written(4, dark)
        assert [text for _, text in cells[:4]] == ["", "1", "2", "-"]
        assert [text for _, text in cells[4:8]] == ["-1", "", "1", "2"]
        strongest = cells[2][0], cells[8][0]  # 2 and -2, dark blue and dark orange
        assert strongest[0] == "#FFF"
        drawn = pixels(payoff_heatmap(table(4), ["x"] * 4, "chips", dark=dark))
        for place, (ink, text) in enumerate(cells):
            if text not in ("", "-"):
                ground = drawn[place // 4, place % 4, :3]
                assert contrast(ground, 0 if ink == "#000" else 255) >= 4.5, (text, dark)


def contrast(ground: np.ndarray, ink: int) -> float:
    """WCAG 2's ratio of a ground and a grey."""

    def luminance(bands: np.ndarray) -> float:
        share = bands / 255.0
        linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    light, dark = sorted((luminance(ground), luminance(np.full(3, float(ink)))), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_fine_shades_tell_small_payoffs_apart() -> None:
    means = np.array([[np.nan, 4.0, 900.0], [-4.0, np.nan, 8.0], [-900.0, -8.0, np.nan]])
    wide, fine = Shades.wide(means), Shades.fine(means[:2, :2])
    assert fine.limit == 4.0 and wide.limit > 400
    close = np.array([1.0, 2.0])
    assert np.diff(fine.share(close))[0] > 20 * np.diff(wide.share(close))[0]
    for shades in (wide, fine):
        assert shades.share(np.array([0.0, np.nan, 1e9, -1e9])).tolist() == [0.5, 0.5, 1.0, 0.0]
        for share in (0.0, 0.25, 0.5, 0.8, 1.0):
            assert shades.share(np.array([shades.at(share)]))[0] == pytest.approx(share)
    assert "by square roots" in payoff_heatmap(table(3), ["x"] * 3, "chips", shades=fine).html
    assert "by square roots" not in payoff_heatmap(table(3), ["x"] * 3, "chips").html


def test_an_interval_plot_tells_about_each_line() -> None:
    lines = [Line(HOSTILE, Estimate(2.0, 1.0, 0.0, 4.0)), Line("y", Estimate(1.0, 1.0, -1.0, 3.0))]
    sent = interval_plot(lines, "chips").document(False)
    assert len(sent["rows"]) == 2 and len(sent["columns"]) == 1
    assert sent["told"][1] == "y: 1.0, 95 %: -1.0 to 3.0"
    assert HOSTILE not in sent["html"]
    assert sent["html"].count('class="pointed-surface" tabindex="0" role="img"') == 1


def test_one_policy_can_be_drawn() -> None:
    for n in (1, 2):
        picture = payoff_heatmap(table(n), ["x"] * n, "chips")
        assert pixels(picture).shape == (n, n, 4)


def test_a_layer_covers_the_grid() -> None:
    picture = Picture("", ["r"], ["c"], [Layer(np.zeros((2, 2)))], "")
    with pytest.raises(ValueError, match="grid"):
        picture.document(False)


def test_the_score_has_a_cell_for_the_beginning_and_one_for_each_step() -> None:
    picture = running_score([1.0, -2.0, -1.0], "hand", "chips", at=2, winner_up=HOSTILE)
    sent = picture.document(True)
    assert sent["columns"] == ["Beginning", "Hand 1", "Hand 2", "Hand 3"]
    values = np.frombuffer(base64.b64decode(sent["layers"][0]["values"]), "<f4")
    assert values.tolist() == [0.0, 1.0, -2.0, -1.0]
    assert HOSTILE not in picture.html and "&lt;img" in picture.html
    line = re.search(r'<polyline points="([^"]+)"', picture.html)
    assert line
    points = [tuple(map(float, point.split(","))) for point in line[1].split()]
    assert [x for x, _ in points] == [0.5, 1.5, 2.5, 3.5]
    heights = [y for _, y in points]
    assert heights[1] < heights[0] < heights[3] < heights[2]  # SVG counts from the top
    assert "M2.5 0V100" in picture.html


def test_a_match_without_any_lead_is_a_level_line() -> None:
    html = running_score([0.0] * 10, "throw", "throws", at=1, winner_up="x").html
    assert "nan" not in html and "inf" not in html


def line_of(html: str, dashed: bool) -> list[tuple[float, float]]:
    """Points of the line of what was played, or of what was forfeited."""
    for points, attributes in re.findall(r'<polyline points="([^"]+)"([^>]*)>', html):
        if ("stroke-dasharray" in attributes) == dashed:
            return [(float(x), float(y)) for x, y in (p.split(",") for p in points.split())]
    return []


def test_a_forfeit_is_drawn_to_the_end_of_the_match() -> None:
    forfeit = Forfeit(step=3, seat=0, why="crashed", steps=6, end=-2.0)
    picture = running_score([1.0, 2.0], "throw", "throws", at=3, winner_up=HOSTILE, forfeit=forfeit)
    sent = picture.document(True)
    assert sent["columns"][-1] == "Throw 6" and len(sent["columns"]) == 7
    values = np.frombuffer(base64.b64decode(sent["layers"][0]["values"]), "<f4")
    assert values.tolist() == [0.0, 1.0, 2.0, 1.0, 0.0, -1.0, -2.0]
    assert [x for x, _ in line_of(picture.html, dashed=False)] == [0.5, 1.5, 2.5]
    lost = line_of(picture.html, dashed=True)
    assert [x for x, _ in lost] == [2.5, 3.5, 4.5, 5.5, 6.5]
    assert lost[0] == line_of(picture.html, dashed=False)[-1]
    assert [y for _, y in lost] == sorted(y for _, y in lost)  # down, as SVG counts
    assert picture.html.count(CROSS) == 2  # at the fault, and in the legend
    assert "throw 3: seat 0 crashed" in picture.html
    assert sent["told"][2] == "Throw 2: +2 throws"
    assert sent["told"][3] == "Throw 3: +1 throws, seat 0 crashed"
    assert sent["told"][4:] == [
        "Throw 4: 0 throws, forfeited",
        "Throw 5: -1 throws, forfeited",
        "Throw 6: -2 throws, forfeited",
    ]
    assert HOSTILE not in picture.html


@pytest.mark.parametrize("totals", [[], [1.0, 3.0, 2.0]])
def test_a_forfeit_may_leave_nothing_before_it_or_after_it(totals: list[float]) -> None:
    """The first throw; and what a Leduc policy does when it is told how the last hand ended."""
    step, end = (1, -3.0) if not totals else (3, 2.0)
    forfeit = Forfeit(step, seat=0, why="crashed", steps=3, end=end)
    picture = running_score(totals, "hand", "chips", at=step, winner_up="x", forfeit=forfeit)
    sent = picture.document(False)
    values = np.frombuffer(base64.b64decode(sent["layers"][0]["values"]), "<f4")
    assert values.tolist() == ([0.0, *totals] if totals else [0.0, -1.0, -2.0, -3.0])
    assert "seat 0 crashed" in sent["told"][step]
    assert "nan" not in picture.html and "inf" not in picture.html


@pytest.mark.parametrize("sent", [None, [0], [5, 0], [-1, 0], ["0", "1"], {"row": 1}, [0, 1]])
def test_only_cells_of_the_grid_are_picked(monkeypatch: pytest.MonkeyPatch, sent: object) -> None:
    """A browser can send anything."""
    seen, picked = {}, []
    monkeypatch.setattr(pointing, "_POINTED", lambda **given: seen.update(given))
    monkeypatch.setattr(pointing.st, "session_state", {"k": {"picked": sent}})
    picture = Picture("", ["r", "s"], ["c", "d"], [Layer(np.zeros((2, 2)))], "")
    pointed(picture, key="k", on_pick=lambda row, column: picked.append((row, column)))
    seen["on_picked_change"]()
    assert picked == ([(0, 1)] if sent == [0, 1] else [])
