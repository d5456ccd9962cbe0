"""What Gemini refuses, and what becomes of the question, the key and the money."""

import json
import logging

import pytest

from oracle.models.choice import check_access
from oracle.models.errors import CallRefused, ModelUnavailable, PromptRefused
from oracle.models.gemini import GeminiModel
from oracle.models.options import ServerOptions
from oracle.models.prices import Price
from oracle.models.protocol import Request
from oracle.models.retry import Caller, RetryPolicy
from tests.oracle.llm_server import KEY, LLMServer, Step, connected

SCHEMA = {"type": "object", "properties": {"idea": {"type": "string"}}}
FULL = Request("k01/a00", "ping", "be brief", 0.3, 99, SCHEMA, 7, "minimal", ("ping",))
ON_THE_WIRE = {
    "temperature": "temperature",
    "max_output_tokens": "maxOutputTokens",
    "schema": "responseJsonSchema",
    "seed": "seed",
    "thinking": "thinkingConfig",
}

pytestmark = pytest.mark.usefixtures("keys")


@pytest.fixture
def model(server):
    options = ServerOptions(server.url, price=Price(1, 10))
    caller = Caller(RetryPolicy(attempts=8), sleep=lambda seconds: None)
    with connected(GeminiModel("made-up", options, caller)) as model:
        yield model


def sent(server):
    """The optional fields of each question that was asked."""
    asked = [one.body.get("generationConfig", {}) for one in server.asked]
    return [{name for name, wire in ON_THE_WIRE.items() if wire in one} for one in asked]


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("thinking", "Thinking level is not supported for this model."),
        ("thinking", 'Invalid JSON payload: Unknown name "thinkingConfig": Cannot find field.'),
        ("thinking", "Unable to submit request because thinking_budget is out of range"),
        ("schema", "JSON mode is not enabled for models/gemma-3-27b-it"),
        ("schema", "Unknown name \"responseJsonSchema\" at 'generation_config'"),
        ("seed", "Seed is not supported by this model"),
        ("temperature", "temperature is not supported"),
        ("max_output_tokens", "maxOutputTokens must be at most 50"),
    ],
)
@pytest.mark.parametrize("status", [400, 200])
def test_a_field_is_left_out_for_the_rest_of_the_client_s_life(
    model, server, caplog, field, message, status
):
    error = {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
    server.then(Step(status=status, raw=json.dumps(error).encode()))
    reply = model.generate(FULL)
    assert (reply.text, reply.attempts) == ("pong", 2)
    assert model.generate(FULL).attempts == 1
    rest = set(ON_THE_WIRE) - {field}
    assert sent(server) == [set(ON_THE_WIRE), rest, rest]
    said = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert len(said) == 1
    assert f"gemini:made-up does not take {field}, left out" in said[0]


def test_a_field_that_was_not_sent_cannot_be_left_out(model, server):
    server.then(Step(status=400, message="Thinking level is not supported"))
    with pytest.raises(PromptRefused, match="Thinking level"):
        model.generate(Request("k", "ping"))
    assert len(server.asked) == 1


def test_an_error_in_an_answer_of_status_200_means_what_it_means_elsewhere(model, server):
    def says(code, message):
        document = {"error": {"code": code, "message": message}}
        return Step(raw=json.dumps(document).encode())

    long = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    server.then(says(400, long), says(400, long))
    assert model.generate(FULL).unread
    server.then(says(400, "The prompt cannot be answered"))
    with pytest.raises(PromptRefused, match="400: The prompt cannot be answered"):
        model.generate(FULL)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_takes_the_key_along(model, server, status):
    with LLMServer() as other:
        address = other.url.replace("127.0.0.1", "localhost")
        moved = Step(status=status, raw=b"", location=f"{address}/v1/models/m:generateContent")
        server.then(moved)
        server.then_say_of_models(moved)
        with pytest.raises(CallRefused, match=f"only redirects, to {address}/v1/models"):
            model.generate(FULL)
        with pytest.raises(CallRefused, match=f"only redirects, to {address}/v1/models"):
            check_access(model)
    assert (other.asked, other.looked) == ([], [])
    assert len(server.asked) == 1


def test_an_account_without_credit_is_asked_once_more(model, server):
    empty = Step(status=429, message="Your prepayment credits are depleted. Please go to AI Studio")
    server.then(empty)
    assert model.generate(FULL).attempts == 2  # it is said by mistake, too
    server.then(empty, empty)
    with pytest.raises(ModelUnavailable, match=r"depleted.*attempt 2 of 2\); the account has no c"):
        model.generate(FULL)
    assert len(server.asked) == 4


def test_an_unreadable_answer_is_counted_with_what_it_says_of_itself(model, server):
    usage = {"promptTokenCount": 9000, "candidatesTokenCount": 4000}
    broken = Step(raw=json.dumps({"candidates": 7, "usageMetadata": usage}).encode())
    server.then(broken, Step(text="pong and more"))
    reply = model.generate(Request("k", "ping"))
    assert (reply.attempts, reply.lost) == (2, 1)
    assert (reply.prompt_tokens, reply.output_tokens) == (9001, 4003)
    assert reply.cost == pytest.approx((9001 + 10 * 4003) / 1e6)
    server.then(*[broken] * 8)
    with pytest.raises(ModelUnavailable, match=r"cannot be read.*4 came to nothing") as caught:
        model.generate(Request("k", "ping"))
    assert [one.tokens for one in caught.value.lost] == [13_000] * 4
    assert len(server.asked) == 6


def test_a_server_s_word_for_an_end_holds_no_key(model, server):
    server.then(Step(text="pong", finish=f"OTHER \x1b[2J {KEY}"), Step(blocked=f"FOR {KEY}"))
    assert model.generate(FULL).detail == "OTHER [U+001B][2J ***"
    assert model.generate(FULL).detail == "FOR ***"


def test_an_error_whose_body_cannot_be_read_is_one_of_its_status(model, server):
    server.then(Step(status=401, raw=b"[" * 10**5))
    with pytest.raises(CallRefused, match="the server answered 401: no message"):
        model.generate(FULL)
