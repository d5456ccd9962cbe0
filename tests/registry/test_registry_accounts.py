"""Accounts: whose a token is, what it allows and how long, and the log of what was changed."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from registry import (
    Account,
    AccountDisabled,
    Action,
    MalformedSubmission,
    NameRefused,
    Quota,
    Registry,
    Role,
    Spent,
    TokenExpired,
    UnknownAuthor,
    may,
    over_quota,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_a_token_says_whose_it_is_and_what_it_allows(registry: Registry) -> None:
    claimed = registry.claim_author("ada")
    made = registry.add_accounts([("prof", Role.OPERATOR), ("guest", Role.READER)])
    roles = {
        name: account.role
        for name, token in {**made, "ada": claimed}.items()
        if (account := registry.account_of(f" {token}\n")) is not None and account.name == name
    }
    assert roles == {"prof": Role.OPERATOR, "guest": Role.READER, "ada": Role.AUTHOR}
    for wrong in ("", " ", claimed[:-1], claimed.upper(), "0" * 48, "é\udc80\0"):
        assert registry.account_of(wrong) is None


def test_a_token_ends_when_its_time_is_over(registry: Registry) -> None:
    token = registry.add_accounts([("ada", Role.AUTHOR)], expires=NOON)["ada"]
    account = registry.account_of(token, now=NOON - HOUR)
    assert account is not None and account.expires == NOON
    for late in (NOON, NOON + HOUR):
        with pytest.raises(TokenExpired, match="2026-03-01 at 12:00 UTC"):
            registry.account_of(token, now=late)
    renewed = registry.renew_token("ada", expires=NOON + HOUR)
    assert registry.account_of(renewed, now=NOON) is not None
    assert registry.account_of(token, now=NOON) is None


def test_a_disabled_account_opens_nothing_until_it_is_enabled(registry: Registry) -> None:
    token = registry.claim_author("ada")
    assert registry.disable_account("ada").disabled
    with pytest.raises(AccountDisabled, match="'ada'"):
        registry.account_of(token)
    assert not registry.token_fits("ada", token)
    registry.disable_account("ada", disabled=False)
    assert registry.token_fits("ada", token)


def test_a_roster_is_taken_whole_or_not_at_all(registry: Registry) -> None:
    registry.claim_author("ada")
    for spoilt in ("ada", "Ada", "house", "bob"):
        with pytest.raises(NameRefused):
            registry.add_accounts(
                [("bob", Role.AUTHOR), ("cy", Role.AUTHOR), (spoilt, Role.READER)]
            )
        assert [one.name for one in registry.accounts()] == ["ada"]
    tokens = registry.add_accounts([("bob", Role.AUTHOR), ("cy", Role.AUTHOR)])
    assert all(registry.token_fits(name, token) for name, token in tokens.items())


def test_changes_are_noted_in_the_name_of_who_made_them(registry: Registry) -> None:
    prof = registry.acting_as("prof", "from 10.0.0.1")
    registry.claim_author("ada")
    prof.disable_account("ada")
    prof.disable_account("ada")  # It is disabled: nothing changes.
    prof.set_quota("ada", Quota(3, None))
    prof.set_role("ada", Role.READER)
    registry.note("server", "server.started", "arena", "x" * 2_000)
    with pytest.raises(UnknownAuthor):
        prof.disable_account("bob")
    found = registry.events()
    assert [(one.who, one.what, one.subject) for one in found] == [
        ("ada", "account.claimed", "ada"),
        ("prof", "account.disabled", "ada"),
        ("prof", "account.quota", "ada"),
        ("prof", "account.role", "ada"),
        ("server", "server.started", "arena"),
    ]
    assert found[1].detail == "from 10.0.0.1"
    assert len(found[-1].detail) == 1_000
    assert registry.events(subject="ada", who="prof") == found[1:4]
    assert registry.events(what="account", limit=2) == found[2:4]
    assert registry.events(what="acc") == ()
    assert registry.events(after=found[3].position) == found[4:]
    assert registry.events(since=datetime.now(UTC) + HOUR) == ()
    for what in ("", "Server", "a b", "a..b"):
        with pytest.raises(MalformedSubmission):
            registry.note("server", what, "")


OWN, FOREIGN = "ada/x@2", "bob/x"
ALLOWED = {
    Role.OPERATOR: set(itertools.product(Action, (OWN, FOREIGN))),
    Role.AUTHOR: {
        *itertools.product((Action.READ, Action.PLAY), (OWN, FOREIGN)),
        (Action.SUBMIT, OWN),
        (Action.WITHDRAW, OWN),
    },
    Role.READER: set(itertools.product((Action.READ,), (OWN, FOREIGN))),
}


@pytest.mark.parametrize("role", Role)
def test_what_each_role_may(role: Role) -> None:
    account = Account("ada", role, NOON)
    shut = Account("ada", role, NOON, disabled=True)
    for asked in itertools.product(Action, (OWN, FOREIGN)):
        assert may(account, *asked) == (asked in ALLOWED[role])
        assert not may(shut, *asked)
        assert not may(None, *asked)


@pytest.mark.parametrize("name", ["", "/x", "Ada/x", "ad/x", "adaa/x", "x/ada"])
def test_a_name_that_is_not_quite_ones_own_is_foreign(name: str) -> None:
    assert not may(Account("ada", Role.AUTHOR, NOON), Action.WITHDRAW, name)


def test_a_quota_of_ones_own_goes_before_the_default() -> None:
    default = Quota(5, 60.0)
    assert over_quota(Spent(4, 59.9), Quota(), default) == ""
    assert "of 5 that" in over_quota(Spent(5, 0.0), Quota(), default)
    assert "of 60 that" in over_quota(Spent(0, 60.0), Quota(), default)
    assert over_quota(Spent(9, 90.0), Quota(10, 100.0), default) == ""
    assert "of 0 that" in over_quota(Spent(0, 0.0), Quota(0, None), default)
    assert over_quota(Spent(10**6, 1e9), Quota(), Quota()) == ""
