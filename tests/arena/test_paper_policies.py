"""The policies printed in the CSRO paper run unchanged.

They are the paper's, so they are not part of this project: ARENA_PAPER_TEX names the paper's
LaTeX source, and the listings are taken from it when the tests run.
"""

import os
from pathlib import Path

import pytest
from arena.play import PlayOptions, play_pairs

from arena.analysis.metrics import evaluate
from arena.enrol import Enrolled, enrol
from arena.games import game as game_named
from arena.home import open_home
from arena.house.population import default_population
from arena.standings import payoff_table
from arena.submission import prepare
from sandbox.choose import WallChoice, open_wall
from sandbox.values import Limits

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
def test_a_printed_policy(tmp_path, label, game, matches, pop_return, tolerance):
    """Expected values: measured with other code for the same listings, in this project's games."""
    played = game_named(game)
    home = open_home(tmp_path / "home")
    wall = open_wall(WallChoice("process"))
    prepared = prepare(played, listing(label), name="paper/policy")
    outcome = enrol(home.registry, played, prepared, wall, Limits())
    wall.close()
    assert isinstance(outcome, Enrolled), outcome
    own, members = outcome.version.digest, default_population(game).digests
    options = PlayOptions(matches, 0, WallChoice("process"))
    report = play_pairs(home, played, [(own, member) for member in members], options)
    assert report.forfeits == 0
    result = evaluate(payoff_table(home, played, [own, *members]), own, members)
    assert result.pop_return is not None
    assert abs(result.pop_return.value - pop_return) < tolerance
