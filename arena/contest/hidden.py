"""The hidden evaluation population: policies that meet nobody before the final."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from arena.contest.entries import KINDS
from arena.errors import UsageFault
from arena.games.protocol import Game
from arena.home import HOUSE, Home
from arena.kinds.asked import KIND as ASKED
from arena.kinds.mixture import weights_of
from arena.players import members_of
from arena.rejection import Rejection
from arena.roster import Roster
from arena.submission import prepare, read_source, read_weights
from registry import Registry
from registry.credits import KEEPER, as_it_stands
from registry.values import PolicyVersion, Status

Check = Callable[[str | bytes, Game], Rejection | None]
"""What an arena would object to in a source or in weights, None where nothing; stores nothing."""


def take_in(
    home: Home,
    check: Check,
    game: Game,
    tournament: str,
    named: Sequence[str],
    contents: Sequence[tuple[str, str | bytes]] = (),
) -> tuple[str, ...]:
    """Takes a hidden population in, and returns its digests.

    What is handed over is checked like any policy and registered as a candidate, which no list of
    entrants and no leaderboard shows; its trial is not stored.  What is named must be able to play
    in a final, and whoever has the certificate and its sources to play that again.

    Args:
      home: has the registry.
      check: of what is handed over.
      game: which game.
      tournament: its name, part of the policies' names.
      named: references of policies that are registered.
      contents: others, each by a name and its source or weights.

    Raises:
      UsageFault: one is not taken.
      MalformedName, UnknownPolicy, AmbiguousRef: a reference means none, or several.
    """
    registry, roster = home.registry, Roster(home)
    versions = [roster.policy(one, game) for one in named]
    for one in versions:
        _refuse_unfit(registry, one)
    found = [one.digest for one in versions]
    for stem, content in contents:
        name = f"{KEEPER}/{tournament}-{stem}"
        prepared = prepare(game, content, name=name, status=Status.CANDIDATE)
        problem = prepared if isinstance(prepared, Rejection) else check(content, game)
        if problem is not None:
            raise UsageFault(f"{stem} is not taken: {problem.kind}: {problem.message}")
        assert not isinstance(prepared, Rejection)
        kept = registry.submit(prepared, reserved=True).version
        _refuse_unfit(registry, kept)  # it may have been there, and in quarantine
        found.append(kept.digest)
    return tuple(found)


def left_out(registry: Registry, hidden: Iterable[str]) -> dict[str, str]:
    """Those of a hidden population that cannot play in a final, each with the reason.

    What may be announced can: this is about what was put into quarantine since, and about
    tournaments that were announced when everything was taken.

    Args:
      registry: has them.
      hidden: digests.
    """
    out: dict[str, str] = {}
    for digest, version in registry.by_digests(hidden).items():
        one = as_it_stands(version)
        if one.status is Status.QUARANTINED:
            out[digest] = one.status_reason
        elif any(player.kind == ASKED for player in members_of(registry, [one]).values()):
            out[digest] = "it is played by asking a language model"
    return out


def _refuse_unfit(registry: Registry, version: PolicyVersion) -> None:
    """Does nothing where a policy can be hidden.

    Raises:
      UsageFault: it cannot; the message says what to do.
    """
    if version.status is Status.QUARANTINED:
        raise UsageFault(
            f"{version.ref} cannot be hidden: it is in quarantine ({version.status_reason}).  Name "
            "another one, or let it back with  arena reinstate  first"
        )
    if version.kind in KINDS or _is_houses(version):
        return
    if version.kind != "mixture":
        raise UsageFault(
            f"{version.ref} cannot be hidden: it is of kind {version.kind}, which cannot be played "
            f"again alike.  Name a policy of kind {', '.join(KINDS)}, or one of the house's"
        )
    members = registry.by_digests(weights_of(version.payload)).values()
    others = [one.ref for one in members if not _is_houses(one)]
    if others:
        raise UsageFault(
            f"{version.ref} cannot be hidden: of this mixture {', '.join(sorted(others)[:3])} "
            f"{'is' if len(others) == 1 else 'are'} not the house's, so that nobody could play the "
            "final again from its certificate.  Name its members instead"
        )


def _is_houses(version: PolicyVersion) -> bool:
    """Whether every home has it."""
    return any(one.author == HOUSE for one in version.credits)


def read_contents(named: Sequence[str]) -> tuple[list[str], list[tuple[str, str | bytes]]]:
    """References and files apart; of files their names without ending, and what is in them.

    Raises:
      UsageFault: a file cannot be read.
    """
    files = [one for one in named if Path(one).is_file()]
    refs = [one for one in named if one not in files]
    return refs, [(Path(one).stem, _read(Path(one))) for one in files]


def _read(file: Path) -> str | bytes:
    """A policy's source, or the weights of a network."""
    read = read_weights(file) if file.suffix == ".safetensors" else read_source(file)
    if isinstance(read, Rejection):
        raise UsageFault(f"{file} is not taken: {read.message}")
    return read if isinstance(read, bytes) else read.text
