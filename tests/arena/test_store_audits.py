"""Audits in the match store: recorded once, found by policy and verdict, and counted."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from arena.games.protocol import Game
from arena.store import Audit, AuditCount, MatchStore, Verdict
from arena.values import Match, Result, Termination

A, B, C = ("a" * 64, "b" * 64, "c" * 64)
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def game(name: str = "toy") -> Game:
    return cast(
        Game, SimpleNamespace(name=name, version=1, has_deals=True, pack=bytes, unpack=bytes)
    )


def match(low: str, high: str, repetition: int, name: str = "toy") -> Match:
    return Match(name, 1, low, high, repetition)


def result(played: Match, wall: str = "process/1+lockstep") -> Result:
    return Result(
        match=played,
        season=1,
        returns=(0.0, 0.0),
        termination=Termination.COMPLETED,
        fault_seat=None,
        fault_message="",
        moves=b"",
        wall=wall,
        seconds=0.1,
    )


def audit(played: Match, verdict: Verdict = Verdict.SAME, **differences: Any) -> Audit:
    plain = Audit(played, verdict, None, None, "", "", "process/1", NOON)
    return replace(plain, **differences)


@pytest.fixture
def store(tmp_path: Path) -> MatchStore:
    """Four matches each of a and b, of a and c, and of b with itself."""
    made = MatchStore(tmp_path / "matches.duckdb", game_named=game)
    pairs = ((A, B), (A, C), (B, B))
    made.append(game(), [result(match(low, high, n)) for low, high in pairs for n in range(4)])
    return made


def test_an_audit_comes_back_as_it_went_in_and_once(store: MatchStore) -> None:
    east = NOON.astimezone(timezone(timedelta(hours=5)))
    different = audit(
        match(A, B, 1),
        Verdict.DIFFERENT,
        suspect=B,
        move=17,
        stored="ROCK\n\0\ud800",
        again="P" * 3000,
        audited_at=east,
    )
    assert store.record_audits([different, different]) == 1
    assert store.record_audits([different, replace(different, audited_at=NOON)]) == 0
    (found,) = store.audits()
    assert found == replace(different, stored="ROCK\n\0\\ud800", again="P" * 2000)
    assert found.audited_at.utcoffset() == timedelta(0)
    later = replace(different, audited_at=NOON + timedelta(microseconds=1))
    assert store.record_audits([later]) == 1
    assert [one.audited_at for one in store.audits()] == [later.audited_at, NOON]
    assert store.record_audits([]) == 0


def test_audits_are_found_by_policy_verdict_and_game(store: MatchStore) -> None:
    other = match(A, B, 0, "other")
    store.append(game("other"), [result(other)])
    recorded = [
        audit(match(A, B, 0)),
        audit(match(A, B, 1), Verdict.INCONCLUSIVE),
        audit(match(A, C, 0), Verdict.DIFFERENT, suspect=C, move=0),
        audit(other),
    ]
    assert store.record_audits(recorded) == 4
    assert store.audits() == recorded[::-1]
    assert store.audits(game="toy") == recorded[2::-1]
    assert store.audits(game="toy", of=B) == recorded[1::-1]
    assert store.audits(of=C) == [recorded[2]]
    assert (
        store.audits(of=A, verdicts=[Verdict.DIFFERENT, Verdict.INCONCLUSIVE]) == recorded[2:0:-1]
    )
    assert store.audits(verdicts=[]) == []
    assert store.audits(limit=1) == [recorded[3]]


def test_an_audit_counts_for_its_suspect_or_else_for_both(store: MatchStore) -> None:
    store.record_audits(
        [
            audit(match(A, B, 0)),
            audit(match(A, B, 1)),
            audit(match(A, B, 1), audited_at=NOON + timedelta(days=1)),
            audit(match(A, C, 0), Verdict.DIFFERENT, suspect=C, move=3),
            audit(match(A, C, 1), Verdict.DIFFERENT, move=5),
            audit(match(A, C, 2), Verdict.INCONCLUSIVE, suspect=A),
            audit(match(B, B, 0)),
        ]
    )
    assert store.audit_counts("toy", 1) == {
        A: AuditCount(same=3, different=1, inconclusive=1),
        B: AuditCount(same=4, different=0, inconclusive=0),
        C: AuditCount(same=0, different=2, inconclusive=0),
    }
    assert store.audit_counts("toy", 2) == {}


def test_the_newest_matches_without_an_audit(store: MatchStore) -> None:
    newer = [result(match(A, B, 4), "native"), result(match(A, B, 5), "process/1")]
    store.append(game(), newer)
    store.append(game("other"), [result(match(A, B, 0, "other"))])
    store.record_audits([audit(match(B, B, 3)), audit(match(B, B, 1))])
    rows = store.unaudited("toy", 1, 5)
    expected = [match(A, B, 5), match(A, B, 4), match(B, B, 2), match(B, B, 0), match(A, C, 3)]
    assert [row.match for row in rows] == expected
    assert rows == [row for row in store.matches("toy", 1, newest_first=True) if row in rows]
    sandboxed = store.unaudited("toy", 1, 2, sandboxed_only=True)
    assert [row.match for row in sandboxed] == [match(A, B, 5), match(B, B, 2)]
    assert len(store.unaudited("toy", 1, 100)) == 12
    assert store.unaudited("toy", 2, 5) == []


def test_audits_do_not_change_what_is_known_of_matches(store: MatchStore) -> None:
    before = (store.fingerprint("toy", 1), store.pair_stats("toy", 1), store.matches("toy", 1))
    store.record_audits([audit(match(A, B, 0), Verdict.DIFFERENT, suspect=A, move=2)])
    after = (store.fingerprint("toy", 1), store.pair_stats("toy", 1), store.matches("toy", 1))
    assert after == before


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("is not stored", audit(match(A, B, 9))),
        ("is not stored", audit(match(A, B, 0, "other"))),
        ("is not stored", audit(match(B, C, 0))),
        ("says same and what differs", audit(match(A, B, 0), suspect=A)),
        ("says same and what differs", audit(match(A, B, 0), move=1)),
        ("names move -1", audit(match(A, B, 0), Verdict.DIFFERENT, move=-1)),
        ("is no name of a wall", audit(match(A, B, 0), wall="\33[2J")),
        ("no time zone", audit(match(A, B, 0), audited_at=NOON.replace(tzinfo=None))),
    ],
)
def test_a_contradiction_is_refused_with_its_whole_batch(
    store: MatchStore, message: str, wrong: Audit
) -> None:
    with pytest.raises(ValueError, match=message):
        store.record_audits([audit(match(A, C, 0)), wrong])
    assert store.audits() == []


def test_a_suspect_may_be_the_member_that_a_mixture_drew(store: MatchStore) -> None:
    member = "f" * 32
    store.record_audits([audit(match(A, B, 0), Verdict.DIFFERENT, suspect=member, move=3)])
    (found,) = store.audits(of=member)
    assert (found.match, found.suspect) == (match(A, B, 0), member)
