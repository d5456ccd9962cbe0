"""The report as one HTML page that needs nothing else, from the template `page.html.j2`.

Names, descriptions, sources and reasons come from programs and models: the template escapes all
that is filled in, figures escape what they are made of, and the page forbids scripts altogether.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from arena.analysis.metrics import payoff_intervals
from arena.analysis.stakes import stakes_of
from arena.figures.heatmap import payoff_heatmap
from arena.figures.intervals import Line, intervals
from arena.figures.templates import fill_page
from arena.figures.text import interval, number
from arena.source_check import difference
from oracle.models.budget import Spent
from population import evolution, u_intervals
from population.figures import ladder, over_iterations, sigma_area
from population.paper import reference_lines
from population.report.facts import MemberFacts, RunFacts, Step, sigmas_of
from population.scores import Scores

if TYPE_CHECKING:
    from markupsafe import Markup

METRICS = {name: evolution.METRICS[name] for name in ("PopReturn", "PopExpl", "AggScore")}
"""In the order of the paper's tables."""

_REASON = 400
"""Characters of a reason that are shown."""


def page(facts: RunFacts) -> str:
    """The whole page."""
    return fill_page(
        "population/report/page.html.j2",
        name=facts.record.name,
        unit=f"{facts.game.unit} per match",
        tiles=_tiles(facts).items(),
        configuration=list(facts.record.config.described().items()),
        population=facts.measured.population,
        matches=f"{facts.scores.matches:,}" if facts.scores else "",
        results=_results(facts),
        over_iterations=_over_iterations(facts),
        iterations=_iterations(facts),
        attempts=_attempts(facts),
        meaning=u_intervals.meaning(facts.record.config),
        rejected=_rejected(facts),
        payoffs=_payoffs(facts),
        sigma=_sigma(facts),
        per_bot=_per_bot(facts),
        members=[_member(member) for member in facts.members],
    )


def cost(spent: Spent) -> str:
    """Dollars, or that they are not known."""
    if not spent.calls:
        return "-"
    return "unknown" if spent.cost is None else f"${spent.cost:.4f}"


def _tiles(facts: RunFacts) -> dict[str, str]:
    record, config = facts.record, facts.record.config
    total = facts.usage.total
    return {
        "game": facts.game.title,
        "oracle": config.variant,
        "seed": str(config.seed),
        "iterations": f"{len(facts.steps)} of {config.iterations}",
        "state": f"{record.state.value} {record.note}".strip(),
        "meta-strategy": facts.mixture or "not yet",
        "model calls": f"{total.calls:,}" if total.calls else "none",
        "tokens": f"{total.tokens:,}" if total.calls else "none",
        "cost": cost(total),
        "time": f"{sum(s.iteration.effort.seconds for s in facts.steps):,.0f} s",
    }


def _results(facts: RunFacts) -> list[tuple[str, ...]]:
    return [_scored(name, scores) for name, scores in facts.results] if facts.scores else []


def _scored(name: str, scores: Scores) -> tuple[str, ...]:
    metrics = (scores.pop_return, scores.pop_expl, scores.agg_score)
    return (name, *(text for one in metrics for text in (number(one.value), interval(one))))


def _over_iterations(facts: RunFacts) -> Markup | None:
    """Metrics of sigma before the first iteration and after each."""
    steps = tuple(step.iteration for step in facts.steps)
    known = evolution.scored(facts.measured, sigmas_of(facts.record, steps))
    if not known:
        return None
    series = {f"{name} (95 %)": evolution.points_of(known, name) for name in METRICS}
    unit = f"{facts.game.unit} a match"
    return over_iterations(series, unit, reference_lines(facts.game.name)).alone()


def _iterations(facts: RunFacts) -> list[tuple[str, ...]]:
    remarks = u_intervals.remarks([step.iteration for step in facts.steps])
    return [
        _iteration(step, remark, facts) for step, remark in zip(facts.steps, remarks, strict=True)
    ]


def _iteration(step: Step, remark: str, facts: RunFacts) -> tuple[str, ...]:
    one = step.iteration
    u = u_intervals.of_iteration(one, facts.record.config, facts.game)
    rejected = ", ".join(f"{count} {kind}" for kind, count in step.rejected.items())
    return (
        str(one.k),
        number(one.u) if one.accepted else "nothing joined",
        "; ".join(filter(None, (interval(u), remark))),
        str(len(one.attempts)),
        rejected,
        str(sum(attempt.repairs for attempt in one.attempts)),
        number(one.sigma.exploitability),
        str(step.spent.calls),
        f"{step.spent.tokens:,}",
        cost(step.spent),
        f"{one.effort.matches:,}",
        number(one.effort.seconds),
        str(one.end or ""),
    )


def _attempts(facts: RunFacts) -> Markup | None:
    iterations = [step.iteration for step in facts.steps]
    if not any(one.attempts for one in iterations):
        return None
    return ladder(iterations, facts.game).alone()


def _rejected(facts: RunFacts) -> list[tuple[str, ...]]:
    return [
        (
            str(step.iteration.k),
            str(attempt.number),
            attempt.failure.kind.value,
            attempt.failure.reason[:_REASON],
        )
        for step in facts.steps
        for attempt in step.iteration.attempts
        if attempt.failure is not None
    ]


def _payoffs(facts: RunFacts) -> Markup | None:
    if len(facts.members) < 2:
        return None
    labels = [member.label for member in facts.members]
    height = min(120 + 14 * len(labels), 620)
    table, game = facts.payoffs, facts.game
    ends = payoff_intervals(table, stakes_of(game))
    return payoff_heatmap(table, labels, game.unit, height=height, ends=ends).alone()


def _sigma(facts: RunFacts) -> Markup | None:
    sigmas = sigmas_of(facts.record, tuple(step.iteration for step in facts.steps))
    labels = {member.digest: member.label for member in facts.members}
    return sigma_area(sigmas, labels).alone() if sigmas else None


def _per_bot(facts: RunFacts) -> Markup | None:
    if facts.scores is None:
        return None
    found = sorted(
        zip(facts.measured.bots, facts.scores.against, strict=True), key=lambda one: one[1].value
    )
    lines = [Line.of_return(bot.removeprefix("house/"), one) for bot, one in found]
    return intervals(lines, f"mean return, {facts.game.unit} a match (95 % interval)")


def _member(member: MemberFacts) -> Mapping[str, Any]:
    changed = bool(member.parent_source) and member.parent_source != member.source
    return {
        "label": member.label,
        "ref": member.ref,
        "description": member.description,
        "source": member.source,
        "parent": member.parent,
        "changes": _changes(member.parent_source, member.source) if changed else [],
    }


def _changes(before: str, after: str) -> list[tuple[str, str]]:
    """A unified diff: what each line is, and the line."""
    changes = difference(before, after, context=2)
    if changes is None:
        return [("same", "too many to be told line by line")]
    marks = {"+": "added", "-": "removed", "@": "place"}
    return [(marks.get(line[:1], "same"), line) for line in changes.split("\n")[2:]]
