"""Who answered is who is paid, and it is told once where that is not who was asked."""

import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest

from oracle.models.catalogue import price_of
from oracle.models.gemini import GeminiModel
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.prices import Price
from oracle.models.protocol import Request
from tests.oracle.llm_server import Step, connected

OLD, NEW = "gemini-2.5-pro", "gemini-3.8-flash"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GEMINI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_API_KEY", "k")


@pytest.fixture
def at(server):
    """Makes models of that server."""
    with ExitStack() as open_ones:

        def made(kind, name, **options):
            url = server.url + "/v1" * (kind is OpenAIModel)
            return open_ones.enter_context(connected(kind(name, ServerOptions(url, **options))))

        yield made


def warnings(caplog):
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]


def test_a_name_that_is_routed_elsewhere_is_paid_at_that_price_and_told_once(server, at, caplog):
    server.aliases = {OLD: NEW}
    model = at(GeminiModel, OLD)
    server.then(Step(text="one two", thoughts=3))
    reply = model.generate(Request("k01/a00", "ping the server"))
    today = datetime.now(UTC).date()
    assert reply.model == NEW
    assert reply.cost == pytest.approx(price_of(NEW, today).cost(3, 5))
    assert reply.cost != pytest.approx(price_of(OLD, today).cost(3, 5))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: model.generate(Request(f"k01/a{n:02}", "ping")), range(1, 9)))
    (said,) = warnings(caplog)
    assert f"gemini:{OLD} was asked, and {NEW} answered, paid at $" in said


def test_an_answer_by_somebody_unknown_has_no_cost_and_says_so(server, at, caplog):
    server.then(Step(version="gemini-9-ultra"), Step(version=f"models/{NEW}-001"))
    model = at(GeminiModel, NEW)
    assert model.generate(Request("a", "ping")).cost is None
    assert "gemini-9-ultra answered, whose price is not known (give --price)" in warnings(caplog)[0]
    assert model.generate(Request("b", "ping")).cost > 0
    assert len(warnings(caplog)) == 1  # a snapshot of who was asked is nobody else


def test_a_given_price_holds_whoever_answers(server, at):
    server.aliases = {OLD: NEW}
    reply = at(GeminiModel, OLD, price=Price(1000, 2000)).generate(Request("a", "ping"))
    assert reply.cost == pytest.approx(0.003)


def test_familiar_names_on_a_server_of_ones_own_have_no_list_price(server, at, caplog):
    server.aliases = {"gpt-4o": "gpt-4o-mini"}
    reply = at(OpenAIModel, "gpt-4o").generate(Request("a", "ping"))
    assert (reply.model, reply.cost) == ("gpt-4o-mini", None)
    assert "openai:gpt-4o was asked, and gpt-4o-mini answered" in warnings(caplog)[0]
