"""What can be won at most from a policy, as far as its matches tell: an estimate.

A policy that chooses by the present situation alone is a table, and what a best response wins from
a table is known exactly (`Stationary.most`).  Whether a policy is one is asked of its matches: in
each situation its choices must not depend on what went before, by Pearson's test of homogeneity
(1900), all situations together.  What went before is what the game asks (`Decision.past`), and what
the policy itself chose when it last was there.  The table is what was observed.

Two things make it no proof.  A memory of another kind may escape the questions: a policy that plays
a sequence of pseudo-random numbers looks like one that draws them, and who finds the sequence wins
everything.  And the best response to an observed table returns too much on average, because it is
the largest of noisy values.  So of a policy without memory the estimate is too high, and never too
low, on average; of any other it may be far too low.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from arena.games.parts import Decision, Stationary, Table

ERROR_RATE = 0.001
"""Chance that a policy without memory is taken for one with a memory, all questions together."""
LEAST_DECISIONS = 200
LEAST_SHARE = 0.99
"""Of the choices must fall into situations that were met `_OFTEN` times."""
_OFTEN = 5
_LEAST_SEEN = 15
_LEAST_EXPECTED, _MOSTLY = 5.0, 0.8
"""Pearson's test holds where no cell expects less than 1, and few less than 5 (W. G. Cochran,
"Some methods for strengthening the common chi-squared tests", Biometrics 10, 1954)."""
_FOLDS = 8
_NO_MATTER = 0.01
"""Of the most: what choices in situations that were hardly met may change in it."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most that any policy can win, per match in the game's unit.

    Attributes:
      value: the most.
      stderr: of that; 0 where it is exact.
      exact: whether it follows from the rules and the policies, not from matches.
      decisions: choices that it was estimated from; 0 where it is exact.
    """

    value: float
    stderr: float
    exact: bool
    decisions: int


def remembers(matches: Sequence[Sequence[Decision]]) -> bool:
    """Whether the choices in these matches surely depend on more than the situation."""
    asked = [one for match in matches for one in _with_own_last(match)]
    questions = len(asked[0].past) if asked else 0
    return any(_p_value(asked, place) < ERROR_RATE / questions for place in range(questions))


def _with_own_last(match: Sequence[Decision]) -> list[Decision]:
    """With one more question: what did it choose in this situation the last time?

    Whatever changes slowly during a match, or is drawn before it, shows here.
    """
    last: dict[str, int] = {}
    found = []
    for one in match:
        found.append(one._replace(past=(*one.past, str(last.get(one.situation, "none")))))
        last[one.situation] = one.action
    return found


def _p_value(decisions: Sequence[Decision], place: int) -> float:
    """Of the hypothesis that one question about the past makes no difference."""
    tables: dict[str, Counter[tuple[str, int]]] = defaultdict(Counter)
    for one in decisions:
        tables[one.situation][one.past[place], one.action] += 1
    statistic, freedom = 0.0, 0
    for counts in tables.values():
        pasts = sorted({past for past, _ in counts})
        actions = sorted({action for _, action in counts})
        seen = np.array([[counts[past, action] for action in actions] for past in pasts])
        seen = seen[seen.sum(axis=1) >= _LEAST_SEEN]  # what was seldom seen says nothing
        seen = seen[:, seen.sum(axis=0) >= _LEAST_SEEN]
        if min(seen.shape) < 2:
            continue
        expected = np.outer(seen.sum(axis=1), seen.sum(axis=0)) / seen.sum()
        if expected.min() < 1.0 or np.mean(expected >= _LEAST_EXPECTED) < _MOSTLY:
            continue
        statistic += float(((seen - expected) ** 2 / expected).sum())
        freedom += (seen.shape[0] - 1) * (seen.shape[1] - 1)
    from scipy.stats import chi2  # half a second to load

    return float(chi2.sf(statistic, freedom)) if freedom else 1.0


def table_of(stationary: Stationary, decisions: Sequence[Decision], actions: int) -> Table:
    """What was observed: shares of the actions by situation, even where nothing was seen.

    Args:
      stationary: of the game.
      decisions: of one policy.
      actions: how many the game has.
    """
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for one in decisions:
        counts[one.situation][one.action] += 1
    return {
        situation: _shares(counts[situation], legal, actions)
        for situation, legal in stationary.legal.items()
    }


def _shares(counts: Mapping[int, int], legal: Sequence[int], actions: int) -> tuple[float, ...]:
    total = sum(counts.values())
    if not total:
        return tuple(float(action in legal) / len(legal) for action in range(actions))
    return tuple(counts.get(action, 0) / total for action in range(actions))


def ceiling_of(
    stationary: Stationary, matches: Sequence[Sequence[Decision]], actions: int
) -> Ceiling | None:
    """Estimates what can be won at most from a policy.

    The standard error is the jackknife's over groups of matches (J. W. Tukey, 1958).

    Args:
      stationary: of the game.
      matches: what the policy chose in each of its matches, in an order that says nothing.
      actions: how many the game has.

    Returns:
      None where too little was seen, or where the policy surely remembers; also where it matters
      what the policy does in situations that it was hardly seen in, since a best response leads
      there: no matches tell that, nor how wrong a guess is.
    """
    everything = [one for match in matches for one in match]
    met = Counter(one.situation for one in everything)
    known = sum(count for count in met.values() if count >= _OFTEN)
    folds = min(_FOLDS, len(matches))
    enough = len(everything) >= LEAST_DECISIONS and known >= LEAST_SHARE * len(everything)
    if folds < 2 or not enough or remembers(matches):
        return None

    def most(chosen: Sequence[Sequence[Decision]]) -> float:
        seen = [one for match in chosen for one in match]
        return stationary.most(table_of(stationary, seen, actions))

    without = [
        most([match for place, match in enumerate(matches) if place % folds != fold])
        for fold in range(folds)
    ]
    spread = float(np.square(np.array(without) - np.mean(without)).sum())
    stderr = math.sqrt((folds - 1) / folds * spread)
    table = table_of(stationary, everything, actions)
    value = stationary.most(table)
    seldom = [situation for situation in stationary.legal if met[situation] < _OFTEN]
    if seldom:
        guesses = []
        for end in (0, -1):
            guess = {one: _always(stationary.legal[one][end], actions) for one in seldom}
            guesses.append(stationary.most({**table, **guess}))
        if max(*guesses, value) - min(*guesses, value) > max(stderr, _NO_MATTER * abs(value)):
            return None
    return Ceiling(value, stderr, exact=False, decisions=len(everything))


def _always(action: int, actions: int) -> tuple[float, ...]:
    return tuple(float(one == action) for one in range(actions))
