"""Accounts: whose a token is, what it allows and how long, and the log of what was changed."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from registry import (
    Account,
    AccountDisabled,
    Action,
    InviteRefused,
    MalformedName,
    MalformedSubmission,
    NameRefused,
    Origin,
    Quota,
    Registry,
    Role,
    Spent,
    Status,
    Submission,
    TokenExpired,
    UnknownAuthor,
    may,
    over_quota,
)
from registry.schema import TABLES
from tests.registry.at_once import at_once
from tests.registry.tokens import token_fits

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
    assert not token_fits(registry, "ada", token)
    registry.disable_account("ada", disabled=False)
    assert token_fits(registry, "ada", token)


def test_a_roster_is_taken_whole_or_not_at_all(registry: Registry) -> None:
    registry.claim_author("ada")
    for spoilt in ("ada", "Ada", "house", "bob"):
        with pytest.raises(NameRefused):
            registry.add_accounts(
                [("bob", Role.AUTHOR), ("cy", Role.AUTHOR), (spoilt, Role.READER)]
            )
        assert [one.name for one in registry.accounts()] == ["ada"]
    tokens = registry.add_accounts([("bob", Role.AUTHOR), ("cy", Role.AUTHOR)])
    assert all(token_fits(registry, name, token) for name, token in tokens.items())


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


def test_every_change_of_the_registry_is_in_the_log_once(registry: Registry) -> None:
    ada = registry.acting_as("ada")
    first = ada.submit(Submission("rrps", "ada/x", "python", "x", code_digest="c")).version
    ada.submit(Submission("rrps", "ada/x", "python", "x"))  # It is there: nothing changes.
    ada.submit(Submission("rrps", "ada/y", "python", "y", Status.CANDIDATE))  # no entrant
    for _ in range(2):
        ada.set_status(first.digest, Status.YANKED, "no good", ref="ada/x@1")
        registry.set_alias("rrps", "champion", "ada/x@1")
    registry.set_status(first.digest, Status.QUALIFIED, "")
    registry.quarantine_code("rrps", "c", "differs")
    registry.set_alias("rrps", "champion", "ada/x@1", protected=True)
    season = registry.current_season()
    registry.reveal_season()
    told = [(one.who, one.what, one.subject, one.detail) for one in registry.events()]
    assert told[:-1] == [
        ("ada", "version.registered", first.digest, "rrps ada/x@1"),
        ("ada", "version.yanked", first.digest, "rrps ada/x@1: no good"),
        ("operator", "alias.set", "rrps champion", first.digest),
        ("operator", "version.qualified", first.digest, "rrps ada/x@1"),
        ("operator", "version.quarantined", first.digest, "rrps ada/x@1: differs"),
        ("operator", "alias.set", "rrps champion", f"{first.digest}, protected"),
        ("operator", "season.opened", "1", season.commitment),
        ("operator", "season.opened", "2", registry.current_season().commitment),
    ]
    assert told[-1][:3] == ("operator", "season.revealed", "1")


def test_a_change_that_fails_leaves_no_entry(registry: Registry) -> None:
    with pytest.raises(NameRefused):
        registry.submit_many(
            [Submission("rrps", "ada/x", "python", "x"), Submission("rrps", "Ada/x", "python", "y")]
        )
    assert registry.events() == ()


def test_an_invitation_makes_as_many_accounts_as_it_says(registry: Registry) -> None:
    code = registry.invite(Role.READER, uses=2)
    tokens = {name: registry.redeem(f" {code}\n", name) for name in ("ada", "bob")}
    for name, token in tokens.items():
        account = registry.account_of(token)
        assert account is not None
        assert (account.name, account.role, account.origin) == (name, Role.READER, Origin.INVITE)
    with pytest.raises(InviteRefused, match="was used already") as caught:
        registry.redeem(code, "cy")
    assert code not in str(caught.value)
    assert registry.account("cy") is None
    (invite,) = registry.invites()
    assert (invite.uses, invite.used, invite.name) == (2, 2, "")
    assert [(one.who, one.detail) for one in registry.events(what="invite.redeemed")] == [
        ("ada", "ada, reader"),
        ("bob", "bob, reader"),
    ]


def test_a_refused_name_does_not_use_an_invitation_up(registry: Registry) -> None:
    registry.claim_author("ada")
    code = registry.invite()
    for name, refusal in (("ada", NameRefused), ("Ada", NameRefused), ("a b", MalformedName)):
        with pytest.raises(refusal):
            registry.redeem(code, name)
    assert token_fits(registry, "bob", registry.redeem(code, "bob"))


def test_codes_that_invite_nobody(registry: Registry) -> None:
    old = registry.invite(expires=NOON)
    ended = registry.invite()
    assert registry.withdraw_invite(registry.invites()[1].mark) == 1
    token = registry.claim_author("ada")
    for code in ("", "0" * 48, token, old[:-1]):
        with pytest.raises(InviteRefused, match="not the code of an invitation"):
            registry.redeem(code, "bob")
    with pytest.raises(InviteRefused, match="has expired"):
        registry.redeem(old, "bob", now=NOON)
    with pytest.raises(InviteRefused, match="was used already"):
        registry.redeem(ended, "bob")
    with pytest.raises(ValueError, match="invites nobody"):
        registry.invite(uses=0)
    assert registry.account_of(old) is None
    assert registry.redeem(old, "bob", now=NOON - HOUR)


def test_invitations_by_name_are_for_that_name_alone(registry: Registry) -> None:
    registry.claim_author("ada")
    for spoilt in ("ada", "A.da", "bob", "house"):
        with pytest.raises(NameRefused):
            registry.invite_all([("bob", Role.AUTHOR), (spoilt, Role.AUTHOR)])
    assert registry.invites() == ()
    codes = registry.invite_all([("bob", Role.AUTHOR), ("prof", Role.OPERATOR)])
    with pytest.raises(InviteRefused, match="for the name 'prof'"):
        registry.redeem(codes["prof"], "cy")
    account = registry.account_of(registry.redeem(codes["prof"], "prof"))
    assert account is not None and account.role is Role.OPERATOR


def test_a_name_that_somebody_was_invited_for_waits_for_them(registry: Registry) -> None:
    codes = registry.invite_all([("mia", Role.AUTHOR)], expires=datetime.now(UTC) + HOUR)
    anybody = registry.invite()
    for name in ("mia", "Mia", "rnia"):
        for take in (
            lambda name: registry.claim_author(name),
            lambda name: registry.redeem(anybody, name),
            lambda name: registry.add_accounts([(name, Role.AUTHOR)]),
        ):
            with pytest.raises(NameRefused, match="'mia' waits for somebody who was invited"):
                take(name)
    assert token_fits(registry, "mia", registry.redeem(codes["mia"], "mia"))
    registry.invite_all([("bob", Role.AUTHOR)], expires=NOON)  # That is long ago.
    assert registry.claim_author("bob")


def test_a_renewed_token_ends_with_the_old_one_unless_that_is_over(registry: Registry) -> None:
    registry.add_accounts([("ada", Role.AUTHOR)], expires=NOON)

    def ends() -> datetime | None:
        account = registry.account("ada")
        assert account is not None
        return account.expires

    registry.renew_token("ada", now=NOON - HOUR)
    assert ends() == NOON
    registry.renew_token("ada", expires=NOON + HOUR, now=NOON - HOUR)
    assert ends() == NOON + HOUR
    registry.renew_token("ada", now=NOON + HOUR)
    assert ends() is None


def test_neither_codes_nor_tokens_are_stored(registry: Registry) -> None:
    code = registry.invite(uses=3)
    secrets = [code, registry.redeem(code, "ada"), registry.claim_author("bob")]
    secrets += registry.add_accounts([("cy", Role.AUTHOR)]).values()
    with registry.database.reading() as session:
        stored = "".join(str(session.execute(sa.select(table)).all()) for table in TABLES)
    assert "cy" in stored and not [one for one in secrets if one in stored]


def test_processes_that_redeem_one_code_at_once_make_one_account(target: str) -> None:
    with Registry.open(target) as registry:
        code = registry.invite()
    printed = at_once(
        target,
        f"""
from registry import InviteRefused
with Registry.open(target) as registry:
    try:
        print(registry.redeem("{code}", f"author{{who}}"))
    except InviteRefused:
        pass
""",
    )
    (token,) = [line for lines in printed for line in lines]
    with Registry.open(target) as registry:
        assert registry.account_of(token) == registry.accounts()[0]
        assert len(registry.accounts()) == 1
