"""Batches are stored as often as they can be, and no more often."""

import pytest

from arena.tally import pause_after


@pytest.mark.parametrize(
    ("took", "pause"), [(0.0, 1.0), (0.01, 1.0), (0.04, 2.0), (0.19, 9.5), (0.3, 10.0)]
)
def test_storing_takes_a_50th_of_the_time_within_bounds(took, pause):
    assert pause_after(took) == pytest.approx(pause)
