"""What the registry promises, on SQLite and on PostgreSQL alike."""

import pickle
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from registry import (
    AliasProtected,
    AmbiguousRef,
    MalformedName,
    MalformedSubmission,
    Parent,
    Registry,
    RegistryReadOnly,
    Status,
    Submission,
    UnknownParent,
    UnknownPolicy,
    digest_of,
)


def entry(
    payload: str, name: str = "ada/copycat", game: str = "rrps", **more: object
) -> Submission:
    return replace(Submission(game, name, "python", payload), **more)  # type: ignore[arg-type]


def test_a_submission_comes_back_as_it_was_handed_in(registry: Registry) -> None:
    before = datetime.now(UTC)
    parent = registry.submit(entry("parent")).version
    submission = entry(
        "class Agent: ...  # ünïcode \N{SNOWMAN}",
        status=Status.CANDIDATE,
        description="Copies the throw before.\nOr <b>not</b>.",
        labels={"oracle": "grammar", "k": "3", "leer": ""},
        provenance={"year": 2026, "cost": None, "tokens": [1, 2.5], "by": {"model": "ü"}},
        parents=(Parent(parent.digest, "refined-from"),),
        code_digest="abc",
    )
    version, created, _ = registry.submit(submission)
    assert created
    stored = registry.get("rrps", version.digest)
    assert stored == version
    assert stored.ref == "ada/copycat@2"
    assert stored.author == "ada"
    assert stored.digest == digest_of("rrps", "python", submission.payload)
    for field in ("payload", "status", "description", "labels", "provenance", "parents"):
        assert getattr(stored, field) == getattr(submission, field)
    assert before <= stored.created <= datetime.now(UTC)
    assert stored.created.utcoffset() == timedelta(0)
    assert pickle.loads(pickle.dumps(stored)) == stored


def test_the_same_content_is_one_version_whoever_submits_it(registry: Registry) -> None:
    first = registry.submit(entry("x"))
    again = registry.submit(entry("x", "bob/mine", description="all mine", labels={"a": "b"}))
    assert first.created and not again.created
    assert again.version.digest == first.version.digest
    assert registry.count() == 1


def test_content_is_told_apart_by_game_and_kind(registry: Registry) -> None:
    versions = [
        registry.submit(one).version
        for one in (entry("x"), entry("x", game="leduc"), entry("x", kind="tabular"))
    ]
    assert len({version.digest for version in versions}) == 3
    assert [version.ref for version in versions] == [
        "ada/copycat@1",
        "ada/copycat@1",
        "ada/copycat@2",
    ]


def test_many_are_numbered_in_their_order_and_doubles_found(registry: Registry) -> None:
    registry.submit(entry("old"))
    results = registry.submit_many(
        [entry("new"), entry("old"), entry("b", "bob/b"), entry("new"), entry("newer")]
    )
    assert [result.created for result in results] == [True, False, True, False, True]
    assert [result.version.ref for result in results] == [
        "ada/copycat@2",
        "ada/copycat@1",
        "bob/b@1",
        "ada/copycat@2",
        "ada/copycat@3",
    ]
    assert [version.payload for version in registry.find()] == ["old", "new", "b", "newer"]
    assert registry.submit_many([]) == ()


def test_one_bad_submission_leaves_nothing_behind(registry: Registry) -> None:
    with pytest.raises(UnknownParent, match=r"parent f{32} is not in the registry"):
        registry.submit_many([entry("good"), entry("orphan", parents=(Parent("f" * 32, "from"),))])
    with pytest.raises(MalformedName):
        registry.submit_many([entry("good"), entry("x", "no-slash")])
    assert registry.count() == 0
    assert registry.submit(entry("good")).version.number == 1


def test_what_is_missing_of_many(registry: Registry) -> None:
    registry.submit(entry("b"))
    wanted = [entry("a"), entry("b"), entry("c")]
    assert registry.missing(wanted) == [wanted[0], wanted[2]]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"payload": "a\0b"}, "payload contains a NUL"),
        ({"payload": "\udc80"}, "payload is not valid Unicode at character 0"),
        ({"description": "\0"}, "description contains a NUL"),
        ({"description": "x" * 20_001}, "20,001 characters; at most 20,000"),
        ({"labels": {"a b": "c"}}, "'a b' is not a label's key"),
        ({"labels": {"a": "x" * 257}}, "label a has 257 characters"),
        ({"labels": {"a": "\ud800"}}, "label a is not valid Unicode"),
        ({"provenance": {"when": object()}}, "provenance cannot be written as JSON"),
        ({"provenance": {"cost": float("nan")}}, "provenance cannot be written as JSON"),
        ({"provenance": {"deep": ["\0"]}}, "provenance contains a NUL"),
        ({"provenance": {"\ud800": 1}}, "provenance is not valid Unicode"),
        ({"game": "No Game"}, "'No Game' is not a game"),
        ({"kind": ""}, "'' is not a kind"),
        ({"status": Status.YANKED}, "enters as qualified or candidate, not as yanked"),
        ({"parents": (Parent("f" * 32, "Is From"),)}, "'Is From' is not a relation"),
    ],
)
def test_fields_that_cannot_be_stored(
    registry: Registry, change: dict[str, object], text: str
) -> None:
    with pytest.raises(MalformedSubmission, match=text):
        registry.submit(replace(entry("x"), **change))  # type: ignore[arg-type]
    assert registry.count() == 0


def test_text_that_only_looks_like_an_escape_is_kept(registry: Registry) -> None:
    provenance = {"prompt": "\\u0000 and \\ud800"}
    version = registry.submit(entry("x", provenance=provenance)).version
    assert registry.get("rrps", version.ref).provenance == provenance


def test_references(registry: Registry) -> None:
    one, two = (registry.submit(entry(text)).version for text in ("one", "two"))
    for ref in ("ada/copycat@1", one.digest, one.digest.upper(), one.digest[:6]):
        assert registry.get("rrps", ref) == one
        assert registry.get(None, ref) == one
    assert registry.get("rrps", "ada/copycat") == two


def test_a_bare_name_is_its_newest_version_that_is_not_withdrawn(registry: Registry) -> None:
    digests = [registry.submit(entry(text)).version.digest for text in "abc"]
    registry.set_status(digests[2], Status.YANKED, "a mistake")
    assert registry.get("rrps", "ada/copycat").digest == digests[1]
    registry.set_status(digests[1], Status.QUARANTINED, "plays differently each time")
    assert registry.get("rrps", "ada/copycat").digest == digests[0]
    registry.set_status(digests[0], Status.YANKED, "all of it")
    assert registry.get("rrps", "ada/copycat").digest == digests[2]
    assert registry.get("rrps", "ada/copycat@2").digest == digests[1]


def test_an_ambiguous_prefix_lists_what_it_could_be(registry: Registry) -> None:
    # Two payloads whose digests share their first six digits, found by trying.
    pair = [entry("collide 1066"), entry("collide 5551")]
    seen: dict[str, int] = {}
    for number in range(100_000):
        prefix = digest_of("rrps", "python", f"collide {number}")[:6]
        if prefix in seen:
            pair = [entry(f"collide {seen[prefix]}"), entry(f"collide {number}")]
            break
        seen[prefix] = number
    one, two = (result.version for result in registry.submit_many(pair))
    with pytest.raises(AmbiguousRef, match="could be any of") as caught:
        registry.get("rrps", one.digest[:6])
    assert all(version.ref in str(caught.value) for version in (one, two))
    assert len(caught.value.candidates) == 2
    longer = next(n for n in range(7, 33) if one.digest[:n] != two.digest[:n])
    assert registry.get("rrps", one.digest[:longer]) == one


def test_without_a_game_a_name_in_two_games_is_ambiguous(registry: Registry) -> None:
    registry.submit_many([entry("x"), entry("x", game="leduc")])
    with pytest.raises(AmbiguousRef, match=r"of leduc .* of rrps|of rrps .* of leduc"):
        registry.get(None, "ada/copycat")
    assert registry.get("leduc", "ada/copycat").game == "leduc"


@pytest.mark.parametrize(
    ("ref", "suggested"),
    [
        ("house/grenberg", "house/greenberg"),
        ("greenberg", "house/greenberg"),
        ("house/GREENBERG", "house/greenberg"),
        ("hose/iocainebot", "house/iocainebot"),
        ("nobody/iocainebot", "house/iocainebot"),
        ("house/greenberg@7", "house/greenberg"),
        ("chmpion", "champion"),
    ],
)
def test_an_unknown_reference_suggests_near_ones(
    registry: Registry, ref: str, suggested: str
) -> None:
    house = [entry("a", "house/greenberg"), entry("b", "house/iocainebot")]
    registry.submit_many(house, reserved=True)
    registry.set_alias("rrps", "champion", "house/greenberg")
    with pytest.raises(UnknownPolicy, match="did you mean") as caught:
        registry.get("rrps", ref)
    assert caught.value.suggestions[0] == suggested
    assert caught.value.ref == ref


def test_an_unknown_reference_says_where_it_would_be_known(registry: Registry) -> None:
    registry.submit(entry("x", "house/CFR+", game="leduc"), reserved=True)
    with pytest.raises(UnknownPolicy, match=r"in rrps \(there is one in leduc\)"):
        registry.get("rrps", "house/CFR+")
    with pytest.raises(UnknownPolicy, match="arena list"):
        registry.get("rrps", "0123456789")


@pytest.mark.parametrize("ref", ["", "a/b@0", "a/b@x", "a/b/c", "a b", "@1", "a/b@1@2", "\0"])
def test_what_is_no_reference(registry: Registry, ref: str) -> None:
    with pytest.raises(MalformedName, match="does not refer to a policy"):
        registry.get("rrps", ref)


def test_find_filters(registry: Registry) -> None:
    a, b, c, d = registry.submit_many(
        [
            entry("a", "ada/one", labels={"k": "1", "x": "y"}, description="Sum of MARKOV chains"),
            entry("b", "ada/two", labels={"k": "2"}, description="100% chance, ÄRGER"),
            entry("c", "bob/one", status=Status.CANDIDATE, code_digest="clone", labels={"k": "1"}),
            entry("d", "bob/one", game="leduc", kind="tabular", code_digest="clone"),
        ]
    )
    cases: list[tuple[dict[str, object], list[object]]] = [
        ({}, [a, b, c, d]),
        ({"game": "rrps"}, [a, b, c]),
        ({"author": "ada"}, [a, b]),
        ({"name": "bob/one"}, [c, d]),
        ({"kind": "tabular"}, [d]),
        ({"status": Status.CANDIDATE}, [c]),
        ({"status": [Status.CANDIDATE, Status.YANKED]}, [c]),
        ({"status": []}, []),
        ({"labels": {"k": "1"}}, [a, c]),
        ({"labels": {"k": "1", "x": "y"}}, [a]),
        ({"labels": {"k": None}}, [a, b, c]),
        ({"text": "markov"}, [a]),
        ({"text": "chains MARKOV"}, [a]),
        ({"text": "ärger"}, [b]),
        ({"text": "100%"}, [b]),
        ({"text": "1_0"}, []),
        ({"text": "BOB/"}, [c, d]),
        ({"code_digest": "clone"}, [c, d]),
        ({"code_digest": "clone", "game": "leduc", "author": None}, [d]),
        ({"limit": 2}, [a, b]),
        ({"limit": 2, "offset": 1}, [b, c]),
        ({"offset": 3}, [d]),
        ({"limit": 2, "newest_first": True}, [d, c]),
        ({"limit": 0}, []),
    ]
    for filters, expected in cases:
        found = registry.find(**filters)  # type: ignore[arg-type]
        assert found == tuple(result.version for result in expected), filters  # type: ignore[attr-defined]
        if not {"limit", "offset", "newest_first"} & filters.keys():
            assert registry.count(**filters) == len(expected)  # type: ignore[arg-type]


def test_versions_by_digest(registry: Registry) -> None:
    digests = [registry.submit(entry(text)).version.digest for text in "abc"]
    found = registry.by_digests([digests[2], digests[0], digests[2]])
    assert list(found) == [digests[2], digests[0]]
    assert found[digests[0]].payload == "a"
    with pytest.raises(UnknownPolicy, match="1 of 2 digests are not in the registry"):
        registry.by_digests([digests[0], "0" * 32])


def test_status_keeps_its_history(registry: Registry) -> None:
    version = registry.submit(entry("x", status=Status.CANDIDATE)).version
    changed = registry.set_status(version.digest, Status.QUALIFIED, "accepted in iteration 3")
    assert changed == replace(
        version, status=Status.QUALIFIED, status_reason="accepted in iteration 3"
    )
    assert registry.get("rrps", version.ref) == changed
    registry.set_status(version.digest, Status.QUALIFIED, "accepted in iteration 3")
    registry.set_status(version.digest, Status.YANKED, "withdrawn by ada")
    history = registry.history(version.digest)
    assert [(change.status, change.reason) for change in history] == [
        (Status.CANDIDATE, ""),
        (Status.QUALIFIED, "accepted in iteration 3"),
        (Status.YANKED, "withdrawn by ada"),
    ]
    assert history[0].changed <= history[1].changed <= history[2].changed
    assert registry.submit(entry("x")).version.status is Status.YANKED
    for unknown in (registry.history, registry.children, registry.parents):
        with pytest.raises(UnknownPolicy, match="no version with the digest"):
            unknown("0" * 32)
    with pytest.raises(UnknownPolicy):
        registry.set_status("0" * 32, Status.YANKED, "")
    with pytest.raises(MalformedSubmission):
        registry.set_status(version.digest, Status.YANKED, "\0")


def test_lineage(registry: Registry) -> None:
    a = entry("a")
    b = entry("b", parents=(Parent(digest_of("rrps", "python", "a"), "refined-from"),))
    c = entry(
        "c",
        parents=tuple(
            Parent(digest_of("rrps", "python", text), relation)
            for text, relation in (("b", "crossed-from"), ("a", "crossed-from"), ("b", "shown"))
        ),
    )
    va, vb, vc = (result.version for result in registry.submit_many([a, b, c]))
    assert registry.children(va.digest) == (vb, vc)
    assert registry.parents(vc.digest) == (vb, va)
    assert registry.get("rrps", vc.ref).parents == c.parents
    assert registry.parents(va.digest) == ()
    with pytest.raises(UnknownParent):
        own = digest_of("rrps", "python", "d")
        registry.submit(entry("d", parents=(Parent(own, "refined-from"),)))


def test_aliases_move_unless_they_are_protected(registry: Registry) -> None:
    one, two = (registry.submit(entry(text)).version for text in ("one", "two"))
    alias = registry.set_alias("rrps", "champion", "ada/copycat@1")
    assert (alias.digest, alias.protected) == (one.digest, False)
    assert registry.get("rrps", "champion") == one
    registry.set_alias("rrps", "champion", two.digest[:8], protected=True)
    assert registry.get(None, "champion") == two
    registry.set_alias("rrps", "champion", "champion")  # Stays where it is: allowed.
    with pytest.raises(AliasProtected, match="protected and points to"):
        registry.set_alias("rrps", "champion", one.digest)
    with pytest.raises(AliasProtected):
        registry.set_alias("rrps", "champion", two.digest, protected=False)
    registry.set_alias("rrps", "champion", one.digest, override=True)
    (alias,) = registry.aliases("rrps")
    assert (alias.name, alias.digest, alias.protected) == ("champion", one.digest, True)
    assert registry.aliases("leduc") == ()
    with pytest.raises(UnknownPolicy):
        registry.set_alias("leduc", "champion", one.digest)


@pytest.mark.parametrize("alias", ["a/b", "", "decade", "DECADE", "x y"])
def test_aliases_that_would_be_mistaken(registry: Registry, alias: str) -> None:
    registry.submit(entry("one"))
    with pytest.raises(MalformedName):
        registry.set_alias("rrps", alias, "ada/copycat")


def test_a_reader_sees_what_a_writer_stored_and_cannot_write(target: str) -> None:
    with Registry.open(target) as writer, Registry.open(target, read_only=True) as reader:
        version = writer.submit(entry("x")).version
        assert reader.get("rrps", version.ref) == version
        with pytest.raises(RegistryReadOnly, match="opened for reading only"):
            reader.submit(entry("y"))
        assert writer.count() == 1


def test_a_reader_makes_no_registry(target: str) -> None:
    for _ in range(2):
        with pytest.raises(RegistryReadOnly, match=r"yet, and it was opened for reading only"):
            Registry.open(target, read_only=True)
