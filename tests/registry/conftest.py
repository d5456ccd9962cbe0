"""A fresh registry on each kind of database.

PostgreSQL is the server that ARENA_TEST_POSTGRES names (URL of its maintenance database, with
the right to create databases), or one that is started here from Debian's package.
"""

import contextlib
import ctypes
import faulthandler
import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from registry import Registry
from registry.schema import TABLES
from tests.registry.bad_files import entry

_NUMBERS = itertools.count(1)
_PARENT_DEATH_SIGNAL = 1
_HANGS_AFTER_SECONDS = 300
"""Each test takes a few seconds, on a busy machine too."""


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """URL of a maintenance database."""
    url = os.environ.get("ARENA_TEST_POSTGRES")
    if url:
        yield url
        return
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not folders:
        reason = "no ARENA_TEST_POSTGRES, and Debian's package postgresql is not installed"
        if os.environ.get("ARENA_REQUIRE_POSTGRES") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with _server(folders[-1]) as started:
        yield started


@contextlib.contextmanager
def _server(programs: Path) -> Iterator[str]:
    folder = Path(tempfile.mkdtemp(prefix="arena-postgres-"))
    user = "postgres" if os.geteuid() == 0 else None  # It refuses to run as root.
    if user:
        shutil.chown(folder, user)
    data = str(folder / "data")
    initdb = [str(programs / "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "--no-sync"]
    initdb += ["--encoding=UTF8", "--locale=C.UTF-8"]
    subprocess.run(initdb, check=True, user=user, capture_output=True, cwd=folder)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(programs / "postgres"), "-D", data, "-h", "127.0.0.1", "-p", str(port)]
    command += ["-k", str(folder), "-F"]  # -F: no fsync, for speed.
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen(
            command, user=user, stdout=log, stderr=log, cwd=folder, preexec_fn=_die_with_parent
        )
    url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
    try:
        _wait_for(url, server, folder / "log")
        yield url
    finally:
        server.send_signal(signal.SIGINT)  # Its fast shutdown.
        server.wait(30)
        shutil.rmtree(folder)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGINT)


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(url).close()
            return
        assert server.poll() is None, log.read_text()
        time.sleep(0.05)
    raise AssertionError(log.read_text())


@contextlib.contextmanager
def fresh_postgres(server: str, options: str = "") -> Iterator[str]:
    """URL of an empty database."""
    name = f"arena_test_{os.getpid()}_{next(_NUMBERS)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} {options}")
    try:
        url = sa.make_url(server).set(database=name)
        yield url.render_as_string(hide_password=False)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where an empty registry can be made: a path, then a PostgreSQL URL."""
    if request.param == "sqlite":
        yield str(tmp_path / "registry.sqlite")
        return
    with fresh_postgres(request.getfixturevalue("postgres_server")) as url:
        yield url


@pytest.fixture(scope="session")
def postgres_registry(postgres_server: str) -> Iterator[Registry]:
    """One registry for many tests: to make a database takes longer than most of them."""
    with fresh_postgres(postgres_server) as url, Registry.open(url) as opened:
        yield opened


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def registry(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Registry]:
    """An empty registry."""
    if request.param == "sqlite":
        with Registry.open(tmp_path / "registry.sqlite") as opened:
            yield opened
        return
    shared: Registry = request.getfixturevalue("postgres_registry")
    with shared.database.writing() as session:
        session.execute(sa.text(f"TRUNCATE {', '.join(table.name for table in TABLES)}"))
    yield shared


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An SQLite registry with 300 versions, one to a page, and a season."""
    path = tmp_path / "registry.sqlite"
    with Registry.open(path) as registry:
        registry.submit_many([entry(number) for number in range(300)])
        registry.current_season()
    return path


@pytest.fixture
def nothing_hangs() -> Iterator[None]:
    """Ends the whole run where SQLite does not come back: nothing gentler would reach it."""
    faulthandler.dump_traceback_later(_HANGS_AFTER_SECONDS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
