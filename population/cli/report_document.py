"""A report as JSON, for other programs."""

from __future__ import annotations

from typing import Any

from arena.cli.standings import document_of
from population import u_intervals
from population.cli.listing import summary_of
from population.records import Iteration
from population.report.facts import RunFacts
from population.scores import Scores


def report_document(facts: RunFacts) -> dict[str, Any]:
    """All that a report tells, but for programs and payoffs."""
    labels = {member.digest: member.label for member in facts.members}
    total = facts.usage.total
    return {
        **summary_of(facts.record, len(facts.steps)),
        "configuration": facts.record.config.described(),
        "ref": facts.mixture or None,
        "sigma": {labels[d]: w for d, w in facts.sigma.support.items()} if facts.sigma else {},
        "population": facts.measured.population,
        "matches_per_cell": facts.scores.matches if facts.scores else 0,
        "scores": _scores(facts.scores),
        "best_single": None
        if facts.best is None
        else {"label": labels[facts.best[0]], **(_scores(facts.best[1]) or {})},
        "usage": {"calls": total.calls, "tokens": total.tokens, "cost_usd": total.cost},
        "seconds": sum(step.iteration.effort.seconds for step in facts.steps),
        "initial_scores": _scores(facts.begun),
        "iterations_told": [
            {
                "k": step.iteration.k,
                **_u(step.iteration, facts),
                "attempts": len(step.iteration.attempts),
                "rejected": step.rejected,
                "calls": step.spent.calls,
                "tokens": step.spent.tokens,
                "cost_usd": step.spent.cost,
                "seconds": step.iteration.effort.seconds,
                "ended": step.iteration.end.document() if step.iteration.end else None,
                "scores": _scores(step.scores),
            }
            for step in facts.steps
        ],
    }


def _scores(scores: Scores | None) -> dict[str, Any] | None:
    if scores is None:
        return None
    return {
        "pop_return": document_of(scores.pop_return),
        "pop_expl": document_of(scores.pop_expl),
        "agg_score": document_of(scores.agg_score),
    }


def _u(one: Iteration, facts: RunFacts) -> dict[str, Any]:
    """An iteration's u with its error, as text and pages have it, and who forfeited for it."""
    u = document_of(u_intervals.of_iteration(one, facts.record.config, facts.game)) or {}
    return {
        "u": one.u,
        "stderr": u.get("stderr"),
        "ci95": u.get("ci95"),
        "u_matches": sum(part.matches for part in one.against) if one.against else None,
        "u_forfeited": u_intervals.forfeits_of(one.against) if one.against else None,
    }
