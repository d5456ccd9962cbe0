"""What the matches of a task tell a model: where a return came from, and the most that can be had.

It comes from the very matches that a score was made of, which are stored, so nothing more is
played; and from no others, so that a run that is resumed tells the same.  A model sees the cards of
a few hands that are over.  Other candidates of the iteration may meet these again, so it is not
told which hands of a match they were: a program cannot tell when one of them comes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from arena.analysis.exact import best_response_value
from arena.analysis.stationary import Ceiling, ceiling_of
from arena.games.parts import Decision, Event
from arena.games.protocol import Game
from arena.kinds.tabular import states_of
from oracle.insight import MOST_TRACED, Gain, Trace
from oracle.values import Against, Score, Task
from population.config import First
from population.matches import Matches
from population.situations import Retold, kinds_of, retold, summed
from registry.values import PolicyVersion

MOST_MATCHES = 8
"""Of one program with one opponent that are retold for a trace."""
MOST_CHOICES = 8
"""Situations of each side in which it is told what that side did."""
MOST_COSTLY = 3
CEILING_MATCHES = 24
"""Of one opponent that a ceiling is estimated from."""
_REFUTED = 3.0
"""Standard errors by which a return must lie above an estimated ceiling to refute it."""
_TABULAR = "tabular"


class Traces:
    """What is known of the matches of one task; an `oracle.insight.Insight`."""

    def __init__(
        self,
        matches: Matches,
        task: Task,
        first: First,
        digest: Callable[[str], str],
        ideas: Mapping[str, str],
    ) -> None:
        """Begins with nothing retold.

        Args:
          matches: of the run; none are played here.
          task: whose opponents are met.
          first: where the matches of scores begin.
          digest: a source to the digest of the registered program, "" for none.
          ideas: digest to what its author says of it.
        """
        self._matches = matches
        self._game = matches.game
        self._task = task
        self._first = first
        self._digest = digest
        self._ideas = ideas
        self._retold: dict[tuple[str, str, int], list[Retold]] = {}
        self._ceilings: dict[tuple[str, ...], Ceiling | None] = {}

    def idea(self, source: str) -> str:
        """See `Insight`."""
        return self._ideas.get(self._digest(source), "")

    def traces(self, source: str, score: Score) -> tuple[Trace, ...]:
        """See `Insight`."""
        weight = {one.digest: one.weight for one in self._task.opponents}
        met = [one for one in score.against if one.matches and one.digest in weight]
        heaviest = sorted(met, key=lambda one: -weight[one.digest])[:MOST_TRACED]
        return tuple(self._trace(self._digest(source), one) for one in heaviest)

    def ceiling(self, tried: Sequence[tuple[str, Score]]) -> Ceiling | None:
        """See `Insight`."""
        if self._task.hidden:
            return None  # a score is not from the mixture alone
        found = [self._ceiling(one.digest, tried) for one in self._task.opponents]
        known = [one for one in found if one is not None]
        if len(known) < len(found):
            return None
        weights = np.array([one.weight for one in self._task.opponents])
        weights /= weights.sum()
        whole = Ceiling(
            float(weights @ [one.value for one in known]),
            float(np.sqrt(np.square(weights * [one.stderr for one in known]).sum())),
            all(one.exact for one in known),
            sum(one.decisions for one in known),
        )
        return whole if whole.exact or not _refuted(whole, tried) else None

    def _trace(self, digest: str, against: Against) -> Trace:
        views = self._views(digest, against.digest, min(against.matches, MOST_MATCHES))
        return Trace(
            against.digest,
            len(views),
            _gains(views, self._game),
            self._choices(views, against.digest),
            _costliest(views, self._game),
            self._choices(views, digest),
        )

    def _views(self, digest: str, against: str, matches: int) -> list[Retold]:
        key = (digest, against, matches)
        if key not in self._retold:
            arena, first = self._matches.arena, self._first(digest, against)
            self._retold[key] = retold(arena, self._game, digest, against, first, first + matches)
        return self._retold[key]

    def _choices(self, views: Sequence[Retold], digest: str) -> tuple[tuple[str, str], ...]:
        """What one of the two did, by situation, those that it was in most often first.

        That is what it wanted: every legal action is played, and any other forfeits the match.
        """
        seen: dict[str, Counter[int]] = {}
        for view in views:
            for one in view.stored.decisions(digest):
                seen.setdefault(one.situation, Counter())[one.action] += 1
        often = sorted(seen, key=lambda situation: (-seen[situation].total(), situation))
        return tuple((one, self._shares(seen[one])) for one in often[:MOST_CHOICES])

    def _shares(self, counts: Counter[int]) -> str:
        total = counts.total()
        return ", ".join(
            f"{self._game.actions[action]} {count / total:.0%}"
            for action, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        )

    def _ceiling(self, opponent: str, tried: Sequence[tuple[str, Score]]) -> Ceiling | None:
        game, stationary = self._game, self._game.stationary
        version = self._matches.arena.versions([opponent])[opponent]
        if game.states is not None and version.kind == _TABULAR:
            return _exact(game, version)
        if stationary is None:
            return None
        if any(
            one.digest == opponent and one.forfeited for _, score in tried for one in score.against
        ):
            return None  # what it chooses says nothing of what its forfeits give away
        views = self._met(opponent, tried)
        key = (opponent, *(view.stored.result.match.id for view in views))
        if key not in self._ceilings:
            decisions: list[Sequence[Decision]] = [
                view.stored.decisions(opponent) for view in views
            ]
            self._ceilings[key] = ceiling_of(stationary, decisions, len(game.actions))
        return self._ceilings[key]

    def _met(self, opponent: str, tried: Sequence[tuple[str, Score]]) -> list[Retold]:
        """Matches of an opponent with the programs that were tried, the first ones first."""
        found: list[Retold] = []
        for source, score in tried:
            for one in score.against:
                room = min(one.matches, MOST_MATCHES, CEILING_MATCHES - len(found))
                if one.digest == opponent and room > 0:
                    found += self._views(self._digest(source), opponent, room)
        return found


def _exact(game: Game, version: PolicyVersion) -> Ceiling:
    assert game.states is not None
    value = best_response_value(game.states, states_of(game.states, version.payload))
    return Ceiling(value, 0.0, exact=True, decisions=0)


def _refuted(ceiling: Ceiling, tried: Sequence[tuple[str, Score]]) -> bool:
    """Whether a program surely returned more: then its opponents do remember."""
    return any(
        score.u - ceiling.value > _REFUTED * math.hypot(score.stderr, ceiling.stderr)
        for _, score in tried
        if not math.isnan(score.stderr)
    )


def _gains(views: Sequence[Retold], game: Game) -> tuple[tuple[str, tuple[Gain, ...]], ...]:
    """What was gained by situation: those of every game, then the game's own."""
    if not views:
        return ()
    whole = summed([view.gains for view in views], game.length)
    quarters = tuple(
        Gain(f"{number}.", 1.0 / len(whole.quarters), mean)
        for number, mean in enumerate(whole.quarters, 1)
    )
    steps = np.concatenate([np.sign(view.gains[:-1]) for view in views])
    total = sum(len(view.gains) for view in views) or 1
    begun = sum(len(view.gains) > 0 for view in views)
    after = (  # with the first of a match, which follows nothing: so they add up to the return
        Gain("a win", float((steps > 0).sum()) / total, whole.after_won),
        Gain("a draw", float((steps == 0).sum()) / total, whole.after_drawn),
        Gain("a loss", float((steps < 0).sum()) / total, whole.after_lost),
        Gain("the start", begun / total, whole.at_first),
    )
    return (
        ("by quarter of a match", quarters),
        (f"in the {game.step} after", after),
        *_by_forfeits(views),
        *((f"by {kind}", gains) for kind, gains in kinds_of(views, game)),
    )


def _by_forfeits(views: Sequence[Retold]) -> tuple[tuple[str, tuple[Gain, ...]], ...]:
    """What the opponent's forfeits were worth; nothing where there were none."""
    count = sum(view.forfeited for view in views)
    if not count:
        return ()
    worth = sum(view.by_forfeit for view in views) / len(views)
    label = f"{count} of the {len(views)} matches, which the opponent forfeited"
    return (("beside that, from", (Gain(label, count / len(views), worth),)),)


def _costliest(views: Sequence[Retold], game: Game) -> tuple[str, ...]:
    """The single hands that cost most; nothing where one throw tells nothing by itself."""
    if game.telling.window > 1:
        return ()
    lost = [
        (gain, number, event, view.seat)
        for number, view in enumerate(views)
        for event, gain in zip(view.stored.account.events, view.gains.tolist(), strict=False)
        if gain < 0
    ]
    lost.sort(key=lambda one: (one[0], one[1]))
    return tuple(_line(event, seat, game) for _, _, event, seat in lost[:MOST_COSTLY])


def _line(event: Event, seat: int, game: Game) -> str:
    row = game.telling.row(event)
    place = {game.step.capitalize(), "So far"}  # where in the match it was
    said = ", ".join(
        f"{name} {value}" for name, value in row.items() if value != "" and name not in place
    )
    return f"you in seat {seat}: {said}"
