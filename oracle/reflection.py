"""The parts of a prompt that make a model think about what was played: all of bounded length."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from oracle.drafts import Draft
from oracle.insight import INCUMBENT, Gain, Told, Trace, Tried
from oracle.prompts import fill
from oracle.relatives import Shelf
from oracle.values import Against, Rejected, Score, Task

if TYPE_CHECKING:
    from arena.analysis.stationary import Ceiling

MOST_GAINS = 10
"""Situations of one kind, those that weigh most."""
MOST_COMPARED = 3
"""Opponents against whom the latest other program is held beside the program so far."""
MOST_TRIED = 12
_BEST_TRIED = 4
"""Of these, so many are the best of those before the latest, which are the others."""
_LATEST_TRIED = MOST_TRIED - _BEST_TRIED
NOT_SHOWN = "a member that is not shown"
"""What a prompt calls a member of the population of which it tells nothing."""
BEGAN = "the program that the search began with"
"""What a prompt calls it that does not show it as an opponent's."""
_EVEN = "the opponent's own program, and even against itself"
_ANNOUNCED = "(here stands what it returned)"
"""In a prompt that is only shown beforehand: nothing was played for it."""
_GIVEN_UP = (
    "What was given up was surely behind another after a part of its matches, and its return is of "
    "that part alone"
)
_OF_SOME = (
    " or, where it met only some of the hidden opponents, an estimate: the return of the best "
    "program by then, plus the difference between the two against those whom both met"
)
_IDEA_CHARS = 200
_REASON_CHARS = 160


def was_played(score: Score) -> bool:
    """Whether a score comes from matches; else it is 0 by symmetry, of the only opponent itself."""
    return any(one.matches for one in score.against)


def error(stderr: float) -> str:
    """A standard error, in words where there is none."""
    known = not math.isnan(stderr)
    return f"standard error {stderr:.2f}" if known else "too few matches for a standard error"


def percents(share: float) -> tuple[str, str]:
    """A share and the rest, as exactly as it was given: "99.9%" and "0.1%"."""
    percent = 100 * Decimal(str(share))
    told, rest = (f"{part.normalize():f}%" for part in (percent, 100 - percent))
    return told, rest


def called(key: str, began: str = BEGAN) -> str:
    """What a prompt calls a program of the task.

    Args:
      key: of its draft.
      began: what the prompt calls the program that the search began with.
    """
    return began if key == INCUMBENT else f"attempt {key}"


def numbers_of(task: Task) -> dict[str, int]:
    """The opponents' digests to the numbers that a prompt gives them, 1 for the heaviest."""
    ranked = sorted(task.opponents, key=lambda one: -one.weight)
    return {one.digest: place for place, one in enumerate(ranked, 1)}


def hidden_rows(task: Task, score: Score) -> list[str]:
    """Lines of a table of returns: all hidden opponents together, then each sort of them."""
    known = {one.digest for one in task.opponents}
    group = {one.digest: one.group for one in task.hidden}
    met = [one for one in score.against if one.digest not in known]
    sorts = dict.fromkeys(filter(None, (group.get(one.digest, "") for one in met)))
    share, _ = percents(task.hidden_share)
    rows = [_row("hidden", f"{share} of the score", met, len(task.hidden))]
    for sort in sorts:
        own = [one for one in met if group.get(one.digest) == sort]
        count = list(group.values()).count(sort)
        rows.append(_row(f"hidden: {sort}", f"{count} of {len(task.hidden)} hidden", own, count))
    return rows


def _row(name: str, part: str, met: Sequence[Against], count: int) -> str:
    """What was returned to several opponents, which count alike; says where it was not to all."""
    some = f", {len(met)} met" if len(met) < count else ""
    mean = math.fsum(one.mean for one in met) / len(met)
    noise = math.sqrt(math.fsum(one.stderr**2 for one in met)) / len(met)
    told = "unknown" if math.isnan(noise) else f"{noise:.2f}"
    return f"| {name} | {part}{some} | {mean:+.2f} | {told} | {sum(one.matches for one in met)} |"


def generality(task: Task) -> str:
    """How generality is scored, where it is."""
    if not task.hidden_share:
        return ""
    share, _ = percents(task.hidden_share)
    return fill("generality", share=share, unit=task.game.unit)


def aim(task: Task, told: Told, began: str = BEGAN) -> str:
    """The target to beat, and the most that can be had."""
    lines = []
    best = told.best
    if best is not None and best.score is not None:
        lines.append(_to_beat(task, called(best.key, began), best.score))
    if told.ceiling is not None:
        lines.append(_ceiling(task, told.ceiling))
    return fill("aim", lines="\n".join(lines)) if lines else ""


def _to_beat(task: Task, program: str, score: Score) -> str:
    unit = task.game.unit
    if math.isnan(score.u):
        return f"- To beat: {_ANNOUNCED}, by {program}."
    if was_played(score):
        return (
            f"- To beat: {score.u:+.2f} {unit} per match ({error(score.stderr)}), by "
            f"{program}. A smaller difference than two standard errors may be luck."
        )
    return (
        f"- To beat: 0 {unit} per match, which is even, by {program}. Nothing was played for that: "
        f"it is {_EVEN}. A return above it by less than two of its standard errors may be luck."
    )


def _ceiling(task: Task, ceiling: Ceiling) -> str:
    unit = task.game.unit
    if ceiling.exact:
        return (
            f"- The most: no program can return more than {ceiling.value:+.2f} {unit} per match "
            "against this mixture. That is exact."
        )
    return (
        "- The most, by an estimate: if the opponents choose by the present situation alone, no "
        f"program can return more than about {ceiling.value:+.2f} {unit} per match against this "
        f"mixture (standard error {ceiling.stderr:.2f}); one that remembers may give more. This "
        f"rests on {ceiling.decisions:,} choices that they made, and nothing in those speaks "
        "against it."
    )


def traces(task: Task, told: Told) -> str:
    """Where the program's return came from, opponent by opponent."""
    if not told.traces:
        return ""
    numbers = numbers_of(task)
    parts = [_trace(one, numbers, task) for one in told.traces]
    legend = task.game.telling.legend
    if legend and any(one.costliest for one in told.traces):
        parts.insert(0, fill("reading", step=task.game.step, legend=legend))
    return fill("traces", unit=task.game.unit, step=task.game.step, traces="\n\n".join(parts))


def _trace(trace: Trace, numbers: Mapping[str, int], task: Task) -> str:
    who = numbers[trace.digest]
    lines = [f"## Against opponent {who}, from {trace.matches} matches", ""]
    for kind, gains in trace.gains:
        weightiest = sorted(gains, key=lambda one: -abs(one.mean))[:MOST_GAINS]
        shown = [one for one in gains if one in weightiest]
        rest = len(gains) - len(shown)
        more = f"; {rest} more that weigh less" if rest else ""
        lines.append(f"- {kind}: {'; '.join(map(_gain, shown))}{more}")
    for who_did, choices in (("the opponent", trace.choices), ("your program", trace.own)):
        if choices:
            told = "; ".join(f"{situation}: {did}" for situation, did in choices)
            lines.append(f"- what {who_did} did (where it stood: its choices): {told}")
    lines += [f"- one of your costliest: {one}" for one in trace.costliest]
    return "\n".join(lines)


def _gain(gain: Gain) -> str:
    return f"{gain.label} {gain.mean:+.1f} ({gain.share:.0%})"


def latest(task: Task, told: Told, began: str = BEGAN) -> str:
    """Where the latest other program won and lost, beside the program so far."""
    found = told.latest
    if found is None or found.attempt.score is None or not found.traces:
        return ""
    numbers, ours = numbers_of(task), {one.digest: one for one in told.traces}
    met = found.traces[:MOST_COMPARED]
    return fill(
        "latest",
        program=called(found.attempt.key, began),
        came=came(found.attempt.score),
        unit=task.game.unit,
        opponents="\n\n".join(_beside(one, ours.get(one.digest), numbers) for one in met),
    )


def _beside(trace: Trace, ours: Trace | None, numbers: Mapping[str, int]) -> str:
    """One program's gains by situation, with another's in brackets where that met the opponent."""
    counts = f"{trace.matches} and {ours.matches}" if ours else f"{trace.matches}"
    lines = [f"## Against opponent {numbers[trace.digest]}, from {counts} matches", ""]
    theirs, own = _means(trace), _means(ours) if ours else {}
    for kind in dict.fromkeys((*theirs, *own)):
        one, other = theirs.get(kind, {}), own.get(kind, {})
        labels = list(dict.fromkeys((*one, *other)))
        apart = {label: abs(one.get(label, 0.0) - other.get(label, 0.0)) for label in labels}
        shown = set(sorted(labels, key=lambda label: -apart[label])[:MOST_GAINS])
        told = [
            f"{label} {_mean(one, label)}" + (f" ({_mean(other, label)})" if ours else "")
            for label in labels
            if label in shown
        ]
        rest = len(labels) - len(told)
        more = f"; {rest} more that differ less" if rest else ""
        lines.append(f"- {kind}: {'; '.join(told)}{more}")
    return "\n".join(lines)


def _means(trace: Trace) -> dict[str, dict[str, float]]:
    """Kind of situation to its situations and what was won in them."""
    return {kind: {one.label: one.mean for one in gains} for kind, gains in trace.gains}


def _mean(means: Mapping[str, float], label: str) -> str:
    return f"{means[label]:+.1f}" if label in means else "never"


def tried(task: Task, told: Told, began: str = BEGAN) -> str:
    """Earlier ideas of a line of search with what came of them; the best and the latest of many."""
    if not told.tried:
        return ""
    shown = _chosen(told.tried)
    rest = len(told.tried) - len(shown)
    lines = [_attempt(one, began) for one in shown]
    notes = [given_up(task, [one.score for one in shown if one.score is not None])]
    if rest:
        lines.append(f"- {rest} more, neither among the best nor among the latest")
        best = len(shown) - _LATEST_TRIED
        before = f", and the best {best} of those before them" if best else ""
        notes.insert(0, f"Listed are the latest {_LATEST_TRIED}{before}.")
    return fill(
        "tried",
        unit=task.game.unit,
        notes="".join(f"{note} " for note in notes if note),
        attempts="\n".join(lines),
    )


def given_up(task: Task, scores: Iterable[Score]) -> str:
    """What the returns of given-up programs mean, as far as there are some among these.

    See `oracle.early_stop.EarlyStop.measure` for those that met a sample of the hidden opponents.
    """
    stopped = [one for one in scores if one.stopped]
    if not stopped:
        return ""
    some = any(len(one.against) < len(task.weights) for one in stopped)
    return f"{_GIVEN_UP}{_OF_SOME if some else ''}."


def _chosen(everything: Sequence[Tried]) -> list[Tried]:
    latest = list(everything[-_LATEST_TRIED:])
    earlier = [one for one in everything if one not in latest and one.score is not None]
    whole = [one for one in earlier if one.score and not one.score.stopped]
    best = sorted(whole, key=lambda one: -one.score.u if one.score else 0.0)[:_BEST_TRIED]
    return [one for one in everything if one in best or one in latest]


def _attempt(one: Tried, began: str) -> str:
    refused = f"refused, {_clipped(one.refused, _REASON_CHARS)}"
    found = refused if one.score is None else came(one.score)
    idea = _clipped(one.idea, _IDEA_CHARS)
    name = called(one.key, began).removeprefix("attempt ")
    return f"- {name}: {found}{f'. {idea}' if idea else ''}"


def came(score: Score) -> str:
    """What came of a program that was scored: its return, and whether it was given up."""
    if math.isnan(score.u):
        return _ANNOUNCED
    if not was_played(score):
        return f"not played. It is {_EVEN}"
    stopped = ", given up" if score.stopped else ""
    return f"{score.u:+.2f} ({error(score.stderr)}){stopped}"


def _clipped(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 4]} ..."


def twin(draft: Draft, names: Mapping[str, str], shelf: Shelf, began: str = BEGAN) -> str:
    """The program that a refused duplicate equals: a member, or an attempt with its return.

    Args:
      draft: with the failure.
      names: labels of members to what the prompt calls them.
      shelf: the programs that stand above.
      began: what the prompt calls the program that the search began with.
    """
    failure = draft.failure
    if failure is None or failure.kind is not Rejected.DUPLICATE:
        return ""
    member = names.get(failure.twin)
    if member == NOT_SHOWN:
        return (
            "An older member of the population plays just so. Its program is not shown here, and "
            "it has no weight in the mixture at present."
        )
    if member is not None:
        return f"This is {member}."
    other = draft.told.attempt(failure.twin) if draft.told else None
    if other is None or not other.source:
        return ""
    found = _returned(other.score) if other.score else "It was refused as well."
    name = called(other.key, began)
    return f"This is {name}. {found}\n\n{shelf.show(name, other.source)}"


def _returned(score: Score) -> str:
    if not was_played(score):
        return f"It is {_EVEN}, and so would yours be."
    return f"It returned {came(score)}, and so would yours."
