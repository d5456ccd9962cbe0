"""What was prepared on another machine is prepared again: nobody's word is taken for a digest.

A client checks sources before it sends them, for early feedback.  A server checks them itself: the
digest of a program's code is what quarantine goes by, and a mixture that nobody can draw from would
stop every round robin that it takes part in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from arena.errors import NotAllowed, UsageFault
from arena.games.protocol import Game
from arena.kinds import tabular
from arena.kinds.neural import KIND as NEURAL
from arena.kinds.neural import file_of
from arena.nesting import KIND as MIXTURE
from arena.nesting import members_in
from arena.registrar import Registrar
from arena.rejection import Rejection, RejectionKind
from arena.roster import game_of
from arena.server.rights import CLIENTS, owned
from arena.submission import KIND as PYTHON
from arena.submission import prepare
from registry.naming import author_of
from registry.rights import Account, Role
from registry.values import PolicyVersion, Status, Submission

TABULAR = "tabular"
LARGEST_DATA = 1 << 18
"""Characters of a payload: some 2,500 members of a mixture."""


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


def check_data(one: Submission, account: Account, registrar: Registrar) -> None:
    """Does nothing for what needs no trial: a mixture of one's own policies, or a run's table.

    A mixture's score is put together from its members' matches, by weights that its author chose
    when these had been played.  So an author mixes what is the author's own: else whoever knows the
    payoff table could stand above everybody in it with their programs.  A run may begin with
    another's program, and mix it with its own.

    Raises:
      UsageFault: it is something else, or nobody could play it.
      NotAllowed: a mixture of others' policies, or of withdrawn ones.
      UnknownPolicy: a mixture's member is not registered.
    """
    table = one.kind == TABULAR and one.status is Status.CANDIDATE
    if one.kind != MIXTURE and not table:
        raise UsageFault(
            f"{one.name} is of kind {one.kind}; a server registers mixtures, and the tables that "
            "the candidates of a run meet"
        )
    if len(one.payload) > LARGEST_DATA:
        raise UsageFault(
            f"{one.name} has {len(one.payload):,} characters: at most {LARGEST_DATA:,} are taken"
        )
    if table:
        _check_table(one)
    else:
        _check_mixture(one, account, registrar)


def _check_table(one: Submission) -> None:
    space = game_of(one.game).states
    if space is None:
        raise UsageFault(f"{one.name} is a table, and {one.game} has no information states")
    try:
        canonical = tabular.payload_of(space, tabular.states_of(space, one.payload))
    except ValueError as error:
        raise UsageFault(f"{one.name} is no table of {one.game}: {error}") from None
    if canonical != one.payload:  # the same table would have two digests
        raise UsageFault(f"{one.name} is not written as `arena.kinds.tabular.payload_of` does")


def _check_mixture(one: Submission, account: Account, registrar: Registrar) -> None:
    members = tuple(registrar.versions(members_in(one)).values())
    for member in members:
        if member.game != one.game:
            raise UsageFault(f"{member.ref} is a policy of {member.game}, not of {one.game}")
        if member.kind == MIXTURE:
            raise UsageFault(f"{member.ref} is a mixture itself: name its members in {one.name}")
    if account.role is not Role.OPERATOR:
        _check_members(one, account, members, registrar)


def _check_members(
    one: Submission, account: Account, members: Sequence[PolicyVersion], registrar: Registrar
) -> None:
    """Does nothing where an author may mix these.

    Runs that find the same program share it, under the name of the one that was first; and a run
    may begin with one program of somebody else's.

    Raises:
      NotAllowed: an author may not.
    """
    run = author_of(one.name) in CLIENTS
    foreign = []
    for member in members:
        names = [credit.name for credit in member.credits]
        if any(owned(account, name, registrar) for name in names):
            if member.status is Status.YANKED and not run:
                raise NotAllowed(f"{member.ref} was withdrawn: reinstate it, or leave it out")
        elif not (run and any(author_of(name) in CLIENTS for name in names)):
            foreign.append(member)
    begins = run and len(foreign) == 1 and foreign[0].kind in (PYTHON, NEURAL)
    if foreign and not begins:
        refs = [member.ref for member in foreign[:5]]
        allowed = "one program, with which the run began," if run else "none"
        raise NotAllowed(
            f"{one.name} mixes {', '.join(refs)}{' and more' if len(foreign) > 5 else ''}: "
            f"of others {allowed} may be in it, as its score is put together from its members'"
        )
