"""Serves a home's pages from a process of its own: for tests, benchmarks and pictures."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dashboards.browser import TIMEOUT_SECONDS, PageFault
from dashboards.server import ADDRESS, free_port
from dashboards.settings import Settings


def _command(settings: Settings, port: int) -> list[str]:
    command = [sys.executable, "-m", "dashboards", "--port", str(port)]
    command += ["--home", str(settings.home), "--submitting", settings.submitting.value]
    command += ["--matches", str(settings.matches), "--per-hour", str(settings.per_hour)]
    command += ["--waiting", str(settings.waiting)]
    command += ["--submission-minutes", str(settings.budget.submission / 60)]
    command += ["--author-minutes", str(settings.budget.day / 60)]
    command += ["--by-invitation"] if settings.by_invitation else []
    return [*command, "--live-seconds", str(settings.live_seconds)]


@contextmanager
def server_of(settings: Settings, log: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Serves a home from a process of its own, which is yielded once it answers.

    Raises:
      PageFault: the server did not start; the message has what it said.
    """
    with log.open("a") as said:
        server = subprocess.Popen(_command(settings, port), stdout=said, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not _answers(f"http://{ADDRESS}:{port}/_stcore/health"):
            if server.poll() is not None or time.monotonic() > deadline:
                raise PageFault(f"the pages did not start: {log.read_text()}")
            time.sleep(0.1)
        yield server
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@contextmanager
def served(settings: Settings, log: Path) -> Iterator[str]:
    """The same on a free port; yields the address of the pages.

    Raises:
      PageFault: the server did not start; the message has what it said.
    """
    port = free_port()
    with server_of(settings, log, port):
        yield f"http://{ADDRESS}:{port}"


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
