"""Answers that were probably paid for and lost on their way; real SDKs, a server of our own."""

import json
import socket
from dataclasses import replace

import pytest

from oracle.models import deadline
from oracle.models.budget import Budget, Spent
from oracle.models.errors import BudgetSpent, ModelUnavailable
from oracle.models.gemini import GeminiModel
from oracle.models.journal import JournaledModel, SqliteJournal
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.options import ServerOptions
from oracle.models.prices import Price
from oracle.models.protocol import Request
from oracle.models.retry import Caller, RetryPolicy
from oracle.models.text_completions import TextModel
from tests.oracle.llm_server import Step, connected

ASKED = Request("k01/a00", "ping the server")
KINDS = {"gemini": GeminiModel, "openai": OpenAIModel, "text": TextModel}

pytestmark = [pytest.mark.usefixtures("keys"), pytest.mark.parametrize("kind", KINDS)]


def asking(kind, url, sleep=lambda seconds: None, price=None):
    """A model of this kind, which does not wait between its attempts."""
    options = ServerOptions(url if kind == "gemini" else url + "/v1", price=price)
    return connected(KINDS[kind]("m", options, Caller(RetryPolicy(), sleep=sleep)))


@pytest.mark.parametrize("status", [408, 504, 522, 524])
def test_a_gateway_that_waited_in_vain_is_late(server, kind, status):
    page = b"<html><head><title>524</title></head><body>A timeout occurred</body></html>"
    late = Step(status=status, raw=page, content_type="text/html")
    server.then(late, Step(text="pong"), *[late] * 8)
    with asking(kind, server.url) as model:
        reply = model.generate(ASKED)
        assert (reply.text, reply.attempts, reply.lost) == ("pong", 2, 1)
        with pytest.raises(ModelUnavailable, match=r"A timeout occurred \(attempt 2; 2 c") as up:
            model.generate(ASKED)
    assert (len(server.asked), len(up.value.lost)) == (4, 2)


@pytest.mark.parametrize("status", [429, 502, 503])
def test_what_is_only_busy_costs_nothing(server, kind, status):
    server.then(*[Step(status=status)] * 6)
    with asking(kind, server.url) as model:
        reply = model.generate(ASKED)
    assert (reply.attempts, reply.lost) == (7, 0)


def test_a_wait_that_a_gateway_asks_for_is_kept(server, kind):
    waits = []
    server.then(Step(status=504, retry_after="31"))
    with asking(kind, server.url, waits.append) as model:
        model.generate(ASKED)
    assert len(waits) == 1 and 31 <= waits[0] <= 32


@pytest.mark.parametrize("drop", [True, "reset"])
def test_a_connection_that_is_lost_after_the_question_is_probably_paid_for(server, kind, drop):
    server.then(*[Step(drop=drop)] * 3, Step(text="pong"), *[Step(drop=drop)] * 8)
    with asking(kind, server.url) as model:
        reply = model.generate(ASKED)
        assert (reply.text, reply.attempts, reply.lost) == ("pong", 4, 3)
    with (
        asking(kind, server.url) as model,
        pytest.raises(ModelUnavailable, match=r"was lost after the question.*4 came to noth") as up,
    ):
        model.generate(ASKED)
    assert (len(server.asked), len(up.value.lost)) == (8, 4)


UNREADABLE = {
    "choices": 7,
    "usage": {"prompt_tokens": 3, "completion_tokens": 5},
    "candidates": 7,
    "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 5},
}


@pytest.mark.parametrize(
    ("limits", "made"),
    [
        ({"max_calls": 1}, 1),
        ({"max_calls": 2}, 2),
        ({"max_cost": 20e-6}, 2),
        ({"max_tokens": 8}, 1),
    ],
)
def test_no_other_attempt_is_made_behind_a_limit(server, kind, tmp_path, limits, made):
    server.then(*[Step(raw=json.dumps(UNREADABLE).encode())] * 3, Step(text="pong"))
    journal, budget = SqliteJournal(tmp_path / "calls.sqlite"), Budget(**limits)
    with asking(kind, server.url, price=Price(1, 1)) as model:
        asked = JournaledModel(model, journal, budget)
        with pytest.raises(BudgetSpent, match=f"limit of .*spent so far: {made} calls,"):
            asked.generate(ASKED)
    assert (len(server.asked), budget.spent.calls) == (made, made)
    assert budget.spent.cost == pytest.approx(made * 8e-6)


def test_what_came_before_a_limit_is_kept(server, kind, tmp_path):
    server.then(*[Step(raw=b"garbage")] * 3, Step(text="pong"))
    journal, budget = SqliteJournal(tmp_path / "calls.sqlite"), Budget(max_calls=4)
    with asking(kind, server.url, price=Price(1, 1)) as model:
        asked = JournaledModel(model, journal, budget)
        assert asked.generate(ASKED).lost == 3
        with pytest.raises(BudgetSpent, match="limit of 4 calls"):
            asked.generate(replace(ASKED, key="another"))
    assert Spent.on(call.reply for call in journal.calls()) == budget.spent


def test_an_answer_that_breaks_off_is_probably_paid_for(server, kind):
    server.then(Step(), Step(drop="half"), Step(text="pong"))
    with asking(kind, server.url) as model:
        model.generate(ASKED)
        reply = model.generate(ASKED)
    assert (reply.text, reply.attempts, reply.lost) == ("pong", 2, 1)


def test_a_connection_that_was_closed_while_it_was_idle_costs_nothing(server, kind):
    """Its end comes at once; what ends later was read by somebody."""
    server.then(Step(), Step(drop=True), Step(), Step(drop=True, seconds=deadline._AT_ONCE + 0.2))
    with asking(kind, server.url) as model:
        replies = [model.generate(ASKED) for _ in range(3)]
    assert [(one.attempts, one.lost) for one in replies] == [(1, 0), (2, 0), (2, 1)]


def test_who_cannot_be_reached_was_sent_nothing(kind):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    with asking(kind, url) as model, pytest.raises(ModelUnavailable) as up:
        model.generate(ASKED)
    assert up.value.lost == ()
    assert "the server cannot be reached" in str(up.value)
