"""Quarantine goes by code: a comment, another name or a withdrawal does not lift it."""

from dataclasses import replace

import pytest

from registry import MalformedSubmission, PolicyVersion, Registry, Status, Submission
from tests.registry.at_once import at_once


def entry(payload: str, code: str, game: str = "rrps", name: str = "eve/x") -> Submission:
    return Submission(game, name, "python", payload, code_digest=code)


def statuses(registry: Registry, versions: list[PolicyVersion]) -> list[Status]:
    return [registry.by_digests([one.digest])[one.digest].status for one in versions]


def test_all_versions_of_a_code_are_quarantined_at_once(registry: Registry) -> None:
    submissions = [
        entry("a", "2:c0de"),
        entry("a # a comment", "2:c0de", name="mallory/y"),
        replace(entry("a # scored", "2:c0de"), status=Status.CANDIDATE),
        entry("b", "2:0ther"),
        entry("a", "2:c0de", game="leduc"),
    ]
    a, renamed, scored, other, leduc = (
        result.version for result in registry.submit_many(submissions)
    )
    evidence = "move 17: PAPER was stored, ROCK came again\n" * 80
    moved = registry.quarantine_code("rrps", "2:c0de", evidence)
    assert moved == tuple(
        replace(one, status=Status.QUARANTINED, status_reason=evidence)
        for one in (a, renamed, scored)
    )
    assert registry.find("rrps", status=Status.QUARANTINED) == moved
    assert statuses(registry, [other, leduc]) == [Status.QUALIFIED] * 2
    assert [change.status for change in registry.history(scored.digest)] == [
        Status.CANDIDATE,
        Status.QUARANTINED,
    ]
    assert registry.quarantine_code("rrps", "2:c0de", evidence) == moved
    assert len(registry.history(a.digest)) == 2
    registry.quarantine_code("rrps", "2:c0de", "seen again")
    assert [change.reason for change in registry.history(a.digest)] == ["", evidence, "seen again"]


def test_a_newcomer_with_that_code_is_known(registry: Registry) -> None:
    first = registry.submit(entry("a", "2:c0de")).version
    assert registry.quarantined_code("rrps", "2:c0de") is None
    registry.quarantine_code("rrps", "2:c0de", "plays differently alone")
    found = registry.quarantined_code("rrps", "2:c0de")
    assert found is not None
    assert (found.digest, found.status_reason) == (first.digest, "plays differently alone")
    assert registry.quarantined_code("leduc", "2:c0de") is None
    assert registry.quarantined_code("rrps", "2:0ther") is None


def test_a_withdrawal_does_not_lift_it_and_a_reinstatement_does(registry: Registry) -> None:
    one = registry.submit(entry("a", "2:c0de")).version
    two = registry.submit(entry("a # again", "2:c0de")).version
    registry.quarantine_code("rrps", "2:c0de", "differs")
    for version in (one, two):
        registry.set_status(version.digest, Status.YANKED, "never mind")
    registry.set_status(one.digest, Status.YANKED, "never mind, twice")
    found = registry.quarantined_code("rrps", "2:c0de")
    assert found is not None and found.digest == one.digest
    for version in (one, two):
        registry.set_status(version.digest, Status.QUALIFIED, "an error of ours")
    assert registry.quarantined_code("rrps", "2:c0de") is None
    registry.set_status(one.digest, Status.YANKED, "withdrawn in good standing")
    assert registry.quarantined_code("rrps", "2:c0de") is None


def test_what_was_withdrawn_stays_withdrawn(registry: Registry) -> None:
    gone = registry.submit(entry("a", "2:c0de")).version
    there = registry.submit(entry("a # again", "2:c0de")).version
    registry.set_status(gone.digest, Status.YANKED, "a mistake")
    moved = registry.quarantine_code("rrps", "2:c0de", "differs")
    assert [one.digest for one in moved] == [there.digest]
    assert registry.by_digests([gone.digest])[gone.digest].status is Status.YANKED


def test_what_has_no_code_matches_nothing(registry: Registry) -> None:
    version = registry.submit(Submission("rrps", "eve/table", "tabular", "{}")).version
    assert version.code_digest == ""
    assert registry.quarantine_code("rrps", "", "all of them?") == ()
    assert registry.by_digests([version.digest])[version.digest] == version
    registry.set_status(version.digest, Status.QUARANTINED, "this one")
    assert registry.quarantined_code("rrps", "") is None
    assert registry.quarantine_code("rrps", "2:unknown", "") == ()


def test_a_reason_that_cannot_be_kept_changes_nothing(registry: Registry) -> None:
    version = registry.submit(entry("a", "2:c0de")).version
    for reason in ("\0", "x" * 4_001):
        with pytest.raises(MalformedSubmission):
            registry.quarantine_code("rrps", "2:c0de", reason)
    assert registry.by_digests([version.digest])[version.digest] == version


def test_processes_that_quarantine_while_others_submit(target: str) -> None:
    code = """
from registry import Submission
with Registry.open(target) as registry:
    for number in range(10):
        if who % 2:
            registry.submit(Submission(
                "rrps", f"eve{who}/x", "python", f"{who} {number}", code_digest="2:c0de"
            ))
        else:
            print(len(registry.quarantine_code("rrps", "2:c0de", f"{who} {number}")))
"""
    at_once(target, code)
    with Registry.open(target) as registry:
        moved = registry.quarantine_code("rrps", "2:c0de", "in the end")
        assert len(moved) == registry.count() == 20
        for version in moved:
            history = registry.history(version.digest)
            assert history[0].status is Status.QUALIFIED
            assert all(change.status is Status.QUARANTINED for change in history[1:])
            assert history[-1].reason == "in the end"
