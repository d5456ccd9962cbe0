"""Plays matches of a certificate again, from the key and the sources, in a home that passes."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from arena.contest.certificate import Facts, Outcome
from arena.contest.values import moves_digest
from arena.contest.verification import Finding
from arena.errors import UsageFault
from arena.executors import Workers
from arena.games import game as game_named
from arena.home import Home, open_home
from arena.runner import Runner
from arena.values import Match, Result, Termination
from registry.naming import digest_of
from registry.values import Submission
from sandbox.choose import WallChoice


def play_again(
    facts: Facts,
    count: int,
    *,
    chance: random.Random,
    sources: Mapping[str, str] | None = None,
    workers: Workers | int = 0,
    wall: WallChoice | None = None,
) -> tuple[Finding, ...]:
    """Plays some of a final's matches again and compares moves, returns and ends.

    Args:
      facts: of a certificate that was verified.
      count: how many matches, drawn from all; all where there are fewer.
      chance: draws them.
      sources: payloads by digest, for policies whose source the certificate leaves out.
      workers: see `Runner`.
      wall: likewise.

    Returns:
      One finding for all, or one for each match that came out differently.

    Raises:
      UsageFault: a source is missing.
    """
    chosen = chance.sample(facts.outcomes, min(count, len(facts.outcomes)))
    game = game_named(facts.game)
    needed = {digest for one in chosen for digest in (one.low, one.high)}
    with TemporaryDirectory(prefix="arena-verify-") as folder:
        home = open_home(Path(folder) / "home", seed_key=facts.key)
        _register(home, facts, needed, sources or {})
        stored = [_result(facts, one) for one in chosen]
        with Runner(home, workers=workers, wall=wall) as runner:
            again = runner.play_again(game, stored)
    differing = [
        f"match {old.match.id[:12]} came out differently"
        for one, old, new in zip(chosen, stored, again, strict=True)
        if (new.returns, new.termination, new.fault_seat, moves_digest(new))
        != (old.returns, old.termination, old.fault_seat, one.moves)
    ]
    detail = f"{len(chosen):,} matches"
    return tuple(Finding("played again", one) for one in differing) or (
        Finding("played again", "", detail),
    )


def _register(home: Home, facts: Facts, needed: set[str], sources: Mapping[str, str]) -> None:
    """Puts the policies that play into a home that has the house's already."""
    there = {one.digest for one in home.registry.find(facts.game)}
    for one in (*facts.entrants, *facts.hidden):
        if one.digest not in needed - there:
            continue
        payload = sources.get(one.digest) if one.source is None else one.source
        if payload is None:
            raise UsageFault(
                f"the certificate leaves out the source of {one.names[0]}: use one with sources, "
                "or name the home that has it"
            )
        if digest_of(facts.game, one.kind, payload) != one.digest:
            raise UsageFault(f"the source of {one.names[0]} is not that of {one.digest}")
        name = one.names[0].rpartition("@")[0]
        home.registry.submit(Submission(facts.game, name, one.kind, payload), reserved=True)


def _result(facts: Facts, one: Outcome) -> Result:
    """A match as the passing home would have stored it: its key is that of its first season."""
    match = Match(facts.game, facts.game_version, one.low, one.high, one.repetition)
    ended = Termination(one.termination)
    return Result(match, 1, one.returns, ended, one.fault_seat, "", b"", "native", 0.0)
