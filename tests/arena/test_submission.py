"""From a file to a submission: everything that can be wrong with the file, and nothing run."""

import os
import re
import socket
import warnings
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.games import GAMES
from arena.submission import Rejection, RejectionKind, Source, as_source, prepare, read_source
from registry import MalformedName, MalformedSubmission, Registry, Status, Submission

COPYCAT = '''\
class Agent:
    """Throws what the opponent threw before,
    and ROCK at first.

    More about it.
    """

    def act(self, observation):
        return observation["opponent_action"] or "ROCK"
'''
RRPS = GAMES["rrps"]


def rejection(path: Path) -> Rejection:
    found = prepare(RRPS, path, name="ada/copycat")
    assert isinstance(found, Rejection)
    assert found == read_source(path) or found.kind not in (
        RejectionKind.FILE_MISSING,
        RejectionKind.IS_DIRECTORY,
        RejectionKind.UNREADABLE,
    )
    return found


def test_a_good_file_becomes_a_submission(tmp_path: Path) -> None:
    path = tmp_path / "copycat.py"
    path.write_bytes(b"\xef\xbb\xbf" + COPYCAT.replace("\n", "\r\n").encode())
    submission = prepare(
        RRPS, path, name="ada/copycat", labels={"k": "v"}, provenance={"year": 2026}
    )
    assert isinstance(submission, Submission)
    assert submission.payload == COPYCAT
    assert (submission.game, submission.kind, submission.name) == ("rrps", "python", "ada/copycat")
    assert submission.description == "Throws what the opponent threw before, and ROCK at first."
    assert submission.labels == {"k": "v"}
    assert submission.provenance == {"year": 2026}
    assert submission.status is Status.QUALIFIED
    assert re.fullmatch("3:[0-9a-f]{32}", submission.code_digest)
    same = prepare(RRPS, COPYCAT, name="bob/x", description="Mine.", status=Status.CANDIDATE)
    assert isinstance(same, Submission)
    assert (same.payload, same.code_digest) == (submission.payload, submission.code_digest)
    assert (same.description, same.status) == ("Mine.", Status.CANDIDATE)
    with Registry.open(tmp_path / "registry.sqlite") as registry:
        assert registry.submit(submission).created
        assert not registry.submit(same).created


def test_a_long_docstring_is_cut(tmp_path: Path) -> None:
    source = COPYCAT.replace("Throws", "word " * 5000 + "\\udc80")
    submission = prepare(RRPS, source, name="ada/copycat")
    assert isinstance(submission, Submission)
    assert len(submission.description) == 300
    assert submission.description.endswith("...")


def test_a_strange_docstring_can_be_stored(tmp_path: Path) -> None:
    source = COPYCAT.replace("Throws", "\\0 \\udc80 \\x1b[31m <b>")
    submission = prepare(RRPS, source, name="ada/copycat")
    assert isinstance(submission, Submission)
    with Registry.open(tmp_path / "registry.sqlite") as registry:
        stored = registry.submit(submission).version
        assert registry.get("rrps", stored.ref).description == submission.description


def test_a_missing_file(tmp_path: Path) -> None:
    found = rejection(tmp_path / "none.py")
    assert found.kind == RejectionKind.FILE_MISSING
    assert found.message == f"there is no file {tmp_path / 'none.py'}"
    (tmp_path / "file").write_text("")
    assert rejection(tmp_path / "file" / "x.py").kind == RejectionKind.FILE_MISSING
    assert rejection(Path("a\0b")).kind == RejectionKind.FILE_MISSING
    (tmp_path / "link.py").symlink_to(tmp_path / "none.py")
    assert rejection(tmp_path / "link.py").kind == RejectionKind.FILE_MISSING


def test_a_folder(tmp_path: Path) -> None:
    found = rejection(tmp_path)
    assert found.kind == RejectionKind.IS_DIRECTORY
    assert found.message == f"{tmp_path} is a folder; give the policy's Python file"


def test_what_cannot_be_read(tmp_path: Path) -> None:
    loop = tmp_path / "loop.py"
    loop.symlink_to(loop)
    assert rejection(loop).kind == RejectionKind.UNREADABLE
    assert "check its permissions" in rejection(loop).message
    assert rejection(tmp_path / ("x" * 300)).kind == RejectionKind.UNREADABLE


def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "secret.py"
    path.write_text(COPYCAT)
    path.chmod(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Forking a process with threads.
        child = os.fork()
    if child == 0:  # Root may read everything: look as somebody else.
        if os.geteuid() == 0:
            os.setuid(65534)
        found = prepare(RRPS, path, name="ada/copycat")
        refused = isinstance(found, Rejection) and found.kind == RejectionKind.UNREADABLE
        os._exit(0 if refused else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_pipes_sockets_and_devices_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        for path in (tmp_path / "pipe", tmp_path / "socket", Path("/dev/zero"), Path("/dev/null")):
            assert rejection(path).kind == RejectionKind.UNREADABLE
    assert "no ordinary file" in rejection(tmp_path / "pipe").message


@pytest.mark.parametrize(
    ("data", "line", "text"),
    [
        (b"x = 1\n\xff\xfe", 2, "is not UTF-8 text: byte 0xff on line 2; save it as UTF-8"),
        (COPYCAT.encode("utf-16"), 1, "is not UTF-8 text"),
        (b"# -*- coding: latin-1 -*-\n# \xe4", 2, "byte 0xe4 on line 2"),
        (b"\x7fELF\0\0", 1, "NUL byte"),
    ],
)
def test_bytes_that_are_no_text(tmp_path: Path, data: bytes, line: int, text: str) -> None:
    path = tmp_path / "bot.py"
    path.write_bytes(data)
    found = rejection(path)
    assert (found.kind, found.line) == (RejectionKind.NOT_TEXT, line)
    assert text in found.message


def test_a_cookie_is_only_a_comment(tmp_path: Path) -> None:
    path = tmp_path / "bot.py"
    path.write_text("# -*- coding: utf7 -*-\n" + COPYCAT.replace("More", "Mehr über"), "utf-8")
    assert isinstance(prepare(RRPS, path, name="ada/x"), Submission)


def test_a_large_file_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "bot.py"
    path.write_text("")
    os.truncate(path, 1 << 40)
    found = rejection(path)
    assert found.kind == RejectionKind.TOO_LARGE
    assert f"has {1 << 40:,} bytes and a policy may have 65,536" in found.message
    path.write_text(COPYCAT + "#" * (65_536 - len(COPYCAT)))
    assert isinstance(prepare(RRPS, path, name="ada/x"), Submission)
    path.write_text(COPYCAT + "#" * (65_537 - len(COPYCAT)))
    assert rejection(path).kind == RejectionKind.TOO_LARGE


def test_static_checks_are_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "bot.py"
    path.write_text("import os\n" + COPYCAT)
    found = rejection(path)
    assert (found.kind, found.line) == (RejectionKind.IMPORT_NOT_ALLOWED, 1)
    assert isinstance(prepare(GAMES["leduc"], COPYCAT, name="a/b"), Rejection)


def test_what_the_caller_got_wrong_is_an_error() -> None:
    with pytest.raises(MalformedName, match="write AUTHOR/NAME"):
        prepare(RRPS, COPYCAT, name="copycat")
    with pytest.raises(MalformedSubmission, match="label k"):
        prepare(RRPS, COPYCAT, name="ada/x", labels={"k": "v" * 1000})
    with pytest.raises(MalformedSubmission, match="NUL"):
        prepare(RRPS, COPYCAT, name="ada/x", description="\0")


def test_line_ends_and_marks_are_made_alike() -> None:
    texts = ["\ufeffa\r\nb\rc\n", "a\nb\nc\n"]
    assert [as_source(text) for text in texts] == [Source("a\nb\nc\n")] * 2


@given(data=st.binary(max_size=300))
@example(b"\xef\xbb\xbf")
@example(b"\r\r\n\r")
@example(b"class Agent:\r def act(self, o): return 'ROCK'\r")
@example(b"\xed\xa0\x80")
@example(b"\x1a")
def test_any_bytes_get_a_verdict(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.py"
    path.write_bytes(data)
    found = prepare(RRPS, path, name="any/bytes")
    if isinstance(found, Rejection):
        assert found.kind in set(RejectionKind)
        assert found.message
    else:
        compile(found.payload, "policy", "exec")
