"""A run that is killed again and again pays for every reply once, faults or not."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest

from oracle.models.budget import Spent
from oracle.models.catalogue import default_model, price_of
from oracle.models.journal import SqliteJournal
from tests.oracle.llm_server import LLMServer, Step

CALLS = 9
RUN = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from oracle.models.gemini import GeminiModel
from oracle.models.journal import JournaledModel, SqliteJournal
from oracle.models.options import ServerOptions
from oracle.models.protocol import Request
from oracle.models.retry import RetryPolicy
path, url, calls = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
retry = RetryPolicy(attempts=20, lost_attempts=9, first_wait=0.01, longest_wait=0.02)
model = GeminiModel(options=ServerOptions(url, timeout_seconds=120, retry=retry))
journaled = JournaledModel(model, SqliteJournal(path, "run"))
def ask(number):
    return journaled.generate(Request(f"a{number:02}", f"question {number}")).text
with ThreadPoolExecutor(2) as pool:
    print(*pool.map(ask, range(calls)), sep="\\n")
"""


class Gate:
    """Lets two replies through to each run that is to be killed, and all to the last one.

    Attributes:
      answered: the number of the run and the question of every reply that was let through.
    """

    def __init__(self, kills):
        self.kills = kills
        self.server = None
        self.runs = 0
        self.answered = []
        self.changed = threading.Condition()

    def __call__(self, prompt):
        run = int(self.server.answering.key)  # a question of a killed run may arrive late
        with self.changed:
            self.changed.wait_for(
                lambda: self.runs != run or len(self.of(run)) < 2 or run == self.kills
            )
            if self.runs != run:
                raise ConnectionAbortedError("its asker was killed")
            self.answered.append((run, prompt))
            self.changed.notify_all()
        return f"answer to {prompt}"

    def of(self, run):
        """Questions that a run got replies to."""
        return [prompt for number, prompt in self.answered if number == run]

    def kill(self, run, arrived):
        """Kills a run once it got its two replies, and once `arrived` says yes."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.of(self.runs)) == 2, timeout=120)
        deadline = time.monotonic() + 120
        while not arrived():
            assert time.monotonic() < deadline, "the replies were not stored"
            time.sleep(0.01)
        with self.changed:
            run.kill()
            assert run.wait(120) == -signal.SIGKILL
            self.runs += 1
            self.changed.notify_all()


def faults():
    """Between ordinary answers, everything that can go wrong without being charged."""
    for number in range(CALLS):
        yield Step(status=429, retry_delay="0.01s")
        yield Step()
        yield [Step(status=500), Step(drop=True), Step(raw=b"garbage")][number % 3]


@pytest.mark.parametrize(
    ("kills", "at_once"),
    [(0, False), (2, False), (2, True)],
    ids=["left alone", "killed at rest", "killed with replies on their way"],
)
def test_nothing_is_paid_twice(tmp_path, kills, at_once):
    """Only a reply that was on its way when the run was killed is asked for again."""
    journal = SqliteJournal(tmp_path / "journal.sqlite", "run")
    environment = {**os.environ, "GEMINI_API_KEY": "0"}
    environment.pop("GOOGLE_API_KEY", None)
    gate, asked, stored = Gate(kills), [], []
    with LLMServer(gate) as server:
        gate.server = server
        server.then(*faults())
        command = [sys.executable, "-c", RUN, str(journal.path), server.url, str(CALLS)]
        for number in range(kills):
            there = 2 * (number + 1)
            process = subprocess.Popen(command, env=environment)
            gate.kill(process, lambda n=there: at_once or len(journal.calls()) == n)
            asked.append(len(server.asked))
            stored.append({call.request.prompt for call in journal.calls()})
            environment["GEMINI_API_KEY"] = str(number + 1)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == [f"answer to question {n}" for n in range(CALLS)]

    calls = journal.calls()
    assert sorted(call.request.key for call in calls) == [f"a{n:02}" for n in range(CALLS)]
    # What was stored when a run was killed is not even asked for afterwards.
    for count, known in zip(asked, stored, strict=True):
        assert not known & {one.prompt for one in server.asked[count:]}
    lost = [
        prompt for run, known in enumerate(stored) for prompt in gate.of(run) if prompt not in known
    ]
    assert len(lost) <= (2 * kills if at_once else 0)
    paid = Counter(charged.prompt_text for charged in server.charged)
    assert paid == Counter([f"question {n}" for n in range(CALLS)]) + Counter(lost)
    price, kept = price_of(default_model()), {c.prompt_text: c for c in server.charged}
    spent = Spent.on(call.reply for call in calls)
    assert spent.cost == pytest.approx(sum(price.cost(c.prompt, c.output) for c in kept.values()))
    assert spent.tokens == sum(c.prompt + c.output for c in kept.values())
