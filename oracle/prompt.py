"""Composes what a language model is asked.

A prompt carries what the paper's prompts carry (appendix, "Prompts and Initial Strategies"): role,
rules and interface with examples of observations, the opponents with their weights, the program so
far with its results, and the request.  The texts are this project's own (`oracle.prompts`).

Each program stands in a prompt once, and is named from then on; one that is much like another is
shown as changes (`oracle.relatives`).  A prompt has shorter forms, for a server that cannot read
all of it: first the other programs go that were tried, then what is known of earlier matches and
attempts, then the opponents, the lightest first, and with the last of them the program to start
from.  Each form says what it lacks.  No form that is sent is longer than `LONGEST`, nor is one with
a refused reply behind it: of that the middle goes first, then what the question's shorter forms
leave out, and the rest of the reply last.
"""

from __future__ import annotations

import hashlib
import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from oracle.context import OpponentInput, View
from oracle.drafts import Draft
from oracle.insight import Told
from oracle.prompts import VERSION, fill, lines_of
from oracle.prompts.situation import (
    NO_ANSWER,
    NO_ROOM,
    began_with,
    in_its_words,
    names_in,
    opponents,
)
from oracle.reflection import (
    aim,
    called,
    came,
    error,
    generality,
    given_up,
    hidden_rows,
    latest,
    numbers_of,
    traces,
    tried,
    twin,
    was_played,
)
from oracle.relatives import Shelf, clipped, fenced
from oracle.values import Against, Failure, Rejected, Score, Task
from sandbox.box.allowed import ALLOWED_MODULES
from sandbox.values import Limits

PYTHON = "3.11"
NUMPY = "2.2"
"""What programs can rely on behind every wall: the least that this package runs with."""
LONGEST = 120_000
"""Characters of a prompt, with the role; one that would be longer leaves out what its shorter forms
leave out."""
_LONGEST_REPLY = 24_000
"""Characters of a refused reply that are sent back; the middle of a longer one is left out."""
_SHORTER_REPLY = 4_000
"""The same, in the shorter forms of a prompt."""
_LONGEST_REASON = 2_000
"""Characters of what was wrong; whoever finds it says less, but for what a program says itself."""
_STEPS = (1, 7, 3)
"""How far the numbers of a draft's key move its direction, so that drafts made together differ."""
_NO_ANSWER = frozenset({Rejected.BLOCKED, Rejected.EMPTY, Rejected.TOO_LONG})
"""Failures that no program is to blame for: there is nothing to mend."""
_KINDS = {
    Rejected.BLOCKED: "it was withheld",
    Rejected.EMPTY: "it was empty",
    Rejected.TOO_LONG: "the question was too long",
    Rejected.TRUNCATED: "it was cut off",
    Rejected.NO_CODE: "it had no code",
    Rejected.NOT_A_POLICY: "the code is no valid policy",
    Rejected.BAD_EDIT: "an edit cannot be applied",
    Rejected.DUPLICATE: "the program is known already",
    Rejected.FAULTY: "it forfeits matches",
    Rejected.DIVERGED: "its training diverged",
    Rejected.UNPLAYED: "its matches were not played",
}


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent.

    Attributes:
      system: who the model is to be.
      text: the question.
      shorter: the same question with less and less in it.
    """

    system: str
    text: str
    shorter: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """32 hex digits over both texts and the version of the templates."""
        whole = f"{VERSION}\x1f{self.system}\x1f{self.text}"
        return hashlib.blake2b(whole.encode(errors="replace"), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class _Lack:
    """What a form of a prompt leaves out, and why."""

    why: str
    what: Sequence[str] = ()


def compose(
    task: Task,
    draft: Draft,
    view: View,
    inspirations: int = 2,
    variation: int = 0,
    *,
    least: bool = False,
) -> Prompt:
    """The prompt for a draft, with its shorter forms.

    Args:
      task: the game, the opponents and the incumbent.
      draft: the program so far, what it scored, what was wrong, and whether edits are wanted.
      view: what is told of the opponents.
      inspirations: how many of the draft's other programs are shown, best first; those of
        opponents that are shown are not among them.
      variation: 0, 1, 2, ... for asking the same in other words.
      least: whether only the shortest form is wanted, because the question was refused before: what
        that leaves out may be the reason.
    """
    why = NO_ANSWER if least else NO_ROOM
    others = _others(draft, view)[:inspirations] if _is_sound(draft) else ()
    lacks = ["other programs that were tried"] if others else []
    forms = [_form(task, draft, view, others, _Lack(why), variation)]
    if others:
        forms.append(_form(task, draft, view, (), _Lack(why, lacks), variation))
    if draft.told is not None and (draft.told.traces or draft.told.tried):
        draft = replace(draft, told=replace(draft.told, traces=(), tried=(), latest=None))
        lacks.append("what is known of earlier matches and attempts")
        forms.append(_form(task, draft, view, (), _Lack(why, lacks), variation))
    number = 0 if view.form is OpponentInput.NONE else len(view.shown)
    while number:
        number //= 2
        few = view.only(number)
        lack = [*lacks, _unshown(task, view, number)]
        if not number and not _is_sound(draft) and task.incumbent:
            task = replace(task, incumbent="")
            lack.append("a program to start from")
        forms.append(_form(task, draft, few, (), _Lack(why, lack), variation))
    return _bounded(fill("role"), forms[-1:] if least else forms)


def _unshown(task: Task, view: View, number: int) -> str:
    """Those of whom a form of a prompt tells nothing that tells of so many."""
    whole = len(view.shown)
    if whole > 1:
        return f"{whole - number} of the {whole} opponents"
    return "the opponent" if len(task.opponents) == 1 else "the heaviest opponent"


def _bounded(system: str, forms: Sequence[str]) -> Prompt:
    """The forms of a question that are short enough; where none is, the last without its middle.

    What stands in the middle is a program: the rules come before it, what is to be answered after.
    """
    room = LONGEST - len(system)
    fitting = [form for form in forms if len(form) <= room] or [clipped(forms[-1], room)]
    return Prompt(system, fitting[0], tuple(fitting[1:]))


def _form(
    task: Task,
    draft: Draft,
    view: View,
    others: Sequence[tuple[str, Score]],
    lack: _Lack,
    variation: int,
) -> str:
    """One form of a prompt; says what was left out of it."""
    draft = in_its_words(task, draft, view)
    told, mistake, began = draft.told or Told(), _mistake(draft), began_with(task, view)
    # Edits quote its lines, and a fault names one.
    shelf = Shelf({draft.source} if wants_edits(draft) or not _is_sound(draft) else ())
    parts = [interface(task), opponents(task, view, shelf, lack.why)]
    parts += [generality(task), aim(task, told, began)]
    if _is_sound(draft) and draft.score is not None:
        parts.append(_so_far(task, draft.source, draft.score, shelf))
        parts += [traces(task, told), latest(task, told, began)]
        parts.append(_inspirations(task, others, told, shelf, began))
        parts.append(tried(task, told, began))
        if mistake is not None:
            said = _said(mistake)
            same = twin(draft, names_in(task, view), shelf, began)
            said["reason"] = "\n\n".join(filter(None, (said["reason"], same)))
            parts.append(fill("refused_change", **said))
    elif mistake is not None:
        program = shelf.show("the program that failed", draft.source) if draft.source else ""
        parts += [tried(task, told, began), fill("mend", **_said(mistake), program=program)]
    else:
        parts += [_incumbent(task, view, shelf), tried(task, told, began)]
    parts.append(fill("left_out", what=" and ".join(lack.what), why=lack.why) if lack.what else "")
    parts.append(_angle(task, draft, variation))
    request = "edit_request" if wants_edits(draft) else "program_request"
    parts.append(fill(request, class_name=task.game.contract.class_name))
    return "\n\n".join(filter(None, parts)) + "\n"


def _others(draft: Draft, view: View) -> tuple[tuple[str, Score], ...]:
    """The other programs that tell more than is told already: an opponent's stands above."""
    shown = view.shown if view.form is OpponentInput.CODE else ()
    known = {one.opponent.source for one in shown}
    return tuple(pair for pair in draft.inspirations if pair[0] not in known)


def _is_sound(draft: Draft) -> bool:
    """Whether the draft starts from a program that was scored."""
    return bool(draft.source) and draft.score is not None


def _mistake(draft: Draft) -> Failure | None:
    """What is to be mended: the failure before, if there was an answer at all."""
    failure = draft.failure
    return None if failure is None or failure.kind in _NO_ANSWER else failure


def _incumbent(task: Task, view: View, shelf: Shelf) -> str:
    """The program to start from, unless showing it would show an opponent that is to be hidden."""
    is_opponent = task.incumbent in {one.source for one in (*task.opponents, *task.others)}
    if not task.incumbent or (is_opponent and view.form is not OpponentInput.CODE):
        return ""
    return fill("incumbent", program=shelf.show("the program to start from", task.incumbent))


def _angle(task: Task, draft: Draft, variation: int) -> str:
    """Where this draft is to begin, so that drafts made from the same facts differ.

    None for the first draft of a task, which is asked in the plain words of the paper's prompt,
    and none where one draft is to mend a program.  Models need not heed a temperature.
    """
    numbers = [int(digits) for digits in re.findall(r"\d+", draft.key)] or [0]
    place = sum(number * step for number, step in zip(numbers, _STEPS, strict=False))
    sound, mended = _is_sound(draft), _mistake(draft) is not None
    alone = len(numbers) == 1 or not numbers[-1]
    if not sound and ((alone and bool(draft.source)) if mended else not (place or variation)):
        return ""
    angles = list(lines_of("angles_revision" if sound else "angles_fresh"))
    random.Random(f"{task.seed}/angles").shuffle(angles)
    number = place + 5 * variation
    chosen = [angles[number % len(angles)]]
    more = max(numbers[0], numbers[-1]) // len(angles)
    if more:  # each direction was given once already
        chosen.append(angles[(number + 1 + (more - 1) % (len(angles) - 1)) % len(angles)])
    return fill("angle", angle=" Then: ".join(chosen))


def wants_edits(draft: Draft) -> bool:
    """Whether SEARCH/REPLACE blocks are asked for: only a sound program can be edited."""
    return draft.edit and _is_sound(draft)


def repair(prompt: Prompt, reply: str, failure: Failure) -> Prompt:
    """The same question, with the reply that could not be used and why."""
    whole, short = (_repair(reply, failure, most) for most in (_LONGEST_REPLY, _SHORTER_REPLY))
    questions = (prompt.text, *prompt.shorter)
    forms = [f"{prompt.text}\n{whole}\n", *(f"{form}\n{short}\n" for form in questions)]
    if len(prompt.system) + len(forms[-1]) > LONGEST:
        forms.append(f"{questions[-1]}\n{_repair(reply, failure, 0)}\n")
    return _bounded(prompt.system, list(dict.fromkeys(forms)))


def _repair(reply: str, failure: Failure, most: int) -> str:
    """What is said of a refused reply, with so many characters of it."""
    shown = ""
    if reply.strip():
        shown = fill("left_out", what="your last reply", why=NO_ROOM)
        if most:
            shown = f"It was:\n\n{fenced(clipped(reply, most), 'text')}"
    return fill("repair", **_said(failure), reply=shown)


def reworded(prompt: Prompt, failure: Failure) -> Prompt:
    """A question that was refused, asked again with a word on what it is for.

    Args:
      prompt: composed with another variation.
      failure: why there was no answer.
    """
    note = fill("refused", kind=_KINDS[failure.kind])
    forms = tuple(f"{form}\n{note}\n" for form in (prompt.text, *prompt.shorter))
    return _bounded(prompt.system, forms)


def interface(task: Task) -> str:
    """The rules, the class to write, and what it may use."""
    contract, limits, length = task.game.contract, Limits(), task.game.length
    return fill(
        "interface",
        rules=_demoted(task.game.rules),
        python=PYTHON,
        numpy=NUMPY,
        class_name=contract.class_name,
        methods=", ".join(
            f"`{name}` ({count} argument{'s' * (count != 1)} after self)"
            for name, count in contract.methods.items()
        ),
        imports=", ".join(sorted(ALLOWED_MODULES - {"__future__"})),
        act_seconds=f"{limits.act_seconds:g}",
        match_seconds=f"{limits.match_seconds:g}",
        length=f"{length:,}",
        round_ms=f"{1000.0 * limits.match_seconds / length:g}",
        ms_seconds=f"{length / 1000.0:g}",
        memory=limits.memory_mib,
        source_kib=limits.source_bytes // 1024,
    )


def _so_far(task: Task, source: str, score: Score, shelf: Shelf) -> str:
    if was_played(score):
        played = fill(
            "played",
            u=f"{score.u:+.2f}",
            error=error(score.stderr),
            unit=task.game.unit,
            results=results(task, score),
        )
    else:
        played = fill("unplayed", unit=task.game.unit)
    program = shelf.show("your program so far", source)
    return fill("program_so_far", program=program, played=played)


def results(task: Task, score: Score) -> str:
    """A table of the returns against each opponent, by the numbers that the prompt uses."""
    number = numbers_of(task)
    weight = {one.digest: one.weight for one in task.opponents}
    shown = [one for one in score.against if one.digest in number]
    rows = [
        f"| {number[one.digest]} | {weight[one.digest]:.4f} | {_result(one)} |"
        for one in sorted(shown, key=lambda one: number[one.digest])
    ]
    if len(shown) < len(score.against):
        rows += hidden_rows(task, score)
    head = "| opponent | weight | mean return | standard error | matches |"
    return "\n".join([head, "|---:|---:|---:|---:|---:|", *rows])


def _result(against: Against) -> str:
    if not against.matches:
        return "even: itself | | 0"
    noise = "unknown" if math.isnan(against.stderr) else f"{against.stderr:.2f}"
    given = against.forfeited
    forfeits = f", of which the opponent forfeited {given}" if given else ""
    return f"{against.mean:+.2f} | {noise} | {against.matches}{forfeits}"


def _inspirations(
    task: Task, programs: Sequence[tuple[str, Score]], told: Told, shelf: Shelf, began: str
) -> str:
    if not programs:
        return ""
    keys = {one.source: called(one.key, began) for one in told.tried if one.score is not None}
    listed = []
    for number, (source, score) in enumerate(programs, 1):
        name = keys.get(source, f"other program {number}")
        listed.append(
            f"## {name.capitalize()}: returned {came(score)}\n\n"
            f"{results(task, score)}\n\n{shelf.show(name, source)}"
        )
    met = "They were played against the same opponents."
    if note := given_up(task, [score for _, score in programs]):
        met = f"Those that were not given up were played against the same opponents. {note}"
    return fill("inspirations", met=met, programs="\n\n".join(listed))


def _said(failure: Failure) -> dict[str, str]:
    reason = clipped(failure.reason, _LONGEST_REASON)
    return {"kind": _KINDS[failure.kind], "reason": fenced(reason, "text")}


def _demoted(markdown: str) -> str:
    """The same text with its headings one level lower."""
    return re.sub(r"^(#+ )", r"#\1", markdown.strip(), flags=re.MULTILINE)
