"""A refused question is asked in another way, is recorded, and never ends a run for ever."""

import pytest

from oracle.context import OpponentInput
from oracle.drafts import Draft
from oracle.linear_refinement import LinearRefinement
from oracle.models.errors import CallRefused, ModelRefuses, PromptRefused
from oracle.models.journal import JournaledModel, SqliteJournal
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.protocol import Finish, Reply, Request
from oracle.models.refusals import REFUSALS_IN_A_ROW
from oracle.values import OracleExhausted, Rejected
from oracle.writer import ModelWriter, WriterOptions
from tests.oracle.llm_server import LLMServer, Step, connected
from tests.oracle.scripted_model import ScriptedModel
from tests.oracle.stated_returns import Evaluation, a_task, program

BLOCKED = Reply("", Finish.BLOCKED, "SAFETY")
PLAIN = WriterOptions(opponents=OpponentInput.NONE)


def fenced(u=1.0):
    return f"```python\n{program(u)}```"


def write(*answers, task=None):
    model = ScriptedModel(answers)
    return ModelWriter(model).write(task or a_task(0.6, 0.4), Draft("a00")), model.requests


@pytest.mark.parametrize("refusal", [BLOCKED, Reply(""), PromptRefused("the server answered 400")])
def test_a_refused_question_is_asked_in_other_words_and_then_with_less(refusal):
    written, (first, second, third) = write(refusal, refusal, fenced())
    assert (written.source, written.repairs) == (program(1.0), 2)
    assert "exercise in game theory" not in first.prompt
    for again in (second, third):
        assert "exercise in game theory" in again.prompt
        assert "A direction for this attempt" in again.prompt
    assert "'opponent0'" in second.prompt
    assert "'opponent0'" not in third.prompt
    assert len({first.digest, second.digest, third.digest}) == 3


def test_a_repair_goes_on_from_what_was_answered_and_not_from_what_was_refused():
    written, (first, second, third) = write(BLOCKED, "no program", fenced())
    assert written.source == program(1.0)
    assert third.prompt.startswith(second.prompt.rstrip())
    assert not third.prompt.startswith(first.prompt.rstrip())


def test_a_draft_that_stays_refused_is_a_failure_with_the_reason():
    written, requests = write(BLOCKED, BLOCKED, PromptRefused("the server answered 400: never"))
    assert written.failure.kind is Rejected.BLOCKED
    assert "the server answered 400: never" in written.failure.reason
    assert len(requests) == 3


def test_other_errors_of_the_server_still_stop_everything():
    with pytest.raises(CallRefused):
        write(CallRefused("401: the key is wrong"))


@pytest.fixture
def journal(tmp_path):
    return SqliteJournal(tmp_path / "journal.sqlite")


def ask(model, number):
    return model.generate(Request(f"k01/a{number:02}", f"question {number}"))


@pytest.mark.parametrize(
    "refusal", [BLOCKED, Reply(""), Reply("", unread=True), PromptRefused("400: no")]
)
def test_too_many_refusals_in_a_row_stop_the_session(journal, refusal):
    model = JournaledModel(ScriptedModel(lambda request: refusal), journal)
    with pytest.raises(ModelRefuses, match=f"none of the last {REFUSALS_IN_A_ROW} questions"):
        for number in range(100):
            try:
                ask(model, number)
            except PromptRefused:
                continue
    assert number == REFUSALS_IN_A_ROW - 1
    assert len(journal.calls()) == REFUSALS_IN_A_ROW


def test_an_answer_in_between_starts_the_count_again(journal):
    answers = [*[BLOCKED] * (REFUSALS_IN_A_ROW - 1), "fine"] * 3
    model = JournaledModel(ScriptedModel(answers), journal)
    for number in range(len(answers)):
        ask(model, number)


def test_who_goes_on_gets_as_many_tries_again(journal):
    """Refusals that are stored are not asked again, and do not count."""
    for session in range(1, 4):
        scripted = ScriptedModel(lambda request: BLOCKED)
        model = JournaledModel(scripted, journal)
        with pytest.raises(ModelRefuses):
            for number in range(100):
                ask(model, number)
        assert len(scripted.requests) == REFUSALS_IN_A_ROW
        assert number == session * REFUSALS_IN_A_ROW - 1


def heard(model, number):
    """What comes of a question: its text, or the words in which it is turned down."""
    try:
        return ask(model, number).text
    except (PromptRefused, ModelRefuses) as error:
        return f"{type(error).__name__}: {error}"


def turned_down(request):
    return PromptRefused(f"the server answered 400: no pigs (request 8f{request.key[-2:]})")


def test_what_a_server_turned_down_is_kept_and_paid_for_by_nobody(journal):
    scripted = ScriptedModel([turned_down(Request("a00", "")), "fine"])
    model = JournaledModel(scripted, journal)
    said = [heard(model, number) for number in (0, 0, 1, 0)]
    assert said[0] == said[1] == said[3] == "PromptRefused: " + str(turned_down(Request("a00", "")))
    assert said[2] == "fine"
    again = JournaledModel(scripted, journal)
    assert heard(again, 0) == said[0]
    assert len(scripted.requests) == 2
    assert model.spent.calls == journal.spent().calls == 1


def test_a_server_that_turns_down_everything_in_foreign_words_does_not_hold_a_run_for_ever(journal):
    """What is asked once more does not count, so each session comes to nine questions further."""
    for session in range(1, 4):
        scripted = ScriptedModel(turned_down)
        model = JournaledModel(scripted, journal)
        said = [heard(model, number) for number in range(session * REFUSALS_IN_A_ROW)]
        assert [one.partition(":")[0] for one in said[:-1]] == ["PromptRefused"] * (len(said) - 1)
        assert said[-1].startswith("ModelRefuses: scripted answered none of the last 9 questions")
        assert "in the same words: the server answered 400: no pigs" in said[-1]
        assert "look at the options" in said[-1]
        assert len(scripted.requests) == len(said)


def test_a_server_that_was_mended_answers_what_it_turned_down(journal):
    model = JournaledModel(ScriptedModel(turned_down), journal)
    numbers = range(REFUSALS_IN_A_ROW)
    assert "ModelRefuses" in [heard(model, number) for number in numbers][-1]
    mended = ScriptedModel(lambda request: f"answer to {request.prompt}")
    for _ in range(2):
        session = JournaledModel(mended, journal)
        answers = [heard(session, number) for number in reversed(numbers)]
        assert answers == [f"answer to question {number}" for number in reversed(numbers)]
    assert len(mended.requests) == REFUSALS_IN_A_ROW
    assert [call.reply.text for call in journal.calls()] == answers[::-1]


def test_different_words_are_about_the_questions(journal):
    words = iter(["no pigs", "no cows", "no dogs", "no cats"] * 3)
    model = JournaledModel(ScriptedModel(lambda request: PromptRefused(next(words))), journal)
    said = [heard(model, number) for number in range(REFUSALS_IN_A_ROW)]
    assert "; of the last one: no pigs.  Resume to try others" in said[-1]


def test_a_model_that_refuses_some_questions_still_answers_the_task(journal):
    """Every other draft is refused three times over; the iteration goes on and ends well."""

    def answer(request):
        return BLOCKED if request.key.split("/")[1] in ("a00", "a02") else fenced(-5.0 + len(seen))

    seen = []

    def counted(request):
        seen.append(request.key)
        return answer(request)

    task = a_task()
    writer = ModelWriter(JournaledModel(ScriptedModel(counted), journal), PLAIN)
    response = LinearRefinement(writer, refinements=6).respond(task, Evaluation(task))
    kinds = [attempt.failure and attempt.failure.kind for attempt in response.attempts]
    assert kinds[0] is kinds[2] is Rejected.BLOCKED
    assert response.best.score.u >= 0
    assert response.attempts[0].repairs == 2


def test_a_task_whose_every_question_is_refused_is_exhausted_not_fatal(journal):
    model = ScriptedModel(lambda request: BLOCKED)
    writer = ModelWriter(JournaledModel(model, journal), PLAIN)
    with pytest.raises(OracleExhausted) as caught:
        LinearRefinement(writer, refinements=1).respond(a_task(), Evaluation(a_task()))
    assert [one.failure.kind for one in caught.value.attempts] == [Rejected.BLOCKED] * 2


def test_a_server_that_dislikes_a_word_is_asked_without_it(monkeypatch, journal):
    """Through the real SDK: the opponents' programs are what it refuses."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with LLMServer(lambda prompt: fenced()) as server:
        take = server.take

        def touchy(asked):
            step = take(asked)
            if "'opponent0'" in asked.prompt:
                return Step(status=400, code="content_policy_violation", message="not this")
            return step

        server.take = touchy
        with connected(OpenAIModel("local", ServerOptions(server.url + "/v1"))) as model:
            writer = ModelWriter(JournaledModel(model, journal))
            written = writer.write(a_task(0.6, 0.4), Draft("a00"))
    assert written.source == program(1.0)
    first, second, third = (call.reply for call in journal.calls())
    assert first.finish is second.finish is Finish.BLOCKED
    assert "not this" in first.detail
    assert third.finish is Finish.STOPPED


def test_a_server_with_words_of_its_own_for_a_topic_is_asked_other_questions_by_the_next_session(
    monkeypatch, journal
):
    """Through the real SDK: the words are on no list of ours."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    refused = Step(status=400, message="We would rather not.", code="invalid_request_error")
    for session in (1, 2):
        with (
            LLMServer() as server,
            connected(OpenAIModel("local", ServerOptions(server.url + "/v1"))) as model,
        ):
            server.then(*[refused] * 40)
            journaled = JournaledModel(model, journal)
            said = [heard(journaled, number) for number in range(session * REFUSALS_IN_A_ROW)]
            assert "in the same words: the server answered 400: We would rather not." in said[-1]
            assert len(server.asked) == len(said)
    with (
        LLMServer() as server,  # its owner thought better of it
        connected(OpenAIModel("local", ServerOptions(server.url + "/v1"))) as model,
    ):
        assert heard(JournaledModel(model, journal), 0) == "pong"
