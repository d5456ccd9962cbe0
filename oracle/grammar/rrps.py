"""Grammar of policies for repeated rock-paper-scissors.

A sentence of the grammar is a set of predictors and the settings of the one learner that blends
them.  Every predictor guesses the next move of one side.  What is learnt is not whether a guess
is right but how the opponent's move relates to it (equal, one ahead, two ahead), so one part
serves against opponents who repeat themselves, who are one step ahead, and who are two.  Guesses
of my own next move (parts with target "mine") are what an opponent's predictor would make of me.
"""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass

from oracle.grammar import rrps_parts

GAME = "rrps"
CONTEXT = "context"
MOST_PARTS = 80
LONGEST_SIDE = 5
"""Moves of one side that a context looks at."""
LONGEST_CONTEXT = 8
"""Moves of both sides: a policy has 3 to that power counts of each move."""
_TARGETS = ("theirs", "mine")


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """One predictor.

    Attributes:
      kind: context, match, lag or rank.
      target: whose next move it guesses, "theirs" or "mine".
      mine: my recent moves that it looks at (match: longest length, lag: how long ago).
      theirs: the same of the opponent.
      memory: factor by which old counts fade, 1 for never.
    """

    kind: str
    target: str
    mine: int
    theirs: int
    memory: float = 1.0

    def __post_init__(self) -> None:
        if self.kind != CONTEXT and self.kind not in rrps_parts.PREDICTORS:
            raise ValueError(f"no predictor is of kind {self.kind!r}")
        if self.kind == CONTEXT and not (
            min(self.mine, self.theirs) >= 0
            and max(self.mine, self.theirs) <= LONGEST_SIDE
            and self.mine + self.theirs <= LONGEST_CONTEXT
        ):
            raise ValueError(f"a context of {self.mine} and {self.theirs} moves is too long")


@dataclass(frozen=True, slots=True)
class Blend:
    """Settings of the learner that blends the predictors.

    Attributes:
      first_weight: weight of every predictor at the start.
      rate: step of the gradient on the weights.
      forget: smallest step of a predictor's record; its memory is about 1 / forget throws.
      trust: share given to a predictor's first guess, 1/3 for none.
      patience: throws that the first trust counts for.
    """

    first_weight: float = 0.2
    rate: float = 0.02
    forget: float = 0.02
    trust: float = 0.4
    patience: float = 1.5


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


def random_part(rng: random.Random) -> Part:
    """Draws a predictor; the draw favours short contexts, which learn fast."""
    kind = rng.choices(("context", "match", "lag", "rank"), (8, 3, 2, 2))[0]
    target = rng.choice(_TARGETS)
    if kind == "match":
        length = rng.choice((8, 15, 30))
        mine, theirs = rng.choice(((length, 0), (0, length), (length, length)))
        return Part(kind, target, mine, theirs)
    if kind == "lag":
        lag = rng.randint(1, 6)
        return Part(kind, target, *rng.choice(((lag, 0), (0, lag))))
    if kind == "rank":
        memory = rng.choice((1.0, 0.98, 0.95, 0.9, 0.8))
        return Part(kind, target, *rng.choice(((1, 0), (0, 1))), memory)
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
    """The same part seen from the other seat."""
    target = "mine" if part.target == "theirs" else "theirs"
    return dataclasses.replace(part, target=target, mine=part.theirs, theirs=part.mine)


def full_genome() -> RrpsGenome:
    """The sentence that search starts from: every kind of part, both targets, default settings."""
    parts = [
        *_pair("context", _CONTEXTS[1:]),
        *_pair("context", ((0, 0),), 0.98),
        *_pair("context", _QUICK_CONTEXTS, 0.85),
        *_pair("match", ((30, 0), (0, 30), (30, 30))),
        *_pair("lag", ((1, 0), (0, 1))),
        *(Part("lag", "theirs", a, b) for a, b in ((2, 0), (0, 2))),
        *(Part("rank", "theirs", a, b, m) for a, b in ((1, 0), (0, 1)) for m in (1.0, 0.9)),
    ]
    return RrpsGenome(tuple(parts))


def random_genome(rng: random.Random) -> RrpsGenome:
    """Draws a policy of 4 to 16 distinct parts with settings around the defaults."""
    parts = {random_part(rng): None for _ in range(rng.randint(4, 16))}
    genome = RrpsGenome(tuple(parts))
    for _ in range(3):
        genome = _nudge(genome, rng)
    return genome


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
        genome = dataclasses.replace(genome, parts=tuple(parts))
    return genome


def crossover(one: RrpsGenome, other: RrpsGenome, rng: random.Random) -> RrpsGenome:
    """A child: parts that both have, half of the others, and each settings group from either."""
    both = [part for part in one.parts if part in other.parts]
    rest = [part for part in (*one.parts, *other.parts) if part not in both]
    parts = both + [part for part in rest if rng.random() < 0.5]
    return RrpsGenome(
        tuple(parts[:MOST_PARTS]) or one.parts,
        rng.choice((one.blend, other.blend)),
        rng.choice((one.choice, other.choice)),
    )


def describe(part: Part) -> str:
    """What a part does, in one line without a full stop."""
    whose = "their" if part.target == "theirs" else "my"
    fading = "" if part.memory == 1.0 else f", memory {part.memory}"
    if part.kind == "context":
        if part.mine == part.theirs == 0:
            return f"{whose} most frequent move{fading}"
        seen = " and ".join(
            f"{owner} last {count}" if count > 1 else f"{owner} last"
            for owner, count in (("my", part.mine), ("their", part.theirs))
            if count
        )
        return f"{whose} move after {seen}{fading}"
    if part.kind == "match":
        where = "both sides'" if part.mine and part.theirs else "my" if part.mine else "their"
        return f"{whose} move after the longest repeat in {where} moves"
    owner = "my" if part.mine else "their"
    if part.kind == "lag":
        return f"{owner} move {max(part.mine, part.theirs)} throws ago, as {whose} next"
    return f"{whose} move by the order of {owner} counts{fading}"


def render(genome: RrpsGenome, footer: str = "") -> str:
    """The policy as standalone commented Python; equal genomes give equal text.

    Args:
      genome: what to write.
      footer: comment lines to end the file with.
    """
    kinds = dict.fromkeys(part.kind for part in genome.parts if part.kind != CONTEXT)
    sections = [rrps_parts.HEADER.strip(), _constants(genome), rrps_parts.HISTORY.strip()]
    sections.append(rrps_parts.CONTEXTS.strip())
    sections += [rrps_parts.PREDICTORS[kind][1].strip() for kind in kinds]
    sections += [_predictor_lists(genome), _agent(genome)]
    return "\n\n\n".join(sections) + "\n" + footer


def _constants(genome: RrpsGenome) -> str:
    blend, choice = genome.blend, genome.choice
    return "\n".join(
        (
            f"FIRST_WEIGHT = {blend.first_weight}  # of every predictor in the blend",
            f"RATE = {blend.rate}  # step of the gradient on the weights",
            f"FORGET = {blend.forget}  # smallest step of a predictor's record",
            f"TRUST = {blend.trust}  # share that a first guess is given",
            f"PATIENCE = {blend.patience}  # throws that the first trust counts for",
            f"EDGE = {choice.edge}  # payoff per throw below which the move is random",
            f"FORM_MEMORY = {choice.form_memory}  # fading of the record of wanted replies",
            f"NET = {choice.net}  # loss in that record that makes moves random",
        )
    )


def _predictor_lists(genome: RrpsGenome) -> str:
    """The predictors, Markov models apart from the others: all of them are counted at once."""
    lines = ["# Whether it guesses my move (else theirs), my moves, their moves, memory."]
    for title, chosen in (("CONTEXTS", True), ("PREDICTORS", False)):
        lines.append(f"{title} = [")
        for part in genome.parts:
            if (part.kind == CONTEXT) is chosen:
                name = "" if chosen else f"{rrps_parts.PREDICTORS[part.kind][0]}, "
                settings = f"{part.target == 'mine'}, {part.mine}, {part.theirs}, {part.memory}"
                lines.append(f"    ({name}{settings}),  # {describe(part)}")
        lines.append("]")
    return "\n".join(lines)


def _agent(genome: RrpsGenome) -> str:
    direct = sum(part.target == "theirs" for part in genome.parts)
    mirrored = len(genome.parts) - direct
    doc = f'''class Agent:
    """Blends {len(genome.parts)} sequence predictors into one forecast and plays the best reply.

    Made by a grammar, not written by a person or a language model.

    {direct} predictors guess the opponent's next move and {mirrored} guess mine, as an opponent's
    predictor would.  For each the agent learns how the opponent's move relates to the guess, so
    that repeating, being one step ahead and being two steps ahead are all seen.  A weighted blend
    of what they say gives a forecast; the reply that pays best is played while it promises at
    least {genome.choice.edge} a throw and such replies have not been losing lately, else a random
    move, which nobody can exploit.
    """
'''
    return doc + rrps_parts.AGENT_BODY.rstrip("\n")
