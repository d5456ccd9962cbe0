"""Whether a model can be asked is found out without asking it anything, or next to nothing."""

import json
import re
import socket

import pytest

from oracle.models.choice import check_access
from oracle.models.errors import CallRefused, ModelUnavailable
from oracle.models.gemini import GeminiModel
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.text_completions import TextModel
from tests.oracle.llm_server import KEY, Step

KINDS = ("gemini", "openai")

pytestmark = pytest.mark.usefixtures("keys")


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
    assert server.charged == []


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
    assert server.asked == []
    server.then_say_of_models(Step(status=404))
    with pytest.raises(CallRefused, match=re.escape("no model 'made-up'; it has gemma, qwen3")):
        check_access(model_at("openai", server.url))
    assert server.charged == []


def lists(*rows, **more):
    """What a server says of a model by itself, and of all."""
    return Step(status=404), Step(raw=json.dumps({"data": list(rows), **more}).encode())


@pytest.mark.parametrize(
    "listing",
    [
        lists({"id": "maker/other"}, {"id": "maker/made-up"}),  # Fireworks lists some
        lists({"id": "m0"}, {"id": "m1"}, has_more=True),
        lists({"id": "/models/q.gguf"}),  # llama.cpp answers to any name
        lists({"id": "Made-Up"}, {"id": "other"}),
    ],
    ids=["incomplete", "a page", "one", "another case"],
)
@pytest.mark.parametrize("kind", [OpenAIModel, TextModel])
def test_a_name_that_is_not_listed_is_tried_for_one_token_and_told(server, caplog, listing, kind):
    server.then_say_of_models(*listing)
    check_access(kind("made-up", ServerOptions(server.url + "/v1")))
    (asked,) = server.asked
    assert (asked.body["model"], asked.body["max_tokens"]) == ("made-up", 1)
    assert f"{kind.kind}:made-up is asked, though its server lists only" in caplog.text


@pytest.mark.parametrize("row", [{"canonical_slug": "made-up"}, {"aliases": ["made-up", "m"]}])
def test_another_name_of_a_listed_model_is_its_name(server, row):
    server.then_say_of_models(*lists({"id": "one"}, {"id": "other"} | row))
    check_access(model_at("openai", server.url))
    assert server.asked == []


@pytest.mark.parametrize(
    "step",
    [
        Step(status=404, message="The API deployment for this resource does not exist."),
        Step(status=400, message="Model Not Exist"),
        Step(raw=b'{"error": {"message": "x", "code": "model_not_found"}}'),
    ],
    ids=["azure", "deepseek", "in an answer"],
)
def test_a_name_that_the_server_itself_denies_is_refused_with_those_that_it_has(server, step):
    server.then_say_of_models(*lists(*({"id": f"m{n:02}"} for n in range(20))))
    server.then(step)
    with pytest.raises(
        CallRefused, match=r"no model 'made-up'; it has m00, .*, m09, \.\.\.; asked"
    ):
        check_access(model_at("openai", server.url))


@pytest.mark.parametrize(
    "step",
    [
        Step(status=503),
        Step(status=400, message="max_tokens is not supported with this model"),
        Step(status=400, message="max_tokens must be at least 16"),
        Step(drop=True),
        Step(raw=b"garbage"),
    ],
    ids=["busy", "field", "too few", "dropped", "garbage"],
)
def test_who_only_refuses_so_small_a_question_passes(server, step):
    server.then_say_of_models(*lists({"id": "one"}, {"id": "other"}))
    server.then(step)
    check_access(model_at("openai", server.url))
    assert len(server.asked) == 1
