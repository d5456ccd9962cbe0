"""What a server says that a call took, in numbers of any form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from oracle.models.protocol import MOST_TOKENS, Reply

_NUMBER = re.compile(r"[0-9]{1,12}(?:\.0{1,9})?")
_PROMPT, _WRITTEN = ("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens")
"""What is read and written goes by its older name, or by that of other protocols."""


def count_in(numbers: object, *names: str) -> int | None:
    """The first number of tokens under these names that is not 0; else 0, or None for none.

    Args:
      numbers: a document, of anything.
      names: under which it may be, in any form that JSON has for a whole number.
    """
    found = [
        _count(numbers[name]) for name in names if isinstance(numbers, Mapping) and name in numbers
    ]
    known = [one for one in found if one is not None]
    return next(filter(None, known), 0) if known else None


def _count(value: object) -> int | None:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def counts_in(usage: object) -> Reply:
    """Tokens of a reply; reasoning is a part of the completion's tokens in OpenAI's protocol.

    Some servers count it beside them, or in the total alone: what the total has more is reasoning.
    """
    # No prompt is empty: who reports none of it does not count.
    prompt, written = count_in(usage, *_PROMPT) or None, count_in(usage, *_WRITTEN)
    total = count_in(usage, "total_tokens") or 0
    if prompt is not None and written is None and total >= prompt:
        written = total - prompt
    if written and prompt is None and total > written:
        prompt = total - written
    thought = _detail(usage, _WRITTEN, "reasoning_tokens")
    if prompt is None or written is None:
        return Reply(
            "", prompt_tokens=prompt, output_tokens=written or None, thought_tokens=thought
        )
    beside, cached = max(0, total - prompt - written), _detail(usage, _PROMPT, "cached_tokens")
    if beside >= cached and (cached > prompt or beside == cached):
        # Some proxies leave out of the prompt what they had in a cache, but not of the total.
        prompt, beside = prompt + cached, beside - cached
    if thought > written:  # then it is no part of that, whatever the total says
        beside = max(beside, thought)
    within = 0 if beside and beside >= thought else min(thought, written)
    return Reply(
        "",
        prompt_tokens=prompt,
        output_tokens=written - within,
        thought_tokens=within + beside,
    )


def _detail(usage: object, names: tuple[str, ...], detail: str) -> int:
    details = (usage.get(f"{one}_details") for one in names if isinstance(usage, Mapping))
    return next(filter(None, (count_in(one, detail) for one in details)), 0)


def believed(reply: Reply, *, wrote: bool) -> Reply:
    """A reply without a number that cannot be: who wrote something took tokens for it.

    Args:
      reply: with its counts.
      wrote: whether the model wrote or thought anything.
    """
    none = reply.output_tokens == 0 and reply.thought_tokens == 0
    return replace(reply, output_tokens=None) if wrote and none else reply
