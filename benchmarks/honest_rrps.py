"""Honest policies for rock-paper-scissors, as people and language models write them.

None of them is hostile and every move follows from the seed and the observations, but they lean
on whatever Python has: sets, hashes, clocks, generators without a seed, recursion, memory.  What
`honest_population.py` wants to know is that no audit takes one of them for a cheat.
"""

from __future__ import annotations

FREQUENCY = '''
import random

class Agent:
    """Beats the opponent's most frequent throw."""

    def __init__(self):
        self.history = []

    def act(self, observation):
        # The first None goes into the list as well, as in many programs of this kind.
        self.history.append(observation["opponent_action"])
        most = max(set(self.history), key=self.history.count)
        beats = {"ROCK": "PAPER", "PAPER": "SCISSORS", "SCISSORS": "ROCK"}
        return beats.get(most, random.choice(list(beats)))
'''

COUNTER = '''
from collections import Counter, defaultdict

class Agent:
    """Counts what follows each pair of throws, and takes the counter's own order for ties."""

    def __init__(self):
        self.follows = defaultdict(Counter)
        self.last = None

    def act(self, observation):
        pair = (observation["my_action"], observation["opponent_action"])
        if self.last is not None:
            self.follows[self.last][pair[1]] += 1
        self.last = pair
        guess = self.follows[pair].most_common(1)
        name = guess[0][0] if guess else "ROCK"
        return {"ROCK": "PAPER", "PAPER": "SCISSORS", "SCISSORS": "ROCK"}[name]
'''

MARKOV = '''
import random
import numpy as np

class Agent:
    """A Markov chain of the second order in numpy, sampled from the global generator."""

    def __init__(self):
        self.counts = np.ones((9, 9, 3))
        self.states = [0, 0]
        self.moves = ["ROCK", "PAPER", "SCISSORS"]

    def act(self, observation):
        if observation["opponent_action"] is not None:
            mine = self.moves.index(observation["my_action"])
            theirs = self.moves.index(observation["opponent_action"])
            self.counts[self.states[0], self.states[1], theirs] += 1
            self.states = [self.states[1], 3 * mine + theirs]
        row = self.counts[self.states[0], self.states[1]]
        guess = np.random.choice(3, p=row / row.sum())
        return self.moves[(int(guess) + 1) % 3]
'''

HISTORY_MATCH = '''
import random

class Agent:
    """Looks for the longest earlier copy of the last throws, as a string."""

    CODE = {("R", "R"): "a", ("R", "P"): "b", ("R", "S"): "c", ("P", "R"): "d", ("P", "P"): "e",
            ("P", "S"): "f", ("S", "R"): "g", ("S", "P"): "h", ("S", "S"): "i"}

    def __init__(self):
        self.text = ""
        self.theirs = ""

    def act(self, observation):
        if observation["my_action"]:
            pair = (observation["my_action"][0], observation["opponent_action"][0])
            self.text += self.CODE[pair]
            self.theirs += pair[1]
        for length in range(min(12, len(self.text) - 1), 0, -1):
            at = self.text.rfind(self.text[-length:], 0, -1)
            if at >= 0 and at + length < len(self.theirs):
                return {"R": "PAPER", "P": "SCISSORS", "S": "ROCK"}[self.theirs[at + length]]
        return random.choice(["ROCK", "PAPER", "SCISSORS"])
'''

ENSEMBLE = '''
import random
from dataclasses import dataclass, field

MOVES = ("ROCK", "PAPER", "SCISSORS")

@dataclass
class Expert:
    name: str
    shift: int
    score: float = 0.0
    guesses: list = field(default_factory=list)

class Agent:
    """Experts with scores that fade; the best one is followed."""

    def __init__(self):
        self.experts = [Expert(f"{who}+{n}", n) for who in ("me", "you") for n in range(3)]

    def act(self, observation):
        mine, theirs = observation["my_action"], observation["opponent_action"]
        if theirs is None:
            return random.choice(MOVES)
        seen = MOVES.index(theirs)
        for expert in self.experts:
            if expert.guesses:
                expert.score = 0.93 * expert.score + (expert.guesses[-1] == seen) - 1 / 3
            source = mine if expert.name.startswith("me") else theirs
            expert.guesses.append((MOVES.index(source) + expert.shift) % 3)
        best = max(self.experts, key=lambda e: (e.score, random.random()))
        return MOVES[(best.guesses[-1] + 1) % 3]
'''

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

PATHS = '''
import random
from functools import lru_cache

MOVES = ("ROCK", "PAPER", "SCISSORS")

@lru_cache(maxsize=None)
def value(depth, wins, last):
    """Deep recursion with a memory."""
    if depth == 0:
        return wins / 7 + last / 11
    return max(value(depth - 1, (wins + n * last) % 13, (last + n) % 3) for n in range(3)) * 0.999

class Agent:
    """Looks far ahead in a game that it made up."""

    def __init__(self):
        self.wins = 0

    def act(self, observation):
        theirs = observation["opponent_action"]
        last = MOVES.index(theirs) if theirs else random.randrange(3)
        self.wins = (self.wins + last) % 13
        scores = [value(150, (self.wins + n) % 13, (last + n) % 3) for n in range(3)]
        return MOVES[scores.index(max(scores))]
'''

GENERATORS = '''
import itertools
import random

class Agent:
    """A coroutine that yields throws; plans are slices of endless iterators."""

    def __init__(self):
        self.plan = self.think()
        next(self.plan)

    def think(self):
        throws = itertools.cycle(["ROCK", "ROCK", "PAPER", "SCISSORS", "PAPER"])
        seen = yield None
        for number in itertools.count():
            skip = random.randint(0, 3) if number % 50 == 0 else 0
            throw = next(itertools.islice(throws, skip, None))
            if seen["opponent_action"] == seen["my_action"] and seen["my_action"]:
                throw = next(throws)
            seen = yield throw

    def act(self, observation):
        return self.plan.send(observation)
'''

FLOATS = '''
import math
import random

class Agent:
    """Multiplicative weights, with sums of floats that no two orders give alike."""

    def __init__(self):
        self.weights = {name: 1.0 for name in ("ROCK", "PAPER", "SCISSORS")}
        self.rate = math.sqrt(8 * math.log(3) / 1000)

    def act(self, observation):
        theirs = observation["opponent_action"]
        if theirs:
            for name in {"ROCK", "PAPER", "SCISSORS"}:
                gain = {("ROCK", "SCISSORS"): 1, ("PAPER", "ROCK"): 1, ("SCISSORS", "PAPER"): 1}
                won = gain.get((name, theirs), 0) - gain.get((theirs, name), 0)
                self.weights[name] *= math.exp(self.rate * won)
        total = sum(self.weights[name] for name in set(self.weights))
        drawn = random.random() * total
        for name, weight in self.weights.items():
            drawn -= weight
            if drawn <= 0:
                return name
        return name
'''

HEAPS = '''
import bisect
import heapq
import random

class Agent:
    """Keeps its ideas in a heap and its past in a sorted list."""

    def __init__(self):
        self.heap = [(random.random(), name) for name in ("ROCK", "PAPER", "SCISSORS")]
        heapq.heapify(self.heap)
        self.past = []

    def act(self, observation):
        bisect.insort(self.past, (observation["opponent_action"] or "", len(self.past)))
        cost, name = heapq.heappop(self.heap)
        middle = self.past[len(self.past) // 2][0]
        heapq.heappush(self.heap, (cost + random.random() + (middle == name), name))
        return name
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
    "frequency": FREQUENCY,
    "counter": COUNTER,
    "markov": MARKOV,
    "history-match": HISTORY_MATCH,
    "ensemble": ENSEMBLE,
    "sets": SETS,
    "hashes": HASHES,
    "own-generators": OWN_GENERATORS,
    "timed": TIMED,
    "clock-seed": CLOCK_SEED,
    "paths": PATHS,
    "generators": GENERATORS,
    "floats": FLOATS,
    "heaps": HEAPS,
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
