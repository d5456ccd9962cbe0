"""Draws `pictures/plain-runs.png` from the figures in `pictures/plain-runs.csv`.

    python docs/plain_runs.py

The table has the columns of the `evolution.csv` that `csro reproduce` writes: figures of the runs
are from there, those of the chains from `benchmarks/growth_runs.py` (see
`oracle/grammar/README.md`).  Needs Chromium.
"""

from __future__ import annotations

import csv
import subprocess
import tempfile
from pathlib import Path

from arena.analysis.estimates import Estimate
from population.figures import over_iterations
from population.paper import reference_lines

PICTURES = Path(__file__).resolve().parent / "pictures"
WIDTH, HEIGHT, SCALE = 1000, 440, 1.5
NAN = float("nan")


def curves(table: Path) -> dict[str, list[tuple[float, Estimate]]]:
    """Mean and 95 % interval by variant and iteration."""
    found: dict[str, list[tuple[float, Estimate]]] = {}
    with table.open() as file:
        for row in csv.DictReader(file):
            mean, low, high = (float(row[name]) for name in ("mean", "low", "high"))
            point = float(row["iteration"]), Estimate(mean, NAN, low, high)
            found.setdefault(row["variant"], []).append(point)
    return found


def main() -> None:
    """Draws it in headless Chromium."""
    lines = reference_lines("rrps", "pop_return")
    chart = over_iterations(curves(PICTURES / "plain-runs.csv"), "throws a match", lines)
    style = "body { margin: 0; padding: 8px; background: #fbfbf9; font: 15px/1.5 sans-serif; }"
    page = f'<!doctype html><meta charset="utf-8"><style>{style}</style>{chart.alone()}'
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(page, encoding="utf-8")
        words = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        words += [f"--window-size={WIDTH},{HEIGHT}", f"--force-device-scale-factor={SCALE}"]
        words += [f"--screenshot={PICTURES / 'plain-runs.png'}", file.as_uri()]
        subprocess.run(["chromium", *words], check=True, capture_output=True)


if __name__ == "__main__":
    main()
