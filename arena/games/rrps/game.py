"""Repeated rock-paper-scissors: 1000 throws, as in the RoShamBo programming competitions.

The engine is OpenSpiel: who beats whom is read from its `matrix_rps`, and a match is its
`repeated_game` of that matrix (Lanctot et al. 2023, "Population-based evaluation in repeated
rock-paper-scissors as a benchmark for multiagent reinforcement learning", arXiv:2303.03196).

Moves are two bytes a throw, the actions of seats 0 and 1.  A forfeit in throw t keeps the t - 1
throws before it and loses every throw from t on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from arena.games.parts import Account, Example, MatchCounts, Published, Starter
from arena.games.protocol import AuthorContract
from arena.games.rrps import table as tables
from arena.games.rrps.bots import BOTS, bot_names
from arena.games.rrps.dialogue import DIALOGUE
from arena.games.rrps.engine import payoff_matrix
from arena.games.rrps.house import rrps_submissions
from arena.games.rrps.learners import LEARNERS
from arena.games.rrps.stationary import STATIONARY
from arena.games.rrps.telling import TELLING
from arena.games.rrps.tensors import TENSORS
from registry.values import Submission

_FOLDER = Path(__file__).parent

_ABSENT = 15
"""High half of the last packed byte of a match that ended after an odd number of throws."""


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
    short_title = "Rock-paper-scissors"
    unit = "throws"
    step = "throw"
    length = tables.LENGTH
    most = float(tables.LENGTH)
    has_deals = False
    actions: tuple[str, ...] = tables.ACTIONS
    contract = AuthorContract(class_name="Agent", methods={"act": 1}, optional={})
    rules = (_FOLDER / "rules.md").read_text(encoding="utf-8")
    examples = (
        Example(
            "The first throw of a match.",
            "act",
            {"my_action": None, "opponent_action": None},
            deal_seed=0,
            moves=b"",
        ),
        Example(
            "You threw ROCK and your opponent PAPER.",
            "act",
            {"my_action": "ROCK", "opponent_action": "PAPER"},
            deal_seed=0,
            moves=bytes((0, 1)),
        ),
    )
    table_path = Path(tables.__file__)
    populations: Mapping[str, tuple[str, ...]] = MappingProxyType(
        {"rrps-43@1": tuple(f"house/{bot}" for bot in bot_names())}
    )
    starter = Starter(
        "starter/rrps",
        _FOLDER / "starter.py",
        "Counts what follows the last two throws of both sides and beats it; random when behind.",
    )
    initial = (_FOLDER / "initial.py").read_text(encoding="utf-8")
    legal_actions = repr(list(tables.ACTIONS))
    match_counts = MatchCounts(pair=8, mixture=24)
    telling = TELLING
    dialogue = DIALOGUE
    published = Published(
        methods=(_FOLDER / "published_methods.csv").read_text(encoding="utf-8"),
        variants=(_FOLDER / "published_variants.csv").read_text(encoding="utf-8"),
        against=(_FOLDER / "published_against.csv").read_text(encoding="utf-8"),
        # Lanctot et al. 2023 have 284.5.
        strongest=("greenberg, the strongest of the 43 bots", 284.6),
    )
    learners = LEARNERS
    states = None
    stationary = STATIONARY
    bots = BOTS
    tensors = TENSORS

    def __repr__(self) -> str:
        return f"game({self.name!r})"

    def house(self) -> tuple[Submission, ...]:
        """The 43 bots, in alphabetical order."""
        return rrps_submissions()

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
        totals = tuple(map(float, payoffs.cumsum().tolist()))
        return Account(self.score(deal_seed, moves, fault_seat), events, totals)

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
