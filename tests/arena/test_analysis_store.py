"""From stored matches of a real game to payoffs, ratings and a leaderboard's numbers."""

from __future__ import annotations

import itertools
import math
import statistics
from types import SimpleNamespace

import numpy as np
import pytest

from arena import standings
from arena.analysis.metrics import evaluate
from arena.analysis.ratings import repetitions_to_rate, true_skill
from arena.games.rrps.game import RRPS
from arena.payoffs import PayoffTable
from arena.store import MatchStore
from arena.values import Match, Result, Termination

POLICIES = tuple(sorted(f"{k:064x}" for k in (7, 11, 400)))
MATCHES = 6


@pytest.fixture(scope="module")
def played():
    """Rock-paper-scissors by policies that prefer one hand each, scored by the engine."""
    game = RRPS
    rng = np.random.default_rng(3)
    results = []
    for (one, low), (other, high) in itertools.combinations(enumerate(POLICIES), 2):
        for repetition in range(MATCHES):
            match = Match.between(game.name, game.version, low, high, repetition)
            hands = [
                rng.choice(3, size=game.length, p=np.roll([0.6, 0.2, 0.2], k)) for k in (one, other)
            ]
            seats = hands if repetition % 2 == 0 else hands[::-1]
            moves = np.column_stack(seats).astype(np.uint8).tobytes()
            returns = game.score(match.public_deal_seed, moves, None)
            results.append(
                Result(match, 1, returns, Termination.COMPLETED, None, "", moves, "native", 0.01)
            )
    return game, results


@pytest.fixture(scope="module")
def store(played, tmp_path_factory):
    game, results = played
    store = MatchStore(tmp_path_factory.mktemp("store") / "matches.duckdb")
    store.append(game, results)
    return store


def test_payoffs_are_the_statistics_of_the_stored_matches(played, store):
    game, results = played
    table = PayoffTable.from_pair_stats(store.pair_stats(game.name, game.version), POLICIES)
    for (i, low), (j, high) in itertools.combinations(enumerate(POLICIES), 2):
        own = [r.return_low for r in results if (r.match.low, r.match.high) == (low, high)]
        assert table.mean[i, j] == pytest.approx(statistics.fmean(own))
        # Throws are not dealt: every match is a sample of its own.
        assert table.stderr[j, i] == pytest.approx(statistics.stdev(own) / math.sqrt(MATCHES))
        assert table.half_mean[0, i, j] == pytest.approx(statistics.fmean(own[::2]))
    assert table.missing() == ()
    # Preferences form a cycle: each beats one and loses to one.
    assert sorted((table.mean > 0).sum(axis=1).tolist()) == [1, 1, 1]
    evaluation = evaluate(table, POLICIES[0], POLICIES)
    assert evaluation.pop_expl.value == pytest.approx(-table.mean[0].min())
    assert [one.matches for one in evaluation.per_opponent] == [0, MATCHES, MATCHES]


def test_ratings_follow_match_ids_not_the_order_of_play(played, store, tmp_path):
    game, results = played
    other = MatchStore(tmp_path / "other.duckdb")
    for result in reversed(results):
        other.append(game, [result])
    rated = [true_skill(s.returns_in_id_order(game.name, game.version)) for s in (store, other)]
    assert rated[0] == rated[1]
    assert set(rated[0]) == set(POLICIES)


def test_bounded_ratings_use_the_first_repetitions_of_every_pair(played, store):
    game, _ = played
    table = PayoffTable.from_pair_stats(store.pair_stats(game.name, game.version), POLICIES)
    repetitions = repetitions_to_rate(table.count, 14)
    assert repetitions == 4
    returns = store.returns_in_id_order(game.name, game.version, repetitions - 1)
    assert returns.num_rows == 12
    assert set(true_skill(returns)) == set(POLICIES)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_the_first_matches_by_id_are_rated_whatever_share_is_read_at_first(
    played, store, monkeypatch, share
):
    game, _ = played
    monkeypatch.setattr(standings, "MAX_MATCHES", 7)
    monkeypatch.setattr(standings, "share_to_rate", lambda *_: share)
    table = PayoffTable.from_pair_stats(store.pair_stats(game.name, game.version), POLICIES)
    home = SimpleNamespace(store=store, registry=SimpleNamespace(find=lambda *_, **__: []))
    returns = store.returns_in_id_order(game.name, game.version)
    assert standings.ratings(home, game, table) == true_skill(returns.slice(0, 7))
    part = store.returns_in_id_order(game.name, game.version, share=share)
    assert part.equals(returns.slice(0, part.num_rows))
