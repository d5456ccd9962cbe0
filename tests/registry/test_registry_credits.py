"""Whoever hands in content that is there already gets a name for it, and nobody loses one."""

from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command

from registry import (
    NameRefused,
    Registry,
    RegistryCorrupt,
    Status,
    Submission,
    UnknownPolicy,
)
from registry.migrate import _config
from tests.registry.at_once import at_once
from tests.registry.bad_files import edit


def entry(payload: str, name: str, game: str = "rrps", **more: object) -> Submission:
    return replace(Submission(game, name, "python", payload), **more)  # type: ignore[arg-type]


def test_the_second_author_gets_a_name_that_shares_the_content(registry: Registry) -> None:
    first = registry.submit(entry("x", "ada/x", labels={"k": "v"}, description="Mine.")).version
    second, created, credited = registry.submit(entry("x", "bob/mine", description="No, mine."))
    assert (created, credited) == (False, True)
    assert second.digest == first.digest
    assert (second.ref, second.author, second.description) == ("bob/mine@1", "bob", "No, mine.")
    assert second.labels == {"k": "v"}
    assert registry.get("rrps", "bob/mine") == second == registry.get(None, "bob/mine@1")
    assert registry.get("rrps", "ada/x") == first
    for whole in (registry.get("rrps", first.digest[:8]), *registry.find("rrps")):
        assert (whole.ref, whole.also) == ("ada/x@1", ("bob/mine@1",))
    assert registry.get("rrps", "bob/mine").also == ("ada/x@1",)
    assert registry.count() == registry.count(author="bob") == 1
    assert registry.find(text="no, mine")[0].ref == "bob/mine@1"
    bob = registry.author("bob")
    assert bob is not None and bob.created == second.created


def test_an_author_has_one_name_for_one_content(registry: Registry) -> None:
    registry.submit(entry("x", "ada/x"))
    for author in ("ada", "bob"):
        registry.submit(entry("x", f"{author}/x"))
        again, created, credited = registry.submit(entry("x", f"{author}/y"))
        assert (again.ref, created, credited) == (f"{author}/x@1", False, False)
    assert len(registry.get("rrps", "ada/x").credits) == 2


def test_numbers_count_over_own_and_shared_content(registry: Registry) -> None:
    registry.submit(entry("x", "ada/x"))
    refs = [registry.submit(entry(text, "bob/x")).version.ref for text in ("a", "x", "b")]
    assert refs == ["bob/x@1", "bob/x@2", "bob/x@3"]
    assert registry.get("rrps", "bob/x@2").payload == "x"
    assert registry.get("rrps", "bob/x").payload == "b"


def test_a_withdrawal_takes_ones_own_name_and_no_other(registry: Registry) -> None:
    digest = registry.submit(entry("x", "ada/x")).version.digest
    registry.submit(entry("x", "bob/x"))
    gone = registry.set_status(digest, Status.YANKED, "ada's own", ref="ada/x@1")
    assert (gone.ref, gone.status, gone.also) == ("ada/x@1", Status.YANKED, ("bob/x@1",))
    (left,) = registry.find("rrps", status=Status.QUALIFIED)
    assert (left.ref, left.status, left.also) == ("bob/x@1", Status.QUALIFIED, ())
    assert registry.by_digests([digest])[digest].ref == "bob/x@1"
    assert registry.get("rrps", "ada/x").status is Status.YANKED
    assert [one.ref for one in registry.find(status=Status.YANKED)] == ["ada/x@1"]
    registry.set_status(digest, Status.QUALIFIED, "back", ref="ada/x@1")
    assert registry.by_digests([digest])[digest].ref == "ada/x@1"
    told = [(change.ref, change.status, change.reason) for change in registry.history(digest)]
    assert told == [
        ("ada/x@1", Status.QUALIFIED, ""),
        ("bob/x@1", Status.QUALIFIED, ""),
        ("ada/x@1", Status.YANKED, "ada's own"),
        ("ada/x@1", Status.QUALIFIED, "back"),
    ]
    with pytest.raises(UnknownPolicy, match="has no name 'eve/x@1'"):
        registry.set_status(digest, Status.YANKED, "", ref="eve/x@1")


def test_a_name_that_does_not_take_part_is_told_to_nobody_else(registry: Registry) -> None:
    registry.submit(entry("x", "csro/draft", status=Status.CANDIDATE), reserved=True)
    guessed = registry.submit(entry("x", "eve/guess")).version
    assert guessed.also == ()
    assert guessed.status is Status.QUALIFIED
    assert registry.get("rrps", "csro/draft").status is Status.CANDIDATE


def test_nobody_gets_a_name_that_reads_like_anothers(registry: Registry) -> None:
    registry.submit(entry("x", "mia/x"))
    for name in ("Mia/x", "rnia/x", "house/x", "H0use/x"):
        with pytest.raises(NameRefused):
            registry.submit(entry("x", name))
    assert len(registry.get("rrps", "mia/x").credits) == 1


def test_quarantine_takes_all_names_and_a_withdrawal_of_one_lifts_none(
    registry: Registry,
) -> None:
    digest = registry.submit(entry("x", "ada/x", code_digest="c")).version.digest
    registry.submit(entry("x", "bob/x", code_digest="c"))
    registry.submit(entry("x", "cy/x", code_digest="c"))
    registry.set_status(digest, Status.YANKED, "", ref="cy/x@1")
    (moved,) = registry.quarantine_code("rrps", "c", "differs")
    assert [one.status for one in moved.credits] == [
        Status.QUARANTINED,
        Status.QUARANTINED,
        Status.YANKED,
    ]
    for ref in ("ada/x@1", "bob/x@1"):
        registry.set_status(digest, Status.YANKED, "", ref=ref)
        found = registry.quarantined_code("rrps", "c")
        assert found is not None and found.digest == digest
    for ref in ("ada/x@1", "bob/x@1"):
        registry.set_status(digest, Status.QUALIFIED, "our error", ref=ref)
    assert registry.quarantined_code("rrps", "c") is None


def test_processes_that_hand_in_the_same_content_get_a_name_each(target: str) -> None:
    code = """
from registry import Submission
with Registry.open(target) as registry:
    for number in range(5):
        found = registry.submit(Submission("rrps", f"p{who}x/x", "python", f"{number}"))
        assert found.version.author == f"p{who}x", found
"""
    people = len(at_once(target, code))
    with Registry.open(target) as registry:
        assert [len(one.credits) for one in registry.find()] == [people] * 5
        refs = {credit.ref for one in registry.find() for credit in one.credits}
        assert len(refs) == 5 * people


def test_an_old_registry_is_upgraded_without_loss(target: str) -> None:
    with Registry.open(target) as registry:
        version = registry.submit(entry("x", "ada/x", labels={"k": "v"})).version
        registry.set_status(version.digest, Status.YANKED, "once")
        before = (registry.find(), registry.history(version.digest))
        config = _config()
        with registry.database._transaction(writes=True, migrates=True) as connection:
            config.attributes["connection"] = connection
            command.downgrade(config, "0002")
            assert not sa.inspect(connection).has_table("policy_credit")
    with Registry.open(target) as registry:
        assert (registry.find(), registry.history(version.digest)) == before
        assert registry.submit(entry("x", "bob/x")).credited


@pytest.mark.parametrize(
    "change",
    ["name = 'eve/x'", "author = 'eve'", "number = 0", "status = 'champion'", "game = 'leduc'"],
)
def test_a_name_that_is_not_what_was_registered_is_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "registry.sqlite"
    with Registry.open(path) as registry:
        registry.submit_many([entry("x", "ada/x"), entry("x", "bob/x")])
    edit(path, f"UPDATE policy_credit SET {change}")
    with Registry.open(path) as registry, pytest.raises(RegistryCorrupt):
        registry.find()
