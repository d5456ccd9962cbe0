"""Words that come from outside and leave on a terminal: nothing in them steers it."""

import json

import pytest

from arena.cli.session import Session, command, notice
from arena.errors import ArenaError, UsageFault

STEERING = "\x1b[2J\x1b]0;pwn\x07evil\u202e"
SEEN = "[U+001B][2J[U+001B]]0;pwn[U+0007]evil[U+202E]"


@pytest.mark.parametrize(("kind", "code"), [(UsageFault, 2), (ArenaError, 1)])
def test_an_error_shows_what_would_steer_the_terminal(tmp_path, capsys, kind, code):
    @command
    def fails(session: Session) -> None:
        raise kind(f"the server answered 401: {STEERING}")

    with pytest.raises(SystemExit) as exit_:
        fails(session=Session(tmp_path, None, as_json=True))
    told = capsys.readouterr()
    assert exit_.value.code == code
    assert told.err == f"error: the server answered 401: {SEEN}\n"
    assert "\x1b" not in told.out
    assert json.loads(told.out)["error"]["message"].endswith(STEERING)


def test_so_does_a_notice(capsys):
    notice(f"answered by {STEERING}\nin two lines")
    assert capsys.readouterr().err == f"answered by {SEEN}\nin two lines\n"


def test_an_answer_in_json_holds_nothing_that_steers_and_stays_the_same_document(tmp_path, capsys):
    unseen = "\x7f\x85\x9b31m\u200b\u202e\u2028\u2029\ufeff\U000e0041"
    document = {"name": f"é 猫 🂡 {STEERING}", unseen: [unseen, "\n\t"]}
    Session(tmp_path, None, as_json=True).answer(document, lambda _: None)
    told = capsys.readouterr().out
    assert json.loads(told) == document
    assert "é 猫 🂡" in told
    assert not any(one in told for one in [*unseen.replace("31m", ""), "\x1b", "\t"])
    assert "\\u009b31m" in told and "\\udb40\\udc41" in told
