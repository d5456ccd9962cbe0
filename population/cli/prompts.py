"""What a model is asked, as `csro prompt` and `--dry-run` print it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from arena.cli.session import Session, notice, plain
from arena.errors import UsageFault
from arena.games import game as game_named
from arena.local import Arena
from oracle.grammar.starts import STARTS
from oracle.models.journal import Call
from oracle.prompt import Prompt
from population.cli.advice import advise
from population.cli.keeping import runs_of
from population.config import RunConfig
from population.errors import UnknownRun
from population.members import Member, built_in_initial, label_of, named_initial
from population.oracles import journal_of
from population.previews import first_prompt, prompt_against
from population.records import RunRecord
from population.runs import Runs
from registry import shown

if TYPE_CHECKING:
    from rich.console import Console


def show_first(session: Session, config: RunConfig) -> None:
    """Prints what would be sent first; registers and stores nothing.

    Raises:
      UsageFault: the oracle sends no prompts.
    """
    if config.oracle.trains:
        raise UsageFault(f"the oracle {config.oracle.name} sends no prompts")
    game = game_named(config.game)
    if config.initial:
        with session.arena() as arena:
            initial = named_initial(arena, game, config.initial, config.oracle)
    else:
        initial = built_in_initial(game)
    first = first_prompt(config, initial)
    _show(session, first, {})
    notice(f"model: {config.oracle.model}; {_size(first)}; nothing was sent")


def show_calls(session: Session, run: str) -> None:
    """Lists what a run, or a search of `csro exploit`, asked its model.

    Raises:
      UsageFault: it asks none.
    """
    session.arena()
    runs = runs_of(session)
    record, calls = _record(runs, run), journal_of(runs, run).calls()
    done = [label_of(one.k) for one in runs.iterations(run)] if record else []
    command = session.typed(f"csro prompt --run {run}")
    if not calls and record is not None:
        _must_ask(record, f"{command} --call {done[-1]}" if done else "")

    def human(out: Console) -> None:
        if not calls:
            out.print(f"{run} has no model call yet")
            return
        from rich.table import Table

        table = Table("call", "characters", "read", "written", "finish", "answered by", box=None)
        for call in calls:
            reply = call.reply
            table.add_row(
                call.request.key,
                f"{len(call.request.system) + len(call.sent):,}",
                "-" if reply.prompt_tokens is None else f"{reply.prompt_tokens:,}",
                "-" if reply.tokens is None else f"{reply.tokens - (reply.prompt_tokens or 0):,}",
                plain(f"{reply.finish.value} {reply.detail}".strip()),
                plain(reply.model or call.model),
            )
        out.print(table)
        advise(out, "one of them", f"{command} --call {calls[-1].request.key}")
        if done:
            told = f"what was asked first in iteration {len(done)}"
            advise(out, told, f"{command} --call {done[-1]}")

    session.answer({"run": run, "calls": [_told(call) for call in calls]}, human)


def show_call(session: Session, run: str, key: str) -> None:
    """Prints what a run asked under a key, or is first asked in an iteration.

    Raises:
      UsageFault: there is no such call, and no such iteration; or the oracle is not ours.
    """
    arena = session.arena()
    runs = runs_of(session)
    record, calls = _record(runs, run), journal_of(runs, run).calls(key)
    found = [call for call in calls if call.request.key == key]
    found = found or [call for call in calls if call.request.key.startswith(f"{key}/")][:1]
    if found:
        call = found[-1]  # a key may have been asked again with another prompt
        _show(session, Prompt(call.request.system, call.sent), _told(call))
        answered = call.reply.model or call.model
        notice(f"{call.request.key}: as it was sent; answered by {shown(answered)}")
        return
    command = session.typed(f"csro prompt --run {run}")
    if record is None:
        raise UsageFault(f"{run} has no model call {key!r}; see {command}")
    sigmas = {label_of(one.k): (one.k, one.sigma) for one in runs.iterations(run)}
    oracle = record.config.oracle
    if key not in sigmas or not (oracle.writes_with_a_model or oracle.model in STARTS):
        _must_ask(record, f"{command} --call {list(sigmas)[-1]}" if sigmas else "")
        raise UsageFault(
            f"{run} has no model call {key!r} and no finished iteration of that name; see {command}"
        )
    k, sigma = sigmas[key]
    composed = prompt_against(record.config, members_before(arena, runs, run, k), sigma, k)
    _show(session, composed, {"key": key})
    asks = "" if oracle.writes_with_a_model else f"{run} asks no model; "
    who = "one " if asks else ""
    notice(f"{asks}{key}: what {who}would be asked first; {_size(composed)}; nothing was sent")


def _record(runs: Runs, run: str) -> RunRecord | None:
    """Of a run; None of searches of `csro exploit`, of which only the calls are kept by name.

    Raises:
      UnknownRun: neither is called that.
    """
    try:
        return runs.get(run)
    except UnknownRun:
        if journal_of(runs, run).calls():
            return None
        raise


def _must_ask(record: RunRecord, composed: str) -> None:
    """Does nothing where a model that we know of writes a run's programs.

    Args:
      record: of the run.
      composed: the command that tells what one would be asked first; "" where none can.

    Raises:
      UsageFault: none does, so there are no calls to be shown.
    """
    oracle = record.config.oracle
    if oracle.trains:
        raise UsageFault(f"{record.name} trains networks, and asks no model")
    if oracle.custom:
        raise UsageFault(
            f"{record.name} has an oracle of its author's own, {oracle.name}: nobody else knows "
            "what it asks"
        )
    if oracle.model in STARTS:
        more = f"; what one would be asked first in an iteration:  {composed}" if composed else ""
        raise UsageFault(f"{record.name} asks no model, the grammar writes its programs{more}")


def members_before(arena: Arena, runs: Runs, run: str, k: int) -> list[Member]:
    """The members of a run's population that iteration k began with."""
    labels = {runs.get(run).initial: "initial"}
    for one in runs.iterations(run):
        if one.k < k and one.accepted:
            labels.setdefault(one.accepted, label_of(one.k))
    versions = arena.versions(labels)
    return [
        Member(digest, label, versions[digest].payload, versions[digest].kind)
        for digest, label in labels.items()
    ]


def _show(session: Session, prompt: Prompt, more: Mapping[str, Any]) -> None:
    document = {"system": prompt.system, "prompt": prompt.text, "digest": prompt.digest, **more}
    # A repair quotes the model's reply: what steers a terminal must not reach one.
    session.answer(document, lambda out: click.echo(shown(f"{prompt.system}\n\n{prompt.text}")))


def _size(prompt: Prompt) -> str:
    return f"{len(prompt.system) + len(prompt.text):,} characters"


def _told(call: Call) -> dict[str, Any]:
    reply = call.reply
    return {
        "key": call.request.key,
        "model": call.model,
        "answered_by": reply.model,
        "characters": len(call.request.system) + len(call.sent),
        "shortened": bool(reply.sent),
        "prompt_tokens": reply.prompt_tokens,
        "tokens": reply.tokens,
        "cost_usd": reply.cost,
        "finish": reply.finish.value,
        "detail": reply.detail,
    }
