"""The section of a prompt about the opponents: who they are, what is shown, what they are called.

A run calls its members by labels of its own ("k02"), and a prompt by numbers.  So that nobody has
two names in one prompt, what says why an attempt failed is told in the prompt's words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from oracle.context import OpponentInput, Shown, View
from oracle.drafts import Draft
from oracle.prompts import fill
from oracle.reflection import BEGAN, NOT_SHOWN, numbers_of, percents
from oracle.relatives import Shelf
from oracle.values import Opponent, Task

NO_ROOM = "for lack of room"
"""Why a prompt leaves something out; or else:"""
NO_ANSWER = "because an earlier form of this question got no answer"
_NAMING = "(the program of |the first against )"
"""What stands before a label in the reason of a failure; a program's own words are left alone."""
_SAME = "in every match it returns exactly what"
"""What stands before the program that the search began with."""


def opponents(task: Task, view: View, shelf: Shelf, why: str = NO_ROOM) -> str:
    """The section about the opponents; their programs are put on the shelf.

    Args:
      task: whose opponents these are.
      view: what is told of them.
      shelf: the programs that stand above.
      why: what is left out is left out.
    """
    alone = len(task.opponents) == 1
    every = "Every match"
    if task.hidden_share:
        every += " but those against hidden opponents"
    if view.form is OpponentInput.NONE:
        name, whom = ("opponents_none_one", "it") if alone else ("opponents_none", "them")
        return fill(name, every=every, goal=_goal(task, whom))
    if not alone:
        name, whom = "situation_many", "that draw"
    else:  # a policy that nobody else stands beside is no equilibrium of a population
        name, whom = ("situation_pure" if task.others else "situation_one"), "it"
    situation = fill(name, every=every, count=len(task.opponents), goal=_goal(task, whom))
    if not view.shown:
        return fill("opponents_unshown", situation=situation, why=why)
    texts = view.texts or {}
    listed = [_opponent(one, view, texts[one.opponent.digest], shelf) for one in view.shown]
    return fill(
        f"opponents_{view.form.value}",
        situation=situation,
        coverage=_coverage(task.opponents, view.shown),
        opponents="\n\n".join(listed),
    )


def _goal(task: Task, whom: str) -> str:
    """What is wanted; where there are hidden opponents, they have a share in that."""
    if not task.hidden_share:
        return fill("goal", unit=task.game.unit, whom=whom)
    share, rest = percents(task.hidden_share)
    return fill("goal_shared", unit=task.game.unit, whom=whom, rest=rest, share=share)


def _opponent(one: Shown, view: View, text: str, shelf: Shelf) -> str:
    title = f"## Opponent {one.number}: no weight at present"
    if one.opponent.weight:
        title = (
            f"## Opponent {one.number}: weight {one.opponent.weight:.4f}, "
            f"{one.share:.1%} of those shown"
        )
    if view.form is OpponentInput.CODE:
        return f"{title}\n\n{shelf.show(f'the program of opponent {one.number}', text)}"
    return f"{title}\n\n{text.strip()}"


def _coverage(everyone: Sequence[Opponent], shown: Sequence[Shown]) -> str:
    """Says what share of the meta-strategy the prompt shows, and who is shown besides."""
    weighty = [one for one in shown if one.opponent.weight]
    told = _share(everyone, weighty)
    rest = len(shown) - len(weighty)
    if not rest:
        return told
    who, them = f"{rest} more programs are", "them"
    if rest == 1:
        who, them = "One more program is", "it"
    return (
        f"{told} {who} shown after that: from the population that the mixture was made of, the "
        "newest first, without weight in it at present. Your program is not scored against "
        f"{them}, but what beats {them} as well will last longer."
    )


def _share(everyone: Sequence[Opponent], shown: Sequence[Shown]) -> str:
    if len(everyone) == 1:
        return "That one opponent is shown below."
    if len(shown) == len(everyone):
        return "All of the mixture are shown, with their weights in it."
    weight = sum(one.opponent.weight for one in shown)
    verb, each = ("is", "It") if len(shown) == 1 else ("are", "Each")
    return (
        f"{len(shown)} of {len(everyone)} {verb} shown, with {weight:.1%} of the weight. {each} "
        "has two numbers: its weight in the whole mixture, and its share of those shown."
    )


def in_its_words(task: Task, draft: Draft, view: View) -> Draft:
    """The draft with what failed told in the names that the prompt uses."""
    names, began = names_in(task, view), began_with(task, view)
    failure, told = draft.failure, draft.told
    if failure is not None:
        failure = replace(failure, reason=_renamed(failure.reason, names, began))
    if told is not None:
        tried = (replace(one, refused=_renamed(one.refused, names, began)) for one in told.tried)
        told = replace(told, tried=tuple(tried))
    return replace(draft, failure=failure, told=told)


def began_with(task: Task, view: View) -> str:
    """What this form of a prompt calls the program that the search began with.

    It is the heaviest opponent's own, which has a number where the form shows it.
    """
    shown = view.shown if view.form is OpponentInput.CODE else ()
    same = [one.number for one in shown if one.opponent.source == task.incumbent]
    return f"opponent {same[0]}'s own program, with which the search began" if same else BEGAN


def names_in(task: Task, view: View) -> dict[str, str]:
    """The labels of all members to what this form of a prompt calls them."""
    numbers = numbers_of(task)
    names = {one.ref: NOT_SHOWN for one in task.others}
    if view.form is not OpponentInput.NONE:
        names |= {one.opponent.ref: f"opponent {one.number}" for one in view.shown}
    return names | {one.ref: f"opponent {numbers[one.digest]}" for one in task.opponents}


def _renamed(reason: str, names: Mapping[str, str], began: str) -> str:
    """The reason with the name in it, if it has one, replaced; what comes after it stays."""
    if began != BEGAN:
        reason = reason.replace(f"{_SAME} {BEGAN} returns", f"{_SAME} {began}, returns", 1)
    labels = "|".join(map(re.escape, names))
    return re.sub(
        rf"{_NAMING}({labels})(?=[,:])", lambda found: found[1] + names[found[2]], reason, count=1
    )
