"""A task, a writer and an evaluator for tests of the oracles: small, exact, and without matches.

Programs are real policies of rock-paper-scissors whose first line states their return, so that
what an oracle does with returns can be checked to the digit.  Their last line uses what they state:
an unused constant would not tell two programs apart.
"""

import re
import threading

from arena.games import game
from arena.submission import KIND
from oracle.drafts import Draft
from oracle.values import Against, Failure, Opponent, Rejected, Score, Task
from registry import digest_of

RRPS = game("rrps")


def program(u, name="x", *, faulty=False):
    """A policy that returns u against everyone, or that forfeits."""
    mark = "faulty" if faulty else ""
    return (
        f"RETURN = {u!r}  # {mark}\n"
        f"NAME = {name!r}\n\n\n"
        "class Agent:\n"
        f'    """Policy {name}."""\n\n'
        "    def act(self, observation):\n"
        "        return 'ROCK'\n\n\n"
        "assert (RETURN, NAME)\n"
    )


def opponents(*weights):
    found = []
    for place, weight in enumerate(weights):
        source = program(0.0, f"opponent{place}")
        digest = digest_of("rrps", KIND, source)
        found.append(Opponent(digest, f"csro/run-k{place:02}", source, weight))
    return tuple(found)


def a_task(*weights, seed=7, incumbent=""):
    return Task(RRPS, opponents(*(weights or (0.75, 0.25))), incumbent, seed, "k03")


def score_of(task, u, stderr=1.0, matches=64):
    against = tuple(Against(one.digest, u, stderr, matches) for one in task.opponents)
    return Score(u, stderr, against)


class Evaluation:
    """Reads each program's return off its first line; keeps what it was asked."""

    def __init__(self, task, stderr=1.0):
        self.task = task
        self.stderr = stderr
        self.asked = []

    def __call__(self, sources, *, effort=1.0):
        self.asked.append((tuple(sources), effort))
        return tuple(self._score(source, effort) for source in sources)

    def _score(self, source, effort):
        stated = re.match(r"RETURN = (\S+)  # (faulty)?", source)
        if stated[2]:
            return Failure(Rejected.FAULTY, "crashed: ZeroDivisionError in line 9")
        return score_of(self.task, float(stated[1]), self.stderr / effort**0.5, int(64 * effort))


class ScriptedWriter:
    """Answers drafts from a list (by order) or a function of the draft; keeps what it was asked."""

    name = "scripted"

    def __init__(self, answers):
        self.asked = []
        self._answers = answers if callable(answers) else iter(answers)
        self._lock = threading.Lock()

    def write(self, task, draft):
        with self._lock:
            self.asked.append(draft)
            listed = None if callable(self._answers) else next(self._answers)
        answer = self._answers(draft) if listed is None else listed
        if isinstance(answer, Failure):
            return Draft(draft.key, failure=answer, call=f"{task.key}/{draft.key}")
        return Draft(draft.key, source=answer, call=f"{task.key}/{draft.key}")
