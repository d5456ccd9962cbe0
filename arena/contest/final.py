"""A tournament's final: frozen, played behind the usual walls, and made into facts.

Its matches lie in a folder of their own (`finals/` in the home), so that they are repetitions 0,
1, ... of a season of their own, and that neither the leaderboard nor anybody's numbers see them:
whoever makes a new home with the season's key and these sources gets the same matches, move for
move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version

from arena.contest.certificate import Facts, Outcome, takings_of
from arena.contest.entries import entries_of, listed, pairs_of, playing
from arena.contest.hidden import left_out
from arena.contest.values import Taking, moves_digest
from arena.errors import HomeUnusable, UsageFault
from arena.games import game as game_named
from arena.games.protocol import Game
from arena.home import FINALS, Home
from arena.tally import Pair
from arena.values import Result
from registry.credits import as_it_stands
from registry.tournaments import Entry, Tournament
from registry.values import PolicyVersion, Season, Status

_SOFTWARE = ("policy-arena", "open_spiel", "numpy")


def counting(home: Home, tournament: Tournament) -> tuple[Entry, ...]:
    """The entries that count: those that were frozen, or as they stand now.

    One that is hidden as well is among them until there is a certificate; see `listed`.
    """
    if tournament.frozen is not None:
        return listed(tournament)
    versions = home.registry.find(tournament.game)
    return entries_of(replace(tournament, hidden=()), versions)


def _to_be_frozen(home: Home, tournament: Tournament) -> tuple[Entry, ...]:
    """The entries that are written down: who takes part, and who is listed all the same."""
    versions = home.registry.find(tournament.game)
    taking_part = entries_of(tournament, versions)
    shown = entries_of(replace(tournament, hidden=()), versions)
    both = {*taking_part, *shown}
    return tuple(sorted(both, key=lambda one: (one.author, one.created, one.ref)))


def begun(home: Home, name: str, now: datetime) -> tuple[Home, Game, dict[Pair, int]]:
    """Freezes a tournament that is over; returns where its final is played, its game, and what.

    Of the hidden population, who cannot play in a final any more is left out of it, as of the
    certificate: a final that has begun keeps all others waiting, so it must come to its end.

    Raises:
      UnknownTournament, TournamentConflict: there is no final to be played.
      UsageFault: fewer than two policies take part.
    """
    tournament = home.registry.tournament(name)
    if tournament.frozen is None:
        tournament = replace(tournament, entrants=_to_be_frozen(home, tournament))
    entrants = {one.digest for one in playing(tournament)}
    if len(entrants) < 2:
        raise UsageFault(f"{len(entrants)} policies take part in {name!r}; a final needs two")
    out = left_out(home.registry, tournament.hidden)
    pairs = pairs_of(sorted(entrants), [one for one in tournament.hidden if one not in out])
    tournament = home.registry.freeze(name, tournament.entrants, now)
    final = home_of(home, tournament)
    final.path.mkdir(parents=True, exist_ok=True)
    return final, game_named(tournament.game), dict.fromkeys(pairs, tournament.matches)


def facts_of(home: Home, tournament: Tournament, season: Season) -> Facts:
    """What a certificate says of a final that was played, with the sources of all policies.

    Args:
      home: whose registry has the tournament.
      tournament: that is frozen.
      season: of its final.

    Raises:
      UsageFault: matches are missing.
    """
    assert tournament.frozen is not None and season.key is not None
    game, final = game_named(tournament.game), home_of(home, tournament)
    digests = sorted({one.digest for one in playing(tournament)})
    found = home.registry.by_digests([*digests, *tournament.hidden])
    versions = {digest: as_it_stands(one) for digest, one in found.items()}
    out = left_out(home.registry, tournament.hidden) | {
        digest: versions[digest].status_reason
        for digest in digests
        if versions[digest].status is Status.QUARANTINED
    }
    entered = tuple(one for one in playing(tournament) if one.digest not in out)
    known = {digest: _taking(one) for digest, one in versions.items()}
    hidden = tuple(known[digest] for digest in sorted(tournament.hidden) if digest not in out)
    pairs = pairs_of([one.digest for one in entered], [one.digest for one in hidden])
    results = [
        result
        for pair in pairs
        for result in _results(final, game, pair, tournament.matches, season.number)
    ]
    if len(results) < len(pairs) * tournament.matches:
        raise UsageFault(
            f"{len(results)} of {len(pairs) * tournament.matches} matches of the final were "
            f"played: let  arena tournament final {tournament.name}  go on"
        )
    return Facts(
        software=_software(),
        game=game.name,
        game_version=game.version,
        name=tournament.name,
        opens=tournament.opens,
        closes=tournament.closes,
        frozen=tournament.frozen,
        entries=tournament.entries,
        matches=tournament.matches,
        season=season.number,
        commitment=season.commitment,
        key=season.key,
        entered=entered,
        entrants=takings_of(entered, known),
        hidden=hidden,
        disqualified=tuple(sorted((versions[one].ref, reason) for one, reason in out.items())),
        outcomes=tuple(_outcome(result) for result in results),
    )


def home_of(home: Home, tournament: Tournament) -> Home:
    """Where a final's matches lie; another season has another place."""
    place = home.path / FINALS / f"{tournament.name}-{tournament.season}"
    if not home.writable and not place.is_dir():
        raise HomeUnusable(f"the final in {place} was not played here")
    return Home(place, home.registry, home.writable)


def _results(
    final: Home, game: Game, pair: tuple[str, str], matches: int, season: int
) -> Sequence[Result]:
    """The matches of a pair, by repetition."""
    found = final.store.meetings(game, pair)
    return [one for one in found if one.match.repetition < matches and one.season == season]


def _outcome(result: Result) -> Outcome:
    match = result.match
    return Outcome(
        match.low,
        match.high,
        match.repetition,
        result.returns,
        result.termination.value,
        result.fault_seat,
        moves_digest(result),
    )


def _taking(one: PolicyVersion) -> Taking:
    return Taking(one.digest, one.kind, (one.ref,), one.code_digest, one.payload)


def _software() -> dict[str, str]:
    found = {}
    for name in _SOFTWARE:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a checkout that was not installed
            found[name] = "unknown"
    return found
