"""The parts of a game as values; `protocol.Game` says how they belong together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from markupsafe import Markup

Event = Mapping[str, Any]
"""One throw or hand of a match, in the game's own words; JSON values and tuples of them."""


@dataclass(frozen=True, slots=True)
class Account:
    """A match retold by the engine.

    Attributes:
      returns: of seats 0 and 1; add up to 0; forfeits counted.
      events: one for each throw or hand that was begun.
      totals: score of seat 0 after each throw or hand that was completed, without what was
        forfeited; as long as `events`, or one shorter.
    """

    returns: tuple[float, float]
    events: tuple[Event, ...]
    totals: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Forfeit:
    """How a match ended before its time.

    Attributes:
      step: throw or hand of the fault, from 1.
      seat: 0 or 1, whose fault it was.
      why: a word for it, such as "crashed".
      steps: throws or hands of a whole match.
      end: score of seat 0 at the end, in the game's unit.
    """

    step: int
    seat: int
    why: str
    steps: int
    end: float


@dataclass(frozen=True, slots=True)
class Example:
    """An observation as an author's class gets it, and a match in which it does.

    Attributes:
      told: what has happened, in a sentence.
      method: which is called with it.
      observation: its only argument.
      deal_seed: of the match.
      moves: of the match up to there; whoever is asked next has got the observation.
    """

    told: str
    method: str
    observation: Mapping[str, Any]
    deal_seed: int
    moves: bytes


@dataclass(frozen=True, slots=True)
class Starter:
    """A plain policy for authors to start from.  It is read as text; nothing imports it.

    Attributes:
      name: that it is registered under.
      path: of its file.
      description: its idea, in a sentence.
    """

    name: str
    path: Path
    description: str

    @property
    def source(self) -> str:
        """Text of the file."""
        return self.path.read_text(encoding="utf-8")

    @property
    def place(self) -> str:
        """Where the file lies in the project."""
        return f"arena/games/{self.path.parent.name}/{self.path.name}"

    @property
    def provenance(self) -> dict[str, object]:
        """Author, year, source and licence."""
        return {
            "author": "Policy Arena",
            "year": 2026,
            "source": self.place,
            "licence": "Apache-2.0",
        }


@dataclass(frozen=True, slots=True)
class MatchCounts:
    """How many matches the game's noise asks for: where one says less, it takes more.

    Attributes:
      pair: measure what one policy wins against another.
      mixture: measure what one policy wins against a mixture, shared among its members.
    """

    pair: int
    mixture: int


@dataclass(frozen=True, slots=True)
class Published:
    """Figures that others published, as CSV with a head; their errors are the authors' own.

    Attributes:
      methods: `method`, then `pop_return`, `pop_expl` and `agg_score`, each with its `_err`, and
        `source` where it is not measured by the table's authors.
      variants: `oracle`, `opponent_input` and `opponent_filter`, then `pop_return`, `pop_expl`
        and `agg_score`, each with `_mean`, `_err` and its best; "" where there are none.
      against: `method`, `opponent`, `mean` and `err`: returns against each member of the
        evaluation population; "" where there are none.
      strongest: who is strongest in the evaluation population, and its AggScore.
    """

    methods: str
    variants: str = ""
    against: str = ""
    strongest: tuple[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Learner:
    """A method of learning whose programs are entrants; it knows no opponent beforehand.

    Attributes:
      name: of its programs, beneath an author.
      title: what it is called in tables; that of a published row, where it is the same method.
      source: from a seed to a program.
      trained: whether another seed gives another program.
      beside: title of the published row that it stands beside without being the same; "" for none.
      note: what differs from what was published.
    """

    name: str
    title: str
    source: Callable[[int], str]
    trained: bool
    beside: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Habits:
    """What a seat did most in a match.

    Attributes:
      rows: lines of a table; all have the same columns.
      shares: names of the columns that are shares, in percent.
    """

    rows: tuple[Mapping[str, object], ...]
    shares: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Telling:
    """How a match is told, and how it is drawn.

    Names of policies are hostile text: templates escape them.

    Attributes:
      window: how many throws or hands one picture shows.
      row: an event as a line of a table; the columns are the same for every event.
      picture: (events, number of the one to show from 1, names in seats 0 and 1, forfeit or None)
        to a fragment of HTML.  The number may be that of the one that was forfeited, for which
        there may be no event.
      habits: (events, seat) to what that seat did most.
      where: (event, seat) to the situations that this seat was in, in a word or two for each kind
        of situation; the kinds are the same for every event, and their labels are few.  What a
        seat won is added up by them.
      legend: how to read a line of the table; "" where it says so itself.
    """

    window: int
    row: Callable[[Event], Mapping[str, object]]
    picture: Callable[[Sequence[Event], int, tuple[str, str], Forfeit | None], Markup]
    habits: Callable[[Sequence[Event], int], Habits]
    where: Callable[[Event, int], Mapping[str, str]]
    legend: str = ""


@dataclass(frozen=True, slots=True)
class NativeBots:
    """Bots that live in the engine.

    Attributes:
      names: of all of them, sorted.
      play: (names of the bots in seats 0 and 1, seed) to the returns and moves of a match in the
        engine's own loop.
      agent: (name, seed) to a bot behind the author contract, for one match against another kind;
        raises `ValueError` for a name that is not there.
    """

    names: Callable[[], tuple[str, ...]]
    play: Callable[[tuple[str, str], int], tuple[tuple[float, float], bytes]]
    agent: Callable[[str, int], Any]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """How a match is told to a language model as it goes on, and how its words become an action.

    All observations are those of one player, as the author contract has them.

    Attributes:
      version: names these words; has a number that rises whenever one of them changes.
      task: what the model is told first, in every question: what is played and what to answer.
      past: an observation to a line about what it says is over; "" where nothing is.
      now: an observation in `act` to what is asked, below the lines of the past; may be "".
      again: what is added after an answer that could not be read.
      legal: an observation in `act` to the actions that the rules allow.
      read: (answer, observation in `act`) to a legal action, or None where it names none clearly.
    """

    version: str
    task: str
    past: Callable[[Mapping[str, Any]], str]
    now: Callable[[Mapping[str, Any]], str]
    again: str
    legal: Callable[[Mapping[str, Any]], Sequence[str]]
    read: Callable[[str, Mapping[str, Any]], str | None]


class Decision(NamedTuple):
    """One choice that a seat made.

    Attributes:
      situation: what a policy without memory would look at.
      action: number of the one that it took.
      past: what a policy with a memory could look at beside that; a label for each of a few
        questions, always the same ones.
    """

    situation: str
    action: int
    past: tuple[str, ...]


Table = Mapping[str, Sequence[float]]
"""Situation to the probabilities of all actions, by number."""


@dataclass(frozen=True, slots=True, eq=False)
class Stationary:
    """Policies that choose by the present situation alone, and the most that they can lose.

    Attributes:
      legal: every situation to the numbers of its legal actions.
      decisions: (deal seed, moves, faulty seat or None, seat) to what that seat chose, in order.
      most: such a policy, as a table over all situations, to what a best response wins per match.
      program: such a policy to its source; None where policies of kind tabular play the game.
    """

    legal: Mapping[str, tuple[int, ...]]
    decisions: Callable[[int, bytes, int | None, int], Sequence[Decision]]
    most: Callable[[Table], float]
    program: Callable[[Table], str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class InformationStates:
    """What a player can know when he decides in one hand, for a game whose hands are alike.

    Players change places after every hand, and nothing but the score goes on to the next one.
    Policies of kind tabular are tables over these states, and what such a policy can win or lose
    is computed exactly (`arena.analysis.exact`), from the engine's tree of one hand.

    Attributes:
      game: name of the game.
      actions: names of the actions, by number.
      legal: every state with a decision to the numbers of its legal actions.
      observed: an observation in `act` to the state that its player is in.
      engine: OpenSpiel's name of one hand.
      in_engine: a state of that engine game, at a decision, to the state that the player to act
        is in; the engine's actions have our numbers.
      hands: in a match.
    """

    game: str
    actions: tuple[str, ...]
    legal: Mapping[str, tuple[int, ...]]
    observed: Callable[[Mapping[str, Any]], str]
    engine: str
    in_engine: Callable[[Any], str]
    hands: int


class Field(Protocol):
    """Many matches as arrays, each at its own pace, for learning: the same play as the table's.

    Match m has row m of everything.  Nobody forfeits here: replies are legal actions.
    """

    @property
    def messages(self) -> npt.NDArray[np.uint8]:
        """(matches, 2, MESSAGE_BYTES): what the table would say to both seats of each match."""
        ...

    @property
    def over(self) -> npt.NDArray[np.bool_]:
        """(matches,): whether a match is over; it then waits for `begin`."""
        ...

    def begin(self, matches: npt.NDArray[np.intp], deal_seeds: Sequence[int]) -> None:
        """Begins new matches in these rows, one for each seed."""
        ...

    def advance(
        self, matches: npt.NDArray[np.intp], replies: npt.NDArray[np.uint8]
    ) -> npt.NDArray[np.float64]:
        """Takes the replies (n, 2) of n matches; seats that are not asked may reply anything.

        Returns:
          (n,) what seat 0 won by that, in the game's unit.
        """
        ...


@dataclass(frozen=True, slots=True)
class Learning:
    """Settings that published searches found best for a learner with networks in this game.

    Attributes:
      learning_rate: of the gradient steps.
      hidden: widths of the network's hidden layers.
      unroll: decisions in a row that one gradient goes through.
      entropy_cost: weight of the policy's entropy in the loss.
      batch: unrolls in a gradient step.
      max_gradient_norm: longer gradients are scaled down to it.
    """

    learning_rate: float
    hidden: tuple[int, ...]
    unroll: int
    entropy_cost: float
    batch: int
    max_gradient_norm: float


@dataclass(frozen=True, slots=True)
class Tensors:
    """A game as numbers: what a network sees of it, and matches as arrays to learn from.

    Attributes:
      version: names this encoding; has a number that rises whenever it changes.
      size: numbers in an observation.
      asks: messages (n, MESSAGE_BYTES) to whether each asks for an action, (n,).
      see: messages (n, MESSAGE_BYTES) to observations (n, size).  Every number is a multiple of
        1/16 between -1 and 1, so that networks of kind neural compute with them exactly.
      legal: messages (n, MESSAGE_BYTES) that ask for an action to the actions that the rules allow,
        (n, actions).
      author: from a function that answers messages with the numbers of actions to a policy behind
        the author contract, for one match: the inverse of a seat.
      field: from a number of matches to a `Field` of them, in which none has begun.
      learning: see `Learning`.
    """

    version: str
    size: int
    asks: Callable[[npt.NDArray[np.uint8]], npt.NDArray[np.bool_]]
    see: Callable[[npt.NDArray[np.uint8]], npt.NDArray[np.float64]]
    legal: Callable[[npt.NDArray[np.uint8]], npt.NDArray[np.bool_]]
    author: Callable[[Callable[[bytes], int]], Any]
    field: Callable[[int], Field]
    learning: Learning
