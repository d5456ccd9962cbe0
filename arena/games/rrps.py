"""Repeated rock-paper-scissors: 1000 throws, as in the RoShamBo programming competitions.

The engine is OpenSpiel: who beats whom is read from its `matrix_rps`, and a match is its
`repeated_game` of that matrix (Lanctot et al. 2023, "Population-based evaluation in repeated
rock-paper-scissors as a benchmark for multiagent reinforcement learning", arXiv:2303.03196).

Moves are two bytes a throw, the actions of seats 0 and 1.  A forfeit in throw t keeps the t - 1
throws before it and loses every throw from t on.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyspiel

from arena.games.protocol import Account, AuthorContract
from arena.games.tables import rrps as tables

RULES = """\
# Repeated rock-paper-scissors (rules version 1)

Two players throw at the same time, 1000 times in a match. Each throw is ROCK, PAPER or SCISSORS.

- ROCK beats SCISSORS.
- PAPER beats ROCK.
- SCISSORS beats PAPER.

Two equal throws are a draw. A won throw counts +1, a drawn one 0 and a lost one -1. Your return is
the sum over the match: wins minus losses, from -1000 to +1000. What you win your opponent loses.

## What you write

One Python file with a class `Agent` that can be constructed without arguments. Each match gets a
new instance. Every throw calls

    Agent.act(self, observation) -> str

which returns "ROCK", "PAPER" or "SCISSORS". The observation tells what both players threw in the
throw before:

    {"my_action": "ROCK", "opponent_action": "PAPER"}

In the first throw of a match both values are None:

    {"my_action": None, "opponent_action": None}

You are not told who your opponent is, and nothing is kept from one match to the next.

## Forfeits

An exception, a return value that is not one of the three strings, or too much time or memory ends
the match at once. The throws before count as they were thrown; that throw and all that would have
followed are lost.
"""

ENGINE_STAGE = "matrix_rps"
"""OpenSpiel's name of the game that is repeated."""
_ABSENT = 15
"""High half of the last packed byte of a match that ended after an odd number of throws."""


@functools.cache
def payoff_matrix() -> npt.NDArray[np.int64]:
    """OpenSpiel's payoffs of one throw.

    Returns:
      (3, 3), what seat 0 (row) wins against seat 1 (column).
    """
    stage = pyspiel.load_matrix_game(ENGINE_STAGE)
    size = len(tables.ACTIONS)
    payoffs = [[stage.player_utility(0, row, col) for col in range(size)] for row in range(size)]
    return np.array(payoffs).astype(np.int64)


def engine_match() -> Any:
    """A fresh state of the engine's 1000-throw game."""
    return _engine_game().new_initial_state()


@functools.cache
def _engine_game() -> Any:
    return pyspiel.load_game(
        f"repeated_game(stage_game={ENGINE_STAGE}(),num_repetitions={tables.LENGTH})"
    )


def _throws(moves: bytes, fault_seat: int | None) -> npt.NDArray[np.uint8]:
    """The moves as (throws, 2), checked."""
    if len(moves) % 2:
        raise ValueError(f"{len(moves)} moves: a throw has two, one of each seat")
    throws = np.frombuffer(moves, dtype=np.uint8).reshape(-1, 2)
    if throws.size and throws.max() >= len(tables.ACTIONS):
        raise ValueError(f"move {throws.max()} is no action; actions are 0, 1 and 2")
    if fault_seat is None and len(throws) != tables.LENGTH:
        raise ValueError(f"{len(throws)} throws of {tables.LENGTH}, and no seat forfeited")
    if fault_seat is not None and len(throws) >= tables.LENGTH:
        raise ValueError(f"a match of {len(throws)} throws has none left to forfeit")
    if fault_seat not in (None, 0, 1):
        raise ValueError(f"fault_seat is {fault_seat}; it must be 0, 1 or None")
    return throws


class Rrps:
    """The game; a `arena.games.protocol.Game`."""

    name = "rrps"
    version = 1
    title = "Repeated rock-paper-scissors"
    unit = "throws"
    length = tables.LENGTH
    has_deals = False
    actions: tuple[str, ...] = tables.ACTIONS
    contract = AuthorContract(class_name="Agent", methods={"act": 1}, optional={})
    rules = RULES
    table_path = Path(tables.__file__)

    def table(self, deal_seeds: Sequence[int]) -> tables.Table:
        """A table for that many matches."""
        return tables.Table(deal_seeds)

    def seat(self, policy: Any) -> tables.Seat:
        """A seat for one policy instance at one match."""
        return tables.Seat(policy)

    def score(self, deal_seed: int, moves: bytes, fault_seat: int | None) -> tuple[float, float]:
        """Returns of seats 0 and 1, wins minus losses; `deal_seed` has no meaning here.

        Raises:
          ValueError: the moves are not a legal record of such a match.
        """
        throws = _throws(moves, fault_seat)
        total = int(payoff_matrix()[throws[:, 0], throws[:, 1]].sum())
        total += self._forfeited(len(throws), fault_seat)
        return (float(total), float(-total))

    def account(self, deal_seed: int, moves: bytes, fault_seat: int | None) -> Account:
        """The returns, and one event for each throw that was completed.

        An event has `throw` (from 1), `actions` (names, of seats 0 and 1), `payoff` (-1, 0 or 1)
        and `total` (so far), the last two from the view of seat 0.

        Raises:
          ValueError: the moves are not a legal record of such a match.
        """
        throws = _throws(moves, fault_seat)
        payoffs = payoff_matrix()[throws[:, 0], throws[:, 1]]
        events = tuple(
            {
                "throw": number,
                "actions": (self.actions[one], self.actions[two]),
                "payoff": payoff,
                "total": total,
            }
            for number, ((one, two), payoff, total) in enumerate(
                zip(throws.tolist(), payoffs.tolist(), payoffs.cumsum().tolist(), strict=True), 1
            )
        )
        return Account(self.score(deal_seed, moves, fault_seat), events)

    def movers(self, deal_seed: int, moves: bytes, fault_seat: int | None) -> tuple[int, ...]:
        """The seat that made each move: they take turns in the record."""
        return (0, 1) * len(_throws(moves, fault_seat))

    def pack(self, moves: bytes) -> bytes:
        """Two bits an action, two throws a byte, the earlier throw low: 500 bytes a match."""
        actions = np.frombuffer(moves, dtype=np.uint8)
        if len(actions) % 2 or (actions.size and actions.max() >= len(tables.ACTIONS)):
            raise ValueError("these are not moves of complete throws")
        throws = actions[0::2] | actions[1::2] << 2
        if len(throws) % 2:
            throws = np.append(throws, np.uint8(_ABSENT))
        return (throws[0::2] | throws[1::2] << 4).tobytes()

    def unpack(self, packed: bytes) -> bytes:
        """The inverse of `pack`.

        Raises:
          ValueError: no moves could have been packed to that.
        """
        pairs = np.frombuffer(packed, dtype=np.uint8)
        throws = np.empty(2 * len(pairs), dtype=np.uint8)
        throws[0::2], throws[1::2] = pairs & 15, pairs >> 4
        if throws.size and throws[-1] == _ABSENT:
            throws = throws[:-1]
        moves = np.empty(2 * len(throws), dtype=np.uint8)
        moves[0::2], moves[1::2] = throws & 3, throws >> 2
        if moves.size and moves.max() >= len(tables.ACTIONS):
            raise ValueError("these bytes are no packed moves: there is an action 3 among them")
        return moves.tobytes()

    @staticmethod
    def _forfeited(completed: int, fault_seat: int | None) -> int:
        """What the throws that were not thrown are worth to seat 0."""
        if fault_seat is None:
            return 0
        left = tables.LENGTH - completed
        return -left if fault_seat == 0 else left


RRPS = Rrps()
