"""A registry copied whole, from a file into a server and from a server into a file."""

import pytest
import sqlalchemy as sa

from registry import Registry
from registry.copying import copy
from registry.errors import RegistryNotEmpty
from registry.schema import TABLES
from registry.values import Parent, Status, Submission
from tests.registry.tokens import token_fits


def submission(number, author="ada", parents=()):
    source = f"class Agent:\n    number = {number}  # '\u2713' \U0001f600\n"
    return Submission("rrps", f"{author}/p{number}", "python", source, parents=parents)


def filled(registry):
    registry.open_first_season(bytes(range(32)))
    first = registry.submit(submission(1)).version
    registry.submit(submission(2, parents=(Parent(first.digest, "refines"),)))
    registry.submit(submission(1, "bob"))
    registry.set_status(first.digest, Status.YANKED, "too slow", ref=first.ref)
    registry.set_alias("rrps", "champion", "ada/p2")
    token = registry.claim_author("eve")
    registry.reveal_season()
    return token


def rows(registry):
    with registry.database.reading() as session:
        return {
            table.name: sorted(map(repr, session.execute(sa.select(table)).mappings()))
            for table in TABLES
        }


@pytest.fixture(params=["to a file", "to a server"])
def other(request, tmp_path):
    """An empty registry."""
    if request.param == "to a file":
        with Registry.open(tmp_path / "other.sqlite") as opened:
            yield opened
        return
    from tests.registry.conftest import fresh_postgres

    with (
        fresh_postgres(request.getfixturevalue("postgres_server")) as url,
        Registry.open(url) as opened,
    ):
        yield opened


def test_a_copy_is_the_same_and_goes_on_by_itself(registry, other):
    token = filled(registry)
    copied = copy(registry, other)
    assert rows(other) == rows(registry)
    assert copied == sum(map(len, rows(registry).values()))
    assert token_fits(other, "eve", token)
    assert other.current_season().key == registry.current_season().key
    added = [one.submit(submission(3)).version for one in (registry, other)]
    assert [one.ref for one in added] == ["ada/p3@1"] * 2
    found = [[one.ref for one in each.find("rrps")] for each in (registry, other)]
    assert found[0] == found[1]


def test_nothing_is_copied_over_something(registry, other):
    filled(registry)
    other.claim_author("zoe")
    before = rows(other)
    with pytest.raises(RegistryNotEmpty, match="not empty"):
        copy(registry, other)
    assert rows(other) == before
