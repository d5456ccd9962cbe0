"""Fields that a server does not take are left out once it has said so, and that is told."""

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oracle.models.chat_completions import OPTIONAL, Refusal, read_refusal
from oracle.models.errors import CallRefused, PromptRefused
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.protocol import Finish, Request
from oracle.models.retry import Caller, RetryPolicy
from tests.oracle.llm_documents import REFUSALS
from tests.oracle.llm_server import Step, connected

SCHEMA = {"type": "object", "properties": {"idea": {"type": "string"}}}
FULL = Request("k", "ping", "be brief", 0.3, 99, SCHEMA, 7, "low")
FIELDS = ("temperature", "max_tokens", "response_format", "seed", "reasoning_effort")
MANNERS = (*REFUSALS, "located")


@pytest.fixture
def model(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1234")
    caller = Caller(RetryPolicy(attempts=3), 8, sleep=lambda seconds: None)
    with connected(OpenAIModel("local", ServerOptions(server.url + "/v1"), caller)) as model:
        yield model


def sent(server):
    return [set(asked.body) - {"model", "messages"} for asked in server.asked]


def test_all_fields_are_sent_to_a_server_that_takes_them(model, server):
    model.generate(FULL)
    assert sent(server) == [set(FIELDS)]
    assert server.asked[0].body["reasoning_effort"] == "low"


@pytest.mark.parametrize("manner", MANNERS)
@pytest.mark.parametrize("field", [name for name in FIELDS if name != "max_tokens"])
def test_a_field_is_left_out_for_the_rest_of_the_client_s_life(
    model, server, caplog, field, manner
):
    server.refuses = {field: manner}
    assert model.generate(FULL).text == "pong"
    assert model.generate(FULL).text == "pong"
    rest = set(FIELDS) - {field}
    assert sent(server) == [set(FIELDS), rest, rest]
    said = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert len(said) == 1
    assert f"openai:local does not take {field}, left out" in said[0]


def test_the_limit_on_output_is_tried_by_its_other_name(model, server):
    server.refuses = {"max_tokens": "param"}
    reply = model.generate(FULL)
    assert reply.attempts == 2
    assert server.asked[1].body["max_completion_tokens"] == 99
    server.refuses = {"max_tokens": "param", "max_completion_tokens": "param"}
    model.generate(FULL)
    assert sent(server)[-1] == set(FIELDS) - {"max_tokens"}


def test_a_server_that_takes_nothing_is_asked_with_nothing(model, server):
    server.refuses = {name: MANNERS[n % len(MANNERS)] for n, name in enumerate(OPTIONAL)}
    reply = model.generate(FULL)
    assert reply.text == "pong"
    assert sent(server)[-1] == set()
    assert reply.attempts == len(server.asked) == 7


@pytest.mark.parametrize(
    ("status", "message"),
    [
        # As templates of Gemma, Mistral and Ministral say it through vLLM and llama.cpp.
        (400, "System role not supported"),
        (500, "got exception: jinja exception: System role not supported"),
        (400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        (400, "Only user and assistant roles are supported!"),
        (500, "Only user, assistant and tool roles are supported, got system."),
        (422, "system messages are unsupported by this model"),
        (
            400,
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        ),
    ],
)
def test_a_model_without_system_messages_reads_them_in_the_question(
    model, server, caplog, status, message
):
    server.then(Step(status=status, message=message))
    reply = model.generate(FULL)
    assert (reply.text, reply.attempts) == ("pong", 2)
    model.generate(FULL)
    told = [[(one["role"], one["content"]) for one in a.body["messages"]] for a in server.asked]
    whole = [("user", "be brief\n\nping")]
    assert told == [[("system", "be brief"), ("user", "ping")], whole, whole]
    (said,) = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert "openai:local takes no system message" in said


def test_who_refuses_the_question_without_a_system_message_too_is_not_asked_for_ever(model, server):
    server.then(*[Step(status=400, message="System role not supported")] * 2)
    with pytest.raises(PromptRefused, match="System role not supported"):
        model.generate(FULL)
    assert len(server.asked) == 2


def test_threads_that_learn_it_at_the_same_time(model, server):
    server.refuses = {"seed": "param", "response_format": "message"}
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda n: model.generate(FULL), range(16)))
    assert {reply.text for reply in replies} == {"pong"}
    assert sent(server)[-1] == set(FIELDS) - {"seed", "response_format"}


@pytest.mark.parametrize(
    ("step", "left_out"),
    [
        # As DeepSeek, Groq, Ollama and Mistral on Azure have been seen to say it.
        (
            Step(status=400, message="This response_format type is unavailable now"),
            "response_format",
        ),
        (
            Step(status=400, message="This model does not support structured outputs"),
            "response_format",
        ),
        (
            Step(status=400, raw=b'{"error":"\\"gemma3\\" does not support thinking"}'),
            "reasoning_effort",
        ),
        (
            Step(status=422, raw=b'{"detail":[{"type":"extra_forbidden","loc":["body","seed"]}]}'),
            "seed",
        ),
        (
            Step(
                status=400,
                message="Unsupported value: 'temperature' does not support 0.3 with this model.",
            ),
            "temperature",
        ),
        (Step(status=500, message="Unsupported parameter: response_format"), "response_format"),
        (Step(status=501, message="seed: unknown field"), "seed"),
    ],
    ids=["deepseek", "groq", "ollama", "azure", "openai", "as-a-fault", "as-not-implemented"],
)
def test_in_the_words_of_servers(model, server, step, left_out):
    server.then(step)
    model.generate(FULL)
    assert sent(server)[1] == set(FIELDS) - {left_out}


def test_a_fault_that_mentions_a_field_is_a_fault(model, server):
    server.then(Step(status=500, message="the seed server crashed"))
    assert model.generate(FULL).attempts == 2
    assert sent(server) == [set(FIELDS)] * 2


def test_a_field_that_was_not_sent_is_not_blamed(model, server):
    server.then(Step(status=400, message="seed is wrong"))
    with pytest.raises(PromptRefused, match="seed is wrong"):
        model.generate(Request("k", "ping"))
    assert len(server.asked) == 1


def test_other_refusals_name_no_field(model, server):
    server.then(Step(status=403, message="no seed for you"), Step(status=400, message="bad json"))
    with pytest.raises(CallRefused) as caught:
        model.generate(FULL)
    assert not isinstance(caught.value, PromptRefused)
    with pytest.raises(PromptRefused, match="bad json"):
        model.generate(FULL)


@pytest.mark.parametrize(
    "step",
    [
        Step(
            status=400,
            code="invalid_prompt",
            message="Invalid prompt: your prompt was flagged as potentially violating our usage "
            "policy.",
        ),
        Step(status=400, code="content_filter", message="The response was filtered"),
        Step(
            status=403, message="Your chosen model requires moderation and your input was flagged"
        ),
        Step(status=400, raw=b'{"error":{"code":"data_inspection_failed","message":"no"}}'),
        Step(status=400, code="invalid_request_error", message="Content Exists Risk"),
        Step(status=400, message="input contains sensitive words: [pig]"),
        Step(status=500, code="sensitive_words_detected", message="user sensitive words detected"),
    ],
    ids=["openai", "azure", "openrouter", "alibaba", "deepseek", "one-api", "new-api"],
)
def test_a_refusal_by_policy_is_a_withheld_reply(model, server, step):
    server.then(step)
    reply = model.generate(FULL)
    assert (reply.finish, reply.refused, reply.cost) == (Finish.BLOCKED, True, 0.0)
    assert reply.tokens == 0
    assert len(server.asked) == 1


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["error", "message", "param", "code", "type", "detail", "loc", "n_ctx"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@example(400, {"detail": [{"loc": True}]})
@given(st.integers(400, 599), anything)
def test_any_body_of_an_error_can_be_read(status, body):
    refusal = read_refusal(status, body, "what the SDK says")
    assert isinstance(refusal, Refusal)
    assert refusal.of(OPTIONAL) is not None
    assert refusal.too_long in (True, False)
    assert refusal.by_policy in (True, False)
    assert refusal.limit is None or refusal.limit >= 0
