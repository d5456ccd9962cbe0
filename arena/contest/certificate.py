"""A certificate of a final: everything that somebody needs to check it without trusting anybody.

It holds facts (who took part, the key, what came of each match) and what follows from them (ids,
seeds, the table, the summary).  `compose` writes the second from the first, and whoever checks a
certificate composes it again (`arena.contest.verification`).
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from arena.contest.likeness import alike
from arena.contest.merkle import root_of
from arena.contest.table import author_summary, final_table
from arena.contest.values import FORMAT, Line, Taking, line_text
from arena.games.protocol import Game
from arena.seeds import Seeds
from arena.values import Match
from registry.tournaments import Entry
from registry.values import Season


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a match, without what follows from the match itself.

    Attributes:
      low, high: digests of the policies.
      repetition: from 0.
      returns: of seats 0 and 1.
      termination: why it ended.
      fault_seat: who forfeited.
      moves: digest of all moves.
    """

    low: str
    high: str
    repetition: int
    returns: tuple[float, float]
    termination: str
    fault_seat: int | None
    moves: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What a certificate says that does not follow from the rest of it.

    Attributes:
      software: name to version of what played.
      game: name of the game.
      game_version: of its rules.
      name: of the tournament.
      opens, closes, frozen: its moments.
      entries: how many policies of one author take part.
      matches: of each pair.
      season: number of the season of the final.
      commitment: to its key, as it was published.
      key: of that season.
      entered: the entries that were frozen, without those that were disqualified.
      entrants: their policies, by digest.
      hidden: the hidden population, by digest.
      disqualified: reference and reason of who was quarantined in the final.
      outcomes: of all matches, by pair and repetition.
      alike: near-duplicates, where they cannot be found anew; see `compose`.
    """

    software: Mapping[str, str]
    game: str
    game_version: int
    name: str
    opens: datetime
    closes: datetime
    frozen: datetime
    entries: int
    matches: int
    season: int
    commitment: str
    key: bytes = field(repr=False)
    entered: tuple[Entry, ...]
    entrants: tuple[Taking, ...]
    hidden: tuple[Taking, ...]
    disqualified: tuple[tuple[str, str], ...]
    outcomes: tuple[Outcome, ...]
    alike: tuple[Mapping[str, Any], ...] = ()


def compose(facts: Facts, game: Game) -> dict[str, Any]:
    """The certificate, as JSON has it.

    Near-duplicates are looked for where the sources of all entrants are there; else they are as
    the facts have them.

    Args:
      facts: with the sources that the certificate shall hold.
      game: that was played.
    """
    lines = lines_of(facts)
    written = [dict(line_text(line)) for line in lines]
    table = final_table(game, facts.entrants, facts.hidden, lines)
    document: dict[str, Any] = {
        "format": FORMAT,
        "software": dict(facts.software),
        "game": {"name": facts.game, "version": facts.game_version},
        "tournament": {
            "name": facts.name,
            "opens": _moment(facts.opens),
            "closes": _moment(facts.closes),
            "frozen": _moment(facts.frozen),
            "entries": facts.entries,
            "matches": facts.matches,
        },
        "season": {
            "number": facts.season,
            "commitment": facts.commitment,
            "key": facts.key.hex(),
        },
        "entries": [
            {
                "author": one.author,
                "ref": one.ref,
                "digest": one.digest,
                "created": _moment(one.created),
            }
            for one in facts.entered
        ],
        "entrants": [_taking(one) for one in facts.entrants],
        "hidden": [_taking(one) for one in facts.hidden],
        "disqualified": [{"ref": ref, "reason": reason} for ref, reason in facts.disqualified],
        "matches": written,
        "root": root_of([canonical(line) for line in written]),
        "table": [dict(row) for row in table],
        "authors": [dict(row) for row in author_summary(facts.entered, table)],
        "alike": [dict(row) for row in near_duplicates(facts, game)],
    }
    return {**document, "digest": digest_of_document(document)}


def near_duplicates(facts: Facts, game: Game) -> tuple[Mapping[str, Any], ...]:
    """Programs that are nearly the same; see `compose`."""
    return alike(facts.entrants, game.starter.source) if can_compare(facts) else facts.alike


def can_compare(facts: Facts) -> bool:
    """Whether the sources of all entrants are there, so that near-duplicates can be found."""
    return all(one.source is not None for one in facts.entrants)


def lines_of(facts: Facts) -> tuple[Line, ...]:
    """Every match with its identity and its seeds."""
    seeds = Seeds(
        Season(facts.season, facts.commitment, facts.closes, facts.frozen, False, facts.key)
    )
    return tuple(_line(facts, seeds, one) for one in facts.outcomes)


def digest_of_document(document: Mapping[str, Any]) -> str:
    """The digest of a certificate, 64 hexadecimal digits.

    Of all but itself and the sources, which the policies' digests stand for: so a certificate has
    one digest, with sources and without.
    """
    bare = without_sources(document)
    bare.pop("digest", None)
    return hashlib.blake2b(canonical(bare), digest_size=32).hexdigest()


def without_sources(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same certificate for those who shall not read the policies."""
    bare = {
        part: [{k: v for k, v in one.items() if k != "source"} for one in document[part]]
        for part in ("entrants", "hidden")
    }
    return {**document, **bare}


def canonical(value: Any) -> bytes:
    """A value of JSON, written in one way: keys sorted, no blanks, UTF-8."""
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode(errors="surrogatepass")


def takings_of(entered: Sequence[Entry], known: Mapping[str, Taking]) -> tuple[Taking, ...]:
    """The policies of some entries by digest, each under all names that it was entered with.

    Args:
      entered: entries.
      known: policies by digest, whatever their names.
    """
    names: defaultdict[str, list[str]] = defaultdict(list)
    for one in sorted(entered, key=lambda entry: (entry.created, entry.ref)):
        names[one.digest].append(one.ref)
    return tuple(
        Taking(digest, one.kind, tuple(names[digest]), one.code_digest, one.source)
        for digest, one in ((digest, known[digest]) for digest in sorted(names))
    )


def _line(facts: Facts, seeds: Seeds, one: Outcome) -> Line:
    match = Match(facts.game, facts.game_version, one.low, one.high, one.repetition)
    drawn = seeds.of(match)
    return Line(
        match,
        drawn.deal,
        drawn.seats,
        one.returns,
        one.termination,
        one.fault_seat,
        one.moves,
    )


def _taking(one: Taking) -> dict[str, Any]:
    told: dict[str, Any] = {
        "digest": one.digest,
        "kind": one.kind,
        "names": list(one.names),
        "code_digest": one.code_digest,
    }
    return told if one.source is None else {**told, "source": one.source}


def _moment(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
