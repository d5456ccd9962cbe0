"""A reply that arrived is kept before anyone sees it, and never paid for again."""

import os
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.models.budget import Budget, Spent
from oracle.models.errors import BudgetSpent, JournalUnusable, ModelUnavailable
from oracle.models.journal import JournaledModel, SqliteJournal
from oracle.models.prices import Price
from oracle.models.protocol import Finish, Reply, Request
from tests.oracle.scripted_model import ScriptedModel

ASKED = Request("k01/a00", "write a policy", system="you play", temperature=0.7, seed=3)
REPLY = Reply(
    "text \u2028 \U0001f600", Finish.CUT_OFF, "MAX_TOKENS", 11, 22, 33, 0.0005, "m", 2, 1.5, "id"
)


@pytest.fixture
def journal(tmp_path):
    return SqliteJournal(tmp_path / "journal.sqlite", "run")


def test_a_reply_comes_back_as_it_was_stored(journal):
    assert journal.find(ASKED, "m") is None
    assert journal.store(ASKED, "m", REPLY) == REPLY
    assert journal.find(ASKED, "m") == REPLY
    (call,) = journal.calls()
    assert (call.request, call.model, call.reply) == (ASKED, "m", REPLY)
    assert call.created.tzinfo is not None


@pytest.mark.parametrize(
    "other",
    [
        replace(ASKED, key="k01/a01"),
        replace(ASKED, prompt="write another"),
        replace(ASKED, system=""),
        replace(ASKED, temperature=0.8),
        replace(ASKED, seed=4),
        replace(ASKED, schema={"type": "object"}),
        replace(ASKED, max_output_tokens=10),
    ],
)
def test_another_question_is_another_call(journal, other):
    journal.store(ASKED, "m", REPLY)
    assert journal.find(other, "m") is None


def test_scopes_and_models_do_not_see_each_other(journal):
    journal.store(ASKED, "m", REPLY)
    other = SqliteJournal(journal.path, "another run")
    assert other.find(ASKED, "m") is None
    assert other.calls() == ()
    assert journal.find(ASKED, "another model") is None


def test_the_first_reply_wins(journal):
    journal.store(ASKED, "m", REPLY)
    assert journal.store(ASKED, "m", Reply("later")) == REPLY


def test_any_later_reply_wins_over_one_that_was_turned_down(journal):
    no, never = (Reply("", Finish.BLOCKED, said, turned_down=True) for said in ("no", "never"))
    journal.store(ASKED, "m", no)
    assert journal.store(ASKED, "m", never) == never
    assert journal.store(ASKED, "m", REPLY) == journal.store(ASKED, "m", no) == REPLY
    assert len(journal.calls()) == 1


def test_what_was_turned_down_is_in_doubt_until_the_server_takes_a_later_question(journal):
    requests = [replace(ASKED, key=f"k01/a{number:02}") for number in range(4)]
    no = Reply("", Finish.BLOCKED, "no", turned_down=True)
    for request, reply in zip(requests, [no, Reply("", Finish.BLOCKED), no, no], strict=True):
        journal.store(request, "m", reply)
        journal.store(request, "another model", REPLY)
    assert journal.in_doubt("m") == {(one.key, one.digest) for one in requests[2:]}
    assert journal.in_doubt("another model") == journal.in_doubt("a third") == frozenset()


def test_calls_are_found_by_the_beginning_of_their_key(journal):
    for key in ("k01/a00", "k02/a00", "k02/a01", "k020/a00"):
        journal.store(Request(key, "p"), "m", Reply(key))
    assert [call.reply.text for call in journal.calls("k02/")] == ["k02/a00", "k02/a01"]


@given(st.text(), st.text(), st.none() | st.floats(0, 2), st.none() | st.integers())
def test_requests_survive_as_documents(prompt, system, temperature, seed):
    request = Request("k", prompt, system, temperature, None, {"type": "object"}, seed)
    again = Request.from_document(request.to_document())
    assert again == request
    assert again.digest == request.digest != replace(request, prompt=prompt + "x").digest


def test_nothing_is_asked_twice(journal):
    model = ScriptedModel(["one", "two"])
    first = JournaledModel(model, journal).generate(ASKED)
    again = JournaledModel(model, journal).generate(ASKED)
    assert first == again
    assert first.text == "one"
    assert len(model.requests) == 1


def test_a_blocked_reply_is_kept_too(journal):
    model = ScriptedModel([Reply("", Finish.BLOCKED, "SAFETY")])
    asked = JournaledModel(model, journal)
    assert asked.generate(ASKED) == asked.generate(ASKED)
    assert len(model.requests) == 1


def test_what_was_not_answered_is_asked_again(journal):
    model = ScriptedModel([ModelUnavailable("down"), "one"])
    budget = Budget(max_calls=1)
    asked = JournaledModel(model, journal, budget)
    with pytest.raises(ModelUnavailable):
        asked.generate(ASKED)
    assert budget.spent == Spent()
    assert asked.generate(ASKED).text == "one"


def test_threads_that_ask_the_same_pay_once(journal):
    def slowly(request):
        time.sleep(0.02)
        return request.key

    model = ScriptedModel(slowly)
    asked = JournaledModel(model, journal)
    requests = [Request(f"k{number % 3}", "p") for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(asked.generate, requests))
    assert [reply.text for reply in replies] == [request.key for request in requests]
    assert len(model.requests) == asked.spent.calls == 3


def test_what_is_stored_is_given_though_the_budget_is_spent(journal):
    model = ScriptedModel(["one", "two"], price=Price(1e6, 1e6))
    JournaledModel(model, journal).generate(ASKED)
    spent = Spent.on(call.reply for call in journal.calls())
    assert spent.cost == 6  # five words read, one written, a dollar each
    asked = JournaledModel(model, journal, Budget(max_cost=1, spent=spent))
    assert asked.generate(ASKED).text == "one"
    with pytest.raises(BudgetSpent, match="limit of \\$1"):
        asked.generate(replace(ASKED, key="k01/a01"))


def test_a_reply_is_stored_before_it_is_given(journal):
    stored_when_given = []

    class Watched:
        def find(self, request, model):
            return journal.find(request, model)

        def store(self, request, model, reply):
            kept = journal.store(request, model, reply)
            stored_when_given.append(journal.find(request, model))
            return kept

        def in_doubt(self, model):
            return journal.in_doubt(model)

        def calls(self, prefix=""):
            return journal.calls(prefix)

    reply = JournaledModel(ScriptedModel(["one"]), Watched()).generate(ASKED)
    assert stored_when_given == [reply]


WRITER = """
import sys
from pathlib import Path
from oracle.models.journal import SqliteJournal
from oracle.models.protocol import Reply, Request
journal = SqliteJournal(Path(sys.argv[1]), "run")
for number in range(20):
    journal.store(Request(f"{sys.argv[2]}/{number}", "p"), "m", Reply("x"))
    journal.store(Request(f"shared/{number}", "p"), "m", Reply(sys.argv[2]))
"""


def test_what_came_to_nothing_counts_though_no_reply_is_stored(journal):
    lost = (Reply("", prompt_tokens=900, output_tokens=100), Reply(""))
    model = ScriptedModel([ModelUnavailable("no answer in time", lost)])
    budget = Budget(max_calls=2)
    asked = JournaledModel(model, journal, budget)
    with pytest.raises(ModelUnavailable):
        asked.generate(ASKED)
    assert (budget.spent.calls, budget.spent.tokens) == (2, 1_000)
    assert not journal.calls()
    with pytest.raises(BudgetSpent, match="limit of 2 calls"):
        asked.generate(ASKED)
    assert [key for key, _ in journal.lost()] == [ASKED.key] * 2
    assert SqliteJournal(journal.path, "another run").lost() == ()


@pytest.mark.parametrize("error", [ModelUnavailable, BudgetSpent])
def test_who_goes_on_knows_what_came_to_nothing_before(journal, error):
    price, lost = Price(1, 2), (Reply("", prompt_tokens=900, output_tokens=100), Reply(""))
    budget = Budget(max_cost=1.0)
    scripted = ScriptedModel([error("no answer", lost)], price=price)
    asked = JournaledModel(scripted, journal, budget)
    with pytest.raises(error):
        asked.generate(ASKED)
    assert journal.spent() == budget.spent
    assert journal.spent().cost == pytest.approx(1_100e-6)
    model = ScriptedModel(["late"])
    resumed = JournaledModel(model, journal, Budget(max_calls=2, spent=journal.spent()))
    with pytest.raises(BudgetSpent, match="limit of 2 calls"):
        resumed.generate(ASKED)
    assert JournaledModel(model, journal).generate(ASKED).text == "late"
    assert journal.spent().calls == 3  # two for nothing, and one
    journal.forget()
    assert (journal.spent(), journal.lost()) == (Spent(), ())


def test_a_file_of_before_says_that_nothing_was_lost(journal):
    journal.store(ASKED, "m", REPLY)
    with sqlite3.connect(journal.path) as connection:
        connection.execute("drop table lost_attempt")
    assert journal.lost() == ()
    assert journal.spent() == Spent.on([REPLY])


def test_processes_share_a_file(tmp_path):
    path = tmp_path / "journal.sqlite"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in "abc"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    journal = SqliteJournal(path, "run")
    assert len(journal.calls()) == 80
    assert len(journal.calls("shared/")) == 20


KILLED = """
import sys, time
from pathlib import Path
from oracle.models.journal import JournaledModel, SqliteJournal
from oracle.models.protocol import Request
from tests.oracle.scripted_model import ScriptedModel
model = JournaledModel(ScriptedModel(lambda r: r.key), SqliteJournal(Path(sys.argv[1]), "run"))
for number in range(10_000):
    print(model.generate(Request(f"{number}", "p")).text, flush=True)
"""


def test_a_killed_process_loses_no_reply_that_was_given(tmp_path):
    path = tmp_path / "journal.sqlite"
    writer = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
    )
    given = [writer.stdout.readline().strip() for _ in range(5)]
    writer.kill()
    given += writer.stdout.read().split()
    writer.wait()
    writer.stdout.close()
    stored = [call.reply.text for call in SqliteJournal(path, "run").calls()]
    assert given == stored[: len(given)]
    assert len(stored) <= len(given) + 1


def test_a_file_that_is_no_database_is_refused(tmp_path):
    path = tmp_path / "journal.sqlite"
    path.write_text("not a database, but long enough to look like something" * 40)
    with pytest.raises(JournalUnusable, match=r"journal\.sqlite"):
        SqliteJournal(path)


def test_what_was_paid_for_is_its_owners_alone(tmp_path):
    path = tmp_path / "calls.sqlite"
    SqliteJournal(path).store(ASKED, "m", REPLY)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o664)  # as an earlier program left it
    SqliteJournal(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o660


def test_what_is_no_ordinary_file_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "calls.sqlite")
    with pytest.raises(JournalUnusable, match="named pipe"):
        SqliteJournal(tmp_path / "calls.sqlite")
