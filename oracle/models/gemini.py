"""Gemini, through google-genai."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oracle.models.alias import priced_by_who_answered
from oracle.models.catalogue import context_of, default_model, price_of
from oracle.models.chat_completions import (
    REFUSES,
    SYSTEM_REFUSED,
    read_refusal,
)
from oracle.models.deadline import Attempt, bound
from oracle.models.error_answer import ErrorAnswer
from oracle.models.errors import (
    BudgetSpent,
    CallRefused,
    MissingKey,
    ModelUnavailable,
    PromptRefused,
)
from oracle.models.faults import error_in
from oracle.models.gemini_answer import Part, counted, document_in, read_answer
from oracle.models.gemini_question import SYSTEM, config_of, fields_of, named_in, without
from oracle.models.options import LOOK_UP_SECONDS, ServerOptions
from oracle.models.prices import Price
from oracle.models.protocol import Finish, Reply, Request
from oracle.models.reaching import Connected, address_of, key_in, reaching, unreadable
from oracle.models.reasoning import answer_in
from oracle.models.redaction import without_secrets
from oracle.models.retry import (
    RETRYABLE,
    AskOtherwise,
    Caller,
    Lost,
    Transient,
    also_lost,
    passing,
    retry_after,
    retry_info,
)
from oracle.models.told import Told
from oracle.models.window import PromptTooLong, Window, ask_in_forms

if TYPE_CHECKING:
    from google import genai
    from google.genai import types

KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
"""Where the key is looked for, in the SDK's order."""
URL = "GOOGLE_GEMINI_BASE_URL"
"""Where another server's address is looked for, by the SDK, too."""
MAX_PARTS = 8
"""The most parts of one reply: a server that always offers more is not followed for ever."""

_HOPELESS = frozenset({"UnsupportedProtocol", "InvalidURL", "TooManyRedirects"})
"""Errors of an address that no other attempt mends."""


class _FieldRefused(AskOtherwise):
    """The model names fields of the request that it does not take, and that one can do without."""

    def __init__(self, fields: tuple[str, ...], reason: str) -> None:
        super().__init__(reason)
        self.fields = fields


_NO_FURTHER = (ModelUnavailable, BudgetSpent, CallRefused, PromptTooLong, _FieldRefused)
"""Why there is no other part of a reply."""


class GeminiModel(Connected["genai.Client"]):
    """A Gemini model.  The client is built at the first call, when the key is read."""

    def __init__(
        self,
        model: str = "",
        options: ServerOptions | None = None,
        caller: Caller | None = None,
    ) -> None:
        """Names a model; asks nothing yet.

        Args:
          model: Google's name for it; "" for the one that is asked by default.
          options: how to reach it.
          caller: makes the attempts; one after the options where it is None.
        """
        super().__init__()
        self._model = model or default_model("gemini")
        self.name = f"gemini:{self._model}"
        self._options = options or ServerOptions()
        self.price: Price | None = self._options.price or price_of(self._model)
        self._caller = caller or Caller(self._options.retry, self._options.concurrency)
        self._told = Told()
        tokens = self._options.context_tokens or context_of(self._model)
        self._window = Window(self.name, self._told, tokens, silent=False)
        self._refused: frozenset[str] = frozenset()

    def generate(self, request: Request) -> Reply:
        """Asks the model; a reply that comes in parts is put together.

        Raises:
          MissingKey: the environment has no key.
          ModelUnavailable: the server did not answer, for longer than we may wait.
          CallRefused: the server will not answer this.
        """
        self.connect()
        reply = ask_in_forms(
            self._window, request, lambda form: self._answer(request, form), self.price
        )
        return replace(reply, model=reply.model or self._model, text=answer_in(reply.text))

    def _answer(self, request: Request, form: str) -> Reply:
        """The reply to one form of a question, without the fields that the model refuses."""
        earlier = 0
        lost: tuple[Reply, ...] = ()
        while True:
            try:
                with also_lost(lost):
                    reply = self._whole(*without(request, form, self._refused))
            except _FieldRefused as refusal:
                earlier, lost = earlier + 1, refusal.lost
                self._leave_out(refusal)
            else:
                reply = replace(reply, attempts=reply.attempts + earlier)
                return reply.with_lost(self._priced(lost))

    def _leave_out(self, refusal: _FieldRefused) -> None:
        with self._lock:
            self._refused |= frozenset(refusal.fields)
        for name in refusal.fields:
            instead = SYSTEM_REFUSED if name == SYSTEM else f"does not take {name}, left out"
            self._told.once(name, f"{self.name} {instead}: {refusal}")

    def _whole(self, request: Request, form: str) -> Reply:
        """The reply, its parts put together."""
        part = self._part(request, form, None)
        reply = part.reply
        for _ in range(MAX_PARTS - 1):
            if part.token is None or _full(reply, request):
                break
            try:
                part = self._part(request, form, part.token)
            except _NO_FURTHER as error:
                # The first parts are paid for: they are worth having.
                reply = reply.with_lost(self._priced(error.lost))
                break
            reply = _joined(reply, part.reply)
        unfinished = part.token is not None and reply.finish is Finish.STOPPED
        return replace(reply, finish=Finish.CUT_OFF) if unfinished else reply

    def _part(self, request: Request, form: str, token: bytes | None) -> Part:
        """One part of a reply; the first, or the one behind a token."""
        config, asked = config_of(request, token), fields_of(request)
        answered = self._caller.call(request.key, lambda: self._attempt(form, config, asked))
        part = answered.value
        reply = replace(part.reply, attempts=answered.attempts, seconds=answered.seconds)
        (reply,) = self._priced([reply])
        return Part(reply.with_lost(self._priced(answered.lost)), part.token)

    def _priced(self, replies: Sequence[Reply]) -> list[Reply]:
        price, told = self._options.price, self._told
        return [priced_by_who_answered(reply, self.name, price, told) for reply in replies]

    def _attempt(
        self, prompt: str, config: types.GenerateContentConfig, asked: Collection[str]
    ) -> Part:
        """One attempt to get an answer; `asked` are the fields that it can do without."""
        from google.genai import errors

        client = self.connect()
        attempt = Attempt(self._options.timeout_seconds)
        try:
            with attempt.under_way():
                answer = client.models.generate_content(
                    model=self._model, contents=prompt, config=config
                )
        except errors.APIError as error:
            raise _sorted_out(error, asked) from None
        except _transport_errors() as error:
            try:  # it may be whole, and nothing but the end of the connection be amiss
                return _read(attempt.received, asked)
            except Lost:
                raise _lost(error, attempt) from None
        except UnicodeEncodeError as error:
            raise PromptRefused(f"the question holds what cannot be sent: {error.reason}") from None
        except (ValueError, RecursionError) as error:  # the SDK reads a part of it, too
            if attempt.status != 200:
                failure = ErrorAnswer.of(attempt.status, "", KEYS)
                raise _meaning(failure, failure.reason, asked) from None
            raise unreadable(error, KEYS, "") from None
        body = answer.sdk_http_response.body if answer.sdk_http_response else None
        return _read(body or "", asked)

    def look_up(self) -> None:
        """Asks the server once whether it knows the key and the model; nothing is generated.

        Raises:
          MissingKey: the environment has no key.
          Transient: the server cannot be reached.
          CallRefused: it knows one of them not.
        """
        client = self.connect()
        from google.genai import errors, types

        options = types.HttpOptions(timeout=round(LOOK_UP_SECONDS * 1000))  # milliseconds
        config = types.GetModelConfig(http_options=options)
        attempt = Attempt(LOOK_UP_SECONDS, option="")
        try:
            with attempt.under_way():
                client.models.get(model=self._model, config=config)
        except errors.APIError as error:
            # Other servers that speak the protocol need not tell about models at all.
            unknown = error.code == 404 and error.status == "NOT_FOUND"
            if unknown or error.code in (400, 401, 403) or 300 <= error.code < 400:
                raise _sorted_out(error, ()) from None
        except _transport_errors() as error:
            raise _lost(error, attempt) from None
        except (ValueError, RecursionError):
            pass  # it is there, whatever it says

    def _new_client(self) -> genai.Client:
        key = key_in(KEYS)
        if not key:
            raise MissingKey(
                f"{self.name} needs a key: set GEMINI_API_KEY or GOOGLE_API_KEY, or use "
                "--model grammar, which needs none"
            )
        from google import genai  # takes a second, and only those who use it need it
        from google.genai import types

        milliseconds = max(1, round(self._options.timeout_seconds * 1000))
        address = address_of(self._options.base_url or os.environ.get(URL, ""), URL)
        with reaching(self.name, KEYS):
            client = genai.Client(
                vertexai=False,
                api_key=key,
                http_options=types.HttpOptions(
                    base_url=address or None,
                    timeout=milliseconds,
                    # To wherever a redirect leads, the key would be sent along.
                    client_args={"follow_redirects": False},
                ),
            )
        bound(lambda: client._api_client._httpx_client)
        return client


def _read(body: str, asked: Collection[str]) -> Part:
    """An answer of status 200, which may hold an error all the same.

    Raises:
      Lost: it is none of the protocol.
    """
    document: Any = None
    try:
        document = document_in(body)
        failed = error_in(document)
        if failed is None:
            return read_answer(document)
    except (ValueError, RecursionError) as error:
        counts = counted(document) if isinstance(document, dict) else None
        raise unreadable(error, KEYS, body, counts) from None
    answered = ErrorAnswer.of(*failed, KEYS, delay=retry_info(failed[1]))
    raise _meaning(answered, answered.reason, asked)


def _full(reply: Reply, request: Request) -> bool:
    """Whether the parts so far are all that was asked for."""
    limit = request.max_output_tokens
    written = (reply.output_tokens or 0) + reply.thought_tokens
    return limit is not None and written >= limit


def _joined(reply: Reply, further: Reply) -> Reply:
    """Two parts as one; each was paid for with the whole prompt."""
    return replace(further.paid_with(reply), text=reply.text + further.text, origin=reply.origin)


def _sorted_out(error: Exception, asked: Collection[str]) -> Exception:
    """An error of the API as one of ours.

    Args:
      error: of the SDK.
      asked: fields of the question that it can do without.
    """
    code = getattr(error, "code", None) or 0
    said = f"{code} {getattr(error, 'status', None) or ''}".strip()
    details, response = getattr(error, "details", None), getattr(error, "response", None)
    leads = getattr(getattr(response, "next_request", None), "url", None)
    message = str(getattr(error, "message", None) or "")
    headers = getattr(response, "headers", None) or {}
    delay = retry_info(details)
    answered = ErrorAnswer.of(
        code,
        message or details,  # the SDK finds the message of Google's own errors alone
        KEYS,
        delay=delay if delay is not None else retry_after(headers.get("retry-after")),
        address=str(leads or getattr(response, "url", "")),
        redirected=leads is not None,
    )
    answered = replace(answered, refusal=read_refusal(code, details, message))
    return _meaning(answered, f"the server answered {said}: {answered.said}", asked)


def _meaning(answered: ErrorAnswer, reason: str, asked: Collection[str]) -> Exception:
    """What a server's error means, as one of ours.

    Args:
      answered: the error.
      reason: status and words.
      asked: fields of the question that it can do without.
    """
    refusal = answered.refusal
    if refusal.too_long:
        return PromptTooLong(answered.said[:200], refusal.limit)
    if refusal.no_credit and refusal.status == 429:
        # Google has said so of projects that had credit: one other attempt tells.
        return Transient(reason, answered.delay, attempts=2, advice=answered.advice)
    final = refusal.no_credit or refusal.of_key
    if not final and refusal.status in (0, *RETRYABLE):
        return passing(refusal.status, reason, answered.delay)
    if refusal.of_system and SYSTEM in asked:
        return _FieldRefused((SYSTEM,), reason)
    if not final and refusal.status in REFUSES and not refusal.of_model:
        fields = named_in(refusal.message, asked)
        if fields:
            return _FieldRefused(fields, reason)
        return PromptRefused(f"{reason}; check the request and the model's options")
    return CallRefused(f"{reason}; {answered.advice}")


def _lost(error: Exception, attempt: Attempt) -> Exception:
    """An error of an attempt's connection as one of ours."""
    if late := attempt.ran_out():
        return late
    kind = type(error).__name__
    reason = f"{kind}: {without_secrets(str(error), KEYS)[:200]}"
    if kind in _HOPELESS:
        return CallRefused(f"the server cannot be reached: {reason}")
    return attempt.broken(reason)


def _transport_errors() -> tuple[type[Exception], ...]:
    """Errors of connections and addresses, of whichever of its two HTTP libraries the SDK uses."""
    libraries = (sys.modules.get(name) for name in ("httpx2", "httpx"))
    return tuple(
        kind
        for library in libraries
        if library is not None
        for kind in (library.RequestError, library.InvalidURL)
    )
