"""Leduc players that look at the cards and the betting of one hand, and remember nothing.

Written the way people write such programs: a few rules on rank, pair and betting, some noise.
Each is a function of what it sees (`See`) and gives the weights of fold, call and raise; what is
not legal is called instead.  Half of them take part in development, see `grammar_leduc_field`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from oracle.grammar import balance

FOLD, CALL, RAISE = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


class See(NamedTuple):
    """What a player knows when it has to move.

    Attributes:
      line: the betting so far, such as "CR" or "RC/C".
      rank: own card, 0 to 2.
      public: the public card, None before it is dealt.
      seat: 0 acts first.
      raises: in this round so far.
      owed: chips to call, 0 where nobody raised.
      pot: chips on the table.
      hand: number of hands played before this one.
      score: chips won so far.
    """

    line: str
    rank: int
    public: int | None
    seat: int
    raises: int
    owed: int
    pot: int
    hand: int
    score: int

    @property
    def pair(self):
        return self.rank == self.public

    @property
    def after(self):
        return self.public is not None

    @property
    def power(self):
        """J, Q, K are 0, 1, 2; a pair is 3."""
        return 3 if self.pair else self.rank


class Past(NamedTuple):
    """A hand that is over, as one seat saw it.

    Attributes:
      line: all the betting.
      seat: own.
      rank: own card.
      public: the public card, None where it was not dealt.
      shown: the other's card, None where somebody folded.
      won: chips.
    """

    line: str
    seat: int
    rank: int
    public: int | None
    shown: int | None
    won: int

    def theirs(self):
        """The other's moves: (line before, letter)."""
        found, turn = [], 0
        for place, letter in enumerate(self.line):
            if letter == "/":
                turn = 0
                continue
            if turn % 2 != self.seat:
                found.append((self.line[:place], letter))
            turn += 1
        return found


def mix(fold, call, bet):
    return (fold, call, bet)


def bluffs(chance, otherwise):
    """Raises with a chance, else does something else."""
    fold, call, bet = otherwise
    return (fold * (1 - chance), call * (1 - chance), bet * (1 - chance) + chance)


def station(see):
    """Calls; raises a pair."""
    return RAISE if see.pair else CALL


def sticky(see):
    """Calls nearly everything, throws a jack away now and then."""
    return mix(0.15, 0.85, 0.0) if see.power == 0 and see.owed else CALL


def curious(see):
    """Wants to see the public card, then plays only pairs and kings."""
    if not see.after:
        return CALL
    return RAISE if see.pair else CALL if see.rank == 2 else FOLD


def rock(see):
    """Plays kings and pairs, nothing else."""
    if see.pair:
        return RAISE
    if see.rank == 2:
        return CALL if see.after else RAISE
    return FOLD


def nit(see):
    """Raises pairs only; folds whatever costs something without a king."""
    if see.pair:
        return RAISE
    return CALL if see.rank == 2 and see.owed <= 2 else FOLD


def folder_of_jacks(see):
    """Tight before the card, honest after it."""
    if not see.after:
        return (FOLD, CALL, RAISE)[see.rank]
    return RAISE if see.pair else CALL if see.rank == 2 else mix(0.8, 0.2, 0.0)


def by_the_book(see):
    """Tight and aggressive: raises kings, calls queens, folds jacks; bets pairs, calls kings."""
    if see.after:
        if see.pair:
            return RAISE
        if see.rank == 2:
            return mix(0.1, 0.7, 0.2) if see.owed else mix(0.0, 0.5, 0.5)
        return mix(0.85, 0.15, 0.0) if see.owed else mix(0.0, 0.85, 0.15)
    if see.rank == 2:
        return mix(0.0, 0.15, 0.85)
    return mix(0.1, 0.85, 0.05) if see.rank == 1 else mix(0.75, 0.2, 0.05)


def pressure(see):
    """Loose and aggressive: raises most hands once, folds jacks to a second raise."""
    if see.raises == 2:
        return FOLD if see.power == 0 else CALL
    return mix(0.0, 0.25, 0.75) if see.power else mix(0.1, 0.4, 0.5)


def maniac(see):
    """Raises whenever it may."""
    return RAISE


def drunk(see):
    """Raises four times in five, else calls, whatever it holds."""
    return mix(0.02, 0.18, 0.8)


def coin(see):
    """Any legal move."""
    return mix(1.0, 1.0, 1.0)


def never_folds(see):
    """Calls or raises, by a coin."""
    return mix(0.0, 1.0, 1.0)


def trapper(see):
    """Checks and calls with good hands, raises only when raised to after the card."""
    if see.after and see.pair:
        return RAISE if see.owed else CALL
    if see.power == 0 and see.owed:
        return mix(0.7, 0.3, 0.0)
    return CALL


def slow_king(see):
    """Never raises before the card; after it raises pairs and bets kings nobody bet into."""
    if not see.after:
        return mix(0.4, 0.6, 0.0) if see.rank == 0 else CALL
    if see.pair:
        return RAISE
    return mix(0.0, 0.4, 0.6) if see.rank == 2 and not see.owed else mix(0.5, 0.5, 0.0)


def bluffer(see):
    """Bets jacks as if they were kings, gives up when raised."""
    if see.pair:
        return RAISE
    if see.owed and see.raises == 2:
        return CALL if see.rank == 2 else FOLD
    if see.rank == 0:
        return mix(0.2, 0.2, 0.6)
    return mix(0.1, 0.7, 0.2) if see.rank == 1 else mix(0.0, 0.3, 0.7)


def stabber(see):
    """Always bets when checked to; otherwise honest."""
    if not see.owed:
        return RAISE if see.seat == 1 or see.power >= 2 else CALL
    return RAISE if see.pair else CALL if see.power >= 1 else FOLD


def pot_odds(see):
    """Calls by the chance to hold the better hand against any hand; raises from 0.7 on."""
    chance = equity(see)
    if chance > 0.7:
        return RAISE
    return CALL if chance * (see.pot + see.owed) >= see.owed else FOLD


def wary_odds(see):
    """The same, but believes raises: each takes off some of its chance."""
    chance = equity(see) - 0.17 * see.raises - 0.05 * see.line.count("R")
    if chance > 0.62:
        return RAISE
    return CALL if chance * (see.pot + see.owed) >= see.owed else FOLD


def noisy_odds(see):
    """Odds with nerves: a tenth of the time it does something else."""
    return tuple(0.87 * x + y for x, y in zip(pot_odds(see), (0.03, 0.05, 0.05), strict=True))


def committed(see):
    """Honest, but never folds a pot that it has paid 5 chips into."""
    if see.pair or (see.rank == 2 and not see.after):
        return RAISE
    paid = (see.pot - see.owed) // 2
    return CALL if paid >= 5 or see.power >= 1 else FOLD


def fit_or_fold(see):
    """Raises anything before the card, then goes on with a pair only."""
    if not see.after:
        return RAISE if see.raises == 0 else CALL
    return RAISE if see.pair else FOLD


def afraid_of_raises(see):
    """Bets what is good, but folds all but a pair to the second raise."""
    if see.raises == 2:
        return CALL if see.pair else FOLD
    return RAISE if see.power >= 2 else CALL


def late_bully(see):
    """Plays its position: aggressive in the second seat, timid in the first."""
    if see.seat == 1:
        return RAISE if see.power >= 1 or see.raises == 0 else mix(0.5, 0.5, 0.0)
    return CALL if see.power >= 1 or not see.owed else FOLD


def one_raise(see):
    """Raises once a round with a queen or better, then only calls."""
    if see.raises == 0 and see.power >= 1:
        return RAISE
    return CALL if see.power >= 1 else FOLD


def doubts_bluffs(see):
    """Calls every bet after the card with queen or better, raises pairs, never bluffs."""
    if see.after:
        return RAISE if see.pair else CALL if see.rank >= 1 else FOLD
    return RAISE if see.rank == 2 else CALL


def afraid_of_kings(see):
    """Folds to a public king that it does not hold, else loose."""
    if see.public == 2 and not see.pair:
        return FOLD
    return RAISE if see.power >= 2 else CALL


def reader_of_boards(see):
    """Bluffs when the public card is high, checks when it is low."""
    if not see.after:
        return RAISE if see.rank == 2 else mix(0.15, 0.8, 0.05)
    if see.pair:
        return RAISE
    if see.public == 2:
        return mix(0.3, 0.2, 0.5)
    return mix(0.6, 0.4, 0.0) if see.owed and see.rank < 2 else CALL


def equity(see):
    """Chance to hold the better hand (half for a draw) against any card, and any public one."""
    deck = [0, 0, 1, 1, 2, 2]
    deck.remove(see.rank)
    publics = [see.public] if see.after else deck
    won = count = 0.0
    for public in publics:
        rest = list(deck)
        rest.remove(public)
        for other in rest:
            mine, theirs = (3 if card == public else card for card in (see.rank, other))
            won += (mine > theirs) + 0.5 * (mine == theirs)
            count += 1
    return won / count


def table_of(policy):
    """A player from a solved table: line -> chances of (fold, call, raise) by the cards."""

    def player(see):
        row = policy[see.line][:, see.rank, see.public if see.after else 0]
        return tuple(float(chance) for chance in row)

    return player


def tilted(fold=1.0, bet=1.0, where=""):
    """Balanced play with too much or too little of something, in lines that contain `where`."""
    even = table_of(balance.from_rows(balance.stored_rows()))

    def player(see):
        folds, calls, raises = even(see)
        if where not in see.line:
            return folds, calls, raises
        return folds * fold, calls + 1e-9, raises * bet

    return player


def short_solver(iterations):
    """Balanced play as far as a few rounds of self-play got."""
    return table_of(balance.solve(iterations))


def blend(one, other, share):
    """Now one, now another."""
    return lambda see: tuple(
        (1 - share) * a + share * b for a, b in zip(one(see), other(see), strict=True)
    )
