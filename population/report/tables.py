"""The report as CSV files, for other tools."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from arena.analysis.estimates import Estimate
from oracle.end import End
from oracle.values import Against
from population import u_intervals
from population.report.facts import RunFacts, Step
from population.scores import Scores
from registry.display import shown


def write_tables(facts: RunFacts, folder: Path) -> tuple[Path, ...]:
    """Writes iterations.csv, attempts.csv, payoffs.csv and members.csv into a folder.

    A value that is not known is an empty cell.  In iterations.csv, row k has the scores of the
    meta-strategy after iteration k, and row 0 those of the initial one and nothing else; u and
    exploitability belong to the meta-strategy that iteration k was to beat.
    """
    folder.mkdir(parents=True, exist_ok=True)
    labels = {member.digest: member.label for member in facts.members}
    facts.payoffs.named(labels).to_csv(folder / "payoffs.csv")
    return (
        _write(folder / "iterations.csv", _ITERATION, _iterations(facts)),
        _write(folder / "attempts.csv", _ATTEMPT, _attempts(facts)),
        _write(folder / "members.csv", _MEMBER, _members(facts)),
        folder / "payoffs.csv",
    )


_FORMULA = ("=", "+", "-", "@")
_METRICS = ("pop_return", "pop_expl", "agg_score")
_SCORES = tuple(f"{name}{end}" for name in _METRICS for end in ("", "_low", "_high"))
_ITERATION = (
    *("k", "u", "stderr", "u_low", "u_high", "u_matches", "u_forfeited"),
    *("accepted", "attempts", "rejected", "repairs", "exploitability"),
    *("calls", "tokens", "cost_usd", "matches", "trials", "seconds", "match_seconds"),
    "oracle_seconds",
    *_SCORES,
    *("ended", "most", "most_stderr", "most_exact"),
)
_ATTEMPT = (
    *("k", "number", "digest", "parent", "call", "u", "stderr", "u_low", "u_high"),
    *("u_matches", "u_forfeited", "rejected", "reason", "kept", "repairs", "given_up"),
)
_MEMBER = (
    *("label", "ref", "digest", "parent", "weight"),
    *_SCORES,
    "description",
)


def _iterations(facts: RunFacts) -> Iterable[tuple[object, ...]]:
    begun = dict(zip(_SCORES, _scored(facts.begun), strict=True)) | {"k": 0}
    yield tuple(begun.get(name) for name in _ITERATION)
    for step in facts.steps:
        u = u_intervals.of_iteration(step.iteration, facts.record.config, facts.game)
        yield _iteration(step, u)


def _iteration(step: Step, u: Estimate | None) -> tuple[object, ...]:
    one, effort = step.iteration, step.iteration.effort
    return (
        one.k,
        *_told(u, one.against),
        one.accepted,
        len(one.attempts),
        " ".join(f"{kind}:{count}" for kind, count in step.rejected.items()),
        sum(attempt.repairs for attempt in one.attempts),
        one.sigma.exploitability,
        step.spent.calls,
        step.spent.tokens,
        step.spent.cost if step.spent.calls else None,
        effort.matches,
        effort.trials,
        effort.seconds,
        effort.match_seconds,
        effort.oracle_seconds,
        *_scored(step.scores),
        " ".join(one.end.reasons) if one.end else None,
        *_most(one.end),
    )


def _scored(scores: Scores | None) -> tuple[float | None, ...]:
    if scores is None:
        return (None,) * len(_SCORES)
    metrics: tuple[Estimate, ...] = tuple(getattr(scores, name) for name in _METRICS)
    return tuple(number for one in metrics for number in (one.value, one.low, one.high))


def _told(u: Estimate | None, against: Sequence[Against]) -> tuple[object, ...]:
    """A u, its error and 95 % interval, the matches behind it, and those that others forfeited."""
    known = (None,) * 4 if u is None else (u.value, u.stderr, u.low, u.high)
    if not against:
        return (*known, None, None)
    return (*known, sum(one.matches for one in against), u_intervals.forfeits_of(against))


def _most(end: End | None) -> tuple[object, ...]:
    """The most that could be had, its standard error, and whether it is exact."""
    if end is None or end.most is None:
        return (None, None, None)
    return (end.most.value, end.most.stderr, int(end.most.exact))


def _attempts(facts: RunFacts) -> Iterable[tuple[object, ...]]:
    for step in facts.steps:
        for one in step.iteration.attempts:
            yield (
                step.iteration.k,
                one.number,
                one.digest,
                one.parent,
                one.call,
                *_told(
                    u_intervals.of_score(one.score, facts.game) if one.score else None,
                    one.score.against if one.score else (),
                ),
                one.failure.kind.value if one.failure else "",
                one.failure.reason if one.failure else "",
                int(one.kept),
                one.repairs,
                int(one.score is not None and one.score.stopped),
            )


def _members(facts: RunFacts) -> Iterable[tuple[object, ...]]:
    weights = facts.sigma.weights if facts.sigma else {}
    for member in facts.members:
        yield (
            member.label,
            member.ref,
            member.digest,
            member.parent,
            weights.get(member.digest),
            *_scored(facts.measured.single(member.digest)),
            member.description,
        )


def _write(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows([_cell(value) for value in row] for row in rows)
    return path


def _cell(value: object) -> object:
    """A value for a spreadsheet, which takes a text that begins like a formula for one.

    Descriptions and reasons are the words of a model, or of whoever wrote a program.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if not isinstance(value, str):
        return value
    text = shown(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
