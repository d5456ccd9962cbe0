"""Tournaments: who takes part, and a final with seeds of its own."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from arena import Arena, Enrolled
from arena.contest.certificate import (
    lines_of,
)
from arena.contest.entries import Phase, entries_of, listed, pairs_of, phase_of, playing
from arena.contest.final import begun, counting, facts_of
from arena.contest.issuing import issue
from arena.contest.merkle import root_of
from arena.contest.table import pair_sums
from arena.contest.verification import verify
from arena.errors import UsageFault
from arena.home import Home
from registry import Status
from registry.tournaments import Entry, Tournament
from registry.values import Credit, PolicyVersion
from tests.arena.contests import (
    CLOSES,
    FIRST,
    HOUR,
    KUHN,
    OPENS,
    SECOND,
    SECRET,
    play_final,
)


def version(name, number, created, status=Status.QUALIFIED, kind="python", digest=""):
    credit = Credit(name, number, status, "", "", created)
    digest = digest or f"{name}@{number}"
    return PolicyVersion(
        digest, "kuhn", name, number, kind, "", status, "", "", {}, {}, (), "", created, (credit,)
    )


def tournament(**fields):
    known = {"name": "t", "game": "kuhn", "created": OPENS, "opens": OPENS, "closes": CLOSES}
    return Tournament(**{**known, "entries": 1, "matches": 2, **fields})


def test_the_last_entries_of_each_author_count_and_no_others():
    versions = [
        version("ada/early", 1, OPENS - HOUR),
        version("ada/x", 1, OPENS),
        version("ada/x", 2, OPENS + HOUR),
        version("ada/x", 3, CLOSES),
        version("bob/y", 1, OPENS + HOUR, Status.YANKED),
        version("cy/z", 1, OPENS + HOUR, Status.QUARANTINED),
        version("di/m", 1, OPENS + HOUR, kind="mixture"),
        version("house/h", 1, OPENS + HOUR),
        version("csro/h", 1, OPENS + HOUR),
        version("eve/secret", 1, OPENS + HOUR, digest="hidden"),
        version("flo/w", 1, CLOSES - timedelta(microseconds=1)),
    ]

    def refs(**fields):
        return [one.ref for one in entries_of(tournament(hidden=("hidden",), **fields), versions)]

    assert refs() == ["ada/x@2", "flo/w@1"]
    assert refs(entries=2) == refs(entries=9) == ["ada/x@1", "ada/x@2", "flo/w@1"]


def test_whoever_hands_in_the_same_content_has_an_entry_of_their_own():
    two = version("ada/x", 1, OPENS)
    later = Credit("bob/y", 1, Status.QUALIFIED, "", "", OPENS + HOUR)
    two = PolicyVersion(
        **{name: getattr(two, name) for name in two.__slots__ if name != "credits"},
        credits=(*two.credits, later),
    )
    found = entries_of(tournament(), [two])
    assert [(one.ref, one.digest) for one in found] == [
        ("ada/x@1", "ada/x@1"),
        ("bob/y@1", "ada/x@1"),
    ]


def test_where_a_tournament_is_follows_from_the_moment_it_is_asked():
    moments = (OPENS - HOUR, OPENS, CLOSES - HOUR, CLOSES)
    assert [phase_of(tournament(), now) for now in moments] == [
        Phase.ANNOUNCED,
        Phase.OPEN,
        Phase.OPEN,
        Phase.CLOSED,
    ]
    assert phase_of(tournament(frozen=CLOSES), OPENS) is Phase.FINAL
    assert phase_of(tournament(certificate="c"), OPENS) is Phase.CERTIFIED


def test_everybody_meets_everybody_and_the_hidden_meet_only_entrants():
    assert pairs_of(["b", "a", "b"], ["h", "g"]) == (
        ("a", "b"),
        ("a", "g"),
        ("a", "h"),
        ("b", "g"),
        ("b", "h"),
    )
    assert pairs_of(["a"], ["a"]) == ()


def test_the_root_is_of_the_lines_and_their_order():
    lines = [bytes([n]) for n in range(7)]
    roots = {root_of(lines[:n]) for n in range(8)} | {root_of(lines[::-1])}
    assert len(roots) == 9
    pair = bytes.fromhex(root_of(lines[:1])) + bytes.fromhex(root_of(lines[1:2]))
    assert root_of([b"\1" + pair]) != root_of(lines[:2]) != root_of([pair])


# The final.


def test_what_was_frozen_is_what_counted(finished):
    spring = finished.registry.tournament("spring")
    assert [one.ref for one in counting(finished, spring)] == ["ada/x@2", "bob/y@1", "cy/z@1"]
    report = play_final(finished, "spring", now=spring.closes)
    assert (report.played, report.skipped) == (0, 36)
    assert finished.registry.tournament("spring") == spring


def test_the_final_is_seen_by_no_leaderboard(finished):
    with Arena(finished.path, sandbox="process") as arena:
        digests = {one.digest for one in finished.registry.tournament("spring").entrants}
        met = [row for row in arena.matches("kuhn", limit=None) if set(row.seats) <= digests]
        assert met == []
        assert not any("secret" in row.ref for row in arena.leaderboard("kuhn").rows)


def test_sums_over_the_lines_are_those_of_the_store(finished):
    spring = finished.registry.tournament("spring")
    season = finished.registry.season(spring.season)
    facts = facts_of(finished, spring, season)
    final = Home(finished.path / "finals" / f"spring-{spring.season}", finished.registry, True)
    pairs = {(one.low, one.high): spring.matches for one in facts.outcomes}
    stored = final.store.exact_pair_stats(KUHN, pairs)
    ours = pair_sums(lines_of(facts), 2).select(stored.column_names)
    assert ours.to_pylist() == stored.to_pylist()


def test_a_final_takes_two(new_arena):
    arena = new_arena()
    arena.home.registry.announce("lonely", "kuhn", OPENS, CLOSES)
    with pytest.raises(UsageFault, match="a final needs two"):
        play_final(arena.home, "lonely", now=CLOSES)
    assert arena.home.registry.tournament("lonely").frozen is None
    with pytest.raises(UsageFault, match="has not begun"):
        issue(arena.home, "lonely")


def test_an_entry_that_is_hidden_as_well_is_listed_until_the_certificate(new_arena):
    """Whoever could see it left out would know, program by program, who is hidden."""
    arena = new_arena()
    registry, began = arena.home.registry, datetime.now(UTC)
    secret = arena.submit(SECRET, "kuhn", "prof/secret").version
    registry.set_status(secret.digest, Status.CANDIDATE, "")
    closes = began + timedelta(minutes=10)
    registry.announce("spring", "kuhn", began, closes, hidden=(secret.digest,))
    for name, source in (("ada/x", FIRST), ("bob/y", SECOND), ("eve/guess", SECRET)):
        assert isinstance(arena.submit(source, "kuhn", name), Enrolled)
    counted = [one.ref for one in counting(arena.home, registry.tournament("spring"))]
    assert counted == ["ada/x@1", "bob/y@1", "eve/guess@1"]
    _, _, pairs = begun(arena.home, "spring", closes)
    spring = registry.tournament("spring")
    assert [one.ref for one in counting(arena.home, spring)] == counted
    taking_part = [one.digest for one in spring.entrants if one.digest != secret.digest]
    assert set(pairs) == set(pairs_of(taking_part, spring.hidden)) and len(pairs) == 3
    play_final(arena.home, "spring", closes)
    document = issue(arena.home, "spring")
    assert {name for one in document["entrants"] for name in one["names"]} == set(counted[:2])
    assert [one["names"] for one in document["hidden"]] == [["eve/guess@1"]]
    assert not [one.problem for one in verify(document) if one.problem]
    counted = [one.ref for one in counting(arena.home, registry.tournament("spring"))]
    assert counted == ["ada/x@1", "bob/y@1"]


def test_who_hides_in_an_author_takes_part_with_the_last_other_one():
    """It stands in the list all the same, where the author's last ones are."""
    moments = [OPENS + n * HOUR for n in range(3)]
    old, new, other = (
        Entry(author, f"{author}/{name}@1", name, moment)
        for author, name, moment in zip(("eve", "eve", "bob"), "xyz", moments, strict=True)
    )
    frozen = Tournament(
        "spring", "kuhn", OPENS, OPENS, CLOSES, 1, 2, ("y",), CLOSES, 2, (other, old, new)
    )
    assert (listed(frozen), playing(frozen)) == ((other, new), (other, old))
    assert listed(replace(frozen, certificate="0" * 64)) == (other, old)
