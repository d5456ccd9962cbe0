"""A whole answer is taken for one, whatever trifles servers and gateways put around it."""

import json

import pytest

from oracle.models.errors import ModelUnavailable
from oracle.models.faults import error_in, says_something
from oracle.models.gemini import GeminiModel
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.prices import Price
from oracle.models.protocol import Reply, Request
from oracle.models.retry import Caller, RetryPolicy
from oracle.models.text_completions import TextModel
from oracle.models.told import Told
from oracle.models.usage import counts_in
from oracle.models.window import Window, ask_in_forms
from tests.oracle.llm_server import Step, connected

pytestmark = pytest.mark.usefixtures("keys")

USAGE = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}
CHOICE = {"index": 0, "message": {"content": "pong\npong"}, "finish_reason": "stop"}
ANSWER = {"id": "x", "choices": [CHOICE], "usage": USAGE}
EMPTY = {"message": "", "type": "", "param": "", "code": None}
CANDIDATE = {"content": {"parts": [{"text": "pong\npong"}]}, "finishReason": "STOP"}
OF_GEMINI = {
    "candidates": [CANDIDATE],
    "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 5, "totalTokenCount": 8},
}


def reply_to(server, *steps, kind=OpenAIModel, attempts=2):
    """The reply to a question whose first attempt is answered so."""
    server.then(*steps)
    url = server.url if kind is GeminiModel else server.url + "/v1"
    caller = Caller(RetryPolicy(attempts=attempts), sleep=lambda seconds: None)
    with connected(kind("m", ServerOptions(url, price=Price(1, 1)), caller)) as model:
        return model.generate(Request("k", "ping"))


def taken(reply):
    return (reply.text, reply.tokens, reply.attempts, reply.lost) == ("pong\npong", 8, 1, 0)


def raw(document, *, behind=""):
    text = document if isinstance(document, str) else json.dumps(document)
    return Step(raw=(text + behind).encode())


def piece(finish=None, **delta):
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def events(*data):
    texts = (one if isinstance(one, str) else json.dumps(one) for one in data)
    return "".join(f"data: {one}\n\n" for one in texts)


WORDS = (piece(content="pong"), piece(content="\npong"))
LAST = ({"choices": [], "usage": USAGE},)


@pytest.mark.parametrize(
    "error",
    [EMPTY, {**EMPTY, "code": ""}, {"code": 0, "message": ""}, {}, None, "", {"error": EMPTY}],
)
def test_an_error_that_says_nothing_is_none(server, error):
    assert not says_something(error)
    assert taken(reply_to(server, raw({**ANSWER, "error": error})))
    in_choice = {**ANSWER, "choices": [{**CHOICE, "error": error}]}
    assert taken(reply_to(server, raw(in_choice)))
    pieces = [{**one, "error": error} for one in (*WORDS, piece("stop"), *LAST)]
    assert taken(reply_to(server, raw(events(*pieces))))


@pytest.mark.parametrize(
    "error", ["gone", {**EMPTY, "message": "gone"}, {**EMPTY, "code": 7}, {**EMPTY, "type": "x"}]
)
def test_an_error_that_says_something_is_one(server, error):
    assert says_something(error)
    assert reply_to(server, raw({**ANSWER, "error": error}), Step(text="pong")).lost == 1


@pytest.mark.parametrize(
    "document",
    [
        {"code": 200, "msg": "success", "data": ANSWER, "success": True},
        {"code": 0, "message": "ok", "result": ANSWER},
        {"response": ANSWER, "error": EMPTY},
        [ANSWER],
    ],
)
def test_a_wrapped_answer_is_one(server, document):
    assert taken(reply_to(server, raw(document)))


@pytest.mark.parametrize(
    "document",
    [
        {"code": 200, "msg": "done", "data": {"output": "pong", "usage": USAGE}},
        {"code": 1, "msg": "done", "output": "pong", "usage": USAGE},
        {"code": 0, "msg": "done", "data": "pong"},
        {"success": True, "message": "done", "data": "pong"},
        {"msg": "success", "output": "pong"},
    ],
)
def test_what_is_plainly_no_error_is_an_answer_that_was_paid_for(server, document):
    with pytest.raises(ModelUnavailable, match="4 came to nothing") as up:
        reply_to(server, *[raw(document)] * 9, attempts=9)
    assert len(server.asked) == len(up.value.lost) == 4
    known = 8 if "usage" in json.dumps(document) else None
    assert {one.tokens for one in up.value.lost} == {known}


def test_an_error_with_words_alone_is_one():
    assert error_in({"code": 500, "msg": "overloaded", "usage": USAGE}) is not None
    assert error_in({"msg": "overloaded", "usage": {"prompt_tokens": 0}}) is not None
    assert error_in({"msg": "overloaded", "data": None}) is not None


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (
            {"prompt_tokens": 1500.0, "completion_tokens": 400.0, "total_tokens": 1900.0},
            (1500, 400),
        ),
        ({"prompt_tokens": "1500", "completion_tokens": "400"}, (1500, 400)),
        ({"prompt_tokens": 1500, "total_tokens": 1900}, (1500, 400)),
        ({"completion_tokens": 400, "total_tokens": 1900}, (1500, 400)),
        ({"input_tokens": 1500, "output_tokens": 400}, (1500, 400)),
        ({"prompt_tokens": 0, "input_tokens": 1500, "output_tokens": 400}, (1500, 400)),
        ({"prompt_tokens": 1500, "completion_tokens": 0, "total_tokens": 1500}, (1500, None)),
        ({"prompt_tokens": 1500, "total_tokens": 1500}, (1500, None)),
        ({"prompt_tokens": 1500, "completion_tokens": "many"}, (1500, None)),
        ({"prompt_tokens": 1500.5, "completion_tokens": -1, "total_tokens": 3}, (None, None)),
    ],
)
@pytest.mark.parametrize("kind", [OpenAIModel, TextModel])
def test_usage_in_any_numbers(server, kind, usage, counts):
    document = {"choices": [{**CHOICE, "text": "pong"}], "usage": usage}
    reply = reply_to(server, raw(document), kind=kind)
    assert (reply.prompt_tokens, reply.output_tokens) == counts
    assert (reply.cost is None) == (None in counts)


def test_who_wrote_nothing_took_no_tokens_for_it(server):
    silent = {"choices": [{"message": {"content": ""}}], "usage": {**USAGE, "completion_tokens": 0}}
    silent["usage"]["total_tokens"] = 3
    assert reply_to(server, raw(silent)).tokens == 3
    silent["choices"] = []
    assert reply_to(server, raw(silent)).tokens == 3
    all_thought = {"prompt_tokens": 3, "completion_tokens": 0, "total_tokens": 8}
    assert counts_in(all_thought).tokens == 8


@pytest.mark.parametrize("total", [{}, {"total_tokens": 1520}, {"total_tokens": 3520}])
def test_reasoning_that_is_longer_than_what_was_written_is_no_part_of_it(total):
    details = {"completion_tokens_details": {"reasoning_tokens": 2000}}
    counts = counts_in({"prompt_tokens": 1500, "completion_tokens": 20, **details, **total})
    assert (counts.prompt_tokens, counts.output_tokens, counts.thought_tokens) == (1500, 20, 2000)


def test_gemini_s_text_took_tokens_too(server):
    told = {**OF_GEMINI, "usageMetadata": {"promptTokenCount": 3}}
    assert reply_to(server, raw(told), kind=GeminiModel).tokens is None


@pytest.mark.parametrize(
    "text",
    [
        events(*WORDS[:1], "ping", "", *WORDS[1:], piece("stop"), *LAST, "DONE"),
        events(*WORDS, piece("stop"), *LAST, {"error": {"message": "closed", "code": 500}}),
        events(*WORDS, piece("stop"), *LAST) + 'data: {"choi',
        events(*WORDS, *LAST),
        json.dumps(ANSWER) + "\ndata: [DONE]\n\n",
        json.dumps(ANSWER) + "\n\0",
        json.dumps(ANSWER).replace("\\n", "\n"),
        json.dumps({**ANSWER, "choices": [{"text": "pong\npong", "finish_reason": "stop"}]}),
        events({"choices": [{"text": "pong"}]}, {"choices": [{"text": "\npong"}]}, *LAST),
        json.dumps(ANSWER).replace('"pong\\npong"', '[{"type": null, "text": "pong\\npong"}]'),
    ],
    ids=[
        "ping and DONE",
        "error behind the end",
        "half a piece behind the end",
        "usage and no end",
        "end of pieces behind a whole",
        "NUL",
        "ends of lines",
        "text",
        "text in pieces",
        "part without a type",
    ],
)
def test_trifles_around_an_answer_take_nothing_from_it(server, text):
    assert taken(reply_to(server, raw(text)))


@pytest.mark.parametrize(
    "text",
    [
        events(*WORDS),
        events(*LAST),
        events(*WORDS[:1], {**WORDS[1], "usage": USAGE}),
        events(*({**one, "usage": USAGE} for one in WORDS), *LAST),
        events(*WORDS, piece("error"), {"error": {"message": "closed"}}),
        events(*WORDS) + 'data: {"choi',
        json.dumps(ANSWER) * 2,
        json.dumps(ANSWER)[:-1],
    ],
)
def test_half_an_answer_is_none(server, text):
    assert reply_to(server, raw(text), Step(text="whole")).attempts == 2


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("missing", [1, 5_000])
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (OpenAIModel, json.dumps(ANSWER)),
        (OpenAIModel, events(*WORDS, piece("stop"), *LAST)),
        (GeminiModel, json.dumps(OF_GEMINI)),
    ],
)
def test_a_whole_answer_whose_connection_breaks_is_one(server, kind, text, missing, packed):
    step = Step(raw=text.encode(), missing=missing, packed=packed)
    assert taken(reply_to(server, step, kind=kind))
    half = Step(raw=text[: len(text) // 2].encode(), missing=missing, packed=packed)
    again = reply_to(server, half, Step(text="whole"), kind=kind)
    assert (again.text, again.attempts, again.lost) == ("whole", 2, 1)
    with pytest.raises(ModelUnavailable, match="connection was lost after the question"):
        reply_to(server, half, half, kind=kind)


def of_gemini(text, **more):
    return {**OF_GEMINI, "candidates": [{"content": {"parts": [{"text": text}]}, **more}]}


@pytest.mark.parametrize(
    "text",
    [
        events(OF_GEMINI),
        events(of_gemini("pong"), "ping", of_gemini("\npong", finishReason="STOP")),
        json.dumps([OF_GEMINI]),
        json.dumps([of_gemini("pong"), of_gemini("\npong", finishReason="STOP")]),
        json.dumps({"response": OF_GEMINI, "traceId": "x"}),
        json.dumps(OF_GEMINI).replace("\\n", "\n") + "\0",
    ],
)
def test_gemini_behind_a_proxy(server, text):
    assert taken(reply_to(server, raw(text), kind=GeminiModel))


@pytest.mark.parametrize("text", [events(of_gemini("pong")), events("ping"), "[]"])
def test_half_an_answer_of_gemini_is_none(server, text):
    assert reply_to(server, raw(text), Step(text="whole"), kind=GeminiModel).attempts == 2


def test_a_server_that_always_reports_as_many_tokens_loses_no_answer(caplog):
    """Whatever was sent: its number says nothing of what it read."""

    def ask(form):
        return Reply(f"{len(form)}", prompt_tokens=1_500, output_tokens=1)

    window, few = Window("m", Told()), Request("k", "x" * 2_500)
    for size in (8_000, 40_000, 60_000, 30_000):
        request = Request("k", "x" * size, shorter=("x" * 7_000,))
        assert not ask_in_forms(window, request, ask).unread
    assert "raise the server's context" in caplog.messages[-1]
    assert ask_in_forms(window, few, ask).text == "2500"  # which has not so many for certain
    assert "fit no context" in caplog.messages[-1]
    assert ask_in_forms(window, request, ask).text == "30000"
    window = Window("m", Told())
    assert ask_in_forms(window, few, ask).text == "2500"
    assert ask_in_forms(window, request, ask).text == "30000"
