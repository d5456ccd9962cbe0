"""Opponents that candidates meet and that nobody who writes one is shown: a score for generality.

A program that holds a copy of its opponent can foresee it, and the next one holds a copy of that:
each beats the last, and none plays well against anybody else.  So a share of the score that chooses
among candidates comes from opponents that cannot be foreseen: older members that a prompt does not
show, programs of earlier iterations that behave in other ways (`population.archive`), mutants of
the heaviest opponents, strangers, which are policies without memory that are drawn at random, and
credulous players.  What is reported of who was chosen is its return against sigma alone.

A credulous player is a program of the grammar that believes something of its opponent, whatever it
sees, and always acts on it.  Members that play safe draw with each other, so returns among them do
not tell how strong they are; who wins from players that hide nothing has found out what they do.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from arena.enrol import Enrolled
from arena.games.protocol import Game
from arena.kinds.tabular import payload_of
from arena.submission import Rejection, prepare
from oracle.attempts import rng_of
from oracle.context import OpponentInput, parse_filter, parse_input
from oracle.grammar.genome import GRAMMARS, write_source
from oracle.values import Opponent, Task
from population.archive import CUTS, THIRDS, Behaviour, behaviour, elites
from population.config import CUSTOM, RunConfig
from population.matches import Matches
from population.members import AUTHOR
from population.mutants import mutant
from population.records import Iteration
from population.situations import retold
from registry.values import Parent, PolicyVersion, Status, Submission

OLDER, TRIED, STRANGERS, CREDULOUS = 2, 2, 3, 16
"""How many of these kinds at most; the fewer there are, the larger is the share of each."""
SHIFTS = (0, 1, 2)
"""A mutant for each: see `mutant`.  With two actions, the last is another copy without a shift."""
_FAVOURITE = 0.8
"""How likely a stranger does what it prefers in a situation; else it acts at random."""
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

    Registers as candidates those that are made for it, and lets them play their trials.  Who is
    hidden follows from the task's seed and from what was stored before.

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
    for group, made in (
        ("older", _older(task, config, rng)),
        ("tried", _tried(task, matches, config, before, rng)),
        ("altered", _mutants(task, matches, run, rng)),
        ("without memory", strangers(task, matches, run, rng)),
        ("credulous", credulous(task, matches, run, rng) if config.credulous else []),
    ):
        for one in made:
            if one.digest not in known:
                found.setdefault(one.digest, replace(one, group=group))
    if not found:
        return task
    return replace(task, hidden=tuple(found.values()), hidden_share=config.hidden_share)


def _older(task: Task, config: RunConfig, rng: random.Random) -> list[Opponent]:
    """Members without weight that no prompt shows; any of them where there is no prompt.

    An oracle of somebody's own is given all members.
    """
    oracle = config.oracle
    if oracle.model == CUSTOM:
        return []
    shown = parse_filter(oracle.shown).apply(task.opponents, task.others)
    none = parse_input(oracle.opponents) is OpponentInput.NONE  # prompts show nobody then
    prompted = oracle.writes_with_a_model and not none
    told = {one.opponent.digest for one in shown} if prompted else set()
    rest = [one for one in task.others if one.digest not in told]
    return rng.sample(rest, min(OLDER, len(rest)))


def _tried(
    task: Task,
    matches: Matches,
    config: RunConfig,
    before: Sequence[Iteration],
    rng: random.Random,
) -> list[Opponent]:
    """Programs of earlier iterations that did not join, each of another behaviour."""
    members = {one.digest for one in (*task.opponents, *task.others)}
    kept = elites(_behaving(matches, config, before, members))
    digests = rng.sample(kept, min(TRIED, len(kept)))
    versions = matches.arena.versions(digests)
    return [_opponent(versions[one]) for one in digests]


def _behaving(
    matches: Matches, config: RunConfig, before: Sequence[Iteration], members: set[str]
) -> Iterator[tuple[str, int, float, Behaviour]]:
    game = matches.game
    if game.stationary is None:
        return
    for iteration in before:
        first = config.selecting(iteration.k)
        for attempt in iteration.attempts:
            score, digest = attempt.score, attempt.digest
            if score is None or digest in members:
                continue
            met = [one for one in score.against if one.matches]
            if not met:
                continue
            begin = first(digest, met[0].digest)
            below = begin + min(_BEHAVIOUR_MATCHES, met[0].matches)
            how = _behaved(matches, config, digest, met[0].digest, begin, below)
            yield digest, iteration.k, score.u, how


def _behaved(
    matches: Matches, config: RunConfig, digest: str, against: str, first: int, below: int
) -> Behaviour:
    """How a program behaves in these repetitions against another."""
    asked = (digest, against, first, below)
    if asked not in matches.behaved:
        views = retold(matches.arena, matches.game, *asked)
        choices = [view.stored.decisions(digest) for view in views]
        cuts = CUTS if config.fine_classes else THIRDS
        matches.behaved[asked] = behaviour(choices, len(matches.game.actions), cuts)
    return matches.behaved[asked]


def _mutants(task: Task, matches: Matches, run: str, rng: random.Random) -> list[Opponent]:
    """Altered copies of the heaviest opponents, those that can play."""
    heaviest = sorted(task.opponents, key=lambda one: -one.weight)
    origins = [heaviest[place % len(heaviest)] for place in range(len(SHIFTS))]
    copies = [
        (mutant(matches.game, one.source, rng, shift), one)
        for one, shift in zip(origins, SHIFTS, strict=True)
        if one.source
    ]
    return _entered(task, matches, run, copies)


def strangers(task: Task, matches: Matches, run: str, rng: random.Random) -> list[Opponent]:
    """Policies without memory: whoever learns beats them, and nobody can have foreseen them.

    Registers them as candidates, and lets them play their trials.
    """
    game = matches.game
    if game.stationary is None:
        return []
    tables = [_table(game, rng) for _ in range(STRANGERS)]
    if game.states is not None:
        drawn = [_tabular(game, task, run, table) for table in tables]
        return [_opponent(matches.arena.register(one, ours=True)) for one in drawn]
    assert game.stationary.program is not None
    sources = [game.stationary.program(table) for table in tables]
    return _entered(task, matches, run, [(source, None) for source in sources])


def credulous(task: Task, matches: Matches, run: str, rng: random.Random) -> list[Opponent]:
    """Programs that act on what they believe, whatever happens; none where there is no grammar.

    Registers them as candidates, and lets them play their trials.
    """
    grammar = GRAMMARS.get(matches.game.name)
    if grammar is None:
        return []
    sources: dict[str, None] = {}  # each once, in the order of drawing
    while len(sources) < CREDULOUS:
        sources[write_source(grammar.credulous(rng))] = None
    return _entered(task, matches, run, [(source, None) for source in sources])


def _table(game: Game, rng: random.Random) -> dict[str, tuple[float, ...]]:
    """In each situation one action is preferred."""
    assert game.stationary is not None
    found = {}
    for situation, legal in game.stationary.legal.items():
        favourite = rng.choice(legal)
        rest = (1.0 - _FAVOURITE) / len(legal)
        found[situation] = tuple(
            rest * (action in legal) + _FAVOURITE * (action == favourite)
            for action in range(len(game.actions))
        )
    return found


def _tabular(
    game: Game, task: Task, run: str, table: Mapping[str, tuple[float, ...]]
) -> Submission:
    assert game.states is not None
    return Submission(
        game=game.name,
        name=f"{AUTHOR}/{run}-hidden",
        kind="tabular",
        payload=payload_of(game.states, table),
        description="A policy without memory, drawn at random.",
        labels={"iteration": task.key},
        provenance={"run": run},
        status=Status.CANDIDATE,
    )


def _entered(
    task: Task, matches: Matches, run: str, programs: Sequence[tuple[str, Opponent | None]]
) -> list[Opponent]:
    """Registers programs, each with what it was made from; those that cannot play are left out."""
    prepared = [_submission(task, matches, run, origin, source) for source, origin in programs]
    sound = [one for one in prepared if not isinstance(one, Rejection)]
    entered = matches.enter(sound, [one.digest for one in task.opponents])
    return [_opponent(one.version) for one in entered if isinstance(one, Enrolled)]


def _opponent(version: PolicyVersion) -> Opponent:
    return Opponent(version.digest, version.ref, version.payload, 0.0)


def _submission(
    task: Task, matches: Matches, run: str, origin: Opponent | None, source: str
) -> Submission | Rejection:
    return prepare(
        matches.game,
        source,
        name=f"{AUTHOR}/{run}-hidden",
        labels={"iteration": task.key},
        provenance={"run": run},
        parents=(Parent(origin.digest, "made-from"),) if origin else (),
        status=Status.CANDIDATE,
    )
