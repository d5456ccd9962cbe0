"""What an error of OpenAI's SDK, or of a server that speaks its protocol, means to us."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oracle.models.chat_completions import REFUSES
from oracle.models.deadline import Attempt
from oracle.models.error_answer import ErrorAnswer
from oracle.models.errors import CallRefused, PromptRefused
from oracle.models.openai_question import NEWER, STREAM, SYSTEM, size_of
from oracle.models.protocol import Finish, Reply
from oracle.models.redaction import fit, without_secrets
from oracle.models.retry import RETRYABLE, AskOtherwise, Transient, passing, retry_after
from oracle.models.window import USUAL_PER_TOKEN, PromptTooLong

if TYPE_CHECKING:
    import openai

KEY = "OPENAI_API_KEY"
LONGEST = 200
"""Characters of a server's words that are told or kept."""


class FieldRefused(AskOtherwise):
    """The server names fields that it does not take, and that the question can do without.

    Attributes:
      fields: that it never takes; none where only the answer's limit is too high this time.
      room: tokens of an answer that there is room for.
      context: tokens of prompt and answer together, where that is told.
    """

    def __init__(
        self, fields: tuple[str, ...], reason: str, room: int = 0, context: int | None = None
    ) -> None:
        super().__init__(reason)
        self.fields = fields
        self.room = room
        self.context = context


def meaning_of(answered: ErrorAnswer, asked: dict[str, Any]) -> Reply:
    """What a server's error means: a withheld reply, or else it is raised as one of ours."""
    refusal, said = answered.refusal, answered.said[:LONGEST]
    if refusal.too_long:
        room = refusal.room(round(size_of(asked) / USUAL_PER_TOKEN))
        if room is not None and not NEWER.keys().isdisjoint(asked):
            raise FieldRefused((), said, room, refusal.limit) from None
        raise PromptTooLong(said, refusal.limit) from None
    if refusal.of_whole and STREAM not in asked:
        raise FieldRefused((STREAM,), said) from None
    if fields := refusal.of(asked):
        raise FieldRefused(fields, said) from None
    if refusal.of_system and len(asked.get("messages", ())) > 1:
        raise FieldRefused((SYSTEM,), said) from None
    if refusal.by_policy:
        detail = f"{fit(refusal.code)[:LONGEST] or refusal.status}: {said}"
        return Reply("", Finish.BLOCKED, detail, prompt_tokens=0, output_tokens=0, cost=0.0)
    raise sorted_out(answered) from None


def error_answer(error: openai.APIStatusError) -> ErrorAnswer:
    """What a server answered with, as it stands in an error of the SDK."""
    delay = retry_after(error.response.headers.get("retry-after"))
    try:
        body = error.response.json()  # the whole: the SDK's own body lacks what stands beside it
    except (ValueError, RecursionError):
        body = error.response.text
    where, earlier = error.request, error.response.history
    first = earlier[0].request if earlier else where
    # A redirect of the older kind turns a question into a look at a page, and one to another
    # server takes no key along.
    keyless = error.status_code in (401, 403) and first.url.netloc != where.url.netloc
    lost = first.method != where.method or keyless
    return ErrorAnswer.of(
        error.status_code, body, (KEY,), delay=delay, address=str(where.url), redirected=lost
    )


def lost_connection(error: openai.APIConnectionError, attempt: Attempt) -> Transient:
    """An error of an attempt's connection as one of ours."""
    said = str(error) + (f": {error.__cause__}" if error.__cause__ else "")
    return attempt.ran_out() or attempt.broken(without_secrets(said, (KEY,))[:300])


def sorted_out(answered: ErrorAnswer) -> Exception:
    """A server's error as one of ours."""
    refusal = answered.refusal
    final = refusal.no_credit or refusal.of_key  # the first is also reported as 429
    # What came as an answer and means nothing to us mostly passes: a model that is being loaded.
    if not final and refusal.status in (0, *RETRYABLE):
        return passing(refusal.status, answered.reason, answered.delay)
    if not final and refusal.status in REFUSES and not refusal.of_model:
        return PromptRefused(f"{answered.reason}; check the request and the model's options")
    return CallRefused(f"{answered.reason}; {answered.advice}")
