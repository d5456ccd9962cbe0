"""Grammar of policies for repeated Leduc hold'em.

A sentence of the grammar is a set of styles that an opponent may have, with prior weights.  The
policy weighs them by how well they explain what was seen, looks ahead through the rest of the hand
for the best reply to the weighted styles, and departs from balanced play only where that reply is
worth enough more.  Styles are balanced play solved from the rules by `balance`, tilts of it,
archetypes that any book on poker describes, and three that learn: strangers, whole players drawn
at random from a broad prior; a crowd, whose sorts are drawn so and learn spot by spot; and plain
counts of what was seen.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable
from dataclasses import dataclass

from oracle.grammar import story

GAME = "leduc"
MOST_STYLES = 24
KINDS = ("balanced", "blind", "honest", "tilted", "learned", "crowd", "strangers")
MOST = {"crowd": 2, "strangers": 1}
"""Styles that cost more time than others -> how many a policy may have."""


@dataclass(frozen=True, slots=True, order=True)
class Style:
    """A way to play that an opponent may have.

    Attributes:
      kind: balanced; blind (folds and raises with fixed chances whatever the cards); honest
        (raises hands stronger than `bet`, folds hands weaker than `fold`, strength 0 to 1);
        tilted (balanced play with folds times `fold` and raises times `bet`); crowd (players
        drawn at random who give up the share `fold` of their hands to a raise and raise the share
        `bet` where nobody did, on average); strangers (whole players drawn at
        random, of whom those who reckon give up and raise the more, the higher `fold` and `bet`);
        learned (counts what was seen, starting from what the crowd makes of it, or from balanced
        play, which counts for `fold` moves).
      fold: see kind.
      bet: see kind.
      prior: weight before the first hand.
    """

    kind: str
    fold: float
    bet: float
    prior: float


@dataclass(frozen=True, slots=True)
class LeducGenome:
    """A policy.

    Attributes:
      styles: what an opponent may be; the first one is balanced, so that nobody is impossible.
      caution: chips that a reply must gain over balanced play to be preferred.
      change: chance, per hand, that the opponent, or its way in a spot, is another from now on.
      pool: how much a learned style takes from what was seen with other hands, 0 to 1.
    """

    styles: tuple[Style, ...]
    caution: float = 0.05
    change: float = 0.01
    pool: float = 0.1

    def __post_init__(self) -> None:
        if not 1 <= len(self.styles) <= MOST_STYLES:
            raise ValueError(f"a policy has 1 to {MOST_STYLES} styles, not {len(self.styles)}")
        if self.styles[0].kind != "balanced":
            raise ValueError(f"the first style is balanced, not {self.styles[0].kind}")
        for kind, most in MOST.items():
            if sum(style.kind == kind for style in self.styles) > most:
                raise ValueError(f"a policy has at most {most} styles of kind {kind}")


def full_genome() -> LeducGenome:
    """The sentence that search starts from: balanced play, tilts of it, a crowd, strangers.

    Counts beside the crowd cost a tenth of a program's time, and gained nothing that was measured.
    """
    return LeducGenome(
        (
            Style("balanced", 0.0, 0.0, 12.0),
            Style("tilted", 0.5, 0.5, 0.5),
            Style("tilted", 2.0, 1.0, 0.5),
            Style("tilted", 1.0, 2.0, 0.5),
            Style("crowd", 0.35, 0.35, 8.0),
            Style("strangers", 0.35, 0.35, 8.0),
        )
    )


def random_style(rng: random.Random) -> Style:
    """Draws a style that is not balanced."""
    kind = rng.choices(("blind", "honest", "tilted", "learned", "crowd"), (3, 4, 2, 1, 2))[0]
    prior = rng.choice((0.25, 0.5, 1.0, 2.0))
    if kind == "blind":
        fold = rng.uniform(0.05, 0.95)
        return Style(kind, round(fold, 2), round(rng.random() * (1.0 - fold), 2), prior)
    if kind == "honest":
        return Style(kind, round(rng.uniform(0.0, 0.7), 2), round(rng.uniform(0.3, 1.1), 2), prior)
    if kind == "tilted":
        tilts = (0.2, 0.5, 1.0, 2.0, 4.0)
        return Style(kind, rng.choice(tilts), rng.choice(tilts), prior)
    if kind == "crowd":
        fold, bet = (round(rng.uniform(0.15, 0.6), 2) for _ in range(2))
        return Style(kind, fold, bet, 4.0 * prior)
    return Style(kind, rng.choice((2.0, 4.0, 8.0, 16.0)), 0.0, prior)


def single_genome(rng: random.Random) -> LeducGenome:
    """Draws a policy that knows one style beside balanced play, with default settings."""
    return LeducGenome((Style("balanced", 0.0, 0.0, 12.0), random_style(rng)))


_DOUBT = 1e-6
"""Prior of balanced play with a credulous policy: next to nothing, but nobody is impossible."""


def credulous_genome(rng: random.Random) -> LeducGenome:
    """Draws a policy that believes in one style whatever happens, and always replies to it."""
    style = random_style(rng)
    while style.kind in ("learned", "crowd"):
        style = random_style(rng)
    believed = dataclasses.replace(style, prior=1.0)
    return LeducGenome((Style("balanced", 0.0, 0.0, _DOUBT), believed), caution=0.0, change=0.0)


def random_genome(rng: random.Random) -> LeducGenome:
    """Draws a policy of 2 to 12 styles."""
    drawn = [random_style(rng) for _ in range(rng.randint(1, 11))]
    settings = LeducGenome(
        (Style("balanced", 0.0, 0.0, rng.choice((6.0, 12.0, 24.0))),),
        caution=rng.choice((0.02, 0.05, 0.1)),
        change=rng.choice((0.0, 0.003, 0.01, 0.03)),
        pool=rng.choice((0.0, 0.1, 0.3, 0.6)),
    )
    return with_styles(settings, drawn)


def with_styles(genome: LeducGenome, styles: Iterable[Style]) -> LeducGenome:
    """The genome with other styles after the balanced one, as far as there is room."""
    kept: list[Style] = []
    for style in dict.fromkeys(styles):
        alike = sum(other.kind == style.kind for other in kept)
        if alike < MOST.get(style.kind, MOST_STYLES):
            kept.append(style)
    return dataclasses.replace(genome, styles=(genome.styles[0], *kept[: MOST_STYLES - 1]))


def mutate(genome: LeducGenome, rng: random.Random) -> LeducGenome:
    """A neighbour: one to three styles added, dropped or reweighted, or settings redrawn."""
    for _ in range(rng.choice((1, 2, 3))):
        styles, move = list(genome.styles[1:]), rng.random()
        place = rng.randrange(len(styles)) if styles else 0
        if move < 0.3 or not styles:
            styles.append(random_style(rng))
        elif move < 0.45:
            styles.pop(place)
        elif move < 0.65:
            prior = round(styles[place].prior * rng.choice((0.5, 2.0)), 4)
            styles[place] = dataclasses.replace(styles[place], prior=min(max(prior, 0.05), 32.0))
        else:
            name = rng.choice(("caution", "change", "pool"))
            value = getattr(random_genome(rng), name)
            genome = dataclasses.replace(genome, **{name: value})
        genome = with_styles(genome, styles)
    return genome


def grow(genome: LeducGenome, rng: random.Random) -> LeducGenome:
    """The genome with one to three styles more."""
    fresh = [random_style(rng) for _ in range(rng.choice((1, 2, 3)))]
    return with_styles(genome, [*genome.styles[1:], *fresh])


def join(one: LeducGenome, other: LeducGenome) -> LeducGenome:
    """The first genome with the styles of both."""
    return with_styles(one, [*one.styles[1:], *other.styles[1:]])


def crossover(one: LeducGenome, other: LeducGenome, rng: random.Random) -> LeducGenome:
    """A child: styles that both have, half of the others, and each setting from either."""
    both = [style for style in one.styles[1:] if style in other.styles[1:]]
    rest = [style for style in (*one.styles[1:], *other.styles[1:]) if style not in both]
    settings = LeducGenome(
        rng.choice((one, other)).styles[:1],
        caution=rng.choice((one, other)).caution,
        change=rng.choice((one, other)).change,
        pool=rng.choice((one, other)).pool,
    )
    return with_styles(settings, both + [style for style in rest if rng.random() < 0.5])


def changes(before: LeducGenome, after: LeducGenome) -> list[str]:
    """What is different, in words."""

    def told(style: Style) -> str:
        return f"{describe(style)} (weight {style.prior:g})"

    found = story.differences(before.styles, after.styles, told)
    for name in ("caution", "change", "pool"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            found.append(f"{name} {old:g} became {new:g}")
    return found


def describe(style: Style) -> str:
    """What a style does, in one line without a full stop."""
    if style.kind == "balanced":
        return "balanced play"
    if style.kind == "blind":
        return f"any cards: folds {style.fold:.0%} of raises, raises {style.bet:.0%}"
    if style.kind == "honest":
        return f"bets hands above {style.bet:g}, folds hands below {style.fold:g}"
    if style.kind == "tilted":
        return f"balanced, but folds x {style.fold:g} and raises x {style.bet:g}"
    if style.kind == "crowd":
        return f"many sorts: about {style.fold:.0%} of hands given up, {style.bet:.0%} raised"
    if style.kind == "strangers":
        return f"whole players drawn at random, around fold {style.fold:g} and bet {style.bet:g}"
    return f"learnt from what was seen, what was expected counts for {style.fold:g}"
