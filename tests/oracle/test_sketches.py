"""Programs that leave code out are told from those that only talk."""

from __future__ import annotations

import time

import pytest

from oracle.sketches import is_sketch, left_out

WHOLE = 'class Agent:\n    """Plays."""\n\n    def act(self, o):\n        return o or "ROCK"\n'


@pytest.mark.parametrize(
    "comment",
    [
        "# ... existing code ...",
        "# ...existing code...",
        "# ... (rest unchanged)",
        "# \u2026 rest of the class",
        "# rest of the methods unchanged",
        "# The rest of the code remains the same.",
        "# remaining methods stay the same",
        "# Other methods remain the same as before",
        "# (unchanged)",
        "pass  # unchanged",
        "pass  # same as before",
        "# everything else stays the same",
        "# ... __init__ as above ...",
        "# (other helper methods remain unchanged)",
        "# rest unchanged",
        "# ...",
        "# omitted for brevity",
        "# [previous code here]",
        "# --- existing code ---",
        "# keep the existing code",
    ],
)
def test_comments_that_stand_for_code(comment: str) -> None:
    program = WHOLE.replace("        return", f"        {comment}\n        return")
    assert left_out(program) == (5, comment)
    assert left_out(program, ["x", f"  {comment} "]) is None
    assert is_sketch(program)


@pytest.mark.parametrize(
    "comment",
    [
        "# Counts as before, but from 1.",
        "# Weights decay as above.",
        "# ...but only if we are winning",
        "# Guess the next throw...",
        "# Our counts stay unchanged",
        "# Other methods",
        "# The rest of the hands",
        "# Old moves",
        "# A throw that is omitted counts as rock",
        "x = 1  # as before",
        "# Same as above",
        "# Previous throw was the same",
        "# Previous two throws are the same",
        "# Remaining hands: play as before",
        "# Other player stays",
        "# Other cards as above",
        "# The rest of the hands are the same",
        "# Rest of the hand remains",
        "# Original logic",
        "# Previous implementation:",
        "# ... otherwise at random",
        "# ... then bluff more often",
        "# " + "existing code and " * 9,
    ],
)
def test_comments_that_only_talk(comment: str) -> None:
    assert left_out(WHOLE.replace("        return", f"        {comment}\n        return")) is None


def test_dots_alone_count_where_there_is_less_of_it() -> None:
    dotted = WHOLE.replace('return o or "ROCK"', "...")
    assert is_sketch(dotted) and is_sketch(dotted, [WHOLE])
    protocol = f"class Guess:\n    def guess(self, h): ...\n\n\n{WHOLE}"
    assert is_sketch(protocol)
    assert not is_sketch(protocol, [WHOLE])  # it has all of it, and more
    assert not is_sketch(WHOLE.replace("Plays.", "Plays ..."))


def test_long_texts_take_no_time() -> None:
    started = time.process_time()
    for line in ("# " + "(" * 90, "# " + "existing " * 10, "#" * 90, " " * 90):
        left_out(f"{line}\n" * 4_000)
    left_out("#" * 400_000)
    for text in ('"""\\"""\\', '"""\\', '"', "'\\", "\\"):
        is_sketch("x = '" + text * (60_000 // len(text)))
    left_out("# " + " " * 400_000)
    assert time.process_time() - started < 20.0
