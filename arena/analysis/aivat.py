"""What luck was worth in a hand: a control variate that leaves every mean what it is.

AIVAT (N. Burch, M. Schmid, M. Moravcik, D. Morrill, M. Bowling, "AIVAT: A New Variance Reduction
Technique for Agent Evaluation in Imperfect Information Games", AAAI 2018, arXiv:1612.06915), with
its corrections of what chance did and of what players did whose choices are known.  A value
function says what a point of the hand is worth.  Each time that chance deals a card, luck is the
value after it less the mean of that over all cards that could have come; where a player whose table
is known acts, it is the value after it less the mean over that table.  Each of these is zero on
average whatever the value function is and whoever plays, so taking them off a return changes no
mean.  The better the value function, the less is left to chance: if it is that of the two players
and both are known, nothing is.

The value function here is that of two tables, models of the players.  AIVAT's averaging over the
hands that a known player could hold is left out: it takes the probabilities of actions at every
point from him, and gains little where the opponent's cards are shown by the value function.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arena.games.hand_tree import HandTree

Floats = NDArray[np.float64]


def values(tree: HandTree, models: tuple[Floats, Floats]) -> Floats:
    """(points, deals) what player 0 wins on average from each point on, with all cards known.

    Args:
      tree: of the hand.
      models: of players 0 and 1, (states, actions) each.
    """
    found = np.zeros((len(tree.points), tree.deals))
    for number in reversed(range(len(tree.points))):
        point = tree.points[number]
        if point.actor is None:
            found[number] = point.payoffs
        else:
            chances = models[point.actor][point.states]
            for action, after in point.after.items():
                found[number] += chances[:, action] * found[after]
    return found


def luck(
    tree: HandTree, models: tuple[Floats, Floats], known: tuple[Floats | None, Floats | None]
) -> Floats:
    """(points, deals) by how much luck had favoured player 0 when a hand came to that point.

    Args:
      tree: of the hand.
      models: of players 0 and 1, (states, actions) each; any tables do.
      known: the tables that players 0 and 1 really play; None for a player whose choices are not
        known.  To name a table that is not played makes means wrong.
    """
    worth = values(tree, models)
    found = np.zeros_like(worth)
    found[0] = tree.over_unseen(worth[0], tree.points[0].dealt) - worth[0].mean()
    for number, point in enumerate(tree.points):
        if point.actor is None:
            continue
        table = known[point.actor]
        before = {
            action: tree.over_unseen(worth[after], point.dealt)
            for action, after in point.after.items()
        }
        expected = np.zeros(tree.deals)
        if table is not None:
            chances = table[point.states]
            for action, value in before.items():
                expected += chances[:, action] * value
        for action, after in point.after.items():
            found[after] = found[number]
            if table is not None:
                found[after] += before[action] - expected
            if tree.points[after].dealt > point.dealt:
                open_now = tree.over_unseen(worth[after], tree.points[after].dealt)
                found[after] += open_now - before[action]
    return found
