"""Whether a model can be asked is found out without asking it anything."""

import re
import socket

import pytest

from oracle.models.choice import check_access
from oracle.models.errors import CallRefused, ModelUnavailable
from oracle.models.gemini import GeminiModel
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from tests.oracle.llm_server import LLMServer, Step

KEY = "a-secret-key-1234"
KINDS = ("gemini", "openai")


@pytest.fixture(autouse=True)
def key(monkeypatch):
    for name in ("GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def server():
    with LLMServer() as server:
        yield server


def model_at(kind, url, name="made-up"):
    if kind == "gemini":
        return GeminiModel(name, ServerOptions(url))
    return OpenAIModel(name, ServerOptions(url + "/v1"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_is_there_is_asked_nothing(server, kind):
    check_access(model_at(kind, server.url))
    assert [path.endswith("/models/made-up") for path in server.looked] == [True]
    assert (server.asked, server.charged) == ([], [])


@pytest.mark.parametrize("kind", KINDS)
def test_an_unknown_model_is_refused_by_name(server, kind):
    server.models = ("one", "other")
    with pytest.raises(CallRefused, match=f"{kind}:made-up cannot be asked: .*made-up"):
        check_access(model_at(kind, server.url))
    check_access(model_at(kind, server.url, "other"))
    assert server.asked == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_not_taken_is_not_repeated(server, kind, status):
    server.then_say_of_models(Step(status=status, message=f"the key {KEY} is not valid"))
    with pytest.raises(CallRefused, match=r"the key \*\*\* is not valid"):
        check_access(model_at(kind, server.url))


def test_gemini_calls_a_bad_key_a_bad_request(server):
    server.then_say_of_models(Step(status=400, message="API key not valid"))
    with pytest.raises(CallRefused, match="API key not valid"):
        check_access(model_at("gemini", server.url))


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_there(kind):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    with pytest.raises(ModelUnavailable, match=f"{kind}:made-up cannot be asked: .*be reached"):
        check_access(model_at(kind, url))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "step",
    [
        Step(drop=True),
        Step(status=429, retry_delay="30s"),
        Step(status=503),
        Step(status=405, raw=b"", content_type="text/plain"),
        Step(status=404, raw=b"<html>no such page</html>", content_type="text/html"),
        Step(raw=b"garbage"),
    ],
    ids=["dropped", "limited", "busy", "not-allowed", "no-such-page", "garbage"],
)
def test_a_server_that_is_busy_or_does_not_tell_of_models_passes(server, kind, step):
    server.then_say_of_models(step)
    check_access(model_at(kind, server.url))


def test_a_server_that_only_lists_its_models(server):
    server.models = ("qwen3", "gemma")
    server.then_say_of_models(Step(status=404))
    check_access(model_at("openai", server.url, "qwen3"))
    server.then_say_of_models(Step(status=404))
    with pytest.raises(CallRefused, match=re.escape("no model 'made-up'; it has gemma, qwen3")):
        check_access(model_at("openai", server.url))
