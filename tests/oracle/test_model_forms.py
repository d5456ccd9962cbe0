"""What a question's forms and refusals cost on the way: counted, limited and never forgotten."""

import pytest

from oracle.models.budget import Budget
from oracle.models.errors import BudgetSpent, ModelUnavailable
from oracle.models.gemini import GeminiModel
from oracle.models.journal import JournaledModel, SqliteJournal
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.prices import Price
from oracle.models.protocol import Reply, Request
from oracle.models.retry import Caller, RetryPolicy
from oracle.models.told import Told
from oracle.models.window import PromptTooLong, Window, ask_in_forms
from tests.oracle.llm_server import Step, connected

FORMS = Request("k01/a00", "x" * 60_000, shorter=("x" * 20_000, "x" * 9_000), seed=7)
NAMED = {"gemini": "Unknown name 'seed': Cannot find field.", "openai": "Unknown parameter: 'seed'"}


class Cutting:
    """A model whose server reads 2,050 tokens of the first form, and then does as it is told."""

    name, price = "local", Price(1.0, 1.0)

    def __init__(self, then):
        self.asked, self._then, self._window = [], then, Window("local", Told())

    def generate(self, request):
        return ask_in_forms(self._window, request, self._ask, self.price)

    def close(self):
        """Nothing is open."""

    def _ask(self, form):
        self.asked.append(form)
        if len(self.asked) == 1:
            return Reply("half", prompt_tokens=2_050, output_tokens=50, cost=0.0021)
        if isinstance(self._then, Exception):
            raise self._then
        return self._then


@pytest.fixture
def journal(tmp_path):
    return SqliteJournal(tmp_path / "calls.sqlite")


WHOLE = Reply("whole", prompt_tokens=5_000, output_tokens=100, cost=0.0051)


def test_an_answer_to_a_part_of_a_form_is_a_call_that_came_to_nothing(journal):
    model, budget = Cutting(WHOLE), Budget(max_calls=2)
    reply = JournaledModel(model, journal, budget).generate(FORMS)
    assert (reply.text, reply.lost, len(model.asked)) == ("whole", 1, 2)
    assert (budget.spent.calls, budget.spent.tokens) == (2, 7_200)
    assert budget.spent == journal.spent()


def test_no_other_form_is_asked_behind_a_limit(journal):
    model, budget = Cutting(WHOLE), Budget(max_calls=1)
    with pytest.raises(BudgetSpent, match="limit of 1 calls"):
        JournaledModel(model, journal, budget).generate(FORMS)
    assert len(model.asked) == 1
    assert (budget.spent.calls, budget.spent.tokens) == (1, 2_100)
    assert budget.spent == journal.spent()


def test_what_was_paid_for_a_form_outlives_a_failure_of_the_next(journal):
    late = ModelUnavailable("no answer in time", (Reply("", prompt_tokens=9, output_tokens=1),))
    budget = Budget(max_cost=1.0)
    with pytest.raises(ModelUnavailable):
        JournaledModel(Cutting(late), journal, budget).generate(FORMS)
    assert (budget.spent.calls, budget.spent.tokens) == (2, 2_110)
    assert budget.spent.cost == pytest.approx(2_110e-6)
    assert budget.spent == journal.spent()


def test_what_was_lost_before_a_form_was_refused_counts():
    def ask(form):
        if len(form) > 30_000:
            error = PromptTooLong("too long", 8_192)
            error.lost = (Reply("", prompt_tokens=900, output_tokens=100), Reply(""))
            raise error
        return WHOLE

    reply = ask_in_forms(Window("m", Told()), FORMS, ask, Price(1.0, 1.0))
    assert (reply.text, reply.lost, reply.tokens) == ("whole", 2, 6_100)
    assert reply.cost == pytest.approx(0.0051 + 1_000e-6)


@pytest.fixture(params=["gemini", "openai"])
def model(request, server, keys):
    kind = {"gemini": GeminiModel, "openai": OpenAIModel}[request.param]
    url = server.url if request.param == "gemini" else server.url + "/v1"
    options = ServerOptions(url, price=Price(1.0, 1.0))
    caller = Caller(RetryPolicy(), sleep=lambda seconds: None)
    with connected(kind("m", options, caller)) as made:
        yield made


ASKED = Request("k01/a00", "ping the server", seed=7)


def test_what_was_lost_before_a_field_was_refused_counts(model, server):
    kind = "openai" if isinstance(model, OpenAIModel) else "gemini"
    server.then(Step(status=504), Step(status=400, message=NAMED[kind]), Step(text="pong"))
    reply = model.generate(ASKED)
    assert (reply.text, reply.lost, len(server.asked)) == ("pong", 1, 3)
    assert "seed" not in str(server.asked[2].body)


def test_what_was_lost_before_a_field_was_refused_is_told_by_a_failure(model, server):
    kind = "openai" if isinstance(model, OpenAIModel) else "gemini"
    refused = Step(status=400, message=NAMED[kind])
    server.then(Step(status=504), refused, *[Step(status=504)] * 4)
    with pytest.raises(ModelUnavailable) as up:
        model.generate(ASKED)
    assert (len(server.asked), len(up.value.lost)) == (4, 3)


def test_a_prompt_that_leaves_no_room_for_an_answer_is_shortened(server, keys):
    """Rather that than a fragment of a program, which is paid for."""
    said = (
        "This model's maximum context length is 8192 tokens. However, you requested {} tokens "
        "({} in the messages, 4096 in the completion)."
    )
    question = Request("k01/a00", "x" * 9_000, shorter=("x" * 4_000,), max_output_tokens=4_096)
    with connected(OpenAIModel("m", ServerOptions(server.url + "/v1"))) as model:
        server.then(Step(status=400, message=said.format(12_196, 8_100)), Step(text="whole"))
        reply = model.generate(question)
        assert (reply.text, reply.sent) == ("whole", question.shorter[0])
        assert [one.body["max_tokens"] for one in server.asked] == [4_096, 4_096]
        # There is no shorter one: a short answer is better than none.
        server.then(Step(status=400, message=said.format(12_196, 8_100)), Step(text="short"))
        last = Request("k01/a01", question.shorter[0], max_output_tokens=4_096)
        assert model.generate(last).text == "short"
        assert server.asked[-1].body["max_tokens"] < 100
