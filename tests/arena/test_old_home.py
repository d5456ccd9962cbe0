"""A home from before seeds were secret: nothing is lost, and what is played now is secret."""

import tarfile
from pathlib import Path

import pytest

from arena import Arena
from arena.errors import SeedsUnknown

HOME = Path(__file__).parents[1] / "golden" / "home_1.tar.gz"
"""See regenerate_home_1.sh there."""
PLAYED = 24
"""Four matches of each pair of four policies."""


@pytest.fixture
def old_home(tmp_path):
    with tarfile.open(HOME) as archive:
        archive.extractall(tmp_path / "home", filter="data")
    return tmp_path / "home"


def test_its_matches_are_kept_count_and_can_be_retold(old_home):
    with Arena(old_home, sandbox="process", workers=1) as arena:
        rows = arena.matches("leduc", limit=None)
        assert len(rows) == PLAYED
        assert {row.season for row in rows} == {0}
        board = arena.leaderboard("leduc").rows
        assert {row.ref for row in board if row.matches == 12} == {
            "house/AlwaysCall@1", "house/AlwaysFold@1", "house/CFR+@1", "starter/leduc@1"
        }  # fmt: skip
        told = arena.match(rows[0].id)
        assert told.result.returns == rows[0].returns
        with pytest.raises(SeedsUnknown, match="can be retold"):
            arena.replay(rows[0].id)


def test_what_is_played_now_has_secret_seeds_and_repeats(old_home):
    with Arena(old_home, sandbox="process", workers=1) as arena:
        report = arena.play("leduc", 6)
        assert (report.skipped, report.played) == (PLAYED, PLAYED // 2)
        new = [row for row in arena.matches("leduc", limit=None) if row.season]
        assert len(new) == PLAYED // 2
        assert arena.replay(new[0].id).same
        (season,) = arena.seasons()
        assert season.closed is None and not season.given
