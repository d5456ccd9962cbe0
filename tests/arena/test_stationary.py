"""What can be won at most from a policy, by the exact values and by its matches."""

import random

import numpy as np
import pytest

from arena.analysis.exact import best_response_value
from arena.analysis.stationary import LEAST_DECISIONS, ceiling_of, remembers, table_of
from arena.games import GAMES, game
from arena.games.rrps.stationary import FIRST, LEGAL, most, situation
from arena.kinds.tabular import states_of

RRPS = game("rrps")
THROWS = range(3)


def thrower(choose):
    """A match of 1000 throws: `choose` in seat 1 against one that is random."""
    own, other, moves = [], [], bytearray()
    for _ in range(RRPS.length):
        theirs, mine = random.Random(len(moves) + choose.seed).randrange(3), choose(own, other)
        own.append(mine)
        other.append(theirs)
        moves += bytes((theirs, mine))
    return RRPS.stationary.decisions(0, bytes(moves), None, 1)


class Keeps:
    """Keeps a throw that has just won; otherwise throws at random."""

    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed)

    def __call__(self, own, other):
        if own and (own[-1] - other[-1]) % 3 == 1:
            return own[-1]
        return self.random.randrange(3)


class Counts(Keeps):
    """Beats the other's commonest throw of the whole match."""

    def __call__(self, own, other):
        return (max(THROWS, key=other.count) + 1) % 3 if other else 0


def test_a_best_response_to_a_throw_that_is_always_the_same_wins_all():
    assert most(dict.fromkeys(LEGAL, (0.0, 1.0, 0.0))) == 1000.0
    assert most(dict.fromkeys(LEGAL, (1 / 3, 1 / 3, 1 / 3))) == pytest.approx(0.0)
    mixed = most(dict.fromkeys(LEGAL, (0.5, 0.3, 0.2)))  # paper: beats rock, loses to scissors
    assert mixed == pytest.approx(1000 * (0.5 - 0.2))


def test_a_best_response_looks_ahead():
    """Against one that leaves rock only after it has lost by it, the last throw alone may win."""
    table = dict.fromkeys(LEGAL, (0.0, 1.0, 0.0))
    for other in THROWS:
        table[situation(0, other)] = (1.0, 0.0, 0.0)
    table[FIRST] = (1.0, 0.0, 0.0)
    assert most(table) == 1000.0
    copier = {situation(own, other): tuple(np.eye(3)[other]) for own in THROWS for other in THROWS}
    assert most({**copier, FIRST: (1 / 3, 1 / 3, 1 / 3)}) == pytest.approx(999.0)


def test_the_initial_thrower_s_ceiling_is_found_from_its_matches():
    truth = dict.fromkeys(LEGAL, (1 / 3, 1 / 3, 1 / 3))
    for own in THROWS:
        truth[situation(own, (own - 1) % 3)] = tuple(np.eye(3)[own])
    found = ceiling_of(RRPS.stationary, [thrower(Keeps(seed)) for seed in range(12)], 3)
    assert not found.exact
    assert found.decisions == 12_000
    assert found.value == pytest.approx(most(truth), abs=30.0)
    assert 0.0 < found.stderr < 30.0


def test_a_table_of_throws_is_a_program_that_plays_it(arena):
    table = dict.fromkeys(LEGAL, (0.1, 0.1, 0.8))
    table[situation(2, 0)] = (1.0, 0.0, 0.0)  # after scissors against rock: rock
    entered = arena.submit(RRPS.stationary.program(table), RRPS, "test/table")
    digest = entered.version.digest
    arena.play_pairs(RRPS, {(digest, arena.policy("house/rockbot", RRPS).digest): 4})
    rows = arena.matches(RRPS, "test/table", against="house/rockbot", limit=None)
    matches = [arena.match(row.id).decisions(digest) for row in rows]
    seen = table_of(RRPS.stationary, [one for match in matches for one in match], 3)
    assert seen[situation(2, 0)] == (1.0, 0.0, 0.0)
    assert seen[situation(0, 0)] == pytest.approx(table[situation(0, 0)], abs=0.06)


def test_one_that_remembers_has_no_ceiling():
    matches = [thrower(Counts(seed)) for seed in range(4)]
    assert remembers(matches)
    assert ceiling_of(RRPS.stationary, matches, 3) is None


def test_few_choices_say_nothing():
    assert ceiling_of(RRPS.stationary, [thrower(Keeps(1))], 3) is None
    assert ceiling_of(RRPS.stationary, [thrower(Keeps(1))[:50]] * 2, 3) is None
    assert ceiling_of(RRPS.stationary, [], 3) is None
    assert not remembers([])


def test_where_a_best_response_leads_to_what_nobody_saw_nothing_is_said(arena):
    """AlwaysFold raises nothing, so nobody knows what AlwaysCall does when it is raised."""
    leduc = game("leduc")
    caller, folder = (
        arena.policy(one, leduc).digest for one in ("house/AlwaysCall", "house/AlwaysFold")
    )
    arena.play_pairs(leduc, {(caller, folder): 10})
    rows = arena.matches(leduc, "house/AlwaysCall", against="house/AlwaysFold", limit=None)
    matches = [arena.match(row.id).decisions(caller) for row in rows]
    assert sum(map(len, matches)) >= LEAST_DECISIONS
    assert ceiling_of(leduc.stationary, matches, len(leduc.actions)) is None


def test_who_forgets_is_seldom_taken_for_one_that_remembers():
    mistaken = sum(remembers([thrower(Keeps(seed))]) for seed in range(100))
    assert mistaken <= 2


with_states = pytest.mark.parametrize("name", [n for n, one in GAMES.items() if one.states])


@with_states
def test_hands_are_read_as_the_states_that_a_table_has(name, arena):
    """What a tabular house entrant chose in stored matches, and what can be won from it."""
    played = game(name)
    entrant = next(one for one in played.house() if one.name.endswith(("CFR+", "NeverBluffs")))
    others = [one.name for one in played.house() if one.name != entrant.name]
    digests = {one: arena.policy(one, played).digest for one in (entrant.name, *others)}
    wanted = {(digests[entrant.name], digests[other]): 40 for other in others}
    arena.play_pairs(played, wanted)
    matches = []
    for row in arena.matches(played, entrant.name, limit=None):
        stored = arena.match(row.id)
        matches.append(stored.decisions(digests[entrant.name]))
    table = states_of(played.states, entrant.payload)
    for match in matches:
        assert match
        assert all(table[one.situation][one.action] > 0 for one in match)
    everything = [one for match in matches for one in match]
    observed = table_of(played.stationary, everything, len(played.actions))
    assert played.stationary.most(observed) >= best_response_value(played.states, table) - 1e-6
    assert played.stationary.most(table) == pytest.approx(best_response_value(played.states, table))


@pytest.mark.parametrize("name", sorted(GAMES))
def test_where_a_seat_was_is_told_in_few_words(name, arena):
    """Kinds are the same in every step; labels are few, so that gains can be added up by them."""
    played = game(name)
    first, second = [arena.policy(one.name, played).digest for one in played.house()[:2]]
    arena.play_pairs(played, {(first, second): 2})
    (row, _) = arena.matches(played, first, against=second, limit=None)[:2]
    events = arena.match(row.id).account.events
    for seat in (0, 1):
        told = [played.telling.where(event, seat) for event in events]
        assert len({tuple(one) for one in told}) == 1
        for kind in told[0]:
            assert 1 <= len({one[kind] for one in told}) <= 20
