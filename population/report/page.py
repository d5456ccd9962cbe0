"""The report as one HTML page that needs nothing else, from the template `page.html.j2`.

Names, descriptions, sources and reasons come from programs and models: the template escapes all
that is filled in, figures escape what they are made of, and the page forbids scripts altogether.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from arena.figures.heatmap import payoff_heatmap
from arena.figures.intervals import Line, intervals
from arena.figures.text import interval, number
from arena.source_check import difference
from oracle.models.budget import Spent
from population import u_intervals
from population.figures import ladder, over_iterations, sigma_area
from population.paper import reference_lines
from population.report.facts import MemberFacts, RunFacts, Step, sigmas_of
from population.scores import Scores

METRICS = {"PopReturn": "pop_return", "PopExpl": "pop_expl", "AggScore": "agg_score"}
"""What is drawn over iterations, and the field of `Scores` that has it."""

_REASON = 400
"""Characters of a reason that are shown."""


def rendered(template: str, **values: object) -> str:
    """A page of its own from one of the templates here, with the style of all of them."""
    here = files("population.report")
    texts = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    text, style = (
        (here / file).read_text(encoding="utf-8") for file in (f"{template}.html.j2", "page.css")
    )
    return texts.from_string(text).render(style=Markup(style), **values)


def page(facts: RunFacts) -> str:
    """The whole page."""
    return rendered(
        "page",
        name=facts.record.name,
        unit=f"{facts.game.unit} per match",
        tiles=_tiles(facts).items(),
        population=facts.measured.population,
        matches=f"{facts.scores.matches:,}" if facts.scores else "",
        results=_results(facts),
        over_iterations=Markup(_over_iterations(facts)),
        iterations=[_iteration(step, facts) for step in facts.steps],
        attempts=Markup(_attempts(facts)),
        rejected=_rejected(facts),
        payoffs=Markup(_payoffs(facts)),
        sigma=Markup(_sigma(facts)),
        per_bot=Markup(_per_bot(facts)),
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
    agg = scores.agg_score
    values = (scores.pop_return.value, scores.pop_expl.value, agg.value)
    return (name, *map(number, values), f"{number(agg.low)} to {number(agg.high)}")


def _over_iterations(facts: RunFacts) -> str:
    """Metrics of sigma by the number of policies added: iteration k's sigma has k - 1 of them."""
    points = [(step.iteration.k - 1, step.scores) for step in facts.steps]
    if facts.record.final is not None:
        points.append((len(facts.steps), facts.scores))
    known = [(float(x), scores) for x, scores in points if scores is not None]
    if not known:
        return ""
    series = {
        f"{name} (95 %)": [(x, getattr(scores, field)) for x, scores in known]
        for name, field in METRICS.items()
    }
    unit = f"{facts.game.unit} a match"
    return over_iterations(series, unit, reference_lines(facts.game.name)).alone()


def _iteration(step: Step, facts: RunFacts) -> tuple[str, ...]:
    one = step.iteration
    u = u_intervals.of_iteration(one, facts.record.config, facts.game)
    rejected = ", ".join(f"{count} {kind}" for kind, count in step.rejected.items())
    return (
        str(one.k),
        number(one.u) if one.accepted else "nothing joined",
        interval(u),
        str(len(one.attempts)),
        rejected,
        str(sum(attempt.repairs for attempt in one.attempts)),
        number(one.sigma.exploitability),
        str(step.spent.calls),
        f"{step.spent.tokens:,}",
        cost(step.spent),
        f"{one.effort.matches:,}",
        number(one.effort.seconds),
    )


def _attempts(facts: RunFacts) -> str:
    iterations = [step.iteration for step in facts.steps]
    if not any(one.attempts for one in iterations):
        return ""
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


def _payoffs(facts: RunFacts) -> str:
    if len(facts.members) < 2:
        return ""
    labels = [member.label for member in facts.members]
    height = min(120 + 14 * len(labels), 620)
    return payoff_heatmap(facts.payoffs, labels, facts.game.unit, height=height).alone()


def _sigma(facts: RunFacts) -> str:
    sigmas = sigmas_of(facts.record, tuple(step.iteration for step in facts.steps))
    labels = {member.digest: member.label for member in facts.members}
    return sigma_area(sigmas, labels).alone() if sigmas else ""


def _per_bot(facts: RunFacts) -> str:
    if facts.scores is None:
        return ""
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
