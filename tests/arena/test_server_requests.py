"""What is sent to a server: nonsense, too much, the wrong version, and the same once more."""

import socket
import threading

import pytest

from arena.errors import VersionMismatch
from arena.remote import RemoteArena
from arena.server.limits import BODY_BYTES
from arena.wire.calls import API
from tests.arena.serving import asked, words

ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "told"),
    [
        ("POST", "/api/v1/submit", "{", 400, "no JSON"),
        ("POST", "/api/v1/submit", '{"source": NaN}', 400, "no JSON"),
        ("POST", "/api/v1/submit", "[" * 100_000, 400, "no JSON"),
        ("POST", "/api/v1/submit", "[]", 400, "an object is wanted"),
        ("POST", "/api/v1/submit", "{}", 400, "this parameter is needed"),
        ("POST", "/api/v1/play", '{"game": "rrps", "x": 1}', 400, "'x' is no parameter"),
        ("POST", "/api/v1/play", '{"game": "rrps", "matches": true}', 400, "whole number"),
        ("GET", "/api/v1/leaderboard?game=rrps&by=nonsense", None, 400, "nonsense"),
        ("GET", "/api/v1/leaderboard?game=rrps&more=maybe", None, 400, "no JSON"),
        ("GET", "/api/v1/matches?game=rrps&limit=-1", None, 400, ""),
        ("GET", f"/api/v1/matches?game=rrps&limit={2**31}", None, 400, "cannot be listed"),
        ("GET", f"/api/v1/matches?game=rrps&limit={2**63}", None, 400, "cannot be listed"),
        (
            "POST",
            "/api/v1/submit",
            '{"source": {"str": "x"}, "game": "rrps", "name": "a/x", "provenance": {"\\ud800": 1}}',
            400,
            "Unicode",
        ),
        ("POST", "/api/v1/submit", '{"\\ud800": 1}', 400, "is no parameter"),
        ("GET", "/api/v1/nothing", None, 404, "there is nothing to GET"),
        ("DELETE", "/api/v1/policies", None, 404, "there is nothing to DELETE"),
        ("GET", "/api/v1/jobs/nothing", None, 400, "no job of that id"),
        ("POST", "/api/v1/play?wait=soon", '{"game": "rrps"}', 400, "wait is a number"),
    ],
)
def test_nonsense_is_refused_in_words(there, method, path, body, status, told):
    answer = asked(there, method, path, content=body)
    assert answer.status_code == status, answer.text
    assert told in words(answer)
    assert "Traceback" not in answer.text
    assert not asked(there, "GET", "/api/v1/jobs").json()["jobs"], "nothing is stored"


def test_a_long_body_is_refused_before_it_is_read(there):
    answer = raw(there, f"Content-Length: {BODY_BYTES + 1}\r\n\r\n")
    assert b" 413 " in answer and b"at most" in answer
    chunked = raw(there, "Transfer-Encoding: chunked\r\n\r\n", b"100000\r\n" + b"x" * 0x100000, 40)
    assert b" 413 " in chunked


def raw(there, head, chunk=b"", times=0):
    """What a server says to a request that is written by hand."""
    host, port = there.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(f"POST /api/v1/submit HTTP/1.1\r\nHost: x\r\n{head}".encode())
        try:
            for _ in range(times):
                connection.sendall(chunk + b"\r\n")
        except OSError:
            pass
        told = b""
        while more := received(connection):
            told += more
        return told


def received(connection):
    try:
        return connection.recv(65536)
    except ConnectionResetError:  # what was left unread of a request ends its connection
        return b""


def test_versions_must_match_on_both_sides(there, monkeypatch):
    for headers in ({"Arena-Api": "99"}, {"Arena-Rules": "rrps=99"}):
        answer = asked(there, "GET", "/api/v1/wall", headers=headers)
        assert answer.status_code == 409 and "version 99" in words(answer)
    assert asked(there, "GET", "/api/v1/wall").status_code == 200
    with RemoteArena(there.address, there.tokens["boss"]) as old:
        old._client.headers["Arena-Api"] = "99"
        with pytest.raises(VersionMismatch, match="update policy-arena"):
            old.policies()
    monkeypatch.setattr("arena.remote.API", API + 1)
    with (
        RemoteArena(there.address, there.tokens["boss"]) as young,
        pytest.raises(VersionMismatch),
    ):
        young.policies()


def test_a_request_that_comes_again_is_done_once(there, as_):
    key = {"Idempotency-Key": "once"}
    document = {"source": {"str": ROCK + "# once\n"}, "game": "rrps", "name": "ada/once"}
    answers = []

    def ask():
        answers.append(
            asked(there, "POST", "/api/v1/submit?wait=20", "ada", json=document, headers=key)
        )

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [200] * 4, answers[0].text
    assert len({answer.json()["job"] for answer in answers}) == 1
    assert all(answer.json()["result"]["Enrolled"]["created"] for answer in answers)
    other = document | {"name": "ada/other"}
    refused = asked(there, "POST", "/api/v1/submit", "ada", json=other, headers=key)
    assert refused.status_code == 400 and "another request" in words(refused)
    mine = asked(there, "POST", "/api/v1/submit?wait=20", "bob", json=other, headers=key)
    assert mine.status_code == 403, "another account's key is another key"
    job = answers[0].json()["job"]
    assert asked(there, "GET", f"/api/v1/jobs/{job}", "bob").status_code == 400
    closing = {"Idempotency-Key": "close"}
    closed = [asked(there, "POST", "/api/v1/reveal_season", headers=closing) for _ in range(2)]
    assert closed[0].json() == closed[1].json()


def test_a_token_is_told_once(there):
    key = {"Idempotency-Key": "token"}
    first = asked(there, "POST", "/api/v1/renew_token", json={"name": "bob"}, headers=key)
    again = asked(there, "POST", "/api/v1/renew_token", json={"name": "bob"}, headers=key)
    token = first.json()["result"]
    assert len(token) == 48 and again.status_code == 400
    kept = (there.home / "server.sqlite").read_bytes()
    kept += (there.home / "server.sqlite-wal").read_bytes()
    assert token.encode() not in kept
    assert (there.home / "server.sqlite").stat().st_mode & 0o077 == 0
