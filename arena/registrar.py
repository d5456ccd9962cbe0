"""What changes who takes part and plays nothing: names, statuses, tokens and seasons."""

from __future__ import annotations

from arena.errors import UsageFault
from arena.games.protocol import Game
from arena.nesting import KIND as MIXTURE
from arena.nesting import levels_of, members_in, mixtures_of, quarantine_mixtures
from arena.players import DEEPEST
from arena.record import Record
from arena.roster import game_of
from arena.submission import KIND as PYTHON
from registry.credits import best_known, is_kept
from registry.values import PolicyVersion, Season, Status, Submission


class Registrar(Record):
    """The part of `arena.Arena` that needs no worker.  Safe for many threads at once.

    Args:
      home: whose registry is changed.
    """

    def register(self, submission: Submission, *, ours: bool = False) -> PolicyVersion:
        """Registers a policy that needs no trial: a mixture of what is registered, or a table.

        A mixture of what is in quarantine goes there, too.

        Raises:
          UsageFault: it is a program; those come in through `enter`.  Or it is no mixture, or one
            of mixtures of mixtures, too deep to be looked through.
          UnknownPolicy: a mixture's member is not registered.
        """
        if submission.kind == PYTHON:
            raise UsageFault(f"{submission.name} is a program: it has to pass its trial first")
        if submission.kind != MIXTURE:
            return self.home.registry.submit(submission, reserved=ours).version
        return self._mix(submission, ours=ours)

    def _mix(self, submission: Submission, *, ours: bool) -> PolicyVersion:
        registry, game = self.home.registry, submission.game
        weights = members_in(submission)
        registry.by_digests(weights)  # before anything is stored
        if levels_of(registry, game, weights) > DEEPEST:
            raise UsageFault(
                f"{submission.name} is a mixture of mixtures, more than {DEEPEST} deep: name the "
                "policies that its members are made of"
            )
        version = registry.submit(submission, reserved=ours).version
        members = registry.by_digests(mixtures_of(registry, game)[version.digest])
        for member in members.values():
            if member.status is Status.QUARANTINED:
                quarantine_mixtures(registry, game, [member.digest], member.status_reason)
        now = registry.by_digests([version.digest])[version.digest]
        return best_known(now, {version.ref})

    def admit(self, digest: str, reason: str) -> PolicyVersion:
        """Makes a candidate an entrant; what is kept for a tournament stays what it is."""
        version = self.home.registry.by_digests([digest])[digest]
        for credit in version.credits:
            if credit.status is Status.CANDIDATE and not is_kept(credit):
                version = self.home.registry.set_status(
                    digest, Status.QUALIFIED, reason, ref=credit.ref
                )
        return version

    def call(self, game: Game | str, alias: str, ref: str) -> None:
        """Points an alias at a version.

        Raises:
          AliasProtected: it is protected and points elsewhere.
        """
        self.home.registry.set_alias(game_of(game).name, alias, ref)

    def withdraw(self, ref: str, game: Game | str | None = None, reason: str = "") -> PolicyVersion:
        """Takes a version out of round robins; its matches stay.

        Where others handed in the same content, it goes on under their names.  The game need not
        be named where the reference means one version alone.
        """
        version = self.policy(ref, game)
        return self.home.registry.set_status(version.digest, Status.YANKED, reason, ref=version.ref)

    def reinstate(
        self, ref: str, game: Game | str | None = None, reason: str = ""
    ) -> PolicyVersion:
        """Lets a withdrawn or quarantined version take part again, under the name meant."""
        version = self.policy(ref, game)
        return self.home.registry.set_status(
            version.digest, Status.QUALIFIED, reason, ref=version.ref
        )

    def reveal_season(self) -> tuple[Season, Season]:
        """Closes the open season, which opens its key to everybody, and opens another.

        Returns:
          The season that was closed, and the new one.
        """
        return self.home.registry.reveal_season()
