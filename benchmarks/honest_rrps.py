"""Honest policies for rock-paper-scissors, as people and language models write them.

None of them is hostile, and every move follows from the seed and the observations.  What
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

PROGRAMS = {
    "frequency": FREQUENCY,
    "counter": COUNTER,
    "markov": MARKOV,
    "history-match": HISTORY_MATCH,
    "ensemble": ENSEMBLE,
    "paths": PATHS,
    "generators": GENERATORS,
    "floats": FLOATS,
    "heaps": HEAPS,
}
"""Name of a policy to its source."""
