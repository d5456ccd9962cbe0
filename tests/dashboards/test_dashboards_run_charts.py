"""Figures of CSRO runs."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from arena import GAMES
from arena.analysis.estimates import Estimate
from oracle.values import Against, Attempt, Failure, Rejected, Score
from population.figures import ladder, over_iterations, sigma_area
from population.records import Effort, Iteration, Sigma

HOSTILE = "<img src=x onerror=alert(1)>"
NAN = math.nan


def sigma(**weights: float) -> Sigma:
    return Sigma(weights, 0.0, "linear")


def estimate(value: float) -> Estimate:
    return Estimate(value, 1.0, value - 2.0, value + 2.0)


def attempt(number: int, u: float | None, *, kept: bool = False) -> Attempt:
    score = None if u is None else Score(u, 0.5, (Against("a", u, 0.5, 22),))
    failure = Failure(next(iter(Rejected)), HOSTILE) if u is None else None
    return Attempt(number, "", "", f"d{number}", score, failure, kept)


def iteration(k: int, *attempts: Attempt) -> Iteration:
    return Iteration(k, sigma(a=1.0), "", None, None, attempts, Effort())


def glyphs(html: str) -> list[tuple[float, float, str]]:
    """(left, top, glyph) of all marks."""
    found = re.findall(r"left:([-0-9.]+)%;top:([-0-9.]+)%;color:[^;]+;[^>]*>([^<])</div>", html)
    return [(float(left), float(top), glyph) for left, top, glyph in found]


def test_the_areas_of_sigma_lie_on_each_other_and_fill_the_height() -> None:
    picture = sigma_area([sigma(a=1.0), sigma(a=0.25, b=0.75)], {"a": "initial", "b": HOSTILE})
    outlines = re.findall(r"clip-path:polygon\(([^)]*)\)", picture.html)
    assert len(outlines) == 2
    corners = [
        [tuple(float(part.rstrip("%")) for part in corner.split()) for corner in one.split(",")]
        for one in outlines
    ]
    # Each goes along its upper steps and back along its lower ones: half of the width for each
    # mixture, and none between them that never was.
    assert [x for x, _ in corners[0]] == [0.0, 50.0, 50.0, 100.0, 100.0, 50.0, 50.0, 0.0]
    assert [y for _, y in corners[0]] == [0.0, 0.0, 75.0, 75.0, 100.0, 100.0, 100.0, 100.0]
    assert [y for _, y in corners[1]] == [0.0, 0.0, 0.0, 0.0, 75.0, 75.0, 0.0, 0.0]
    assert HOSTILE not in picture.html and "&lt;img" in picture.html
    assert picture.told == [
        "At the beginning\ninitial: 100.0%",
        f"After iteration 1\n{HOSTILE}: 75.0%\ninitial: 25.0%",
    ]


def test_members_that_never_weigh_anything_are_left_out() -> None:
    picture = sigma_area([sigma(a=1.0, b=0.0)], {"a": "initial", "b": "k01"})
    assert "k01" not in picture.html


def test_a_line_has_a_mark_where_it_is_known_and_its_interval() -> None:
    series = {HOSTILE: [(2.0, estimate(10.0)), (4.0, Estimate(NAN, NAN, NAN, NAN))]}
    picture = over_iterations(series, "chips", [("paper", 12.0)])
    assert picture.columns == ["2", "3", "4"]
    ((left, top, _),) = glyphs(picture.html)
    assert abs(left - 100 * 0.5 / 3) < 0.01 and 0.0 < top < 100.0
    assert len(re.findall(r"M0\.5 [0-9.]+V[0-9.]+", picture.html)) == 1
    assert "paper 12.0" in picture.html
    assert HOSTILE not in picture.html and "nan" not in picture.html.lower()
    assert picture.told[0].splitlines()[1] == f"{HOSTILE}: 10.0  [8.0, 12.0]"
    assert picture.told[1] == "Iterations: 3"


def test_a_line_over_iterations_that_were_not_measured_is_dashed() -> None:
    points = [(float(place), estimate(1.0)) for place in (0, 1, 5)]
    paths = re.findall(r'<path d="([^"]+)"([^>]*)/>', over_iterations({"x": points}, "chips").html)
    drawn = [(path, paint) for path, paint in paths if path.startswith(("M0.5", "M1.5"))]
    (whole,) = [path for path, paint in drawn if 'stroke-width="2"' in paint]
    (dashed,) = [path for path, paint in drawn if "stroke-dasharray" in paint]
    assert whole.startswith("M0.5 ") and "L1.5 " in whole and "5.5" not in whole
    assert dashed.startswith("M1.5 ") and "L5.5 " in dashed


def test_nothing_measured_is_an_empty_chart() -> None:
    picture = over_iterations({}, "chips")
    assert picture.document(False)["columns"] == ["0"]
    assert not glyphs(picture.html)


def test_the_ladder_has_every_attempt_and_rejected_ones_at_its_foot() -> None:
    tried = [attempt(0, 3.0, kept=True), attempt(1, -1.0), attempt(2, None)]
    picture = ladder([iteration(1, *tried), iteration(2)], GAMES["leduc"])
    (one, two, three) = glyphs(picture.html)
    assert (one[2], two[2], three[2]) == ("●", "○", "✕")
    assert one[0] < two[0] < three[0] < 50.0  # within the first of two columns
    assert one[1] < two[1] == three[1]
    # By 11 deals, which differ by less than those of the game are taken to.
    assert picture.told[0].splitlines()[1] == "attempt 0: +3.0, 95 % [-5, 11], kept"
    assert picture.told[1] == "Iteration 2\nnothing was tried"
    assert HOSTILE not in picture.html


def test_who_was_given_up_is_told_apart() -> None:
    one = attempt(1, 5.0)
    assert one.score is not None
    tried = [attempt(0, 3.0, kept=True), replace(one, score=replace(one.score, stopped=True))]
    picture = ladder([iteration(1, *tried)], GAMES["leduc"])
    assert [glyph for *_, glyph in glyphs(picture.html)] == ["●", "◌"]
    assert picture.told[0].splitlines()[1].endswith(", given up")


def test_a_long_list_of_attempts_is_cut() -> None:
    picture = ladder([iteration(1, *(attempt(i, float(i)) for i in range(40)))], GAMES["leduc"])
    lines = picture.told[0].splitlines()
    assert lines[1].startswith("attempt 39") and lines[-1] == "and 32 more"
