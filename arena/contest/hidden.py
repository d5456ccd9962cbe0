"""The hidden evaluation population: policies that meet nobody before the final."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arena.errors import UsageFault
from arena.games.protocol import Game
from arena.local import Arena
from arena.rejection import Rejection
from arena.submission import prepare, read_source, read_weights
from registry.values import Status

AUTHOR = "operator"


def hidden_digests(
    arena: Arena,
    game: Game,
    tournament: str,
    named: Sequence[str],
    contents: Sequence[tuple[str, str | bytes]] = (),
) -> tuple[str, ...]:
    """The digests of a hidden population.

    What is handed over is checked like any policy and registered as a candidate, which no list of
    entrants and no leaderboard shows; its trial is not stored.

    Args:
      arena: checks it, and has the registry.
      game: which game.
      tournament: its name, part of the policies' names.
      named: references of policies that are registered.
      contents: others, each by a name and its source or weights.

    Raises:
      UsageFault: one is not taken.
      MalformedName, UnknownPolicy, AmbiguousRef: a reference means none, or several.
    """
    found = [arena.policy(one, game).digest for one in named]
    for stem, content in contents:
        name = f"{AUTHOR}/{tournament}-{stem}"
        prepared = prepare(game, content, name=name, status=Status.CANDIDATE)
        problem = prepared if isinstance(prepared, Rejection) else arena.check(content, game)
        if problem is not None:
            raise UsageFault(f"{stem} is not taken: {problem.kind}: {problem.message}")
        assert not isinstance(prepared, Rejection)
        found.append(arena.home.registry.submit(prepared, reserved=True).version.digest)
    return tuple(found)


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
