"""Pairs that play until they are precise: how far they go, and that it is the same every time."""

import pytest

from arena.errors import UsageFault
from arena.kinds.mixture import payload_of
from registry.values import Submission

PRECISION = 5.0
HOUSE = ("house/CFR+", "house/AlwaysCall", "house/AlwaysFold")


def stored(arena, game="leduc"):
    return {row.id: row.return_low for row in arena.matches(game, limit=None)}


def lengths(arena, game="leduc"):
    """Matches of each pair, by the two names."""
    table = arena.payoffs(game)
    names = [table.names[digest] for digest in table.digests]
    return {
        (names[i], names[j]): int(table.count[i, j])
        for i in range(len(names))
        for j in range(i)
        if table.count[i, j]
    }


def test_each_pair_plays_until_it_is_precise(arena):
    report = arena.play("leduc", 400, only=HOUSE, precision=PRECISION)
    table = arena.payoffs("leduc", [arena.policy(ref, "leduc").digest for ref in HOUSE])
    assert report.imprecise == 0
    assert report.skipped == 0
    assert (table.stderr <= PRECISION).all()
    played = set(lengths(arena).values())
    assert len(played) > 1  # noisy pairs play more
    assert all(count % 2 == 0 for count in played)
    again = arena.play("leduc", 400, only=HOUSE, precision=PRECISION)
    assert (again.played, again.skipped, again.imprecise) == (0, report.played, 0)


def test_a_precision_alone_has_room_to_be_reached(arena):
    report = arena.play("leduc", only=HOUSE[:2], precision=5.0)
    assert report.imprecise == 0
    assert report.played > 16
    found = arena.evaluate(HOUSE[2], "leduc", precision=5.0)
    assert found.report.imprecise == 0
    assert max(one.matches for one in found.scores.per_opponent) > 16


def test_a_pair_that_spent_its_share_is_told(arena):
    report = arena.play("leduc", 21, only=HOUSE, precision=0.01)
    assert report.imprecise == 3
    assert set(lengths(arena).values()) == {21}


def test_interrupted_or_begun_otherwise_it_comes_to_the_same_matches(new_arena):
    whole, cut, begun = (new_arena(place) for place in ("whole", "cut", "begun"))
    whole.play("leduc", 400, only=HOUSE, precision=PRECISION)

    def stop(done, wanted):
        if done > 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut.play("leduc", 400, only=HOUSE, precision=PRECISION, progress=stop)
    assert 0 < len(stored(cut)) < len(stored(whole))
    cut.play("leduc", 400, only=HOUSE, precision=PRECISION)
    assert stored(cut) == stored(whole)

    begun.play("leduc", 13, only=HOUSE)
    begun.play("leduc", 400, only=HOUSE, precision=PRECISION)
    assert stored(begun) == stored(whole)


def test_others_do_not_change_how_far_a_pair_goes(new_arena):
    alone, beside = new_arena("alone"), new_arena("beside")
    alone.play("leduc", 400, only=HOUSE[:2], precision=PRECISION)
    beside.play("leduc", 400, only=HOUSE, precision=PRECISION)
    assert stored(alone).items() <= stored(beside).items()
    # Matches beyond the looks are there, and are not looked at.
    more = new_arena("more")
    more.play("leduc", 100, only=HOUSE[:2])
    assert more.play("leduc", 400, only=HOUSE[:2], precision=PRECISION).played == 0


def test_a_limit_on_time_ends_it_between_rounds(arena):
    wanted = {tuple(arena.policy(ref, "leduc").digest for ref in HOUSE[:2]): 40}
    report = arena.play_pairs("leduc", wanted, precision=1.0, processor_seconds=0.0)
    assert report.played == 0
    assert report.left > 0
    assert report.imprecise == 1


def test_an_evaluation_takes_the_same_rule(arena):
    found = arena.evaluate("house/CFR+", "leduc", 400, precision=PRECISION)
    assert found.report.imprecise == 0
    assert all(one.payoff.stderr <= PRECISION for one in found.scores.per_opponent)


def test_games_without_deals_count_matches(arena):
    report = arena.play(
        "rrps", 30, only=("house/rockbot", "house/randbot", "house/copybot"), precision=12.0
    )
    assert report.imprecise == 0
    assert set(lengths(arena, "rrps").values()) <= {8, 12, 18, 27, 30}


@pytest.fixture
def mixed(arena):
    """AlwaysFold with a ninth of CFR+, whose matches differ far more."""
    fold, rare = (arena.policy(ref, "leduc").digest for ref in (HOUSE[2], HOUSE[0]))
    payload = payload_of({fold: 8 / 9, rare: 1 / 9})
    return arena.register(Submission("leduc", "ada/mixed", "mixture", payload), ours=True)


def test_a_mixtures_members_play_as_far_as_its_mean_needs(arena, mixed):
    rare, call = (arena.policy(ref, "leduc").digest for ref in HOUSE[:2])
    precision = 3.0
    report = arena.play("leduc", 2_000, only=[mixed.ref, HOUSE[1]], precision=precision)
    assert report.imprecise == 0
    assert arena.payoffs("leduc", [mixed.digest, call]).stderr[0, 1] <= precision
    # Were each member to be as precise as the mixture, this one would have to play on.
    assert precision < arena.payoffs("leduc", [rare, call]).stderr[0, 1] <= 3.0 * precision


def test_a_mixture_that_spent_its_share_is_one_imprecise_pair(arena, mixed):
    report = arena.play("leduc", 40, only=[mixed.ref, HOUSE[1]], precision=0.5)
    assert report.imprecise == 1
    fold, call, rare = (arena.policy(ref, "leduc").digest for ref in reversed(HOUSE))
    assert arena.payoffs("leduc", [call, fold, rare]).count[0].tolist() == [0, 36, 6]
    # It meets its own member with what its others do; the member's own part is known exactly.
    assert arena.play("leduc", 400, only=[mixed.ref, HOUSE[0]], precision=10.0).imprecise == 0


@pytest.mark.parametrize("precision", [0.0, -1.0, float("nan")])
def test_no_precision_at_all_is_refused(arena, precision):
    with pytest.raises(UsageFault, match="precision"):
        arena.play("leduc", 4, only=HOUSE, precision=precision)
