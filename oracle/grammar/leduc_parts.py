"""The text that rendered Leduc policies are put together from."""

from __future__ import annotations

HEADER = """import math
import random

RANKS = {"J": 0, "Q": 1, "K": 2}
J, Q, K = 0, 1, 2
"""

TREE = '''
# A line is the betting so far: letters F, C, R, then "/" for the public card, then letters.


def situation(line):
    """Who moves, what seats 0 and 1 have paid, and whether folding and raising are legal."""
    before, _, after_card = line.partition("/")
    paid = [1, 1]
    for letters, size in ((before, 2), (after_card, 4)):
        for turn, letter in enumerate(letters):
            if letter != "F":
                paid[turn % 2] = max(paid) + (size if letter == "R" else 0)
    letters = after_card if "/" in line else before
    return len(letters) % 2, paid[0], paid[1], letters.endswith("R"), letters.count("R") < 2


def follow(line, letter):
    """The line after a move, or "fold" or "showdown" where the hand ends."""
    if letter == "F":
        return "fold"
    letters = line.rpartition("/")[2]
    if letter == "R" or not letters:
        return line + letter
    return "showdown" if "/" in line else line + "C/"


def all_lines(line=""):
    """Every line at which somebody has to move, from this one on."""
    found = {line: situation(line)}
    for letter in "FCR":
        legal = {"F": found[line][3], "C": True, "R": found[line][4]}[letter]
        if legal and follow(line, letter) not in ("fold", "showdown"):
            found |= all_lines(follow(line, letter))
    return found


LINES = all_lines()
'''

STYLES = '''
def strength(rank, public):
    """How good a hand feels to a player who only looks at the cards, 0 to 1."""
    if public is None:
        return (0.15, 0.5, 0.85)[rank]
    return 1.0 if rank == public else (0.1, 0.35, 0.6)[rank]


def slope(x):
    """0 well below 0, 1 well above it."""
    return 1.0 / (1.0 + math.exp(-x / 0.07))


def balanced(line, rank, public):
    """Fold, call and raise chances of balanced play."""
    call, bet = BALANCED[line, rank][public or 0]
    return (1000 - call - bet) / 1000, call / 1000, bet / 1000


def style(kind, fold, bet, line, rank, public):
    """Fold, call and raise chances of a style of play, with a little room for mistakes."""
    chances = balanced(line, rank, public)
    if kind == "blind":  # the same with any cards
        chances = fold, max(0.0, 1.0 - fold - bet), bet
    elif kind == "honest":  # bets strong hands and gives up weak ones
        hand = strength(rank, public)
        bets = slope(hand - bet)
        folds = slope(fold - hand) * (1.0 - bets)
        chances = folds, 1.0 - bets - folds, bets
    elif kind == "tilted":  # balanced play with too much or too little of something
        chances = chances[0] * fold, chances[1], chances[2] * bet
    folds, calls, bets = chances if kind == "balanced" else [0.97 * x + 0.01 for x in chances]
    _, _, _, can_fold, can_raise = LINES[line]
    if not can_fold:
        folds, calls = 0.0, calls + folds
    if not can_raise:
        bets, calls = 0.0, calls + bets
    total = folds + calls + bets
    return folds / total, calls / total, bets / total


def style_table(kind, fold, bet):
    """A style's chances at every line, rank and public card."""
    return {
        (line, rank, public): style(kind, fold, bet, line, rank, public)
        for line in LINES
        for rank in (J, Q, K)
        for public in ((J, Q, K) if "/" in line else (None,))
    }


TABLES = [style_table(kind, fold, bet) for kind, fold, bet, _ in STYLES]


class Learned(dict):
    """Chances at a situation, from balanced play (worth some moves) and from what was seen."""

    def __init__(self, worth, seen):
        self.worth, self.seen = worth, seen

    def __missing__(self, key):
        line, rank, public = key
        start = balanced(line, rank, public)
        chances = [self.worth * (0.97 * x + 0.01) if x else 0.0 for x in start]
        _, _, _, can_fold, can_raise = LINES[line]
        legal = (can_fold, True, can_raise)
        rows = self.seen.get(spot(line), {})
        for hand, row in rows.items():
            share = POOL + (1.0 - POOL) * (hand == hand_class(rank, public))
            for move in range(3):
                chances[move] += share * row[move] * legal[move]
        total = sum(chances)
        self[key] = tuple(x / total for x in chances)
        return self[key]


def spot(line):
    """Situations that are taken as alike when learning: same round, same betting in it."""
    return "/" in line, line.rpartition("/")[2]


def hand_class(rank, public):
    """J, Q, K; with a public card: a pair, or the high card."""
    return rank if public is None else 6 if rank == public else 3 + rank
'''

BOT_BODY = '''
    def __init__(self):
        self.me = 0
        total = sum(prior for *_, prior in STYLES)
        self.priors = [prior / total for *_, prior in STYLES]
        self.chances = list(self.priors)  # of each style, given the hands so far
        self.seen = {}  # spot -> class of hand -> how often they folded, called, raised
        self.tables = list(TABLES)
        self.forget_guesses()

    def forget_guesses(self):
        """Lets the learned styles follow what was seen since they were last asked."""
        for i, (kind, worth, _, _) in enumerate(STYLES):
            if kind == "learned":
                self.tables[i] = Learned(worth, self.seen)

    def restart(self, player_id):
        self.me = player_id

    def act(self, obs):
        view = obs["player_view"]
        self.me, mine = view["player_id"], RANKS[view["hand"]]
        card = obs["public_state"]["public_card"]
        public = None if card is None else RANKS[card]
        line, theirs = self.read(obs["action_history"], public)
        suspects = self.suspects(mine, public, theirs, shown=None)
        total = sum(weight for weight, _, _ in suspects)
        suspects = [(w / total, t, r) for w, t, r in suspects if w > 1e-3 * total]
        worth = self.options(line, mine, public, suspects)
        moves = {letter: name for name in view["legal_actions"] for letter in name[0]}
        plan = dict(zip("FCR", balanced(line, mine, public)))
        best = max(moves, key=worth.__getitem__)
        if worth[best] - sum(plan[x] * worth[x] for x in moves) > CAUTION:
            return moves[best]
        return random.choices(list(moves.values()), [plan[x] + 1e-9 for x in moves])[0]

    def receive_outcome(self, obs):
        """Weighs the styles by how well they explain the hand, and notes what was done."""
        mine = RANKS[obs["player_view"]["hand"]]
        card = obs["public_state"]["public_card"]
        public = None if card is None else RANKS[card]
        shown = None
        for hand in (obs["game_result"] or {}).get("showdown_hands") or ():
            if hand["player_id"] != self.me:
                shown = RANKS[hand["hand"]]
        _, theirs = self.read(obs["action_history"], public)
        if not theirs:
            return
        fits = [1e-12] * len(STYLES)
        suspects = self.suspects(mine, public, theirs, shown)
        for weight, style_number, _ in suspects:
            fits[style_number] += weight
        total = sum(fits)
        self.chances = [
            (1.0 - CHANGE) * fit / total + CHANGE * prior for fit, prior in zip(fits, self.priors)
        ]
        total = sum(weight for weight, _, _ in suspects)
        for weight, _, rank in suspects:
            for line, on_table, move in theirs:
                row = self.seen.setdefault(spot(line), {})
                row.setdefault(hand_class(rank, on_table), [0.0, 0.0, 0.0])[move] += weight / total
        self.forget_guesses()

    def read(self, history, public):
        """The line so far, and the opponent's moves as (line, public card, move number)."""
        line, theirs = "", []
        for stage, on_table in (("PREFLOP", None), ("POSTFLOP", public)):
            if on_table is not None:
                line += "/"
            for event in history[stage]:
                letter = event["action"][0]
                if event["player_id"] != self.me:
                    theirs.append((line, on_table, "FCR".index(letter)))
                line += letter
        return line, theirs

    def suspects(self, mine, public, theirs, shown):
        """Who may sit there with what: (weight, number of the style, rank of their card)."""
        left = [2, 2, 2]
        left[mine] -= 1
        if public is not None:
            left[public] -= 1
        found = []
        for number, (chance, table) in enumerate(zip(self.chances, self.tables)):
            for rank in (J, Q, K):
                weight = chance * left[rank] if shown in (None, rank) else 0.0
                for line, on_table, move in theirs:
                    if weight:
                        weight *= table[line, rank, on_table][move]
                if weight:
                    found.append((weight, number, rank))
        return found

    # ----- expected chips, if the suspects are right and I play on as well as I can -----

    def options(self, line, mine, public, suspects):
        """Chips that each legal letter is worth, times the suspects' total weight."""
        _, paid_0, paid_1, can_fold, can_raise = LINES[line]
        worth = {"C": self.after_call(line, mine, public, suspects)}
        if can_fold:
            paid = paid_1 if self.me else paid_0
            worth["F"] = -paid * sum(weight for weight, _, _ in suspects)
        if can_raise:
            worth["R"] = self.value(line + "R", mine, public, suspects)
        return worth

    def after_call(self, line, mine, public, suspects):
        """Value once the player to move has called: a showdown, the public card, or a move."""
        to = follow(line, "C")
        if to == "showdown":
            stake = max(LINES[line][1:3])
            hand = 3 if mine == public else mine
            return stake * sum(
                weight * ((hand > other) - (hand < other))
                for weight, _, rank in suspects
                for other in (3 if rank == public else rank,)
            )
        if not to.endswith("/"):
            return self.value(to, mine, public, suspects)
        total = 0.0
        for card in (J, Q, K):  # 4 cards are left in the deck
            after_card = [
                (weight * (2 - (card == mine) - (card == rank)) / 4, number, rank)
                for weight, number, rank in suspects
                if (card == mine) + (card == rank) < 2
            ]
            if after_card:
                total += self.value(to, mine, card, after_card)
        return total

    def value(self, line, mine, public, suspects):
        """Value where somebody has to move: my best letter, or what the suspects would do."""
        mover, paid_0, paid_1, _, _ = LINES[line]
        if mover == self.me:
            return max(self.options(line, mine, public, suspects).values())
        folding, calling, raising = 0.0, [], []
        for weight, number, rank in suspects:
            fold, call, bet = self.tables[number][line, rank, public]
            folding += weight * fold
            if weight * call > 1e-7:
                calling.append((weight * call, number, rank))
            if weight * bet > 1e-7:
                raising.append((weight * bet, number, rank))
        total = folding * (paid_0 if self.me else paid_1)
        if calling:
            total += self.after_call(line, mine, public, calling)
        if raising:
            total += self.value(line + "R", mine, public, raising)
        return total
'''
