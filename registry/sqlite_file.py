"""An SQLite file as a file: who may read it, and what must be true of it before it is opened.

And a lock beside it, for work on what it holds that takes longer than a transaction.

A home may come from anywhere.  SQLite itself trusts what lies in a database's folder more than we
do: it waits for a named pipe in the place of its log for ever, and deletes the file that a
doctored journal names.  So a folder's files are looked at first, and the tables before they are
queried.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import sqlalchemy as sa

from registry.errors import RegistryCorrupt, RegistryUnavailable
from registry.schema import TABLES

LOCK_SECONDS = 60.0
"""How long a transaction waits for its turn."""
_COMPANIONS = ("-wal", "-shm", "-journal")
"""Files of an open database, which are found again after a crash."""
_SUPER_JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""How a journal ends that names another file: one of a commit over several databases
(https://www.sqlite.org/atomiccommit.html, 5; `readSuperJournal` in SQLite's pager.c)."""
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def sqlite_path(target: str | Path) -> Path:
    """A path, or what follows sqlite:/// as it stands (a folder's name may hold % or ?).

    Raises:
      RegistryUnavailable: it names no file.
    """
    text = str(target)
    name = text.partition("://")[2].removeprefix("/") if "://" in text else text
    if not name or name == ":memory:":
        raise RegistryUnavailable("a registry needs a file: give its path, or sqlite:///PATH")
    return Path(name).absolute()


def obstacle(path: Path) -> str:
    """Why the file cannot be written, or ""; makes its folder.

    Raises:
      RegistryUnavailable: the folder cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RegistryUnavailable(
            f"the folder {path.parent} for the registry cannot be made: {error.strerror}"
        ) from error
    # SQLite writes its log beside the file, so that the folder counts as well.
    for part in (path.parent, path):
        if os.path.exists(part) and not os.access(part, os.W_OK):
            return f"{part} is read-only; check who owns it, or use another home"
    return ""


def reading_mode(path: Path) -> str:
    """How a database is opened that may not be written, as in SQLite's addresses; "" where it may.

    A file in WAL mode cannot be opened where its log cannot be made, unless it is declared to stay
    as it is.  No log means that nobody has it open to write.
    """
    if os.access(path.parent, os.W_OK) and os.access(path, os.W_OK):
        return ""
    return "ro" if os.path.exists(companions(path)["-wal"]) else "ro&immutable=1"


def address(path: Path) -> str:
    """What `sqlite3.connect` opens with uri=True: to read and write, or as it can be read."""
    return f"{path.absolute().as_uri()}?mode={reading_mode(path) or 'rwc'}"


def companions(path: Path) -> dict[str, str]:
    """What SQLite keeps beside a database, by ending: beside the file itself, not beside a link."""
    return {ending: f"{os.path.realpath(path)}{ending}" for ending in _COMPANIONS}


def check_files(path: Path) -> None:
    """Refuses what is no ordinary file, and a journal that would make SQLite delete another file.

    Raises:
      RegistryUnavailable: the file, or one that SQLite would open with it, is something else.
    """
    for file in (str(path), *companions(path).values()):
        try:
            mode = os.stat(file).st_mode
        except OSError:  # It is not there, or it cannot be reached: SQLite says which.
            continue
        if not stat.S_ISREG(mode):
            kind = _KINDS.get(stat.S_IFMT(mode), "no ordinary file")
            raise RegistryUnavailable(f"{file} is {kind}; a database is an ordinary file")
    journal = companions(path)["-journal"]
    with suppress(OSError), open(journal, "rb") as log:
        log.seek(-len(_SUPER_JOURNAL), os.SEEK_END)
        if log.read() == _SUPER_JOURNAL:
            raise RegistryCorrupt(
                f"the journal {journal} names another file, which SQLite would delete: Policy "
                "Arena writes no such journal; move it away"
            )


def make_private(path: Path) -> None:
    """Makes an empty file that only its owner can read: the registry keeps secrets.

    SQLite gives its log the same owner and mode.  A file that is there keeps its mode.

    Raises:
      RegistryUnavailable: it cannot be made.
    """
    try:
        # O_EXCL: to open and close a file that this process has open would end its locks.
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        os.close(os.open(os.path.realpath(path), flags, 0o600))
    except FileExistsError:
        return  # Another process was faster.
    except OSError as error:
        raise RegistryUnavailable(
            f"the registry {path} cannot be made: {error.strerror}"
        ) from error


def check_private(path: Path) -> None:
    """Checks the files of a database, makes an empty one where there is none, for its owner alone.

    Raises:
      RegistryUnavailable: they are something else, or it cannot be made.
    """
    check_files(path)
    if not path.exists():
        make_private(path)
    hide_from_others(path)


def hide_from_others(path: Path) -> None:
    """Takes from an existing file, and from its log, what everybody may do with them.

    What its owner and their group may do stays, and so does everything where the file belongs to
    somebody else or lies on a file system without such rights.
    """
    for file in (str(path), *companions(path).values()):
        with suppress(OSError):
            mode = stat.S_IMODE(os.stat(file).st_mode)
            if mode & stat.S_IRWXO:
                os.chmod(file, mode & ~stat.S_IRWXO)


def check_tables(connection: sa.Connection, where: str, version_table: str) -> None:
    """Refuses another program's file, and one in which something else plays a table's part.

    A view or a trigger in a table's name is a program that runs when the table is used.

    Raises:
      RegistryUnavailable: the file belongs to another program.
      RegistryCorrupt: one of our tables is none, or has triggers.
    """
    ours = {version_table, *(table.name for table in TABLES)}
    found = connection.exec_driver_sql("SELECT type, name, tbl_name, sql FROM sqlite_master").all()
    for kind, name, table, sql in found:
        virtual = str(sql).upper().startswith("CREATE VIRTUAL")
        if (str(name).lower() in ours and (kind != "table" or virtual)) or (
            str(table).lower() in ours and kind == "trigger"
        ):
            raise RegistryCorrupt(
                f"the registry {where} was edited: it has a {'virtual table' if virtual else kind} "
                f"{str(name)[:80]!r}, where a registry has tables alone; restore it from a copy"
            )
    tables = {str(name).lower() for kind, name, _, _ in found if kind == "table"}
    foreign = sorted(name for name in tables if not name.startswith("sqlite_"))
    if foreign and version_table not in tables:
        raise RegistryUnavailable(
            f"the file {where} is the database of another program (it has the table "
            f"{foreign[0][:80]!r} and none of a registry's): give another path"
        )


@contextmanager
def held_alone(lock: Path, busy: Exception) -> Iterator[None]:
    """Holds a lock file, which is made where there is none; ends with the process, however.

    Args:
      lock: the file.
      busy: what is raised where another process holds it.

    Raises:
      OSError: the file cannot be opened.
    """
    with open(lock, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise busy from error
        yield


def is_held(lock: Path) -> bool:
    """Whether a process holds a lock file.

    Asks for a share of the lock and gives that back at once, which keeps out nobody but who
    begins in the same microseconds; the kernel's list of locks would not show processes of other
    containers.

    Raises:
      OSError: the file cannot be opened.
    """
    descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def while_locked(attempt: Callable[[], object], seconds: float = LOCK_SECONDS) -> None:
    """Repeats while other processes hold the database.

    SQLite waits by itself for a plain lock, but answers "busy" at once in some moments around
    the opening, closing and recovery of the log: such as where two begin to use one.

    Args:
      attempt: what the database may refuse.
      seconds: after which its refusal holds.

    Raises:
      sqlite3.OperationalError: the last refusal, or anything else that was wrong.
    """
    deadline = time.monotonic() + seconds
    pause = 0.002
    while True:
        try:
            attempt()
            return
        except sqlite3.OperationalError as error:
            text = str(error)
            held = "locked" in text or "locking protocol" in text
            if not held or time.monotonic() > deadline:
                raise
        time.sleep(pause)
        pause = min(2 * pause, 0.1)
