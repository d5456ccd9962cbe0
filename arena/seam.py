"""What an arena is to whoever uses one, and to whoever runs one, wherever it is.

CSRO asks for no more than this, and nothing here is a path, an open file or a process: values go in
and come out.  `arena.Arena` is the arena on this machine, `arena.remote.RemoteArena` one behind an
address, and clients cannot tell.  What each method does, the methods of `arena.Arena` say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, Unpack

from arena.analysis.focus import Focus
from arena.analysis.rankings import RankBy
from arena.conduct import Conduct
from arena.enrol import Enrolled
from arena.evaluation import Evaluated
from arena.games.protocol import Game
from arena.listings import History, Matches, Policies, Practice, Seasons
from arena.payoffs import PayoffTable
from arena.rejection import Rejection
from arena.replay import Comparison, Stored
from arena.standings import Leaderboard
from arena.tally import Pair, PlayReport, Progress, silent
from registry.invites import Invite
from registry.rights import Account, Quota, Role
from registry.search import Filters
from registry.tournaments import Entry, Tournament
from registry.values import Author, Event, PolicyVersion, Season, Submission


class AnyArena(Protocol):
    """An arena, on this machine or elsewhere."""

    @property
    def wall(self) -> str: ...

    def policies(self, game: Game | str | None = None, **filters: Unpack[Filters]) -> Policies: ...

    def policy(self, ref: str, game: Game | str | None = None) -> PolicyVersion: ...

    def versions(self, digests: Iterable[str]) -> dict[str, PolicyVersion]: ...

    def refs(self, digests: Iterable[str]) -> dict[str, str]: ...

    def authors(self) -> tuple[Author, ...]: ...

    def check(self, source: str | bytes, game: Game | str) -> Rejection | None: ...

    def practise(
        self,
        source: str,
        game: Game | str,
        against: Sequence[str],
        matches: int = 2,
        *,
        seed: int = 1,
    ) -> Practice | Rejection: ...

    def submit(
        self,
        source: str | bytes,
        game: Game | str,
        name: str,
        *,
        description: str = "",
        labels: Mapping[str, str] | None = None,
        provenance: Mapping[str, object] | None = None,
    ) -> Enrolled | Rejection: ...

    def enter(
        self,
        game: Game | str,
        submissions: Sequence[Submission | Rejection],
        *,
        opponents: Sequence[str] = (),
        ours: bool = False,
    ) -> list[Enrolled | Rejection]: ...

    def register(self, submission: Submission, *, ours: bool = False) -> PolicyVersion: ...

    def admit(self, digest: str, reason: str) -> PolicyVersion: ...

    def call(self, game: Game | str, alias: str, ref: str) -> None: ...

    def withdraw(
        self, ref: str, game: Game | str | None = None, reason: str = ""
    ) -> PolicyVersion: ...

    def reinstate(
        self, ref: str, game: Game | str | None = None, reason: str = ""
    ) -> PolicyVersion: ...

    def history(self, ref: str, game: Game | str | None = None) -> History: ...

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
    ) -> PlayReport: ...

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
    ) -> PlayReport: ...

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
    ) -> Evaluated: ...

    def payoffs(self, game: Game | str, digests: Sequence[str] | None = None) -> PayoffTable: ...

    def exact_payoffs(
        self,
        game: Game | str,
        digests: Sequence[str],
        wanted: Mapping[Pair, int],
        *,
        first: int = 0,
    ) -> PayoffTable: ...

    def leaderboard(
        self,
        game: Game | str,
        *,
        by: str = RankBy.AGG_SCORE.value,
        against: str | None = None,
        more: bool = False,
    ) -> Leaderboard: ...

    def matches(
        self,
        game: Game | str,
        ref: str | None = None,
        *,
        against: str | None = None,
        faults_only: bool = False,
        selecting: bool = True,
        limit: int | None = 20,
    ) -> Matches: ...

    def conduct(self, ref: str, game: Game | str) -> Conduct: ...

    def match(self, match_id: str) -> Stored: ...

    def replay(self, match_id: str) -> Comparison: ...

    def seasons(self) -> Seasons: ...

    def reveal_season(self) -> tuple[Season, Season]: ...

    def close(self) -> None: ...


class Operations(Protocol):
    """What an operator does beside playing: accounts, invitations, the audit log, tournaments.

    `arena.contest.hosting.Hosting` does it on this machine; what each method does stands there, and
    in `arena.office.Office`.
    """

    def accounts(self) -> tuple[Account, ...]: ...

    def invites(self) -> tuple[Invite, ...]: ...

    def add_accounts(
        self, roster: Sequence[tuple[str, Role]], *, expires: datetime | None = None
    ) -> dict[str, str]: ...

    def invite(
        self, role: Role = Role.AUTHOR, *, uses: int = 1, expires: datetime | None = None
    ) -> str: ...

    def invite_all(
        self, roster: Sequence[tuple[str, Role]], *, expires: datetime | None = None
    ) -> dict[str, str]: ...

    def withdraw_invite(self, mark: str) -> int: ...

    def redeem(self, code: str, name: str, *, token: str | None = None) -> str: ...

    def renew_token(self, name: str, *, expires: datetime | None = None) -> str: ...

    def disable_account(self, name: str, *, disabled: bool = True) -> Account: ...

    def set_role(self, name: str, role: Role) -> Account: ...

    def set_quota(self, name: str, quota: Quota) -> Account: ...

    def events(
        self,
        *,
        who: str | None = None,
        what: str | None = None,
        subject: str | None = None,
        limit: int = 1_000,
    ) -> tuple[Event, ...]: ...

    def tournaments(self) -> tuple[Tournament, ...]: ...

    def tournament(self, name: str) -> Tournament: ...

    def counting(self, name: str) -> tuple[Entry, ...]: ...

    def move_closing(self, name: str, closes: datetime | None = None) -> Tournament: ...

    def announce(
        self,
        name: str,
        game: Game | str,
        opens: datetime | None,
        closes: datetime,
        *,
        entries: int = 1,
        matches: int = 32,
        hidden: Sequence[str] = (),
        secret: Sequence[tuple[str, str | bytes]] = (),
    ) -> Tournament: ...

    def final(self, name: str, *, progress: Progress = silent) -> PlayReport: ...

    def certify(self, name: str) -> dict[str, Any]: ...

    def certificate(self, name: str, *, sources: bool = False) -> dict[str, Any]: ...
