"""Plays a grammar policy against rule players: `benchmarks/grammar_leduc.py [FILE] [--games N]`.

Prints the mean return per opponent beside the ceiling (the exact best response to that opponent,
where it never changes), and what the policy gives away to balanced play: the sum, over its moves,
of how much the move was worse than the best one, which needs far fewer matches than the return.
FILE is a policy's source; without it the full sentence of the grammar plays.  The public
evaluation bots take no part.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from oracle.grammar import balance, leduc
from oracle.grammar.genome import write_source

HANDS = 100
NAMES = {"F": "FOLD", "C": "CALL", "R": "RAISE"}


def slope(x, width=0.05):
    return 1 / (1 + math.exp(-x / width))


def strength(rank, public):
    if public is None:
        return (0.2, 0.5, 0.8)[rank]
    return 1.0 if rank == public else (0.15, 0.4, 0.65)[rank]


def blind(fold, bet):
    return lambda line, rank, public: (fold, 1 - fold - bet, bet)


def honest(fold, bet, bluff=0.0):
    def chances(line, rank, public):
        hand = strength(rank, public)
        bets = max(bluff, slope(hand - bet))
        folds = slope(fold - hand) * (1 - bets)
        return folds, 1 - folds - bets, bets

    return chances


def tilted(fold=1.0, bet=1.0):
    rows = balance.stored_rows()

    def chances(line, rank, public):
        call, raising = rows[line][rank][0 if public is None else public]
        weights = ((1000 - call - raising) * fold, call, raising * bet)
        return tuple(weight / sum(weights) for weight in weights)

    return chances


def by_stage(before, after):
    return lambda line, *cards: (after if "/" in line else before)(line, *cards)


PLAYERS = {
    "balanced": tilted(),
    "seldom folds": blind(0.03, 0.02),
    "folds 92%": blind(0.92, 0.02),
    "calls 85%": blind(0.05, 0.1),
    "folds 80%": blind(0.8, 0.05),
    "folds half": blind(0.5, 0.1),
    "raises 85%": blind(0.05, 0.85),
    "raises half": blind(0.1, 0.5),
    "coin": blind(0.33, 0.34),
    "tight": honest(0.45, 0.75),
    "very tight": honest(0.7, 0.9),
    "loose": honest(0.1, 0.75),
    "aggressive": honest(0.3, 0.45),
    "bluffer": honest(0.3, 0.6, bluff=0.3),
    "trapper": honest(0.3, 1.2),
    "balanced, calls more": tilted(0.4, 0.6),
    "balanced, folds more": tilted(2.5, 1.0),
    "balanced, raises more": tilted(1.0, 2.5),
    "balanced, passive": tilted(1.0, 0.3),
    "tight, then calls": by_stage(honest(0.4, 0.7), blind(0.05, 0.05)),
    "calls, then honest": by_stage(blind(0.03, 0.05), honest(0.4, 0.6)),
    "raises, then folds": by_stage(blind(0.05, 0.9), blind(0.8, 0.1)),
}


def legal_chances(player, line, rank, public):
    """What is not legal is called."""
    fold, call, bet = player(line, rank, public)
    legal = balance.spot(line).legal
    if 0 not in legal:
        fold, call = 0.0, call + fold
    if 2 not in legal:
        bet, call = 0.0, call + bet
    return np.array((fold, call, bet)) / (fold + call + bet)


def ceiling(player):
    """What the best response wins per match, by the exact tree."""
    policy = {}
    for line in balance.spots():
        table = np.zeros((3, 3, 3))
        for rank, public in np.ndindex(3, 3):
            seen = public if "/" in line else None
            table[:, rank, public] = legal_chances(player, line, rank, seen)
        policy[line] = table
    return HANDS / 2 * sum(balance.best_response_value(policy, seat) for seat in (0, 1))


def observation(seat, cards, line, history, result=None):
    spot, dealt = balance.spot(line), "/" in line
    return {
        "player_view": {
            "player_id": seat,
            "current_player": result is None,
            "hand": "JQK"[cards[seat]],
            "legal_actions": [] if result else [NAMES["FCR"[move]] for move in spot.legal],
        },
        "public_state": {
            "round": "POSTFLOP" if dealt else "PREFLOP",
            "chips": [100 - paid for paid in spot.paid],
            "pot_size": sum(spot.paid),
            "public_card": "JQK"[cards[2]] if dealt else None,
        },
        "action_history": {name: list(events) for name, events in history.items()},
        "game_result": result,
    }


def hand(bot, player, seat, cards, rng):
    """Chips that the bot wins in one hand."""
    line, history = "", {"PREFLOP": [], "POSTFLOP": []}
    bot.restart(seat)
    while True:
        spot = balance.spot(line)
        if spot.mover == seat:
            letter = bot.act(observation(seat, cards, line, history))[0]
        else:
            public = cards[2] if "/" in line else None
            chances = legal_chances(player, line, cards[spot.mover], public)
            letter = rng.choices("FCR", chances)[0]
        stage = "POSTFLOP" if "/" in line else "PREFLOP"
        history[stage].append({"player_id": spot.mover, "action": NAMES[letter]})
        to = balance.follow(line, "FCR".index(letter))
        if to in {"fold", "showdown"}:
            break
        line = to
    shown, won = None, spot.paid[spot.mover] * (-1 if spot.mover == seat else 1)
    if to == "showdown":
        mine, theirs = (3 if cards[i] == cards[2] else cards[i] for i in (seat, 1 - seat))
        won = max(spot.paid) * ((mine > theirs) - (mine < theirs))
        shown = [{"player_id": i, "hand": "JQK"[cards[i]]} for i in (0, 1)]
    result = {"outcome": to.upper(), "returns": [], "showdown_hands": shown}
    bot.receive_outcome(observation(seat, cards, line, history, result))
    return won


def match(make_bot, player, seed):
    random.setstate(random.Random(seed + 1).getstate())
    rng, bot = random.Random(seed), make_bot()
    return sum(
        hand(bot, player, number % 2, rng.sample([0, 0, 1, 1, 2, 2], 3), rng)
        for number in range(HANDS)
    )


def auditor(namespace):
    """The policy's class, with a count of what its moves give away to balanced play."""
    bot = namespace["RepeatedLeducPokerBot"]
    ranks = namespace["RANKS"]

    class Audited(bot):
        given = 0.0

        def act(self, obs):
            name = super().act(obs)
            mine = ranks[obs["player_view"]["hand"]]
            believed, self.chances = self.chances, np.eye(len(self.chances))[0]  # balanced play
            self.plan = None
            worth = self.options(*self.read(obs), mine)
            self.chances, self.plan = believed, None
            Audited.given += max(worth.values()) - worth[name[0]]
            return name

    return Audited


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--games", type=int, default=20)
    options = parser.parse_args()
    source = options.file.read_text() if options.file else write_source(leduc.full_genome())
    namespace = {"__name__": "policy"}
    exec(compile(source, "<policy>", "exec"), namespace)
    games = range(options.games)
    for name, player in PLAYERS.items():
        returns = [match(namespace["RepeatedLeducPokerBot"], player, seed) for seed in games]
        print(f"{name:24s} {np.mean(returns):8.1f}  ceiling {ceiling(player):8.1f}")
    audited = auditor(namespace)
    for seed in games:
        match(audited, PLAYERS["balanced"], seed)
    print(f"given away to balanced play: {audited.given / options.games:.2f} chips a match")


if __name__ == "__main__":
    main()
