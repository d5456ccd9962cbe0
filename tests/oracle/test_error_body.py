"""Errors in the wrappings that servers and gateways give them, through the real SDKs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.models.choice import check_access
from oracle.models.error_body import fields_of, layers_of, words_of
from oracle.models.errors import CallRefused, PromptRefused
from oracle.models.gemini import GeminiModel
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.protocol import Request
from oracle.models.retry import Caller, RetryPolicy
from tests.oracle.llm_server import Step, connected

ASKED = Request("k01/a00", "ping", "be brief", seed=7, thinking="low")
EXTRA = {"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs not permitted"}
UNKNOWN = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
LOST = b"<html>no such page</html>"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", "a-key")
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")


def model_at(url, kind=OpenAIModel):
    caller = Caller(RetryPolicy(attempts=2), sleep=lambda seconds: None)
    return kind("m", ServerOptions(url), caller)


@pytest.fixture
def model(server):
    with connected(model_at(server.url + "/v1")) as model:
        yield model


def error(status, document):
    return Step(status=status, raw=json.dumps(document).encode())


def through(provider):
    """As OpenRouter hands on what a provider said: as a text, whatever it is."""
    raw = provider if isinstance(provider, str) else json.dumps(provider)
    metadata = {"raw": raw, "provider_name": "P"}
    return {"error": {"message": "Provider returned error", "code": 400, "metadata": metadata}}


@pytest.mark.parametrize(
    "document",
    [
        [{"error": {"code": 400, "message": UNKNOWN, "status": "INVALID_ARGUMENT"}}],
        {"object": "error", "message": {"detail": [EXTRA]}, "type": "invalid_request_error"},
        {"error": {"code": "Invalid input", "message": json.dumps({"detail": [EXTRA]})}},
        through({"error": {"message": "Unsupported parameter: seed", "param": "seed"}}),
        through({"object": "error", "message": {"detail": [EXTRA]}}),
        through("seed is no field of ours"),
        {"success": False, "errors": [{"code": 7009, "message": "seed is not supported"}]},
        {"message": ["seed should not exist"], "error": "Bad Request", "statusCode": 400},
        {"error": ["`seed` is not allowed"]},
        {"code": 400, "msg": "seed is not supported"},
        {"detail": {"error": {"message": "seed is not supported"}}},
        {"title": "Not valid.", "status": 400, "errors": {"$.seed": ["It is no text."]}},
        {"title": "Not valid.", "errors": {"Seed": ["The field is not known."]}},
    ],
    ids=[
        "gemini-by-openai",
        "mistral",
        "azure",
        "openrouter",
        "mistral-through-openrouter",
        "openrouter-in-words",
        "cloudflare",
        "nest",
        "hugging-face",
        "msg",
        "fastapi",
        "asp.net-by-path",
        "asp.net-by-name",
    ],
)
def test_a_field_is_found_in_any_wrapping(model, server, document):
    server.then(error(400, document))
    assert model.generate(ASKED).attempts == 2
    first, second = (set(asked.body) for asked in server.asked)
    assert first - second == {"seed"}


def test_a_field_is_known_in_another_spelling(model, server):
    said = "Model m does not support parameter reasoningEffort."
    server.then(error(400, {"code": "invalid-argument", "error": said}))
    model.generate(ASKED)
    assert "reasoning_effort" not in server.asked[1].body


def test_what_a_provider_said_is_told(model, server):
    server.then(error(400, through({"error": {"message": "at most one picture"}})))
    with pytest.raises(PromptRefused, match="400: at most one picture"):
        model.generate(ASKED)


def test_a_problem_document_is_told_with_what_it_finds(model, server):
    found = {
        "$.messages[0]": ["It is no text.", "It is empty."],
        "Model": ["The name is too long."],
    }
    problem = {"type": "about:blank", "title": "Not valid.", "status": 400, "errors": found}
    server.then(error(400, problem), error(400, {"title": "Bad Request", "status": 400}))
    told = r"Not valid\. \$\.messages\[0\]: It is no text\. It is empty\.; Model: The name is"
    with pytest.raises(PromptRefused, match=told):
        model.generate(ASKED)
    with pytest.raises(PromptRefused, match="400: Bad Request"):
        model.generate(ASKED)


@pytest.mark.parametrize("document", [{"detail": "no such door"}, {"error": "no such door"}])
def test_gemini_s_proxies_are_understood_too(server, document):
    server.then(error(404, document))
    with (
        connected(model_at(server.url, GeminiModel)) as model,
        pytest.raises(CallRefused, match=r"no such door; .*asked was http://127\S+:generateC"),
    ):
        model.generate(ASKED)


def test_a_key_that_is_refused_as_a_bad_request_ends_the_run(server):
    refused = [{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID"}}]
    server.then_say_of_models(error(400, refused))
    with pytest.raises(CallRefused, match=r"cannot be asked: .*API key not valid"):
        check_access(model_at(server.url + "/v1"))
    server.then(error(400, refused))
    with connected(model_at(server.url + "/v1")) as model, pytest.raises(CallRefused) as caught:
        model.generate(ASKED)
    assert not isinstance(caught.value, PromptRefused)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (403, "You have insufficient permissions. Missing scopes: api.model.read."),
        (401, "x-api-key header is required"),
        (401, "Invalid bearer token"),
        (401, "Virtual key is not allowed to call this route."),
    ],
)
def test_a_key_that_may_ask_but_not_look_is_taken(server, status, said):
    server.then_say_of_models(Step(status=status, message=said))
    check_access(model_at(server.url + "/v1"))


def test_a_query_of_an_address_stays_behind_it(server):
    with connected(model_at(server.url + "/openai/v1/?api-version=preview")) as model:
        assert model.generate(ASKED).text == "pong"
    assert server.asked[0].path == "/openai/v1/chat/completions"


def test_a_redirect_that_loses_the_question_is_said(server):
    server.then(Step(status=301, raw=b"", location="/elsewhere/v1/chat/completions"))
    server.then_say_of_models(Step(status=405, raw=LOST))
    with (
        connected(model_at(server.url + "/v1")) as model,
        pytest.raises(CallRefused, match=r"redirects, to http://127\S+/elsewhere/v1/chat"),
    ):
        model.generate(ASKED)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just('{"error": [1]}'),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["error", "errors", "message", "detail", "metadata", "raw", "param", "title"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(anything)
def test_any_body_has_layers(body):
    for layer in layers_of(body):
        assert isinstance(words_of(layer), str)
        assert all(isinstance(one, str) for one in fields_of(layer))


def test_a_body_is_not_followed_for_ever():
    deep = {"message": "x"}
    for _ in range(50):
        deep = {"error": deep}
    assert len(layers_of(deep)) < 50
    assert len(layers_of(json.dumps(deep))) < 50
