"""What the pages read about runs of CSRO."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import streamlit as st

from arena.analysis.stakes import stakes_of
from arena.games import game as game_named
from arena.games.protocol import Game
from arena.house.population import default_population
from arena.standings import payoff_table
from dashboards import data
from dashboards.liveness import FRESH_LOOKS, Liveness, Phase, liveness_of, phase_of
from oracle.models.budget import Spent
from oracle.models.journal import Call
from population.comparison import OurRow, our_rows
from population.evolution import Scored
from population.evolution import scored as scored_of
from population.exploits import KeptExploit, kept_exploits
from population.oracles import journal_of
from population.records import RunRecord, RunState, Sigma
from population.report.facts import RunFacts, gather, members_of, sigmas_of
from population.runs import Runs, had_runs
from population.scores import Measured, Scores, measured_in
from population.usage import usage_of


def _runs() -> Runs | None:
    """The file of runs; None where no run was ever started: looking must not make one."""
    folder = data.home().path
    return Runs(folder) if had_runs(folder) else None


@st.cache_resource(ttl=data.SECONDS, max_entries=4, show_spinner=False)
def _records(path: str, game: str) -> tuple[RunRecord, ...]:
    runs = _runs()
    return tuple(reversed(runs.all(game))) if runs else ()


def records(game: Game) -> tuple[RunRecord, ...]:
    """The runs of a game, the newest first."""
    return _records(str(data.home().path), game.name)


@st.cache_resource(max_entries=24, show_spinner=False)
def _facts(path: str, name: str, stamp: str, state: str, iterations: int) -> RunFacts:
    return gather(data.arena(), Runs(data.home().path), name)


def facts(name: str) -> RunFacts:
    """All about a run.

    Raises:
      UnknownRun: there is none of that name.
    """
    runs = Runs(data.home().path)
    record = runs.get(name)
    stamp = data.fingerprint(game_named(record.config.game))
    return _facts(str(data.home().path), name, stamp, record.state.value, done(name))


@st.cache_resource(ttl=data.SECONDS, max_entries=256, show_spinner=False)
def _done(path: str, name: str) -> int:
    return Runs(data.home().path).done(name)


def done(name: str) -> int:
    """How many iterations of a run are finished."""
    return int(_done(str(data.home().path), name))


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """What a run has done so far, without its programs and matches.

    Attributes:
      members: digest of each member to its label, in the order of joining.
      sigmas: its meta-strategies, before the first iteration and after each.
      minutes: that its iterations took.
      attempts: programs that its oracle wrote.
      rejected: of these, those that were no candidates.
    """

    members: Mapping[str, str]
    sigmas: tuple[Sigma, ...]
    minutes: float
    attempts: int
    rejected: int


@st.cache_resource(max_entries=256, show_spinner=False)
def _course(path: str, name: str, state: str, iterations: int) -> Course:
    runs = Runs(data.home().path)
    record, steps = runs.get(name), runs.iterations(name)
    return Course(
        members_of(record, steps),
        tuple(sigmas_of(record, steps)),
        sum(step.effort.seconds for step in steps) / 60.0,
        sum(len(step.attempts) for step in steps),
        sum(attempt.failure is not None for step in steps for attempt in step.attempts),
    )


def course(record: RunRecord) -> Course:
    """What a run has done so far."""
    return _course(str(data.home().path), record.name, record.state.value, done(record.name))


@st.cache_resource(max_entries=256, show_spinner=False)
def _spent(path: str, name: str, moment: int) -> Spent:
    return usage_of(journal_of(Runs(data.home().path), name)).total


def spent(record: RunRecord) -> Spent:
    """What a run's model calls took; they go on between the ends of iterations."""
    return _spent(str(data.home().path), record.name, _moment(record))


def _moment(record: RunRecord) -> int:
    """Changes as often as a run's calls are looked at anew; those of a finished one stay."""
    over = record.state is RunState.FINISHED
    return -1 if over else int(time.monotonic() / data.SECONDS)


@st.cache_resource(max_entries=256, show_spinner=False)
def _measured(
    path: str, game: str, stamp: str, field_key: int, members: tuple[str, ...]
) -> Measured:
    population, table = default_population(game), data.payoffs(game_named(game))
    if not set(members) <= set(table.digests):  # one was withdrawn, or is a candidate still
        table = payoff_table(data.home(), game_named(game), [*members, *population.digests])
    return measured_in(table, members, population, stakes_of(game_named(game)))


def measured(record: RunRecord) -> Measured:
    """What is known about a run's members against the evaluation population."""
    game, members = game_named(record.config.game), tuple(course(record).members)
    stamp, field_key = data.fingerprint(game), data.field(game).key
    return _measured(str(data.home().path), game.name, stamp, field_key, members)


def _mark(known: Measured) -> str:
    """Changes when a member has met the population again, and not with any other match."""
    table, scatter = known.table, known.table.scatter
    index = table.index()
    cells = np.ix_([index[one] for one in known.digests], [index[one] for one in known.against])
    arrays = (table.count[cells], table.mean[cells], table.stderr[cells])
    text = b"".join(array.tobytes() for array in arrays) + repr(scatter).encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest()


@st.cache_resource(max_entries=256, show_spinner=False)
def _scored(path: str, name: str, sigmas: int, mark: str, _known: Measured) -> Scored:
    return scored_of(_known, course(Runs(data.home().path).get(name)).sigmas)


def scored(record: RunRecord) -> Scored:
    """Scores of a run's meta-strategies that were measured, by the number of iterations."""
    known, sigmas = measured(record), len(course(record).sigmas)
    return _scored(str(data.home().path), record.name, sigmas, _mark(known), known)


def unmeasured(record: RunRecord) -> int:
    """How many meta-strategies of a run were not measured, where others were."""
    points = scored(record)
    return len(course(record).sigmas) - len(points) if points else 0


def latest(record: RunRecord) -> Scores | None:
    """Scores of the meta-strategy as it stands; None where it was not measured."""
    points = scored(record)
    return points[-1][1] if points and points[-1][0] == len(course(record).sigmas) - 1 else None


@st.cache_resource(max_entries=32, show_spinner=False)
def _by_variant(path: str, names: tuple[str, ...], marks: str) -> tuple[OurRow, ...]:
    runs = Runs(data.home().path)
    return our_rows((record, measured(record)) for record in map(runs.get, names))


def by_variant(found: Sequence[RunRecord]) -> tuple[OurRow, ...]:
    """Those of the runs that are finished, differing only in their seed as one, the best first."""
    finished = [record for record in found if record.state is RunState.FINISHED]
    if not finished:
        return ()
    marks = "".join(_mark(measured(record)) for record in finished)
    return _by_variant(str(data.home().path), tuple(one.name for one in finished), marks)


@st.cache_resource(ttl=data.SECONDS, max_entries=64, show_spinner=False)
def _liveness(path: str, name: str) -> Liveness:
    record = Runs(data.home().path).get(name)
    fresh = FRESH_LOOKS * data.settings().live_seconds
    return liveness_of(data.home(), record, done(name), fresh)


def liveness(record: RunRecord) -> Liveness | None:
    """How an unfinished run stands; None for one that is not."""
    if record.state is not RunState.UNFINISHED:
        return None
    return _liveness(str(data.home().path), record.name)


def phase(record: RunRecord) -> Phase:
    """What a run is doing."""
    return phase_of(record.state, liveness(record))


@st.cache_resource(ttl=data.SECONDS, max_entries=64, show_spinner=False)
def _exploits(path: str, target: str) -> tuple[KeptExploit, ...]:
    folder = data.home().path
    return kept_exploits(Runs(folder), target) if had_runs(folder) else ()


def exploits(target: str) -> tuple[KeptExploit, ...]:
    """What `csro exploit` found against a policy, the surest gain first."""
    return _exploits(str(data.home().path), target)


def calls(name: str, prefix: str = "") -> tuple[Call, ...]:
    """The model calls of a run whose key begins like that, prompts and replies included."""
    return journal_of(Runs(data.home().path), name).calls(prefix)


def calls_of(name: str, key: str) -> tuple[Call, ...]:
    """The calls of one key, in order: a question may have been asked in several forms."""
    return tuple(call for call in calls(name, key) if call.request.key == key)


@st.cache_resource(max_entries=512, show_spinner=False)
def _having(
    path: str, name: str, began: datetime, words: frozenset[str], moment: int
) -> tuple[tuple[str, int], ...]:
    found, seen = list[tuple[str, int]](), Counter[str]()
    for call in calls(name):
        key = call.request.key
        said = f"{key} {call.request.system} {call.sent} {call.reply.text}".lower()
        if all(word in said for word in words):
            found.append((key, seen[key]))
        seen[key] += 1
    return tuple(found)


def calls_having(record: RunRecord, words: str) -> tuple[tuple[str, int], ...]:
    """Which calls of a run have all of these words, by key and place among those of the key."""
    wanted = frozenset(words.lower().split())
    # A run may be deleted, and another begun under its name.
    path, moment = str(data.home().path), _moment(record)
    return _having(path, record.name, record.created, wanted, moment)
