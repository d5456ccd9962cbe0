"""The same code from several authors: each keeps a name, the results are one."""

import pytest

from arena import Enrolled, Rejection
from registry import NameRefused
from registry.values import Status

ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
OURS = ["ada/rock@1", "bob/stone@1"]


@pytest.fixture
def both(arena):
    """Two authors, the same code."""
    for name in ("ada/rock", "bob/stone"):
        assert isinstance(arena.submit(ROCK, "rrps", name), Enrolled)
    return arena


def row_of(arena, digest):
    (row,) = [row for row in arena.leaderboard("rrps").rows if row.digest == digest]
    return row


def test_the_second_author_has_a_name_and_plays_nothing_again(both):
    first, second = (both.policy(ref, "rrps") for ref in OURS)
    assert first.digest == second.digest
    assert len(both.matches("rrps", "bob/stone", limit=None)) == 2  # ada's trial
    row = row_of(both, first.digest)
    assert (row.ref, row.also) == ("ada/rock@1", ("bob/stone@1",))
    told = str(both.leaderboard("rrps"))
    assert "ada/rock@1 also bob/stone@1" in told
    assert "bob/stone" in str(both.policies("rrps", author="bob"))
    report = both.play("rrps", 1, only=["ada/rock", "bob/stone", "house/rockbot"])
    assert report.played + report.skipped == 1  # one pair, however many names


def test_a_withdrawal_leaves_the_others_name_and_matches(both):
    digest = both.policy("ada/rock", "rrps").digest
    gone = both.withdraw("ada/rock", "rrps", "mine")
    assert (gone.ref, gone.status, gone.also) == ("ada/rock@1", Status.YANKED, ("bob/stone@1",))
    row = row_of(both, digest)
    assert (row.ref, row.also) == ("bob/stone@1", ())
    assert both.policy("bob/stone", "rrps").status is Status.QUALIFIED
    both.withdraw("bob/stone", "rrps", "mine, too")
    assert all(row.digest != digest for row in both.leaderboard("rrps").rows)
    both.reinstate("bob/stone", "rrps")
    assert row_of(both, digest).ref == "bob/stone@1"
    assert both.policy("ada/rock", "rrps").status is Status.YANKED


def test_nobody_enters_code_that_is_in_quarantine_by_another_name(both):
    version = both.policy("ada/rock", "rrps")
    both.home.registry.quarantine_code("rrps", version.code_digest, "does not repeat")
    refused = both.submit(ROCK, "rrps", "eve/rock")
    assert isinstance(refused, Rejection)
    assert "in quarantine: does not repeat" in refused.message
    known = both.submit(ROCK, "rrps", "bob/stone")
    assert isinstance(known, Enrolled) and not known.credited
    assert known.version.status is Status.QUARANTINED


def test_nobody_enters_known_code_in_anothers_name(both):
    for name in ("Ada/rock", "house/rock", "b0b/rock"):
        with pytest.raises(NameRefused):
            both.submit(ROCK, "rrps", name)
    assert both.policy("ada/rock", "rrps").also == ("bob/stone@1",)


def test_entering_an_oracles_candidate_leaves_it_the_oracles(arena):
    from arena.games import game
    from arena.submission import prepare

    draft = prepare(
        game("rrps"), ROCK, name="csro/r-k01", status=Status.CANDIDATE, labels={"run": "r"}
    )
    (entered,) = arena.enter("rrps", [draft], ours=True)
    taken = arena.submit(ROCK, "rrps", "ada/rock")
    assert (taken.created, taken.credited, taken.version.also) == (False, True, ())
    assert row_of(arena, taken.version.digest).also == ()
    assert arena.policy("csro/r-k01", "rrps").status is Status.CANDIDATE
    assert arena.admit(entered.version.digest, "joined").ref == "csro/r-k01@1"
    row = row_of(arena, taken.version.digest)
    assert (row.ref, row.also) == ("csro/r-k01@1", ("ada/rock@1",))
