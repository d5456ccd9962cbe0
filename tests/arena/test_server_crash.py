"""What a server leaves that is killed, and how its clients go on."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from arena.errors import (
    BadRequest,
)
from arena.home import open_home
from arena.remote import RemoteArena
from registry.rights import Role

ROOT = Path(__file__).parents[2]
ROCK = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
SLOW = (
    "class Agent:\n    def act(self, observation):\n"
    "        return 'ROCK' if sum(range(3000)) else 'PAPER'\n"
)


class Program:
    """`arena serve` as a process that can be killed, always on the same port."""

    def __init__(self, home):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.home = home
        self.start()

    def start(self):
        words = ["serve", "--home", str(self.home), "--port", str(self.port), "--no-pages"]
        words += ["--no-player", "--workers", "1", "--sandbox", "process"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "arena", *words],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert "http://" in self.process.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()

    def kill(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait(30)
        self.process.stdout.close()


def test_a_client_goes_on_where_its_server_was_killed(new_home):
    home = new_home()
    registry = open_home(home).registry
    token = registry.add_accounts([("boss", Role.OPERATOR)])["boss"]
    with (
        Program(home) as server,
        RemoteArena(f"http://127.0.0.1:{server.port}", token, timeout=60) as arena,
    ):
        made = [arena.submit(f"{SLOW}# {n}\n", "rrps", "boss/slow").version for n in range(2)]
        pair = (made[0].digest, made[1].digest)
        seen = []
        killer = threading.Thread(target=lambda: (wait_for(seen), server.kill(), server.start()))
        killer.start()
        told = []

        def progress(done, wanted):
            told.append((done, wanted))
            seen.append(done)

        report = arena.play_pairs("rrps", {pair: 30}, progress=progress)
        killer.join()
        rows = arena.matches("rrps", made[0].ref, against=made[1].ref, limit=None)
        assert len(rows) == 30 == len({row.id for row in rows})
        assert report.played + report.skipped == 30
        assert report.skipped > 0 or report.played == 30
        server.kill(signal.SIGTERM)
        assert server.process.returncode == 0


def wait_for(seen):
    deadline = time.monotonic() + 60
    while not any(done > 5 for done in seen) and time.monotonic() < deadline:
        time.sleep(0.01)


def test_a_change_that_was_cut_off_is_not_made_twice(tmp_path):
    from arena.server.ledger import Ledger, State

    ledger = Ledger(tmp_path / "server.sqlite")
    closing, _ = ledger.add("boss", "a", "reveal_season", "{}", State.RUNNING)
    pulled, _ = ledger.add("boss", "b", "withdraw", "{}", State.RUNNING)
    playing, _ = ledger.add("boss", "c", "play", "{}", State.WAITING)
    assert ledger.begin(playing)
    ledger.close()
    again = Ledger(tmp_path / "server.sqlite")
    again.reopen()
    assert again.get(closing.id).state is State.FAILED
    assert "nobody knows" in json.loads(again.get(closing.id).error)["message"]
    assert again.get(pulled.id) is None
    assert again.get(playing.id).state is State.WAITING
    with pytest.raises(BadRequest, match="1 to 200"):
        again.add("boss", "x" * 201, "play", "{}", State.WAITING)
    again.close()
