"""Who somebody is who signed in: claims, what the operator writes, the secret of cookies."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from arena.cli import main
from arena.errors import UsageFault
from dashboards.headers import Protected
from dashboards.identity import (
    COOKIE_SECRET,
    SignIn,
    Unknown,
    account_of,
    cookie_secret,
    new_token,
    read,
    verified_email,
)
from dashboards.mounted import _with_secure_cookies
from registry import Registry
from registry.rights import Role

NOW = datetime(2027, 3, 1, 12, tzinfo=UTC)
ISSUER, CLIENT = "https://login.example.org", "arena"
SIGN_IN = SignIn(
    ISSUER,
    CLIENT,
    "hush",
    "https://arena.example.org",
    {"s-ada": "ada", "s-boss": "boss", "s-none": "none"},
    {"bob@example.org": "bob"},
)
ADA = {"iss": ISSUER, "aud": CLIENT, "sub": "s-ada", "iat": NOW.timestamp() - 60}
BOB = {**ADA, "sub": "other", "email": "bob@example.org", "email_verified": True}


@pytest.fixture
def registry(tmp_path):
    with Registry.open(tmp_path / "registry.sqlite") as opened:
        opened.add_accounts([("ada", Role.AUTHOR), ("bob", Role.READER), ("boss", Role.OPERATOR)])
        yield opened


def named(claims):
    return SIGN_IN.name_of(claims, NOW)


def test_an_identity_is_an_issuer_and_a_subject_or_a_verified_address():
    assert named(ADA) == named({**ADA, "aud": ["x", CLIENT]}) == "ada"
    assert named(BOB) == named({**BOB, "email": "Bob@Example.ORG"}) == "bob"
    assert named({**BOB, "sub": "s-ada"}) == "ada", "the subject comes first"
    assert verified_email(BOB) == "bob@example.org" and "hush" not in repr(SIGN_IN)


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://evil.example.org"},
        {"iss": f"{ISSUER}/"},
        {"iss": None},
        {"aud": "another"},
        {"aud": ["another"]},
        {"aud": None},
        {"iat": NOW.timestamp() - 13 * 3600},
        {"iat": NOW.timestamp() + 3600},
        {"iat": float("nan")},
        {"iat": None},
        {"iat": True},
        {"iat": "now"},
        {"sub": "S-ADA"},
        {"sub": ["s-ada"]},
        {"sub": None},
        {"sub": ""},
        {"sub": "other", "email": "ada@example.org", "email_verified": True},
        {"sub": "ada"},
    ],
    ids=repr,
)
def test_claims_of_others_are_nobodys(changed):
    with pytest.raises(Unknown):
        named({**ADA, **changed})


@pytest.mark.parametrize("verified", [False, None, "true", "True", 1, [True]], ids=repr)
def test_an_address_that_is_not_verified_is_nobodys(verified):
    with pytest.raises(Unknown, match="gives you no rights"):
        named({**BOB, "email_verified": verified})
    with pytest.raises(Unknown):
        named({name: told for name, told in BOB.items() if name != "email_verified"})
    with pytest.raises(Unknown):  # the sign for a kelvin is a small k in small letters
        named({**BOB, "email": "\N{KELVIN SIGN}bob@example.org"})


def test_an_account_has_to_be_good_when_it_is_used(registry):
    token = new_token(SIGN_IN, registry, ADA, NOW)
    account = registry.account_of(token)
    assert account is not None and account.name == "ada"
    (entry,) = registry.events(what="account.renewed")
    assert (entry.who, entry.subject) == ("ada", "ada")
    assert "signed in on the pages" in entry.detail
    with pytest.raises(Unknown, match="not there"):
        account_of(SIGN_IN, registry, {**ADA, "sub": "s-none"}, NOW)
    with pytest.raises(Unknown, match="by the command line"):
        new_token(SIGN_IN, registry, {**ADA, "sub": "s-boss"}, NOW)
    registry.renew_token("bob", expires=NOW - timedelta(hours=1), now=NOW - timedelta(days=1))
    with pytest.raises(Unknown, match="is over"):  # and with a new token it would never be
        new_token(SIGN_IN, registry, BOB, NOW)
    registry.disable_account("ada")
    with pytest.raises(Unknown, match="disabled"):
        new_token(SIGN_IN, registry, ADA, NOW)
    assert len(registry.events(what="account.renewed")) == 2


def test_tokens_are_made_few_times_an_hour(registry):
    now = datetime.now(UTC)
    claims = {**ADA, "iat": now.timestamp()}
    for _ in range(3):
        new_token(SIGN_IN, registry, claims, now)
    with pytest.raises(Unknown, match="come back later"):
        new_token(SIGN_IN, registry, claims, now)
    assert new_token(SIGN_IN, registry, claims, now + timedelta(hours=2))


def written(path, mode=0o600, **changed):
    """A file that an operator writes."""
    said = {"issuer": ISSUER, "client_id": CLIENT, "client_secret": "hush"}
    said |= {"address": "https://arena.example.org/", **changed}
    lines = [f"{name} = {json.dumps(told)}" for name, told in said.items() if told is not None]
    path.write_text("\n".join([*lines, '[subjects]\n"s-ada" = "ada"', '[emails]\n"B@x" = "bob"']))
    path.chmod(mode)
    return path


def test_what_the_operator_writes_is_read_and_looked_over(tmp_path):
    path = tmp_path / "oidc.toml"
    found = read(written(path))
    assert (found.address, dict(found.emails)) == ("https://arena.example.org", {"b@x": "bob"})
    assert found.as_secrets("c")["auth"]["redirect_uri"] == f"{found.address}/oauth2callback"
    for changed, why in (
        ({"mode": 0o644}, "others can read it"),
        ({"issuer": "http://login.example.org"}, "begins with https"),
        ({"address": "http://arena.example.org"}, "begins with https"),
        ({"address": "https://arena.example.org/pages"}, "without a path"),
        ({"issuer": "https://me@login.example.org"}, "begins with https"),
        ({"issuer": "https://[x"}, "begins with https"),
        ({"client_secret": None}, "does not say 'client_secret'"),
        ({"client_id": 7}, "does not say 'client_id'"),
        ({"secret": "x"}, "'secret', which means nothing"),
        ({"issuer": "x" * (1 << 20)}, "more than"),
    ):
        with pytest.raises(UsageFault, match=why) as refused:
            read(written(path, **changed))
        assert "hush" not in str(refused.value)
    for text in ("x", "\xff", '[subjects]\n"a" = "no such name"', '[emails]\n"A@x"="a"\n"a@x"="b"'):
        written(path)
        head = path.read_text().partition("[subjects]")[0] if text.startswith("[") else ""
        path.write_bytes((head + text).encode("latin-1"))
        with pytest.raises(UsageFault):
            read(path)
    with pytest.raises(UsageFault, match="cannot be read"):
        read(tmp_path / "none")
    refused = CliRunner().invoke(main, ["serve", "--no-pages", "--oidc", str(path)])
    assert refused.exit_code == 2 and "--oidc is for the pages" in refused.stderr


def test_the_secret_of_cookies_is_drawn_once_and_kept_to_its_owner(tmp_path):
    found = cookie_secret(tmp_path)
    path = tmp_path / COOKIE_SECRET
    assert len(found) == 64 and cookie_secret(tmp_path) == found
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o644)
    with pytest.raises(UsageFault, match="others can read"):
        cookie_secret(tmp_path)
    path.chmod(0o600)
    path.write_text("0")
    with pytest.raises(UsageFault, match="not what was drawn"):
        cookie_secret(tmp_path)


def test_cookies_are_for_encrypted_connections_where_browsers_come_by_them():
    import asyncio

    async def sets(scope, receive, send):
        cookies = [(b"set-cookie", b"a=1; HttpOnly"), (b"Set-Cookie", b"b=2; secure")]
        await send({"type": "http.response.start", "status": 200, "headers": cookies})

    sent = []

    async def send(message):
        sent.append(message)

    app = Protected(_with_secure_cookies(sets), [("X-Frame-Options", "DENY")])
    asyncio.run(app({"type": "http"}, None, send))
    told = dict(sent[0]["headers"])
    assert told[b"set-cookie"] == b"a=1; HttpOnly; Secure"
    assert told[b"Set-Cookie"] == b"b=2; secure" and told[b"x-frame-options"] == b"DENY"
