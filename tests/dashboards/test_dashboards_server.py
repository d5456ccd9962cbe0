"""The server of the pages: what it listens on, and how it ends."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from arena.errors import UsageFault
from dashboards.server import ADDRESS, free_port, listener

Server = subprocess.Popen[str]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    command = [sys.executable, "-m", "dashboards", "--home", str(tmp_path / "home"), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        yield process
        process.kill()


def address_of(server: Server) -> str:
    assert server.stdout
    line = server.stdout.readline()
    assert line.startswith("Policy Arena: http://127.0.0.1:"), line
    return line.split()[-1]


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
def test_it_answers_and_ends_when_told_to(server: Server, end: signal.Signals) -> None:
    address = address_of(server)
    with urllib.request.urlopen(f"{address}/_stcore/health", timeout=30) as answer:
        assert answer.read() == b"ok"
    with urllib.request.urlopen(address, timeout=30) as answer:
        assert b"<html" in answer.read().lower()
    server.send_signal(end)
    said, _ = server.communicate(timeout=30)
    assert (server.returncode, said) == (0, "")
