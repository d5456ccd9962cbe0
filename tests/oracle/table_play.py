"""An evaluator that plays real repeated rock-paper-scissors, in this process.

Only for programs that the tests wrote or the grammar made: nothing here is sealed.
"""

import random
import statistics
import zlib

from arena.games import game
from arena.submission import KIND
from oracle.values import Against, Failure, Opponent, Rejected, Score, Task
from registry import digest_of

RRPS = game("rrps")
FULL = 4
"""Matches against each opponent at full effort."""


def bot(choice):
    """A policy whose throw is an expression of the last throws `mine` and `theirs`."""
    return (
        "import random\n\n\n"
        "class Agent:\n"
        '    """A bot for tests."""\n\n'
        "    def act(self, observation):\n"
        "        mine, theirs = observation['my_action'], observation['opponent_action']\n"
        f"        return {choice}\n"
    )


ROCK = bot("'ROCK'")
ROTATES = bot("{None: 'ROCK', 'ROCK': 'PAPER', 'PAPER': 'SCISSORS', 'SCISSORS': 'ROCK'}[mine]")
COPIES = bot("theirs or 'ROCK'")


def task_against(*programs, seed=1):
    share = 1.0 / len(programs)
    opponents = tuple(
        Opponent(digest_of("rrps", KIND, source), f"test/bot{place}", source, share)
        for place, source in enumerate(programs)
    )
    return Task(RRPS, opponents, "", seed, "k01")


class Play:
    """Scores programs by playing them; plays no match twice."""

    def __init__(self, task):
        self.task = task
        self.played = {}

    def __call__(self, sources, *, effort=1.0):
        return tuple(self._score(source, max(2, round(effort * FULL))) for source in sources)

    def _score(self, source, matches):
        against = []
        for opponent in self.task.opponents:
            try:
                returns = [self._match(source, opponent.source, n) for n in range(matches)]
            except Exception as error:  # noqa: BLE001 - whatever the program does is its fault
                return Failure(Rejected.FAULTY, f"crashed: {error!r}")
            stderr = statistics.stdev(returns) / matches**0.5
            against.append(Against(opponent.digest, statistics.fmean(returns), stderr, matches))
        weights = [one.weight for one in self.task.opponents]
        u = sum(w * one.mean for w, one in zip(weights, against, strict=True))
        error = sum((w * one.stderr) ** 2 for w, one in zip(weights, against, strict=True)) ** 0.5
        return Score(u, error, tuple(against))

    def _match(self, *match):
        if match not in self.played:
            self.played[match] = self._play(*match)
        return self.played[match]

    def _play(self, one, other, repetition):
        table = RRPS.table([0])
        seats = [self._seat(source, repetition) for source in (one, other)]
        size = len(table.messages()) // 2
        while not table.done:
            sent = table.messages()
            replies = [seats[n].reply(sent[n * size : (n + 1) * size]) for n in range(2)]
            table.advance(bytes(replies))
        return RRPS.score(0, table.moves(0), None)[0]

    def _seat(self, source, repetition):
        seeded = random.Random(f"{zlib.crc32(source.encode())}/{repetition}")
        names = {"__name__": "policy"}
        exec(compile(source, "<policy>", "exec"), names)
        if "random" in names:
            names["random"] = seeded
        return RRPS.seat(names["Agent"]())
