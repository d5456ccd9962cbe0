"""Authors: whose a name is, the token that proves it, and what their submissions have cost."""

import itertools
import math
from datetime import UTC, date, datetime, timedelta

import hypothesis.strategies as st
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings

from registry import (
    MalformedName,
    NameRefused,
    Origin,
    Registry,
    RegistryReadOnly,
    Spent,
    Submission,
    UnknownAuthor,
    skeleton,
)
from tests.registry.at_once import at_once
from tests.registry.tokens import token_fits

NUMBERS = itertools.count()
TODAY = date(2026, 3, 1)


def entry(payload: str, name: str) -> Submission:
    return Submission("rrps", name, "python", payload)


def stored_text(registry: Registry) -> str:
    """Everything that the table of authors holds."""
    with registry.database.reading() as session:
        return str(session.execute(sa.text("SELECT * FROM policy_author")).all())


def test_a_free_name_is_claimed_once_with_a_token(registry: Registry) -> None:
    before = datetime.now(UTC)
    token = registry.claim_author("Ada")
    assert len(token) == 48 and set(token) <= set("0123456789abcdef")
    author = registry.author("Ada")
    assert author is not None
    assert (author.name, author.skeleton, author.has_token) == ("Ada", skeleton("ada"), True)
    assert author.origin is Origin.PAGE
    assert before <= author.created <= datetime.now(UTC)
    assert token_fits(registry, "Ada", token)
    for taken in ("Ada", "ada", "a.d.a", "ADA"):
        with pytest.raises(NameRefused):
            registry.claim_author(taken)
    assert token_fits(registry, "Ada", token)
    registry.claim_author("bob", origin=Origin.OPERATOR)
    found = registry.author("bob")
    assert found is not None and found.origin is Origin.OPERATOR
    assert registry.author("ada") is None


def test_a_token_fits_its_author_alone(registry: Registry) -> None:
    token, other = registry.claim_author("ada"), registry.claim_author("bob")
    assert token != other
    assert token_fits(registry, "ada", f"  {token}\n")
    for wrong in (
        "",
        " ",
        other,
        token[:-1],
        token + "0",
        token.upper(),
        "é\udc80\0",
        "x" * 99_999,
    ):
        assert not token_fits(registry, "ada", wrong)
    for name in ("Ada", "nobody", "", "ada/x", "a\0", "\udc80"):
        assert not token_fits(registry, name, token)


def test_a_token_is_not_stored(registry: Registry) -> None:
    token = registry.claim_author("ada")
    kept = stored_text(registry)
    assert "ada" in kept
    assert token not in kept
    assert token not in repr(registry.author("ada"))
    stored = kept.split("'")
    assert not any(token_fits(registry, "ada", one) for one in stored)


def test_an_author_by_the_command_line_has_no_token_until_one_is_made(registry: Registry) -> None:
    assert registry.author("ada") is None
    registry.submit(entry("x", "ada/x"))
    author = registry.author("ada")
    assert author is not None
    assert (author.has_token, author.origin) == (False, Origin.OPERATOR)
    for guess in ("", "0" * 48, skeleton("ada")):
        assert not token_fits(registry, "ada", guess)
    with pytest.raises(NameRefused, match="is here already"):
        registry.claim_author("ada")
    token = registry.renew_token("ada")
    assert token_fits(registry, "ada", token)
    registry.submit(entry("y", "ada/x"))  # The operator needs none.
    assert registry.author("ada") == author.__class__(
        "ada", author.skeleton, True, author.created, Origin.OPERATOR
    )


def test_a_new_token_ends_the_old_one(registry: Registry) -> None:
    old = registry.claim_author("ada")
    new = registry.renew_token("ada")
    assert token_fits(registry, "ada", new) and not token_fits(registry, "ada", old)
    for unknown in ("Ada", "bob", "", "a\0"):
        with pytest.raises(UnknownAuthor, match="there is no author"):
            registry.renew_token(unknown)


@pytest.mark.parametrize("name", ["house", "House", "h0use", "0perator", "demo", "st.arter"])
def test_the_arenas_own_names_have_no_token(registry: Registry, name: str) -> None:
    registry.submit(entry("x", f"{name}/x"), reserved=True)
    for refused in (registry.claim_author, registry.renew_token, registry.check_author):
        with pytest.raises(NameRefused, match="the arena's own"):
            refused(name)
    author = registry.author(name)
    assert author is not None and not author.has_token


@pytest.mark.parametrize("name", ["", "a/b", "-a", "ä", "a\0", "a b", "\u202eada", "a" * 65])
def test_names_that_cannot_be_an_authors(registry: Registry, name: str) -> None:
    for refused in (registry.claim_author, registry.check_author):
        with pytest.raises(MalformedName, match="is not an author's name"):
            refused(name)
    with pytest.raises(MalformedName):
        registry.spend(name, 1.0)
    assert registry.author(name) is None


def test_who_reads_like_somebody_else_is_refused(registry: Registry) -> None:
    registry.submit(entry("x", "mia/x"))
    registry.claim_author("willow")
    for name, like in [("Mia", "mia"), ("rnia", "mia"), ("m1a", "mia"), ("vvi11ow", "willow")]:
        with pytest.raises(NameRefused, match=f"would be taken for '{like}'"):
            registry.submit(entry("y", f"{name}/y"))
        with pytest.raises(NameRefused):
            registry.check_author(name)
    with pytest.raises(NameRefused, match="would be taken for"):
        registry.submit_many([entry("y", "Bob/y"), entry("z", "bob/z")])
    assert registry.count() == 1
    assert registry.author("bob") is None and registry.author("Bob") is None
    assert registry.check_author("mia") == "mia"
    assert registry.check_author("bob") == "bob"
    registry.submit(entry("y", "mia/y"))


def test_look_alikes_that_are_there_already_go_on(registry: Registry) -> None:
    old = [entry("a", "Ada/x"), entry("b", "ada/x"), entry("c", "House/x")]
    registry.submit_many(old, reserved=True)
    registry.submit_many([entry("d", "Ada/x"), entry("e", "ada/x")])
    assert registry.get("rrps", "Ada/x@2").payload == "d"
    assert registry.get("rrps", "House/x").payload == "c"
    with pytest.raises(NameRefused, match="'ADA' would be taken for 'Ada'"):
        registry.submit(entry("f", "ADA/x"))
    with pytest.raises(NameRefused, match="reads like 'house'"):
        registry.submit(entry("f", "House/x"))


def test_what_was_refused_leaves_no_author_behind(registry: Registry) -> None:
    registry.submit(entry("x", "ada/x"))
    with pytest.raises(NameRefused):
        registry.submit_many([entry("x", "bob/x"), entry("x", "Ada/x")])
    assert registry.author("bob") is None
    registry.claim_author("bob")


def test_a_reader_can_look_but_not_claim(target: str) -> None:
    with Registry.open(target) as writer, Registry.open(target, read_only=True) as reader:
        token = writer.claim_author("ada")
        assert token_fits(reader, "ada", token)
        assert reader.check_author("bob") == "bob"
        for write in (reader.claim_author, reader.renew_token, reader.spend):
            with pytest.raises(RegistryReadOnly):
                write("ada")


def test_processes_that_claim_one_name_at_once(target: str) -> None:
    code = """
from registry import NameRefused
with Registry.open(target) as registry:
    for number in range(5):
        name = f"author{number}" if who % 2 else f"Auth.or{number}"
        try:
            print(name, registry.claim_author(name))
        except NameRefused:
            pass
"""
    claimed = [line.split() for lines in at_once(target, code) for line in lines]
    assert sorted(name[-1] for name, _ in claimed) == list("01234")
    with Registry.open(target) as registry:
        assert all(token_fits(registry, name, token) for name, token in claimed)


def test_processes_that_register_look_alikes_at_once(target: str) -> None:
    code = """
from registry import NameRefused, Submission
with Registry.open(target) as registry:
    name = ["ada", "Ada", "a.da", "ad-a"][who]
    try:
        print(registry.submit(Submission("rrps", f"{name}/x", "python", name)).version.author)
    except NameRefused:
        pass
"""
    (winner,) = [line for lines in at_once(target, code) for line in lines]
    with Registry.open(target) as registry:
        assert [version.author for version in registry.find()] == [winner]


def test_spending_adds_up_by_author_and_day(registry: Registry) -> None:
    assert registry.spent("ada", TODAY) == Spent(0, 0.0)
    registry.spend("ada", 1.5, 1, day=TODAY - timedelta(1))
    registry.spend("ada", 2.0, day=TODAY)
    registry.spend("A.da", 0.25, 2, day=TODAY)  # The same account by another spelling.
    registry.spend("bob", 100.0, 1, day=TODAY)
    assert registry.spent("ada", TODAY) == Spent(2, 2.25)
    assert registry.spent("ADA", TODAY - timedelta(1)) == Spent(3, 3.75)
    assert registry.spent("ada", TODAY + timedelta(1)) == Spent(0, 0.0)
    before = datetime.now(UTC).date()
    registry.spend("cy", 1.0, 1)
    assert registry.spent("cy", before) == Spent(1, 1.0)


@pytest.mark.parametrize("amounts", [(-1.0, 0), (math.nan, 0), (math.inf, 0), (0.0, -1)])
def test_what_cannot_be_spent(registry: Registry, amounts: tuple[float, int]) -> None:
    with pytest.raises(ValueError, match="cannot be spent"):
        registry.spend("ada", *amounts)
    assert registry.spent("ada", date(1970, 1, 1)) == Spent(0, 0.0)


def test_processes_that_spend_at_once_lose_nothing(target: str) -> None:
    code = """
from datetime import date
with Registry.open(target) as registry:
    for number in range(25):
        registry.spend("ada", 0.5, 1, day=date(2026, 3, 1 + number % 2))
"""
    at_once(target, code)
    with Registry.open(target) as registry:
        assert registry.spent("ada", TODAY) == Spent(100, 50.0)
        assert registry.spent("ada", TODAY + timedelta(1)) == Spent(48, 24.0)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(st.text("aA0oO.mrn1I", min_size=1, max_size=3), max_size=8))
def test_no_two_authors_that_came_by_submission_read_alike(
    registry: Registry, names: list[str]
) -> None:
    for name in names:
        try:
            registry.submit(entry(f"program {next(NUMBERS)}", f"{name}/x"))
        except MalformedName:
            continue
    with registry.database.reading() as session:
        found = session.execute(sa.text("SELECT name, skeleton FROM policy_author")).all()
    assert all(skeleton(name) == kept for name, kept in found)
    assert len({kept for _, kept in found}) == len(found)
