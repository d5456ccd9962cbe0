"""The members of a run: how policies join P, and what is registered about them.

Everything that a run scores is a version in the registry, as `csro/RUN-k03@5`: the fifth program
that iteration 3 scored.  All but the one that joins keep the status candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from arena.errors import ArenaError, UsageFault
from arena.games.protocol import Game
from arena.kinds.mixture import payload_of
from arena.kinds.neural import KIND as NEURAL
from arena.kinds.neural import uniform_file
from arena.seam import AnyArena
from arena.submission import KIND, Rejection, prepare
from oracle.impala.training import check_opponent
from oracle.values import Opponent, Task
from population.config import OracleChoice, RunConfig
from population.records import Sigma
from population.seeds import seed_of
from registry import AliasProtected, digest_of
from registry.values import Parent, PolicyVersion, Submission

AUTHOR = "csro"
INITIAL_NAME = f"{AUTHOR}/initial"
SMALLEST_WEIGHT = 1e-6
"""Members of smaller weight are left out of a mixture: they would never be drawn."""


@dataclass(frozen=True, slots=True)
class Member:
    """One policy of P.

    Attributes:
      digest: its identity.
      label: "initial", or the iteration in which it joined, "k03"; the same in every run that is
        told the same, whatever the run is called.
      source: its program, or the payload of another kind.
      kind: of the policy.
    """

    digest: str
    label: str
    source: str = field(repr=False)
    kind: str = KIND


def label_of(k: int) -> str:
    """Label of what iteration k adds."""
    return f"k{k:02d}"


def name_of(run: str, k: int) -> str:
    """Name of the versions that iteration k of a run scores."""
    return f"{AUTHOR}/{run}-{label_of(k)}"


def settled(arena: AnyArena, game: Game, config: RunConfig) -> RunConfig:
    """The configuration with the one version that its initial policy's reference means now.

    A name means another version once its author hands one in; a run stays what it began as.

    Raises:
      UsageFault: it is of a kind that the oracle cannot answer.
      UnknownPolicy: there is none of that name.
    """
    if not config.initial:
        return config
    version = _fit_to_begin(arena, game, config.initial, config.oracle)
    return replace(config, initial=version.ref, begins=version.digest)


def initial_member(arena: AnyArena, game: Game, config: RunConfig, began: str = "") -> Member:
    """The policy that a run starts from, registered.

    Args:
      arena: has it.
      game: of the run.
      config: of the run.
      began: digest of the one that it started from already; "" where it did not.

    Raises:
      UsageFault: the one that was named is no program, or this arena does not show it any more.
      UnknownPolicy: there is none of that name.
    """
    if named := began or config.begins:
        return named_initial(arena, game, named, config.oracle)
    first = _uniform(game) if config.oracle.trains else _built_in(game)
    (entered,) = arena.enter(game, [first], ours=True)
    if isinstance(entered, Rejection):
        raise AssertionError(f"{game.name}: {entered.message}")
    version = entered.version
    return Member(version.digest, "initial", version.payload, version.kind)


def named_initial(arena: AnyArena, game: Game, ref: str, oracle: OracleChoice) -> Member:
    """A registered policy as the one that a run starts from; registers and stores nothing.

    Raises:
      UsageFault: it is of a kind that the oracle cannot answer.
      UnknownPolicy: there is none of that name.
    """
    version = _fit_to_begin(arena, game, ref, oracle)
    return Member(version.digest, "initial", version.payload, version.kind)


def _fit_to_begin(arena: AnyArena, game: Game, ref: str, oracle: OracleChoice) -> PolicyVersion:
    version = arena.policy(ref, game)
    if not version.payload:  # a server keeps it so
        raise UsageFault(
            f"{version.ref} was withdrawn, so its content is shown to its author alone: a run can "
            "begin with it, or go on, once its author has reinstated it (`arena reinstate`)"
        )
    if oracle.trains:
        check_opponent(version.ref, version.kind)
    elif version.kind != KIND:
        raise UsageFault(
            f"{version.ref} is of kind {version.kind}: a run starts from a program, because "
            "oracles read their opponents' source; name a version of kind python"
        )
    return version


def built_in_initial(game: Game) -> Member:
    """The policy that a run starts from unless told otherwise; needs no home, registers nothing."""
    submission = _built_in(game)
    digest = digest_of(submission.game, submission.kind, submission.payload)
    return Member(digest, "initial", submission.payload)


def _built_in(game: Game) -> Submission:
    prepared = prepare(
        game,
        game.initial,
        name=INITIAL_NAME,
        provenance={"author": "Policy Arena", "licence": "Apache-2.0"},
    )
    if isinstance(prepared, Rejection):  # the package's own file
        raise AssertionError(f"{game.name}: {prepared.message}")
    return prepared


def _uniform(game: Game) -> Submission:
    """A network that plays every legal action as often: PSRO's usual first policy."""
    prepared = prepare(
        game,
        uniform_file(game),
        name=f"{AUTHOR}/uniform",
        description="Every legal action is as likely.",
        provenance={"author": "Policy Arena", "licence": "Apache-2.0"},
    )
    if isinstance(prepared, Rejection):  # weights of 0
        raise AssertionError(f"{game.name}: {prepared.message}")
    return prepared


def accept(arena: AnyArena, run: str, digest: str, k: int) -> Member:
    """Makes the candidate that joins an entrant of the arena."""
    version = arena.admit(digest, f"joined in {run}, iteration {k}")
    return Member(digest, label_of(k), version.payload, version.kind)


def task_of(game: Game, config: RunConfig, members: Sequence[Member], sigma: Sigma, k: int) -> Task:
    """The question of iteration k: what beats sigma?"""
    by_digest = {member.digest: member for member in members}
    opponents = tuple(
        _opponent(by_digest[digest], weight) for digest, weight in sigma.support.items()
    )
    return Task(
        game=game,
        opponents=opponents,
        incumbent=opponents[0].source,
        seed=seed_of(config.seed, game.name, label_of(k)),
        key=label_of(k),
        others=tuple(
            _opponent(one, 0.0) for one in reversed(members) if one.digest not in sigma.support
        ),
        kind=NEURAL if config.oracle.trains else KIND,
    )


def _opponent(member: Member, weight: float) -> Opponent:
    return Opponent(member.digest, member.label, member.source, weight, member.kind)


class MixtureRefused(ArenaError):
    """The meta-strategy cannot be called by its run's name."""


def register_mixture(arena: AnyArena, run: str, config: RunConfig, sigma: Sigma) -> PolicyVersion:
    """Registers a run's meta-strategy as `csro/RUN`, of kind mixture.

    Where the same mixture is registered already (another run found it), the alias RUN names it.

    Raises:
      MixtureRefused: that alias is protected and means something else.
    """
    weights = drawn(sigma.weights)
    submission = Submission(
        game=config.game,
        name=f"{AUTHOR}/{run}",
        kind="mixture",
        payload=payload_of(weights),
        description=f"Meta-strategy of the CSRO run {run} over {len(sigma.weights)} policies.",
        labels={"run": run, "oracle": config.oracle.name, "model": config.oracle.model},
        provenance={"run": run, "config": config.to_document(), "solver": sigma.solver},
        parents=tuple(Parent(digest, "mixes") for digest in weights),
    )
    version = arena.register(submission, ours=True)
    if version.name != submission.name:
        try:
            arena.call(config.game, run, version.ref)
        except AliasProtected as error:
            raise MixtureRefused(
                f"the run's meta-strategy is {version.ref} already, and the alias {run!r} that "
                f"should name it is protected: {error}"
            ) from error
    return version


def drawn(weights: Mapping[str, float]) -> dict[str, float]:
    """The weights from which a mixture draws: without the tiny ones, adding up to 1."""
    kept = {digest: weight for digest, weight in weights.items() if weight >= SMALLEST_WEIGHT}
    total = sum(kept.values())
    return {digest: weight / total for digest, weight in kept.items()}
