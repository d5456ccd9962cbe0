"""Issues the certificate of a final that was played to its end, and publishes its key.

Once it is issued it is everybody's.  It is kept beside the matches of its final, without sources,
which the registry has: so it can be handed out often, and stays what it was when an entrant is
quarantined later.
"""

from __future__ import annotations

import json
import logging
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from arena.contest.certificate import compose, digest_of_document, without_sources
from arena.contest.final import facts_of, home_of
from arena.contest.reading import MOST_BYTES, Malformed, facts_in, read_certificate
from arena.errors import UsageFault
from arena.games import game as game_named
from arena.home import CERTIFICATE, Home
from registry.errors import TournamentConflict
from registry.tournaments import Tournament

_log = logging.getLogger(__name__)
_PARTS = ("entrants", "hidden")


def issue(home: Home, name: str) -> dict[str, Any]:
    """The certificate of a tournament, with sources; from now on everybody may know its key.

    Issued again, it is the same: nothing in it depends on when or how often that was done.

    Args:
      home: where the final was played.
      name: of the tournament.

    Raises:
      UnknownTournament: there is none of that name.
      UsageFault: its final was not played to its end.
      TournamentConflict: what is stored is no more what was certified.
    """
    tournament = home.registry.tournament(name)
    if tournament.certificate:
        bare = issued(home, name)
        versions = home.registry.by_digests(policies_in(bare))
        return with_sources(bare, {digest: one.payload for digest, one in versions.items()})
    document = _composed(home, tournament)
    _keep(home, tournament, document)  # before anybody knows of it: later it may not be had again
    home.registry.certify(name, document["digest"])
    return document


def issued(home: Home, name: str) -> dict[str, Any]:
    """The certificate that a tournament has, without sources; nothing is published by asking.

    Args:
      home: where the final was played.
      name: of the tournament.

    Raises:
      UnknownTournament: there is none of that name.
      UsageFault: it has no certificate yet.
      TournamentConflict: the certificate is not kept, and what is stored is no more what was
        certified.
    """
    tournament = home.registry.tournament(name)
    if not tournament.certificate:
        raise UsageFault(
            f"the tournament {name!r} has no certificate yet: an operator issues it once its final "
            "was played"
        )
    kept = _kept(home_of(home, tournament).path / CERTIFICATE)
    if kept is not None and digest_of_document(kept) == tournament.certificate:
        return without_sources(kept)
    document = _composed(home, tournament)
    if document["digest"] != tournament.certificate:
        raise TournamentConflict(
            f"the tournament {name!r} has the certificate {tournament.certificate[:16]}..., which "
            "is not kept here, and what is stored was changed since: ask who has the file"
        )
    _keep(home, tournament, document)
    return without_sources(document)


def policies_in(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Digests of the policies of a certificate, the hidden ones too."""
    return tuple(one["digest"] for part in _PARTS for one in document[part])


def with_sources(document: Mapping[str, Any], sources: Mapping[str, str]) -> dict[str, Any]:
    """A certificate with some sources and no others: its digest is the same.

    Args:
      document: with or without any.
      sources: by the digests of their policies.
    """
    bare = without_sources(document)
    for part in _PARTS:
        bare[part] = [
            {**one, "source": sources[one["digest"]]} if one["digest"] in sources else one
            for one in bare[part]
        ]
    return bare


def _composed(home: Home, tournament: Tournament) -> dict[str, Any]:
    name = tournament.name
    if tournament.season is None:
        raise UsageFault(f"the final of {name!r} has not begun:  arena tournament final {name}")
    season = home.registry.season(tournament.season)
    return compose(facts_of(home, tournament, season), game_named(tournament.game))


def _kept(path: Path) -> dict[str, Any] | None:
    """The certificate in a file; None where there is none, or none that can be read."""
    try:
        with path.open("rb") as opened:
            found = read_certificate(opened.read(MOST_BYTES + 1))
        facts_in(found)  # whatever it says, its parts are what they are called
        return found
    except (OSError, Malformed):
        return None


def _keep(home: Home, tournament: Tournament, document: Mapping[str, Any]) -> None:
    """Keeps a certificate; where that fails, it is composed again when it is asked for."""
    folder = home_of(home, tournament).path
    if not home.writable or not folder.is_dir():
        return
    name = ""
    try:
        descriptor, name = tempfile.mkstemp(dir=folder)  # of mode 0600 from the beginning
        with open(descriptor, "w", encoding="ascii") as fresh:
            fresh.write(json.dumps(without_sources(document)) + "\n")
        Path(name).replace(folder / CERTIFICATE)
    except OSError as error:
        _log.warning("the certificate of %s is not kept: %s", tournament.name, error.strerror)
        with suppress(OSError):
            Path(name).unlink()
