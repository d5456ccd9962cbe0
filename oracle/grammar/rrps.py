"""Grammar of policies for repeated rock-paper-scissors.

A sentence of the grammar is a set of predictors and the settings of the one learner that blends
them.  Every predictor guesses the next move of one side.  What is learnt is not whether a guess
is right but how the opponent's move relates to it (equal, one ahead, two ahead), so one part
serves against opponents who repeat themselves, who are one step ahead, and who are two.  Guesses
of my own next move (parts with target "mine") are what an opponent's predictor would make of me.
Choosers imitate a whole opponent: one who makes such guesses and acts on whichever paid best.
"""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass

from oracle.grammar import story

GAME = "rrps"
CONTEXT, RESULT, MATCH, ECHO, CHOOSER = "context", "result", "match", "echo", "chooser"
KINDS = (CONTEXT, MATCH, "lag", "rank", RESULT, ECHO, CHOOSER)
MOST_PARTS = 110
LONGEST_SIDE = 5
"""Moves of one side that a context looks at."""
LONGEST_CONTEXT = 8
"""Moves of both sides: a policy has 3 to that power counts of each move."""
LONGEST_RESULTS = 6
"""Throws whose results a part of kind "result" looks at."""
_TARGETS = ("theirs", "mine")


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """One predictor.

    Attributes:
      kind: one of `KINDS`.
      target: whose next move it guesses, "theirs" or "mine".
      mine: my recent moves that it looks at (match: longest length; lag: how long ago; result: how
        many results, to turn my last move by; chooser: 1 where it chooses among matches).
      theirs: the same of the opponent (chooser: 1 where it chooses among contexts; with 1 and 1 it
        chooses among all other parts).
      memory: factor by which old counts or scores fade, 1 for never.
    """

    kind: str
    target: str
    mine: int
    theirs: int
    memory: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"no predictor is of kind {self.kind!r}")
        longest, both = self._limits()
        if min(self.mine, self.theirs) < 0 or max(self.mine, self.theirs) > longest:
            raise ValueError(f"a {self.kind} of {self.mine} and {self.theirs} moves is too long")
        if self.mine + self.theirs > both:
            raise ValueError(f"a {self.kind} of {self.mine} and {self.theirs} moves is too long")
        if self.kind != CONTEXT and self.mine + self.theirs == 0:
            raise ValueError(f"a {self.kind} of no moves looks at nothing")

    def _limits(self) -> tuple[int, int]:
        """Longest for one side, and for both together."""
        return {
            CONTEXT: (LONGEST_SIDE, LONGEST_CONTEXT),
            RESULT: (LONGEST_RESULTS, LONGEST_RESULTS),
            CHOOSER: (1, 2),
        }.get(self.kind, (30, 60))


@dataclass(frozen=True, slots=True)
class Blend:
    """Settings of the learner that blends the predictors.

    Attributes:
      first_weight: weight of every predictor at the start.
      rate: step of the gradient on the weights.
      forget: smallest step of a predictor's record; its memory is about 1 / forget throws.
      trust: share given to a predictor's first guess, 1/3 for none.
      patience: throws that the first trust counts for.
      views: records that a predictor is judged by at once.  1: one for each step of being sure and
        each way in which its last guess was off.  3: that, one of all its guesses, and one for
        each way of being off and each result of the last throw.
      spread: factor from the rate to that of a quicker and that of a slower blend beside the
        first, 1 for a single blend.
    """

    first_weight: float = 0.2
    rate: float = 0.02
    forget: float = 0.02
    trust: float = 0.4
    patience: float = 1.5
    views: int = 1
    spread: float = 1.0

    def __post_init__(self) -> None:
        if self.views not in (1, 3):
            raise ValueError(f"a predictor has 1 or 3 views, not {self.views}")
        if self.spread < 1.0:
            raise ValueError(f"a spread of {self.spread} is below 1")


@dataclass(frozen=True, slots=True)
class Choice:
    """Settings of the last step, from forecast to move.

    Attributes:
      edge: payoff per throw below which the move is random.
      form_memory: factor by which the record of the wanted replies fades each throw.
      net: loss in that record beyond which moves are random until it has recovered.
    """

    edge: float = 0.06
    form_memory: float = 0.98
    net: float = 4.0


@dataclass(frozen=True, slots=True)
class RrpsGenome:
    """A policy: predictors, blend, choice."""

    parts: tuple[Part, ...]
    blend: Blend = Blend()
    choice: Choice = Choice()

    def __post_init__(self) -> None:
        if not 1 <= len(self.parts) <= MOST_PARTS:
            raise ValueError(f"a policy has 1 to {MOST_PARTS} parts, not {len(self.parts)}")
        if all(part.kind == CHOOSER for part in self.parts):
            raise ValueError("a policy of choosers alone has nothing to choose among")


def random_part(rng: random.Random) -> Part:
    """Draws a predictor; the draw favours short contexts, which learn fast."""
    kind = rng.choices(KINDS, (8, 3, 2, 2, 2, 1, 3))[0]
    target = rng.choice(_TARGETS)
    side = rng.choice(((1, 0), (0, 1)))
    if kind == MATCH:
        length = rng.choice((4, 8, 15, 30))
        mine, theirs = rng.choice(((length, 0), (0, length), (length, length)))
        return Part(kind, target, mine, theirs)
    if kind == "lag":
        lag = rng.randint(1, 6)
        return Part(kind, target, lag * side[0], lag * side[1])
    if kind == "rank":
        return Part(kind, target, *side, rng.choice((1.0, 0.98, 0.95, 0.9, 0.8)))
    if kind == RESULT:
        length = rng.choice((1, 2, 3, 3, 4, 5))
        memory = rng.choice((1.0, 0.97, 0.95, 0.9))
        return Part(kind, target, length * side[0], length * side[1], memory)
    if kind == ECHO:
        return Part(kind, target, *side, rng.choice((0.9, 0.95, 0.97)))
    if kind == CHOOSER:
        among = rng.choice(((1, 0), (1, 0), (0, 1), (1, 1)))
        return Part(kind, target, *among, rng.choice((0.8, 0.85, 0.9, 0.95, 0.98, 1.0)))
    mine, theirs = rng.choice(_CONTEXTS)
    memory = rng.choice((1.0, 1.0, 0.98, 0.95, 0.85, 0.7))
    return Part(kind, target, mine, theirs, memory)


_CONTEXTS = (
    *((0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (1, 2), (2, 1), (2, 2)),
    *((0, 3), (3, 0), (3, 3), (0, 4), (4, 4), (0, 5), (5, 0)),
)
"""(my moves, their moves) that a context looks at."""
_QUICK_CONTEXTS = ((0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (2, 0), (2, 2))
"""Those short enough to be learnt anew while the opponent changes."""


def _pair(kind: str, orders: tuple[tuple[int, int], ...], memory: float = 1.0) -> list[Part]:
    """The same parts for both targets."""
    return [Part(kind, target, a, b, memory) for target in _TARGETS for a, b in orders]


def mirror(part: Part) -> Part:
    """The same part seen from the other seat; what a chooser chooses among has no seat."""
    target = "mine" if part.target == "theirs" else "theirs"
    if part.kind == CHOOSER:
        return dataclasses.replace(part, target=target)
    return dataclasses.replace(part, target=target, mine=part.theirs, theirs=part.mine)


def full_genome() -> RrpsGenome:
    """The sentence that search starts from: most kinds of part, default settings.

    Lags and ranks cost a third of a program's time, and gained nothing that was measured.
    """
    parts = [
        *_pair(CONTEXT, _CONTEXTS[1:]),
        *_pair(CONTEXT, ((0, 0),), 0.98),
        *_pair(CONTEXT, _QUICK_CONTEXTS, 0.85),
        *_pair(MATCH, ((30, 0), (0, 30), (30, 30))),
        *(Part(RESULT, "theirs", a, b, m) for a, b, m in _RESULTS),
        *(Part(RESULT, "mine", b, a, m) for a, b, m in _RESULTS),
        *_pair(ECHO, ((1, 0), (0, 1)), 0.95),
        *(Part(CHOOSER, "theirs", 1, 0, m) for m in (0.85, 0.98, 1.0)),
    ]
    return RrpsGenome(tuple(parts), _FULL_BLEND)


_FULL_BLEND = Blend(patience=2.5, views=3, spread=3.0)
_RESULTS = ((0, 2, 0.97), (0, 3, 0.97), (0, 4, 1.0), (2, 0, 0.95))
"""(my last move is turned, theirs is) by so many results, and memory."""


RECKLESS = Choice(edge=0.0, net=1000.0)
"""Always plays the reply that seems best, whatever it promises and however badly it has gone."""


def single_genome(rng: random.Random) -> RrpsGenome:
    """Draws a policy of one predictor that never plays safe."""
    return RrpsGenome((_no_chooser(rng),), choice=RECKLESS)


CERTAIN = Blend(rate=0.0, forget=0.0, trust=0.9, patience=1e6)
"""Takes every guess for right, however often such guesses were wrong."""
STUBBORN = Blend(trust=0.9, patience=1e6)
"""Takes guesses for right until about as many in a row were wrong as a record remembers."""


def credulous_genome(rng: random.Random) -> RrpsGenome:
    """Draws a policy that always acts on what it believes, whatever that has cost.

    It has one predictor that it believes for ever, or three that it is slow to doubt.
    """
    alone = _no_chooser(rng)
    if rng.random() < 0.5:
        return RrpsGenome((alone,), CERTAIN, RECKLESS)
    parts = {alone: None}
    while len(parts) < 3:
        parts[random_part(rng)] = None
    return RrpsGenome(tuple(parts), STUBBORN, RECKLESS)


def random_genome(rng: random.Random) -> RrpsGenome:
    """Draws a policy of 4 to 16 distinct parts with settings around the defaults."""
    parts = {random_part(rng): None for _ in range(rng.randint(3, 15))}
    parts[_no_chooser(rng)] = None
    genome = RrpsGenome(tuple(parts))
    for _ in range(3):
        genome = _nudge(genome, rng)
    return genome


def _no_chooser(rng: random.Random) -> Part:
    """Draws a predictor that can stand alone."""
    part = random_part(rng)
    while part.kind == CHOOSER:
        part = random_part(rng)
    return part


_SCALES = {
    "first_weight": (0.08, 0.4),
    "rate": (0.008, 0.05),
    "forget": (0.01, 0.04),
    "trust": (0.34, 0.55),
    "patience": (1.1, 3.0),
    "edge": (0.02, 0.12),
    "net": (2.0, 12.0),
}
"""Name of a setting -> bounds within which policies stay about as strong in general."""


def _nudge(genome: RrpsGenome, rng: random.Random) -> RrpsGenome:
    """Changes one setting by up to about a half."""
    name = rng.choice(tuple(_SCALES))
    low, high = _SCALES[name]
    home = "choice" if name in {"edge", "net"} else "blend"
    settings = getattr(genome, home)
    value = max(getattr(settings, name), 0.02) * rng.uniform(0.6, 1.6)
    value = round(min(max(value, low), high), 3)
    changed = dataclasses.replace(settings, **{name: value})
    if isinstance(changed, Blend):
        return dataclasses.replace(genome, blend=changed)
    return dataclasses.replace(genome, choice=changed)


def mutate(genome: RrpsGenome, rng: random.Random) -> RrpsGenome:
    """A neighbour: one to three parts added, dropped or replaced, or settings nudged."""
    for _ in range(rng.choice((1, 2, 3))):
        move = rng.random()
        parts = list(genome.parts)
        if move < 0.35:
            fresh = random_part(rng)
            if fresh not in parts and len(parts) < MOST_PARTS:
                parts.append(fresh)
        elif move < 0.55 and len(parts) > 1:
            parts.pop(rng.randrange(len(parts)))
        elif move < 0.7:
            fresh = random_part(rng)
            if fresh not in parts:
                parts[rng.randrange(len(parts))] = fresh
        else:
            genome = _nudge(genome, rng)
        genome = with_parts(genome, parts)
    return genome


def grow(genome: RrpsGenome, rng: random.Random) -> RrpsGenome:
    """The genome with one to three parts more, each sometimes with its mirror."""
    parts = list(genome.parts)
    for _ in range(rng.choice((1, 2, 3))):
        fresh = random_part(rng)
        parts += [fresh, mirror(fresh)] if rng.random() < 0.5 else [fresh]
    return with_parts(genome, parts)


def join(one: RrpsGenome, other: RrpsGenome) -> RrpsGenome:
    """The first genome with the parts of both."""
    return with_parts(one, [*one.parts, *other.parts])


def with_parts(genome: RrpsGenome, parts: list[Part]) -> RrpsGenome:
    """The genome with other parts, as far as there is room; unchanged where none stands alone."""
    kept = tuple(dict.fromkeys(parts))[:MOST_PARTS]
    if all(part.kind == CHOOSER for part in kept):
        return genome
    return dataclasses.replace(genome, parts=kept)


def crossover(one: RrpsGenome, other: RrpsGenome, rng: random.Random) -> RrpsGenome:
    """A child: parts that both have, half of the others, and each settings group from either."""
    both = [part for part in one.parts if part in other.parts]
    rest = [part for part in (*one.parts, *other.parts) if part not in both]
    parts = both + [part for part in rest if rng.random() < 0.5]
    child = RrpsGenome(
        one.parts, rng.choice((one.blend, other.blend)), rng.choice((one.choice, other.choice))
    )
    return with_parts(child, parts)


def changes(before: RrpsGenome, after: RrpsGenome) -> list[str]:
    """What is different, in words."""
    found = story.differences(before.parts, after.parts, describe)
    for one, other in ((before.blend, after.blend), (before.choice, after.choice)):
        for field in dataclasses.fields(one):
            old, new = getattr(one, field.name), getattr(other, field.name)
            if old != new:
                found.append(f"{field.name.replace('_', ' ')} {old:g} became {new:g}")
    return found


def describe(part: Part) -> str:
    """What a part does, in one line without a full stop."""
    whose = "their" if part.target == "theirs" else "my"
    fading = "" if part.memory == 1.0 else f", memory {part.memory}"
    owner = "my" if part.mine else "their"
    if part.kind == CONTEXT:
        return _describe_context(part, whose) + fading
    if part.kind == MATCH:
        where = "all" if part.mine and part.theirs else owner
        length = max(part.mine, part.theirs)
        return f"{whose} move after the longest repeat in {where} moves, to {length}"
    if part.kind == "lag":
        throws = story.counted(max(part.mine, part.theirs), "throw")
        return f"{owner} move {throws} ago, as {whose} next"
    if part.kind == "rank":
        return f"{whose} move by the order of {owner} counts{fading}"
    if part.kind == RESULT:
        results = story.counted(max(part.mine, part.theirs), "result")
        return f"{whose} turn from {owner} last by {results}{fading}"
    if part.kind == ECHO:
        return f"{whose} move as {owner} move at the best lag{fading}"
    among = "all" if part.mine and part.theirs else "matches" if part.mine else "contexts"
    scored = ", set back by a loss" if part.memory == 1.0 else fading
    return f"{whose} move, the best paid plan of {among}{scored}"


def _describe_context(part: Part, whose: str) -> str:
    if part.mine == part.theirs == 0:
        return f"{whose} most frequent move"
    seen = " and ".join(
        f"{owner} last {count}" if count > 1 else f"{owner} last"
        for owner, count in (("my", part.mine), ("their", part.theirs))
        if count
    )
    return f"{whose} move after {seen}"
