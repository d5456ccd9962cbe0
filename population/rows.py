"""Values of a run to the rows of its tables, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from oracle.end import End
from oracle.values import Against, Attempt, Failure, Rejected, Score
from population.config import RunConfig
from population.records import Effort, Iteration, RunRecord, RunState, Sigma
from population.schema import AttemptRow, IterationRow, RunRow


def record_of(row: RunRow) -> RunRecord:
    """A run."""
    config = RunConfig.from_document(row.config)
    if config.initial and row.initial:  # a run of before kept the words that were given
        config = replace(config, begins=row.initial)
    return RunRecord(
        name=row.name,
        config=config,
        state=RunState(row.state),
        note=row.note,
        created=row.created,
        initial=row.initial,
        final=None if row.final is None else _sigma(row.final),
        mixture=row.mixture,
    )


def sigma_document(sigma: Sigma) -> dict[str, Any]:
    """A meta-strategy as JSON."""
    # A list, because the order of members matters and JSON objects have none.
    return {
        "weights": [[digest, weight] for digest, weight in sigma.weights.items()],
        "exploitability": sigma.exploitability,
        "solver": sigma.solver,
        "settings": dict(sigma.settings),
    }


def _sigma(document: Mapping[str, Any]) -> Sigma:
    return Sigma(**{**document, "weights": dict(document["weights"])})


def iteration_row(run: str, iteration: Iteration) -> IterationRow:
    """An iteration without its attempts, as it is stored."""
    return IterationRow(
        run=run,
        k=iteration.k,
        sigma=sigma_document(iteration.sigma),
        accepted=iteration.accepted,
        u=iteration.u,
        stderr=iteration.stderr,
        effort=asdict(iteration.effort),
        ended=iteration.end.document() if iteration.end else None,
        against=[one.kept() for one in iteration.against],
    )


def iteration_of(row: IterationRow, attempts: tuple[Attempt, ...]) -> Iteration:
    """An iteration with its attempts."""
    return Iteration(
        k=row.k,
        sigma=_sigma(row.sigma),
        accepted=row.accepted,
        u=row.u,
        stderr=row.stderr,
        attempts=attempts,
        effort=Effort(**row.effort),
        end=end_of(row),
        against=_against(vars(row).get("against")),
    )


def end_of(row: object) -> End | None:
    """Why a stored search ended; None where its program did not keep that."""
    document = vars(row).get("ended")  # a column that a file lacks was not read
    return End.from_document(document) if document else None


def attempt_row(run: str, k: int, place: int, attempt: Attempt) -> AttemptRow:
    """An attempt as it is stored."""
    score, failure = attempt.score, attempt.failure
    return AttemptRow(
        run=run,
        k=k,
        place=place,
        number=attempt.number,
        parent=attempt.parent,
        call=attempt.call,
        digest=attempt.digest,
        kept=attempt.kept,
        repairs=attempt.repairs,
        u=score.u if score else None,
        stderr=score.stderr if score else None,
        stopped=score.stopped if score else None,
        against=[one.kept() for one in score.against] if score else [],
        rejected=failure.kind.value if failure else "",
        reason=failure.reason if failure else "",
    )


def attempt_of(row: AttemptRow) -> Attempt:
    """An attempt."""
    score = None
    if row.u is not None and row.stderr is not None:
        score = Score(row.u, row.stderr, _against(row.against), bool(row.stopped))
    failure = Failure(Rejected(row.rejected), row.reason) if row.rejected else None
    return Attempt(
        row.number, row.parent, row.call, row.digest, score, failure, row.kept, row.repairs
    )


def _against(kept: Sequence[Mapping[str, Any]] | None) -> tuple[Against, ...]:
    # What a newer program keeps beside these is left out.
    names = [field.name for field in fields(Against)]
    return tuple(
        Against(**{name: one[name] for name in names if name in one}) for one in kept or ()
    )
