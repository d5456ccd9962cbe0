"""The server of the pages: what it listens on, what is passed on to it, and how it ends."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from arena.errors import UsageFault
from arena.home import open_home
from dashboards.server import ADDRESS, free_port, listener
from dashboards.tickets import Tickets
from tests.conftest import SEED_KEY
from tests.dashboards.queues import SLOW, entry, wait

Server = subprocess.Popen[str]
Start = Callable[..., Server]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts `arena dashboard` with some options on a free port."""
    started: list[Server] = []

    def begin(*options: str, home: Path = tmp_path / "home") -> Server:
        words = ["-m", "arena", "dashboard", "--home", str(home), "--port", "0", *options]
        server = subprocess.Popen(
            [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        started.append(server)
        return server

    yield begin
    for server in started:
        server.kill()
        server.communicate()


def address_of(server: Server) -> str:
    """Its address; the first line has come before anything was opened."""
    assert server.stdout
    assert server.stdout.readline().startswith("opening ")
    line = server.stdout.readline()
    assert line.startswith("Policy Arena: http://"), line
    return line.split()[-1]


def children_of(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task").iterdir()
    return [int(one) for task in tasks for one in (task / "children").read_text().split()]


def lives(process: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def test_small_answers_are_sent_at_once() -> None:
    """Accepted sockets go by the listener; asyncio asks for the protocol (see `listener`)."""
    with closing(listener(ADDRESS, 0)) as open_one:
        assert open_one.proto == socket.IPPROTO_TCP
        with socket.create_connection(open_one.getsockname()):
            accepted, _ = open_one.accept()
            with accepted:
                assert accepted.proto == socket.IPPROTO_TCP


def test_a_taken_port_and_a_foreign_address_are_told() -> None:
    with closing(listener(ADDRESS, 0)) as first:
        port = first.getsockname()[1]
        with pytest.raises(UsageFault, match=rf"port {port} of 127.0.0.1 cannot be used"):
            listener(ADDRESS, port)
    with pytest.raises(UsageFault, match="cannot be used"):
        listener("198.51.100.7", free_port())  # an address of documentation, nobody's own
    for nowhere in ("no such host", "a..b", "x" * 70):
        with pytest.raises(UsageFault, match="--address"):
            listener(nowhere, 0)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_and_ends_when_told_to(start: Start, end: signal.Signals) -> None:
    server = start()
    address = address_of(server)
    with urllib.request.urlopen(f"{address}/_stcore/health", timeout=30) as answer:
        assert answer.read() == b"ok"
    with urllib.request.urlopen(address, timeout=30) as answer:
        assert b"<html" in answer.read().lower()
    server.send_signal(end)
    said, _ = server.communicate(timeout=30)
    assert (server.returncode, said) == (0, "")


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind_while_a_submission_plays(
    start: Start, home: Path, end: signal.Signals
) -> None:
    tickets = Tickets(home)
    ticket = tickets.add(entry("ada/slow", line=SLOW), datetime.now(UTC))
    server = start("--submitting", "any-wall", "--matches", "200", home=home)
    where = address_of(server).rpartition(":")[2]
    wait(lambda: (tickets.get(ticket.id) or ticket).matches == 200)
    children = children_of(server.pid)
    assert children
    server.send_signal(end)
    said, _ = server.communicate(timeout=30)
    assert (server.returncode, said) == (0 if end == signal.SIGTERM else -end, "")
    wait(lambda: not any(map(lives, children)), timeout=20)
    with closing(listener(ADDRESS, int(where))):  # the port is free
        pass


def test_options_are_passed_on(start: Start, home: Path, tmp_path: Path) -> None:
    new, registry = tmp_path / "new", f"sqlite:///{tmp_path / 'shared.sqlite'}"
    options = ["--address", "127.0.0.2", "--submitting", "any-wall", "--submission-minutes", "2"]
    address = address_of(
        start(*options, "--registry", registry, "--seed-key", SEED_KEY.hex(), home=new)
    )
    assert address.startswith("http://127.0.0.2:")
    with urllib.request.urlopen(address, timeout=30) as answer:
        assert answer.status == 200
    assert (tmp_path / "shared.sqlite").exists()
    theirs, ours = (
        open_home(new, registry).registry.current_season(),
        open_home(home).registry.current_season(),
    )
    assert theirs.commitment == ours.commitment


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--help"], "--author-minutes"),
        (["--port", "x"], "'--port'"),
        (["--no-such-option"], "--no-such-option"),
        (["--address", "no such host"], "--address"),
        (["--submission-minutes", "0"], "--submission-minutes"),
    ],
)
def test_the_command_explains_itself(start: Start, options: list[str], said: str) -> None:
    server = start(*options)
    output, _ = server.communicate(timeout=60)
    assert said in output
    assert "Traceback" not in output
    assert server.returncode == (0 if options == ["--help"] else 2)


def test_who_takes_no_policies_in_makes_no_home(start: Start, tmp_path: Path) -> None:
    server = start("--submitting", "off", home=tmp_path / "typo")
    output, _ = server.communicate(timeout=60)
    assert server.returncode == 2 and f"there is no home at {tmp_path / 'typo'}" in output
    assert not (tmp_path / "typo").exists()


def test_a_new_home_is_called_new(start: Start, tmp_path: Path) -> None:
    server = start(home=tmp_path / "new")
    assert server.stdout
    assert server.stdout.readline() == f"opening {tmp_path / 'new'}, a new home ...\n"
