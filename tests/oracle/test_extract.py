"""Replies to programs: strict, named refusals, and never an exception."""

import html
import json
import textwrap
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.extract import CodeBlock, code_blocks, extract_program, joined
from oracle.values import Failure, Rejected

POLICY = "class Agent:\n\n    def act(self, observation):\n        return 'ROCK'\n"
OTHER = POLICY.replace("ROCK", "PAPER")


def fenced(code, language="python", fence="```"):
    return f"{fence}{language}\n{code}{fence}\n"


def refusal(reply, **options):
    answer = extract_program(reply, "Agent", **options)
    assert isinstance(answer, Failure), answer
    assert answer.reason
    return answer.kind


@given(st.text(max_size=300))
def test_any_text_gives_a_program_or_a_reason(text):
    answer = extract_program(text, "Agent")
    assert isinstance(answer, (str, Failure))


@given(
    st.sampled_from(["", "Here it is:\n\n", "1. Idea\n2. Code\n\n"]),
    st.sampled_from(["", "python", "py", "Python title=x"]),
    st.sampled_from(["```", "````", "~~~"]),
    st.sampled_from(["", "\nIt plays rock."]),
)
def test_a_fenced_program_comes_back_as_it_is(before, language, fence, after):
    assert extract_program(before + fenced(POLICY, language, fence) + after, "Agent") == POLICY


def test_the_last_program_wins():
    assert extract_program(fenced(POLICY) + "Better:\n" + fenced(OTHER), "Agent") == OTHER


def test_a_later_block_that_is_no_program_does_not_count():
    reply = fenced(POLICY) + "Use it like this:\n" + fenced("agent = Agent()\n")
    assert extract_program(reply, "Agent") == POLICY


def test_a_fence_inside_a_docstring():
    docstring = '    """Plays:\n\n```\nrock\n```\n    """\n'
    code = POLICY.replace("\n\n", f"\n{docstring}\n", 1)
    assert extract_program(fenced(code), "Agent") == code


def test_windows_line_ends_and_indented_fences():
    assert extract_program(fenced(POLICY).replace("\n", "\r\n"), "Agent") == POLICY
    indented = "".join(f"  {line}\n" for line in fenced(POLICY).splitlines())
    assert extract_program(indented, "Agent") == POLICY


def test_bare_code_and_unclosed_code_count_only_when_whole():
    assert extract_program(POLICY, "Agent") == POLICY
    assert extract_program("```python\n" + POLICY, "Agent") == POLICY
    assert refusal("```python\n" + POLICY, cut_off=True) is Rejected.TRUNCATED
    assert refusal("```python\n" + POLICY[:-20]) is Rejected.TRUNCATED


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (None, Rejected.EMPTY),
        ("  \n", Rejected.EMPTY),
        ("I cannot help with that.", Rejected.NO_CODE),
        (fenced("x = 1\n"), Rejected.NOT_A_POLICY),
        (fenced("class Agent(:\n  pass\n"), Rejected.NOT_A_POLICY),
        ("x" * 500_000, Rejected.NO_CODE),
    ],
)
def test_refusals_have_a_kind(reply, kind):
    assert refusal(reply) is kind


def test_a_syntax_error_is_told_with_its_line():
    answer = extract_program(fenced("class Agent:\n    def act(self o):\n        pass\n"), "Agent")
    assert isinstance(answer, Failure)
    assert "line 2" in answer.reason


def test_blocks_know_their_language_and_whether_they_are_closed():
    assert code_blocks("a\n```Python\nx\n```\nb\n~~~\ny") == (
        CodeBlock("python", "x", True),
        CodeBlock("", "y", False),
    )


PLAYER = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"


@pytest.mark.parametrize(
    "reply",
    [
        f"```python\n{PLAYER}```<|im_end|>",
        f"```python\n{PLAYER.rstrip()}```",
        f"```python\n{PLAYER}``` That is all.",
        f"Here it is: ```python\n{PLAYER}```",
        f"<answer>```python\r\n{PLAYER}```</answer>",
        f"```python\n```python\n{PLAYER}```\n```",
        f"```markdown\n# Plan\n```python\n{PLAYER}```\n```",
        "1.  The program:\n\n" + textwrap.indent(f"```python\n{PLAYER}```\n", "    "),
    ],
    ids=["token", "glued", "words", "in-line", "tag", "twice", "in-prose", "list"],
)
def test_a_whole_program_between_untidy_fences_is_found(reply):
    assert extract_program(reply, "Agent") == PLAYER


def test_untidy_fences_are_not_trusted_where_the_reply_was_cut_off():
    reply = f"```python\n{PLAYER}# as in ```Agent().act(observation)"
    assert isinstance(extract_program(reply, "Agent", cut_off=True), Failure)


def test_a_byte_order_mark_is_no_part_of_a_program():
    program = "class Agent:\n    def act(self, observation):\n        return 'ROCK'\n"
    assert extract_program(f"```python\n\ufeff{program}```", "Agent") == program


def is_sound(source):
    return "return" in source


PART = "class Agent:\n    def helper(self):\n        pass\n"
SKETCH = (
    "class Agent:\n    def act(self, observation):\n        # return something else\n        ...\n"
)
SHORT = "class Agent:\n    def act(self, observation): ...  # return what it did\n"


@pytest.mark.parametrize("shown", [PART, SKETCH, SHORT])
def test_what_shows_a_change_again_is_not_taken_for_the_program(shown):
    whole = f"{fenced(OTHER)}As it was:\n{fenced(POLICY)}"
    for reply in (f"{whole}The change:\n{fenced(shown)}", f"{fenced(shown)}\n{whole}"):
        assert extract_program(reply, "Agent", is_sound=is_sound) == POLICY


def test_where_nothing_is_whole_the_last_program_is_judged():
    assert extract_program(fenced(SKETCH) + fenced(PART), "Agent", is_sound=is_sound) == PART
    assert extract_program(fenced(PART) + fenced(SKETCH), "Agent", is_sound=is_sound) == SKETCH
    assert extract_program(fenced(SKETCH), "Agent", is_sound=is_sound) == SKETCH


def test_three_dots_in_words_leave_nothing_out():
    talkative = POLICY.replace(
        "\n\n", '\n    """It plays:\n    ...\n    """\n    # and so on:\n    # ...\n', 1
    )
    reply = fenced(OTHER) + fenced(talkative)
    assert extract_program(reply, "Agent", is_sound=is_sound) == talkative


def test_a_body_of_dots_that_is_none_of_the_policy_s_leaves_nothing_out():
    base = f"class Guess:\n    def guess(self, history): ...\n\n\n{OTHER}"
    assert extract_program(fenced(POLICY) + fenced(base), "Agent", is_sound=is_sound) == base
    remark = OTHER.replace(
        "        return", "        # Counts as before, but from 1.\n        return"
    )
    assert extract_program(fenced(POLICY) + fenced(remark), "Agent", is_sound=is_sound) == remark


@pytest.mark.parametrize("end", ["```<|im_end|>\n", "```", "", "``` That is all.", "</s>"])
def test_the_last_program_counts_however_it_is_closed(end):
    reply = f"First draft:\n{fenced(POLICY)}Final:\n```python\n{OTHER}{end}"
    assert extract_program(reply, "Agent", is_sound=is_sound) == OTHER
    if end:
        glued = reply.replace(f"\n{end}", end)
        assert extract_program(glued, "Agent", is_sound=is_sound) == OTHER


@pytest.mark.parametrize(
    "reply",
    [
        f"<answer>\n{POLICY}</answer>",
        f"I copy.\n<code>\n{POLICY}</code>\nThat is all.",
        f"<answer>\n<![CDATA[\n{POLICY}]]>\n</answer>",
        f"[PYTHON]\n{POLICY}[/PYTHON]",
        f"{POLICY}```\nIt copies.",
        f"python\n{POLICY}```",
        f"{POLICY}<|eot_id|>",
        f"```python\n{POLICY}<end_of_turn>\n",
        json.dumps({"plan": "copy", "code": POLICY}),
        fenced(json.dumps({"code": POLICY}, indent=1), "json"),
        '{"code": "' + POLICY + '"}',
        POLICY.replace("_", r"\_").replace("'ROCK'", "\u2018ROCK\u2019"),
        fenced(html.escape(POLICY)),
    ],
)
def test_a_program_without_fences_is_found_where_nothing_else_is(reply):
    assert extract_program(reply, "Agent") == POLICY


def test_texts_in_json_are_not_trusted_where_the_reply_was_cut_off():
    reply = json.dumps({"code": POLICY})
    assert refusal(reply, cut_off=True) is Rejected.TRUNCATED


def test_a_block_with_words_in_it_is_not_said_to_be_too_long():
    assert "shorter" not in reason(f"```python\n{POLICY}That beats rock.")
    assert "is not closed" in reason(f"```python\n{POLICY}That beats rock.")


@pytest.mark.parametrize(
    "text",
    [
        " " * 390_000 + "x",
        "</s>" * 90_000,
        ' ,"\\' * 90_000,
        "<a>" * 120_000,
        "``` " * 90_000,
        "\n<a>" * 90_000,
        "[PYTHON]" * 45_000 + "x",
    ],
)
def test_long_replies_are_read_in_no_time(text):
    started = time.process_time()
    for reply in (text, f"```\nclass Agent(\n{text}", f"{text}Agent"):
        extract_program(reply, "Agent")
    assert time.process_time() - started < 20.0


def test_closed_blocks_are_joined_in_order():
    assert joined(f"a\n{fenced('x = 1' + chr(10))}b\n{fenced(POLICY)}```python\ny") == (
        f"x = 1\n\n\n{POLICY}"
    )
    assert joined(fenced(POLICY)) == ""


def test_the_only_program_is_not_checked_here():
    asked = []
    assert extract_program(fenced(POLICY), "Agent", is_sound=asked.append) == POLICY
    assert asked == []
    assert extract_program(fenced(POLICY) * 400, "Agent", is_sound=lambda _: False) == POLICY


@pytest.mark.parametrize(
    ("plain", "uncommon"),
    [("        ", "\u00a0" * 8), ("return 'R", "return\u202f'R"), ("def act", "def \u200bact")],
)
def test_uncommon_blanks_are_taken_for_plain_ones(plain, uncommon):
    reply = fenced(POLICY.replace(plain, uncommon))
    assert extract_program(reply, "Agent") == POLICY
    assert refusal(reply.replace("act(", "act((")) is Rejected.NOT_A_POLICY


def test_a_program_that_can_be_read_keeps_its_blanks():
    odd = POLICY.replace("ROCK", "\u00a0\u3000\u200b\u2060")
    assert extract_program(fenced(odd), "Agent") == odd
    assert extract_program(odd, "Agent") == odd


def reason(reply):
    answer = extract_program(reply, "Agent")
    assert isinstance(answer, Failure), answer
    return answer.reason


def test_what_is_wrong_is_told_where_only_the_fence_is_missing():
    wrong, other = POLICY.replace("self,", "self,,"), POLICY.replace("Agent", "Player")
    for behind in ("", "``` That is all."):
        assert "line 3: invalid syntax" in reason(f"```python\n{wrong}{behind}")
        assert "no code block defines the class Agent" in reason(f"```python\n{other}{behind}")
    assert "line 3: invalid syntax" in reason(fenced(wrong) + "```\n")


@pytest.mark.parametrize(
    "end",
    [
        "    def f(self",
        "    def f(self):",
        "    def f(self):\n\n",
        "    X = '''a\nb\n",
        "    X = 'a",
    ],
)
def test_code_that_ends_in_its_middle_is_told_as_such(end):
    assert refusal(f"```python\n{POLICY}{end}") is Rejected.TRUNCATED
    assert refusal(fenced(f"{POLICY}{end}\n")) is Rejected.NOT_A_POLICY


def test_a_part_before_something_like_a_fence_is_not_trusted_where_the_reply_was_cut_off():
    reply = f"```python\n{POLICY}``` That was all, but\nfor"
    assert extract_program(reply, "Agent") == POLICY
    assert refusal(reply, cut_off=True) is Rejected.TRUNCATED
