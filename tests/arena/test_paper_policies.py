"""The policies printed in the CSRO paper run unchanged.

They are the paper's, so they are not part of this project: ARENA_PAPER_TEX names the paper's
LaTeX source, and the listings are taken from it when the tests run.
"""

import os
from pathlib import Path

import pytest

from arena import Enrolled

SOURCE = os.environ.get("ARENA_PAPER_TEX", "")
pytestmark = pytest.mark.skipif(not SOURCE, reason="ARENA_PAPER_TEX does not name the paper")


def listing(label):
    """The text of a listing."""
    text = Path(SOURCE).read_text(encoding="utf-8")
    start = text.index("]\n", text.index(f"label={label}")) + 2
    return text[start : text.index("\\end{lstlisting}", start)].lstrip("\n")


@pytest.mark.parametrize(
    ("label", "game", "matches", "pop_return", "tolerance"),
    [
        ("lst:rrps_bot", "rrps", 2, 237.7, 15.0),
        ("lst:leduc_poker_bot", "leduc", 200, 78.2, 4.0),
        ("lst:leduc_poker_initial", "leduc", 100, 24.5, 6.0),
    ],
)
def test_a_printed_policy(new_arena, label, game, matches, pop_return, tolerance):
    """Expected values: measured with other code for the same listings, in this project's games."""
    arena = new_arena(workers=0)
    outcome = arena.submit(listing(label), game, "paper/policy")
    assert isinstance(outcome, Enrolled), outcome
    found = arena.evaluate("paper/policy", game, matches)
    assert found.report.forfeits == 0
    assert found.scores.pop_return is not None
    assert abs(found.scores.pop_return.value - pop_return) < tolerance
