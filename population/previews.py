"""What a run would ask its model first, composed without asking or playing anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from arena.games import game as game_named
from arena.submission import Rejection, prepare
from oracle.context import OpponentInput
from oracle.drafts import Draft
from oracle.insight import INCUMBENT, Told, Tried
from oracle.prompt import Prompt
from oracle.values import Against, Score, Task
from oracle.writer import WriterOptions, preview
from population.config import RunConfig
from population.members import INITIAL_NAME, Member, task_of
from population.oracles import writer_options
from population.records import Sigma


def first_prompt(config: RunConfig, initial: Member) -> Prompt:
    """What a run would ask a model first; nothing is asked."""
    return prompt_against(config, [initial], Sigma({initial.digest: 1.0}, 0.0, config.solver), 1)


def prompt_against(config: RunConfig, members: Sequence[Member], sigma: Sigma, k: int) -> Prompt:
    """What a run would ask a model first in iteration k; nothing is asked.

    Only what is not known before is announced: descriptions, which the model itself writes, and
    what a search began with returned, where that has matches to play.
    """
    task = task_of(game_named(config.game), config, members, sigma, k)
    task = replace(task, hidden_share=config.hidden_share)
    if config.oracle.name == "zero-shot":
        task = replace(task, incumbent="")
    options = writer_options(config.oracle)
    return preview(task, _first_draft(config.oracle.name, task, options), options)


def _first_draft(oracle: str, task: Task, options: WriterOptions) -> Draft:
    """What a variant asks for first, with what it tells of the program that it begins with."""
    if oracle != "alpha-evolve":
        return Draft("a00")
    begins = options.opponents is OpponentInput.CODE  # as in `population.oracles.oracle_of`
    tried = (Tried(INCUMBENT, task.incumbent, _score(task), _idea(task), ""),) if begins else ()
    return Draft("i0g00d0", told=Told(tried=tried))


def _score(task: Task) -> Score:
    """What the incumbent returns: even against itself, and else not known before it is played."""
    alone = len(task.opponents) == 1 and not task.hidden_share
    u = 0.0 if alone else math.nan
    return Score(u, u, tuple(Against(one.digest, u, u, 0) for one in task.opponents))


def _idea(task: Task) -> str:
    """What its author says of the incumbent, as it is told of every program that was scored."""
    prepared = prepare(task.game, task.incumbent, name=INITIAL_NAME)
    if isinstance(prepared, Rejection):
        return ""
    return prepared.description or "no docstring"
