"""A server that speaks the models' protocols, and the keys that it is shown."""

import pytest

from tests.oracle.llm_server import KEY, LLMServer


@pytest.fixture
def server():
    with LLMServer() as server:
        yield server


@pytest.fixture
def keys(monkeypatch):
    """The same key for all providers, and nothing else of the environment that leads to them."""
    addresses = ("GOOGLE_GEMINI_BASE_URL", "OPENAI_BASE_URL", "ALL_PROXY")
    for name in ("GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", *addresses):
        monkeypatch.delenv(name, raising=False)
    for name in ("GEMINI_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
