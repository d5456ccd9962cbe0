"""Payoffs without luck: unbiased for whoever plays, and much more precise."""

from __future__ import annotations

import numpy as np
import pytest

from arena.control_variate import PlayedHands, corrected, variance_saved, without_luck
from arena.errors import UsageFault
from arena.games import game as game_named
from arena.games.hand_tree import hand_tree
from arena.kinds.mixture import payload_of
from arena.kinds.tabular import states_of
from arena.submission import prepare
from arena.values import Match, Result, Termination
from registry.values import Submission
from tests.arena.exact_returns import match_value

LEDUC = game_named("leduc")
HOUSE = ("house/CFR+", "house/AlwaysCall", "house/AlwaysFold")
CRASHES_WITH_KINGS = '''
class RepeatedLeducPokerBot:
    """Calls, and breaks where it holds a king late in a match."""

    def __init__(self):
        self.hands = 0

    def restart(self, player_id):
        self.hands += 1

    def act(self, obs):
        seen = (obs["player_view"]["hand"], obs["public_state"]["public_card"])
        if self.hands > 60 and seen == ("K", "K"):
            raise RuntimeError("a pair!")
        return "CALL"

    def receive_outcome(self, obs):
        pass
'''


def learner(rng):
    """A player with a memory: raises more while it wins, and follows its cards."""

    def choose(tree, point, deal, score):
        rank, public = LEDUC.deals[deal][point.actor] // 2, LEDUC.deals[deal][2] // 2
        paired = point.dealt > 2 and rank == public
        wish = 2 if rng.random() < 0.2 * rank + 0.4 * paired + 0.2 * (score > 0) else 1
        if not paired and rank == 0 and rng.random() < 0.3:
            wish = 0
        return wish if wish in point.after else 1

    return choose


def table_player(table, rng):
    def choose(tree, point, deal, score):
        return int(rng.choice(tree.actions, p=table[point.states[deal]]))

    return choose


def simulated(tree, low, high, number, rng):
    """Matches of 100 hands between two players, each of its own deal."""
    matches = []
    for repetition in range(number):
        deals = rng.integers(tree.deals, size=100)
        low_first = (np.arange(100) + repetition) % 2 == 0
        at, score = np.zeros(100, np.intp), 0.0
        for hand, (deal, first) in enumerate(zip(deals.tolist(), low_first.tolist(), strict=True)):
            place = 0
            while (point := tree.points[place]).actor is not None:
                mine = (point.actor == 0) == first
                chosen = (low if mine else high)(tree, point, deal, score if mine else -score)
                place = point.after[chosen]
            at[hand] = place * tree.deals + deal
            score += tree.points[place].payoffs[deal] * (1 if first else -1)
        match = Match("leduc", 1, "aa", "bb", repetition)
        returns = (score, -score) if repetition % 2 == 0 else (-score, score)
        result = Result(match, 1, returns, Termination.COMPLETED, None, "", b"", "inline", 0.0)
        matches.append(PlayedHands(result, repetition, low_first, at))
    return matches


@pytest.mark.parametrize("known", [False, True])
def test_the_mean_stays_what_it_is_for_players_that_learn(known):
    tree = hand_tree(LEDUC, LEDUC.states)
    prior, rng = tree.table(LEDUC.equilibrium), np.random.default_rng(5)
    call = tree.table(states_of(LEDUC.states, LEDUC.house()[0].payload))
    other = table_player(call, rng) if known else learner(rng)
    differences, ratios = [], []
    for _ in range(30):  # tournaments of few deals, in which models are bad
        matches = simulated(tree, learner(rng), other, 8, rng)
        plain = np.array([match.result.return_low for match in matches])
        found = corrected(tree, matches, (None, call if known else None), prior)
        differences.append((plain - found).mean())
        ratios.append(plain.var() / found.var())
    error = np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert abs(np.mean(differences)) < 3.5 * error
    assert np.median(ratios) > 1.5


def test_between_house_entrants_every_match_tells_the_exact_value(arena):
    arena.play("leduc", 6, only=HOUSE)
    digests = [arena.policy(ref, "leduc").digest for ref in HOUSE]
    tables = [states_of(LEDUC.states, arena.policy(ref, "leduc").payload) for ref in HOUSE]
    found = without_luck(arena.home, LEDUC, digests)
    plain = arena.payoffs("leduc", digests)
    exact = [[match_value(LEDUC.states, one, other) for other in tables] for one in tables]
    assert found.mean == pytest.approx(np.array(exact), abs=1e-6)
    for name in ("count", "deals", "wins", "draws", "forfeits", "half_count", "half_deals"):
        assert (getattr(found, name) == getattr(plain, name)).all()
    assert np.isinf(variance_saved(plain, found)[0, 1:]).all()


def test_forfeits_count_as_they_do_and_others_are_left_out(arena):
    # Not through its trial, which it would not survive.
    kings = prepare(LEDUC, CRASHES_WITH_KINGS, name="me/kings")
    entered = arena.home.registry.submit(kings).version.digest
    arena.play("leduc", 6, only=(entered, "house/AlwaysCall"), shared=True)
    digests = [entered, *(arena.policy(ref, "leduc").digest for ref in HOUSE)]
    plain = arena.payoffs("leduc", digests)
    found = without_luck(arena.home, LEDUC, digests, [(digests[0], digests[2])])
    assert plain.forfeits[0, 2] > 0
    assert found.forfeits[0, 2] == plain.forfeits[0, 2]
    assert found.count[0, 2] == 6
    assert found.count.sum() == 12
    # It forfeits most of what a match is worth, and no luck of cards makes up for that.
    assert found.mean[0, 2] == pytest.approx(plain.mean[0, 2], abs=120.0)


def test_an_evaluation_without_luck_says_what_it_saved(arena):
    plain = arena.evaluate("house/CFR+", "leduc", 8)
    found = arena.evaluate("house/CFR+", "leduc", 8, control_variate=True)
    assert plain.saved is None
    assert set(found.saved.values()) == {float("inf")}
    narrow, wide = found.scores.pop_return, plain.scores.pop_return
    assert narrow.high - narrow.low < wide.high - wide.low
    assert narrow.low <= (63.284 + 57.267) / 3.0 <= narrow.high


def test_a_mixture_loses_its_luck_through_its_members(arena):
    digests = [arena.policy(f"house/{name}", "leduc").digest for name in ("CFR+", "AlwaysCall")]
    weights = {digests[0]: 0.75, digests[1]: 0.25}
    mixed = Submission("leduc", "ada/mixed", "mixture", payload_of(weights))
    version = arena.register(mixed, ours=True)
    found = arena.evaluate(version.ref, "leduc", 8, control_variate=True)
    payoffs = {found.refs[one.digest]: one.payoff for one in found.scores.per_opponent}
    # CFR+ wins 63.284 from AlwaysCall, AlwaysCall nothing from itself; both are known exactly.
    assert payoffs["house/AlwaysCall@1"].value == pytest.approx(0.75 * 63.284, abs=0.01)
    assert payoffs["house/CFR+@1"].value == pytest.approx(0.25 * -63.284, abs=0.01)


def test_a_game_without_cards_is_refused_before_anything_is_played(arena):
    with pytest.raises(UsageFault, match="control variate"):
        arena.evaluate("house/pibot", "rrps", 1, control_variate=True)
    assert not arena.matches("rrps")
