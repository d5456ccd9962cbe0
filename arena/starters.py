"""Puts the starter policies into a new home."""

from __future__ import annotations

from arena.enrol import try_out
from arena.games import GAMES
from arena.home import Home
from arena.rejection import Rejection
from arena.runner import Runner
from arena.submission import prepare
from registry.values import Submission
from sandbox.choose import WallChoice
from sandbox.errors import SandboxError


def enrol_starters(home: Home) -> None:
    """Registers the starters that the registry lacks, where they play well.

    They are our own code, so the sealed process is wall enough.  On a host without any sandbox
    they stay out: nothing Python could play there anyway.  Their trials are not stored: a home
    in which nobody asked for a match has none.
    """
    known = {version.name for version in home.registry.find(author="starter")}
    missing = [game for game in GAMES.values() if game.starter.name not in known]
    if not missing:
        return
    try:
        with Runner(home, wall=WallChoice("process"), workers=1) as runner:
            for game in missing:
                starter = game.starter
                prepared = prepare(
                    game,
                    starter.path,
                    name=starter.name,
                    description=starter.description,
                    provenance=starter.provenance,
                )
                assert isinstance(prepared, Submission), prepared
                (tried,) = try_out(runner, game, {starter.name: prepared}).values()
                # A trial that a busy machine cut short is made again by the next command.
                if not isinstance(tried, Rejection):
                    home.registry.submit(prepared, reserved=True)
    except SandboxError:
        return
