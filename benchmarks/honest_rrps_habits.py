"""Honest policies for rock-paper-scissors that lean on whatever Python has.

Sets and hashes, clocks, generators without a seed, output, enums, the collector, time, memory:
see `honest_rrps.py`.
"""

from __future__ import annotations

SETS = '''
class Agent:
    """Goes through sets of strings and tuples in whatever order they have."""

    def __init__(self):
        self.seen = set()
        self.open = {"ROCK", "PAPER", "SCISSORS"}
        self.turn = 0

    def act(self, observation):
        self.turn += 1
        self.seen.add((observation["my_action"], observation["opponent_action"], self.turn % 17))
        first = next(iter(self.seen))
        if first[1] is None or self.turn % 5 == 0:
            return list(self.open)[self.turn % 3]
        return first[1]
'''

HASHES = '''
class Agent:
    """Makes its own pseudo-random numbers from hash() of text and tuples."""

    def __init__(self):
        self.state = hash("a seed of my own")

    def act(self, observation):
        seen = (observation["my_action"], observation["opponent_action"])
        self.state = hash((self.state, seen, frozenset(seen), "salt"))
        return ["ROCK", "PAPER", "SCISSORS"][self.state % 3]
'''

OWN_GENERATORS = '''
import random
import numpy as np

class Agent:
    """Three generators of its own, none of them with a seed."""

    def __init__(self):
        self.rng = random.Random()
        self.numbers = np.random.default_rng()
        self.old = np.random.RandomState()
        self.bias = self.numbers.dirichlet([1.0, 1.0, 1.0])

    def act(self, observation):
        if self.rng.random() < 0.5:
            move = int(self.numbers.choice(3, p=self.bias))
        else:
            move = int(self.old.randint(3))
        return ["ROCK", "PAPER", "SCISSORS"][move]
'''

TIMED = '''
import random
import time

class Agent:
    """Simulates replies for two milliseconds a throw and takes the best."""

    def act(self, observation):
        wins = {"ROCK": 0, "PAPER": 0, "SCISSORS": 0}
        started = time.perf_counter()
        while time.perf_counter() - started < 0.002:
            mine, theirs = random.choice(list(wins)), random.choice(list(wins))
            beats = {"ROCK": "SCISSORS", "PAPER": "ROCK", "SCISSORS": "PAPER"}
            wins[mine] += (beats[mine] == theirs) - (beats[theirs] == mine)
        return max(wins, key=wins.get)
'''

CLOCK_SEED = '''
import random
import time
from datetime import datetime

class Agent:
    """Seeds a generator with the time of day."""

    def __init__(self):
        self.rng = random.Random(datetime.now().microsecond + int(time.time() * 1000))
        self.born = datetime.now()

    def act(self, observation):
        age = (datetime.now() - self.born).total_seconds()
        if age > 0.5 and observation["opponent_action"]:
            return observation["opponent_action"]
        return self.rng.choice(["ROCK", "PAPER", "SCISSORS"])
'''

NOISY = '''
import random
import traceback
import warnings

class Agent:
    """Prints, warns, and lives with its own exceptions."""

    def __init__(self):
        self.errors = 0
        self.table = {}

    def act(self, observation):
        print("I see", observation, flush=True)
        warnings.warn("still learning")
        try:
            move = self.table[observation["opponent_action"]][observation["my_action"]]
        except KeyError as error:
            self.errors += len(traceback.format_exc())
            inner = self.table.setdefault(error.args[0], {})
            inner[observation["my_action"]] = random.choice(["ROCK", "PAPER", "SCISSORS"])
            move = ["ROCK", "PAPER", "SCISSORS"][self.errors % 3]
        if random.random() < 0.01:
            self.table.clear()
        return move
'''

CLASS_STATE = '''
import copy
import json
import random

class Agent:
    """Keeps what it learns in attributes of the class, and saves itself as JSON."""

    memory = {"ROCK": 0, "PAPER": 0, "SCISSORS": 0}
    instances = 0

    def __init__(self):
        Agent.instances += 1
        self.saved = json.dumps(Agent.memory, sort_keys=True)

    def act(self, observation):
        if observation["opponent_action"]:
            Agent.memory[observation["opponent_action"]] += Agent.instances
        self.saved = json.dumps(copy.deepcopy(Agent.memory))
        loaded = json.loads(self.saved)
        if sum(loaded.values()) > 200:
            Agent.memory = {name: count // 2 for name, count in loaded.items()}
        names = sorted(loaded, key=loaded.get)
        return random.choices(names, weights=[3, 2, 1])[0]
'''

ENUMS = '''
import enum
import random
from dataclasses import dataclass

class Move(enum.Enum):
    ROCK = 0
    PAPER = 1
    SCISSORS = 2

@dataclass(frozen=True)
class Round:
    mine: Move
    theirs: Move | None
    number: int

class Agent:
    """Enums and frozen dataclasses in sets, drawn from in the sets' own order."""

    def __init__(self):
        self.rounds = set()
        self.mine = random.choice(list(Move))

    def act(self, observation):
        theirs = observation["opponent_action"]
        seen = Move[theirs] if theirs else None
        self.rounds.add(Round(self.mine, seen, len(self.rounds) % 40))
        some = [r for r in self.rounds if r.theirs is not None][:5]
        move = random.choice(some).theirs if some else random.choice(list({*Move}))
        self.mine = Move((move.value + 1) % 3)
        return self.mine.name
'''

WEAK = '''
import random
import weakref

class Idea:
    def __init__(self, name):
        self.name = name
        self.loop = self

class Agent:
    """Ideas in reference cycles, which the collector ends whenever it comes by."""

    def __init__(self):
        self.alive = weakref.WeakValueDictionary()
        self.turn = 0

    def act(self, observation):
        self.turn += 1
        idea = Idea(random.choice(["ROCK", "PAPER", "SCISSORS"]))
        self.alive[self.turn] = idea
        return ["ROCK", "PAPER", "SCISSORS"][len(self.alive) % 3]
'''

SLOW_1_MS = '''
import random

class Agent:
    """Thinks for about a millisecond a throw."""

    def act(self, observation):
        total = 0
        for number in range(12_000):
            total = (total * 31 + number) % 1_000_003
        return ["ROCK", "PAPER", "SCISSORS"][(total + random.randrange(3)) % 3]
'''

SLOW_3_MS = '''
import numpy as np

class Agent:
    """Multiplies matrices for about three milliseconds a throw."""

    def __init__(self):
        self.weights = np.random.normal(size=(120, 120))

    def act(self, observation):
        state = np.ones(120)
        seen = observation["opponent_action"]
        state[:3] = [seen == name for name in ("ROCK", "PAPER", "SCISSORS")]
        for _ in range(300):
            state = np.tanh(self.weights @ state)
        return ["ROCK", "PAPER", "SCISSORS"][int(np.argmax(state[:3]))]
'''

HUNGRY_100_MIB = '''
import random

class Agent:
    """Fills a table of a hundred mebibytes before it begins."""

    def __init__(self):
        self.table = bytearray(random.randbytes(1 << 20) * 100)

    def act(self, observation):
        at = random.randrange(len(self.table))
        self.table[at] = (self.table[at] + 1) % 256
        return ["ROCK", "PAPER", "SCISSORS"][self.table[at] % 3]
'''

HUNGRY_200_MIB = '''
import numpy as np

class Agent:
    """Draws twenty-five million numbers before it begins."""

    def __init__(self):
        self.table = np.random.default_rng().random(25 * 2**20)

    def act(self, observation):
        at = int(self.table[np.random.randint(len(self.table))] * 1e9)
        return ["ROCK", "PAPER", "SCISSORS"][at % 3]
'''

PROGRAMS = {
    "sets": SETS,
    "hashes": HASHES,
    "own-generators": OWN_GENERATORS,
    "timed": TIMED,
    "clock-seed": CLOCK_SEED,
    "noisy": NOISY,
    "class-state": CLASS_STATE,
    "enums": ENUMS,
    "weak": WEAK,
    "slow-1-ms": SLOW_1_MS,
    "slow-3-ms": SLOW_3_MS,
    "hungry-100-mib": HUNGRY_100_MIB,
    "hungry-200-mib": HUNGRY_200_MIB,
}
"""Name of a policy to its source."""
