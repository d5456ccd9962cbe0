"""Which policies take part in a tournament's final.  No clock and no database here."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from arena.kinds.neural import KIND as NEURAL
from arena.submission import KIND as PYTHON
from registry.naming import RESERVED_AUTHORS, skeleton
from registry.tournaments import Entry, Tournament
from registry.values import PolicyVersion, Status

KINDS = (PYTHON, NEURAL, "tabular")
"""Kinds that can take part: what plays by itself, the same whenever it is played again."""
_OURS = frozenset(map(skeleton, RESERVED_AUTHORS))


class Phase(enum.StrEnum):
    """Where a tournament is."""

    ANNOUNCED = "announced"
    """Entries do not count yet."""
    OPEN = "open"
    CLOSED = "closed"
    """No entry counts any more, and the final has not begun."""
    FINAL = "final"
    """Its entrants are frozen."""
    CERTIFIED = "certified"


def phase_of(tournament: Tournament, now: datetime) -> Phase:
    """Where a tournament is at a moment."""
    if tournament.certificate:
        return Phase.CERTIFIED
    if tournament.frozen is not None:
        return Phase.FINAL
    if now < tournament.opens:
        return Phase.ANNOUNCED
    return Phase.OPEN if now < tournament.closes else Phase.CLOSED


def entries_of(tournament: Tournament, versions: Iterable[PolicyVersion]) -> tuple[Entry, ...]:
    """The entries that count, by author and time.

    What was handed in from `opens` on and before `closes` counts, under each of its names; of an
    author the last `entries` of them.  What is withdrawn or quarantined does not, nor do the
    arena's own policies and those that cannot be played again alike (`KINDS`).

    Args:
      tournament: whose rules.
      versions: of its game, with all their names.
    """
    by_author: defaultdict[str, list[Entry]] = defaultdict(list)
    for version in versions:
        if version.kind not in KINDS or version.digest in tournament.hidden:
            continue
        for credit in version.credits:
            counts = tournament.opens <= credit.created < tournament.closes
            ours = skeleton(credit.author) in _OURS
            if counts and not ours and credit.status is Status.QUALIFIED:
                entry = Entry(credit.author, credit.ref, version.digest, credit.created)
                by_author[credit.author].append(entry)
    return _lasts(by_author, tournament.entries)


def listed(tournament: Tournament) -> tuple[Entry, ...]:
    """The frozen entries that are shown: of each author the last ones.

    One that is hidden as well is among them until there is a certificate, and takes no part.
    Whoever saw it left out would know who is hidden, and could ask so of any program.
    """
    if tournament.certificate:
        return playing(tournament)
    by_author: defaultdict[str, list[Entry]] = defaultdict(list)
    for one in tournament.entrants:
        by_author[one.author].append(one)
    return _lasts(by_author, tournament.entries)


def playing(tournament: Tournament) -> tuple[Entry, ...]:
    """The frozen entries that take part in the final."""
    return tuple(one for one in tournament.entrants if one.digest not in tournament.hidden)


def pairs_of(entrants: Sequence[str], hidden: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Who meets whom: every two entrants, and each entrant every hidden policy.

    Args:
      entrants: digests.
      hidden: digests of the hidden evaluation population.

    Returns:
      Pairs of two different digests, each in ascending order, each once.
    """
    everybody = sorted(set(entrants))
    met = {(a, b) for i, a in enumerate(everybody) for b in everybody[i + 1 :]}
    met |= {
        (min(one, other), max(one, other)) for one in everybody for other in hidden if one != other
    }
    return tuple(sorted(met))


def _lasts(by_author: Mapping[str, Sequence[Entry]], most: int) -> tuple[Entry, ...]:
    """The last entries of each author."""
    return tuple(
        entry
        for author in sorted(by_author)
        for entry in sorted(by_author[author], key=lambda one: (one.created, one.ref))[-most:]
    )
