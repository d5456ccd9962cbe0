"""An invitation redeemed at a server over connections that break, and by those who try it on."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import httpx2
import pytest
from click.testing import CliRunner

from arena import logins
from arena.cli import main
from arena.errors import ServerUnreachable
from arena.remote import RemoteArena
from registry import Role
from registry.errors import AccountDisabled, InviteRefused
from registry.tokens import drawn
from tests.arena.serving import listening, served


@pytest.fixture
def there(new_home):
    with served(new_home()) as running:
        yield running


@pytest.fixture
def boss(there):
    with RemoteArena(there.address, there.tokens["boss"]) as arena:
        yield arena.office


@contextmanager
def breaking(address, times):
    """A proxy that passes requests on, and breaks the connection in the place of some answers.

    Yields its address, and how many it still breaks, which can be changed.
    """
    left = [times]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: value for name, value in self.headers.items() if name != "Host"}
            answer = httpx2.post(address + self.path, content=body, headers=headers)
            if left[0]:
                left[0] -= 1
                self.close_connection = True
                return
            self.send_response(answer.status_code)
            self.send_header("Arena-Api", answer.headers["Arena-Api"])
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_):
            pass

    with listening(Handler) as place:
        yield place, left


def redeemed(office):
    return [(one.who, one.detail) for one in office.events(what="invite.redeemed")]


def test_an_answer_that_is_lost_loses_no_account(there, boss):
    code = boss.invite()
    with breaking(there.address, 2) as (address, _), RemoteArena(address) as stranger:
        token = stranger.office.redeem(code, "mia")
    with RemoteArena(there.address, token) as mia:
        assert mia.account()["name"] == "mia"
    assert redeemed(boss) == [("mia", "mia, author")]
    assert [one.used for one in boss.invites()] == [1]
    for kept in there.home.glob("server.sqlite*"):
        assert token.encode() not in kept.read_bytes()
    for kept in there.home.glob("registry.sqlite*"):
        assert token.encode() not in kept.read_bytes()


def test_the_command_that_was_interrupted_is_typed_again(there, boss, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("ARENA_HOME", "ARENA_URL", "ARENA_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    code = boss.invite()

    def run(code, *words, at):
        return CliRunner().invoke(
            main, ["accounts", "redeem", code, *words, "--home", at, "--json"]
        )

    real = RemoteArena.__init__
    monkeypatch.setattr(
        RemoteArena, "__init__", lambda self, url, token=None: real(self, url, token, timeout=0.5)
    )
    with breaking(there.address, 1_000) as (address, left):
        lost = run(code, "mia", at=address)
        assert lost.exit_code == 1
        assert json.loads(lost.stdout)["error"]["kind"] == ServerUnreachable.__name__
        assert logins.file().stat().st_mode & 0o077 == 0
        assert code not in logins.file().read_text()
        left[0] = 0
        # A token of somebody whose account is shut has nothing to do with it.
        shut = boss.add_accounts([("old", Role.AUTHOR)])["old"]
        boss.disable_account("old")
        monkeypatch.setenv(logins.TOKEN, shut)
        told = json.loads(run(code, "mia", at=address).stdout)
        monkeypatch.delenv(logins.TOKEN)
    with RemoteArena(there.address, told["token"]) as mia:
        assert mia.account()["name"] == "mia"
    assert json.loads(logins.file().read_text()) == {}, "it was shown, and is kept no longer"
    assert redeemed(boss) == [("mia", "mia, author")]
    refused = run(code, "zoe", at=there.address)
    assert refused.exit_code == 1 and "was used already" in refused.stderr
    assert json.loads(logins.file().read_text()) == {}


def test_who_has_another_token_gets_nothing_by_repeating(there, boss):
    code, token = boss.invite(uses=2), drawn()
    url = f"{there.address}/api/v1/redeem"

    def ask(**document):
        answer = httpx2.post(url, json=document)
        assert "Traceback" not in answer.text
        return answer

    assert ask(code=code, name="mia", token=token).json() == {"result": token}
    assert ask(code=code, name="mia", token=token).json() == {"result": token}
    for other in ({"token": drawn()}, {}, {"token": there.tokens["boss"]}):
        answer = ask(code=code, name="mia", **other).json()
        assert answer["error"]["kind"] == "NameRefused"
    weak = [
        ask(code=code, name="eve2", token=one)
        for one in ("0" * 48, "x", there.tokens["boss"], code, token[:-1], "é" * 48, "f" * 60_000)
    ]
    assert {one.json()["error"]["kind"] for one in weak} == {"InviteRefused"}
    assert len({one.text for one in weak}) == 1, "nothing tells a token that there is from none"
    for wrong in (7, ["a"], {"a": 1}, True):
        assert ask(code=code, name="eve2", token=wrong).json()["error"]["kind"] == "BadRequest"
    huge = httpx2.post(url, json={"code": code, "name": "eve2", "token": "f" * 70_000})
    assert huge.status_code == 413
    assert [one.used for one in boss.invites()] == [1]
    boss.disable_account("mia")
    with RemoteArena(there.address) as stranger:
        with pytest.raises(AccountDisabled):
            stranger.office.redeem(code, "mia", token=token)
        assert stranger.office.redeem(code, "zoe") and len(redeemed(boss)) == 2
        with pytest.raises(InviteRefused, match="was used already"):
            stranger.office.redeem(code, "zac")
    assert ask(code=boss.invite(), name="plain").json()["result"], "who brings none is given one"


def test_of_two_who_redeem_at_once_one_has_the_account(there, boss):
    code, same = boss.invite(), drawn()
    answers = []

    def ask(token):
        document = {"code": code, "name": "mia", "token": token}
        answers.append(httpx2.post(f"{there.address}/api/v1/redeem", json=document).json())

    threads = [threading.Thread(target=ask, args=(one,)) for one in (same, same, drawn(), drawn())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = {one["result"] for one in answers if "result" in one}
    (token,) = made
    refused = [one for one in answers if "result" not in one]
    assert {one["error"]["kind"] for one in refused} == {"InviteRefused"}
    assert len(refused) == (2 if token == same else 3)
    with RemoteArena(there.address, token) as mia:
        assert mia.account()["name"] == "mia"
    assert len(redeemed(boss)) == 1 and [one.used for one in boss.invites()] == [1]
