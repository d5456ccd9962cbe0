"""A server that answers what it likes: the client refuses it in words that steer no terminal."""

import gzip
import json
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

import pytest
from click.testing import CliRunner

from arena import remote
from arena.cli import main
from arena.errors import ArenaError, ServerError, ServerUnreachable
from arena.remote import RemoteArena
from arena.wire import faults
from arena.wire.answers import job_in
from arena.wire.calls import API
from arena.wire.plain import Malformed
from registry.errors import UnknownPolicy
from tests.arena.serving import listening

ID = "0123456789abcdef" * 2
ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
STEERS = "\x1b]0;pwned\x07"


@contextmanager
def answering(*answers):
    """A server that gives these answers in turn, the last for ever; yields address and requests.

    An answer is a body, or a status, headers and a body.
    """
    left, asked = list(answers), []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.command, self.path, dict(self.headers)))
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            answer = left.pop(0) if len(left) > 1 else left[0]
            status, headers, body = answer if isinstance(answer, tuple) else (200, {}, answer)
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Arena-Api": str(API), **headers}.items():
                self.send_header(name, value)
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if status != 304:
                self.wfile.write(body)

        do_POST = do_DELETE = do_GET  # noqa: N815 - named by http.server

        def log_message(self, *_):
            pass

    with listening(Handler) as address:
        yield address, asked


def running(**changed):
    return {"job": ID, "state": "running", "progress": [1, 2], "changes": 1} | changed


@pytest.mark.parametrize(
    "answer",
    [
        [],
        None,
        7,
        {},
        b"",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"result": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        {"result": None},
        {"result": {"~": 1}},
        (304, {}, b""),
        (200, {"Content-Encoding": "gzip"}, b"no gzip"),
        (200, {"Content-Encoding": "gzip, gzip"}, gzip.compress(gzip.compress(b"{}"))),
        (200, {"Content-Encoding": "br"}, b"{}"),
        (400, {}, []),
        (400, {}, {"error": []}),
        (400, {}, {"error": {"kind": "UnknownPolicy", "about": {"suggestions": [1, {}]}}}),
    ],
    ids=lambda answer: repr(answer)[:40],
)
def test_answers_that_are_none_are_refused_in_words(answer):
    with answering(answer) as (address, _), RemoteArena(address, timeout=0.5) as arena:
        for ask in (
            lambda: arena.policies("rrps"),
            lambda: arena.account(),
            lambda: arena.authors(),
            lambda: arena.submit(ROCK, "rrps", "ada/rock"),
            lambda: arena.withdraw("ada/rock"),
        ):
            with pytest.raises((ArenaError, UnknownPolicy)) as refused:
                ask()
            assert str(refused.value)


@pytest.mark.parametrize(
    "job",
    [
        running(job="../../x"),
        running(job="\x00\n"),
        running(job=ID + "\n"),
        running(job=7),
        running(state="asleep"),
        running(state=["running"]),
        running(progress=7),
        running(progress=[1]),
        running(progress=["1", None]),
        running(progress=[True, False]),
        running(progress=[-1, 2**80]),
        running(changes="&wait=0"),
        {"state": "done", "result": None},
        {"job": ID},
        {"job": ID, "state": "failed"},
        {"job": ID, "state": "failed", "error": 7},
        {"job": ID, "state": "done"},
    ],
    ids=repr,
)
def test_jobs_that_are_none_are_refused_in_words(job):
    for first in ([], [running()]):
        with (
            answering(*first, job) as (address, asked),
            RemoteArena(address, timeout=0.5) as arena,
            pytest.raises(ServerError),
        ):
            arena.play("rrps", 2, progress=lambda done, wanted: None)
        assert {path.partition("?")[0] for _, path, _ in asked} <= {
            "/api/v1/play",
            f"/api/v1/jobs/{ID}",
        }


@pytest.mark.parametrize(("rises", "most"), [(False, 8), (True, 40)])
def test_a_server_that_never_waits_is_not_asked_without_end(rises, most):
    class Rising(dict):
        """A job that is another one each time it is told."""

        def items(self):
            self["changes"] += rises
            return super().items()

    began = time.monotonic()

    def tired(done, wanted):
        if time.monotonic() - began > 1.5:
            raise KeyboardInterrupt

    with (
        answering(Rising(running())) as (address, asked),
        RemoteArena(address, timeout=0.5) as arena,
        pytest.raises(KeyboardInterrupt),
    ):
        arena.play("rrps", 2, progress=tired)
    assert 3 < len(asked) < most


def test_a_good_job_is_read():
    job = job_in(running())
    assert (job.id, job.progress, job.changes, job.over) == (ID, (1, 2), 1, False)
    assert job_in({"job": ID, "state": "cancelled"}).over
    with pytest.raises(Malformed, match="state"):
        job_in({"job": ID})


def test_nothing_has_changed_is_no_answer_to_who_did_not_ask_for_it():
    good = (200, {"ETag": '"a"'}, {"result": []})
    kept = (304, {}, b"")
    with answering(good, kept) as (address, asked), RemoteArena(address) as arena:
        assert arena.authors() == arena.authors() == ()
        assert asked[-1][2]["If-None-Match"] == '"a"'
        with pytest.raises(ServerUnreachable):
            arena.seasons()


@pytest.mark.parametrize("tag", ["\xe9", '"a b"', '"' + "a" * 500 + '"', "\t"])
def test_strange_tags_are_not_sent_back(tag):
    with (
        answering((200, {"ETag": tag}, {"result": []})) as (address, asked),
        RemoteArena(address) as arena,
    ):
        assert arena.authors() == arena.authors() == ()
        assert not any("If-None-Match" in headers for _, _, headers in asked)


def test_an_answer_without_end_is_not_held(monkeypatch):
    monkeypatch.setattr(remote, "MOST_BYTES", 1 << 20)
    bomb = gzip.compress(b'{"result": "' + b"x" * (4 << 20) + b'"}')
    assert len(bomb) < 1 << 16
    with (
        answering((200, {"Content-Encoding": "gzip"}, bomb)) as (address, _),
        RemoteArena(address) as arena,
        pytest.raises(ServerError, match="more than 1 MiB"),
    ):
        arena.authors()


def test_words_of_a_server_steer_no_terminal(tmp_path, monkeypatch):
    said = f"no{STEERS}\nerror: nothing\r\nverified  all is well\u202e"
    failed = (400, {}, {"error": {"kind": "UsageFault", "message": said}})
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("ARENA_HOME", raising=False)
    with answering(failed) as (address, _):
        monkeypatch.setenv("ARENA_URL", address)
        done = CliRunner().invoke(main, ["list"])
    assert done.exit_code == 2 and not isinstance(done.exception, UnicodeError)
    assert not set("\x1b\x07\r\u202e") & set(done.stderr)
    first, *others = done.stderr.rstrip("\n").split("\n")
    assert first.startswith("error: no[U+001B]]0;pwned[U+0007]")
    assert others and all(line.startswith("  ") for line in others)


@pytest.mark.parametrize(
    ("result", "command"),
    [
        (f"t{STEERS}", ["redeem", "c" * 48, "ada"]),
        (f"t{STEERS}", ["renew", "ada", "--yes"]),
        (f"t{STEERS}", ["invite"]),
        ({"ada": f"t{STEERS}"}, ["add", "ada"]),
        ({"ada": f"t{STEERS}"}, ["import", "-"]),
        ({}, ["add", "ada"]),
        ({}, ["import", "-"]),
    ],
    ids=lambda value: repr(value)[:12],
)
def test_secrets_of_a_server_steer_no_terminal(tmp_path, monkeypatch, result, command):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("ARENA_HOME", raising=False)
    with answering({"result": result}) as (address, _):
        monkeypatch.setenv("ARENA_URL", address)
        done = CliRunner().invoke(main, ["accounts", *command], input="ada\n")
    assert not set("\x1b\x07") & set(done.output)
    assert isinstance(done.exception, (SystemExit, type(None)))
    if result:
        assert "t[U+001B]]0;pwned[U+0007]" in done.output
    else:
        assert done.exit_code == 1 and "tells no secret of 'ada'" in done.output


def test_values_of_a_server_that_are_told_in_errors_are_clean():
    with (
        answering({"result": {STEERS: 1, "a\nverified": 2}}) as (address, _),
        RemoteArena(address) as arena,
        pytest.raises(ServerError) as refused,
    ):
        arena.versions(["00" * 16])
    assert "\x1b" not in str(refused.value)
    with answering((200, {"Arena-Api": "\x1b[31m2"}, {})) as (address, _):
        with RemoteArena(address) as arena, pytest.raises(ServerError) as refused:
            arena.authors()
        assert "\x1b" not in str(refused.value)


def test_what_an_error_carries_is_clean_and_of_its_type():
    about = {"ref": f"a{STEERS}", "suggestions": ["b\x1b", 7, None], "candidates": "abc"}
    told = {"kind": "UnknownPolicy", "message": "who", "about": about}
    found = faults.error_of(told | {"about": {k: about[k] for k in ("ref", "suggestions")}})
    assert isinstance(found, UnknownPolicy)
    assert (found.ref, found.suggestions) == ("a[U+001B]]0;pwned[U+0007]", ("b[U+001B]",))
    assert vars(faults.error_of(told))["suggestions"] == ("b[U+001B]",)
    assert len(str(faults.error_of({"message": "x" * 1_000_000}))) == 10_000


def test_every_class_of_error_can_be_made_from_its_name():
    for kind in faults.kinds():
        found = faults.error_of({"kind": kind, "message": "words"})
        assert type(found).__name__ == kind and str(found) == "words"
