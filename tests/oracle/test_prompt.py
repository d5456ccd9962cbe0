"""Every prompt carries what the paper's prompts carry, and a refused reply its reason."""

import ast
import json
import math
import re
import string
import tomllib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle.prompts
from arena.games import GAMES, game
from arena.source_check import check_source
from oracle.context import Filter, OpponentInput
from oracle.drafts import Draft
from oracle.edits import apply_edits, parse_edits
from oracle.prompt import NUMPY, PYTHON
from oracle.relatives import fenced
from oracle.values import Against, Failure, Rejected, Score, Task
from oracle.writer import WriterOptions, preview
from sandbox.values import Limits
from tests.oracle.stated_returns import a_task, opponents, program, score_of

ROOT = Path(__file__).parents[2]
HELPERS = """import math

LIMIT = 3


class Memory:
    def __init__(self):
        self.seen = []


def rate(count, total):
    return count / total if total else math.nan


"""


def with_helpers(contract):
    """A policy of any game with a class and a method of its own beside those that are asked."""
    methods = "".join(
        f"    def {name}(self, told):\n        return self.choose(told)\n"
        for name in contract.methods
    )
    own = "    def choose(self, told):\n        self.memory = Memory()\n"
    return f"{HELPERS}class {contract.class_name}:\n{methods}{own}"


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
    """They are Python literals, those that the game's seat really gives."""
    text = preview(task_in(name), Draft("a00"), WriterOptions(OpponentInput.NONE)).text
    indented = re.findall(r"(?:^ {4,}[{\[\"].*\n)+", text, re.MULTILINE)
    found = [ast.literal_eval(block.strip()) for block in indented]
    examples = [example.observation for example in game(name).examples]
    assert len(found) == len(examples) and all(one in found for one in examples)


def test_code_input_shows_programs_with_weights_before_and_after_filtering():
    options = WriterOptions(opponents=OpponentInput.CODE, shown=Filter(top_k=2))
    text = preview(task_in("rrps"), Draft("a00"), options).text
    assert "Opponent 1: weight 0.6000, 66.7% of those shown" in text
    assert "Opponent 2: weight 0.3000, 33.3% of those shown" in text
    assert "Opponent 3" not in text
    assert "2 of 3 are shown, with 90.0% of the weight" in text
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


def test_each_program_stands_once_and_is_named_from_then_on():
    task = a_task(0.6, 0.4)
    first, second = task.opponents
    draft = Draft(
        "a01",
        source=first.source,
        score=score_of(task, -1.0),
        inspirations=((second.source, score_of(task, -2.0)),),
    )
    text = preview(task, draft, ALL).text
    assert text.count("'opponent0'") == text.count("'opponent1'") == 1
    assert "# Your program so far\n\nIt is the program of opponent 1" in text
    assert "Other programs that were tried" not in text  # it stands above, with its weight
    hidden = preview(task, draft, WriterOptions(opponents=OpponentInput.NONE)).text
    # They are not above, so they are shown here.
    assert hidden.count("'opponent0'") == hidden.count("'opponent1'") == 1


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


def test_what_was_not_played_is_not_said_to_be():
    """A start that is the only opponent is even by symmetry; nothing was measured."""
    task = a_task(1.0)
    (only,) = task.opponents
    unplayed = Score(0.0, 0.0, (Against(only.digest, 0.0, 0.0, 0),))
    draft = Draft("i0g01d0", source=only.source, score=unplayed, edit=True)
    text = preview(task, draft, ALL).text
    assert "has not been played" in text
    assert "played against the opponents" not in text
    assert "+0.00" not in text

    both = a_task(0.6, 0.4)
    first, second = both.opponents
    against = (Against(first.digest, 0.0, 0.0, 0), Against(second.digest, 7.0, math.nan, 4))
    half = Draft("i0g01d0", source=first.source, score=Score(2.8, math.nan, against))
    text = preview(both, half, ALL).text
    assert "| 1 | 0.6000 | even: itself | | 0 |" in text
    assert "| 2 | 0.4000 | +7.00 | unknown | 4 |" in text
    assert "too few matches for a standard error" in text
    assert "nan" not in text


@pytest.mark.parametrize("form", [OpponentInput.CODE, OpponentInput.DESCRIPTION])
def test_one_opponent_is_spoken_of_as_one(form):
    options = WriterOptions(opponents=form, shown=Filter())
    text = preview(a_task(1.0), Draft("a00"), options).text
    assert "one and the same program" in text
    assert "That one opponent is shown below." in text
    assert "All 1" not in text
    text = preview(a_task(0.6, 0.4), Draft("a00"), options).text
    assert "one of 2 programs" in text
    assert "All of the mixture are shown, with their weights in it." in text
    options = WriterOptions(opponents=form, shown=Filter(top_k=1))
    assert (
        "1 of 2 is shown, with 60.0% of the weight."
        in preview(a_task(0.6, 0.4), Draft("a00"), options).text
    )


@pytest.mark.parametrize("name", sorted(GAMES))
def test_the_interface_says_what_holds(name):
    """Helpers are allowed, and time, versions and forfeits are as they are."""
    task = task_in(name)
    text = preview(task, Draft("a00"), ALL).text
    assert "exactly the methods" not in text
    assert "Other methods, functions, classes and constants beside them are welcome" in " ".join(
        text.split()
    )
    assert check_source(with_helpers(task.game.contract), task.game.contract) is None
    limits = Limits()
    assert f"{1000 * limits.match_seconds / task.game.length:g} ms a round" in text
    assert "the opponent is credited with all that was still to be played" in " ".join(text.split())


def test_versions_are_the_least_that_every_wall_has():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={PYTHON}"
    assert f"numpy>={NUMPY}" in project["dependencies"]
    inside = re.search(
        r"numpy==(\d+)\.(\d+)", (ROOT / "sandbox/gvisor_requirements.txt").read_text()
    )
    assert tuple(map(int, inside.groups())) >= tuple(map(int, NUMPY.split(".")))


def directions(task, drafts):
    texts = [preview(task, draft, ALL).text for draft in drafts]
    found = [re.search(r"where the facts say otherwise: (.*)", text) for text in texts]
    return [one and one[1] for one in found]


def test_drafts_from_the_same_facts_begin_elsewhere():
    """The first is asked in plain words; those that are written together all differ."""
    task = a_task()
    wave = directions(task, [Draft(f"a{number:02}") for number in range(10)])
    assert wave[0] is None
    assert len(set(wave)) == 10
    founders = directions(task, [Draft(f"i{island}g00d0") for island in range(3)])
    assert founders[0] is None
    assert len(set(founders)) == 3
    for generation in (1, 2):
        keys = [f"i{i}g{generation:02}d{d}" for i in range(3) for d in range(2)]
        drafts = [replace(so_far(task), key=key) for key in keys]
        assert len(set(directions(task, drafts))) == 6
    other = replace(task, seed=8)
    assert directions(other, [Draft("a01")]) != directions(task, [Draft("a01")])
    assert directions(task, [Draft("a03")]) == directions(task, [Draft("a03")])
    many = directions(task, [Draft(f"a{number:02}") for number in range(121)])
    assert len(set(many)) == 121
    assert all(
        one is None or len(set(one.split(" Then: "))) == len(one.split(" Then: ")) for one in many
    )
    islands = [f"i{i}g01d{d}" for i in range(2) for d in range(24)]
    one = directions(task, [replace(so_far(task), key=key) for key in islands[:24]])
    assert len(set(one)) == 24


def test_who_mends_a_program_alone_is_given_no_direction_and_who_mends_it_too_is():
    task, boom = a_task(), Failure(Rejected.FAULTY, "boom")
    faulty = Draft("a01", source="class A: pass", failure=boom)
    assert directions(task, [faulty]) == [None]
    both = [replace(faulty, key=f"i0g01d{place}") for place in (0, 1)]
    assert [one is None for one in directions(task, both)] == [True, False]
    none = Failure(Rejected.NO_CODE, "there is no class in it")
    keys = [f"i{i}g{g:02}d{d}" for g in (1, 2) for i in range(3) for d in range(2)]
    nothing = [Draft(key, failure=none) for key in keys]
    for generation in (nothing[:6], nothing[6:]):
        assert len({preview(task, one, ALL).text for one in generation}) == 6


def test_shorter_forms_lack_what_they_say_they_lack():
    task = a_task(0.4, 0.3, 0.2, 0.1)
    others = tuple((program(-u, f"other{u}"), score_of(task, -u)) for u in (4.0, 5.0))
    prompt = preview(task, so_far(task, inspirations=others), ALL)
    forms = (prompt.text, *prompt.shorter)
    assert len(forms) == 5
    lengths = [len(form) for form in forms]
    assert lengths == sorted(lengths, reverse=True)
    shown = [sum(f"'opponent{n}'" in form for n in range(4)) for form in forms]
    assert shown == [4, 4, 2, 1, 0]
    assert [form.count("'other") for form in forms] == [2, 0, 0, 0, 0]
    assert all("'mine'" in form and "| 4 | 0.1000 |" in form for form in forms)
    assert "Left out" not in forms[0]
    for form in forms[1:]:
        assert "Left out above for lack of room: other programs that were tried" in form
    assert "2 of 4 are shown, with 70.0% of the weight" in forms[2]
    assert "57.1% of those shown" in forms[2]
    assert "and 4 of the 4 opponents" in forms[4]
    assert "None is shown, for lack of room" in forms[4]
    assert preview(task, Draft("a00"), WriterOptions(OpponentInput.NONE)).shorter == ()
    own = Task(task.game, task.opponents, task.opponents[0].source, task.seed, task.key)
    *most, least = preview(own, Draft("a00"), ALL).shorter
    assert all("'opponent0'" in form and "A program to start from" in form for form in most)
    assert "NAME =" not in least
    assert "4 of the 4 opponents and a program to start from" in least


def test_a_refused_change_is_told_with_its_reason():
    task = a_task()
    failure = Failure(Rejected.DUPLICATE, "this is a program of 2024")
    text = preview(task, so_far(task, failure=failure), ALL).text
    assert "this is a program of 2024" in text
    assert "sound" in text
    faulty = Draft("a01", source=program(0.0, "broken"), failure=Failure(Rejected.FAULTY, "boom!"))
    text = preview(task, faulty, ALL).text
    assert "boom!" in text
    assert "'broken'" in text
    assert "it forfeits matches" in text


@pytest.mark.parametrize("kind", [Rejected.BLOCKED, Rejected.EMPTY, Rejected.TOO_LONG])
def test_what_was_never_answered_is_nobody_s_mistake(kind):
    task = a_task()
    failure = Failure(kind, "SAFETY")
    for draft in (so_far(task, failure=failure), Draft("a01", failure=failure)):
        text = preview(task, draft, ALL).text
        assert "What was wrong" not in text
        assert "SAFETY" not in text
        assert "A direction for this attempt" in text


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


def test_members_without_weight_are_shown_as_such():
    first, second, third = opponents(0.6, 0.3, 0.1)
    others = tuple(replace(one, weight=0.0) for one in (second, third))
    pure = Task(game("rrps"), (replace(first, weight=1.0),), "", 7, "k03", others)
    text = preview(pure, Draft("a00"), WriterOptions(shown=Filter(top_k=2))).text
    assert "## Opponent 1: weight 1.0000" in text
    assert "## Opponent 2: no weight at present" in text
    assert "One more program is shown after that" in text
    assert second.source.strip() in text and third.source.strip() not in text
    assert "no weight" not in preview(pure, Draft("a00"), ALL).text
