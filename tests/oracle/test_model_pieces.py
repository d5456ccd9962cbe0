"""Answers in pieces, asked for or not, are put together and paid for once."""

import json
import logging
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.models.errors import CallRefused, ModelUnavailable, PromptRefused
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.pieces import document_in
from oracle.models.protocol import Finish, Request
from oracle.models.retry import Caller, RetryPolicy
from oracle.models.text_completions import TextModel
from tests.oracle.llm_server import Step, Trickle, connected

ASKED = Request("k", "ping")
USAGE = {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8}


def piece(finish=None, index=0, **delta):
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "model": "local", "choices": [choice]}


def events(*pieces, end="data: [DONE]\n\n"):
    written = (json.dumps(one, ensure_ascii=False) for one in pieces)
    return ("".join(f"data: {one}\n\n" for one in written) + end).encode()


@pytest.fixture(params=[OpenAIModel, TextModel])
def kind(request):
    return request.param


def asking(server, kind=OpenAIModel):
    caller = Caller(RetryPolicy(attempts=2), sleep=lambda seconds: None)
    return connected(kind("local", ServerOptions(server.url + "/v1"), caller))


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1234")


def test_pieces_are_one_answer(server):
    first = piece(role="assistant", content="")
    thought = piece(reasoning_content="what is a ping?")
    parts = [piece(content=text) for text in ("po", "n", "g")]
    other = piece(index=1, content="never")
    last = [piece("stop"), {"id": "c1", "model": "local", "choices": [], "usage": USAGE}]
    server.then(Step(raw=b": waiting\n\n" + events(first, thought, *parts, other, *last)))
    with asking(server) as model:
        reply = model.generate(ASKED)
    assert (reply.text, reply.finish, reply.attempts) == ("pong", Finish.STOPPED, 1)
    assert (reply.prompt_tokens, reply.output_tokens, reply.model) == (3, 5, "local")
    assert len(server.asked) == 1


def test_pieces_of_a_text(server):
    choices = [
        [{"text": "po", "index": 0}],
        [{"text": "ng", "index": 0, "finish_reason": "length"}],
    ]
    server.then(Step(raw=events(*({"model": "local", "choices": one} for one in choices))))
    with asking(server, TextModel) as model:
        reply = model.generate(ASKED)
    assert (reply.text, reply.finish) == ("pong", Finish.CUT_OFF)


def test_what_ends_in_the_middle_is_asked_for_again(server, kind):
    half = events(piece(content="po"), end="")
    server.then(Step(raw=half))
    with asking(server, kind) as model:
        assert model.generate(ASKED).attempts == 2
    server.then(*[Step(raw=half)] * 2)
    with asking(server, kind) as model, pytest.raises(ModelUnavailable, match="in the middle"):
        model.generate(ASKED)


FILTERED = {"id": "", "choices": [], "prompt_filter_results": []}


@pytest.mark.parametrize(
    "pieces",
    [(FILTERED,), (FILTERED, piece("stop", index=1, content="never"))],
    ids=["nothing yet", "another choice alone"],
)
def test_what_ends_before_its_first_word_is_asked_for_again(server, pieces):
    server.then(Step(raw=events(*pieces, end="")))
    with asking(server) as model:
        assert model.generate(ASKED).attempts == 2


@pytest.mark.parametrize(
    "failure",
    [
        {"error": {"message": "gone", "code": 503}},
        {
            "error": {"message": "gone", "code": 503},
            "choices": piece("error", content="")["choices"],
        },
        {"object": "error", "message": "gone", "type": "InternalServerError", "code": 503},
        {"type": "error", "message": "gone"},
        {"message": "gone"},
    ],
    ids=["error", "error and choice", "object", "type", "message"],
)
def test_an_error_among_the_pieces_is_one(server, failure):
    server.then(Step(raw=events(piece(content="po"), failure)))
    with asking(server) as model:
        reply = model.generate(ASKED)
    assert reply.attempts == 2 and reply.text != "po"


def test_a_refusal_among_the_pieces_is_one(server):
    failure = {"object": "error", "message": "no such model", "code": 404}
    server.then(Step(raw=events(failure)))
    with asking(server) as model, pytest.raises(CallRefused, match="no such model"):
        model.generate(ASKED)


@pytest.mark.parametrize("before", [piece(role="assistant", content=""), piece(content="po")])
def test_a_refusal_is_one_whatever_came_before_it(server, before):
    too_long = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    broke = {"error": {"message": "no credit", "code": "insufficient_quota"}}
    server.then(Step(raw=events(before, too_long)), Step(raw=events(before, broke)))
    with asking(server) as model:
        assert model.generate(ASKED).unread
        with pytest.raises(CallRefused, match="no credit"):
            model.generate(ASKED)
    assert len(server.asked) == 2


def test_an_error_of_no_status_before_the_first_word_may_pass_and_is_told_in_the_end(server):
    strange = Step(raw=events(piece(role="assistant", content=""), {"message": "bad weather"}))
    server.then(strange, Step(text="pong"), strange, strange)
    with asking(server) as model:
        assert model.generate(ASKED).attempts == 2
        with pytest.raises(ModelUnavailable, match="with an error: bad weather"):
            model.generate(ASKED)


IN_PIECES = {"stream": True, "stream_options": {"include_usage": True}}
STREAMED = Step(
    raw=events(piece(content="pong"), piece("stop"), {"choices": [], "usage": USAGE}),
    content_type="text/event-stream",
)
TEXT_STREAMED = Step(
    raw=events({"choices": [{"text": "pong", "finish_reason": "stop"}], "usage": USAGE}),
    content_type="text/event-stream",
)


def streaming(asked):
    return {name: asked.body[name] for name in IN_PIECES if name in asked.body}


@pytest.mark.parametrize(
    ("status", "document"),
    [
        (400, {"detail": "Stream must be set to true"}),
        (
            400,
            {
                "error": {
                    "code": "invalid_parameter_error",
                    "message": "This model only support stream mode, please enable the stream "
                    "parameter to access the model. ",
                }
            },
        ),
        (
            400,
            {"error": "parameter.enable_thinking must be set to false for non-streaming calls"},
        ),
        (422, {"error": {"message": "This model only supports streaming"}}),
    ],
    ids=["chatgpt", "alibaba", "alibaba-thinking", "others"],
)
def test_who_answers_in_pieces_alone_is_asked_for_them(server, kind, caplog, status, document):
    refused = Step(status=status, raw=json.dumps(document).encode())
    streamed = STREAMED if kind is OpenAIModel else TEXT_STREAMED
    server.then(refused, streamed, streamed)
    with asking(server, kind) as model:
        replies = [model.generate(replace(ASKED, thinking="low")) for _ in range(2)]
    assert [(one.text, one.prompt_tokens, one.output_tokens) for one in replies] == [
        ("pong", 3, 5)
    ] * 2
    assert [one.attempts for one in replies] == [2, 1]
    assert [streaming(asked) for asked in server.asked] == [{}, IN_PIECES, IN_PIECES]
    assert len({asked.body.get("reasoning_effort") for asked in server.asked}) == 1
    told = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert len(told) == 1 and "answers in pieces alone" in told[0]


def test_who_knows_no_options_of_pieces_is_asked_without_them(server):
    stream = Step(status=400, message="Stream must be set to true")
    options = Step(status=400, message='"stream_options" is not allowed')
    server.then(stream, options, STREAMED, stream)
    with asking(server) as model:
        assert model.generate(ASKED).text == "pong"
        with pytest.raises(PromptRefused):  # who says so again is not asked for ever
            model.generate(ASKED)
    assert [streaming(asked) for asked in server.asked] == [
        {},
        IN_PIECES,
        {"stream": True},
        {"stream": True},
    ]


def test_pieces_that_were_asked_for_may_be_late(server):
    server.then(
        Step(status=400, message="Stream must be set to true"),
        Trickle(seconds=5.0, raw=STREAMED.raw),
        STREAMED,
    )
    options = ServerOptions(server.url + "/v1", timeout_seconds=1.0)
    caller = Caller(RetryPolicy(attempts=3), sleep=lambda seconds: None)
    with connected(OpenAIModel("local", options, caller)) as model:
        reply = model.generate(ASKED)
    assert (reply.text, reply.attempts, reply.lost) == ("pong", 3, 1)
    assert 1.0 <= reply.seconds < 4.0


def test_increments_that_are_called_messages_are_put_together(server):
    parts = [piece(content=text) for text in ("po", "ng")]
    for one in parts:
        one["choices"][0]["message"] = one["choices"][0].pop("delta")
    server.then(Step(raw=events(*parts, piece("stop"))))
    thought = {"choices": [{"message": {"reasoning": "hm"}, "finish_reason": "stop"}]}
    server.then(Step(raw=events(piece(content="pong"), thought)))
    with asking(server) as model:
        assert model.generate(ASKED).text == "pong"
        assert model.generate(ASKED).text == "pong"


def test_pieces_that_are_not_plain_lose_nothing(server):
    parts = [piece(content=[{"type": "text", "text": text}]) for text in ("po", "ng")]
    server.then(Step(raw=events(*parts, piece("stop"))))
    empty = piece("stop")
    empty["choices"][0]["message"] = {"role": "assistant", "content": ""}
    server.then(Step(raw=events(piece(content="po"), piece(content="ng"), empty)))
    null = [piece(content="po"), piece("stop", content="ng")]
    for one in null:
        one["choices"][0]["message"] = None
    server.then(Step(raw=events(*null)))
    with asking(server) as model:
        for _ in range(3):
            reply = model.generate(ASKED)
            assert (reply.text, reply.finish, reply.attempts) == ("pong", Finish.STOPPED, 1)


def test_the_whole_in_one_piece(server):
    whole = {"model": "local", "usage": USAGE, "choices": [{"message": {"content": "pong"}}]}
    server.then(Step(raw=events(piece(content="po"), whole)))
    with asking(server) as model:
        assert model.generate(ASKED).text == "pong"


@given(st.lists(st.text(), min_size=1))
def test_any_text_in_any_pieces(texts):
    pieces = [piece(content=text) for text in texts]
    document = document_in(events(*pieces, piece("stop")).decode())
    assert (document["choices"][0]["message"].get("content") or "") == "".join(texts)
    assert document["choices"][0]["finish_reason"] == "stop"


@given(st.text(alphabet='data: []{}"\n\r,1é\ufeffeventDONE\\', max_size=80))
def test_any_other_text_is_a_document_or_none(text):
    with suppress(ValueError):
        document_in(text)
