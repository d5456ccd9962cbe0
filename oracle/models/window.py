"""How much a server reads in one prompt: noticed when it is too little, and kept to from then on.

Some servers refuse a longer prompt and say so.  Others shorten it without a word: Ollama keeps its
first few tokens and the last half of its window (github.com/ollama/ollama, issue 17427), so that
the model never sees who it is to be.  Only the number of tokens that such a server reports tells.

That number may mean something else: some proxies leave out what they had in a cache
(github.com/crewAIInc/crewAI, pull request 1596), some always send the same.  A server that cuts
prompts reads as much of each; one whose numbers differ, are too few, or are the same of a prompt
that has fewer for certain, is not believed any more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from oracle.models.prices import Price
from oracle.models.protocol import Reply, Request
from oracle.models.retry import AskOtherwise, also_lost, ask_payer
from oracle.models.told import Told

SURE_CHARS = 6_000
"""Shorter prompts say too little about how many characters make a token."""
MOST_PER_TOKEN = 5.5
"""Characters.  Prompts of ours were measured to have 2.5 (programs with many numbers) to 3.9 (rules
and no program) with Mistral's tokenizer "tekken"; the rest is room for others."""
_MUCH_PER_TOKEN = 4.0
"""The same, where the number of tokens is one that a server's habit explains."""
USUAL_PER_TOKEN = 2.5
"""Characters, to be expected before a server has reported any: few, to be on the safe side."""
_MUCH_MORE, _MORE = 1.9, 1.5
"""How much more than ever before is too much; and how much it is at least where half is read."""
_ANOTHER_SIZE, _FAR_SIZE = 0.03, 0.6
"""Of prompts whose sizes differ by more than the first share, two may have equally many tokens by
chance, three hardly; where they differ by more than the second, two have not."""
_ROUND = 256
"""Tokens; contexts are set to multiples of it."""
_SHARE = 0.75
"""Of the window for the prompt, where the answer's length is not limited."""
_LEAST_READ = 50
"""Tokens; less is no context that anybody has, so a server that reports it means something else."""
_AS_MANY = 0.1
"""Of the tokens that a server read of two prompts that it cut, the most by which they differ."""
_ADVICE = (
    "prompts are shortened from now on; better raise the server's context (for Ollama "
    "OLLAMA_CONTEXT_LENGTH=65536, or num_ctx in the Modelfile)"
)
_NO_SENSE = (
    "reports numbers of tokens that fit no context (are those that it had in a cache left out?): "
    "prompts are shortened no more for that, and what its calls cost may be more than is counted"
)


class PromptTooLong(AskOtherwise):
    """The server refuses a prompt because of its length.

    Attributes:
      limit: tokens of its context, prompt and answer together; None where it does not say.
    """

    def __init__(self, reason: str, limit: int | None = None) -> None:
        super().__init__(reason)
        self.limit = limit


class Window:
    """What is known of a server's context.  For use by many threads."""

    def __init__(
        self, name: str, told: Told, tokens: int | None = None, *, silent: bool = True
    ) -> None:
        """Begins with what is known.

        Args:
          name: of the model, for what is told.
          told: tells it.
          tokens: of the context, prompt and answer together; None where it is not known.
          silent: whether the server may read a part of a prompt without saying so.
        """
        self._name = name
        self._told = told
        self._silent = silent
        self._tokens = tokens
        self._read: int | None = None
        self._too_long: int | None = None
        self._least: float | None = None
        self._seen: dict[int, list[int]] = {}
        self._of_few: set[int] = set()
        self._lock = threading.Lock()

    def first_fit(self, sizes: Sequence[int], start: int, answer: int | None) -> int:
        """The first place from `start` on whose prompt the server can read; the last, if none.

        Args:
          sizes: characters of each prompt, falling.
          start: place of the first that is still to be tried.
          answer: tokens of the answer at most; None for no limit.
        """
        with self._lock:
            for place in range(start, len(sizes)):
                if self._fits(sizes[place], answer):
                    return place
        return len(sizes) - 1

    def _fits(self, size: int, answer: int | None) -> bool:
        if self._too_long is not None and size > _SHARE * self._too_long:
            return False
        read = None if self._read is None else _context_of(self._read)
        known = [one for one in (self._tokens, read) if one is not None]
        if not known:
            return True
        tokens = min(known)
        room = _SHARE * tokens if answer is None else max(tokens - answer, 0)
        return size / (self._least or USUAL_PER_TOKEN) <= max(room, tokens / 2)

    def refused(self, size: int, limit: int | None) -> None:
        """Notes that a prompt was refused because of its length.

        Args:
          size: its characters.
          limit: tokens of the context, where the server says so.
        """
        with self._lock:
            if limit is not None:
                self._tokens, self._read = limit, None  # it says so itself
            if limit is None or self._fits(size, None):
                self._too_long = min(size, self._too_long or size)
        says = f"reads no more than {limit:,} tokens" if limit else "refuses long prompts"
        self._told.once("window", f"{self._name} {says}: {_ADVICE}")

    def cut(self, size: int, reported: int | None) -> bool:
        """Whether the server read only a part of a prompt without saying so.

        Args:
          size: characters of the prompt.
          reported: tokens that it says it read; None or 0 where it does not say.
        """
        if not self._silent or not reported:
            return False
        telling = size >= SURE_CHARS
        with self._lock:
            few = size / (self._least or USUAL_PER_TOKEN) <= _SHARE * reported
            if few:
                self._of_few.add(reported)
            strange = few and reported == self._read
            if not strange and not (telling and self._is_cut(size, reported)):
                if telling:
                    self._least = min(size / reported, self._least or size / reported)
                    self._seen.setdefault(reported, []).append(size)
                return False
            cut = self._fits_a_context(reported)
        if cut:
            says = f"read {reported:,} tokens of a prompt of {size:,} characters, which has more"
            self._told.once("window", f"{self._name} {says}: {_ADVICE}")
        else:
            self._told.once("numbers", f"{self._name} {_NO_SENSE}")
        return cut

    def _fits_a_context(self, reported: int) -> bool:
        """Takes so many tokens of a cut prompt for what the server reads, if it may be.

        It is not, where so many were reported of a prompt that has fewer for certain.
        """
        before = self._read or reported
        few = reported in self._of_few
        if few or reported < _LEAST_READ or _differ(before, reported, _AS_MANY):
            self._silent, self._read = False, None
        else:
            self._read = min(before, reported)
        return self._silent

    def _is_cut(self, size: int, reported: int) -> bool:
        ratio = size / reported
        telling = _context_of(reported) > reported
        if ratio > MOST_PER_TOKEN:
            return True
        much_more = self._least is None or ratio >= _MORE * self._least
        if telling and ratio > _MUCH_PER_TOKEN and much_more:
            return True
        if self._least is not None and ratio > _MUCH_MORE * self._least:
            return True
        if reported < max(self._seen, default=0) and not telling:
            return False  # it has read more
        others = [n for n in self._seen.get(reported, ()) if _differ(n, size, _ANOTHER_SIZE)]
        return bool(others) and (
            ratio > _MUCH_PER_TOKEN
            or _differ(min(others), size, _FAR_SIZE)
            or _differ(min(others), max(others), _ANOTHER_SIZE)
        )


def _differ(one: int, other: int, share: float) -> bool:
    return abs(one - other) > share * min(one, other)


def _context_of(reported: int) -> int:
    """The context of a server that read so many tokens of a longer prompt, at the least.

    Ollama reads half of its context and two tokens more; others read what they can.
    """
    twice = 2 * (reported - 2)
    return twice if twice and twice % _ROUND == 0 else reported


def ask_in_forms(
    window: Window, request: Request, ask: Callable[[str], Reply], price: Price | None = None
) -> Reply:
    """Asks with the longest form of a question that the server can read.

    Args:
      window: what is known of it, and learns.
      request: has the question and its shorter forms.
      ask: sends one of them; raises `PromptTooLong`.
      price: of the model.

    Returns:
      The reply, with what the attempts before it cost; `unread` where even the shortest form was
      refused.  An answer to that is kept however many tokens were reported: there is nothing left
      to ask instead, and the number may mean something else.

    Raises:
      BudgetSpent: the server read a part of a form, and no other may be paid for.
    """
    forms = (request.prompt, *request.shorter)
    sizes = [len(request.system) + len(form) for form in forms]
    place = window.first_fit(sizes, 0, request.max_output_tokens)
    earlier: Reply | None = None
    while True:
        last = place == len(forms) - 1
        with also_lost(_paid_in(earlier)):
            reply = _tried(window, sizes[place], forms[place], ask, price, last=last)
        if earlier is not None:
            reply = reply.paid_with(earlier)
        if place:
            reply = replace(reply, sent=forms[place])
        if not reply.unread or last:
            return reply
        earlier = reply
        place = window.first_fit(sizes, place + 1, request.max_output_tokens)


def _paid_in(earlier: Reply | None) -> tuple[Reply, ...]:
    """The counts of what was paid for in vain, as one attempt that lost all others."""
    if earlier is None or not earlier.lost:
        return ()
    return (replace(earlier, text="", lost=earlier.lost - 1),)


def _tried(
    window: Window,
    size: int,
    form: str,
    ask: Callable[[str], Reply],
    price: Price | None,
    *,
    last: bool,
) -> Reply:
    try:
        reply = ask(form)
    except PromptTooLong as refusal:
        window.refused(size, refusal.limit)
        said = str(refusal)
        refused = Reply("", prompt_tokens=0, output_tokens=0, cost=0.0, detail=said, unread=True)
        return refused.with_lost([one.priced(price) for one in refusal.lost])
    if window.cut(size, reply.prompt_tokens) and not last:
        read = f"it read {reply.prompt_tokens:,} tokens of {size:,} characters"
        in_vain = replace(reply, detail=read, unread=True, lost=reply.lost + 1)
        ask_payer(_paid_in(in_vain))
        return in_vain
    return reply
