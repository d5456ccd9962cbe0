"""A model as a writer: replies to programs, bounded repairs, nothing paid twice."""

import json

import pytest

from oracle.alpha_evolve import AlphaEvolve, Evolution
from oracle.context import Filter, OpponentInput
from oracle.describe import FIELDS
from oracle.drafts import Draft
from oracle.extract import MAX_REPLY_CHARS
from oracle.linear_refinement import LinearRefinement
from oracle.models.budget import Budget
from oracle.models.errors import BudgetSpent
from oracle.models.journal import JournaledModel, SqliteJournal
from oracle.models.protocol import Finish, Reply
from oracle.values import Rejected
from oracle.writer import ModelWriter, WriterOptions, call_key, preview
from tests.oracle.scripted_model import ScriptedModel
from tests.oracle.stated_returns import Evaluation, a_task, program, score_of

PLAIN = WriterOptions(opponents=OpponentInput.NONE)


def fenced(source):
    return f"My thoughts.\n\n```python\n{source}```\n"


def write(answers, draft=None, options=PLAIN, task=None):
    model = ScriptedModel(answers)
    return ModelWriter(model, options).write(task or a_task(), draft or Draft("a00")), model


def edit(search, replace):
    return f"```python\n<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n```\n"


def sound(edit=True, **more):
    return Draft("a01", source=program(-3.0), score=score_of(a_task(), -3.0), edit=edit, **more)


def test_a_program_in_one_call():
    written, model = write([fenced(program(1.0))])
    (request,) = model.requests
    assert written == Draft("a00", program(1.0), call="k03/a00", asked=request.digest)
    assert (request.key, request.prompt) == ("k03/a00", preview(a_task(), Draft("a00"), PLAIN).text)
    assert "game theory" in request.system
    assert 0 <= request.seed < 2**31


def test_a_refused_reply_is_sent_back_with_its_reason():
    written, model = write(["no code today", fenced("class Wrong: pass\n"), fenced(program(1.0))])
    assert written.source == program(1.0)
    assert (written.call, written.repairs) == ("k03/a00/r2", 2)
    assert [request.key for request in model.requests] == ["k03/a00", "k03/a00/r1", "k03/a00/r2"]
    assert "the reply has no code block" in model.requests[1].prompt
    assert "no code today" in model.requests[1].prompt
    assert "no code block defines the class Agent" in model.requests[2].prompt
    assert "no code today" not in model.requests[2].prompt  # only the last one


def test_at_most_two_repairs_then_a_failure():
    written, model = write(["no"] * 9)
    assert len(model.requests) == 3
    assert written.failure.kind is Rejected.NO_CODE
    assert (written.source, written.repairs, written.call) == ("", 2, "k03/a00/r2")
    written, model = write(["no"], options=WriterOptions(OpponentInput.NONE, repairs=0))
    assert (len(model.requests), written.repairs) == (1, 0)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import os\n" + program(1.0), "import-not-allowed"),
        ("class Agent:\n    pass\n", "method-missing"),
        ("class Agent:\n    def act(self): return 'ROCK'\n", "bad-signature"),
        ("class Agent:\n    def act(self, o): return open('x')\n", "name-not-allowed"),
    ],
)
def test_the_static_checks_speak_to_the_model(source, said):
    written, model = write([fenced(source), fenced(program(1.0))])
    assert written.repairs == 1
    assert said in model.requests[1].prompt


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply("", Finish.BLOCKED, "SAFETY"), Rejected.BLOCKED),
        (Reply(""), Rejected.EMPTY),
        (Reply("```python\nclass Agent:\n  def act(", Finish.CUT_OFF), Rejected.TRUNCATED),
        (Reply("", Finish.CUT_OFF), Rejected.TRUNCATED),
    ],
)
def test_useless_replies_have_names(reply, kind):
    written, _ = write([reply] * 3)
    assert written.failure.kind is kind


def test_nothing_unclosed_is_taken_from_a_reply_that_was_cut_off():
    """It parses, but the rest of the program may be missing."""
    unclosed = f"```python\n{program(1.0)}"
    written, _ = write([Reply(unclosed, Finish.CUT_OFF)] * 3)
    assert written.failure.kind is Rejected.TRUNCATED
    assert write([Reply(unclosed)])[0].source == program(1.0)
    cut_edit = edit("        return 'ROCK'", "        return 'PAPER'").partition(">>>")[0]
    written, _ = write([Reply(cut_edit, Finish.CUT_OFF)] * 3, sound())
    assert written.failure.kind is Rejected.TRUNCATED


def test_edits_of_a_reply_that_was_cut_off_are_not_applied_in_part():
    """Between two blocks nothing shows that there were to be more."""
    one = edit("        return 'ROCK'", "        return self.pick()")
    other = edit("class Agent:", "class Agent:\n    def pick(self): return 'ROCK'")
    written, model = write([Reply(one, Finish.CUT_OFF), one + other], sound())
    assert written.repairs == 1
    assert "return self.pick()" in written.source and "def pick(self)" in written.source
    assert "the reply was cut off, and blocks that belong" in model.requests[1].prompt
    written, _ = write([Reply(one, Finish.CUT_OFF)] * 3, sound())
    assert written.failure.kind is Rejected.TRUNCATED


def test_what_follows_a_whole_program_costs_no_repair():
    """A part of the class, or a sketch of it, that shows what was changed."""
    part = "class Agent:\n    def helper(self):\n        return 1\n"
    sketch = "class Agent:\n    def act(self, observation):\n        ...\n"
    body = (
        "    # ... __init__ as above ...\n    def act(self, observation):\n        return 'ROCK'\n"
    )
    said = f"class Agent:\n{body}"
    for shown in (part, sketch, said, said.replace("... __init__ as above ...", "existing code")):
        written, _ = write([fenced(program(1.0)) + fenced(shown)])
        assert (written.source, written.repairs) == (program(1.0), 0)
    written, model = write([fenced(part) + fenced("import os\n" + part), fenced(program(1.0))])
    assert "import-not-allowed" in model.requests[1].prompt  # the last one, as nothing is whole


def test_edits_are_applied_to_the_program_so_far():
    written, model = write([edit("        return 'ROCK'", "        return 'PAPER'")], sound())
    assert written.source == program(-3.0).replace("return 'ROCK'", "return 'PAPER'")
    assert "SEARCH" in model.requests[0].prompt


def test_an_edit_that_does_not_fit_is_sent_back_with_the_nearest_lines():
    answers = [edit("        return 'ROCKS'", "x"), edit("        return 'ROCK'", "        pass")]
    written, model = write(answers, sound())
    assert written.repairs == 1
    assert "its SEARCH part is not in the program" in model.requests[1].prompt
    assert "return 'ROCK'" in model.requests[1].prompt
    written, _ = write([edit("nowhere", "x")] * 3, sound())
    assert written.failure.kind is Rejected.BAD_EDIT


def test_a_reply_that_is_too_long_is_not_searched_for_blocks(monkeypatch):
    looked = []
    monkeypatch.setattr("oracle.writer.parse_edits", looked.append)
    long = edit("        return 'ROCK'", "        return 'PAPER'") + "x" * MAX_REPLY_CHARS
    written, _ = write([long] * 3, sound())
    assert written.failure.kind is Rejected.NO_CODE
    assert "be brief" in written.failure.reason
    assert looked == []


def test_blocks_that_double_the_program_are_sent_back():
    line = "        return 'ROCK'"
    doubling = "".join(edit(line, f"{line}  # {number}\n{line}\n{line}") for number in range(40))
    answers = [doubling, edit(line, "        return 'PAPER'")]
    written, model = write(answers, sound())
    assert "'PAPER'" in written.source
    assert "the limit is" in model.requests[1].prompt


def test_a_whole_program_is_as_good_as_an_edit():
    written, _ = write([fenced(program(9.0))], sound())
    assert written.source == program(9.0)


UNFIT = edit("        return 'ROCKS'", "        return 'PAPER'")


@pytest.mark.parametrize(
    "blocks",
    [
        UNFIT,
        edit("        return 'ROCK'", "        return 'ROCK'"),  # which changes nothing
        edit("        return 'ROCK'", "        pass") + UNFIT,
        UNFIT.replace("REPLACE\n```\n", "REPLACE```\n"),
    ],
)
def test_a_whole_program_beside_blocks_that_do_not_fit_costs_no_repair(blocks):
    for reply in (f"{blocks}All of it:\n{fenced(program(9.0))}", f"{fenced(program(9.0))}{blocks}"):
        written, _ = write([reply], sound())
        assert (written.source, written.repairs) == (program(9.0), 0)


@pytest.mark.parametrize(
    "beside",
    [
        "",
        fenced("class Agent:\n    def helper(self):\n        return 1\n"),
        fenced("class Agent:\n    def act(self, observation):\n        ...\n"),
        fenced("import os\n" + program(9.0)),
        fenced("class Other:\n    pass\n"),
        fenced(program(-3.0)),  # it was to be changed
        edit("class Agent: ...", program(9.0)),
        edit("class Agent: ...", f"```python\n{program(9.0)}```"),
    ],
    ids=["none", "part", "sketch", "unsound", "other", "same", "block", "fenced-block"],
)
def test_what_is_no_whole_program_does_not_stand_for_blocks_that_do_not_fit(beside):
    written, model = write([UNFIT + beside, fenced(program(9.0))], sound())
    assert written.repairs == 1
    assert "block 1: its SEARCH part is not in the program" in model.requests[1].prompt


def test_an_edit_must_leave_a_policy():
    broken = edit("    def act(self, observation):", "    def move(self, observation):")
    written, model = write([broken] * 3, sound())
    assert written.failure.kind is Rejected.NOT_A_POLICY
    assert "act" in model.requests[1].prompt


def test_without_a_sound_program_no_edits_are_asked_for():
    failed = Draft("a01", source=program(0.0, faulty=True), edit=True)
    written, model = write([fenced(program(1.0))], failed)
    assert "SEARCH" not in model.requests[0].prompt
    assert written.source == program(1.0)


def test_descriptions_are_made_once_for_the_whole_run(tmp_path):
    def answer(request):
        if request.schema:
            return json.dumps({name: f"words on {name}" for name in FIELDS})
        return fenced(program(1.0, request.key))

    scripted = ScriptedModel(answer)
    model = JournaledModel(scripted, SqliteJournal(tmp_path / "journal.sqlite"))
    options = WriterOptions(OpponentInput.DESCRIPTION, Filter(top_k=2))
    writer, task = ModelWriter(model, options), a_task(0.6, 0.3, 0.1)
    first = writer.write(task, Draft("a00"))
    writer.write(task, Draft("a01"))
    keys = [request.key for request in scripted.requests]
    described = [f"describe/{one.digest}" for one in task.opponents[:2]]
    assert keys == [*described, "k03/a00", "k03/a01"]
    assert "words on idea" in scripted.requests[2].prompt
    assert "NAME = 'opponent0'" not in scripted.requests[2].prompt
    assert writer.write(task, Draft("a00")) == first  # from the journal
    assert len(scripted.requests) == 4


def test_a_missing_description_is_said_and_the_draft_goes_on():
    answers = ["no words", "no words", fenced(program(1.0))]
    options = WriterOptions(OpponentInput.DESCRIPTION, Filter(top_k=1))
    written, model = write(answers, options=options)
    assert written.source == program(1.0)
    assert "No description of this opponent could be had" in model.requests[2].prompt


def test_linear_refinement_with_a_model_resumes_without_paying_again(tmp_path):
    """Stopped by its budget in the middle, then run again: the same response, each reply once."""
    task = a_task()
    journal = SqliteJournal(tmp_path / "journal.sqlite")
    answers = {
        "k03/a00": fenced(program(-5.0, "a")),
        "k03/a01": "nothing",
        "k03/a01/r1": fenced(program(-2.0, "b")),
        "k03/a02": fenced(program(0.0, "c", faulty=True)),
        "k03/a03": fenced(program(2.0, "d")),
    }
    scripted = ScriptedModel(lambda request: answers[request.key])

    def respond(budget):
        writer = ModelWriter(JournaledModel(scripted, journal, budget), PLAIN)
        return LinearRefinement(writer).respond(task, Evaluation(task))

    with pytest.raises(BudgetSpent):
        respond(Budget(max_calls=3))
    assert len(scripted.requests) == 3
    response = respond(Budget())
    assert [request.key for request in scripted.requests] == list(answers)
    assert response.best.score.u == 2.0
    assert response.best.call == "k03/a03"
    assert [attempt.repairs for attempt in response.attempts] == [0, 1, 0, 0]
    assert "ZeroDivisionError" in scripted.requests[-1].prompt  # why a02 was no candidate
    assert respond(Budget()) == response


def test_evolution_with_a_model_edits_and_rewrites():
    task = a_task()

    def answer(request):
        if "<<<<<<< SEARCH" not in request.prompt:
            return fenced(program(-9.0, request.key))
        u = int(request.key[-1]) + 1
        return edit("RETURN = -9.0  # ", f"RETURN = {-float(u)}  # ")

    oracle = AlphaEvolve(
        ModelWriter(ScriptedModel(answer), PLAIN),
        Evolution(islands=1, generations=1, drafts=2, rewrite_chance=0.0),
    )
    response = oracle.respond(task, Evaluation(task))
    assert [attempt.score.u for attempt in response.attempts] == [-9.0, -1.0, -2.0]
    assert "NAME = 'k03/i0g00d0'" in response.best.source


def test_keys_and_options():
    assert call_key(a_task(), Draft("i1g02d0"), 1) == "k03/i1g02d0/r1"
    writer = ModelWriter(ScriptedModel([], name="scripted:x"))
    assert writer.name == "scripted:x"
    for options in ({"repairs": -1}, {"inspirations": -1}):
        with pytest.raises(ValueError, match=next(iter(options))):
            WriterOptions(**options)
