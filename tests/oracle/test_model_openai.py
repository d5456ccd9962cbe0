"""OpenAI-compatible servers through the real SDK, against a server on this machine."""

import json
import sys
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.models.errors import CallRefused, MissingKey, MissingPackage, ModelUnavailable
from oracle.models.openai_compatible import OpenAIModel, read_answer
from oracle.models.options import ServerOptions
from oracle.models.prices import FREE, Price
from oracle.models.protocol import Finish, Reply, Request
from oracle.models.retry import Caller, RetryPolicy
from oracle.values import Rejected
from tests.oracle.llm_server import Step

KEY = "sk-secret-1234"
ASKED = Request("k01/a00", "ping the server")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def waits():
    return []


@pytest.fixture
def model(server, waits):
    options = ServerOptions(server.url + "/v1", timeout_seconds=60.0, price=Price(1, 2))
    caller = Caller(RetryPolicy(attempts=4), sleep=waits.append)
    return OpenAIModel("local-model", options, caller)


def test_an_answer_with_usage_and_cost(model, server):
    server.then(Step(text="pong and more", thoughts=5))
    reply = model.generate(ASKED)
    assert (reply.text, reply.finish, reply.failure) == ("pong and more", Finish.STOPPED, None)
    assert (reply.prompt_tokens, reply.output_tokens, reply.thought_tokens) == (3, 3, 5)
    assert reply.cost == pytest.approx((3 * 1 + 8 * 2) / 1e6)
    assert (reply.model, reply.origin, reply.attempts) == ("local-model", "r0", 1)


def test_everything_of_a_request_is_sent(model, server):
    schema = {"type": "object", "properties": {"strategy": {"type": "string"}}}
    model.generate(Request("k", "ping", "be brief", 0.3, 99, schema, 2**40 + 7))
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "ping"},
    ]
    sent = {name: asked.body[name] for name in ("model", "temperature", "max_tokens", "seed")}
    assert sent == {"model": "local-model", "temperature": 0.3, "max_tokens": 99, "seed": 7}
    assert asked.body["response_format"]["json_schema"]["schema"] == schema


def test_what_a_request_leaves_open_is_not_sent(model, server):
    model.generate(ASKED)
    assert set(server.asked[0].body) == {"model", "messages"}


@pytest.mark.parametrize("status", [409, 429, 500, 502, 503])
def test_what_may_pass_is_tried_again(model, server, waits, status):
    server.then(Step(status=status), Step(status=status, retry_after="31"))
    assert model.generate(ASKED).attempts == 3
    assert 1 <= waits[0] <= 2
    assert 31 <= waits[1] <= 32


def test_out_of_credit_is_not_tried_again(model, server):
    server.then(Step(status=429, code="insufficient_quota", message="you are out of credit"))
    with pytest.raises(CallRefused, match="out of credit"):
        model.generate(ASKED)
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_cannot_pass_is_not_tried_again(model, server, status):
    server.then(Step(status=status, message=f"wrong key: {KEY}"))
    with pytest.raises(CallRefused, match=rf"{status}: .*wrong key: \*\*\*") as caught:
        model.generate(ASKED)
    assert KEY not in str(caught.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize("drop", [True, "reset"])
def test_a_lost_connection_is_tried_again(model, server, drop):
    server.then(Step(drop=drop), Step(drop=drop))
    assert model.generate(ASKED).attempts == 3


@pytest.mark.parametrize("content_type", ["application/json", "text/html"])
@pytest.mark.parametrize(
    "raw",
    [
        b"<html>a proxy's page</html>",
        b"",
        b'{"choices": 7}',
        b'{"choices": [7]}',
        b'{"choices": [{"message": null}]}',
        b"\xff\xfe",
        b"[" * 10**5,
    ],
)
def test_garbage_is_tried_again(model, server, raw, content_type):
    server.then(Step(raw=raw, content_type=content_type))
    assert model.generate(ASKED).attempts == 2


def test_a_slow_server_is_given_up_on(server, waits):
    options = ServerOptions(server.url + "/v1", timeout_seconds=0.2)
    model = OpenAIModel("m", options, Caller(RetryPolicy(2), sleep=waits.append))
    server.then(Step(seconds=30), Step(seconds=30))
    with pytest.raises(ModelUnavailable, match="timed out"):
        model.generate(ASKED)
    assert len(waits) == 1


def test_withheld_cut_off_and_empty_replies(model, server):
    server.then(
        Step(blocked="SAFETY"),
        Step(text="class Ag", extra={"refusal": "I will not"}),
        Step(text="class Ag", finish="MAX_TOKENS"),
        Step(empty=True, finish="MAX_TOKENS", thoughts=500),
        Step(empty=True),
    )
    blocked, refused, cut, thought, empty = (model.generate(ASKED) for _ in range(5))
    assert blocked.failure.kind is refused.failure.kind is Rejected.BLOCKED
    assert (cut.text, cut.cut_off, cut.failure) == ("class Ag", True, None)
    assert thought.failure.kind is Rejected.TRUNCATED
    assert thought.thought_tokens == 500
    assert empty.failure.kind is Rejected.EMPTY


@pytest.mark.parametrize(
    "usage",
    [
        None,
        3,
        {"prompt_tokens": -1},
        {"prompt_tokens": True, "completion_tokens": "four"},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 10**400, "completion_tokens": 10**400},
    ],
)
def test_usage_that_makes_no_sense_is_unknown(model, server, usage):
    answer = {"choices": [{"message": {"content": "pong"}}], "usage": usage}
    server.then(Step(raw=json.dumps(answer).encode()))
    reply = model.generate(ASKED)
    assert reply.text == "pong"
    assert (reply.prompt_tokens, reply.output_tokens, reply.cost) == (None, None, None)


def test_a_server_of_ones_own_needs_no_key_and_has_no_list_price(server, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/v1")
    with closing(OpenAIModel("gpt-4o")) as model:
        assert model.price is None
        assert model.generate(ASKED).cost is None
    server.then(Step(usage=False))
    with closing(OpenAIModel("gpt-4o", ServerOptions(price=FREE))) as free:
        assert free.generate(ASKED).cost == 0.0


def test_openai_itself_needs_a_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    model = OpenAIModel("gpt-4o")
    assert model.price is not None
    with pytest.raises(MissingKey, match="OPENAI_API_KEY, or OPENAI_BASE_URL"):
        model.generate(ASKED)


@pytest.mark.parametrize("address", ["https://api.openai.com/v1", " https://API.openai.com/v1/ "])
def test_openai_s_own_address_is_no_other_server(monkeypatch, address):
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    model, usual = OpenAIModel("gpt-4o"), OpenAIModel("gpt-4o", ServerOptions(base_url=""))
    assert model.price == usual.price is not None
    assert not model._window.cut(60_000, 2_050)  # which a server of one's own would have cut
    with closing(model):
        assert str(model.connect().base_url) == "https://api.openai.com/v1/"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:11434/v1")
    own = OpenAIModel("gpt-4o", ServerOptions(base_url=address.strip()))
    assert own.price is not None
    with closing(own):
        assert str(own.connect().base_url) == "https://api.openai.com/v1/"
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(MissingKey):
        OpenAIModel("gpt-4o", ServerOptions(base_url=address.strip())).generate(ASKED)


def test_a_missing_package_is_said_to_be_missing(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingPackage, match=r"pip install .*\[openai\]'"):
        model.generate(ASKED)


names = st.sampled_from(
    [
        "choices",
        "message",
        "content",
        "finish_reason",
        "refusal",
        "usage",
        "prompt_tokens",
        "completion_tokens",
        "completion_tokens_details",
        "reasoning_tokens",
        "model",
        "id",
    ]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=5),
    max_leaves=20,
)


@given(anything)
def test_any_answer_is_a_reply_or_garbage(answer):
    try:
        part = read_answer(answer)
    except ValueError:
        return
    assert isinstance(part, Reply)
    assert part.tokens is None or part.tokens >= 0
