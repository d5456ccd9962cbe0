"""Every prompt carries what the paper's prompts carry, and a refused reply its reason."""

import ast
import json
import re
import string
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle.prompts
from arena.games import GAMES, game
from oracle.context import Filter, OpponentInput
from oracle.edits import apply_edits, parse_edits
from oracle.prompt import Prompt, fenced, repair
from oracle.values import Draft, Failure, Rejected, Task
from oracle.writer import WriterOptions, preview
from tests.oracle.stated_returns import a_task, opponents, program, score_of

ALL = WriterOptions(shown=Filter())
EVERY_INPUT = [WriterOptions(opponents=form, shown=Filter()) for form in OpponentInput]


def task_in(name):
    return Task(game(name), opponents(0.6, 0.3, 0.1), "", 7, "k03")


def so_far(task, u=-3.0, **more):
    return Draft("a01", source=program(u, "mine"), score=score_of(task, u), **more)


@pytest.mark.parametrize("name", sorted(GAMES))
@pytest.mark.parametrize("options", EVERY_INPUT, ids=lambda options: options.opponents.value)
@pytest.mark.parametrize("stage", ["fresh", "refine", "edit", "mend"])
def test_every_prompt_carries_role_rules_interface_opponents_and_request(name, options, stage):
    task = task_in(name)
    draft = {
        "fresh": Draft("a00"),
        "refine": so_far(task),
        "edit": so_far(task, edit=True),
        "mend": Draft("a01", source="class A: pass", failure=Failure(Rejected.FAULTY, "crashed")),
    }[stage]
    prompt = preview(task, draft, options)
    contract = task.game.contract
    assert "program" in prompt.system.lower()  # the role
    for line in filter(str.strip, task.game.rules.splitlines()):
        assert line.lstrip("# ") in prompt.text  # the rules, with their examples of observations
    assert f"`{contract.class_name}`" in prompt.text
    for method in contract.methods:
        assert f"`{method}`" in prompt.text
    assert "numpy" in prompt.text
    assert "# Your opponents" in prompt.text
    assert "docstring" in prompt.text  # self-explaining code is asked for
    assert "comment" in prompt.text.lower()
    assert ("SEARCH" in prompt.text) == (stage == "edit")


@pytest.mark.parametrize("name", sorted(GAMES))
def test_the_examples_of_observations_are_data(name):
    """They are Python literals, with the keys that the game's seat really gives."""
    text = preview(task_in(name), Draft("a00"), WriterOptions(OpponentInput.NONE)).text
    indented = re.findall(r"(?:^ {4,}[{\[\"].*\n)+", text, re.MULTILINE)
    found = [ast.literal_eval(block.strip()) for block in indented]
    assert len(found) == 2
    expected = {
        "rrps": {"my_action", "opponent_action"},
        "leduc": {"player_view", "public_state", "action_history", "game_result"},
    }[name]
    assert all(set(observation) == expected for observation in found)


def test_code_input_shows_programs_with_weights_before_and_after_filtering():
    options = WriterOptions(opponents=OpponentInput.CODE, shown=Filter(top_k=2))
    text = preview(task_in("rrps"), Draft("a00"), options).text
    assert "Opponent 1: weight 0.6000, 66.7% of those shown" in text
    assert "Opponent 2: weight 0.3000, 33.3% of those shown" in text
    assert "Opponent 3" not in text
    assert "2 of 3 are shown, which carry 90.0% of the weight" in text
    assert "'opponent0'" in text
    assert "'opponent1'" in text
    assert "'opponent2'" not in text


@pytest.mark.parametrize("form", [OpponentInput.NONE, OpponentInput.DESCRIPTION])
def test_other_inputs_show_no_opponent_s_code(form):
    task = a_task(0.6, 0.4)
    hidden = Task(task.game, task.opponents, task.opponents[0].source, task.seed, task.key)
    text = preview(hidden, Draft("a00"), WriterOptions(opponents=form)).text
    assert "NAME =" not in text
    assert "A program to start from" not in text
    assert ("Opponent 1" in text) == (form is OpponentInput.DESCRIPTION)


def test_the_incumbent_is_shown_once():
    task = a_task(0.6, 0.4)
    own = Task(task.game, task.opponents, task.opponents[0].source, task.seed, task.key)
    text = preview(own, Draft("a00"), ALL).text
    assert text.count("'opponent0'") == 1
    assert "It is the program of opponent 1" in text
    other = Task(task.game, task.opponents, program(1.0, "earlier"), task.seed, task.key)
    for options in EVERY_INPUT:
        assert "'earlier'" in preview(other, Draft("a00"), options).text
        assert "'earlier'" not in preview(other, so_far(other), options).text


def test_a_refinement_shows_the_program_and_its_return_against_each_opponent():
    task = a_task(0.6, 0.3, 0.1)
    others = tuple((program(-u, f"other{u}"), score_of(task, -u)) for u in (4.0, 5.0, 6.0))
    text = preview(task, so_far(task, -3.25, inspirations=others), ALL).text
    assert "'mine'" in text
    assert "-3.25 throws per match" in text
    for number, weight in enumerate(("0.6000", "0.3000", "0.1000"), 1):
        assert f"| {number} | {weight} | -3.25 | 1.00 | 64 |" in text
    assert "'other4.0'" in text
    assert "'other5.0'" in text
    assert "'other6.0'" not in text  # at most two


def test_a_refused_change_is_told_with_its_reason():
    task = a_task()
    failure = Failure(Rejected.DUPLICATE, "this is the program of csro/run-k01")
    text = preview(task, so_far(task, failure=failure), ALL).text
    assert "this is the program of csro/run-k01" in text
    assert "sound" in text
    faulty = Draft("a01", source=program(0.0, "broken"), failure=Failure(Rejected.FAULTY, "boom!"))
    text = preview(task, faulty, ALL).text
    assert "boom!" in text
    assert "'broken'" in text
    assert "it forfeits matches" in text


@pytest.mark.parametrize("kind", list(Rejected))
def test_a_repair_repeats_the_question_with_reply_and_reason(kind):
    first = Prompt("role", "question\n")
    again = repair(first, "my ```python\nreply```", Failure(kind, "line 3: odd"))
    assert again.text.startswith("question\n")
    assert "line 3: odd" in again.text
    assert "reply" in again.text
    assert again.digest != first.digest
    assert "It was" not in repair(first, " ", Failure(kind, "line 3: odd")).text


def test_a_huge_reply_is_sent_back_in_part():
    again = repair(Prompt("", ""), "a" * 10**6, Failure(Rejected.NO_CODE, "too long"))
    assert len(again.text) < 30_000
    assert "characters left out" in again.text


@given(st.text(alphabet="`~ab\n$", max_size=80))
def test_no_program_closes_its_own_fence(text):
    block = fenced(text)
    fence = re.match("`+", block)[0]
    assert fence not in "\n".join(block.split("\n")[1:-1])
    assert block.endswith(f"\n{fence}")


def test_what_a_program_says_cannot_fill_a_place():
    task = a_task()
    hostile = program(0.0, "$rules ${unit} {code} %s \\1")
    draft = Draft("a01", source=hostile, score=score_of(task, -1.0))
    assert hostile.rstrip() in preview(task, draft, ALL).text


def test_the_example_of_an_edit_is_a_valid_edit():
    task = a_task()
    text = preview(task, so_far(task, edit=True), ALL).text
    edits = parse_edits(text)
    assert not isinstance(edits, Failure)
    assert len(edits) == 2
    before = "class Agent:\n    def act(self, o):\n        return self.last\n"
    assert "BEATEN_BY[self.last]" in apply_edits(before, edits[1:])


def test_templates_are_listed_and_versioned():
    folder = Path(str(files(oracle.prompts)))
    assert {path.stem for path in folder.glob("*.md")} == set(oracle.prompts.NAMES)
    known = json.loads((Path(__file__).parent / "prompt_versions.json").read_text())
    assert known[str(oracle.prompts.VERSION)] == oracle.prompts.digest(), (
        "a template changed: raise oracle.prompts.VERSION and note its digest beside this test"
    )
    for name in oracle.prompts.NAMES:
        assert string.Template(oracle.prompts.text_of(name)).is_valid()


def test_a_place_that_is_not_filled_is_an_error():
    with pytest.raises(KeyError):
        oracle.prompts.fill("incumbent")


def test_equal_prompts_have_equal_digests_and_others_not():
    task = a_task()
    first = preview(task, so_far(task), ALL)
    assert first.digest == preview(task, so_far(task), ALL).digest
    assert first.digest != preview(task, so_far(task, -4.0), ALL).digest
