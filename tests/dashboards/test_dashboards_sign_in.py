"""Signing in by OpenID Connect: a real provider, a real browser, and those who try it on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import httpx2
from joserfc import jwt
from joserfc.jwk import OctKey

from arena.backup import back_up
from arena.home import open_home
from arena.remote import RemoteArena
from dashboards.identity import COOKIE_SECRET
from dashboards.server import free_port
from registry.rights import Role
from tests.dashboards.test_dashboards_identity import CLIENT, written
from tests.dashboards.test_dashboards_mounted import installed as installed

USERS = (
    {"sub": "s-ada"},
    {"sub": "s-boss"},
    {"sub": "stranger"},
    {"sub": "m-1", "email": "bob@example.org", "email_verified": False},
    {"sub": "m-2", "email": "Bob@example.org", "email_verified": True},
)


@contextmanager
def running(words, answers, **options):
    """A process that answers at an address; what it said is told when it does not."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options) as it:
        try:
            deadline = time.monotonic() + 60
            while True:
                try:
                    urllib.request.urlopen(answers, timeout=2).close()
                    break
                except OSError:
                    assert it.poll() is None and time.monotonic() < deadline, it.stdout.read()
                    time.sleep(0.1)
            yield
        finally:
            it.terminate()
            it.communicate(timeout=30)


@contextmanager
def provider():
    """A provider of identities that lets everybody be whom they say; yields its address."""
    at = f"http://127.0.0.1:{(port := free_port())}"
    known = [word for one in USERS for word in ("--user-claims", json.dumps(one))]
    words = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    with running([*words, *known], f"{at}/.well-known/openid-configuration"):
        yield at


def peaceful(browser, address):
    """No exception, and nothing on the console but what is wrong with the provider's pages."""
    assert browser.exceptions() == []
    assert [one for one in browser.console_errors() if address in one] == []


def pressed(browser, label):
    """Presses a button that leads to another site."""
    browser.run(
        f"[...document.querySelectorAll('button')].find(b => b.innerText.includes({label!r}))"
        ".click()"
    )


def signed_in(browser, subject):
    """Signs in as somebody, and goes to the page of the account."""
    browser.open("/account")
    pressed(browser, "Sign in")
    browser.wait_for("Authorize Client")
    browser.run(
        f"document.querySelector('[name=sub]').value = {subject!r};"
        "document.querySelector('form button[type=submit]').click()"
    )
    browser.wait_for("are not measured yet")  # the provider sends back to the first page
    browser.open("/account")


def signed_out(browser):
    """Signs out here, and at the provider, which asks once more."""
    pressed(browser, "Sign out")
    browser.wait_for("End session")
    pressed(browser, "End session")
    browser.wait_for("are not measured yet")


def forged(browser, home_secret, address, **claims):
    """Puts a cookie into the browser that says what it likes."""
    from streamlit.web.server.starlette.starlette_app_utils import create_signed_value

    said = {"origin": address, "is_logged_in": True, "provider": "default", **claims}
    value = create_signed_value(home_secret, "_streamlit_user", json.dumps(said)).decode()
    browser.run(f"document.cookie = '_streamlit_user={value}; path=/'")
    browser.open("/account")


def lets_in(answer):
    """Whether an answer makes its reader somebody; a cookie that is taken away does not."""
    return bool(answer.cookies.get("_streamlit_user"))


def answers_count_once(address, home_secret):
    """A provider's answer is taken once, from the browser that went there."""
    asked = {"provider": "default", "exp": int(time.time()) + 60}
    token = jwt.encode({"alg": "HS256"}, asked, OctKey.import_key(home_secret))
    with httpx2.Client() as browser:
        there = browser.get(f"{address}/auth/login", params={"provider": token}).headers["Location"]
        back = httpx2.post(there, data={"sub": "s-ada"}).headers["Location"]
        assert back.startswith(f"{address}/oauth2callback?")
        assert not lets_in(httpx2.get(back)), "another's browser"
        assert not lets_in(browser.get(re.sub("state=", "state=x", back))), "another state"
        session = dict(browser.cookies)
        assert lets_in(browser.get(back))
        assert not lets_in(browser.get(back)), "once more"
        assert not lets_in(httpx2.get(back, cookies=session)), "its code was used up"


def test_who_signs_in_is_who_was_linked_and_nobody_else(home, installed, browse, tmp_path):
    opened = open_home(home).registry
    opened.add_accounts([("ada", Role.AUTHOR), ("bob", Role.READER), ("boss", Role.OPERATOR)])
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with provider() as issuer:
        file = written(tmp_path / "oidc.toml", issuer=issuer, address=address)
        links = '"s-ada" = "ada"\n"s-boss" = "boss"\n[emails]\n"bob@example.org" = "bob"\n'
        head = file.read_text().partition("[subjects]")[0]
        file.write_text(f"{head}[subjects]\n{links}")
        words = [sys.executable, "-m", "arena", "serve", "--home", str(home), "--no-player"]
        words += ["--port", str(port), "--workers", "1", "--oidc", str(file)]
        environment = {**os.environ, "PYTHONPATH": installed, "NO_PROXY": "*"}
        with (
            running(words, f"{address}/_stcore/health", env=environment, cwd=tmp_path),
            browse(address) as browser,
        ):
            unasked = httpx2.get(f"{address}/oauth2callback?code=x&state=y")
            assert unasked.status_code == 302 and unasked.headers["Location"] == "/"
            assert not lets_in(unasked)
            assert "Content-Security-Policy" in unasked.headers
            browser.open("/account")
            assert "Sign in to get a token" in browser.text
            assert "Kuhn poker" not in browser.text, "an account belongs to no game"
            browser.open("/")
            assert f"--home {address}" in browser.text and str(home) not in browser.text
            browser.open("/submit")
            assert f"arena login {address}\n" in browser.text
            submit = f"arena submit FILE --game rrps --name AUTHOR/NAME --home {address}"
            assert submit in browser.text
            signed_in(browser, "s-ada")
            assert "You are signed in as ada (author)" in browser.text
            peaceful(browser, address)
            browser.click("Make a new token")
            (shown,) = browser.find(".st-key-token code")
            with RemoteArena(address, shown.text.strip()) as ada:
                assert ada.account()["name"] == "ada"
            assert "_streamlit_user" not in browser.run("return document.cookie")
            signed_out(browser)
            browser.open("/account")
            assert "Sign in to get a token" in browser.text

            signed_in(browser, "stranger")
            assert "signing in gives you no rights" in browser.text
            assert issuer in browser.text and "stranger" in browser.text
            assert "Make a new token" not in browser.text
            file.write_text(f'{head}[subjects]\n"stranger" = "bob"\n{links}')
            browser.open("/account")  # the operator has linked them meanwhile
            assert "You are signed in as bob (reader)" in browser.text
            file.write_text(f"{head}[subjects]\n{links}")
            signed_out(browser)

            signed_in(browser, "m-1")
            assert "signing in gives you no rights" in browser.text, "nobody verified the address"
            signed_out(browser)
            signed_in(browser, "m-2")
            assert "You are signed in as bob (reader)" in browser.text
            signed_out(browser)
            signed_in(browser, "s-boss")
            assert "signed in as boss (operator)" in browser.text
            assert "Make a new token" not in browser.text
            signed_out(browser)

            claims = {"iss": issuer, "aud": CLIENT, "sub": "s-ada", "iat": time.time()}
            forged(browser, "0" * 64, address, **claims)
            assert "Sign in to get a token" in browser.text
            secret = Path(home / COOKIE_SECRET).read_text()
            forged(browser, secret, address, **claims | {"iss": "https://evil.example.org"})
            assert "signed in at another provider" in browser.text
            assert "Make a new token" not in browser.text
            answers_count_once(address, secret)
            opened.disable_account("ada")
            forged(browser, secret, address, **claims)
            assert "the account 'ada' is disabled" in browser.text
            peaceful(browser, address)
    assert [one.who for one in opened.events(what="account.renewed")] == ["ada"]
    kept = [one.name for one in back_up(open_home(home), tmp_path / "copy.tar").files]
    assert COOKIE_SECRET not in kept and "registry.sqlite" in kept
