"""What a home holds: who takes part, and what came of their matches.  Plays and changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from arena.analysis.rankings import RankBy
from arena.conduct import Conduct, conduct_of
from arena.errors import UsageFault
from arena.games.protocol import Game
from arena.house.population import population_of
from arena.listings import Matches
from arena.payoffs import PayoffTable
from arena.replay import Stored, stored_match
from arena.roster import Roster, game_of
from arena.standings import Leaderboard, exact_payoffs, payoff_table, standings
from arena.tables import export_tables
from arena.tally import Pair
from registry.values import Status

_MOST = 1 << 31
"""No home holds that many matches, and the store counts repetitions below it."""


class Record(Roster):
    """The reading half of `arena.Arena`.

    Args:
      home: what is read.
    """

    def payoffs(self, game: Game | str, digests: Sequence[str] | None = None) -> PayoffTable:
        """Payoffs from everything that is stored; of all qualified policies unless named."""
        game = game_of(game)
        if digests is None:
            digests = [version.digest for version in self.policies(game, status=Status.QUALIFIED)]
        return payoff_table(self.home, game, digests).named(self.refs(digests))

    def exact_payoffs(
        self,
        game: Game | str,
        digests: Sequence[str],
        wanted: Mapping[Pair, int],
        *,
        first: int = 0,
    ) -> PayoffTable:
        """Payoffs from so many repetitions of some pairs, whatever else is stored.

        Raw: a mixture has what it played under its own name here, and nothing from its members.

        Args:
          game: which game.
          digests: the policies, in the order of the table.
          wanted: numbers of matches of the pairs that count.
          first: repetition that they are counted from: 0, or one from `arena.values.SELECTING` on.

        Raises:
          UsageFault: a number is negative, or beyond what a store can hold.
        """
        if not (0 <= first < _MOST and all(0 <= n < _MOST - first for n in wanted.values())):
            raise UsageFault(f"from repetition {first} on, so many matches cannot be counted")
        return exact_payoffs(self.home, game_of(game), digests, wanted, first)

    def leaderboard(
        self,
        game: Game | str,
        *,
        by: str = RankBy.AGG_SCORE.value,
        against: str | None = None,
        more: bool = False,
    ) -> Leaderboard:
        """All qualified policies, best first.

        Args:
          game: which game.
          by: one of `arena.analysis.leaderboard.RANKINGS`.
          against: name of the evaluation population; the game's own where none is named.
          more: whether to compute Bradley-Terry, Nash mass and alpha-rank.
        """
        game = game_of(game)
        return standings(self.home, game, population_of(game.name, against), by=by, more=more)

    def matches(
        self,
        game: Game | str,
        ref: str | None = None,
        *,
        against: str | None = None,
        faults_only: bool = False,
        selecting: bool = True,
        limit: int | None = 20,
    ) -> Matches:
        """Stored matches, newest first, without their moves.

        Args:
          game: which game.
          ref: only matches of this policy.
          against: only matches against this one.
          faults_only: only forfeits.
          selecting: also those that chose among candidates, which no score is made from.
          limit: how many at most.

        Raises:
          UsageFault: the limit is negative, or beyond what a store can hold.
        """
        if limit is not None and not 0 <= limit < _MOST:
            raise UsageFault(f"{limit} matches cannot be listed")
        game = game_of(game)
        rows = self.home.store.matches(
            game.name,
            game.version,
            of=self.policy(ref, game).digest if ref else None,
            against=self.policy(against, game).digest if against else None,
            faults_only=faults_only,
            selecting=selecting,
            newest_first=True,
            limit=limit,
        )
        return Matches(rows, self.refs({digest for row in rows for digest in row.seats}))

    def conduct(self, ref: str, game: Game | str) -> Conduct:
        """How a policy's matches were played, and what audits found."""
        game = game_of(game)
        return conduct_of(self.home, self.policy(ref, game), game.version)

    def match(self, match_id: str) -> Stored:
        """A stored match, retold by the engine; the beginning of its id is enough.

        Raises:
          UsageFault: none, or several, begin like that.
        """
        return stored_match(self.home, match_id)

    def export(self, folder: Path | str, *, moves: bool = False) -> tuple[Path, ...]:
        """Writes matches, pair statistics and policies as Parquet files for other tools.

        Args:
          folder: on the caller's machine; made where it is not there.
          moves: whether to write every match's moves, too; without, a `moves.parquet` that an
            earlier export left in the folder is removed.

        Raises:
          StoreError: they cannot be written.
        """
        return export_tables(self.home, Path(folder), moves=moves)

    def _entrant(self, game: Game, ref: str) -> str:
        """Digest of a policy that may take part.

        Raises:
          UsageFault: it is withdrawn, quarantined or no entrant.
        """
        version = self.policy(ref, game)
        if version.status is not Status.QUALIFIED:
            why = f" ({version.status_reason})" if version.status_reason else ""
            raise UsageFault(
                f"{version.ref} is {version.status.value}{why}: it takes part in nothing"
            )
        return version.digest
