"""An invitation that is redeemed with a token of who asks: safe to repeat, and for nobody else."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from registry import NameRefused, Registry, Role
from registry.errors import AccountDisabled, InviteRefused
from registry.schema import TABLES
from registry.tokens import drawn, hashed, looks_drawn
from tests.registry.at_once import at_once

GOOD = hashlib.blake2b(b"as if it had been drawn", digest_size=24).hexdigest()
SOON = datetime.now(UTC) + timedelta(hours=1)


def redeemed(registry: Registry) -> list[tuple[str, str]]:
    return [(one.who, one.subject) for one in registry.events(what="invite.redeemed")]


def test_the_same_again_is_the_same_account(registry: Registry) -> None:
    code, token = registry.invite(Role.READER, uses=2, expires=SOON), drawn()
    for _ in range(3):
        assert registry.redeem(f" {code}\n", "ada", token=token) == token
    (invite,) = registry.invites()
    assert (invite.used, redeemed(registry)) == (1, [("ada", invite.mark)])
    account = registry.account_of(token)
    assert account is not None and (account.name, account.role) == ("ada", Role.READER)
    registry.withdraw_invite(invite.mark)
    later = SOON + timedelta(days=1)
    assert registry.redeem(code, "ada", token=token, now=later) == token, "it is there"
    with pytest.raises(InviteRefused, match="was used already"):
        registry.redeem(code, "bob", token=drawn())
    assert (len(registry.accounts()), len(redeemed(registry))) == (1, 1)


def test_anything_else_again_is_refused_as_before(registry: Registry) -> None:
    once, twice, token = registry.invite(), registry.invite(uses=2), drawn()
    other = registry.invite()
    for code in (once, twice):
        registry.redeem(
            code, "ada" if code == once else "bob", token=token if code == once else None
        )
    for wrong in (drawn(), None):
        with pytest.raises(InviteRefused, match="was used already"):
            registry.redeem(once, "ada", token=wrong)
        with pytest.raises(NameRefused, match="an account or an author 'ada' already"):
            registry.redeem(twice, "ada", token=wrong)
    with pytest.raises(NameRefused, match="an account or an author 'ada' already"):
        registry.redeem(other, "ada", token=token)  # the code of another invitation
    with pytest.raises(InviteRefused, match="not the code"):
        registry.redeem("0" * 48, "ada", token=token)
    registry.renew_token("ada")
    with pytest.raises(InviteRefused, match="was used already"):
        registry.redeem(once, "ada", token=token)
    assert registry.account_of(token) is None
    assert len(redeemed(registry)) == 2


def test_a_shut_account_stays_shut(registry: Registry) -> None:
    code, token = registry.invite(), drawn()
    registry.redeem(code, "ada", token=token)
    registry.disable_account("ada")
    with pytest.raises(AccountDisabled):
        registry.redeem(code, "ada", token=token)
    with pytest.raises(InviteRefused, match="was used already"):
        registry.redeem(code, "ada", token=drawn())
    account = registry.account("ada")
    assert account is not None and account.disabled


@pytest.mark.parametrize(
    "token",
    [
        "",
        "secret",
        "0" * 48,
        "0123456789abcdef" * 3,
        "01" * 24,
        "a" * 24 + "b" * 24,
        f" {GOOD}",
        f"{GOOD}\n",
        GOOD.upper(),
        GOOD[:-1],
        f"{GOOD}0",
        GOOD * 2,
        "\N{FULLWIDTH DIGIT ONE}" + GOOD[1:],
        "x" * 100_000,
    ],
    ids=lambda token: repr(token)[:12],
)
def test_a_token_that_can_be_guessed_is_refused(registry: Registry, token: str) -> None:
    code = registry.invite()
    with pytest.raises(InviteRefused, match="drawn at random") as refused:
        registry.redeem(code, "ada", token=token)
    assert not token.strip() or token.strip() not in str(refused.value)
    assert (registry.accounts(), redeemed(registry)) == ((), [])
    assert registry.redeem(code, "ada", token=drawn()), "it has used nothing up"


def test_who_tries_another_token_out_is_told_what_every_bad_one_is_told(registry: Registry) -> None:
    theirs = registry.add_accounts([("boss", Role.OPERATOR)])["boss"]
    code = registry.invite()
    said = set()
    for token in (theirs, "0" * 48, code, hashlib.blake2b(b"x").hexdigest()):
        with pytest.raises(InviteRefused) as refused:
            registry.redeem(code, "eve", token=token)
        said.add(str(refused.value))
    assert len(said) == 1
    with pytest.raises(NameRefused):  # whose it is, and that it fits, is told to nobody
        registry.redeem(code, "boss", token=theirs)
    account = registry.account_of(theirs)
    assert account is not None and account.name == "boss"


def test_what_is_drawn_looks_drawn_and_its_hash_alone_is_stored(registry: Registry) -> None:
    assert looks_drawn(GOOD) and all(looks_drawn(drawn()) for _ in range(2_000))
    token = drawn()
    registry.redeem(registry.invite(), "ada", token=token)
    with registry.database.reading() as session:
        stored = "".join(str(session.execute(sa.select(table)).all()) for table in TABLES)
    assert token not in stored and hashed(token) in stored


@pytest.mark.parametrize("own", [True, False])
def test_of_many_at_once_one_makes_the_account(target: str, own: bool) -> None:
    with Registry.open(target) as registry:
        code = registry.invite()
    token = repr(drawn()) if not own else "drawn()"
    printed = at_once(
        target,
        f"""
from registry import InviteRefused
from registry.tokens import drawn
with Registry.open(target) as registry:
    for _ in range(3):
        try:
            print(registry.redeem("{code}", "ada", token={token}))
        except InviteRefused:
            pass
""",
    )
    told = [line for lines in printed for line in lines]
    assert len(told) == (1 if own else 12) and len(set(told)) == 1
    with Registry.open(target) as registry:
        (invite,) = registry.invites()
        assert (invite.used, len(redeemed(registry))) == (1, 1)
        account = registry.account_of(told[0])
        assert account is not None and account.name == "ada"
