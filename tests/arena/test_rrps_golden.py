"""What the bots score against each other, next to the published cross table."""

from __future__ import annotations

import importlib.util
import itertools
import statistics
from pathlib import Path
from types import ModuleType

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def golden() -> ModuleType:
    """The generator script, which knows how to measure and to compare."""
    spec = importlib.util.spec_from_file_location("regenerate_rrps", GOLDEN / "regenerate_rrps.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_golden_tables_are_whole(golden: ModuleType) -> None:
    means, sds = golden.read_table(golden.CROSS_TABLE), golden.read_table(golden.SD_PER_MATCH)
    assert len(means) == len(sds) == 43 * 43
    assert sorted(means) == sorted(sds)
    assert all(abs(mean + means[col, row]) < 40 for (row, col), mean in means.items() if row != col)
    assert min(sds.values()) >= 0


def test_a_spread_sample_of_pairs_agrees_with_the_published_table(golden: ModuleType) -> None:
    published, sds = golden.read_table(golden.CROSS_TABLE), golden.read_table(golden.SD_PER_MATCH)
    bots = sorted({row for row, _ in published})
    pairs = list(itertools.combinations_with_replacement(bots, 2))[::15]
    matches = 12
    means = {pair: statistics.fmean(golden.returns_of(pair, matches)) for pair in pairs}
    off = {
        pair: golden.deviation(mean, published[pair], sds[pair], matches)
        for pair, mean in means.items()
    }
    assert len(pairs) == 64
    assert max(off.values()) <= 4, max(off, key=lambda pair: off[pair])
    correlation = statistics.correlation(
        [means[pair] for pair in pairs], [published[pair] for pair in pairs]
    )
    assert correlation > 0.995
