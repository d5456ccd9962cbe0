"""Plays pairs in rounds until their means are precise enough, or their share is spent.

How far a pair goes follows from its own first matches and nothing else: neither what else is
stored nor where somebody was interrupted changes it.  So asking again looks at the same rounds,
finds them stored, and goes on where they end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from arena.analysis.stakes import stakes_of
from arena.analysis.stopping import floored, looks
from arena.errors import UsageFault
from arena.home import Home
from arena.mixing import precision_of_members, through_members, with_mixtures
from arena.nesting import Weights
from arena.standings import exact_payoffs
from arena.tally import Pair, PlayReport, Progress, Request

Play = Callable[[Request], PlayReport]
"""Plays what is missing of a request, as `arena.runner.Runner.play` does."""


def play_until_precise(
    home: Home,
    play: Play,
    request: Request,
    precision: float,
    mixtures: Mapping[str, Weights] = MappingProxyType({}),
) -> PlayReport:
    """Plays each pair until the standard error of its mean return is small enough.

    In the places of mixtures their members play, each as far as the mixture's mean needs it.

    Args:
      home: where matches are stored.
      play: plays one round.
      request: `wanted` are the most matches that each pair may get.
      precision: the largest standard error that will do, in the game's unit per match.
      mixtures: digest to the weights of the members.

    Returns:
      What all rounds came to; `imprecise` counts the pairs of the request that are not as precise
      in the end.

    Raises:
      UsageFault: the precision is not above 0, or see `arena.runner.Runner.play`.
    """
    if not precision > 0.0:
        raise UsageFault(f"a precision of {precision:g} cannot be reached: ask for more than 0")
    rounds = Rounds(play, request)
    span = 2 if request.game.has_deals else 1
    going = through_members(request.wanted, mixtures)
    enough = precision_of_members(request.wanted, mixtures, precision)
    reached: dict[Pair, int] = {}
    for deals in looks(-(-max(going.values(), default=0) // span)):
        wanted = {pair: min(deals * span, most) for pair, most in going.items()}
        reached.update(wanted)
        if not rounds.play(wanted):
            break
        unsure = imprecise_of(home, request, wanted, {pair: enough[pair] for pair in wanted})
        left = {pair: going[pair] for pair in unsure if not rounds.quarantined(pair)}
        going = {pair: most for pair, most in left.items() if wanted[pair] < most}
        if not going:
            break
    asked = dict.fromkeys(request.wanted, precision)
    return rounds.report(imprecise=len(imprecise_of(home, request, reached, asked, mixtures)))


def imprecise_of(
    home: Home,
    request: Request,
    wanted: Mapping[Pair, int],
    enough: Mapping[Pair, float],
    mixtures: Mapping[str, Weights] = MappingProxyType({}),
) -> list[Pair]:
    """The pairs whose means are not known precisely enough.

    Args:
      home: where the matches are.
      request: which game they are of, and the repetition that they are counted from.
      wanted: how many matches of each pair count.
      enough: the largest standard error that will do, by the pair that is asked about.
      mixtures: digest to the weights of the members, for pairs that have mixtures.
    """
    mixed = {digest: mixtures[digest] for pair in enough for digest in pair if digest in mixtures}
    members = {member for weights in mixed.values() for member in weights}
    digests = sorted(members | {digest for pair in (*wanted, *enough) for digest in pair})
    table = exact_payoffs(home, request.game, digests, wanted, request.first)
    stderr = floored(table.stderr, table.deals, stakes_of(request.game))
    np.fill_diagonal(stderr, 0.0)
    table = with_mixtures(replace(table, stderr=stderr), mixed)
    index = table.index()
    return [
        (one, other)
        for (one, other), most in enough.items()
        if not table.stderr[index[one], index[other]] <= most * _ROUNDED
    ]


_ROUNDED = 1.0 + 1e-9
"""What a sum of squares may be too large by, as numbers are rounded."""


class Rounds:
    """Plays rounds of one request, and adds up what they came to.

    Args:
      play: plays one round.
      request: all but `wanted` holds for every round.
    """

    def __init__(self, play: Play, request: Request) -> None:
        self._play, self._request = play, request
        self._reports: list[PlayReport] = []
        self._reached: dict[Pair, int] = {}

    def play(self, wanted: Mapping[Pair, int]) -> bool:
        """Plays a round; says whether all of it was played.

        Args:
          wanted: as in a request; of each pair, what the rounds before wanted included.
        """
        if not wanted:
            return True
        limit = self._request.processor_seconds
        held = sum(report.held_seconds for report in self._reports)
        report = self._play(
            replace(
                self._request,
                wanted=wanted,
                processor_seconds=None if limit is None else max(limit - held, 0.0),
                progress=_after(sum(r.played for r in self._reports), self._request.progress),
            )
        )
        self._reports.append(report)
        self._reached.update(wanted)
        return report.left == 0

    def quarantined(self, pair: Pair) -> bool:
        """Whether one of the two was quarantined in a round: it goes no further."""
        return any(set(pair) & set(report.quarantined) for report in self._reports)

    def report(self, imprecise: int | None = None) -> PlayReport:
        """What the rounds came to; what one stored is not counted as skipped in the next."""
        whole = together(self._reports)
        skipped = sum(self._reached.values()) - whole.played - whole.left
        return replace(whole, skipped=skipped, imprecise=imprecise)


def together(reports: Sequence[PlayReport]) -> PlayReport:
    """Reports of requests one after the other, added up."""
    walls: Counter[str] = Counter()
    for report in reports:
        walls.update(report.walls)
    return PlayReport(
        played=sum(one.played for one in reports),
        skipped=sum(one.skipped for one in reports),
        meanwhile=sum(one.meanwhile for one in reports),
        left=sum(one.left for one in reports),
        forfeits=sum(one.forfeits for one in reports),
        twice=sum(one.twice for one in reports),
        audited=sum(one.audited for one in reports),
        inconclusive=sum(one.inconclusive for one in reports),
        suspicions=tuple(found for one in reports for found in one.suspicions),
        quarantined=tuple(dict.fromkeys(found for one in reports for found in one.quarantined)),
        seconds=round(sum(one.seconds for one in reports), 3),
        processor_seconds=round(sum(one.processor_seconds for one in reports), 3),
        held_seconds=round(sum(one.held_seconds for one in reports), 3),
        walls=dict(walls),
    )


def _after(before: int, progress: Progress) -> Progress:
    """Progress of a round that follows others."""

    def told(done: int, wanted: int) -> None:
        progress(before + done, before + wanted)

    return told
