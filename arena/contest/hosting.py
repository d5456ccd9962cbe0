"""What an operator does that plays: announcing a tournament, its final, and its certificate."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from arena.contest.final import begun
from arena.contest.hidden import Check, take_in
from arena.contest.issuing import issue
from arena.games.protocol import Game
from arena.office import Office, zoned
from arena.roster import game_of
from arena.runner import Runner
from arena.tally import PlayReport, Progress, Request, silent
from registry.errors import TournamentConflict
from registry.tournaments import Tournament


class Hosting(Office):
    """All of `arena.seam.Operations`.  As its arena, not for several threads at once.

    Args:
      runner: an arena's; plays.
      check: the arena's, of policies that are hidden.
    """

    def __init__(self, runner: Runner, check: Check) -> None:
        super().__init__(runner.home)
        self._runner, self._check = runner, check

    def announce(
        self,
        name: str,
        game: Game | str,
        opens: datetime | None,
        closes: datetime,
        *,
        entries: int = 1,
        matches: int = 32,
        hidden: Sequence[str] = (),
        secret: Sequence[tuple[str, str | bytes]] = (),
    ) -> Tournament:
        """Announces a tournament; see `registry.tournaments.Tournament`.

        Args:
          name: one word.
          game: which game.
          opens: from when on entries count; None for now, by this machine's clock.
          closes: from when on they count no more.
          entries: how many policies of one author take part.
          matches: of each pair in the final; even.
          hidden: references of the hidden evaluation population.
          secret: more of it, by a name and the source or the weights: it is checked, and kept
            where no list shows it.

        Raises:
          UsageFault: one of them is not taken, or a moment has no zone.
          UnknownPolicy, AmbiguousRef, MalformedName: a reference means none, or several.
          TournamentConflict: nobody could enter it any more, authors could help themselves, or see
            `registry.tournaments.Tournaments.announce`.
        """
        now, begins = datetime.now(UTC), zoned(opens)
        zoned(closes)
        if closes <= now:
            raise TournamentConflict(
                f"the tournament {name!r} would be over already: it is {now:%Y-%m-%d %H:%M} (UTC)"
            )
        if entries > 1 and not (hidden or secret):
            raise TournamentConflict(
                f"{entries} entries of an author need a hidden population: without one entrants "
                "are measured against each other, and an author's one could lose to the other"
            )
        played, registry = game_of(game), self.home.registry
        opens = begins or now
        # Before secrets are registered, which nothing takes back.
        registry.check_announcement(name, opens, closes, entries=entries, matches=matches)
        found = take_in(self.home, self._check, played, name, hidden, secret)
        return registry.announce(
            name, played.name, opens, closes, entries=entries, matches=matches, hidden=found
        )

    def final(self, name: str, *, progress: Progress = silent) -> PlayReport:
        """Freezes a tournament that is over, and plays what is missing of its final.

        Killed at any moment, it goes on when it is called again.

        Raises:
          UnknownTournament, TournamentConflict, UsageFault: see `arena.contest.final.begun`.
        """
        final, game, wanted = begun(self.home, name, datetime.now(UTC))
        with self._runner.for_home(final) as runner:
            return runner.play(Request(game, wanted, progress=progress))

    def certify(self, name: str) -> dict[str, Any]:
        """Issues the certificate of a final that was played, and returns it with all sources.

        It publishes the key of the final; see `arena.contest.issuing`.

        Raises:
          UnknownTournament, TournamentConflict, UsageFault: there is none to be had.
        """
        return issue(self.home, name)
