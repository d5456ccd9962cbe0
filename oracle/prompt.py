"""Composes what a language model is asked.

A prompt carries what the paper's prompts carry (appendix, "Prompts and Initial Strategies"): role,
rules and interface with examples of observations, the opponents with their weights, the program so
far with its results, and the request.  The texts are this project's own (`oracle.prompts`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oracle.context import OpponentInput, Shown
from oracle.prompts import VERSION, fill
from oracle.values import Draft, Failure, Opponent, Rejected, Score, Task
from sandbox.box.allowed import ALLOWED_MODULES
from sandbox.values import Limits

_LONGEST_REPLY = 24_000
"""Characters of a refused reply that are sent back; the middle of a longer one is left out."""
_KINDS = {
    Rejected.BLOCKED: "it was withheld",
    Rejected.EMPTY: "it was empty",
    Rejected.TRUNCATED: "it was cut off",
    Rejected.NO_CODE: "it had no code",
    Rejected.NOT_A_POLICY: "the code is no valid policy",
    Rejected.BAD_EDIT: "an edit cannot be applied",
    Rejected.DUPLICATE: "the program is known already",
    Rejected.FAULTY: "it forfeits matches",
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent.

    Attributes:
      system: who the model is to be.
      text: the question.
    """

    system: str
    text: str

    @property
    def digest(self) -> str:
        """32 hex digits over both texts and the version of the templates."""
        whole = f"{VERSION}\x1f{self.system}\x1f{self.text}"
        return hashlib.blake2b(whole.encode(errors="replace"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class View:
    """What a prompt tells of the opponents.

    Attributes:
      form: of what `texts` holds.
      shown: who is shown, heaviest first.
      texts: digest to program or description; nothing where `form` is none.
    """

    form: OpponentInput
    shown: tuple[Shown, ...] = ()
    texts: Mapping[str, str] | None = None


def fenced(text: str, language: str = "python") -> str:
    """The text as a code block whose fence cannot be closed from within."""
    runs = re.findall(r"`{3,}", text)
    fence = "`" * max(3, 1 + max(map(len, runs), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def compose(task: Task, draft: Draft, view: View, inspirations: int = 2) -> Prompt:
    """The prompt for a draft.

    Args:
      task: the game, the opponents and the incumbent.
      draft: the program so far, what it scored, what was wrong, and whether edits are wanted.
      view: what is told of the opponents.
      inspirations: how many of the draft's other programs are shown, best first.
    """
    parts = [interface(task), opponents(task, view)]
    if draft.source and draft.score is not None:
        parts.append(_so_far(task, draft.source, draft.score))
        parts.append(_inspirations(task, draft.inspirations[:inspirations]))
        if draft.failure is not None:
            parts.append(fill("refused_change", **_said(draft.failure)))
    elif draft.failure is not None:
        program = fenced(draft.source) if draft.source else ""
        parts.append(fill("mend", **_said(draft.failure), program=program))
    else:
        parts.append(_incumbent(task, view))
    request = "edit_request" if wants_edits(draft) else "program_request"
    parts.append(fill(request, class_name=task.game.contract.class_name))
    return Prompt(fill("role"), "\n\n".join(filter(None, parts)) + "\n")


def _incumbent(task: Task, view: View) -> str:
    """The program to start from, unless showing it would show an opponent that is to be hidden."""
    ranked = {one.opponent.source: one.number for one in view.shown}
    is_opponent = task.incumbent in {one.source for one in task.opponents}
    if not task.incumbent or (is_opponent and view.form is not OpponentInput.CODE):
        return ""
    number = ranked.get(task.incumbent)
    known = f"It is the program of opponent {number}, which stands above."
    return fill("incumbent", program=fenced(task.incumbent) if number is None else known)


def wants_edits(draft: Draft) -> bool:
    """Whether SEARCH/REPLACE blocks are asked for: only a sound program can be edited."""
    return draft.edit and bool(draft.source) and draft.score is not None


def repair(prompt: Prompt, reply: str, failure: Failure) -> Prompt:
    """The same question, with the reply that could not be used and why."""
    shown = fenced(_clipped(reply), "text") if reply.strip() else ""
    if shown:
        shown = f"It was:\n\n{shown}"
    section = fill("repair", **_said(failure), reply=shown)
    return Prompt(prompt.system, f"{prompt.text}\n{section}\n")


def interface(task: Task) -> str:
    """The rules, the class to write, and what it may use."""
    contract, limits = task.game.contract, Limits()
    return fill(
        "interface",
        rules=_demoted(task.game.rules),
        class_name=contract.class_name,
        methods=", ".join(
            f"`{name}` ({count} argument{'s' * (count != 1)} after self)"
            for name, count in contract.methods.items()
        ),
        imports=", ".join(sorted(ALLOWED_MODULES - {"__future__"})),
        act_seconds=f"{limits.act_seconds:g}",
        match_seconds=f"{limits.match_seconds:g}",
        memory=limits.memory_mib,
        source_kib=limits.source_bytes // 1024,
    )


def opponents(task: Task, view: View) -> str:
    """The section about the opponents."""
    if view.form is OpponentInput.NONE:
        return fill("opponents_none", unit=task.game.unit)
    texts = view.texts or {}
    listed = [_opponent(one, view.form, texts[one.opponent.digest]) for one in view.shown]
    return fill(
        f"opponents_{view.form.value}",
        unit=task.game.unit,
        coverage=_coverage(task.opponents, view.shown),
        opponents="\n\n".join(listed),
    )


def _opponent(one: Shown, form: OpponentInput, text: str) -> str:
    title = (
        f"## Opponent {one.number}: weight {one.opponent.weight:.4f}, "
        f"{one.share:.1%} of those shown"
    )
    return f"{title}\n\n{fenced(text) if form is OpponentInput.CODE else text.strip()}"


def _coverage(everyone: Sequence[Opponent], shown: Sequence[Shown]) -> str:
    """Says what share of the meta-strategy the prompt shows."""
    if len(shown) == len(everyone):
        return f"All {len(everyone)} of them are shown, with their weights in the mixture."
    weight = sum(one.opponent.weight for one in shown)
    return (
        f"{len(shown)} of {len(everyone)} are shown, which carry {weight:.1%} of the weight. Each "
        "has two numbers: its weight in the whole mixture, and its share of those shown."
    )


def _so_far(task: Task, source: str, score: Score) -> str:
    return fill(
        "program_so_far",
        program=fenced(source),
        u=f"{score.u:+.2f}",
        stderr=f"{score.stderr:.2f}",
        unit=task.game.unit,
        results=results(task, score),
    )


def results(task: Task, score: Score) -> str:
    """A table of the returns against each opponent, by the numbers that the prompt uses."""
    ranked = sorted(task.opponents, key=lambda one: -one.weight)
    number = {one.digest: place for place, one in enumerate(ranked, 1)}
    weight = {one.digest: one.weight for one in ranked}
    rows = [
        f"| {number[one.digest]} | {weight[one.digest]:.4f} | {one.mean:+.2f} "
        f"| {one.stderr:.2f} | {one.matches} |"
        for one in sorted(score.against, key=lambda one: number[one.digest])
    ]
    head = "| opponent | weight | mean return | standard error | matches |"
    return "\n".join([head, "|---:|---:|---:|---:|---:|", *rows])


def _inspirations(task: Task, programs: Sequence[tuple[str, Score]]) -> str:
    if not programs:
        return ""
    listed = [
        f"## Returned {score.u:+.2f} (standard error {score.stderr:.2f})\n\n"
        f"{results(task, score)}\n\n{fenced(source)}"
        for source, score in programs
    ]
    return fill("inspirations", programs="\n\n".join(listed))


def _said(failure: Failure) -> dict[str, str]:
    return {"kind": _KINDS[failure.kind], "reason": fenced(failure.reason, "text")}


def _clipped(text: str) -> str:
    if len(text) <= _LONGEST_REPLY:
        return text
    half = _LONGEST_REPLY // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[{left_out} characters left out]\n{text[-half:]}"


def _demoted(markdown: str) -> str:
    """The same text with its headings one level lower."""
    return re.sub(r"^(#+ )", r"#\1", markdown.strip(), flags=re.MULTILINE)
