"""What the pages read about runs of CSRO."""

from __future__ import annotations

import streamlit as st

from arena.games import game as game_named
from arena.games.protocol import Game
from dashboards import data
from dashboards.news import FRESH_LOOKS, News, Phase, news_of, phase_of
from oracle.models.journal import Call
from population.oracles import journal_of
from population.records import RunRecord, RunState
from population.report.facts import RunFacts, gather
from population.runs import FILE, Runs
from population.scores import Scores


def _runs() -> Runs | None:
    """The file of runs; None where no run was ever started: looking must not make one."""
    folder = data.home().path
    return Runs(folder) if (folder / FILE).exists() else None


@st.cache_resource(ttl=data.SECONDS, max_entries=4, show_spinner=False)
def _records(path: str, game: str) -> tuple[RunRecord, ...]:
    runs = _runs()
    return tuple(reversed(runs.all(game))) if runs else ()


def records(game: Game) -> tuple[RunRecord, ...]:
    """The runs of a game, the newest first."""
    return _records(str(data.home().path), game.name)


@st.cache_resource(max_entries=24, show_spinner=False)
def _facts(path: str, name: str, stamp: str, state: str, iterations: int) -> RunFacts:
    return gather(data.home(), Runs(data.home().path), name)


def facts(name: str) -> RunFacts:
    """All about a run.

    Raises:
      UnknownRun: there is none of that name.
    """
    runs = Runs(data.home().path)
    record = runs.get(name)
    stamp = data.fingerprint(game_named(record.config.game))
    return _facts(str(data.home().path), name, stamp, record.state.value, done(name))


@st.cache_resource(ttl=data.SECONDS, max_entries=64, show_spinner=False)
def _done(path: str, name: str) -> int:
    return len(Runs(data.home().path).iterations(name))


def done(name: str) -> int:
    """How many iterations of a run are finished."""
    return int(_done(str(data.home().path), name))


@st.cache_resource(ttl=data.SECONDS, max_entries=64, show_spinner=False)
def _news(path: str, name: str) -> News:
    record = Runs(data.home().path).get(name)
    fresh = FRESH_LOOKS * data.settings().live_seconds
    return news_of(data.home(), record, done(name), fresh)


def news(record: RunRecord) -> News | None:
    """How an unfinished run stands; None for one that is not."""
    if record.state is not RunState.UNFINISHED:
        return None
    return _news(str(data.home().path), record.name)


def phase(record: RunRecord) -> Phase:
    """What a run is doing."""
    return phase_of(record.state, news(record))


def scored(name: str) -> list[tuple[float, Scores]]:
    """Scores of a run's meta-strategies that were measured, by the number of policies added."""
    found = facts(name)
    points = [(float(step.iteration.k - 1), step.scores) for step in found.steps]
    if found.record.final is not None:
        points.append((float(len(found.steps)), found.scores))
    return [(place, scores) for place, scores in points if scores is not None]


def calls(name: str) -> tuple[Call, ...]:
    """The model calls of a run, prompts and replies included."""
    return journal_of(Runs(data.home().path), name).calls()
