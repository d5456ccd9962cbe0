"""Grammar of policies for repeated Leduc hold'em.

A sentence of the grammar is a set of styles that an opponent may have, with prior weights.  The
policy weighs them by how well they explain what was seen, looks ahead through the rest of the hand
for the best reply to the weighted styles, and departs from balanced play only where that reply is
worth enough more.  Styles are archetypes that any book on poker describes (a player who rarely
folds, one who rarely continues, one who only bets good hands, ...), balanced play solved from the
rules by `balance`, tilts of it, and one that is learnt move by move.
"""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass

from oracle.grammar import balance, leduc_parts

GAME = "leduc"
MOST_STYLES = 24
KINDS = ("balanced", "blind", "honest", "tilted", "learned")


@dataclass(frozen=True, slots=True, order=True)
class Style:
    """A way to play that an opponent may have.

    Attributes:
      kind: balanced; blind (folds and raises with fixed chances whatever the cards); honest
        (raises hands stronger than `bet`, folds hands weaker than `fold`, strength 0 to 1);
        tilted (balanced play with folds times `fold` and raises times `bet`); learned
        (counts what was seen, starting from balanced play that counts for `fold` moves).
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
      change: chance, per hand, that the opponent is somebody else from now on.
      pool: how much a learned style takes from what was seen with other hands, 0 to 1.
    """

    styles: tuple[Style, ...]
    caution: float = 0.05
    change: float = 0.005
    pool: float = 0.3

    def __post_init__(self) -> None:
        if not 1 <= len(self.styles) <= MOST_STYLES:
            raise ValueError(f"a policy has 1 to {MOST_STYLES} styles, not {len(self.styles)}")
        if self.styles[0].kind != "balanced":
            raise ValueError(f"the first style is balanced, not {self.styles[0].kind}")


def full_genome() -> LeducGenome:
    """The sentence that search starts from: every kind of style, default settings."""
    return LeducGenome(
        (
            Style("balanced", 0.0, 0.0, 12.0),
            Style("blind", 0.03, 0.03, 1.0),
            Style("blind", 0.95, 0.03, 1.0),
            Style("blind", 0.03, 0.9, 0.5),
            Style("blind", 0.3, 0.35, 0.5),
            Style("blind", 0.5, 0.1, 0.5),
            Style("honest", 0.25, 0.6, 0.5),
            Style("honest", 0.5, 0.8, 0.5),
            Style("honest", 0.1, 0.4, 0.5),
            Style("honest", 0.15, 0.8, 0.5),
            Style("tilted", 0.3, 0.3, 0.5),
            Style("tilted", 3.0, 1.0, 0.5),
            Style("tilted", 1.0, 3.0, 0.5),
            Style("learned", 4.0, 0.0, 1.0),
        )
    )


def random_style(rng: random.Random) -> Style:
    """Draws a style that is not balanced."""
    kind = rng.choices(KINDS[1:], (4, 4, 2, 1))[0]
    prior = rng.choice((0.25, 0.5, 1.0, 2.0))
    if kind == "blind":
        fold = round(rng.choice((0.03, 0.97, rng.uniform(0.03, 0.97))), 2)
        bet = round(rng.choice((0.03, 0.9, rng.random())) * (1.0 - fold), 2)
        return Style(kind, fold, bet, prior)
    if kind == "honest":
        return Style(kind, round(rng.uniform(0.0, 0.7), 2), round(rng.uniform(0.3, 1.1), 2), prior)
    if kind == "tilted":
        tilts = (0.2, 0.5, 1.0, 2.0, 4.0)
        return Style(kind, rng.choice(tilts), rng.choice(tilts), prior)
    return Style(kind, rng.choice((2.0, 4.0, 8.0, 16.0)), 0.0, prior)


def random_genome(rng: random.Random) -> LeducGenome:
    """Draws a policy of 4 to 14 styles."""
    drawn = {random_style(rng): None for _ in range(rng.randint(3, 13))}
    return LeducGenome(
        (Style("balanced", 0.0, 0.0, rng.choice((6.0, 12.0, 24.0))), *drawn),
        caution=rng.choice((0.02, 0.05, 0.1)),
        change=rng.choice((0.0, 0.002, 0.005, 0.02)),
        pool=rng.choice((0.0, 0.1, 0.3, 0.6)),
    )


def mutate(genome: LeducGenome, rng: random.Random) -> LeducGenome:
    """A neighbour: one to three styles added, dropped or reweighted, or settings redrawn."""
    for _ in range(rng.choice((1, 2, 3))):
        styles, move = list(genome.styles), rng.random()
        place = rng.randrange(1, len(styles)) if len(styles) > 1 else 0
        if move < 0.3 and len(styles) < MOST_STYLES:
            styles.append(random_style(rng))
        elif move < 0.45 and place:
            styles.pop(place)
        elif move < 0.65:
            prior = round(styles[place].prior * rng.choice((0.5, 2.0)), 4)
            styles[place] = dataclasses.replace(styles[place], prior=min(max(prior, 0.05), 32.0))
        else:
            name = rng.choice(("caution", "change", "pool"))
            value = getattr(random_genome(rng), name)
            genome = dataclasses.replace(genome, **{name: value})
        genome = dataclasses.replace(genome, styles=tuple(dict.fromkeys(styles)))
    return genome


def crossover(one: LeducGenome, other: LeducGenome, rng: random.Random) -> LeducGenome:
    """A child: styles that both have, half of the others, and each setting from either."""
    both = [style for style in one.styles[1:] if style in other.styles[1:]]
    rest = [style for style in (*one.styles[1:], *other.styles[1:]) if style not in both]
    styles = [rng.choice((one, other)).styles[0], *both]
    styles += [style for style in dict.fromkeys(rest) if rng.random() < 0.5]
    return LeducGenome(
        tuple(styles[:MOST_STYLES]),
        caution=rng.choice((one, other)).caution,
        change=rng.choice((one, other)).change,
        pool=rng.choice((one, other)).pool,
    )


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
    return f"learnt from what was seen, balanced play counting for {style.fold:g} moves"


def render(genome: LeducGenome, footer: str = "") -> str:
    """The policy as standalone commented Python; equal genomes give equal text.

    Args:
      genome: what to write.
      footer: comment lines to end the file with.
    """
    sections = (
        leduc_parts.HEADER.strip(),
        _constants(genome),
        _balanced_table(),
        leduc_parts.TREE.strip(),
        leduc_parts.STYLES.strip(),
        _bot(genome),
    )
    return "\n\n\n".join(sections) + "\n" + footer


def _constants(genome: LeducGenome) -> str:
    lines = ["# Kind, fold, bet, weight before the first hand: who may sit there.", "STYLES = ["]
    for style in genome.styles:
        row = (style.kind, style.fold, style.bet, style.prior)
        lines.append(f"    {row!r},  # {describe(style)}".replace("'", '"'))
    lines += [
        "]",
        f"CAUTION = {genome.caution}  # chips that a reply must gain over balanced play",
        f"CHANGE = {genome.change}  # chance per hand that the opponent becomes somebody else",
        f"POOL = {genome.pool}  # how much the learnt style shares between hands",
    ]
    return "\n".join(lines)


def _balanced_table() -> str:
    lines = [
        "# Balanced play, solved from the rules of one hand: call and raise per 1000 (the rest is",
        "# fold) after a line of betting with a card; one pair per public card J, Q, K.",
        "BALANCED = {",
    ]
    for line, by_rank in balance.stored_rows().items():
        for name, row in zip("JQK", by_rank, strict=True):
            lines.append(f'    ("{line}", {name}): {row!r},')
    return "\n".join((*lines, "}"))


def _bot(genome: LeducGenome) -> str:
    doc = f'''class RepeatedLeducPokerBot:
    """Guesses the opponent's style and plays the best reply to it, else balanced play.

    Made by a grammar, not written by a person or a language model.

    It knows {len(genome.styles)} styles (see STYLES).  After each hand it weighs them by how well
    they explain what the opponent did; an unseen card counts by its chances.  To act it looks
    ahead through the rest of the hand against the weighted styles.  If the best letter is worth
    at least {genome.caution} chips more than balanced play, it is played; else the move is drawn
    from balanced play, which cannot be exploited.
    """
'''
    return doc + leduc_parts.BOT_BODY.rstrip("\n")
