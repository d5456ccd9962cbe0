"""The report as one HTML page that needs nothing else.

Names, descriptions, sources and reasons come from programs and models: each is escaped where it
enters the page, and the page forbids scripts altogether.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from arena.analysis.estimates import Estimate
from arena.source_check import difference
from oracle.models.budget import Spent
from oracle.values import Attempt
from population.paper import reference_lines
from population.report.facts import MemberFacts, RunFacts, Step
from population.report.svg import Dot, Line, bars, heat_map, line_chart, scatter
from population.scores import Scores

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_COLOURS = ("var(--one)", "var(--two)", "var(--three)")


def page(facts: RunFacts) -> str:
    """The whole page."""
    style = (files("population.report") / "style.css.txt").read_text(encoding="utf-8")
    sections = [
        _head(facts),
        _section("Against the evaluation population", _over_iterations(facts)),
        _section("Iterations", _iterations(facts)),
        _section("Refinement ladder", _ladder(facts)),
        _section("Payoffs among the members, and sigma", _payoffs(facts)),
        _section("Returns per evaluation bot", _per_bot(facts)),
        _section("Policies", "".join(_member(member) for member in facts.members)),
    ]
    title = escape(f"CSRO run {facts.record.name}")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{style}</style></head><body><main>"
        f"{''.join(sections)}</main></body></html>\n"
    )


def number(value: float | None, digits: int = 1) -> str:
    """A number for a table; a dash where there is none."""
    return "-" if value is None or not math.isfinite(value) else f"{value:.{digits}f}"


def cost(spent: Spent) -> str:
    """Dollars, or that they are not known."""
    if not spent.calls:
        return "-"
    return "unknown" if spent.cost is None else f"${spent.cost:.4f}"


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts, all of them escaped."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    return f"<div class='wide'><table><tr>{top}</tr>{body}</table></div>"


def _head(facts: RunFacts) -> str:
    record, config = facts.record, facts.record.config
    total = facts.usage.total
    tiles = [
        ("game", facts.game.title),
        ("oracle", config.variant),
        ("seed", str(config.seed)),
        ("iterations", f"{len(facts.steps)} of {config.iterations}"),
        ("state", f"{record.state.value} {record.note}".strip()),
        ("meta-strategy", facts.mixture or "not yet"),
        ("model calls", f"{total.calls:,}" if total.calls else "none"),
        ("tokens", f"{total.tokens:,}" if total.calls else "none"),
        ("cost", cost(total)),
        ("wall time", f"{sum(s.iteration.effort.seconds for s in facts.steps):,.0f} s"),
    ]
    cells = "".join(
        f"<div><dt>{escape(key)}</dt><dd>{escape(value)}</dd></div>" for key, value in tiles
    )
    return f"<h1>CSRO run {escape(record.name)}</h1><dl>{cells}</dl>{_result(facts)}"


def _result(facts: RunFacts) -> str:
    if facts.scores is None:
        return (
            "<p class='note'>The members were not played against the evaluation population yet: "
            f"<code>csro report {escape(facts.record.name)} --evaluate 100</code></p>"
        )
    labels = {member.digest: member.label for member in facts.members}
    rows = [("meta-strategy", facts.scores)]
    if facts.best is not None:
        rows.append((f"best single policy ({labels[facts.best[0]]})", facts.best[1]))
    head = ("", "PopReturn", "PopExpl", "AggScore", "AggScore, 95 %")
    table = _table(head, (_scored(name, scores) for name, scores in rows))
    return (
        f"{table}<p class='note'>{escape(facts.measured.population)}, at least "
        f"{facts.scores.matches:,} matches of the meta-strategy with each bot; "
        f"{escape(facts.game.unit)} per match.</p>"
    )


def _scored(name: str, scores: Scores) -> tuple[str, ...]:
    agg = scores.agg_score
    values = (scores.pop_return.value, scores.pop_expl.value, agg.value)
    return (
        name,
        *(number(value) for value in values),
        f"{number(agg.low)} to {number(agg.high)}",
    )


def _over_iterations(facts: RunFacts) -> str:
    """Metrics of sigma by the number of policies added: iteration k's sigma has k - 1 of them."""
    points = [(step.iteration.k - 1, step.scores) for step in facts.steps]
    if facts.record.final is not None:
        points.append((len(facts.steps), facts.scores))
    known = [(x, scores) for x, scores in points if scores is not None]
    if not known:
        return "<p class='note'>Nothing was measured yet.</p>"
    x = [float(place) for place, _ in known]
    fields = (("PopReturn", "pop_return"), ("PopExpl", "pop_expl"), ("AggScore", "agg_score"))
    lines = []
    for (name, field), colour in zip(fields, _COLOURS, strict=True):
        estimates: list[Estimate] = [getattr(scores, field) for _, scores in known]
        band = [(one.low, one.high) for one in estimates]
        lines.append(Line(name, x, [one.value for one in estimates], colour, band))
    return line_chart(
        lines,
        reference_lines(facts.game.name),
        x_title="policies added",
        unit=f"{facts.game.unit} per match",
        title="PopReturn, PopExpl and AggScore of the meta-strategy over iterations (95 %)",
        height=360,
    )


def _iterations(facts: RunFacts) -> str:
    head = (
        *("k", "u", "stderr", "attempts", "rejected", "repairs", "exploitability"),
        *("calls", "tokens", "cost", "matches", "seconds"),
    )
    return _table(head, (_iteration(step) for step in facts.steps))


def _iteration(step: Step) -> tuple[str, ...]:
    one = step.iteration
    rejected = ", ".join(f"{count} {kind}" for kind, count in step.rejected.items())
    return (
        str(one.k),
        number(one.u) if one.accepted else "nothing joined",
        number(one.stderr),
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


def _ladder(facts: RunFacts) -> str:
    dots = [
        _dot(step.iteration.k, place, len(step.iteration.attempts), attempt)
        for step in facts.steps
        for place, attempt in enumerate(step.iteration.attempts)
    ]
    if not dots:
        return "<p class='note'>Nothing was tried yet.</p>"
    afresh = (
        " These are the scores that programs were chosen by; u in the table above is of the one "
        "that joined, measured afresh."
    )
    return (
        scatter(
            dots,
            x_title="iteration",
            unit=f"u, {facts.game.unit} per match",
            title="Every attempt of every iteration: expected return against sigma",
        )
        + "<p class='note'>Full: became the best of its iteration when it was tried. Hollow: "
        "scored, not kept. Cross at the foot: no valid program, so no score."
        + (afresh if facts.record.config.afresh else "")
        + "</p>"
    )


def _dot(k: int, place: int, attempts: int, attempt: Attempt) -> Dot:
    x = k + 0.8 * (place / max(1, attempts - 1) - 0.5) if attempts > 1 else float(k)
    if attempt.score is None:
        reason = (
            f"{attempt.failure.kind.value}: {attempt.failure.reason}" if attempt.failure else ""
        )
        return Dot(
            x, math.nan, "cross", f"attempt {attempt.number}: {reason[:400]}{_mended(attempt)}"
        )
    told = f"attempt {attempt.number}: u = {attempt.score.u:+.1f} ({attempt.score.stderr:.1f})"
    shape = "full" if attempt.kept else "hollow"
    return Dot(x, attempt.score.u, shape, f"{told}{_mended(attempt)}")


def _mended(attempt: Attempt) -> str:
    """How many replies of the model it took, where the first was malformed."""
    return f"; malformed replies before it: {attempt.repairs}" if attempt.repairs else ""


def _payoffs(facts: RunFacts) -> str:
    if not facts.members:
        return "<p class='note'>The run has no member yet.</p>"
    weights = facts.sigma.weights if facts.sigma else {}
    notes = [
        f"{weights[member.digest]:.1%}" if weights.get(member.digest, 0.0) > 0 else ""
        for member in facts.members
    ]
    labels = [member.label for member in facts.members]
    drawn = heat_map(
        facts.payoffs.mean.tolist(), labels, notes, title="Mean return of row against column"
    )
    return f"{drawn}<p class='note'>Behind each row: its weight in sigma.</p>"


def _per_bot(facts: RunFacts) -> str:
    if facts.scores is None:
        return "<p class='note'>Nothing was measured yet.</p>"
    pairs = zip(facts.measured.bots, facts.scores.against, strict=True)
    ranked = sorted(pairs, key=lambda pair: pair[1])
    return bars(
        [name.removeprefix("house/") for name, _ in ranked],
        [value for _, value in ranked],
        unit=f"{facts.game.unit} per match",
        title="Mean return of the meta-strategy against each evaluation bot",
    )


def _member(member: MemberFacts) -> str:
    told = f"{member.label} · {member.ref}"
    parts = [f"<p>{escape(member.description)}</p>"]
    if member.parent_source and member.parent_source != member.source:
        parts.append(
            f"<details><summary>changes from {escape(member.parent)}</summary>"
            f"<pre>{_diff(member.parent_source, member.source)}</pre></details>"
        )
    parts.append(f"<details><summary>source</summary><pre>{escape(member.source)}</pre></details>")
    return f"<article><h3>{escape(told)}</h3>{''.join(parts)}</article>"


def _diff(before: str, after: str) -> str:
    """A unified diff, each line marked by what it is."""
    changes = difference(before, after, context=2)
    if changes is None:
        return "too many to be told line by line"
    marks = {"+": "added", "-": "removed", "@": "place"}
    return "\n".join(
        f'<span class="{marks.get(line[:1], "same")}">{escape(line)}</span>'
        for line in changes.split("\n")[2:]
    )
