"""What the pages read: the command line's own functions, remembered while nothing changed.

Everything is keyed by the store's fingerprint, so a page is never older than the moment it was
drawn, and costs nothing while nobody plays.  Caches hold a few entries each; values are frozen, so
visitors share them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from arena.analysis import exact
from arena.analysis.leaderboard import Options, Row, leaderboard
from arena.analysis.meta_strategy import SOLVERS, MetaStrategy
from arena.analysis.metrics import Evaluation, evaluate
from arena.analysis.rankings import RankBy
from arena.analysis.secondary import complete_core
from arena.analysis.stakes import stakes_of
from arena.errors import UsageFault
from arena.games import game as game_named
from arena.games.parts import InformationStates
from arena.games.protocol import Game
from arena.home import Home
from arena.house.population import default_population
from arena.kinds.tabular import states_of
from arena.local import Arena
from arena.payoffs import PayoffTable
from arena.standings import payoff_table
from dashboards.identity import SignIn, read
from dashboards.newest import Newest
from dashboards.rating import LiveRatings, Ratings
from dashboards.settings import Settings
from dashboards.submissions import SubmissionQueue
from registry.values import PolicyVersion, Status

_log = logging.getLogger(__name__)
SECONDS = 2.0
"""How long a page may believe that nothing changed, while somebody clicks around."""
SLICES = 12
"""Points of a trend."""


@st.cache_resource(show_spinner=False)
def settings() -> Settings:
    """What the operator decided."""
    return Settings.from_environment()


@st.cache_resource(show_spinner=False, max_entries=1)
def _sign_in(path: Path, changed: int) -> SignIn:
    return read(path)


def sign_in() -> SignIn:
    """Who may sign in, as it is written down now: who is linked there need not wait for a restart.

    Raises:
      UsageFault: it cannot be read.
    """
    path = settings().oidc
    if path is None:
        raise UsageFault("nobody signs in here")
    try:
        return _sign_in(path, path.stat().st_mtime_ns)
    except (OSError, UsageFault) as error:  # which would name a place on this machine
        _log.warning("nobody can sign in: %s", error)
        raise UsageFault("nobody can sign in just now; the server's log says why") from error


@st.cache_resource(show_spinner=False, max_entries=4)
def _arena(path: Path, registry_url: str | None) -> Arena:
    return Arena(path, registry=registry_url)


def arena() -> Arena:
    """The arena that the pages show; made, with the house enrolled, on first use.

    All visitors share it, so it is only read through; the submission queue plays with its own.
    """
    return _arena(settings().home, settings().registry_url)


def home() -> Home:
    """Where the arena's registry and matches are."""
    return arena().home


@st.cache_resource(ttl=SECONDS, max_entries=16, show_spinner=False)
def _fingerprint(path: str, game: str, version: int) -> str:
    return home().store.fingerprint(game, version)


def fingerprint(game: Game) -> str:
    """Changes when a match of the game is stored (and within `SECONDS` at the latest)."""
    return _fingerprint(str(home().path), game.name, game.version)


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """Who takes part in a game.

    Attributes:
      versions: qualified versions, by reference.
      key: changes when any of them does.
    """

    versions: tuple[PolicyVersion, ...]
    key: int

    @property
    def refs(self) -> dict[str, str]:
        """Reference of each digest."""
        return {version.digest: version.ref for version in self.versions}


@st.cache_resource(ttl=SECONDS, max_entries=8, show_spinner=False)
def _field(path: str, game: str) -> Field:
    versions = home().registry.find(game, status=Status.QUALIFIED)
    ordered = tuple(sorted(versions, key=lambda version: version.ref))
    shown = tuple((version.digest, version.ref, version.also) for version in ordered)
    return Field(ordered, hash(shown))


def field(game: Game) -> Field:
    """The qualified versions of a game."""
    return _field(str(home().path), game.name)


@st.cache_resource(show_spinner=False)
def _tables() -> Newest[PayoffTable]:
    """The payoff table of each game; of thousands of policies one is 300 MB."""
    return Newest()


def payoffs(game: Game) -> PayoffTable:
    """The payoff table of the field and the evaluation population."""
    # Hundreds of digests would make a slow key for what every page asks for.
    all_of_them, path = field(game), str(home().path)

    def make() -> PayoffTable:
        everybody = [version.digest for version in all_of_them.versions]
        return payoff_table(home(), game, [*everybody, *default_population(game.name).digests])

    return _tables().get((path, game.name), (fingerprint(game), all_of_them.key), make)


@st.cache_resource(show_spinner=False)
def live_ratings() -> LiveRatings:
    """TrueSkill ratings, computed beside the pages."""
    return LiveRatings()


def ratings(game: Game) -> Ratings:
    """The latest ratings; none while the first ones are being computed."""
    table = payoffs(game)
    return live_ratings().get(home(), game, table, fingerprint(game))


@st.cache_resource(max_entries=12, show_spinner=False)
def _board(
    path: str, game: str, stamp: str, field_key: int, by: str, more: bool, rating_key: int
) -> tuple[Row, ...]:
    played = game_named(game)
    rated = ratings(played).by_digest
    # Without ratings there is nothing to order by yet.
    ranking = RankBy(by) if rated or by != RankBy.RATING else RankBy.AGG_SCORE
    return leaderboard(
        field(played).versions,
        payoffs(played),
        default_population(game),
        Options(ranking, rated, more, stakes_of(played)),
    )


def board(game: Game, by: str = RankBy.AGG_SCORE.value, more: bool = False) -> tuple[Row, ...]:
    """The leaderboard, as `arena leaderboard` prints it."""
    rated = ratings(game)
    key = (str(home().path), game.name, fingerprint(game), field(game).key, by, more)
    return _board(*key, rated.serial)


@st.cache_resource(max_entries=6, show_spinner=False)
def _trends(path: str, game: str, version: int, stamp: str) -> Mapping[str, tuple[float, ...]]:
    return home().store.trends(game, version, SLICES)


def trends(game: Game) -> Mapping[str, tuple[float, ...]]:
    """How the mean return of each policy settled: after each twelfth of the stored matches."""
    return _trends(str(home().path), game.name, game.version, fingerprint(game))


@st.cache_resource(max_entries=64, show_spinner=False)
def _evaluated(
    path: str, game: str, stamp: str, digest: str, opponents: tuple[str, ...]
) -> Evaluation:
    played = game_named(game)
    table = payoff_table(home(), played, [digest, *opponents])
    return evaluate(table, digest, opponents, stakes_of(played))


def evaluated(game: Game, digest: str, *, everybody: bool = False) -> Evaluation:
    """A policy against the evaluation population, or against all qualified policies."""
    opponents = default_population(game.name).digests
    if everybody:
        opponents = tuple(version.digest for version in field(game).versions)
    return _evaluated(str(home().path), game.name, fingerprint(game), digest, opponents)


@dataclass(frozen=True, slots=True)
class Costs:
    """What a policy's matches took.

    Attributes:
      matches: that it played.
      forfeits: of them, by itself.
      label: what `text` is.
      text: processor time of one throw or hand where it was measured, else the time of a match.
    """

    matches: int
    forfeits: int
    label: str
    text: str


@st.cache_resource(max_entries=64, show_spinner=False)
def _costs(path: str, game: str, stamp: str, digest: str) -> Costs:
    played = game_named(game)
    took = home().store.costs(game, played.version, digest)
    if took.cpu_micros:
        text = _duration(took.cpu_micros / played.length)
        return Costs(took.matches, took.forfeits, f"Time per {played.step}", text)
    text = _duration(took.micros) if took.micros else "-"
    return Costs(took.matches, took.forfeits, "Time per match", text)


def costs(game: Game, digest: str) -> Costs:
    """What a policy's matches took."""
    return _costs(str(home().path), game.name, fingerprint(game), digest)


def _duration(micros: float) -> str:
    if micros < 1_000:
        return f"{micros:.0f} µs"
    return f"{micros / 1_000:.1f} ms" if micros < 1_000_000 else f"{micros / 1_000_000:.1f} s"


@st.cache_resource(max_entries=12, show_spinner=False)
def _meta_strategy(
    path: str, game: str, stamp: str, field_key: int, solver: str
) -> tuple[tuple[str, ...], MetaStrategy] | None:
    played = game_named(game)
    everybody = payoffs(played)
    known = [version.digest for version in field(played).versions]
    table = everybody.restrict(known)
    core = table.restrict(complete_core(table))
    # A single policy that met nobody makes no game.
    if len(core.digests) < 2:
        return None
    return core.digests, SOLVERS[solver](core.mean, core.stderr)


def meta_strategy(game: Game, solver: str) -> tuple[tuple[str, ...], MetaStrategy] | None:
    """The mixture of a solver over the qualified policies that all met, None where there are none.

    Returns:
      Digests of the n policies, and the mixture over them.
    """
    key = (str(home().path), game.name, fingerprint(game), field(game).key, solver)
    return _meta_strategy(*key)


@dataclass(frozen=True, slots=True)
class ExactTable:
    """Exact values of one tabular policy, per hand, but `best_response` per match."""

    ref: str
    exploitability: float
    nash_conv: float
    best_response: float


@dataclass(frozen=True, slots=True)
class ExactValues:
    """Tabular policies, the least exploitable first.

    Attributes:
      tables: one for each policy.
      ceiling: the most that a policy can return over the evaluation population; None where not
        all of its members are tabular.
    """

    tables: tuple[ExactTable, ...]
    ceiling: float | None


@st.cache_resource(max_entries=4, show_spinner=False)
def _exact(path: str, game: str, field_key: int, _space: InformationStates) -> ExactValues:
    found = []
    for version in field(game_named(game)).versions:
        if version.kind == "tabular":
            gap = exact.nash_conv(_space, states_of(_space, version.payload))
            found.append(ExactTable(version.ref, gap / 2, gap, _space.hands * gap / 2))
    members = home().registry.by_digests(default_population(game).digests).values()
    ceiling = None
    if all(member.kind == "tabular" for member in members):
        ceiling = exact.ceiling(_space, [states_of(_space, one.payload) for one in members])
    ordered = sorted(found, key=lambda one: one.exploitability)
    return ExactValues(tuple(ordered), ceiling)


def exact_values(game: Game) -> ExactValues | None:
    """Exact values of the tabular policies; None for a game without information states."""
    if game.states is None:
        return None
    return _exact(str(home().path), game.name, field(game).key, game.states)


@st.cache_resource(max_entries=4, show_spinner=False)
def _submissions(path: Path) -> SubmissionQueue:
    return SubmissionQueue(settings())


def submissions() -> SubmissionQueue:
    """Where policies are handed in."""
    return _submissions(home().path)
