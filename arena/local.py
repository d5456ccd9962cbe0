"""An arena: the one object through which policies come in, matches are played and results read.

The command line, CSRO, the pages and a notebook all use it.  What goes in and what comes out are
values; nothing is a path or an open file but the home that the arena is opened on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from arena.amounts import MATCHES, MOST_MATCHES
from arena.analysis.focus import Focus
from arena.control_variate import has_luck
from arena.enrol import Enrolled, Judge, enrol, try_out
from arena.errors import UsageFault
from arena.evaluation import Evaluated, evaluated
from arena.executors import Workers
from arena.focusing import check_focus, play_with_focus
from arena.games.protocol import Game
from arena.home import open_home
from arena.house.population import population_of
from arena.kinds.asked import Asked
from arena.lineup import lineup
from arena.listings import Practice
from arena.logins import is_address
from arena.mixing import through_members
from arena.nesting import Weights, mixtures_of
from arena.practice import practise
from arena.registrar import Registrar
from arena.rejection import Rejection
from arena.replay import Comparison, compare_again
from arena.roster import game_of
from arena.rounds import play_until_precise
from arena.runner import Runner
from arena.starters import enrol_starters
from arena.submission import prepare
from arena.tally import Pair, PlayReport, Progress, Request, silent
from registry.values import Submission
from sandbox.choose import WallChoice
from sandbox.values import Limits

if TYPE_CHECKING:
    from arena.contest.hosting import Hosting


def _share(matches: int | None, precision: float | None, budget: int | None = None) -> int:
    """Matches wanted of a pair, or the most that it may get."""
    if matches is not None:
        return matches
    if precision is not None:
        return MOST_MATCHES
    return MATCHES if budget is None else budget


class Arena(Registrar):
    """A tournament in a folder.  A context manager; not for several threads at once.

    Args:
      home: the folder; made, and filled with the house's entrants, where there is none.
      registry: SQLAlchemy URL of a registry that several homes share.
      seed_key: 32 bytes that all seeds of a new home follow from, so that others who have them
        can repeat its matches; by default it draws a secret.
      sandbox: the wall around untrusted policies.
      workers: processes, 0 for one per processor; or `Workers`, to say where.
      limits: of each policy.
      asked: who plays policies of kind llm; without it they are left out of round robins.
      token: of an account, where home is the address of a server; then the other options are the
        server's own, and what is made is an `arena.remote.RemoteArena`.
      create: whether to make a home where there is none.

    Raises:
      ArenaError, RegistryError: the home cannot be opened or made.
    """

    def __new__(cls, home: Path | str = "arena-home", **options: Any) -> Self:
        """An arena in a folder, or behind an address."""
        if not is_address(home):
            return super().__new__(cls)
        from arena.remote import RemoteArena  # much to load, and most arenas are here

        if options.keys() - {"token"}:
            raise UsageFault(
                f"{', '.join(sorted(options.keys() - {'token'}))}: the server {home} says that for "
                "itself; give a token alone"
            )
        # It has all that the type promises but what needs this machine's disk.
        made: Any = RemoteArena
        return cast(Self, made(str(home), **options))

    def __init__(
        self,
        home: Path | str = "arena-home",
        *,
        registry: str | None = None,
        seed_key: bytes | None = None,
        sandbox: WallChoice | str = "auto",
        workers: Workers | int = 0,
        limits: Limits | None = None,
        asked: Asked | None = None,
        token: str | None = None,
        create: bool = True,
    ) -> None:
        if token is not None:
            raise UsageFault(f"{home} is a folder, and a token is for a server's address")
        wall = WallChoice(sandbox) if isinstance(sandbox, str) else sandbox
        super().__init__(open_home(Path(home), registry, seed_key=seed_key, create=create))
        self.runner = Runner(self.home, workers=workers, wall=wall, limits=limits, asked=asked)
        if self.home.writable:
            enrol_starters(self.home)

    def __repr__(self) -> str:
        return f"Arena({str(self.home.path)!r})"

    @property
    def wall(self) -> str:
        """Name of the wall between Python policies and this machine; tries it at first.

        Raises:
          SandboxRefused: no wall that is strong enough works here.
        """
        return self.runner.wall

    @property
    def office(self) -> Hosting:
        """What an operator does beside playing: accounts, the audit log, tournaments."""
        from arena.contest.hosting import Hosting  # with certificates, which few ask for

        return Hosting(self.runner, self.check)

    @contextmanager
    def on_behalf_of(self, who: str) -> Iterator[None]:
        """While this goes on, the audit log has what is changed in somebody's name.

        Args:
          who: name of an account.
        """
        own = self.home
        self.home = self.runner.home = own.acting_as(who)
        try:
            yield
        finally:
            self.home = self.runner.home = own

    # Who takes part.

    def check(
        self, source: str | bytes, game: Game | str, judge: Judge | None = None
    ) -> Rejection | None:
        """What `submit` would object to, None where nothing; registers and stores nothing."""
        prepared = prepare(game_of(game), source, name="check/check")
        if isinstance(prepared, Rejection):
            return prepared
        (found,) = try_out(self.runner, game_of(game), {"check": prepared}, (), judge).values()
        return found if isinstance(found, Rejection) else None

    def practise(
        self,
        source: str,
        game: Game | str,
        against: Sequence[str],
        matches: int = 2,
        *,
        seed: int = 1,
    ) -> Practice | Rejection:
        """Plays a policy's source against others; registers and stores nothing.

        Args:
          source: of the policy.
          game: which game.
          against: references of the opponents.
          matches: against each of them.
          seed: that cards and random choices follow from, and no match that counts.

        Raises:
          UsageFault: there is no opponent, or no match is asked for.
        """
        if not against or matches < 1:
            raise UsageFault("practice takes an opponent and at least one match")
        opponents = [self.policy(ref, game) for ref in dict.fromkeys(against)]
        found = practise(self.runner, game_of(game), source, opponents, matches=matches, seed=seed)
        return found if isinstance(found, Rejection) else Practice(found)

    def submit(
        self,
        source: str | bytes,
        game: Game | str,
        name: str,
        *,
        description: str = "",
        labels: Mapping[str, str] | None = None,
        provenance: Mapping[str, object] | None = None,
        judge: Judge | None = None,
    ) -> Enrolled | Rejection:
        """Checks a policy, lets it play its trial, and registers it as "author/name".

        It is a program's source, or the bytes of a file of weights (`arena.kinds.neural`).

        Raises:
          MalformedName: it is no name, a reserved one, or reads like another author's.
        """
        prepared = prepare(
            game_of(game),
            source,
            name=name,
            description=description,
            labels=labels,
            provenance=provenance,
        )
        return self.enter(game, [prepared], judge=judge)[0]

    def enter(
        self,
        game: Game | str,
        submissions: Sequence[Submission | Rejection],
        *,
        opponents: Sequence[str] = (),
        ours: bool = False,
        judge: Judge | None = None,
    ) -> list[Enrolled | Rejection]:
        """The same for many that are prepared already; see `arena.enrol.enrol`."""
        good = [one for one in submissions if isinstance(one, Submission)]
        entered = iter(
            enrol(self.runner, game_of(game), good, opponents=opponents, ours=ours, judge=judge)
        )
        return [next(entered) if isinstance(one, Submission) else one for one in submissions]

    # What is played.

    def play(
        self,
        game: Game | str,
        matches: int | None = None,
        *,
        only: Sequence[str] = (),
        precision: float | None = None,
        focus: Focus | str | None = None,
        budget: int | None = None,
        shared: bool = False,
        progress: Progress = silent,
    ) -> PlayReport:
        """Plays what is missing of the round robin of all qualified policies.

        In the place of a mixture its members play, each by its weight (`arena.mixing`).  Policies
        that are asked for their moves are left out where nobody answers, with the mixtures that
        hold one; the report says who.

        Args:
          game: which game.
          matches: wanted for each pair, by default `MATCHES`; with a precision the most that it
            may get, by default `MOST_MATCHES`; with a focus likewise, by default the budget.
          only: references; one for that policy against everybody, several for the round robin
            among them.
          precision: a standard error, in the game's unit per match: each pair plays in rounds
            until that of its mean return is no larger (see `arena.analysis.stopping`).
          focus: "leaderboard" or "nash": a budget of matches is spent where it can change who is
            at the top, or who is in the support of the meta-equilibrium (`arena.analysis.focus`).
          budget: of matches in all, stored ones included; with a focus only.
          shared: you vouch for the Python policies: matches of one may share a sealed worker,
            which is faster.
          progress: told after every chunk of matches.

        Raises:
          UsageFault: a policy is withdrawn or quarantined, no match is asked for, or a named
            policy is asked for its moves and nobody answers.
        """
        check_focus(focus, budget, only=only, precision=precision)
        game = game_of(game)
        named = [self._entrant(game, ref) for ref in only]
        answered = self.runner.asked is not None
        field = lineup(self.home.registry, game.name, named, answered=answered)
        wanted = dict.fromkeys(field.pairs, _share(matches, precision, budget))
        request = Request(game, wanted, shared, progress=progress)
        if focus is not None and budget is not None:
            members = population_of(game.name, None).digests
            play, most = self.runner.play, (budget, members, field.mixtures)
            report = play_with_focus(self.home, play, request, Focus(focus), *most)
        else:
            report = self._members_play(request, precision, field.mixtures)
        return replace(report, left_out=field.left_out)

    def play_pairs(
        self,
        game: Game | str,
        wanted: Mapping[Pair, int],
        *,
        precision: float | None = None,
        shared: bool = False,
        processor_seconds: float | None = None,
        progress: Progress = silent,
        first: int = 0,
    ) -> PlayReport:
        """Plays what is missing of some pairs' matches; see `arena.tally.Request` and `play`.

        A mixture plays under its own name here, by drawing a member for each match.  Such matches
        count in no score of it (`arena.mixing`).
        """
        request = Request(game_of(game), wanted, shared, processor_seconds, progress, first)
        if precision is None:
            return self.runner.play(request)
        return play_until_precise(self.home, self.runner.play, request, precision)

    def evaluate(
        self,
        ref: str,
        game: Game | str,
        matches: int | None = None,
        *,
        against: str | None = None,
        precision: float | None = None,
        control_variate: bool = False,
        shared: bool = False,
        progress: Progress = silent,
    ) -> Evaluated:
        """Plays a policy against an evaluation population, and says how good it is and why.

        In the place of a mixture its members play, each by its weight (`arena.mixing`).

        Args:
          ref: of the policy.
          game: which game.
          matches: against each member; see `play`.
          against: name of the population; the game's own where none is named.
          precision: see `play`.
          control_variate: whether to take the luck of the cards off the scores, without bias (see
            `arena.control_variate`); how far a precision goes is judged by plain returns.
          shared: see `play`.
          progress: told after every chunk of matches.

        Raises:
          UsageFault: there is no control variate for this game; see `play`.
        """
        game = game_of(game)
        if control_variate:
            has_luck(game)
        version, population = self.policy(ref, game), population_of(game.name, against)
        others = [digest for digest in population.digests if digest != version.digest]
        wanted = {(version.digest, other): _share(matches, precision) for other in others}
        request = Request(game, wanted, shared, progress=progress)
        mixtures = mixtures_of(self.home.registry, game.name)
        report = self._members_play(request, precision, mixtures)
        return evaluated(
            self.home, game, version, population, report, control_variate=control_variate
        )

    def _members_play(
        self, request: Request, precision: float | None, mixtures: Mapping[str, Weights]
    ) -> PlayReport:
        """Plays some pairs; in the places of mixtures their members."""
        if precision is not None:
            return play_until_precise(self.home, self.runner.play, request, precision, mixtures)
        return self.runner.play(replace(request, wanted=through_members(request.wanted, mixtures)))

    def replay(self, match_id: str) -> Comparison:
        """Plays a stored match again, with fresh sealed workers, and compares.

        Raises:
          UsageFault: see `match`; or it is from before seeds were secret.
        """
        return compare_again(self.runner, self.match(match_id))

    def close(self) -> None:
        """Ends workers, sandboxes and connections to the registry.  Idempotent."""
        self.runner.close()
        self.home.registry.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
