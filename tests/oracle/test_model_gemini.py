"""Gemini through the real SDK, against a server on this machine that misbehaves."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.models.catalogue import default_model, price_of
from oracle.models.errors import CallRefused, MissingKey, ModelUnavailable
from oracle.models.gemini import MAX_PARTS, GeminiModel
from oracle.models.gemini_answer import read_answer
from oracle.models.options import ServerOptions
from oracle.models.prices import Price
from oracle.models.protocol import Finish, Reply, Request
from oracle.models.retry import Caller, RetryPolicy
from oracle.values import Rejected
from tests.oracle.llm_server import KEY, Step

ASKED = Request("k01/a00", "ping the server")

pytestmark = pytest.mark.usefixtures("keys")


@pytest.fixture
def waits():
    return []


@pytest.fixture
def model(server, waits):
    options = ServerOptions(server.url, timeout_seconds=60.0)
    return GeminiModel(options=options, caller=Caller(RetryPolicy(attempts=4), sleep=waits.append))


def test_an_answer_with_usage_and_cost(model, server):
    server.then(Step(text="pong and more", thoughts=5))
    reply = model.generate(ASKED)
    assert (reply.text, reply.finish, reply.failure) == ("pong and more", Finish.STOPPED, None)
    assert (reply.prompt_tokens, reply.output_tokens, reply.thought_tokens) == (3, 3, 5)
    assert reply.cost == pytest.approx(price_of(default_model()).cost(3, 8))
    assert (reply.model, reply.origin, reply.attempts) == (default_model(), "r0", 1)


def test_everything_of_a_request_is_sent(model, server):
    schema = {"type": "object", "properties": {"strategy": {"type": "string"}}}
    model.generate(Request("k", "ping", "be brief", 0.3, 99, schema, 2**40 + 7))
    (asked,) = server.asked
    assert asked.path == f"/v1/models/{default_model()}:generateContent"
    assert asked.headers["x-goog-api-key"] == KEY
    assert asked.headers["x-server-timeout"] == "60"
    assert asked.prompt == "ping"
    assert asked.body["systemInstruction"]["parts"] == [{"text": "be brief"}]
    config = asked.body["generationConfig"]
    assert (config["temperature"], config["maxOutputTokens"], config["seed"]) == (0.3, 99, 7)
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"] == schema


def test_a_model_without_system_instructions_reads_them_in_the_question(model, server, caplog):
    refusal = "Developer instruction is not enabled for models/gemma-3-27b-it"
    server.then(Step(status=400, message=refusal))
    reply = model.generate(Request("k", "ping", "be brief"))
    assert (reply.text, reply.attempts) == ("pong", 2)
    model.generate(Request("k", "ping", "be brief"))
    told = [(asked.prompt, "systemInstruction" in asked.body) for asked in server.asked]
    assert told == [("ping", True), ("be brief\n\nping", False), ("be brief\n\nping", False)]
    said = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    (told,) = [one for one in said if "takes no system message" in one]
    assert refusal in told
    server.then(Step(status=400, message=refusal))
    with pytest.raises(CallRefused, match="Developer instruction"):
        model.generate(ASKED)


def test_what_a_request_leaves_open_is_not_sent(model, server):
    model.generate(ASKED)
    assert set(server.asked[0].body) <= {"contents", "generationConfig"}
    assert not server.asked[0].body.get("generationConfig")


@pytest.mark.parametrize("status", [409, 429, 499, 500, 502, 503])
def test_what_may_pass_is_tried_again(model, server, waits, status):
    server.then(Step(status=status), Step(status=status))
    reply = model.generate(ASKED)
    assert (reply.text, reply.attempts) == ("pong", 3)
    assert 1 <= waits[0] <= 2 <= waits[1] <= 4
    assert len(server.charged) == 1


def test_the_server_says_how_long_to_wait(model, server, waits):
    server.then(Step(status=429, retry_delay="7s"), Step(status=503, retry_after="31"))
    assert model.generate(ASKED).attempts == 3
    assert 7 <= waits[0] <= 8
    assert 31 <= waits[1] <= 32


def test_a_wait_beyond_the_limit_is_not_begun(model, server, waits):
    server.then(Step(status=429, retry_delay="86400s", message="quota for today is spent"))
    with pytest.raises(
        ModelUnavailable, match=r"quota for today is spent.*8640\d s more, and 600 s"
    ):
        model.generate(ASKED)
    assert waits == []


def test_the_last_attempt_gives_up(model, server, waits):
    server.then(*[Step(status=503, message="overloaded")] * 4)
    with pytest.raises(ModelUnavailable, match=r"503 UNAVAILABLE: overloaded \(attempt 4 of 4\)"):
        model.generate(ASKED)
    assert (len(server.asked), len(waits)) == (4, 3)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_cannot_pass_is_not_tried_again(model, server, status):
    server.then(Step(status=status, message=f"your key {KEY} is not valid"))
    with pytest.raises(CallRefused, match=r"your key \*\*\* is not valid") as caught:
        model.generate(ASKED)
    assert str(status) in str(caught.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize("drop", [True, "reset"])
def test_a_lost_connection_is_tried_again(model, server, drop):
    server.then(Step(drop=drop), Step(drop=drop))
    assert model.generate(ASKED).attempts == 3


@pytest.mark.parametrize(
    "raw",
    [
        b"<html>a proxy's page</html>",
        b"",
        b'{"candidates": 7}',
        b"[1, 2",
        b"\xff\xfe",
        b"{}",
        b"[" * 10**5,
    ],
)
def test_garbage_is_tried_again(model, server, raw):
    server.then(Step(raw=raw), Step(raw=raw, status=502))
    assert model.generate(ASKED).attempts == 3


def test_a_slow_server_is_given_up_on(server, waits):
    options = ServerOptions(server.url, timeout_seconds=0.5)
    model = GeminiModel(options=options, caller=Caller(RetryPolicy(), sleep=waits.append))
    server.then(Step(seconds=30))
    assert model.generate(ASKED).attempts >= 2


def test_no_server_at_all(waits):
    options = ServerOptions("http://127.0.0.1:9")
    model = GeminiModel(options=options, caller=Caller(RetryPolicy(2), sleep=waits.append))
    with pytest.raises(ModelUnavailable, match="cannot be reached: ConnectError"):
        model.generate(ASKED)


def test_a_blocked_prompt_is_a_reply(model, server):
    server.then(Step(blocked="PROHIBITED_CONTENT"))
    reply = model.generate(ASKED)
    assert (reply.finish, reply.detail) == (Finish.BLOCKED, "PROHIBITED_CONTENT")
    assert reply.failure.kind is Rejected.BLOCKED
    assert (reply.prompt_tokens, reply.output_tokens) == (3, 0)


@pytest.mark.parametrize("finish", ["SAFETY", "RECITATION", "BLOCKLIST", "SPII"])
def test_a_withheld_reply_is_blocked_though_it_has_a_beginning(model, server, finish):
    server.then(Step(text="class Agent:", finish=finish))
    assert model.generate(ASKED).failure.kind is Rejected.BLOCKED


def test_thinking_can_use_up_the_output(model, server):
    server.then(Step(empty=True, finish="MAX_TOKENS", thoughts=500))
    reply = model.generate(ASKED)
    assert reply.cut_off
    assert reply.failure.kind is Rejected.TRUNCATED
    assert (reply.output_tokens, reply.thought_tokens) == (0, 500)
    assert reply.cost == pytest.approx(price_of(default_model()).cost(3, 500))


def test_a_cut_off_reply_keeps_its_text(model, server):
    server.then(Step(text="class Ag", finish="MAX_TOKENS"))
    reply = model.generate(ASKED)
    assert (reply.text, reply.cut_off, reply.failure) == ("class Ag", True, None)


@pytest.mark.parametrize("step", [Step(empty=True), Step(text=""), Step(text=" \n")])
def test_an_empty_reply_is_a_failure(model, server, step):
    server.then(step)
    assert model.generate(ASKED).failure.kind is Rejected.EMPTY


def test_a_reply_that_ends_oddly_is_not_taken_for_whole(model, server):
    server.then(Step(text="class Ag", finish="OTHER"), Step(empty=True, finish="OTHER"))
    assert model.generate(ASKED).cut_off
    assert model.generate(ASKED).failure.kind is Rejected.EMPTY


def test_no_candidates_at_all(model, server):
    server.then(Step(raw=b'{"usageMetadata": {"promptTokenCount": 4}}'))
    reply = model.generate(ASKED)
    assert reply.failure.kind is Rejected.EMPTY
    assert reply.tokens == 4


def test_unreported_usage_has_no_cost(model, server):
    server.then(Step(usage=False))
    reply = model.generate(ASKED)
    assert (reply.prompt_tokens, reply.output_tokens, reply.tokens, reply.cost) == (None,) * 4


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ((10, 5, 1000, 1015), (10, 5, 1000)),
        ((10, 5, None, 1015), (10, 5, 1000)),  # a server that counts no thoughts by themselves
        ((10, None, None, 1015), (10, 0, 1005)),
        ((10, 5, 20, 30), (10, 5, 20)),
        ((None, 5, None, 1015), (None, 5, 0)),
        ((10.0, "5", "7.0", None), (10, 5, 7)),
        ((10, 5.5, True, "many"), (10, 0, 0)),
    ],
)
def test_thinking_is_counted_in_the_total_too_and_numbers_in_any_form(usage, counts):
    names = ("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount")
    told = {name: one for name, one in zip(names, usage, strict=True) if one is not None}
    reply = read_answer({"candidates": [], "usageMetadata": told}).reply
    assert (reply.prompt_tokens, reply.output_tokens, reply.thought_tokens) == counts


def test_what_tools_read_is_no_thinking():
    told = {"promptTokenCount": 10, "toolUsePromptTokenCount": 90, "totalTokenCount": 100}
    assert read_answer({"usageMetadata": told}).reply.thought_tokens == 0


def test_parts_are_joined_and_each_is_paid(model, server):
    server.then(
        Step(text="one ", finish="CONTINUATION", token="dG9rZW4="),
        Step(status=503),
        Step(text="two", thoughts=2),
    )
    reply = model.generate(ASKED)
    assert (reply.text, reply.finish, reply.attempts) == ("one two", Finish.STOPPED, 3)
    assert (reply.prompt_tokens, reply.output_tokens, reply.thought_tokens) == (6, 2, 2)
    assert reply.cost == pytest.approx(price_of(default_model()).cost(6, 4))
    assert "continuationToken" in str(server.asked[2].body)


def test_parts_that_were_paid_for_outlive_a_failure(model, server):
    server.then(Step(text="one ", finish="CONTINUATION", token="dG9rZW4="), Step(status=400))
    reply = model.generate(ASKED)
    assert (reply.text, reply.cut_off) == ("one ", True)


def test_parts_without_end_are_not_followed(model, server):
    server.then(*[Step(text="more ", finish="CONTINUATION", token="dG9rZW4=")] * (2 * MAX_PARTS))
    reply = model.generate(ASKED)
    assert reply.cut_off
    assert len(server.asked) == MAX_PARTS


def test_parts_that_say_nothing_of_their_end_are_cut_off_where_the_next_fails(model, server):
    server.then(Step(text="one ", finish="", token="dG9rZW4="), Step(status=400))
    assert model.generate(ASKED).cut_off


def test_parts_stop_at_the_limit_on_output(model, server):
    server.then(*[Step(text="more", finish="CONTINUATION", token="dG9rZW4=")] * MAX_PARTS)
    model.generate(Request("k", "ping", max_output_tokens=3))
    assert len(server.asked) == 3


def test_without_a_key_nothing_is_asked(model, server, monkeypatch):
    monkeypatch.delenv("GEMINI_API_KEY")
    with pytest.raises(MissingKey, match="GEMINI_API_KEY or GOOGLE_API_KEY"):
        model.generate(ASKED)
    assert server.asked == []


def test_the_key_is_in_no_name_log_or_representation(model, server, caplog):
    server.then(Step(status=500, message=f"crashed at {KEY}"))
    with caplog.at_level(logging.INFO, logger="oracle"):
        model.generate(ASKED)
    said = [record.getMessage() for record in caplog.records if record.name.startswith("oracle")]
    assert ["attempt 1" in said[0], "attempt 2: answered" in said[1]] == [True, True]
    assert KEY not in "".join([*said, repr(model), model.name])


def test_a_price_can_be_given(server):
    options = ServerOptions(server.url, price=Price(1000, 2000))
    assert GeminiModel("unheard-of", options).generate(ASKED).cost == pytest.approx(0.005)
    assert GeminiModel("unheard-of", ServerOptions(server.url)).generate(ASKED).cost is None


names = st.sampled_from(
    [
        "candidates",
        "content",
        "parts",
        "text",
        "thought",
        "finishReason",
        "usageMetadata",
        "promptFeedback",
        "blockReason",
        "continuationToken",
        "promptTokenCount",
        "modelVersion",
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
    assert isinstance(part.reply, Reply)
    assert part.reply.tokens is None or part.reply.tokens >= 0
