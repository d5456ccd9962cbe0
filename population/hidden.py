"""Opponents that candidates meet and that nobody who writes one is shown: a score for generality.

A program that holds a copy of its opponent can foresee it, and the next one holds a copy of that:
each beats the last, and none plays well against anybody else.  So a share of the score that chooses
among candidates comes from opponents that cannot be foreseen: older members that a prompt does not
show, programs of earlier iterations that behave in other ways (`population.archive`), and mutants
of the heaviest opponents.  What is reported of who was chosen is its return against sigma alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from arena.enrol import Enrolled
from arena.submission import Rejection, prepare
from arena.values import SELECTING
from oracle.context import parse_filter
from oracle.trials import rng_of
from oracle.values import Opponent, Task
from population.archive import Behaviour, behaviour, elites
from population.config import RunConfig
from population.matches import Matches
from population.members import AUTHOR
from population.mutants import mutant
from population.records import Iteration
from population.situations import retold
from registry.values import Parent, Status, Submission

OLDER, TRIED = 2, 2
"""How many of these kinds at most; the fewer there are, the larger is the share of each."""
SHIFTS = (0, 1, 2)
"""A mutant for each: see `mutant`.  With two actions, the last is another copy without a shift."""
_BEHAVIOUR_MATCHES = 2
"""Of a program with one opponent, from which its behaviour is told."""


def with_hidden(
    task: Task,
    matches: Matches,
    config: RunConfig,
    run: str,
    before: Sequence[Iteration],
) -> Task:
    """The task with its hidden opponents; as it is where the run has none.

    Registers the mutants as candidates and lets them play their trials.  Who is hidden follows from
    the task's seed and from what was stored before.

    Args:
      task: of an iteration.
      matches: plays the trials.
      config: of the run.
      run: its name.
      before: the iterations before.
    """
    if not config.hidden_share:
        return task
    rng = rng_of(task, "hidden")
    known = {one.digest for one in task.opponents}
    found: dict[str, Opponent] = {}
    for one in (
        *_older(task, config, rng),
        *_tried(task, matches, before, rng),
        *_mutants(task, matches, run, rng),
    ):
        if one.digest not in known:
            found.setdefault(one.digest, one)
    if not found:
        return task
    return replace(task, hidden=tuple(found.values()), hidden_share=config.hidden_share)


def _older(task: Task, config: RunConfig, rng: random.Random) -> list[Opponent]:
    """Members without weight that no prompt shows; any of them where there is no prompt."""
    shown = parse_filter(config.oracle.shown).apply(task.opponents, task.others)
    prompted = config.oracle.writes_with_a_model
    told = {one.opponent.digest for one in shown} if prompted else set()
    rest = [one for one in task.others if one.digest not in told]
    return rng.sample(rest, min(OLDER, len(rest)))


def _tried(
    task: Task, matches: Matches, before: Sequence[Iteration], rng: random.Random
) -> list[Opponent]:
    """Programs of earlier iterations that did not join, each of another behaviour."""
    members = {one.digest for one in (*task.opponents, *task.others)}
    kept = elites(_behaving(matches, before, members))
    digests = rng.sample(kept, min(TRIED, len(kept)))
    versions = matches.arena.versions(digests)
    return [Opponent(one, versions[one].ref, versions[one].payload, 0.0) for one in digests]


def _behaving(
    matches: Matches, before: Sequence[Iteration], members: set[str]
) -> Iterator[tuple[str, float, Behaviour]]:
    game = matches.game
    if game.stationary is None:
        return
    for iteration in before:
        for attempt in iteration.attempts:
            score, digest = attempt.score, attempt.digest
            if score is None or digest in members:
                continue
            met = [one for one in score.against if one.matches]
            if not met:
                continue
            below = SELECTING + min(_BEHAVIOUR_MATCHES, met[0].matches)
            views = retold(matches.arena, game, digest, met[0].digest, SELECTING, below)
            choices = [view.stored.decisions(digest) for view in views]
            yield digest, score.u, behaviour(choices, len(game.actions))


def _mutants(task: Task, matches: Matches, run: str, rng: random.Random) -> list[Opponent]:
    """Altered copies of the heaviest opponents, those that can play."""
    heaviest = sorted(task.opponents, key=lambda one: -one.weight)
    origins = [heaviest[place % len(heaviest)] for place in range(len(SHIFTS))]
    submissions = [
        _submission(task, matches, run, one, mutant(matches.game, one.source, rng, shift))
        for one, shift in zip(origins, SHIFTS, strict=True)
        if one.source
    ]
    sound = [one for one in submissions if not isinstance(one, Rejection)]
    entered = matches.enter(sound, [one.digest for one in task.opponents])
    return [
        Opponent(one.version.digest, one.version.ref, one.version.payload, 0.0)
        for one in entered
        if isinstance(one, Enrolled)
    ]


def _submission(
    task: Task, matches: Matches, run: str, origin: Opponent, source: str
) -> Submission | Rejection:
    return prepare(
        matches.game,
        source,
        name=f"{AUTHOR}/{run}-hidden",
        labels={"iteration": task.key},
        provenance={"run": run, "mutant_of": origin.digest},
        parents=(Parent(origin.digest, "made-from"),),
        status=Status.CANDIDATE,
    )
