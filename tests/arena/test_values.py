"""The identity of matches follows from their content and from nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from arena.values import SEED_BITS, Match, Result, Termination

digests = st.text("0123456789abcdef", min_size=8, max_size=8)


@given(digests, digests, st.integers(0, 10_000))
def test_a_match_is_the_same_in_either_order(one, other, repetition):
    a = Match.between("rrps", 1, one, other, repetition)
    b = Match.between("rrps", 1, other, one, repetition)
    assert a == b
    assert a.id == b.id


@given(digests, digests, st.integers(0, 1_000))
def test_two_halves_share_the_deal_and_swap_seats(one, other, deal):
    first = Match.between("leduc", 1, one, other, 2 * deal)
    second = Match.between("leduc", 1, one, other, 2 * deal + 1)
    assert first.deal == second.deal == deal
    assert first.seats == second.seats[::-1]
    assert first.id != second.id


def test_every_part_of_the_content_changes_the_id():
    base = Match("rrps", 1, "a", "b", 0)
    others = [
        Match("leduc", 1, "a", "b", 0),
        Match("rrps", 2, "a", "b", 0),
        Match("rrps", 1, "a", "c", 0),
        Match("rrps", 1, "0", "b", 0),
        Match("rrps", 1, "a", "b", 1),
    ]
    assert len({match.id for match in [base, *others]}) == 6


def test_the_identity_is_pinned():
    """Stored homes depend on these values: changing them orphans every match played so far."""
    match = Match("rrps", 1, "aa", "bb", 3)
    assert match.id == "dad46ab47c63f539642a262aa418d2b8"
    assert match.public_deal_seed == 6_197_585_363_765_539_616
    assert 0 <= match.public_deal_seed < 2**SEED_BITS


def test_return_low_follows_the_seats():
    even, odd = Match("rrps", 1, "a", "b", 0), Match("rrps", 1, "a", "b", 1)
    for match in (even, odd):
        result = Result(match, 1, (7.0, -7.0), Termination.COMPLETED, None, "", b"", "native", 0.1)
        assert result.return_low == (7.0 if match.seats[0] == "a" else -7.0)
