"""SEARCH/REPLACE blocks: all exact matches, then forgiven blanks, then one unique indent."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.source_check import MAX_BYTES
from oracle.edits import Edit, apply_edits, parse_edits, without_edits
from oracle.values import Failure, Rejected

SOURCE = "class A:\n    x = 1\n    y = 2\n\n    def f(self):\n        x = 1\n        return x\n"


def block(search, replace):
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


def edited(reply, source=SOURCE):
    edits = parse_edits(reply)
    return edits if isinstance(edits, Failure) else apply_edits(source, edits)


def refused(reply, source=SOURCE):
    answer = edited(reply, source)
    assert isinstance(answer, Failure), answer
    assert answer.kind is Rejected.BAD_EDIT
    return answer.reason


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_gives_a_program_or_a_reason(reply, source):
    assert isinstance(edited(reply, source), (str, Failure))


def test_an_exact_match_is_replaced():
    assert edited(block("    y = 2", "    y = 3\n    z = 4")) == SOURCE.replace(
        "    y = 2", "    y = 3\n    z = 4"
    )


def test_all_exact_matches_are_replaced():
    source = "a\nb\na\nb\na\n"
    assert edited(block("a", "c"), source) == "c\nb\nc\nb\nc\n"


def test_overlapping_matches_are_taken_from_the_top():
    assert edited(block("a\na", "b"), "a\na\na\n") == "b\na\n"


def test_blocks_apply_in_order():
    assert edited(block("    y = 2", "    y = 3") + block("    y = 3", "    y = 4")) == (
        SOURCE.replace("y = 2", "y = 4")
    )


def test_trailing_blanks_are_forgiven():
    assert edited(block("    y = 2   ", "    y = 3")) == SOURCE.replace("y = 2", "y = 3")


def test_a_unique_shift_of_the_indentation_is_forgiven():
    assert edited(block("x = 1\nreturn x", "x = 5\nreturn x")) == SOURCE.replace(
        "        x = 1\n        return x", "        x = 5\n        return x"
    )


@pytest.mark.parametrize("first", ["", "    "])
def test_a_first_line_that_alone_lost_its_blanks_gets_them_back(first):
    want = SOURCE.replace("f(self)", "f(self, z)").replace("return x", "return z")
    search = "def f(self):\n        x = 1\n        return x"
    replace = f"{first}def f(self, z):\n        x = 1\n        return z"
    assert edited(block(search, replace)) == want
    tabs, wanted = (one.replace("    ", "\t") for one in (SOURCE, want))
    assert edited(block(search, replace), tabs) == wanted
    assert edited(block("x = 1\n    y = 2", "x = 3\n    y = 2")) == SOURCE.replace(
        "    x = 1\n    y", "    x = 3\n    y"
    )
    twice = SOURCE + SOURCE
    assert "in 2 places" in refused(block(search, replace), twice)
    deeper = SOURCE.replace("\n    def", "\n     def") + SOURCE
    assert "not in the program" in refused(block(search, replace), deeper)


@pytest.mark.parametrize(
    ("search", "replace"),
    [
        ("\n    y = 2", "    y = 3"),
        ("    y = 2\n\n\n", "    y = 3\n"),
        ("    x = 1\n\n    y = 2", "    x = 1\n    y = 3"),
        ("    y  =  2", "    y = 3"),
        ("y  = 2", "y = 3"),
    ],
)
def test_blanks_within_lines_and_empty_lines_are_forgiven_in_a_unique_place(search, replace):
    assert edited(block(search, replace)) == SOURCE.replace("y = 2", "y = 3")
    twice = SOURCE + SOURCE
    if search != "    y = 2\n\n\n":
        assert "2 places" in refused(block(search, replace), twice)


def test_an_empty_line_that_the_search_leaves_out_goes_with_the_rest():
    assert edited(block("    y = 2\n    def f(self):", "    def g(self):")) == SOURCE.replace(
        "    y = 2\n\n    def f(self):", "    def g(self):"
    )


def test_no_end_of_looking_for_a_place_but_for_blanks_is_waited_for():
    lines = "x\n" * 60_000
    search = "x\n" * 30_000 + " y"
    assert "not in the program" in refused(block(search, "z"), lines)


@pytest.mark.parametrize(
    "comment", ["# ... existing code ...", "# (unchanged)", "pass  # as before"]
)
def test_a_replacement_that_leaves_lines_out_is_refused(comment):
    quoted = "    def f(self):\n        x = 1\n        return x"
    reply = block(quoted, f"    def f(self):\n        {comment}\n        return 2 * x")
    assert f'"{comment}" stands for lines that are not there' in refused(reply)
    commented = SOURCE.replace("        x = 1", f"        {comment}\n        x = 1")
    kept = quoted.replace("        x = 1", f"        {comment}\n        x = 1")
    assert edited(block(kept, kept.replace("x = 1", "x = 2")), commented).count(comment) == 1


def test_of_several_blocks_all_are_to_be_sent_again():
    good, bad = block("    y = 2", "    y = 3"), block("nowhere", "x")
    assert "No block was applied: send all of them again." in refused(good + bad)
    assert "No block" not in refused(bad)


def test_an_ambiguous_shift_is_refused():
    assert "2 places" in refused(block("x = 1", "x = 5"))


def test_lines_can_be_deleted():
    (edit,) = parse_edits("<<<<<<< SEARCH\n    y = 2\n=======\n>>>>>>> REPLACE\n")
    assert edit == Edit(("    y = 2",), ())
    assert apply_edits(SOURCE, (edit,)) == SOURCE.replace("    y = 2\n", "")


def test_what_is_not_there_is_refused_with_the_nearest_lines():
    reason = refused(block("    y = 20", "    y = 3"))
    assert "y = 2" in reason
    assert "3 to 3" in reason


@pytest.mark.parametrize(
    ("reply", "part"),
    [
        ("no blocks here", "no SEARCH/REPLACE block"),
        ("<<<<<<< SEARCH\na\n=======\nb\n", "cut off"),
        ("<<<<<<< SEARCH\n<<<<<<< SEARCH\n", "inside another"),
        ("<<<<<<< SEARCH\na\n=======\nb\n=======\n", "line 5: a block has two dividers"),
        ("<<<<<<< SEARCH\na\n=======\nb\n=======\n<<<<<<< SEARCH\n", "two dividers"),
        ("<<<<<<< SEARCH\na\n=======\nb\n=======\n>>>>>>> REPLACE\n", "two dividers"),
        ("<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "line 3: REPLACE without a SEARCH and a divider"),
        (">>>>>>> REPLACE\n", "without a SEARCH"),
        ("<<<<<<< SEARCH\n\n=======\nb\n>>>>>>> REPLACE\n", "empty"),
        (block("    y = 2", "    y = 2"), "change nothing"),
    ],
)
def test_malformed_blocks_are_refused_with_a_reason(reply, part):
    assert part in refused(reply)


TITLED = '''class A:
    """Plays.

    Notes
    =====
    none
    """
    x = 1
'''
TITLE = "    Notes\n    =====\n    none"


def test_a_title_in_a_docstring_is_no_divider():
    some = TITLE.replace("none", "some")
    assert edited(block(TITLE, some), TITLED) == TITLED.replace("none", "some")
    assert edited(block("    x = 1", f"    x = 1\n    {'=' * 7}"), TITLED).endswith(
        "1\n    =======\n"
    )
    above = "Notes\n=====\nx = 1\n"
    assert edited(block("Notes\n=====", "Words\n====="), above) == above.replace("Notes", "Words")


@pytest.mark.parametrize("divider", ["=====", "  =======", "=========", "======= "])
def test_another_divider_is_taken_where_there_is_none_as_it_was_asked_for(divider):
    reply = block("    y = 2", "    y = 3").replace("=======", divider)
    assert edited(reply) == SOURCE.replace("y = 2", "y = 3")
    assert "two dividers" in refused(reply.replace(divider, f"{divider.rstrip()}  \n{divider}"))


def test_a_block_that_is_said_twice_is_meant_once():
    """A model shows it in its plan, and once more at the end."""
    grown = block("    y = 2", "    y = 2\n    z = 3")
    assert edited(grown + "So, finally:\n" + grown) == SOURCE.replace("y = 2", "y = 2\n    z = 3")
    changed = block("    y = 2", "    y = 3")
    assert edited(changed + grown.replace("y = 2", "y = 3") + changed).count("z = 3") == 1


def test_each_block_has_a_divider_of_its_own():
    """A title in one, and in another a divider that is not as it was asked for."""
    lenient = block("    x = 1", "    x = 2").replace("=======", "=====")
    assert edited(block(TITLE, "    none") + lenient, TITLED) == (
        TITLED.replace(TITLE, "    none").replace("x = 1", "x = 2")
    )


def test_blocks_that_repeat_what_they_replace_end_at_the_limit_of_a_source():
    line = "        return x"
    doubling = [block(line, f"{line}\n{line}\n{number}") for number in range(60)]
    assert edited("".join(doubling[:5])).count(f"{line}\n") == 2**5
    reason = refused("".join(doubling))  # all of them would make 2 ** 60 lines
    assert f"the limit is {MAX_BYTES:,}" in reason
    assert "block 12:" in reason  # 2 ** 12 lines of 17 bytes: the first that are too many


def test_one_block_with_many_places_is_refused_before_it_is_applied():
    lines = "x\n" * 30_000
    assert "in 30,000 places" in refused(block("x", "y" * 300_000), lines)  # it would make 9 GB


def test_the_limit_counts_bytes_and_is_met_exactly():
    room = MAX_BYTES - len("a\n\n")
    assert len(edited(block("b", "é" * (room // 2)), "a\nb\n").encode()) in (
        MAX_BYTES,
        MAX_BYTES - 1,
    )
    assert "the limit is" in refused(block("b", "é" * (room // 2 + 1)), "a\nb\n")
    assert "the limit is" in refused(block("b", "\ud800" * room), "a\nb\n")


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("<<<<<<< SEARCH", "\ufeff<<<<<<< SEARCH"),
        ("<<<<<<< SEARCH", "<<<<<<< SEARCH:"),
        ("<<<<<<< SEARCH", "<<<<<<< SEARCH bot.py"),
        ("<<<<<<< SEARCH", "<<<<<<< SEARCH: bot.py  "),
        ("<<<<<<< SEARCH", "<<<<<<<  SEARCH"),
        ("<<<<<<< SEARCH", "<<<<<<< search"),
        (">>>>>>> REPLACE", ">>>>>>> Replace"),
        (">>>>>>> REPLACE", ">>>>>>> REPLACE```"),
        (">>>>>>> REPLACE", ">>>>>>> REPLACE ```"),
        (">>>>>>> REPLACE", ">>>>>>>  REPLACE"),
        ("<<<<<<< SEARCH", "<<<<<<< SEARCH (line 3)"),
        ("<<<<<<< SEARCH", "------- SEARCH"),
        ("<<<<<<< SEARCH", "<<< SEARCH"),
        ("<<<<<<< SEARCH", "**<<<<<<< SEARCH**"),
        (">>>>>>> REPLACE", "+++++++ REPLACE"),
        (">>>>>>> REPLACE", "**>>>>>>> REPLACE**"),
        (">>>>>>> REPLACE", ">>>>>>>"),
    ],
)
def test_marks_that_are_slightly_off_are_taken(written, instead):
    reply = block("    y = 2", "    y = 3").replace(written, instead)
    assert edited(reply) == SOURCE.replace("y = 2", "y = 3")
    assert without_edits(f"before\n{reply}{reply}behind") == "before\nbehind"


@pytest.mark.parametrize(
    "mark", ["<<<<<<< SEARCHING", "<<<<<<< SEARCH for this", "< SEARCH", "--- search.py"]
)
def test_words_are_no_marks(mark):
    assert "no SEARCH/REPLACE block" in refused(mark)


def test_long_marks_are_read_in_no_time():
    blanks = " " * 200_000
    for mark in (
        f"<<<<<<< SEARCH{blanks}a b",
        f"{blanks}<<",
        f">>>>>>> REPLACE{blanks}:{blanks}a b",
    ):
        assert "no SEARCH/REPLACE block" in refused(mark)


def test_long_replies_are_read_in_no_time():
    started = time.process_time()
    for text in (">>>>>>>\n", "=======\n", "=======\n>>>>>>>\n", "<<<<<<< SEARCH\n"):
        reply = "<<<<<<< SEARCH\n" + text * (390_000 // len(text))
        refused(reply)
        without_edits(reply)
    program = "    else:\n" * 6_000
    assert "6000 places" in refused(block("else:", "x = 1\n" * 60_000), program)
    assert "not in the program" in refused(block("a " * 100_000, "b"), program)
    assert time.process_time() - started < 20.0


def test_fences_around_the_parts_are_dropped():
    wanted = SOURCE.replace("y = 2", "y = 3")
    for opens, closes in (("```python", "```"), ("~~~", "~~~"), ("\n  ```", "  ```\n")):
        search, replace = (f"{opens}\n    {code}\n{closes}" for code in ("y = 2", "y = 3"))
        assert edited(block(search, replace)) == wanted
        assert edited(block(search, "    y = 3")) == wanted
        assert edited(block(search, f"{opens}\n{closes}")) == SOURCE.replace("    y = 2\n", "")
        assert "is empty" in refused(block(f"{opens}\n{closes}", replace))
    assert "not in the program" in refused(block("```\n    y = 2", "    y = 3"))


def test_fences_of_the_program_are_quoted_like_other_lines():
    source = "rock\n```\nrock\n```\n"
    assert edited(block("```\nrock\n```", "~~~\nrock\n~~~"), source) == "rock\n~~~\nrock\n~~~\n"


def test_a_shift_leaves_no_mixture_of_tabs_and_blanks():
    """Four columns a tab: only one of the two is indented by tabs."""
    tabs = SOURCE.replace("    ", "\t")
    lines = (
        "    def f(self):\n        x = 1",
        "    def f(self):\n        if self:\n            x = 5",
    )
    for source, at in ((SOURCE, "\t"), (tabs, "    ")):
        unit = "\t" if source is tabs else "    "
        search, replace = (part.replace("    ", at) for part in lines)
        wanted = source.replace(*(part.replace("    ", unit) for part in lines))
        assert edited(block(search, replace), source) == wanted
        less = block(
            search.replace(f"\n{at}", "\n")[len(at) :], replace[len(at) :].replace(f"\n{at}", "\n")
        )
        assert edited(less, source) == wanted


@given(
    st.lists(st.sampled_from(["a = 1", "  b = 2", "c()", ""]), min_size=1, max_size=12),
    st.data(),
)
def test_replacing_any_quoted_lines_changes_exactly_them(lines, data):
    start = data.draw(st.integers(0, len(lines) - 1))
    end = data.draw(st.integers(start + 1, len(lines)))
    quoted = lines[start:end]
    if not any(line.strip() for line in quoted) or lines.count(quoted[0]) > 1:
        return
    answer = edited(block("\n".join(quoted), "NEW"), "\n".join(lines))
    assert answer == "\n".join([*lines[:start], "NEW", *lines[end:]])
