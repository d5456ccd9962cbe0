"""What a game is to the arena.

A game has three parts that share one author-facing contract:

* the *engine*, OpenSpiel, which decides what a match was worth (`Game.account`);
* the *table*, a module of the standard library alone (`Game.table_path`).  It plays many
  matches in lockstep, hands out messages and takes replies of one byte.  Because it needs
  nothing, the sandbox runs the same file inside its box, next to sealed policies;
* the *seat*, in that same module: it turns a message into the observation that authors see,
  calls their policy, and turns the answer into a byte.

Policies own choices and see only observations.  Games own rules and never see a policy.

Everything else that is peculiar to a game is a part of it as well: its words, who is in the house
and in the evaluation population, how a match is told.  All of a game is one folder,
`arena/games/<name>/`, whose `GAME` is listed in `arena/games/__init__.py`; nothing outside names a
game.  docs/games.md says how to add one; what holds for all is in tests/arena/test_game_contract.py
and test_game_presentation.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from arena.contract import AuthorContract as AuthorContract
from arena.games.parts import (
    Account,
    Dialogue,
    Example,
    InformationStates,
    Learner,
    MatchCounts,
    NativeBots,
    Published,
    Starter,
    Stationary,
    Telling,
    Tensors,
)
from registry.values import Submission


class Seat(Protocol):
    """One policy instance at one match: `Seat(instance)` in the table module."""

    def __init__(self, policy: Any) -> None: ...

    def reply(self, message: bytes) -> int:
        """Answers one message (`MESSAGE_BYTES` long) with one byte.

        Returns the action's number, or `NONE` (253) where the message asks for no action,
        `ILLEGAL` (251) for a string that is no action, `MALFORMED` (252) for anything that is not
        exactly a `str`.  Whatever the policy raises passes through; the caller makes it
        `RAISED` (250).
        """
        ...


class Table(Protocol):
    """Many matches of one game, played in lockstep: `Table(deal_seeds)` in the table module.

    Match m owns flat seats 2m and 2m + 1.  Both methods are cheap for whole blocks: no
    Python loop over matches where the game allows it.
    """

    def __init__(self, deal_seeds: Sequence[int]) -> None: ...

    def messages(self) -> bytes:
        """2 * matches * MESSAGE_BYTES; a seat whose message starts with IDLE (254) is not asked."""
        ...

    def advance(self, replies: bytes) -> None:
        """Takes 2 * matches replies, in flat seat order.

        A fault code (any byte from 240 to 252) or an action that the rules do not allow ends
        its match: the first faulty seat, seat 0 before seat 1, forfeits.  A fault code counts
        also from a seat that was not asked (its process may have died).  Seats that were not
        asked reply NONE (253).
        """
        ...

    @property
    def done(self) -> bool:
        """True once no match goes on."""
        ...

    def moves(self, match: int) -> bytes:
        """All moves of that match so far, one byte each, in the game's own order."""
        ...

    def fault(self, match: int) -> tuple[int, int] | None:
        """(seat, code) of the forfeit, or None."""
        ...


class Game(Protocol):
    """A repeated two-player symmetric zero-sum game."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int:
        """Rises when a return could change."""
        ...

    @property
    def title(self) -> str: ...

    @property
    def short_title(self) -> str:
        """For a switch between games."""
        ...

    @property
    def unit(self) -> str:
        """What a return counts: "throws" or "chips", per match."""
        ...

    @property
    def step(self) -> str:
        """What a match consists of, in the singular: "throw" or "hand"."""
        ...

    @property
    def length(self) -> int:
        """Throws or hands in a match."""
        ...

    @property
    def most(self) -> float:
        """The largest return of a match, in either direction."""
        ...

    @property
    def has_deals(self) -> bool:
        """Whether chance deals; then the two halves of a duplicate are one sample."""
        ...

    @property
    def actions(self) -> tuple[str, ...]:
        """Names of the actions; a move byte is an index into them."""
        ...

    @property
    def contract(self) -> AuthorContract: ...

    @property
    def rules(self) -> str:
        """The rules in plain words, for people and models; tested against the engine."""
        ...

    @property
    def examples(self) -> tuple[Example, ...]:
        """Observations, which stand in the rules as well; tested to be what authors get."""
        ...

    @property
    def table_path(self) -> Path:
        """The table module's file."""
        ...

    def table(self, deal_seeds: Sequence[int]) -> Table: ...

    def seat(self, policy: Any) -> Seat: ...

    def score(self, deal_seed: int, moves: bytes, fault_seat: int | None) -> tuple[float, float]:
        """Returns of a match from its moves, by the engine.

        Raises:
          ValueError: the moves are not a legal record of such a match.
        """
        ...

    def account(self, deal_seed: int, moves: bytes, fault_seat: int | None) -> Account:
        """The same, with what happened in each throw or hand."""
        ...

    def movers(self, deal_seed: int, moves: bytes, fault_seat: int | None) -> tuple[int, ...]:
        """The seat that made each move of a record.

        Raises:
          ValueError: the moves are not a legal record of such a match.
        """
        ...

    def pack(self, moves: bytes) -> bytes:
        """The moves, compactly, as they are stored."""
        ...

    def unpack(self, packed: bytes) -> bytes:
        """The inverse of `pack`."""
        ...

    def house(self) -> tuple[Submission, ...]:
        """The built-in entrants "house/NAME", in alphabetical order; none is a program."""
        ...

    @property
    def populations(self) -> Mapping[str, tuple[str, ...]]:
        """Evaluation populations: name with its number to names of house entrants, sorted.

        One that was there is never changed.  The last one is that which scores are reported on.
        """
        ...

    @property
    def starter(self) -> Starter: ...

    @property
    def initial(self) -> str:
        """Source of a plain policy from which a search for better ones can begin."""
        ...

    @property
    def legal_actions(self) -> str:
        """Python expression of a list of the legal actions, from the `observation` in `act`."""
        ...

    @property
    def match_counts(self) -> MatchCounts: ...

    @property
    def telling(self) -> Telling: ...

    @property
    def dialogue(self) -> Dialogue | None:
        """None where nobody wrote one; then no language model plays the game move by move."""
        ...

    @property
    def published(self) -> Published | None:
        """None where nobody published figures."""
        ...

    @property
    def learners(self) -> tuple[Learner, ...]:
        """Methods of learning to compare with; they become entrants where somebody asks."""
        ...

    @property
    def states(self) -> InformationStates | None:
        """None where they are too many, or a match is no sequence of equal hands.

        Without them no policy of kind tabular plays the game, and nothing of it is exact.
        """
        ...

    @property
    def stationary(self) -> Stationary | None:
        """None where nobody can tell what a policy without memory can lose at most."""
        ...

    @property
    def bots(self) -> NativeBots | None:
        """None where the engine has no bots; then no policy of kind native plays the game."""
        ...

    @property
    def tensors(self) -> Tensors | None:
        """None where nobody wrote them; then no policy of kind neural plays the game."""
        ...
