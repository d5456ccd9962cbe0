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
    arena: Arena, game: Game, tournament: str, named: Sequence[str]
) -> tuple[str, ...]:
    """The digests of a hidden population.

    A file is checked like any policy and registered as a candidate, which no list of entrants and
    no leaderboard shows; its trial is not stored.

    Args:
      arena: checks it, and has the registry.
      game: which game.
      tournament: its name, part of the policies' names.
      named: files, or references of policies that are registered.

    Raises:
      UsageFault: a file is not taken.
      MalformedName, UnknownPolicy, AmbiguousRef: a reference means none, or several.
    """
    found = []
    for one in named:
        file = Path(one)
        if not file.is_file():
            found.append(arena.policy(one, game).digest)
            continue
        content = _read(file)
        name = f"{AUTHOR}/{tournament}-{file.stem}"
        prepared = prepare(game, content, name=name, status=Status.CANDIDATE)
        problem = prepared if isinstance(prepared, Rejection) else arena.check(content, game)
        if problem is not None:
            raise UsageFault(f"{file} is not taken: {problem.kind}: {problem.message}")
        assert not isinstance(prepared, Rejection)
        found.append(arena.home.registry.submit(prepared, reserved=True).version.digest)
    return tuple(found)


def _read(file: Path) -> str | bytes:
    """A policy's source, or the weights of a network."""
    read = read_weights(file) if file.suffix == ".safetensors" else read_source(file)
    if isinstance(read, Rejection):
        raise UsageFault(f"{file} is not taken: {read.message}")
    return read if isinstance(read, bytes) else read.text
