"""Issues the certificate of a final that was played to its end, and publishes its key."""

from __future__ import annotations

from typing import Any

from arena.contest.certificate import compose
from arena.contest.final import facts_of
from arena.errors import UsageFault
from arena.games import game as game_named
from arena.home import Home


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
    if tournament.season is None:
        raise UsageFault(f"the final of {name!r} has not begun:  arena tournament final {name}")
    season = home.registry.season(tournament.season)
    document = compose(facts_of(home, tournament, season), game_named(tournament.game))
    home.registry.certify(name, document["digest"])
    return document
