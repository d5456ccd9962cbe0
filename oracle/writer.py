"""A language model as a writer: prompt, call, reply, program."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace

from arena.source_check import Reading, read_program
from oracle.context import TOP_5, Filter, OpponentInput, View
from oracle.describe import describe
from oracle.diffs import parse_diffs
from oracle.drafts import Draft
from oracle.edits import Edit, apply_edits, parse_edits, without_edits
from oracle.extract import MAX_REPLY_CHARS, extract_program, joined, plain
from oracle.models.errors import PromptRefused
from oracle.models.protocol import Finish, Model, Reply, Request
from oracle.prompt import Prompt, compose, repair, reworded, wants_edits
from oracle.sketches import is_sketch, left_out
from oracle.values import Failure, Opponent, Rejected, Task

_INCOMPLETE = Failure(
    Rejected.TRUNCATED,
    "the reply was cut off, and blocks that belong to these may be missing; answer with fewer or "
    "shorter blocks",
)


@dataclass(frozen=True, slots=True)
class WriterOptions:
    """How a model is asked.

    Attributes:
      opponents: what a prompt tells of each opponent.
      shown: which opponents it tells of.
      inspirations: how many other programs a prompt shows at most.
      repairs: how often a reply that holds no valid program is sent back, for each draft, or a
        question that was refused is asked in another way.
      temperature: None leaves it to the provider.
      max_output_tokens: None leaves it to the provider.
      thinking: level that is asked for; None leaves it to the provider.
    """

    opponents: OpponentInput = OpponentInput.CODE
    shown: Filter = TOP_5
    inspirations: int = 2
    repairs: int = 2
    temperature: float | None = None
    max_output_tokens: int | None = None
    thinking: str | None = None

    def __post_init__(self) -> None:
        for name in ("inspirations", "repairs"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least 0")


@dataclass(frozen=True, slots=True)
class ModelWriter:
    """Writes programs by asking a language model.

    Attributes:
      model: is asked; where it is a `JournaledModel`, nothing is asked twice.
      options: how.
    """

    model: Model
    options: WriterOptions = field(default_factory=WriterOptions)

    @property
    def name(self) -> str:
        """That of the model."""
        return self.model.name

    def write(self, task: Task, draft: Draft) -> Draft:
        """Writes the program that a draft asks for; see `oracle.drafts.Writer`.

        A reply without a valid program is sent back with the reason, `options.repairs` times.  A
        question that was refused, or answered by nothing, is asked again in other words and then
        with as little as possible, as often.  One that is too long even in its shortest form is
        given up.

        Raises:
          ModelError, BudgetSpent: as `Model.generate`.
        """
        first = prompt = self.prompt(task, draft)
        number = 0
        while True:
            key = call_key(task, draft, number)
            request = self._request(task, key, prompt)
            reply = self._reply(request)
            found = read_reply(task, draft, reply)
            if isinstance(found, str):
                asked = request.digest
                return Draft(draft.key, source=found, call=key, asked=asked, repairs=number)
            if number == self.options.repairs or found.kind is Rejected.TOO_LONG:
                return Draft(draft.key, failure=found, call=key, repairs=number)
            number += 1
            if reply.refused:
                # A repair begins with what was answered, not with what was refused.
                first = prompt = reworded(self.prompt(task, draft, number), found)
            else:
                prompt = repair(first, reply.text, found)

    def _reply(self, request: Request) -> Reply:
        """The reply; where the server turns the question down, one that says so."""
        try:
            return self.model.generate(request)
        except PromptRefused as error:
            return Reply("", Finish.BLOCKED, str(error))

    def prompt(self, task: Task, draft: Draft, variation: int = 0) -> Prompt:
        """The first prompt of a draft; asks for descriptions of opponents where they are shown.

        One that was refused is asked in other words, and then with as little as possible.
        """
        shown = self.options.shown.apply(task.opponents, task.others)
        texts = {one.opponent.digest: self._text(task, one.opponent) for one in shown}
        view = View(self.options.opponents, shown, texts)
        inspirations, least = self.options.inspirations, variation > 1
        return compose(task, draft, view, inspirations, variation, least=least)

    def _text(self, task: Task, opponent: Opponent) -> str:
        if self.options.opponents is OpponentInput.NONE:
            return ""
        if self.options.opponents is OpponentInput.CODE:
            return opponent.source
        found = describe(
            self.model,
            task.game,
            opponent,
            max_output_tokens=self.options.max_output_tokens,
            thinking=self.options.thinking,
        )
        if isinstance(found, Failure):
            return f"No description of this opponent could be had: {found.reason}."
        return found.text

    def _request(self, task: Task, key: str, prompt: Prompt) -> Request:
        return Request(
            key=key,
            prompt=prompt.text,
            system=prompt.system,
            temperature=self.options.temperature,
            max_output_tokens=self.options.max_output_tokens,
            seed=zlib.crc32(f"{task.seed}/{key}".encode()) >> 1,  # 31 bits: all providers take it
            thinking=self.options.thinking,
            shorter=prompt.shorter,
        )


def call_key(task: Task, draft: Draft, repair_number: int = 0) -> str:
    """Under what a call is stored: "k03/a02", and "k03/a02/r1" for its first repair."""
    suffix = f"/r{repair_number}" if repair_number else ""
    return f"{task.key}/{draft.key}{suffix}"


def preview(task: Task, draft: Draft, options: WriterOptions) -> Prompt:
    """What would be asked first, without asking anything.

    Descriptions, which the model itself would write, are only announced.
    """
    shown = options.shown.apply(task.opponents, task.others)
    announced = "(Here stands what the model, asked before, says that this program does.)"
    told = options.opponents is OpponentInput.DESCRIPTION
    texts = {one.opponent.digest: announced if told else one.opponent.source for one in shown}
    return compose(task, draft, View(options.opponents, shown, texts), options.inspirations)


def read_reply(task: Task, draft: Draft, reply: Reply) -> str | Failure:
    """The program in a reply, checked as far as that goes without running it."""
    if reply.failure is not None:
        return reply.failure
    wanted = _edited if wants_edits(draft) else _whole
    source = wanted(task, draft, reply)
    return source if isinstance(source, Failure) else _problem(task, draft, source) or source


def _problem(task: Task, draft: Draft, source: str) -> Failure | None:
    """What keeps a source from being a program that somebody would write.

    What the draft's own program leaves undefined may stay so, where that was scored: nothing came
    to it.
    """
    reading = read_program(source, task.game.contract)
    if reading.rejection is not None:
        said = f"{reading.rejection.kind}: {reading.rejection.message}"
        return Failure(Rejected.NOT_A_POLICY, said)
    before = read_program(draft.source if draft.score else "", task.game.contract)
    if reading.loose_end and _undefined(reading) != _undefined(before):
        said = f"{reading.loose_end}; the program has to have all that it uses in itself"
        return Failure(Rejected.NOT_A_POLICY, said)
    return None


def _undefined(reading: Reading) -> str:
    """A program's loose end, wherever in it that is."""
    return reading.loose_end.partition(": ")[2]


def _whole(task: Task, draft: Draft, reply: Reply, rest: str | None = None) -> str | Failure:
    """The whole program in a reply's text, or in what is left of it."""
    text, contract = reply.text if rest is None else rest, task.game.contract

    def is_sound(source: str) -> bool:
        # The program to start from may be quoted behind the one that was made of it.
        return source.strip() != draft.source.strip() and _problem(task, draft, source) is None

    found = extract_program(text, contract.class_name, cut_off=reply.cut_off, is_sound=is_sound)
    if isinstance(found, Failure):
        return found
    if (said := left_out(found, draft.source.split("\n"))) is not None:
        return Failure(
            Rejected.NOT_A_POLICY,
            f'line {said[0]}: "{said[1]}" stands for code that is not there; write every line of '
            "the program",
        )
    if read_program(found, contract).loose_end:
        # Imports and helpers in a block of their own are a part of it, if they fit.
        parts = joined(text)
        if parts and is_sound(parts) and not read_program(parts, contract).doubled:
            return parts
    return found


def _edited(task: Task, draft: Draft, reply: Reply) -> str | Failure:
    """The draft's program after the reply's edits; a whole program is as welcome."""
    if len(reply.text) > MAX_REPLY_CHARS:
        return _whole(task, draft, reply)  # which refuses it: nobody looks for blocks in it
    texts = dict.fromkeys((reply.text, plain(reply.text)))
    read = [parse_edits(text) for text in texts]
    blocks = [edits for edits in read if not isinstance(edits, Failure)]
    if not blocks:
        (why, *_) = (one for one in read if isinstance(one, Failure))
        return _without_blocks(task, draft, reply, why)
    if reply.cut_off:
        return _INCOMPLETE
    results = [_after(task, draft, edits) for edits in dict.fromkeys(blocks)]
    programs = [one for one in results if isinstance(one, str)]
    unfit = [one for one in results if isinstance(one, Failure)]
    return programs[0] if programs else _beside(task, draft, reply, blocks[0], unfit[0])


def _without_blocks(task: Task, draft: Draft, reply: Reply, why: Failure) -> str | Failure:
    """A new program, else what a diff makes of the old one; else why there is neither.

    A diff beside a new program may show a part of what changed.
    """
    whole = _whole(task, draft, reply)
    new = isinstance(whole, str) and whole.strip() != draft.source.strip()
    if isinstance(whole, str) and new and _problem(task, draft, whole) is None:
        return whole
    diffs = () if reply.cut_off else parse_diffs(reply.text)
    if diffs:
        return _after(task, draft, diffs)
    cut = isinstance(whole, Failure) and whole.kind is Rejected.TRUNCATED
    if new or cut:
        return whole
    if isinstance(whole, Failure) and whole.kind is Rejected.NOT_A_POLICY:
        return replace(why, reason=f"{why.reason}, and as a whole program: {whole.reason}")
    return why


def _after(task: Task, draft: Draft, edits: tuple[Edit, ...]) -> str | Failure:
    """The draft's program after edits that fit and leave a policy."""
    edited, contract = apply_edits(draft.source, edits), task.game.contract
    if isinstance(edited, Failure):
        return edited
    if (problem := _problem(task, draft, edited)) is not None:
        return problem
    before = read_program(draft.source, contract).doubled
    twice = [one for one in read_program(edited, contract).doubled if one not in before]
    if twice:
        return Failure(
            Rejected.BAD_EDIT,
            f"after the blocks {twice[0]} stands in the program twice, and the later one wins: "
            "lines that SEARCH does not quote stay, so quote all that is to go",
        )
    return edited


def _beside(
    task: Task, draft: Draft, reply: Reply, edits: tuple[Edit, ...], unfit: Failure
) -> str | Failure:
    """The whole program beside blocks that do not fit; where there is none, why they do not.

    It has to be sound and to leave nothing out, as it may only show again what was changed, and
    to be another one than the draft's: that one may be quoted.  A single block that looks for
    nothing holds a new program.
    """
    text = without_edits(reply.text)
    if len(edits) == 1 and not any(line.strip() for line in edits[0].search):
        text = "\n".join(["```python", *edits[0].replace, "```"])
    whole = _whole(task, draft, reply, text)
    if isinstance(whole, Failure) or whole.strip() == draft.source.strip():
        return unfit
    return unfit if is_sketch(whole) or _problem(task, draft, whole) else whole
