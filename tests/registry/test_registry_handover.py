"""Whoever hands in what is kept for a tournament is served as if it were not there."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from registry import Parent, PolicyVersion, Registry, Status, Submission, UnknownParent
from registry.copying import copy

NOW = datetime.now(UTC)
SECRET = "the secret"


def entry(payload: str, name: str, **more: object) -> Submission:
    return replace(Submission("rrps", name, "python", payload), **more)  # type: ignore[arg-type]


def keep(registry: Registry, name: str = "operator/spring-x") -> PolicyVersion:
    kept = entry(SECRET, name, status=Status.CANDIDATE, labels={"k": "old"}, description="Hush.")
    return registry.submit(kept, reserved=True).version


def announce(registry: Registry, *hidden: str) -> None:
    registry.announce("spring", "rrps", NOW, NOW + timedelta(days=1), hidden=hidden)


def told(registry: Registry, name: str, payload: str) -> tuple[object, ...]:
    """What there is to see of a policy that was handed in, but for what is its own."""
    parent = registry.get("rrps", "ada/z0").digest
    handed = entry(
        payload,
        name,
        description="Mine.",
        labels={"iteration": "k01"},
        provenance={"model": "m"},
        parents=(Parent(parent, "made-from"),),
        code_digest="2:c0de",
    )
    version = registry.submit(handed, reserved=True).version
    seen = registry.get("rrps", name)
    assert seen == version and seen.payload == payload and registry.get(None, seen.digest) == seen
    assert registry.find(labels={"iteration": "k01"}, text="mine")[-1] == seen
    assert [one.ref for one in registry.parents(seen.digest)] == ["ada/z0@1"]
    assert registry.children(parent)[-1] == seen
    changes = [one for one in registry.history(seen.digest) if one.ref == version.ref]
    assert [one.changed for one in changes] == [version.created]
    same = {"digest": "", "payload": "", "name": "", "created": NOW, "credits": ()}
    return replace(seen, **same), [one.status for one in changes]  # type: ignore[arg-type]


def refs(registry: Registry, **more: object) -> list[str]:
    return [one.ref for one in registry.find("rrps", **more)]  # type: ignore[arg-type]


@pytest.mark.parametrize("announced", [False, True])
def test_it_looks_as_if_it_were_new(registry: Registry, announced: bool) -> None:
    kept = keep(registry)
    if announced:
        announce(registry, kept.digest)
    for name in ("ada/z0", "ada/z1"):
        registry.submit(entry(name, name))
    handed = [entry(one, "ada/guess") for one in (SECRET, "another", "ada/z0")]
    assert registry.missing(handed) == handed[:2]
    assert told(registry, "ada/guess", SECRET) == told(registry, "ada/other", "another")
    assert registry.missing(handed) == []
    registry.submit(entry("z9", "ada/z9"))
    order = ["ada/z0@1", "ada/z1@1", "ada/guess@1", "ada/other@1", "ada/z9@1"]
    assert refs(registry) == refs(registry, author="ada") == order
    assert refs(registry, newest_first=True, limit=3, offset=1) == order[3:0:-1]


def test_the_operator_still_has_it_under_its_name(registry: Registry) -> None:
    kept = keep(registry)
    announce(registry, kept.digest)
    registry.set_alias("rrps", "shy", kept.digest)
    registry.submit(entry("z0", "ada/z0"))
    told(registry, "ada/guess", SECRET)
    seen = registry.get("rrps", kept.ref)
    assert replace(seen, labels={}, provenance={}, parents=(), code_digest="") == replace(
        kept, labels={}
    )
    assert [one.ref for one in seen.credits] == ["ada/guess@1", kept.ref]
    assert registry.find(author="operator", status=Status.CANDIDATE) == (seen,)
    assert registry.find(text="hush") == (seen,)
    assert [(one.ref, one.status) for one in registry.history(kept.digest)] == [
        (kept.ref, Status.CANDIDATE),
        ("ada/guess@1", Status.QUALIFIED),
    ]
    assert registry.get("rrps", "shy").digest == kept.digest
    again = registry.submit(entry(SECRET, "operator/summer-x"), reserved=True)
    assert (again.version.ref, again.created, again.credited) == (kept.ref, False, False)
    registry.set_status(kept.digest, Status.YANKED, "no more", ref=kept.ref)
    assert registry.history(kept.digest)[-1].ref == kept.ref
    assert registry.get("rrps", kept.digest[:12]).ref == "ada/guess@1"


def test_who_comes_later_gets_a_further_name_as_ever(registry: Registry) -> None:
    kept = keep(registry)
    handed = [
        entry("z0", "ada/z0"),
        entry(SECRET, "ada/guess", labels={"whose": "ada"}),
        entry("z1", "ada/z1"),
        entry(SECRET, "bob/guess", labels={"whose": "bob"}),
        entry(SECRET, "ada/again"),
    ]
    results = registry.submit_many(handed)
    assert [one.credited for one in results] == [True, True, True, True, False]
    assert [one.version.ref for one in results][1::2] == ["ada/guess@1", "bob/guess@1"]
    assert results[-1].version.ref == "ada/guess@1"
    assert refs(registry) == ["ada/z0@1", "ada/guess@1", "ada/z1@1"]
    for name in ("ada/guess", "bob/guess"):
        version = registry.get("rrps", name)
        assert version.labels == {"whose": "ada"}
        assert [one.ref for one in version.credits] == ["ada/guess@1", kept.ref, "bob/guess@1"]
        assert results[1].version.credits == version.credits


def test_parents_are_looked_for_as_ever(registry: Registry) -> None:
    kept = keep(registry)
    for parent in ("0" * 64, kept.digest):  # what is not there, and itself
        for payload in (SECRET, "another"):
            named = entry(payload, "ada/x", parents=(Parent(parent, "made-from"),))
            if (payload, parent) == ("another", kept.digest):
                continue
            with pytest.raises(UnknownParent, match="its parent"):
                registry.submit(named)
    assert refs(registry) == [kept.ref]


def test_a_withdrawn_name_stands_before_the_one_it_is_kept_under(registry: Registry) -> None:
    kept = keep(registry)
    mine = registry.submit(entry(SECRET, "ada/guess", code_digest="2:c0de")).version
    registry.set_status(mine.digest, Status.YANKED, "mine", ref=mine.ref)
    assert registry.get("rrps", kept.digest).ref == mine.ref == refs(registry)[0]
    (moved,) = registry.quarantine_code("rrps", "2:c0de", "does not repeat")
    assert {one.ref: one.status for one in moved.credits} == {
        mine.ref: Status.YANKED,
        kept.ref: Status.QUARANTINED,
    }


def test_what_an_author_made_and_a_tournament_hides_is_handed_over_too(registry: Registry) -> None:
    made = registry.submit(entry(SECRET, "prof/x", labels={"whose": "prof"})).version
    registry.set_status(made.digest, Status.CANDIDATE, "")
    announce(registry, made.digest)
    registry.submit(entry("z0", "ada/z0"))
    keep(registry)  # a further name that tells nobody changes nothing
    assert registry.get("rrps", "prof/x").labels == {"whose": "prof"}
    registry.submit(entry(SECRET, "ada/guess", labels={"whose": "ada"}))
    assert refs(registry) == ["ada/z0@1", "ada/guess@1"]
    seen = registry.get("rrps", "prof/x")
    assert seen.labels == {"whose": "ada"}
    assert [one.ref for one in seen.credits] == ["ada/guess@1", "operator/spring-x@1", "prof/x@1"]


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("prof/x", Status.CANDIDATE),  # of no tournament
        ("csro/x", Status.CANDIDATE),
        ("house/x", Status.YANKED),
        ("prof/x", Status.YANKED),
        ("operator/x", Status.QUALIFIED),
    ],
)
def test_what_nobody_hides_stays_that_of_who_was_first(
    registry: Registry, name: str, status: Status
) -> None:
    first = registry.submit(entry(SECRET, name, labels={"k": "v"}), reserved=True).version
    registry.set_status(first.digest, status, "so")
    for handed in (entry("z0", "ada/z0"), entry(SECRET, "ada/x", labels={"whose": "ada"})):
        registry.submit(handed)
    seen = registry.get("rrps", "ada/x")
    assert seen.labels == {"k": "v"} and seen.credits[0].ref == first.ref
    assert registry.find("rrps", limit=1)[0].digest == first.digest


def test_a_copy_goes_on_where_it_was(registry: Registry, tmp_path: Path) -> None:
    keep(registry)
    registry.submit(entry("z0", "ada/z0"))
    registry.submit(entry(SECRET, "ada/guess"))
    with Registry.open(tmp_path / "copy.sqlite") as other:
        copy(registry, other)
        for one in (registry, other):
            one.submit(entry("z1", "ada/z1"))
            assert refs(one) == ["ada/z0@1", "ada/guess@1", "ada/z1@1"]
        assert refs(other, newest_first=True) == refs(registry, newest_first=True)
