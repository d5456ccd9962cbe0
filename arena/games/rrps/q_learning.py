"""Tabular Q-learning with recall for repeated rock-paper-scissors, trained in self-play.

Two independent learners (Watkins and Dayan 1992, doi:10.1007/BF00992698) play each other.  The
state is what both threw in the last R rounds.  Step size, exploration and discount are the defaults
of OpenSpiel's learner (`open_spiel.python.algorithms.tabular_qlearner`); this loop does the same
updates without environments and strings.

A table becomes a program: at each state the throws of highest value, drawn evenly.  A state that
was never met has the value 0 for all three, so all three are drawn.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from arena.source_check import MAX_BYTES

THROWS = 1000
_TEMPLATE = Path(__file__).with_name("q_learning_policy.txt")
_DIGITS = "".join(map(chr, [*range(35, 92), *range(93, 121)]))
"""85 characters that need no escape in a string of Python, and are no space."""
_LINE = 96
_ALL = 0b111


@dataclass(frozen=True, slots=True)
class Training:
    """How a table is learned.

    Attributes:
      recall: R, rounds that a state tells of.
      episodes: matches of self-play.
      step_size: of an update.
      exploration: chance of a random throw.
      discount: of what comes after.
    """

    recall: int
    episodes: int = 1000
    step_size: float = 0.1
    exploration: float = 0.2
    discount: float = 1.0

    def __post_init__(self) -> None:
        if self.recall < 1 or self.episodes < 1:
            raise ValueError("recall and episodes must be at least 1")


@dataclass(frozen=True, slots=True)
class Learned:
    """A learned table.

    Attributes:
      recall: R.
      values: state to the values of rock, paper and scissors.  A state is a number with R digits to
        the base 9, one a round, the latest last: 3 times one's own throw plus the opponent's.
        Rounds before the first count as if both had thrown rock.
      visits: state to how often it was met.
    """

    recall: int
    values: dict[int, list[float]]
    visits: dict[int, int]


def learned(training: Training, seed: int) -> Learned:
    """Trains by self-play; the same seed gives the same table."""
    rng = random.Random(seed)
    tables: tuple[dict[int, list[float]], dict[int, list[float]]] = ({}, {})
    visits: dict[int, int] = {}
    states = 9**training.recall
    for _ in range(training.episodes):
        mine, theirs = 0, 0
        values = [table.setdefault(0, [0.0] * 3) for table in tables]
        for throw in range(THROWS):
            visits[mine] = visits.get(mine, 0) + 1
            one, other = (_chosen(value, training.exploration, rng) for value in values)
            won = (0, 1, -1)[(one - other) % 3]
            mine = (9 * mine + 3 * one + other) % states
            theirs = (9 * theirs + 3 * other + one) % states
            following = [
                tables[0].setdefault(mine, [0.0] * 3),
                tables[1].setdefault(theirs, [0.0] * 3),
            ]
            last = throw == THROWS - 1
            for value, action, reward, after in zip(
                values, (one, other), (won, -won), following, strict=True
            ):
                target = reward + (0.0 if last else training.discount * max(after))
                value[action] += training.step_size * (target - value[action])
            values = following
    return Learned(training.recall, tables[0], visits)


def _chosen(values: list[float], exploration: float, rng: random.Random) -> int:
    if rng.random() < exploration:
        return int(3 * rng.random())
    best = max(values)
    greedy = [action for action in range(3) if values[action] == best]
    return greedy[0] if len(greedy) == 1 else greedy[int(len(greedy) * rng.random())]


def rendered(table: Learned) -> str:
    """The table as a program.

    A program has room for all states up to recall 5.  Beyond that the states that were met most
    often are kept, some ten thousand.
    """
    greedy = {state: _greedy(values) for state, values in table.values.items()}
    telling = [state for state, best in greedy.items() if best != _ALL]
    text = _TEMPLATE.read_text(encoding="utf-8")
    room = (MAX_BYTES - len(text.encode()) - 200) * _LINE // (_LINE + 1)
    states = 9**table.recall
    width, kept = 0, telling
    if states <= room:
        entries = "".join(str(greedy.get(state, _ALL)) for state in range(states))
    else:
        width = next(digits for digits in range(1, 99) if 85**digits >= states)
        often = sorted(telling, key=lambda state: (-table.visits.get(state, 0), state))
        kept = often[: room // (width + 1)]
        entries = "".join(_code(state, width) + str(greedy[state]) for state in sorted(kept))
    words = {
        "RECALL": str(table.recall),
        "WIDTH": str(width),
        "DIGITS": _DIGITS,
        "KEPT": f"{len(kept):,}",
        "TOLD": f"{len(telling):,}",
        "TABLE": "\n".join(entries[at : at + _LINE] for at in range(0, len(entries), _LINE)),
    }
    for name, value in words.items():
        text = text.replace(f"<<{name}>>", value)
    return text


def _greedy(values: list[float]) -> int:
    """The throws of highest value, a bit each."""
    best = max(values)
    return sum(1 << action for action in range(3) if values[action] == best)


def _code(number: int, width: int) -> str:
    digits = ""
    for _ in range(width):
        number, rest = divmod(number, 85)
        digits = _DIGITS[rest] + digits
    return digits
