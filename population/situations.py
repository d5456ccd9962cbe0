"""In which situations one policy gains from another, from the matches that they played.

`situations` tells it of two policies, for people; `population.traces` tells a model more of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.games.protocol import Game
from arena.replay import Stored
from arena.seam import AnyArena
from oracle.insight import Gain

Kinds = tuple[tuple[str, tuple[Gain, ...]], ...]
"""Each kind of situation that a game tells apart (cards, place, end), to what was won in which."""

QUARTERS = 4
MOST_MATCHES = 40
"""So many are retold: retelling a thousand throws takes the engine tens of milliseconds."""


@dataclass(frozen=True, slots=True)
class Situations:
    """Where a policy gains, in the game's unit per match; what was forfeited does not count.

    Attributes:
      quarters: in each quarter of a match; what it learns shows here.
      at_first: in the first throw or hand.
      after_won: in those that follow one that it won.
      after_drawn: likewise.
      after_lost: likewise.  These four add up to what the quarters add up to.
      matches: that this was taken from.
      kinds: what was won in the situations that the game tells apart, sorted by their labels; those
        of a kind add up to the same.  Exploits that were kept before have none.
      forfeits: of the matches, the ones that the other forfeited.
      by_forfeits: what these forfeits were worth, per match; not in any of the other numbers.
    """

    quarters: tuple[float, ...]
    at_first: float
    after_won: float
    after_drawn: float
    after_lost: float
    matches: int
    kinds: Kinds = ()
    forfeits: int = 0
    by_forfeits: float = 0.0

    def document(self) -> dict[str, Any]:
        """As JSON, with an object of the kinds."""
        kinds = {kind: [asdict(gain) for gain in gains] for kind, gains in self.kinds}
        return {**asdict(replace(self, kinds=())), "kinds": kinds}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Situations:
        """The value of such a document."""
        kinds = tuple(
            (kind, tuple(Gain(**gain) for gain in gains))
            for kind, gains in document.get("kinds", {}).items()
        )
        return cls(**{**document, "quarters": tuple(document["quarters"]), "kinds": kinds})


def extremes(gains: Sequence[Gain], most: int) -> tuple[tuple[Gain, ...], tuple[Gain, ...]]:
    """The situations of one kind in which most was won, and those in which most was lost.

    Args:
      gains: of all situations of that kind.
      most: so many of each.

    Returns:
      Gains above 0, the largest first; losses below 0, the largest first.
    """
    ranked = sorted(gains, key=lambda one: (-one.mean, one.label))
    won = [one for one in ranked if one.mean > 0.0]
    lost = [one for one in reversed(ranked) if one.mean < 0.0]
    return tuple(won[:most]), tuple(lost[:most])


@dataclass(frozen=True, slots=True)
class Retold:
    """A match from the view of one policy.

    Attributes:
      stored: the match.
      seat: of the policy.
      gains: what it won in each throw or hand that was completed.
    """

    stored: Stored
    seat: int
    gains: NDArray[np.float64]

    @property
    def forfeited(self) -> bool:
        """Whether the other policy forfeited the match."""
        return self.stored.result.fault_seat == 1 - self.seat

    @property
    def by_forfeit(self) -> float:
        """What the other's forfeit was worth beside the gains; 0 where it did not forfeit."""
        if not self.forfeited:
            return 0.0
        return float(self.stored.result.returns[self.seat] - self.gains.sum())


def retold(
    arena: AnyArena, game: Game, digest: str, against: str, first: int, below: int
) -> list[Retold]:
    """Retells the first matches of two policies among these repetitions, from the first's view.

    Args:
      arena: where they are stored.
      game: what was played.
      digest: of the policy whose view it is.
      against: digest of the other.
      first: the first repetition.
      below: the repetition after the last.
    """
    rows = arena.matches(game, digest, against=against, limit=None)
    chosen = sorted(
        (row.match.repetition, row.id) for row in rows if first <= row.match.repetition < below
    )
    return [_view(arena.match(match_id), digest) for _, match_id in chosen[:MOST_MATCHES]]


def situations(
    arena: AnyArena, game: Game, digest: str, against: str, below: int
) -> Situations | None:
    """Retells matches of two policies; None where there are none.

    Args:
      arena: where they are stored.
      game: what was played.
      digest: of the policy whose gains these are.
      against: digest of the other.
      below: only repetitions below this one.
    """
    found = retold(arena, game, digest, against, 0, below)
    if not found:
        return None
    return replace(
        summed([one.gains for one in found], game.length),
        forfeits=sum(one.forfeited for one in found),
        by_forfeits=sum(one.by_forfeit for one in found) / len(found),
        kinds=kinds_of(found, game),
    )


def kinds_of(views: Sequence[Retold], game: Game) -> Kinds:
    """What was won in the situations that the game tells apart.

    Args:
      views: matches, at least one.
      game: what was played.
    """
    won: dict[str, Counter[str]] = {}
    times: dict[str, Counter[str]] = {}
    for view in views:
        for event, gain in zip(view.stored.account.events, view.gains.tolist(), strict=False):
            for kind, label in game.telling.where(event, view.seat).items():
                won.setdefault(kind, Counter())[label] += gain
                times.setdefault(kind, Counter())[label] += 1
    return tuple((kind, _gains(won[kind], times[kind], len(views))) for kind in times)


def _gains(won: Counter[str], times: Counter[str], matches: int) -> tuple[Gain, ...]:
    total = times.total()
    return tuple(
        Gain(label, count / total, won[label] / matches) for label, count in sorted(times.items())
    )


def _view(stored: Stored, digest: str) -> Retold:
    seat = 0 if stored.result.match.seats[0] == digest else 1
    totals = np.array(stored.account.totals, dtype=np.float64)
    return Retold(stored, seat, (1.0 - 2.0 * seat) * np.diff(totals, prepend=0.0))


def summed(gains: Sequence[NDArray[np.float64]], length: int) -> Situations:
    """Adds up what was gained in some matches.

    Args:
      gains: of each match, at least one.
      length: throws or hands of a whole match.
    """
    quarters = np.zeros(QUARTERS)
    followed = {1.0: 0.0, 0.0: 0.0, -1.0: 0.0}
    first = 0.0
    for one in gains:
        np.add.at(quarters, np.arange(len(one)) * QUARTERS // length, one)
        first += one[:1].sum()
        for sign in followed:
            followed[sign] += one[1:][np.sign(one[:-1]) == sign].sum()
    count = len(gains)
    return Situations(
        tuple((quarters / count).tolist()),
        float(first / count),
        float(followed[1.0] / count),
        float(followed[0.0] / count),
        float(followed[-1.0] / count),
        count,
    )
