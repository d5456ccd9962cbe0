"""What was read of all pairs of a game, kept in the process and brought up to date.

Thousands of policies are millions of pairs, and one more match changes one of them.  Matches are
only ever added, each behind those before it, and with them the sums of their pairs (see `append`).
So as long as the last match that was there is in its place, stored at the same time, whatever was
read before holds, but for the pairs of the matches behind it.  A store that was exchanged for
another, or for an older copy of itself, has another match in that place, or none, and is read
anew.

One value of each game and version is kept, of the newest state that was asked for.  What is handed
out is never changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from arena.pair_sums import PairScores
from arena.store.catalog import Connection
from arena.store.sums import Listed, pair_scores, scores_since

_Key = tuple[str, int]
"""Name of a game and version of its rules."""


@dataclass(frozen=True, slots=True)
class _State:
    """What a store held.

    Attributes:
      token: of the store.
      pairs: how many, of all games.
      matches: how many, of all games.
      last: id and time of the last one; None where there is none.
    """

    token: str
    pairs: int
    matches: int
    last: tuple[Any, ...] | None

    @classmethod
    def of(cls, connection: Connection) -> _State:
        ((token, pairs, matches),) = connection.execute(
            """
            select token, (select count(*) from pairs), (select count(*) from matches) from store
            """
        ).fetchall()
        return cls(token, pairs, matches, _match_at(connection, matches - 1))

    def held_by(self, now: _State, connection: Connection) -> bool:
        """Whether the store as it is now holds all that it held then, in the same places."""
        if self == now:
            return True
        if self.token != now.token or self.matches > now.matches:
            return False
        return self.last == _match_at(connection, self.matches - 1)


def _match_at(connection: Connection, place: int) -> tuple[Any, ...] | None:
    """Id and time of the match that was stored in a place, the first in 0."""
    query = "select id, played_at::varchar from matches where rowid = ?"
    found: list[tuple[Any, ...]] = connection.execute(query, [place]).fetchall()
    return found[0] if found else None


class KeptPairs:
    """The pairs of each game at one store; may be used from many threads.

    Of two that ask at once both may read, and what the last one read is kept.
    """

    def __init__(self) -> None:
        self._listed: dict[_Key, tuple[_State, Listed]] = {}
        self._scores: dict[_Key, tuple[_State, Listed, PairScores]] = {}

    def listed(self, connection: Connection, game: str, version: int) -> Listed:
        """The pairs of a game."""
        return self._listed_as_of(_State.of(connection), connection, (game, version))

    def scores(self, connection: Connection, game: str, version: int, span: int) -> PairScores:
        """What they got; `span` is the number of matches of a deal."""
        key, now = (game, version), _State.of(connection)
        kept = self._scores.get(key)
        if kept is not None and kept[0] == now:
            return kept[2]
        listed = self._listed_as_of(now, connection, key)
        if kept is not None and kept[0].held_by(now, connection) and listed.begins_with(kept[1]):
            scores = scores_since(connection, listed, span, kept[2], kept[0].matches)
        else:
            kept = None  # there may be no room for both
            self._scores.pop(key, None)
            scores = pair_scores(connection, listed, span)
        self._scores[key] = (now, listed, scores)
        return scores

    def _listed_as_of(self, now: _State, connection: Connection, key: _Key) -> Listed:
        kept = self._listed.get(key)
        if kept is not None and kept[0].pairs == now.pairs and kept[0].held_by(now, connection):
            listed = kept[1]
        else:
            listed = Listed(connection, *key)
        self._listed[key] = (now, listed)
        return listed
