"""Honest policies for repeated Leduc hold'em, as people and language models write them.

See `honest_rrps.py`.
"""

from __future__ import annotations

STRENGTH = '''
import random

class RepeatedLeducPokerBot:
    """Plays its cards, and bluffs now and then."""

    RANK = {"J": 0, "Q": 1, "K": 2}

    def restart(self, player_id):
        self.me = player_id

    def act(self, obs):
        legal = obs["player_view"]["legal_actions"]
        card, public = obs["player_view"]["hand"], obs["public_state"]["public_card"]
        strength = 3 if card == public else self.RANK[card]
        if strength + random.random() > 2 and "RAISE" in legal:
            return "RAISE"
        return "FOLD" if strength == 0 and "FOLD" in legal else "CALL"

    def receive_outcome(self, obs):
        pass
'''

MODEL = '''
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field

@dataclass
class Model:
    """What the opponent did, by round and by what was asked of it."""

    actions: dict = field(default_factory=lambda: defaultdict(Counter))
    shown: Counter = field(default_factory=Counter)

class RepeatedLeducPokerBot:
    """Counts the opponent's actions and folds to whoever never bluffs."""

    def __init__(self):
        self.model = Model()

    def restart(self, player_id):
        self.me = player_id

    def act(self, obs):
        legal = obs["player_view"]["legal_actions"]
        now = self.model.actions[obs["public_state"]["round"]]
        raises = (now["RAISE"] + 1) / (sum(now.values()) + 3)
        wish = random.choices(["RAISE", "CALL", "FOLD"], [1 - raises, 1.0, raises])[0]
        return wish if wish in legal else "CALL"

    def receive_outcome(self, obs):
        for name, moves in obs["action_history"].items():
            for move in moves:
                if move["player_id"] != self.me:
                    self.model.actions[name][move["action"]] += 1
        for hand in obs["game_result"]["showdown_hands"] or ():
            self.model.shown[hand["hand"]] += hand["player_id"] != self.me
'''

NUMPY = '''
import numpy as np

class RepeatedLeducPokerBot:
    """A softmax policy that learns by gradient steps from the chips that it wins."""

    def __init__(self):
        self.rng = np.random.default_rng()
        self.weights = self.rng.normal(scale=0.1, size=(12, 3))
        self.taken = []

    def restart(self, player_id):
        self.me = player_id
        self.taken = []

    def act(self, obs):
        view, public = obs["player_view"], obs["public_state"]
        row = "JQK".index(view["hand"]) * 4 + (public["public_card"] == view["hand"])
        row += 2 * (public["round"] == "POSTFLOP")
        names = ["FOLD", "CALL", "RAISE"]
        open_ = np.array([name in view["legal_actions"] for name in names])
        logits = np.where(open_, self.weights[row], -np.inf)
        chances = np.exp(logits - logits.max())
        chances /= chances.sum()
        action = int(self.rng.choice(3, p=chances))
        self.taken.append((row, action, chances))
        return names[action]

    def receive_outcome(self, obs):
        won = obs["game_result"]["returns"][self.me]
        for row, action, chances in self.taken:
            self.weights[row] -= 0.01 * won * chances
            self.weights[row, action] += 0.01 * won
'''

SETS = '''
class RepeatedLeducPokerBot:
    """Takes the first legal action of a set; remembers situations as tuples in a set."""

    def __init__(self):
        self.known = set()

    def restart(self, player_id):
        self.player = player_id

    def act(self, obs):
        legal = set(obs["player_view"]["legal_actions"])
        key = (obs["player_view"]["hand"], obs["public_state"]["public_card"], len(legal))
        self.known.add(key)
        first = next(iter(self.known))
        wanted = {"FOLD"} if first[0] == "J" and key[0] == "J" else {"RAISE", "CALL"}
        return next(iter(legal & wanted), "CALL")

    def receive_outcome(self, obs):
        if len(self.known) > 20:
            self.known = {key for key in self.known if key[1] is None}
'''

SAMPLER = '''
import random
import time

class RepeatedLeducPokerBot:
    """Plays hands out for two milliseconds before each action."""

    def restart(self, player_id):
        self.me = player_id

    def act(self, obs):
        view, public = obs["player_view"], obs["public_state"]
        deck = list("JJQQKK")
        deck.remove(view["hand"])
        if public["public_card"]:
            deck.remove(public["public_card"])
        won = games = 0
        until = time.monotonic() + 0.002
        while time.monotonic() < until or games < 20:
            other, board = random.sample(deck, 2)
            board = public["public_card"] or board
            mine = (view["hand"] == board, "JQK".index(view["hand"]))
            theirs = (other == board, "JQK".index(other))
            won += (mine > theirs) + 0.5 * (mine == theirs)
            games += 1
        if won / games > 0.6 and "RAISE" in view["legal_actions"]:
            return "RAISE"
        return "FOLD" if won / games < 0.3 and "FOLD" in view["legal_actions"] else "CALL"

    def receive_outcome(self, obs):
        pass
'''

TREE = '''
import functools
import random

ORDER = {"J": 0, "Q": 1, "K": 2}

@functools.cache
def chance(mine, public, raises):
    """How often this hand is best, by recursion over raises that are believed less and less."""
    if raises == 0:
        cards = "JJQQKK".replace(mine, "", 1)
        cards = cards.replace(public, "", 1) if public else cards
        beaten = [ORDER[mine] + 3 * (mine == public) > ORDER[c] + 3 * (c == public) for c in cards]
        return sum(beaten) / len(cards)
    return 0.8 * chance(mine, public, raises - 1)

class RepeatedLeducPokerBot:
    """Raises the good half of its hands."""

    def __init__(self):
        self.hands = 0

    def restart(self, player_id):
        self.hands += 1

    def act(self, obs):
        played = [m["action"] for moves in obs["action_history"].values() for m in moves]
        view = obs["player_view"]
        good = chance(view["hand"], obs["public_state"]["public_card"], played.count("RAISE"))
        good += random.gauss(0, 0.05)
        wish = "RAISE" if good > 0.45 else "CALL" if good > 0.2 else "FOLD"
        return wish if wish in view["legal_actions"] else "CALL"

    def receive_outcome(self, obs):
        self.hands += 0
'''

DIARY = '''
import hashlib
import json
import random
import warnings

class RepeatedLeducPokerBot:
    """Writes a diary as JSON, hashes it, and seeds a generator with that."""

    def __init__(self):
        self.diary = []

    def restart(self, player_id):
        self.diary.append({"hand": len(self.diary), "player": player_id})

    def act(self, obs):
        warnings.warn("a decision has to be made")
        text = json.dumps([self.diary[-5:], obs], sort_keys=True)
        rng = random.Random(hashlib.sha256(text.encode()).hexdigest() + str(random.random()))
        print(text)
        return rng.choice(obs["player_view"]["legal_actions"])

    def receive_outcome(self, obs):
        try:
            self.diary[-1]["won"] = obs["game_result"]["returns"][7]
        except IndexError as error:
            self.diary[-1]["error"] = str(error)
'''

STYLES = '''
import copy
import random
from abc import ABC, abstractmethod

class Style(ABC):
    chips = 0

    @abstractmethod
    def wish(self, card, public): ...

class Tight(Style):
    def wish(self, card, public):
        return "RAISE" if card in ("K", public) else "FOLD"

class Loose(Style):
    def wish(self, card, public):
        return "RAISE" if random.random() < 0.7 else "CALL"

class RepeatedLeducPokerBot:
    """Goes on with the style that has won more; copies itself before each hand."""

    def __init__(self):
        self.styles = {style.__class__.__name__: style for style in (Tight(), Loose())}
        self.now = "Tight"
        self.before = None

    def restart(self, player_id):
        self.me = player_id
        self.before = copy.deepcopy(self.styles)
        self.now = max(self.styles, key=lambda name: (self.styles[name].chips, random.random()))

    def act(self, obs):
        wish = self.styles[self.now].wish(
            obs["player_view"]["hand"], obs["public_state"]["public_card"]
        )
        return wish if wish in obs["player_view"]["legal_actions"] else "CALL"

    def receive_outcome(self, obs):
        self.styles[self.now].chips += obs["game_result"]["returns"][self.me]
'''

SLOW = '''
import random

class RepeatedLeducPokerBot:
    """Thinks for about a millisecond an action."""

    def restart(self, player_id):
        self.me = player_id

    def act(self, obs):
        total = random.randrange(1000)
        for number in range(12_000):
            total = (total * 31 + number) % 1_000_003
        legal = obs["player_view"]["legal_actions"]
        return legal[total % len(legal)]

    def receive_outcome(self, obs):
        pass
'''

HUNGRY = '''
import numpy as np

class RepeatedLeducPokerBot:
    """Keeps a table of a hundred mebibytes for a game of a few hundred situations."""

    def __init__(self):
        self.table = np.random.random((13, 2**20))

    def restart(self, player_id):
        self.row = player_id

    def act(self, obs):
        at = hash((obs["player_view"]["hand"], obs["public_state"]["public_card"])) % 2**20
        legal = obs["player_view"]["legal_actions"]
        return legal[int(self.table[self.row, at] * len(legal))]

    def receive_outcome(self, obs):
        self.table[self.row] += obs["game_result"]["returns"][0] / 1000
        self.table[self.row] %= 1.0
'''

PROGRAMS = {
    "strength": STRENGTH,
    "model": MODEL,
    "numpy": NUMPY,
    "sets": SETS,
    "sampler": SAMPLER,
    "tree": TREE,
    "diary": DIARY,
    "styles": STYLES,
    "slow-1-ms": SLOW,
    "hungry-100-mib": HUNGRY,
}
"""Name of a policy to its source."""
