"""The match store's public face."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from arena.errors import UnknownGame
from arena.games import game as game_of_name
from arena.games.protocol import Game
from arena.pair_sums import PairScores
from arena.store import append as appending
from arena.store import audits as auditing
from arena.store import exact, queries, rows
from arena.store import export as exporting
from arena.store import meetings as meeting
from arena.store import sums as summing
from arena.store.catalog import Connection
from arena.store.database import Database
from arena.store.kept import KeptPairs
from arena.store.values import (
    Audit,
    AuditCount,
    Costs,
    GameCount,
    MatchRow,
    Sharing,
    StoredRepetitions,
    Verdict,
)
from arena.values import SELECTING, Match, Result

TIMEOUT_SECONDS = 60.0


class MatchStore:
    """Every match ever played at a home, and sums over them for each pair.

    The object holds no file open: each method opens it, under a lock that readers share and
    a writer has alone, and closes it again.  It may be used from many processes and threads.  All
    methods raise `StoreError` where the file cannot be used.
    """

    def __init__(
        self,
        path: Path,
        *,
        timeout: float = TIMEOUT_SECONDS,
        game_named: Callable[[str], Game] = game_of_name,
    ) -> None:
        """Nothing is touched yet; the first access creates the file where there is none.

        Args:
          path: of the DuckDB file.
          timeout: seconds that an access waits for others.
          game_named: finds the game that can unpack a match's moves.
        """
        self.path = path
        self._database = Database(path, timeout)
        self._pairs = KeptPairs()
        self._game_named = game_named

    def reading(self) -> AbstractContextManager[Connection]:
        """A read-only DuckDB connection for questions of your own, sealed as all; keep it short."""
        return self._database.reading(kept=False)

    def writing(self) -> AbstractContextManager[Connection]:
        """The only connection, in one transaction; nobody else reads or writes meanwhile."""
        return self._database.writing(kept=False)

    def append(self, game: Game, results: Iterable[Result]) -> int:
        """Stores results in one transaction; matches that are stored already are ignored.

        When it returns, the results survive the death of the process.

        Args:
          game: what all of them were played at.
          results: of any pairs and repetitions, in any order.

        Returns:
          How many were new.

        Raises:
          ValueError: a result is not of this game and version, or its returns do not add up to 0.
          StoreError: nothing was stored.
        """
        incoming = appending.incoming_table(game, results)
        if not incoming.num_rows:
            return 0
        with self._database.writing() as connection:
            return appending.append(connection, game, incoming)

    def get(self, match_id: str) -> Result | None:
        """The result of a match, with its moves unpacked; None where it is not stored.

        Args:
          match_id: all 32 digits.

        Raises:
          ValueError: it is not an id, or the match was played by rules of another version.
          UnknownGame: it was played at a game that this installation does not have.
          StoreCorrupt: what is stored makes no sense.
        """
        _check_digits(match_id, exactly=True)
        with self._database.reading() as connection:
            packed = queries.get(connection, match_id)
        if packed is None:
            return None
        match = packed.match
        moves = self._unpacked(match_id, match.game, match.game_version, packed.moves)
        return replace(packed, moves=moves)

    def find(self, prefix: str, limit: int = 20) -> list[Match]:
        """Stored matches whose id begins with some hexadecimal digits, in id order.

        Raises:
          ValueError: `prefix` has other characters than hexadecimal digits, or too many.
        """
        _check_digits(prefix, exactly=False)
        with self._database.reading() as connection:
            return queries.find(connection, prefix.lower(), limit)

    def find_ids(self, prefix: str) -> list[str]:
        """The ids of `find`."""
        return [match.id for match in self.find(prefix)]

    def matches(
        self,
        game: str,
        version: int,
        *,
        of: str | None = None,
        against: str | None = None,
        faults_only: bool = False,
        selecting: bool = True,
        newest_first: bool = False,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[MatchRow]:
        """Stored matches without their moves, in the order in which they were stored.

        Args:
          game: name of the game.
          version: of its rules.
          of: only matches of this policy.
          against: only matches against this policy.
          faults_only: only forfeits.
          selecting: also those that chose among candidates, which count in nothing that people
            read (`arena.values.SELECTING`).
          newest_first: the last stored first.
          limit: how many at most.
          offset: how many to leave out first.

        Raises:
          StoreCorrupt: a row is not what its id says, or makes no sense; the message names it.
        """
        with self._database.reading() as connection:
            return queries.matches(
                connection,
                game,
                version,
                of=of,
                against=against,
                faults_only=faults_only,
                selecting=selecting,
                newest_first=newest_first,
                limit=limit,
                offset=offset,
            )

    def meetings(self, game: Game, pair: tuple[str, str]) -> list[Result]:
        """The matches of a pair that count, with their moves, by repetition.

        Raises:
          StoreCorrupt: a row makes no sense.
        """
        with self._database.reading() as connection:
            packed = meeting.meetings(connection, game.name, game.version, pair)
        return [
            replace(one, moves=self._unpacked(one.match.id, game.name, game.version, one.moves))
            for one in packed
        ]

    def pair_stats(
        self, game: str, version: int, *, among: Collection[str] | None = None
    ) -> pa.Table:
        """Sums over the stored matches of each pair of policies, in each half of its deals.

        Matches that chose among candidates (`arena.values.SELECTING`) do not count.  Cost grows
        with the number of pairs, not of matches.  Halves are deals of even and of odd number
        (repetitions, where the game has no deals), for cross-fitting.

        Args:
          game: name of the game.
          version: of its rules.
          among: only pairs of these digests.

        Returns:
          One row for each pair and half that has matches, in no order: `low`, `high` (digests,
          dictionary-encoded), `half` (0 or 1), `matches`, `total` and `total_squares` (of the
          return to low), `wins`, `draws`, `losses` (as low sees them), `forfeits_low`,
          `forfeits_high`, `seconds`; and for a cluster-robust error, with s_d the sum of returns
          to low over the m_d matches of deal d: `deals` (their number), `deal_squares` (sum of
          s_d^2), `deal_cross` (of s_d m_d) and `deal_sizes` (of m_d^2).  Returns are in the
          game's unit.
        """
        with self._database.reading() as connection:
            return summing.pair_stats(connection, game, version, self._span(game), among)

    def pair_scores(self, game: str, version: int) -> PairScores:
        """What payoffs take of `pair_stats`, of all pairs; kept, and only brought up to date."""
        with self._database.reading() as connection:
            return self._pairs.scores(connection, game, version, self._span(game))

    def exact_pair_stats(
        self, game: Game, wanted: Mapping[tuple[str, str], int], first: int = 0
    ) -> pa.Table:
        """The same sums over exactly the wanted matches, as far as they are stored.

        Args:
          game: what was played.
          wanted: pairs of digests, in either order, to numbers of matches.
          first: the repetition that they begin with; n matches are first .. first + n - 1.

        Returns:
          As `pair_stats`, without `total_squares` and `seconds`.
        """
        span = 2 if game.has_deals else 1
        with self._database.reading() as connection:
            return exact.exact_pair_stats(connection, game.name, game.version, span, wanted, first)

    def _span(self, game: str) -> int:
        """Matches of a deal; of a game that this installation does not have, as most have it."""
        try:
            return 2 if self._game_named(game).has_deals else 1
        except UnknownGame:
            return 2

    def returns_in_id_order(
        self, game: str, version: int, max_repetition: int | None = None, share: float = 1.0
    ) -> pa.Table:
        """Every return that counts, by match ids: no order of play can influence a rating.

        Args:
          game: name of the game.
          version: of its rules.
          max_repetition: only repetitions up to this one, inclusive; by default all but those that
            chose among candidates (`arena.values.SELECTING`).
          share: only the first of all ids that there can be, and so about of the matches.

        Returns:
          Columns `low`, `high` (digests, dictionary-encoded) and `return_low`.
        """
        last = SELECTING - 1 if max_repetition is None else max_repetition
        with self._database.reading() as connection:
            listed = self._pairs.listed(connection, game, version)
            return summing.returns_in_id_order(connection, listed, last, share)

    def repetitions(
        self, game: str, version: int, digests: Collection[str], count: int, first: int = 0
    ) -> StoredRepetitions:
        """Which of so many repetitions, from `first` on, are stored for pairs of policies."""
        with self._database.reading() as connection:
            return queries.repetitions(connection, game, version, digests, count, first)

    def counts(self) -> tuple[GameCount, ...]:
        """How much is stored, for each game and version."""
        with self._database.reading() as connection:
            return queries.counts(connection)

    def fingerprint(self, game: str, version: int) -> str:
        """A key for caches: it changes exactly when a match is stored; no two stores share it."""
        with self._database.reading() as connection:
            return queries.fingerprint(connection, game, version)

    def sharing(self, game: str, version: int) -> dict[str, Sharing]:
        """Of each policy that played: how its matches were isolated, and how many were done over.

        Cost grows with the number of pairs, not of matches.
        """
        with self._database.reading() as connection:
            return queries.sharing(connection, game, version)

    def trends(self, game: str, version: int, slices: int) -> dict[str, tuple[float, ...]]:
        """Of each policy: its mean return after each slice of the stored matches, in their order.

        Slices in which it had not played yet are left out, so that there may be fewer.
        """
        with self._database.reading() as connection:
            return queries.trends(connection, game, version, slices)

    def costs(self, game: str, version: int, digest: str) -> Costs:
        """What the matches of a policy took."""
        with self._database.reading() as connection:
            return queries.costs(connection, game, version, digest)

    def record_audits(self, audits: Sequence[Audit]) -> int:
        """Stores audits in one transaction.

        An audit is known by its match and its time: recording it again changes nothing.

        Returns:
          How many were new.

        Raises:
          ValueError: an audit is of a match that is not stored, or contradicts itself.
          StoreError: nothing was stored.
        """
        incoming = auditing.incoming_table(audits)
        if not incoming.num_rows:
            return 0
        with self._database.writing() as connection:
            return auditing.record(connection, incoming)

    def audits(
        self,
        *,
        game: str | None = None,
        of: str | None = None,
        verdicts: Collection[Verdict] | None = None,
        limit: int | None = None,
    ) -> list[Audit]:
        """Recorded audits, the last recorded first.

        Args:
          game: only of this game.
          of: only of matches of this policy, whether it is the suspect or not.
          verdicts: only these.
          limit: how many at most.
        """
        with self._database.reading() as connection:
            return auditing.audits(connection, game=game, of=of, verdicts=verdicts, limit=limit)

    def audit_counts(self, game: str, version: int) -> dict[str, AuditCount]:
        """What the audits of each policy came to; a policy that was never audited is not listed."""
        with self._database.reading() as connection:
            return auditing.audit_counts(connection, game, version)

    def unaudited(
        self, game: str, version: int, limit: int, *, sandboxed_only: bool = False
    ) -> list[MatchRow]:
        """The newest matches of which no audit is recorded, the last stored first.

        Args:
          game: name of the game.
          version: of its rules.
          limit: how many at most.
          sandboxed_only: only matches that were played behind a sandbox's wall.
        """
        with self._database.reading() as connection:
            return auditing.unaudited(
                connection, game, version, sandboxed_only=sandboxed_only, limit=limit
            )

    def export(self, folder: Path, *, moves: bool = False) -> tuple[Path, ...]:
        """Writes `matches.parquet` (without moves) and `pairs.parquet` into a folder.

        The first has all matches, the second sums of those that count, as `pair_stats` has them.
        With `moves`, `moves.parquet` has all moves; without, that of an earlier export is removed.

        The folder is made where it is missing; files of those names are replaced, each at once.
        Writers wait until it is done.

        Returns:
          The files.
        """
        with self._database.reading() as connection:
            return exporting.export(
                connection, folder, self._span, self._unpacked if moves else None
            )

    def copied(self, target: Path) -> tuple[Path, ...]:
        """Copies the store's file and its logs, while nobody writes; returns the copies."""
        return self._database.copied(target)

    def _unpacked(self, match_id: str, game: str, version: int, packed: bytes) -> bytes:
        played = self._game_named(game)
        if played.version != version:
            raise ValueError(
                f"match {match_id} was played by version {version} of the rules of {game}; this "
                f"installation has version {played.version} and cannot tell it"
            )
        try:
            return played.unpack(bytes(packed))
        except ValueError as error:
            raise rows.senseless(match_id, str(error)) from error


def _check_digits(digits: str, *, exactly: bool) -> None:
    length_fits = len(digits) == queries.ID_DIGITS if exactly else len(digits) <= queries.ID_DIGITS
    if not length_fits or set(digits.lower()) - set("0123456789abcdef"):
        raise ValueError(
            f"{digits!r} is not {'a match id' if exactly else 'the beginning of a match id'}: "
            f"ids have {queries.ID_DIGITS} hexadecimal digits"
        )
