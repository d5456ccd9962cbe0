"""Cells of the report's CSV files, as spreadsheets take them."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from population.report import tables


def test_words_of_others_are_no_formulas_for_a_spreadsheet(tmp_path: Path) -> None:
    words = ("=1+1", "+1", "-1", "@sum", "plain = fine", "\x1b[2J\tx")
    values = [(word, -1.5) for word in words]
    path = tables._write(tmp_path / "t.csv", ("a", "b"), [*values, (math.nan, math.inf)])
    with open(path, newline="") as file:
        _, *rows, unknown = csv.reader(file)
    assert unknown == ["", ""]
    assert [row[0] for row in rows[:5]] == ["'=1+1", "'+1", "'-1", "'@sum", "plain = fine"]
    assert "\x1b" not in rows[5][0]
    assert {row[1] for row in rows} == {"-1.5"}
