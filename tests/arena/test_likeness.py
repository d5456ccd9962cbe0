"""Programs that are copies of each other, or nearly, are reported."""

import pytest

from arena.contest.likeness import alike
from tests.arena.contests import COPY, KUHN, OTHER, SECOND, taking
from tests.conftest import ROOT


def test_a_copy_with_a_few_changes_is_reported_and_another_idea_is_not():
    touched = COPY.replace("self.moves += 1", "self.moves += 1\n        extra = [self.moves, 3]")
    found = alike([taking("ada/x", OTHER), taking("bob/x", touched), taking("cy/x", SECOND)], "")
    assert [(one["one"], one["other"], one["same"]) for one in found] == [
        ("ada/x@1", "bob/x@1", False)
    ]
    assert 0.6 <= found[0]["likeness"] < 1.0
    assert alike([taking("ada/x", OTHER), taking("ada/y", touched)], "") == ()
    assert alike([taking("ada/x", OTHER), taking("bob/x", OTHER, kind="neural")], "") == ()


def test_what_everybody_has_from_the_starter_counts_for_nobody():
    starter = KUHN.starter.source
    both = [taking("ada/x", starter + "\nA = 1\n"), taking("bob/x", starter + "\nB = [2]\n")]
    assert len(alike(both, "")) == 1
    assert alike(both, starter) == ()


def test_programs_of_one_style_are_far_from_copies():
    files = [*ROOT.glob("examples/*.py"), *ROOT.glob("arena/games/*/starter.py")]
    assert len(files) >= 5
    everybody = [taking(f"a{n}/x", file.read_text()) for n, file in enumerate(sorted(files))]
    found = alike(everybody, "", least=0.0)
    assert len(found) == len(files) * (len(files) - 1) // 2
    assert max(float(one["likeness"]) for one in found) < 0.2


@pytest.mark.parametrize("text", ["class", "\0", "(" * 5_000, "x = " + "-" * 60_000 + "1", ""])
def test_texts_that_are_no_program_are_like_nothing(text):
    assert alike([taking("ada/x", text), taking("bob/x", text)], "") == ()
