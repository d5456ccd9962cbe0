"""How a program came about: what each step changed, why, and what the measured ones gained.

A program is written before it is played, so its own story ends with a step that nobody has
measured.  Whoever changes it further knows its returns by then, and writes them down.
"""

from __future__ import annotations

import dataclasses
import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MOST_STEPS = 5
"""Older steps are left out of a story."""
MOST_CHANGES = 6
"""Of one step that are told one by one."""
_WIDTH = 96


@dataclass(frozen=True, slots=True)
class Measured:
    """What a program returned against a mixture.

    Attributes:
      mean: against an opponent drawn from the mixture.
      stderr: of the mean; 0 where it is not known.
      against: mean by the opponent's name.
      hidden: whether opponents that are not named have a share in the mean.
    """

    mean: float
    stderr: float = 0.0
    against: Mapping[str, float] = field(default_factory=dict)
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One change.

    Attributes:
      task: names the mixture that was to be beaten, such as "k03".
      reason: what the change is for, such as "to meet k02"; no capital, no full stop.
      changes: what is different from the parent, each such as "added their last move".
      parent: what the parent had returned; None where it was not measured against this mixture,
        as members of the population are not when a program grows from one.
    """

    task: str
    reason: str
    changes: tuple[str, ...] = ()
    parent: Measured | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """The last steps that led to a program, oldest first."""

    steps: tuple[Step, ...] = ()

    def then(self, step: Step) -> Story:
        """The story of a program that was made from this one."""
        return Story((*self.steps, step)[-MOST_STEPS:])


def to_json(story: Story) -> str:
    """Canonical JSON; returns are rounded to tenths."""
    document = [dataclasses.asdict(step) for step in story.steps]
    for step in document:
        if step["parent"] is not None:
            found = step["parent"]
            found["against"] = {name: round(x, 1) for name, x in found["against"].items()}
            found["mean"], found["stderr"] = round(found["mean"], 1), round(found["stderr"], 1)
            if not found["hidden"]:
                del found["hidden"]  # most have none, and programs keep their text
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def from_json(text: str) -> Story:
    """The inverse of `to_json`.

    Raises:
      ValueError, TypeError, KeyError: the text is not a story.
    """
    steps = []
    for step in json.loads(text):
        parent = None if step["parent"] is None else Measured(**step["parent"])
        changes = tuple(str(change) for change in step["changes"])
        steps.append(Step(str(step["task"]), str(step["reason"]), changes, parent))
    return Story(tuple(steps))


def counted(number: int, noun: str) -> str:
    """Such as "1 throw" or "2 throws"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def differences(before: Sequence[Any], after: Sequence[Any], describe: Any) -> list[str]:
    """What was added to a list of parts and what was dropped, in words."""
    added = [f"added {describe(part)}" for part in after if part not in before]
    dropped = [f"dropped {describe(part)}" for part in before if part not in after]
    return added + dropped


def shortened(changes: Sequence[str]) -> tuple[str, ...]:
    """The first changes, and how many more there were."""
    if len(changes) <= MOST_CHANGES:
        return tuple(changes)
    return (*changes[: MOST_CHANGES - 1], f"{len(changes) - MOST_CHANGES + 1} more changes")


def prose(story: Story) -> str:
    """A paragraph for a docstring, indented by four; "" where there is nothing to tell."""
    if not story.steps:
        return ""
    lines = [
        "",
        "    How it came about (returns against that iteration's mixture, +- standard error):",
    ]
    for number, step in enumerate(story.steps):
        later = story.steps[number + 1] if number + 1 < len(story.steps) else None
        text = f"{_told(step)}  {_gain(step, later)}"
        lines += textwrap.wrap(text, _WIDTH, initial_indent="    - ", subsequent_indent="      ")
    return "\n".join(lines) + "\n"


def _told(step: Step) -> str:
    start = f"{step.task}: " if step.task else ""
    if step.parent is not None:
        start += f"from a program that returned {_returned(step.parent)}, "
    return f"{start}{step.reason}: {'; '.join(step.changes) or 'nothing changed'}."


def _returned(found: Measured) -> str:
    error = f" +- {found.stderr:.1f}" if found.stderr else ""
    hidden = ", hidden opponents counted" if found.hidden else ""
    worst = min(found.against, key=found.against.__getitem__, default=None)
    where = f" ({found.against[worst]:+.1f} against {worst})" if worst is not None else ""
    return f"{found.mean:+.1f}{error}{hidden}{where}"


def _gain(step: Step, later: Step | None) -> str:
    """What a step gained, as far as the same mixture met both programs."""
    if later is None:
        return "Written before it was played."
    if later.parent is None:
        return "It joined the population."  # no other program is built upon before it is scored
    if step.parent is None or later.task != step.task:
        return ""
    before, after = step.parent, later.parent
    hidden = ", hidden opponents counted" if before.hidden or after.hidden else ""
    gain = f"That gained {after.mean - before.mean:+.1f}{hidden}"
    gains = {
        name: round(after.against[name] - before.against[name], 1) + 0.0  # never -0.0
        for name in after.against
        if name in before.against
    }
    if not gains:
        return gain + "."
    best = max(gains, key=gains.__getitem__)
    if gains[best] > 0.0 and not hidden:
        return f"{gain}, most against {best} ({gains[best]:+.1f})."
    moved = max(gains, key=lambda name: abs(gains[name]))
    return f"{gain}; against {moved} {gains[moved]:+.1f}."
