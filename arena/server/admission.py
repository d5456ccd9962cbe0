"""What was prepared on another machine is prepared again: nobody's word is taken for a digest.

A client checks sources before it sends them, for early feedback.  A server checks them itself: the
digest of a program's code is what quarantine goes by, and a mixture that nobody can draw from would
stop every round robin that it takes part in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from arena.errors import UsageFault
from arena.games.protocol import Game
from arena.kinds.mixture import weights_of
from arena.kinds.neural import KIND as NEURAL
from arena.kinds.neural import file_of
from arena.registrar import Registrar
from arena.rejection import Rejection, RejectionKind
from arena.roster import game_of
from arena.submission import KIND as PYTHON
from arena.submission import prepare
from registry.values import Status, Submission

MIXTURE = "mixture"
LARGEST_MIXTURE = 1 << 18
"""Characters of one's payload: some 2,500 members."""


def prepared_again(
    game: Game | str, submissions: Sequence[Submission | Rejection]
) -> list[Submission | Rejection]:
    """Submissions as this machine prepares them, in their order.

    Raises:
      UsageFault: one is of a kind that is not entered over the wire, or of another game.
    """
    played = game_of(game)
    return [_again(played, one) if isinstance(one, Submission) else one for one in submissions]


def _again(game: Game, one: Submission) -> Submission | Rejection:
    if one.game != game.name:
        raise UsageFault(f"{one.name} is a policy of {one.game}, not of {game.name}")
    if one.status not in (Status.QUALIFIED, Status.CANDIDATE):
        raise UsageFault(f"{one.name} cannot be handed in as {one.status.value}")
    if one.kind not in (PYTHON, NEURAL):
        raise UsageFault(
            f"{one.name} is of kind {one.kind}; a server takes in programs and networks, and "
            "mixtures of them (register)"
        )
    try:
        content = one.payload if one.kind == PYTHON else file_of(one.payload)
    except ValueError as error:
        return Rejection(RejectionKind.BAD_WEIGHTS, str(error))
    made = prepare(
        game,
        content,
        name=one.name,
        description=one.description,
        labels=one.labels,
        provenance=one.provenance,
        parents=one.parents,
    )
    if isinstance(made, Rejection):
        return made
    return replace(one, payload=made.payload, code_digest=made.code_digest)


def check_mixture(one: Submission, registrar: Registrar) -> None:
    """Does nothing for a mixture of what is registered.

    Raises:
      UsageFault: it is something else, or nobody could draw from it.
      UnknownPolicy: a member is not registered.
    """
    if one.kind != MIXTURE:
        raise UsageFault(f"{one.name} is of kind {one.kind}; a server registers mixtures only")
    if len(one.payload) > LARGEST_MIXTURE:
        raise UsageFault(
            f"{one.name} has {len(one.payload):,} characters of weights: at most "
            f"{LARGEST_MIXTURE:,} are taken"
        )
    try:
        weights = weights_of(one.payload)
    except ValueError as error:
        raise UsageFault(f"{one.name} is no mixture: {error}") from None
    for member in registrar.versions(weights).values():
        if member.game != one.game:
            raise UsageFault(f"{member.ref} is a policy of {member.game}, not of {one.game}")
