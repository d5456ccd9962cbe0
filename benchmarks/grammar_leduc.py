"""Plays a Leduc policy against hand-written players: `benchmarks/grammar_leduc.py [FILE]...`.

Prints the mean return against each player beside the ceiling (what the exact best response wins,
where the player has no memory), then PopReturn, PopExpl and AggScore over the field with 95 %
intervals over deals, as the arena computes them, PopExpl cross-fitted as well, and what the policy
gives away to balanced play: the sum, over its moves, of how much the move was worse than the best
one, which needs far fewer matches than the return.  FILE is a policy's source, or a word for a
sentence of the grammar (see `SENTENCES`); without it the full sentence plays.  The word `knows` is
for a player that was told which players without memory the half has, and need only find out which
of them it meets: what a policy that knows nobody falls short of.  `--half held-out` is for
measuring what is finished.  The arena's evaluation population takes no part.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from grammar_leduc_field import CHANCES, DEVELOPMENT, HELD_OUT, Plain
from grammar_leduc_players import Past, See, tilted

from arena.analysis import metrics
from oracle.grammar import balance, leduc
from oracle.grammar.genome import write_source

HANDS, APART = 100, 10_000
NAMES = {"F": "FOLD", "C": "CALL", "R": "RAISE"}
DECK = (0, 0, 1, 1, 2, 2)
HALVES = {"development": DEVELOPMENT, "held-out": HELD_OUT}


def without(kind):
    """The full sentence less the styles of one kind."""
    full = leduc.full_genome()
    return leduc.with_styles(full, [one for one in full.styles[1:] if one.kind != kind])


SENTENCES = {
    "full": leduc.full_genome,
    "no-strangers": lambda: without("strangers"),
    "no-crowd": lambda: without("crowd"),
}
"""Word -> sentence."""


def legal_weights(player, see):
    """What is not legal is called."""
    fold, call, bet = player.weights(see)
    if not see.owed:
        fold, call = 0.0, call + fold
    if see.raises == 2:
        bet, call = 0.0, call + bet
    return fold, call, bet


def see(line, seat, cards, hand, score):
    """What a player in a seat knows."""
    spot, dealt = balance.spot(line), "/" in line
    return See(
        line,
        cards[seat],
        cards[2] if dealt else None,
        seat,
        line.rpartition("/")[2].count("R"),
        max(spot.paid) - spot.paid[seat],
        sum(spot.paid),
        hand,
        score,
    )


def observation(seat, cards, line, history, result=None):
    """The same for a policy, as the author contract says."""
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


def hand(bot, player, seat, cards, rng, number, total):
    """Chips that the bot wins in one hand."""
    line, history = "", {"PREFLOP": [], "POSTFLOP": []}
    bot.restart(seat)
    while True:
        spot = balance.spot(line)
        if spot.mover == seat:
            letter = bot.act(observation(seat, cards, line, history))[0]
        else:
            seen = see(line, spot.mover, cards, number, -total)
            letter = rng.choices("FCR", legal_weights(player, seen))[0]
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
    returns = [won, -won] if seat == 0 else [-won, won]
    result = {"outcome": to.upper(), "returns": returns, "showdown_hands": shown}
    bot.receive_outcome(observation(seat, cards, line, history, result))
    public = cards[2] if "/" in line else None
    mine = cards[seat] if shown else None
    player.saw(Past(line + letter, 1 - seat, cards[1 - seat], public, mine, -won))
    return won


def match(make_bot, maker, seed):
    """Chips won in a match; seeds 2n and 2n + 1 share the cards with the seats swapped."""
    deals, rng = random.Random(f"cards {seed // 2}"), random.Random(f"moves {seed}")
    random.setstate(random.Random(f"bot {seed}").getstate())
    bot, player, total = make_bot(), maker(rng), 0
    for number in range(HANDS):
        cards = deals.sample(DECK, 3)
        if seed % 2:
            cards = [cards[1], cards[0], cards[2]]
        total += hand(bot, player, (number + seed) % 2, cards, rng, number, total)
    return total


def ceiling(weights):
    """What the best response wins per match against a player without memory, exactly."""
    policy = chances(weights)
    return HANDS / 2 * sum(balance.best_response_value(policy, seat) for seat in (0, 1))


def chances(weights):
    """What a player without memory does: (move, own rank, public card) after each line."""
    policy = {}
    for line in balance.spots():
        table = np.zeros((3, 3, 3))
        for rank, public in np.ndindex(3, 3):
            seat = balance.spot(line).mover
            seen = see(line, seat, {seat: rank, 1 - seat: 0, 2: public}, 50, 0)
            found = legal_weights(Plain(weights), seen)
            table[:, rank, public] = np.array(found) / sum(found)
        policy[line] = table
    return policy


def auditor(namespace):
    """The policy's class, with a count of what its moves give away to balanced play."""
    bot = namespace["RepeatedLeducPokerBot"]
    even = balance.from_rows(balance.stored_rows())

    class Audited(bot):
        given = 0.0

        def act(self, obs):
            name = super().act(obs)
            Audited.given += regret(even, obs, name[0])
            return name

    return Audited


def regret(policy, obs, letter):
    """How much worse a move is than the best one against a stateless policy, in chips."""
    seat, mine = obs["player_view"]["player_id"], "JQK".index(obs["player_view"]["hand"])
    first, then = (
        "".join(event["action"][0] for event in obs["action_history"][stage])
        for stage in ("PREFLOP", "POSTFLOP")
    )
    card = obs["public_state"]["public_card"]
    line = first if card is None else f"{first}/{then}"
    values = balance.move_values(
        policy, line, seat, mine, None if card is None else "JQK".index(card)
    )
    return max(values.values()) - values[letter]


def load(text):
    """Policy class and its namespace, from a file's name or a sentence's word."""
    source = write_source(SENTENCES[text]()) if text in SENTENCES else Path(text).read_text()
    namespace = {"__name__": "policy"}
    exec(compile(source, text, "exec"), namespace)
    return namespace


def knowing(field):
    """Namespace of the full sentence with the field's players without memory as its strangers."""
    namespace = load("full")
    lines, legal = namespace["LINES"], namespace["LEGAL"]
    whole = [chances(CHANCES[name]) for name, _ in field if name in CHANCES]
    plans = np.array([[np.moveaxis(one[line], 0, -1) for line in lines] for one in whole])
    slips = legal / legal.sum(axis=3, keepdims=True)  # whoever has a memory is none of them
    group = object.__new__(namespace["Strangers"])
    group.alike = np.full(len(plans), 1.0 / len(plans))
    group.paths = [group.walk(seat, plans + 1e-6 * slips) for seat in namespace["SEATS"]]
    styles = namespace["STYLES"]
    (number,) = (n for n, (kind, *_) in enumerate(styles) if kind == "strangers")
    styles[:] = [(*style[:3], float(n == number)) for n, style in enumerate(styles)]
    namespace["STRANGERS"][number] = group
    namespace["CROWDS"].clear()
    namespace.update(CAUTION=0.0, CHANGE=0.0)
    return namespace


def scores(returns):
    """PopReturn, PopExpl, cross-fitted PopExpl and AggScore of (players, deals) means."""
    halves = np.stack([spread(returns[:, first::2]) for first in (0, 1)], axis=1)
    whole = spread(returns)
    return {
        "PopReturn": metrics.pop_return(*whole),
        "PopExpl": metrics.pop_expl(*whole),
        "cross-fitted": metrics.pop_expl_cross_fitted(*halves),
        "AggScore": metrics.agg_score(*whole),
    }


def spread(returns):
    """Means of (players, deals), their standard errors and degrees of freedom, (3, 1, players)."""
    deals = returns.shape[1]
    errors = returns.std(axis=1, ddof=1) / np.sqrt(deals)
    return np.stack([returns.mean(axis=1), errors, np.full_like(errors, deals - 1.0)])[:, None]


def measure(namespace, field, deals):
    """Mean returns (players, deals) over both seats, and CPU seconds a match.

    Each player has cards of its own: luck that all of them shared would be no luck to the
    intervals.  Policies meet a player on the same cards.
    """
    started, rows = time.process_time(), []
    for place, (_, maker) in enumerate(field):
        first = 2 * APART * place
        played = [
            match(namespace["RepeatedLeducPokerBot"], maker, seed)
            for seed in range(first, first + 2 * deals)
        ]
        rows.append(np.reshape(played, (deals, 2)).mean(axis=1))
    return np.array(rows), (time.process_time() - started) / (len(rows) * 2 * deals)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("policies", nargs="*", default=["full"], metavar="FILE")
    parser.add_argument("--half", choices=HALVES, default="development")
    parser.add_argument("--deals", type=int, default=20)
    options = parser.parse_args()
    if not 4 <= options.deals <= APART:
        parser.error(f"--deals: from 4, two for the interval of each half, to {APART:,}")
    field = HALVES[options.half]
    columns = []
    for text in options.policies:
        namespace = knowing(field) if text == "knows" else load(text)
        returns, seconds = measure(namespace, field, options.deals)
        columns.append((text, namespace, returns, seconds))
    tops = {name: ceiling(CHANCES[name]) for name, _ in field if name in CHANCES}
    for place, (name, _) in enumerate(field):
        print(row(name, tops.get(name), [returns[place] for _, _, returns, _ in columns]))
    plain = [place for place, (name, _) in enumerate(field) if name in tops]
    best = float(np.mean(list(tops.values())))
    print(row("all without memory", best, [returns[plain] for _, _, returns, _ in columns]))
    for text, namespace, returns, seconds in columns:
        told = (
            f"{title} {found.value[0]:.1f} [{found.low[0]:.1f}, {found.high[0]:.1f}]"
            for title, found in scores(returns).items()
        )
        print(f"{text}: {', '.join(told)}")
        given = given_away(namespace, options.deals)
        print(
            f"  gives away {given:.2f} chips a match to balanced play; {1000 * seconds:.0f} ms each"
        )


def row(name, top, returns):
    """A line of the table: the ceiling, None where it is not known, and each policy's mean."""
    means = "".join(f"{one.mean():10.1f}" for one in returns)
    return f"{name:26s} ceiling {'' if top is None else format(top, '.1f'):>8s} {means}"


def given_away(namespace, matches):
    """Chips a match that the policy's moves give away to balanced play."""
    audited = auditor(namespace)
    for seed in range(matches):
        match(audited, lambda rng: Plain(tilted()), seed)
    return audited.given / matches


if __name__ == "__main__":
    main()
