"""A run that is killed again and again pays for every reply once, faults or not."""

import os
import signal
import subprocess
import sys
import threading

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
retry = RetryPolicy(attempts=20, first_wait=0.01, longest_wait=0.02)
model = GeminiModel(options=ServerOptions(url, timeout_seconds=120, retry=retry))
journaled = JournaledModel(model, SqliteJournal(path, "run"))
def ask(number):
    return journaled.generate(Request(f"a{number:02}", f"question {number}")).text
with ThreadPoolExecutor(2) as pool:
    print(*pool.map(ask, range(calls)), sep="\\n")
"""


class Gate:
    """Lets two replies through to each run that is to be killed, and all to the last one."""

    def __init__(self, kills):
        self.kills = kills
        self.runs = 0
        self.passed = 0
        self.changed = threading.Condition()

    def __call__(self, prompt):
        with self.changed:
            run = self.runs
            self.changed.wait_for(lambda: self.runs != run or self.passed < 2 or run == self.kills)
            if self.runs != run:
                raise ConnectionAbortedError("its asker was killed")
            self.passed += 1
            self.changed.notify_all()
        return f"answer to {prompt}"

    def kill(self, run):
        """Kills a run once it got its two replies."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.passed == 2, timeout=120)
            run.kill()
            assert run.wait(120) == -signal.SIGKILL
            self.runs += 1
            self.passed = 0
            self.changed.notify_all()


def faults():
    """Between ordinary answers, everything that can go wrong without being charged."""
    for number in range(CALLS):
        yield Step(status=429, retry_delay="0.01s")
        yield Step()
        yield [Step(status=500), Step(drop=True), Step(raw=b"garbage")][number % 3]


@pytest.mark.parametrize("kills", [0, 2])
def test_nothing_is_paid_twice(tmp_path, kills):
    path = tmp_path / "journal.sqlite"
    environment = {**os.environ, "GEMINI_API_KEY": "k"}
    environment.pop("GOOGLE_API_KEY", None)
    gate = Gate(kills)
    with LLMServer(gate) as server:
        server.then(*faults())
        command = [sys.executable, "-c", RUN, str(path), server.url, str(CALLS)]
        for _ in range(kills):
            gate.kill(subprocess.Popen(command, env=environment))
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == [f"answer to question {n}" for n in range(CALLS)]

    calls = SqliteJournal(path, "run").calls()
    assert sorted(call.request.key for call in calls) == [f"a{n:02}" for n in range(CALLS)]
    # What was on its way to a killed process is lost: at most its two replies.
    assert CALLS <= len(server.charged) <= CALLS + 2 * kills
    spent = Spent.on(call.reply for call in calls)
    price = price_of(default_model())
    paid = {charged.prompt_text: charged for charged in server.charged}
    assert spent.cost == pytest.approx(sum(price.cost(c.prompt, c.output) for c in paid.values()))
    assert spent.tokens == sum(c.prompt + c.output for c in paid.values())
