"""Round robins that are killed at a moment, and one that is held to its time: no neighbours."""

import os
import random
import signal
import time
from contextlib import suppress

from tests.arena.simulated_returns import in_order
from tests.arena.test_play import BOTS, HOUSE, arena_play, digests, finished, registered, table_of


def test_a_budget_ends_a_request_and_another_goes_on(arena):
    slow = registered(
        arena,
        "me/slow",
        "class Agent:\n    def act(self, observation):\n        sum(range(6_000))\n"
        "        return 'ROCK'\n",
    )
    wanted = {(slow, bot): 8 for bot in digests(arena, BOTS[:4])}
    report = arena.play_pairs("rrps", wanted, processor_seconds=0.5)
    assert 0 < report.played < 32
    assert report.left == 32 - report.played
    assert report.processor_seconds >= 0.5
    rest = arena.play_pairs("rrps", wanted)
    assert (rest.played, rest.left) == (report.left, 0)


def test_killed_at_random_moments_and_resumed(new_arena):
    """What a reader has seen is never lost, nothing is doubled, and the end is the same."""
    matches = 240
    whole = new_arena("whole", workers=2)
    whole.play("rrps", matches, only=HOUSE)
    arena = new_arena("killed")
    home = arena.home
    rng = random.Random(7)
    seen = {row.id for row in home.store.matches("rrps", 1)}
    total = len(seen) + len(BOTS) * (len(BOTS) - 1) // 2 * matches
    kills = 0
    while kills < 3 and len(seen) < total:
        process = arena_play(home.path, "--matches", str(matches), "--workers", "2")
        before = len(seen)
        # Only a kill in the middle of play counts: somebody has seen new matches, and not all.
        while len(seen) == before and process.poll() is None:
            seen |= {row.id for row in home.store.matches("rrps", 1)}
            time.sleep(0.02)
        moment = time.monotonic() + rng.uniform(0.0, 0.3)
        while time.monotonic() < moment:
            seen |= {row.id for row in home.store.matches("rrps", 1)}
        alive = process.poll() is None
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        kills += alive and before < len(seen) < total
        assert seen <= {row.id for row in home.store.matches("rrps", 1)}
    assert kills >= 2, "the round robin was over before it could be killed twice in the middle"
    finished(arena_play(home.path, "--matches", str(matches)))
    assert table_of(arena, moves_of=40) == table_of(whole, moves_of=40)
    stats = [
        in_order(one.home.store.pair_stats("rrps", 1).drop(["seconds"])) for one in (arena, whole)
    ]
    assert stats[0] == stats[1]
