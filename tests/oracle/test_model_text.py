"""Models that continue a text, through the real SDK, against a server on this machine."""

import pytest

from arena.errors import UsageFault
from oracle.models.choice import check_asking, model_from
from oracle.models.errors import CallRefused, ModelUnavailable
from oracle.models.options import Asking, ServerOptions
from oracle.models.prices import Price
from oracle.models.protocol import Finish, Request
from oracle.models.retry import Caller, RetryPolicy
from oracle.models.text_completions import MOST_TOKENS, TextModel, read_continuation
from oracle.values import Rejected
from tests.oracle.llm_server import LLMServer, Step

ASKED = Request("k", "R P\nS S", "Two players throw.", seed=5)


@pytest.fixture
def server(monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1234")
    with LLMServer() as server:
        yield server


@pytest.fixture
def model(server):
    options = ServerOptions(server.url + "/v1", timeout_seconds=60.0, price=Price(1, 2))
    model = TextModel("base", options, Caller(RetryPolicy(attempts=3), sleep=lambda seconds: None))
    yield model
    model.close()


def test_it_is_sent_one_text_and_continues_in_a_new_line(model, server):
    server.then(Step(text="P R\nS P"))
    reply = model.generate(ASKED)
    (asked,) = server.asked
    assert asked.path == "/v1/completions"
    assert asked.body == {
        "model": "base",
        "prompt": "Two players throw.\n\nR P\nS S\n",
        "max_tokens": MOST_TOKENS,
        "seed": 5,
    }
    assert (reply.text, reply.finish, reply.model) == ("P R\nS P", Finish.STOPPED, "base")
    assert (reply.prompt_tokens, reply.output_tokens) == (7, 4)
    assert reply.cost == pytest.approx((7 * 1 + 4 * 2) / 1e6)


def test_what_is_asked_for_is_sent_and_what_texts_do_not_know_is_not(model, server):
    model.generate(Request("k", "ping", "", 0.0, 99, {"type": "object"}, None, "low"))
    sent = {"model": "base", "prompt": "ping\n", "temperature": 0.0, "max_tokens": 99}
    assert server.asked[0].body == sent


def test_a_continuation_that_was_cut_off_is_read(model, server):
    server.then(Step(text="R P\nR", finish="MAX_TOKENS"))
    reply = model.generate(ASKED)
    assert (reply.finish, reply.failure, reply.text) == (Finish.CUT_OFF, None, "R P\nR")


def test_faults_are_those_of_chats(model, server):
    server.refuses = {"seed": "message"}
    assert model.generate(ASKED).attempts == 2
    server.then(Step(empty=True), Step(status=401, message="no such key"))
    assert model.generate(ASKED).failure.kind is Rejected.EMPTY
    with pytest.raises(CallRefused, match="no such key"):
        model.generate(ASKED)
    server.then(*(Step(raw=b'{"choices": [{"text": 7}]}'),) * 3)
    with pytest.raises(ModelUnavailable, match="has no text"):
        model.generate(ASKED)


@pytest.mark.parametrize("answer", [None, [], {"choices": 1}, {"choices": [{"message": {}}]}])
def test_what_is_no_text_completion_is_refused(answer):
    with pytest.raises(ValueError, match="no text"):
        read_continuation(answer)


def test_it_is_written_text_and_does_not_think(server):
    model = model_from("text:base", ServerOptions(server.url + "/v1"))
    assert (type(model), model.name) == (TextModel, "text:base")
    check_asking("text:base", Asking(temperature=0.0, max_output_tokens=8))
    with pytest.raises(UsageFault, match="does not think"):
        check_asking("text:base", Asking(thinking="low"))
