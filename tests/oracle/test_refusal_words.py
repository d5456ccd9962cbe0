"""What servers say when they refuse, as they have been seen to say it, and what is made of it."""

import json
from dataclasses import replace

import pytest

from oracle.models.chat_completions import read_refusal
from oracle.models.errors import CallRefused, ModelUnavailable, PromptRefused
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.protocol import Finish, Request
from oracle.models.refusal_words import limit_in, no_credit, status_in
from oracle.models.retry import Caller, RetryPolicy
from tests.oracle.llm_server import Step, connected

SCHEMA = {"type": "object", "properties": {"idea": {"type": "string"}}}
FULL = Request("k", "ping", "be brief", 0.3, 4_000, SCHEMA, 7, "minimal")


@pytest.fixture
def model(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1234")
    with connected(model_at(server.url + "/v1")) as model:
        yield model


def model_at(url):
    caller = Caller(RetryPolicy(attempts=2), sleep=lambda seconds: None)
    return OpenAIModel("local", ServerOptions(url), caller)


def said(document, status=200):
    return Step(status=status, raw=json.dumps(document).encode())


PASSES = [
    {"error": {"type": "overloaded_error", "message": "Overloaded"}},
    {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    {"error": {"message": "The server had an error. Sorry!", "type": "server_error", "code": None}},
    {"error": {"message": "x", "type": "internal_server_error"}},
    {"error": {"type": "rate_limit_error", "message": "Number of requests has exceeded"}},
    {"error": {"message": "Upstream idle timeout exceeded", "code": "upstream_timeout"}},
    {"error": {"message": "x", "type": "timeout"}},
    {"error": {"message": "The model is overloaded", "code": "UNAVAILABLE"}},
    {"error": {"message": "x", "status": "RESOURCE_EXHAUSTED"}},
    {"error": "Rate limit exceeded, please slow down"},
    {"error": "Model is currently loading", "estimated_time": 20.0},
    {"id": "", "choices": None, "base_resp": {"status_code": 1002, "status_msg": "rate limit"}},
    {"code": 500, "msg": "404 NOT_FOUND", "success": False},
    {"detail": "come back later"},
]


@pytest.mark.parametrize("document", PASSES)
def test_an_error_of_status_200_that_passes_is_waited_for(model, server, document):
    server.then(said(document))
    reply = model.generate(FULL)
    late = document in (PASSES[5], PASSES[6])  # which may cost something
    assert (reply.text, reply.attempts, reply.lost) == ("pong", 2, int(late))


def test_it_passes_in_an_event_as_well(model, server):
    server.then(Step(raw=f"data: {json.dumps(PASSES[0])}\n\n".encode()))
    assert model.generate(FULL).attempts == 2


@pytest.mark.parametrize(
    ("document", "told"),
    [
        (PASSES[0], "503: Overloaded"),
        ({"error": "the stars are wrong"}, "with an error: the stars are wrong"),
        ({"detail": "come back later"}, "with an error: come back later"),
        (
            {"choices": None, "base_resp": {"status_code": 1000, "status_msg": "unknown, 1000"}},
            "with an error: unknown, 1000",
        ),
    ],
)
def test_what_does_not_pass_is_told_in_the_servers_words(model, server, document, told):
    server.then(said(document), said(document))
    with pytest.raises(ModelUnavailable, match=told):
        model.generate(FULL)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ({"type": "authentication_error", "message": "invalid x-api-key"}, "401: invalid"),
        ({"code": "invalid_api_key", "type": "invalid_request_error", "message": "x"}, "401: x"),
        ({"message": "Missing API key"}, "with an error: Missing API key"),
        ({"type": "permission_error", "message": "not yours"}, "403: not yours"),
        ({"type": "not_found_error", "message": "model: m"}, "404: model: m"),
        ("The model `m` does not exist", "404: The model `m` does not exist"),
    ],
)
def test_an_error_of_status_200_that_stays_ends_the_run(model, server, error, told):
    server.then(said({"error": error}))
    with pytest.raises(CallRefused, match=told) as caught:
        model.generate(FULL)
    assert not isinstance(caught.value, PromptRefused)
    assert len(server.asked) == 1


def test_a_request_that_is_refused_with_status_200_is_one_question(model, server):
    refused = {"type": "invalid_request_error", "message": "no pictures"}
    server.then(said({"error": refused}))
    with pytest.raises(PromptRefused, match="400: no pictures"):
        model.generate(FULL)
    server.then(said({"error": "blocked by our usage policies"}))
    assert model.generate(FULL).finish is Finish.BLOCKED


def test_words_of_no_status():
    assert status_in(["", "strange", "error"], "so it goes") == 0
    assert status_in(["DeploymentNotFound"], "") == 404
    assert status_in(["APITimeoutError"], "") == 504


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (
            429,
            {
                "type": "exceeded_current_quota_error",
                "message": "suspended, please recharge your account",
            },
        ),
        (429, {"code": "1113", "message": "no resource package"}),
        (429, {"code": "insufficient_quota", "message": "check your plan"}),
        (429, {"message": "Your prepayment credits are depleted."}),
        (400, {"message": "Budget has been exceeded!", "type": "budget_exceeded", "code": "400"}),
        (400, {"message": "x", "code": "billing_hard_limit_reached"}),
        (400, {"message": "Your credit balance is too low to access the API."}),
        (402, {"message": "add some"}),
        (403, {"message": "Insufficient account balance"}),
        (200, {"message": "insufficient balance"}),
    ],
)
def test_an_account_without_credit_ends_the_run_at_once(model, server, status, error):
    server.then(said({"error": error}, status))
    with pytest.raises(CallRefused, match="the account has no credit") as caught:
        model.generate(FULL)
    assert not isinstance(caught.value, PromptRefused)
    assert len(server.asked) == 1


def test_minimax_says_it_beside_no_answer(model, server):
    base = {"status_code": 1008, "status_msg": "insufficient balance"}
    server.then(said({"id": "", "choices": None, "base_resp": base}))
    with pytest.raises(CallRefused, match="insufficient balance; the account has no credit"):
        model.generate(FULL)


@pytest.mark.parametrize(
    "message",
    [
        "You exceeded your current quota, please check your plan and billing details. * Quota "
        "exceeded for metric: generate_content_free_tier_requests, limit: 20. Please retry in 1s.",
        "Rate limit reached for tokens per day (TPD): Limit 100000, Used 99000",
        "Request prompt exceeds the KV memory budget: input_len=9000, max=4096",
    ],
)
def test_a_quota_of_time_is_none_of_money(message):
    assert not no_credit(429, "rate_limit_exceeded", "tokens", message)


SGLANG = (
    "Requested token count exceeds the model's maximum context length of 32768 tokens. You "
    "requested a total of 33544 tokens: {} tokens from the input messages and {} tokens for the "
    "completion. Please reduce the number of tokens in the input messages or the completion."
)
ANTHROPIC = "input length and `max_tokens` exceed context limit: {} + {} > 32768, decrease either"


@pytest.mark.parametrize("form", [SGLANG, ANTHROPIC])
def test_a_limit_on_the_answer_that_is_too_high_is_lowered_for_that_question(model, server, form):
    server.then(Step(status=400, message=form.format(30_000, 4_000)))
    assert model.generate(FULL).attempts == 2
    model.generate(FULL)
    assert [one.body["max_tokens"] for one in server.asked] == [4_000, 2_768, 4_000]
    assert len({one.prompt for one in server.asked}) == 1


def test_a_limit_that_cannot_be_lowered_enough_is_dropped_and_then_the_prompt_is_too_long(
    model, server
):
    refused = Step(status=400, message=SGLANG.format(30_000, 4_000))
    server.then(refused, refused, refused)
    assert model.generate(FULL).unread
    assert [one.body.get("max_tokens") for one in server.asked] == [4_000, 2_768, None]


AT_LEAST = (
    "This model's maximum context length is 32768 tokens. However, you requested 4000 output "
    "tokens and your prompt contains {} input tokens. Please reduce the length of the input prompt."
)
CHARACTERS = "400000 characters (more than 230144, which is the upper bound for 28768 input tokens)"
PASSED = (
    "You passed 28769 input tokens and requested 4000 output tokens. However, the model's context "
    "length is only 32768 tokens, resulting in a maximum input length of 28768 tokens."
)


@pytest.mark.parametrize(
    "message",
    [
        AT_LEAST.format("at least 28769"),
        AT_LEAST.replace(" input tokens", "").format(CHARACTERS),
        PASSED,
    ],
)
def test_a_count_that_is_a_lower_bound_says_nothing_of_the_answer(model, server, message):
    """As vLLM 0.16 counts: no further than to the first token that is too many."""
    long = Request("k", "x" * 200_000, max_output_tokens=4_000, shorter=("y" * 2_000,))
    server.then(Step(status=400, message=message))
    assert model.generate(long).sent == long.shorter[0]
    model.generate(FULL)
    assert [one.body["max_tokens"] for one in server.asked] == [4_000] * 3
    server.then(Step(status=400, message=message))
    few = Request("k", "x" * 200, max_output_tokens=32_700)
    assert not model.generate(few).unread  # so short a prompt fits for sure
    assert server.asked[-1].body["max_tokens"] == 32_768 - 80


@pytest.mark.parametrize(
    ("status", "message", "limit"),
    [
        (500, "Context size has been exceeded.", None),
        (
            500,
            "rpc error: code = InvalidArgument desc = request (20652 tokens) exceeds the available "
            "context size (8192 tokens), try increasing it",
            8192,
        ),
        (
            500,
            "litellm.APIConnectionError: OpenAIException - This model's maximum context length is "
            "16384 tokens.",
            16384,
        ),
        (400, "input (9000 tokens) is larger than the max context size (4096 tokens).", 4096),
        (400, "Request prompt exceeds the KV memory budget: input_len=9000, max=4096", 4096),
        (
            400,
            "The sum of prompt length (9000), query length (0) should not exceed max_num_tokens "
            "(8192)",
            8192,
        ),
    ],
)
def test_a_prompt_that_is_too_long_whatever_the_status(model, server, status, message, limit):
    assert read_refusal(status, {"error": {"message": message}}, "").limit == limit
    server.then(Step(status=status, message=message))
    reply = model.generate(Request("k", "a long question", shorter=("short",)))
    assert (reply.text, reply.sent, len(server.asked)) == ("pong", "short", 2)


def test_vllm_names_what_a_prompt_leaves_of_its_context(model, server):
    said = "max_tokens must be at least 1, got -1200. (parameter=max_tokens, value=-1200)"
    error = {"message": said, "type": "BadRequestError", "param": "max_tokens", "code": 400}
    server.then(Step(status=400, raw=json.dumps({"error": error}).encode()))
    reply = model.generate(replace(FULL, shorter=("short",)))
    assert (reply.text, reply.sent, len(server.asked)) == ("pong", "short", 2)


def test_a_fault_that_only_may_mean_the_length_is_a_fault(model, server):
    server.then(Step(status=500, message="too many tokens in the queue"))
    reply = model.generate(FULL)
    assert (reply.attempts, reply.unread) == (2, False)


@pytest.mark.parametrize(
    ("message", "limit"),
    [
        ("This model's maximum context length is 128k tokens.", 128_000),
        ("exceeds context size of 1M tokens", 1_000_000),
        ("maximum context length is 1.5M tokens", 1_500_000),
        ("maximum context length is 8,192 tokens", 8_192),
        ("maximum context length is 8192.", 8_192),
    ],
)
def test_a_context_in_thousands(message, limit):
    assert limit_in(message) == limit


@pytest.mark.parametrize(
    ("message", "left_out"),
    [
        (
            'invalid reasoning value: \'minimal\' (must be "high", "medium", "low", "max", '
            'or "none")',
            "reasoning_effort",
        ),
        ("invalid think value: 'minimal' (must be true or false)", "reasoning_effort"),
        ("Reasoning is mandatory for this endpoint and cannot be disabled.", "reasoning_effort"),
        ("JSON mode is not enabled for this model", "response_format"),
        ("Failed to initialize samplers: failed to parse grammar", "response_format"),
        ("This model does not support structured_outputs", "response_format"),
    ],
)
def test_a_field_by_other_words(model, server, message, left_out):
    server.then(Step(status=400, message=message))
    model.generate(FULL)
    first, second = (set(one.body) for one in server.asked)
    assert first - second == {left_out}


def test_a_limit_that_the_model_never_takes_is_left_out(model, server):
    message = (
        "Unable to submit request because it has a maxOutputTokens value of 100000 but the "
        "supported range is from 1 (inclusive) to 65537 (exclusive)."
    )
    server.then(*[Step(status=400, message=message)] * 2)
    assert model.generate(FULL).text == "pong"
    assert not {"max_tokens", "max_completion_tokens"} & set(server.asked[-1].body)


def test_lm_studio_says_with_status_200_that_the_address_is_not_its_api_s(server):
    endpoint = {"error": "Unexpected endpoint or method. (POST /chat/completions)"}
    server.then(said(endpoint))
    with (
        connected(model_at(server.url)) as model,
        pytest.raises(CallRefused, match=r"asked was http://127\S+/chat/\S+; does it lack /v1\?"),
    ):
        model.generate(FULL)
