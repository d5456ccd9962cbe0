"""The hand-written Leduc players that the grammar is measured against, in two halves.

Every other one of each list belongs to the development half; the others were held out: nothing
was tuned on them.  Alternation puts relatives into both halves and leaves some kinds to one half
only.  None is a copy of a member of the arena's evaluation population.
"""

from __future__ import annotations

from grammar_leduc_learners import (
    Adjuster,
    Bandit,
    BoldCounter,
    Careful,
    Copycat,
    Counter,
    Cycle,
    Fading,
    FoldWatcher,
    Grudge,
    Mirror,
    Moods,
    QTable,
    RaiseWatcher,
    Regrets,
    ShowdownReader,
    Switch,
    Thompson,
    Tilt,
    WinStay,
    subclass,
)
from grammar_leduc_players import (
    afraid_of_kings,
    afraid_of_raises,
    blend,
    bluffer,
    bluffs,
    by_the_book,
    coin,
    committed,
    curious,
    doubts_bluffs,
    drunk,
    fit_or_fold,
    folder_of_jacks,
    late_bully,
    maniac,
    never_folds,
    nit,
    noisy_odds,
    one_raise,
    pot_odds,
    pressure,
    reader_of_boards,
    rock,
    short_solver,
    slow_king,
    stabber,
    station,
    sticky,
    tilted,
    trapper,
    wary_odds,
)


class Plain:
    """A player without memory, from a function of what it sees."""

    def __init__(self, weights):
        self.weights = weights

    def saw(self, past):
        """Nothing is remembered."""


PLAIN = [
    ("station", station),
    ("sticky", sticky),
    ("curious", curious),
    ("rock", rock),
    ("nit", nit),
    ("folder of jacks", folder_of_jacks),
    ("by the book", by_the_book),
    ("by the book, bluffs", lambda see: bluffs(0.2, by_the_book(see))),
    ("pressure", pressure),
    ("maniac", maniac),
    ("drunk", drunk),
    ("coin", coin),
    ("never folds", never_folds),
    ("trapper", trapper),
    ("slow king", slow_king),
    ("bluffer", bluffer),
    ("stabber", stabber),
    ("pot odds", pot_odds),
    ("wary odds", wary_odds),
    ("noisy odds", noisy_odds),
    ("committed", committed),
    ("fit or fold", fit_or_fold),
    ("afraid of raises", afraid_of_raises),
    ("late bully", late_bully),
    ("one raise", one_raise),
    ("doubts bluffs", doubts_bluffs),
    ("afraid of kings", afraid_of_kings),
    ("reader of boards", reader_of_boards),
    ("balanced, gives up", tilted(fold=2.5)),
    ("balanced, passive", tilted(bet=0.3)),
    ("balanced, calls after", tilted(fold=0.2, where="/")),
    ("balanced, wild before", tilted(bet=3.0)),
    ("three rounds of solving", short_solver(3)),
    ("forty rounds of solving", short_solver(40)),
    ("half balanced, half bold", blend(tilted(), pressure, 0.5)),
    ("half balanced, half shy", blend(tilted(), sticky, 0.4)),
]
MEMORY = [
    ("rock, then maniac", Switch),
    ("shy, then book", subclass(Switch, every=34, ways=(sticky, by_the_book, bluffer))),
    ("trap, then press", subclass(Switch, every=25, ways=(trapper, pressure))),
    ("balanced, then drunk", subclass(Switch, every=60, ways=(tilted(), drunk))),
    ("moods", Moods),
    ("tilt", Tilt),
    ("careful", Careful),
    ("win, stay", WinStay),
    ("mirror", Mirror),
    ("grudge", Grudge),
    ("watches folds", FoldWatcher),
    ("watches raises", RaiseWatcher),
    ("reads showdowns", ShowdownReader),
    ("adjuster", Adjuster),
    ("bold adjuster", subclass(Adjuster, strength=2.0)),
    ("bandit", Bandit),
    ("solid bandit", subclass(Bandit, ways=(by_the_book, tilted(), pot_odds, stabber))),
    ("thompson", Thompson),
    ("solid thompson", subclass(Thompson, ways=(by_the_book, tilted(), pressure))),
    ("learns values", QTable),
    ("learns slowly", subclass(QTable, rate=0.05, explore=0.2)),
    ("regrets", Regrets),
    ("counter", Counter),
    ("bold counter", BoldCounter),
    ("copycat", Copycat),
    ("fading", Fading),
    ("every fourth hand", Cycle),
    ("fits, then fears", subclass(Switch, every=20, ways=(fit_or_fold, afraid_of_raises))),
]


def maker(weights):
    """Makes a player without memory; takes a generator like the others."""
    return lambda rng: Plain(weights)


DEVELOPMENT = [
    *((name, maker(weights)) for name, weights in PLAIN[::2]),
    *MEMORY[::2],
]
"""(name, maker): 32 players that were looked at."""
HELD_OUT = [
    *((name, maker(weights)) for name, weights in PLAIN[1::2]),
    *MEMORY[1::2],
]
"""(name, maker): 32 players that were not."""
CHANCES = dict(PLAIN)
"""Name of a player without memory -> its function."""
