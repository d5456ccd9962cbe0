"""What the pages may show of policies and matches, by the rules of `arena.visibility`.

Visitors are strangers: what is hidden is answered for with the very words that are said of what is
not there, and those are made from what everybody can see.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence

import streamlit as st

from arena.games import GAMES
from arena.games.protocol import Game
from arena.store import MatchRow
from arena.visibility import hidden_digests, is_hidden, shows_source
from dashboards import data
from dashboards.charts.lineage import Family
from registry import AmbiguousRef, MalformedName, UnknownPolicy
from registry.credits import best_known
from registry.values import PolicyVersion, Status

RELATIVES = 40
"""How many relatives a lineage shows."""
UNKNOWN = "unknown"
"""Stands for whoever is hidden, where a place cannot stay empty."""
_SUGGESTED = 3
_NOT_SHOWN = {
    Status.YANKED: "It was withdrawn, so its source is not shown.",
    Status.QUARANTINED: "It is in quarantine, so its source is not shown.",
    Status.CANDIDATE: "It does not take part, so its source is not shown.",
}


@st.cache_resource(ttl=data.SECONDS, max_entries=4, show_spinner=False)
def _hidden(path: str) -> frozenset[str]:
    return hidden_digests(data.home().registry)


def hidden() -> frozenset[str]:
    """Digests of the policies that no page tells of."""
    return _hidden(str(data.home().path))


def seen(versions: Iterable[PolicyVersion]) -> tuple[PolicyVersion, ...]:
    """Those of some versions that are known, each under a name that is."""
    secret = hidden()
    best = (best_known(one) if is_hidden(one, secret) else one for one in versions)
    return tuple(one for one in best if not is_hidden(one, secret))


def newest(
    game: Game,
    limit: int,
    of: str | None = None,
    against: str | None = None,
    *,
    faults_only: bool = False,
) -> Sequence[MatchRow]:
    """The newest stored matches, whoever played them; see `MatchStore.matches`."""
    return data.home().store.matches(
        game.name,
        game.version,
        selecting=False,
        of=of,
        against=against,
        faults_only=faults_only,
        newest_first=True,
        limit=limit,
    )


def by_digests(digests: Collection[str]) -> dict[str, PolicyVersion]:
    """The known ones among registered versions.

    Raises:
      UnknownPolicy: one is not registered at all.
    """
    if not digests:
        return {}
    return {one.digest: one for one in seen(data.home().registry.by_digests(digests).values())}


def names(digests: Sequence[str], game: Game) -> dict[str, str]:
    """References of any registered policies, by digest; `UNKNOWN` for those that are hidden."""
    refs = data.field(game).refs
    found = {digest: refs[digest] for digest in digests if digest in refs}
    others = [digest for digest in digests if digest not in found]
    known = {digest: one.ref for digest, one in by_digests(others).items()}
    return found | dict.fromkeys(others, UNKNOWN) | known


def matches(rows: Sequence[MatchRow]) -> list[MatchRow]:
    """Those of some matches in which nobody is hidden."""
    return [row for row in rows if hidden().isdisjoint(row.seats)]


def policy(game: Game, ref: str) -> PolicyVersion:
    """The version that a reference means.

    Raises:
      UnknownPolicy: nothing that is known goes by it.
      MalformedName, AmbiguousRef: as `Registry.get`.
    """
    found = _meant(game.name, ref)
    if found is None:
        raise _unknown(game, ref)
    return found


def why_closed(version: PolicyVersion) -> str:
    """Why a version's content is not shown; "" where it is."""
    return "" if shows_source(version) else _NOT_SHOWN[version.status]


def family(digest: str) -> Family:
    """The known ones of a known version's ancestors and descendants, the nearest first."""
    registry = data.home().registry
    found = by_digests([digest])
    edges: dict[tuple[str, str], str] = {}
    cut = 0
    for up in (True, False):
        queue = [digest]
        while queue:
            one = queue.pop(0)
            for other in seen(registry.parents(one) if up else registry.children(one)):
                parent, child = (other.digest, one) if up else (one, other.digest)
                if other.digest not in found:
                    if len(found) > RELATIVES:
                        cut += 1
                        continue
                    found[other.digest] = other
                    queue.append(other.digest)
                relations = other if not up else found[one]
                edges[parent, child] = next(
                    (p.relation for p in relations.parents if p.digest == parent), ""
                )
    named = tuple((parent, child, relation) for (parent, child), relation in edges.items())
    return Family(tuple(found.values()), named, cut)


def _meant(game: str, ref: str) -> PolicyVersion | None:
    secret = hidden()
    try:
        found = data.home().registry.get(game, ref)
    except UnknownPolicy:
        return None
    except AmbiguousRef as error:
        # Its message has the beginnings of digests.
        if any(one[:12] in text for one in secret for text in error.candidates):
            return None
        raise
    return None if is_hidden(found, secret) else found


def _unknown(game: Game, ref: str) -> UnknownPolicy:
    """The registry's own words would name what is hidden, as what was meant perhaps."""
    message = f"there is no policy {ref!r} in {game.name}"
    elsewhere = [other for other in GAMES if other != game.name and _in_other(other, ref)]
    near = _near(game, ref)
    if elsewhere:
        message += f" (there is one in {' and '.join(elsewhere)})"
    elif near:
        message += f"; did you mean {' or '.join(near)}?"
    else:
        message += "; `arena list` shows what there is"
    return UnknownPolicy(message, ref, near)


def _in_other(game: str, ref: str) -> bool:
    try:
        return _meant(game, ref) is not None
    except (AmbiguousRef, MalformedName):
        return False


def _near(game: Game, ref: str) -> tuple[str, ...]:
    """Names of those who take part that read like it, by the whole or by what follows the slash."""
    spelled: dict[str, str] = {}
    for version in data.field(game).versions:
        spelled.setdefault(version.name.lower(), version.name)
        spelled.setdefault(version.name.partition("/")[2].lower(), version.name)
    wanted = ref.lower().partition("@")[0]
    forms = [wanted, wanted.partition("/")[2]] if "/" in wanted else [wanted]
    near = [
        spelled[like]
        for form in forms
        for like in difflib.get_close_matches(form, spelled, n=_SUGGESTED, cutoff=0.7)
    ]
    return tuple(dict.fromkeys(near))[:_SUGGESTED]
