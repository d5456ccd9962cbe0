"""A registry that cannot be used says why, and what was stored before stays."""

import resource
import signal
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from registry import Registry, RegistryUnavailable, Submission
from tests.registry.conftest import fresh_postgres
from tests.unprivileged import in_child, reachable_folder


def entry(payload: str) -> Submission:
    return Submission("rrps", "ada/copycat", "python", payload)


@pytest.fixture
def folder() -> Iterator[Path]:
    with reachable_folder() as path:
        yield path


def test_a_read_only_home_can_be_read_but_not_written(folder: Path) -> None:
    path = folder / "registry.sqlite"
    with Registry.open(path) as registry:
        registry.submit(entry("x"))
    path.chmod(0o444)
    folder.chmod(0o555)
    read = [
        in_child(lambda: Registry.open(path).get("rrps", "ada/copycat").ref),
        in_child(lambda: Registry.open(path, read_only=True).get("rrps", "ada/copycat").ref),
    ]
    assert read == ["ada/copycat@1"] * 2
    written = in_child(lambda: Registry.open(path).submit(entry("y")))
    assert written.startswith("RegistryReadOnly: ")
    assert f"{folder} is read-only; check who owns it, or use another home" in written
    with Registry.open(path, read_only=True) as registry:
        assert registry.count() == 1


def test_a_read_only_home_whose_log_was_left_behind_is_read_with_it(folder: Path) -> None:
    path = folder / "registry.sqlite"
    with Registry.open(path) as registry:
        registry.submit(entry("x"))
    writer = sqlite3.connect(path)
    writer.execute("UPDATE policy_version SET description = 'in the log'")
    writer.commit()
    for left in folder.iterdir():
        left.chmod(0o444)
    folder.chmod(0o555)
    answer = in_child(lambda: Registry.open(path).get("rrps", "ada/copycat").description)
    writer.close()
    assert answer == "in the log"


def test_a_home_that_cannot_be_made(folder: Path) -> None:
    folder.chmod(0o555)
    assert in_child(lambda: Registry.open(folder / "registry.sqlite")) == (
        f"RegistryReadOnly: there is no registry {folder / 'registry.sqlite'} yet, and {folder} "
        "is read-only; check who owns it, or use another home"
    )
    nested = in_child(lambda: Registry.open(folder / "deep" / "registry.sqlite"))
    assert nested.startswith("RegistryUnavailable: ") and "cannot be made" in nested


def test_a_home_behind_a_barred_folder(folder: Path) -> None:
    barred = folder / "barred"
    barred.mkdir()
    Registry.open(barred / "registry.sqlite").close()
    barred.chmod(0o000)
    answer = in_child(lambda: Registry.open(barred / "registry.sqlite"))
    barred.chmod(0o755)
    assert answer.startswith("RegistryReadOnly: ") and "is read-only" in answer


def test_a_full_disk_is_said_and_loses_nothing(folder: Path) -> None:
    folder.chmod(0o777)
    path = folder / "registry.sqlite"
    with Registry.open(path) as registry:
        registry.submit(entry("x"))
    for file in folder.iterdir():
        file.chmod(0o666)

    def fill() -> object:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        limit = path.stat().st_size + 65_536
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        with Registry.open(path) as registry:
            registry.submit(entry("small"))
            return registry.submit(entry("y" * 1_000_000))

    answer = in_child(fill)
    assert answer.startswith("RegistryUnavailable: ")
    assert "full" in answer
    with Registry.open(path) as registry:
        assert [version.payload for version in registry.find()] == ["x", "small"]
        assert registry.submit(entry("y" * 1_000_000)).version.number == 3


def test_sqlite_saying_that_the_disk_is_full(tmp_path: Path) -> None:
    with Registry.open(tmp_path / "registry.sqlite") as registry:
        registry.submit(entry("x"))
        with (
            pytest.raises(RegistryUnavailable, match="the disk is full: free some space"),
            registry.database.writing() as session,
        ):
            session.connection().exec_driver_sql("PRAGMA max_page_count=1")
            session.connection().exec_driver_sql(
                "UPDATE policy_version SET payload = hex(zeroblob(1000000))"
            )
        assert registry.get("rrps", "ada/copycat").payload == "x"


def test_files_that_are_no_registry(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("not a database, but long enough to look at\n" * 100)
    for read_only in (False, True):
        with pytest.raises(RegistryUnavailable, match="is no SQLite database: move it away"):
            Registry.open(text, read_only=read_only)
    assert text.read_text().startswith("not a database")
    with pytest.raises(RegistryUnavailable, match="is a folder"):
        Registry.open(tmp_path)
    with pytest.raises(RegistryUnavailable, match="cannot be made"):
        Registry.open(text / "below" / "registry.sqlite")


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("mysql://localhost/x", "no registry can be kept in 'mysql'"),
        ("postgresql://localhost:port/x", "URL cannot be read"),
        ("sqlite://", "needs a file"),
        ("sqlite:///:memory:", "needs a file"),
        ("postgresql://me:secret@127.0.0.1:1/x", "refused"),
    ],
)
def test_urls_that_lead_nowhere(url: str, text: str) -> None:
    with pytest.raises(RegistryUnavailable, match=text) as caught:
        Registry.open(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["a%20b", "a?b", "a#b", "ä b", "a:b"])
def test_folders_with_odd_names(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / "registry.sqlite"
    for target in (str(path), f"sqlite:///{path}"):
        with Registry.open(target) as registry:
            registry.submit(entry("x"))
            assert registry.count() == 1
    assert path.exists()


def test_a_writer_that_is_held_up_waits_for_its_turn(tmp_path: Path) -> None:
    path = tmp_path / "registry.sqlite"
    with Registry.open(path) as registry:
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.3, other.execute, ["COMMIT"])
        release.start()
        assert registry.count() == 0  # Readers do not wait.
        assert registry.submit(entry("x")).created
        release.join()
        other.close()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:secret-5d1f@127.0.0.1:1/none",
        "postgresql:///none?host=127.0.0.1&port=1&user=ada&password=secret-5d1f",
    ],
)
def test_no_password_is_told_where_a_server_does_not_answer(url):
    with pytest.raises(RegistryUnavailable) as refused:
        Registry.open(url)
    assert "127.0.0.1" in str(refused.value)
    assert "secret-5d1f" not in str(refused.value)


@pytest.mark.postgres
def test_a_database_without_an_encoding_of_its_own_will_do(postgres_server: str) -> None:
    options = "ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
    with fresh_postgres(postgres_server, options) as url, Registry.open(url) as opened:
        version = opened.submit(entry("# ünïcode \N{SNOWMAN}")).version
        assert opened.get("rrps", version.digest) == version
        assert version.payload == "# ünïcode \N{SNOWMAN}"
