"""What servers and gateways really send when something is wrong, and what a user is told of it."""

import json

import pytest

from arena.errors import UsageFault
from oracle.models.choice import check_access
from oracle.models.errors import CallRefused, ModelUnavailable
from oracle.models.gemini import GeminiModel
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.protocol import Finish, Reply, Request
from oracle.models.retry import Caller, RetryPolicy
from oracle.models.text_completions import TextModel
from tests.oracle.llm_server import KEY, Step, connected

ASKED = Request("k01/a00", "ping the server")
KINDS = ("gemini", "openai")

pytestmark = pytest.mark.usefixtures("keys")


def model_at(kind, url, name="made-up", path="/v1"):
    caller = Caller(RetryPolicy(attempts=2), sleep=lambda seconds: None)
    if kind == "gemini":
        return GeminiModel(name, ServerOptions(url), caller)
    return OpenAIModel(name, ServerOptions(url + path), caller)


def answered(server, kind, *steps, **where):
    server.then(*steps)
    with connected(model_at(kind, server.url, **where)) as model:
        return model.generate(ASKED)


def completion(choice, usage=None):
    document = {"choices": [choice]} | ({"usage": usage} if usage else {})
    return Step(raw=json.dumps(document).encode())


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (404, b'{"error": "model \'m\' not found, try pulling it"}', "try pulling it"),
        (401, b'{"detail": "Invalid API key"}', "Invalid API key"),
        (404, b"404 page not found", "404 page not found"),
        (
            403,
            b"<html><head><title>x</title></head><h1>Forbidden</h1> by <b>us</b></html>",
            "403: Forbidden by us",
        ),
        (
            422,
            b'{"detail": [{"loc": ["body", "messages"], "msg": "field required"}]}',
            "body.messages: field required",
        ),
        (402, b'{"error": {"message": "Insufficient Balance"}}', "the account has no credit"),
    ],
)
def test_what_a_server_says_is_told(server, status, body, told):
    with pytest.raises(CallRefused, match=told):
        answered(server, "openai", Step(status=status, raw=body))


def test_an_address_without_its_version_is_noticed(server):
    lacking = Step(status=404, raw=b"404 page not found")
    with pytest.raises(CallRefused, match=r"asked was http://127\S+/chat/\S+; does it lack /v1\?"):
        answered(server, "openai", lacking, path="")
    with pytest.raises(CallRefused) as refused:
        answered(server, "openai", lacking)
    assert "lack" not in str(refused.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_is_repeated_where_a_message_is_cut_is_struck_out_whole(server, kind):
    said = "x" * 490 + KEY
    body = json.dumps({"error": {"code": 403, "message": said, "status": "DENIED"}}).encode()
    with pytest.raises(CallRefused) as refused:
        answered(server, kind, Step(status=403, raw=body))
    assert "a-secret" not in str(refused.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [409, 425, 520, 522, 524, 529])
def test_gateways_that_are_overloaded_are_asked_again(server, kind, status):
    assert answered(server, kind, Step(status=status), Step(text="pong")).text == "pong"


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_in_an_answer_of_status_200_is_an_error(server, kind):
    busy = json.dumps({"error": {"code": 502, "message": "provider is down"}}).encode()
    assert answered(server, kind, Step(raw=busy), Step(text="pong")).text == "pong"
    for code in ("rate_limit_exceeded", "429"):
        slow = json.dumps({"choices": None, "error": {"code": code}}).encode()
        assert answered(server, kind, Step(raw=slow), Step(text="pong")).text == "pong"
    refused = b'{"error": "Unexpected endpoint or method. (POST /chat)"}'
    with pytest.raises(CallRefused, match="Unexpected endpoint or method"):
        answered(server, kind, Step(raw=refused))
    spent = json.dumps({"error": {"code": 402, "message": "add credits"}}).encode()
    with pytest.raises(CallRefused, match=r"402: add credits; the account has no credit"):
        answered(server, kind, Step(raw=spent))
    flat = b'{"object": "error", "message": "quota used up", "code": 402, "choices": []}'
    with pytest.raises(CallRefused, match="402: quota used up"):
        answered(server, kind, Step(raw=flat))


def test_an_answer_that_failed_in_its_middle_is_not_taken_for_one(server):
    message = {"role": "assistant", "content": "class Age"}
    failed = {"message": message, "finish_reason": "error", "error": {"message": "lost a node"}}
    assert answered(server, "openai", completion(failed), Step(text="pong")).text == "pong"
    scarce = completion({"message": message, "finish_reason": "insufficient_system_resource"})
    with pytest.raises(ModelUnavailable, match="insufficient_system_resource"):
        answered(server, "openai", scarce, scarce)
    for reason in ("model_length", "MAX_TOKENS"):
        long = completion({"message": message, "finish_reason": reason})
        assert answered(server, "openai", long).finish is Finish.CUT_OFF


@pytest.mark.parametrize("reason", ["network_error", "abort", "error"])
@pytest.mark.parametrize("kind", [OpenAIModel, TextModel])
def test_an_end_that_is_a_fault_is_none(server, kind, reason):
    choice = {"message": {"content": "class Age"}, "text": "class Age", "finish_reason": reason}
    server.then(completion(choice), Step(text="pong"))
    caller = Caller(RetryPolicy(attempts=2), sleep=lambda seconds: None)
    with connected(kind("made-up", ServerOptions(server.url + "/v1"), caller)) as model:
        reply = model.generate(ASKED)
    assert (reply.text, reply.attempts) == ("pong", 2)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("model_context_window_exceeded", Finish.CUT_OFF),
        ("content_filter: RECITATION", Finish.BLOCKED),
        ("sensitive", Finish.BLOCKED),
    ],
)
def test_ends_in_the_words_of_servers(server, reason, finish):
    choice = {"message": {"content": "class Age"}, "finish_reason": reason}
    reply = answered(server, "openai", completion(choice))
    assert (reply.finish, reply.detail) == (finish, reason)


def test_an_error_beside_an_answer_ends_it_and_what_it_took_is_known(server):
    document = {
        "choices": [{"message": {"content": "class Age"}, "finish_reason": None}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
        "error": {"code": 502, "message": "upstream died"},
    }
    died = Step(raw=json.dumps(document).encode())
    assert answered(server, "openai", died, Step(text="pong")).text == "pong"
    with pytest.raises(ModelUnavailable, match="middle of its answer: upstream died") as caught:
        answered(server, "openai", died, died)
    assert [one.tokens for one in caught.value.lost] == [9, 9]


def test_an_error_before_the_first_word_is_the_servers_answer(server):
    busy = {"message": {"content": ""}, "finish_reason": "error", "error": {"code": 429}}
    reply = answered(server, "openai", completion(busy), Step(text="pong"))
    assert (reply.text, reply.lost) == ("pong", 0)
    bare = completion({"message": {"content": ""}, "finish_reason": "error"})
    reply = answered(server, "openai", bare, Step(text="pong"))
    assert (reply.text, reply.lost) == ("pong", 0)


@pytest.mark.parametrize("long", [0, 190, 990])
def test_a_key_is_in_no_word_of_an_answer(server, long):
    """Wherever a server repeats it, and wherever its words are cut."""
    said = "x" * long + KEY
    message = {"role": "assistant", "content": "pong"}
    reply = answered(server, "openai", completion({"message": message, "finish_reason": said}))
    assert reply.text == "pong" and "a-secret" not in reply.detail
    failed = completion({"message": message, "error": {"code": 401, "message": said}})
    with pytest.raises(ModelUnavailable) as caught:
        answered(server, "openai", failed, failed)
    assert "a-secret" not in str(caught.value)
    empty = completion({"message": {"content": ""}, "error": {"code": 401, "message": said}})
    with pytest.raises(CallRefused, match="answered 401") as refused:
        answered(server, "openai", empty)
    assert "a-secret" not in str(refused.value)
    policy = {"error": {"code": said, "type": "content_filter", "message": "no"}}
    blocked = answered(server, "openai", Step(status=400, raw=json.dumps(policy).encode()))
    assert blocked.finish is Finish.BLOCKED and "a-secret" not in blocked.detail


@pytest.mark.parametrize(
    ("usage", "written", "thought"),
    [
        ((10, 30, 40, 20), 10, 20),  # a part of the completion, as OpenAI has it
        ((37, 530, 800, 233), 530, 233),  # beside it
        ((10, 10, 5000, 0), 10, 4980),  # in the total alone
        ((10, 30, 0, 0), 30, 0),
    ],
)
def test_thinking_is_counted_wherever_it_stands(server, usage, written, thought):
    prompt, completed, total, reasoned = usage
    counts = {"prompt_tokens": prompt, "completion_tokens": completed, "total_tokens": total}
    counts["completion_tokens_details"] = {"reasoning_tokens": reasoned}
    choice = {"message": {"content": "pong"}, "finish_reason": "stop"}
    reply = answered(server, "openai", completion(choice, counts))
    assert (reply.prompt_tokens, reply.output_tokens, reply.thought_tokens) == (
        prompt,
        written,
        thought,
    )


def test_a_cached_prompt_that_only_the_total_counts_was_not_thought(server):
    choice = {"message": {"content": "pong"}, "finish_reason": "stop"}
    counts = {"prompt_tokens": 10, "completion_tokens": 100, "total_tokens": 5_110}
    counts["prompt_tokens_details"] = {"cached_tokens": 5_000}
    reply = answered(server, "openai", completion(choice, counts))
    assert (reply.prompt_tokens, reply.output_tokens, reply.thought_tokens) == (5_010, 100, 0)
    counts |= {"prompt_tokens": 5_010, "total_tokens": 12_110}
    thought = answered(server, "openai", completion(choice, counts))
    assert (thought.prompt_tokens, thought.output_tokens) == (5_010, 100)
    assert thought.thought_tokens == 7_000


@pytest.mark.parametrize("charset", ["iso-8859-1", "us-ascii", "utf8mb4"])
def test_an_answer_is_utf_8_whatever_its_header_says(server, charset):
    document = {"choices": [{"message": {"content": "é and “x”"}}]}
    raw = json.dumps(document, ensure_ascii=False).encode()
    step = Step(raw=raw, content_type=f"application/json; charset={charset}")
    assert answered(server, "openai", step).text == "é and “x”"
    with pytest.raises(CallRefused, match="401: é and “x”"):
        answered(
            server,
            "openai",
            Step(status=401, raw="é and “x”".encode(), content_type=step.content_type),
        )


@pytest.mark.parametrize("kind", KINDS)
def test_half_a_character_is_no_reason_to_end_a_run(server, kind):
    reply = answered(server, kind, Step(text="pong \ud83d and \ud83d\ude00"))
    assert reply.text == "pong � and 😀"
    kept = Reply.from_document({**Reply("").to_document(), "text": "from before \ud83d"})
    assert kept.text == "from before �"


def test_a_question_that_cannot_be_encoded_is_not_asked_for_ever(server):
    asked = Request("k", "half \ud83d")
    with (
        connected(model_at("openai", server.url)) as model,
        pytest.raises(CallRefused, match="sent"),
    ):
        model.generate(asked)
    assert server.asked == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_byte_order_mark_is_no_reason_to_ask_again(server, kind):
    document = {
        "choices": [{"message": {"content": "pong"}, "finish_reason": "stop"}],
        "candidates": [{"content": {"parts": [{"text": "pong"}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1},
    }
    body = "\ufeff".encode() + json.dumps(document).encode()
    assert answered(server, kind, Step(raw=body)).text == "pong"


def test_no_candidates_are_an_empty_answer(server):
    document = {"candidates": None, "usageMetadata": {"promptTokenCount": 4}}
    reply = answered(server, "gemini", Step(raw=json.dumps(document).encode()))
    assert (reply.text, reply.prompt_tokens, reply.attempts) == ("", 4, 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("KEY", "sk\u20131234", "holds a character that no key has"),
        ("ALL_PROXY", "carrier-pigeon://localhost:1", "look at its address, at HTTP_PROXY"),
    ],
)
def test_an_environment_that_cannot_work_is_said(server, monkeypatch, kind, variable, value, told):
    own = {"gemini": "GEMINI_API_KEY", "openai": "OPENAI_API_KEY"}[kind]
    monkeypatch.setenv(own if variable == "KEY" else variable, value)
    with pytest.raises(UsageFault, match=told) as fault:
        check_access(model_at(kind, server.url))
    assert "1234" not in str(fault.value)


def test_blanks_around_key_and_address_are_none_of_them(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    server.then(Step(text="pong"))
    with connected(OpenAIModel("m", ServerOptions(f"{server.url}/v1\n"))) as model:
        assert model.generate(ASKED).text == "pong"
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("kind", [OpenAIModel, GeminiModel])
@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("localhost:11434/v1", "such as http://localhost:11434/v1"),
        ("ftp://me:secret@host/v1", r"is 'ftp://\*\*\*@host/v1'.*http:// or https://"),
        ("http://localhost:99999/v1", "a port of 1 to 65535"),
        ("http://localhost:11434:/v1", "a port of 1 to 65535"),
        ("http://:11434/v1", "with a host"),
        ("http://[::1/v1", "write host and port"),
    ],
)
def test_an_address_that_is_none_is_refused_before_anybody_is_asked(
    monkeypatch, kind, address, told
):
    variable = "OPENAI_BASE_URL" if kind is OpenAIModel else "GOOGLE_GEMINI_BASE_URL"
    monkeypatch.setenv(variable, address)
    with pytest.raises(
        UsageFault, match=f"^{variable} is '.*no address of a server.*{told}|{told}"
    ):
        check_access(kind("m"))
    with pytest.raises(UsageFault, match=told):
        ServerOptions(address)


@pytest.mark.parametrize("status", [401, 403])
def test_a_redirect_that_loses_the_key_is_told(server, status):
    elsewhere = server.url.replace("127.0.0.1", "localhost") + "/v1/chat/completions"
    refused = Step(status=status, message="Missing Authentication header")
    with pytest.raises(CallRefused, match=rf"{status}.*only redirects, to {elsewhere}"):
        answered(server, "openai", Step(status=307, location=elsewhere), refused)
    assert "authorization" not in server.asked[-1].headers
    here = Step(status=307, location=server.url + "/v1/chat/completions")
    with pytest.raises(CallRefused, match="check the key"):
        answered(server, "openai", here, refused)


def test_a_variant_of_a_listed_model_may_be_asked(server):
    server.models = ("maker/model", "one")
    for name in ("maker/model:free", "@preset/mine"):
        check_access(model_at("openai", server.url, name))
    with pytest.raises(CallRefused, match="lists no model 'other:free'"):
        check_access(model_at("openai", server.url, "other:free"))
