"""Who really plays where a mixture does: its members, and theirs, down to policies that move."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from arena.errors import UsageFault
from arena.kinds.mixture import weights_of
from registry import Registry
from registry.values import PolicyVersion, Status, Submission

KIND = "mixture"
Weights = Mapping[str, float]


def members_in(submission: Submission) -> Weights:
    """The direct members of a mixture that is handed in, with their weights.

    Raises:
      UsageFault: its payload is none of a mixture.
    """
    try:
        return weights_of(submission.payload)
    except ValueError as error:
        raise UsageFault(f"{submission.name} is no mixture: {error}") from None


def mixtures_of(registry: Registry, game: str) -> dict[str, Weights]:
    """All mixtures of a game: digest to the weights of the members that really play."""
    return mixtures_in(registry.find(game, kind=KIND))


def mixtures_in(versions: Iterable[PolicyVersion]) -> dict[str, Weights]:
    """The same from all versions of kind mixture of a game."""
    direct = {one.digest: weights_of(one.payload) for one in versions}
    found: dict[str, Weights] = {}
    for digest in direct:
        _flatten(digest, direct, found)
    return {digest: found[digest] for digest in direct}


def levels_of(registry: Registry, game: str, weights: Weights) -> int:
    """How deep a mixture with these members is nested: 1 where none of them is a mixture.

    At most one more than what is registered, which `DEEPEST` bounds.
    """
    direct = {one.digest: weights_of(one.payload) for one in registry.find(game, kind=KIND)}
    return 1 + max(_depth(member, direct, {}) for member in weights)


def quarantine_mixtures(
    registry: Registry, game: str, suspects: Collection[str], reason: str
) -> tuple[PolicyVersion, ...]:
    """Takes out of play whatever has one of these policies among those that really play.

    A mixture's score is its members', so a policy in quarantine would go on under its name.

    Args:
      registry: where they stand.
      game: of the policies.
      suspects: digests of policies in quarantine.
      reason: what they did.

    Returns:
      The mixtures that are in quarantine now, and were not.
    """
    if not suspects:
        return ()
    standing = {one.digest: one for one in registry.find(game, kind=KIND)}
    found = []
    for digest, weights in mixtures_of(registry, game).items():
        guilty = sorted(set(suspects) & weights.keys())
        if guilty and standing[digest].status in (Status.QUALIFIED, Status.CANDIDATE):
            why = f"it mixes {registry.by_digests(guilty)[guilty[0]].ref}: {reason}"
            found.append(registry.set_status(digest, Status.QUARANTINED, why))
    return tuple(found)


def _flatten(digest: str, direct: Mapping[str, Weights], found: dict[str, Weights]) -> Weights:
    """Weights of those that really play; each mixture is opened once, however many share it."""
    if digest not in direct:
        return {digest: 1.0}
    if digest not in found:
        flat: dict[str, float] = {}
        for member, weight in direct[digest].items():
            for one, share in _flatten(member, direct, found).items():
                flat[one] = flat.get(one, 0.0) + weight * share
        found[digest] = flat
    return found[digest]


def _depth(digest: str, direct: Mapping[str, Weights], known: dict[str, int]) -> int:
    if digest not in direct:
        return 0
    if digest not in known:
        known[digest] = 1 + max(_depth(member, direct, known) for member in direct[digest])
    return known[digest]
