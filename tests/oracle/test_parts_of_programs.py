"""Replies that hold a part of a program, an old one or a doubled one: none of them is taken."""

from __future__ import annotations

import pytest

from oracle.drafts import Draft
from oracle.models.protocol import Finish, Reply
from oracle.values import Failure, Rejected
from oracle.writer import read_reply
from tests.oracle.stated_returns import a_task, score_of

TASK = a_task()
WHOLE = '''import random

BEATS = {"ROCK": "PAPER", "PAPER": "SCISSORS", "SCISSORS": "ROCK"}


class Agent:
    """Beats the last throw."""

    def __init__(self):
        self.count = 0

    def act(self, observation):
        self.count += 1
        last = observation["opponent_action"]
        if last is None:
            return random.choice(list(BEATS))
        return BEATS[last]
'''
LAST = "        return BEATS[last]"
OTHER = WHOLE.replace("BEATS[last]", "BEATS[BEATS[last]]")
HEAD, CLASS = WHOLE[: WHOLE.index("class")], WHOLE[WHOLE.index("class") :]


def fenced(code: str, language: str = "python") -> str:
    return f"```{language}\n{code.rstrip()}\n```\n"


def block(search: str, replace: str) -> str:
    return f"```python\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n```\n"


def written(text: str, draft: Draft | None = None) -> str | Failure:
    return read_reply(TASK, draft or Draft("a00"), Reply(text))


def edited(text: str) -> str | Failure:
    score = score_of(TASK, -3.0)
    return written(text, Draft("a01", source=WHOLE, score=score, edit=True))


def refused(answer: str | Failure, kind: Rejected = Rejected.NOT_A_POLICY) -> str:
    assert isinstance(answer, Failure), answer
    assert answer.kind is kind
    return answer.reason


def test_a_part_is_sent_back_with_what_it_lacks() -> None:
    assert "line 11: the name random is defined nowhere" in refused(written(fenced(CLASS)))
    unset = WHOLE.replace("        self.count = 0", "        pass").replace(
        "        self.count += 1\n", "        print(self.count)\n"
    )
    assert "self.count is set nowhere" in refused(written(fenced(unset)))
    for reply in (fenced(CLASS), f"<replace>\n{fenced(CLASS)}</replace>"):
        assert "the name random is defined nowhere" in refused(edited(reply))


def test_a_part_that_is_shown_behind_the_program_is_not_taken() -> None:
    part = CLASS.replace("BEATS[last]", "BEATS[BEATS[last]]")
    assert written(f"{fenced(WHOLE)}What is new:\n{fenced(part)}") == WHOLE


@pytest.mark.parametrize(
    "reply",
    [
        f"First what it needs:\n{fenced(HEAD)}Then the class:\n{fenced(CLASS)}",
        f"{fenced('import random')}{fenced(HEAD.partition('random')[2])}{fenced(CLASS)}",
    ],
)
def test_blocks_that_are_a_program_only_together_are_joined(reply: str) -> None:
    answer = written(reply)
    assert isinstance(answer, str)
    assert answer.split() == WHOLE.split()


@pytest.mark.parametrize(
    "program",
    [
        WHOLE.replace("class Agent:", "class Beater:") + "\n\nAgent = Beater\n",
        WHOLE.replace("class Agent:", "class Beater:")
        + '\n\nAgent = type("Agent", (Beater,), {})\n',
        f"{WHOLE}\n\nAgent = Agent\n",
        f"if True:\n    pass\n{HEAD}try:\n"
        + "".join(f"    {one}\n" for one in CLASS.split("\n"))
        + "finally:\n    pass\n",
    ],
)
def test_a_class_may_be_made_in_any_way(program: str) -> None:
    assert written(fenced(program)) == program


def test_who_only_uses_the_class_does_not_make_it() -> None:
    for use in ("from program import Agent\nprint(Agent())", "Agent = Beater\nprint(Agent())"):
        assert written(f"{fenced(WHOLE)}To try it:\n{fenced(use)}") == WHOLE
        assert "no code block defines the class Agent" in refused(written(fenced(use)))


def test_blocks_that_do_not_make_one_program_are_not_joined() -> None:
    assert "defined nowhere" in refused(written(fenced("x = 1") + fenced(CLASS)))
    assert "defined nowhere" in refused(written(fenced(CLASS) + fenced(HEAD + CLASS[:-9]) * 2))


def test_a_program_that_says_that_it_leaves_code_out_is_sent_back() -> None:
    sketch = WHOLE.replace("        self.count += 1", "        # ... existing code ...")
    told = refused(written(fenced(sketch)))
    assert 'line 13: "# ... existing code ..." stands for code that is not there' in told
    both = refused(edited(fenced(sketch)), Rejected.BAD_EDIT)
    assert both == f"there is no SEARCH/REPLACE block in the reply, and as a whole program: {told}"
    commented = Draft("a02", source=sketch, score=score_of(TASK, 1.0))
    changed = sketch.replace("[last]", "[BEATS[last]]")
    assert written(fenced(changed), commented) == changed  # its own program has it as well


def test_the_program_to_start_from_is_not_taken_where_it_is_quoted() -> None:
    revision = Draft("a01", source=WHOLE, score=score_of(TASK, -3.0))
    behind = f"{fenced(OTHER)}For comparison, the program so far:\n{fenced(WHOLE)}"
    assert written(behind, revision) == OTHER
    marks = f"{fenced(WHOLE)}I change:\n<<<<<<< SEARCH\n{LAST}\n=======\n"
    assert "REPLACE line" in refused(edited(marks), Rejected.BAD_EDIT)
    assert "no SEARCH/REPLACE block" in refused(edited(fenced(WHOLE)), Rejected.BAD_EDIT)


def test_edits_that_leave_the_old_code_beside_the_new_are_sent_back() -> None:
    reason = refused(edited(block("import random", OTHER)), Rejected.BAD_EDIT)
    assert "Agent stands in the program twice" in reason
    method = block('    """Beats the last throw."""', CLASS[CLASS.index("    def __init__") :])
    assert "Agent.__init__ stands" in refused(edited(method), Rejected.BAD_EDIT)
    doubled = Draft(
        "a01",
        source=f"{WHOLE}\n\ndef f(): pass\ndef f(): pass\n",
        score=score_of(TASK, 1.0),
        edit=True,
    )
    answer = written(block(LAST, "        return 'ROCK'"), doubled)
    assert isinstance(answer, str)  # it was so before


@pytest.mark.parametrize(
    "reply",
    [
        fenced(f"@@ -16,1 +16,1 @@\n-{LAST}\n+        return BEATS[BEATS[last]]", "diff"),
        f"*** Begin Patch\n@@\n-{LAST}\n+        return BEATS[BEATS[last]]\n*** End Patch\n",
        block(LAST.replace("  ", "\u00a0 "), "        return BEATS[BEATS[last]]"),
        block(LAST, "\u00a0       return BEATS[BEATS[last]]"),
        block(LAST, "        return BEATS[BEATS[last]]").replace("<", "&lt;").replace(">", "&gt;"),
        block("", OTHER),
        block(LAST, "        return (") + fenced(OTHER),
    ],
    ids=["diff", "patch", "blank-search", "blank-replace", "html", "empty-search", "broken-beside"],
)
def test_edits_of_a_plain_meaning_cost_no_repair(reply: str) -> None:
    assert edited(reply) == OTHER


def test_what_the_program_so_far_leaves_undefined_may_stay_so() -> None:
    loose = f"{WHOLE}\n\ndef unused():\n    return never_defined\n"
    draft = Draft("a01", source=loose, score=score_of(TASK, 1.0), edit=True)
    answer = written(block("        self.count = 0", "        self.count = 1"), draft)
    assert answer == loose.replace("count = 0", "count = 1")
    assert "defined nowhere" in refused(written(block(LAST, "        return strange"), draft))


def test_what_made_a_program_fail_may_not_stay_so() -> None:
    loose = WHOLE.replace("return BEATS[last]", "return never_defined")
    failed = Draft("a01", source=loose, failure=Failure(Rejected.FAULTY, "NameError"), edit=True)
    again = loose.replace("self.count = 0", "self.count = 1")
    assert "never_defined is defined nowhere" in refused(written(fenced(again), failed))


def test_a_whole_program_goes_before_a_diff_that_shows_a_part_of_it() -> None:
    new = OTHER.replace("self.count = 0", "self.count = 7")
    diff = fenced(f"@@\n-{LAST}\n+        return BEATS[BEATS[last]]", "diff")
    assert edited(f"{fenced(new)}The main change:\n{diff}") == new
    cut = f"{fenced(new)}The main change:\n{diff[:30]}"
    answer = read_reply(
        TASK,
        Draft("a01", source=WHOLE, score=score_of(TASK, 1.0), edit=True),
        Reply(cut, Finish.CUT_OFF),
    )
    assert answer == new


@pytest.mark.parametrize(
    "text", ["&#" + "1" * 5_000, "\\" * 1_100 + "_", "&" + "amp;" * 1_100, "&#x110000;"]
)
def test_whatever_a_page_could_mean_is_no_error(text: str) -> None:
    for reply in (text, f"```python\n{text}\n```", block(text, text)):
        for answer in (written(reply), edited(reply)):
            assert isinstance(answer, Failure)


def test_a_quoted_program_and_a_diff_is_the_diff() -> None:
    diff = fenced(f"@@\n-{LAST}\n+        return BEATS[BEATS[last]]", "diff")
    assert edited(fenced(WHOLE) + diff) == OTHER
