"""Any server that speaks OpenAI's chat completions: OpenAI, Ollama, vLLM, llama.cpp, LM Studio.

Such servers differ in what they take.  A field that a question can do without is left out, for as
long as the client lives, once a server has refused it by name; one that answers in pieces alone is
asked for them; a prompt that a server cannot read whole is shortened (`oracle.models.window`).  All
of it is told.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from arena.extras import install_command
from oracle.models.alias import priced_by_who_answered
from oracle.models.catalogue import context_of, price_of
from oracle.models.chat_completions import (
    SYSTEM_REFUSED,
    among,
    counted,
    names_in,
    read_answer,
)
from oracle.models.deadline import Attempt, bound
from oracle.models.error_answer import ErrorAnswer
from oracle.models.errors import CallRefused, MissingKey, MissingPackage, PromptRefused
from oracle.models.faults import error_in, fault_in, has_begun
from oracle.models.openai_errors import (
    KEY,
    LONGEST,
    FieldRefused,
    error_answer,
    lost_connection,
    meaning_of,
    sorted_out,
)
from oracle.models.openai_question import (
    NEWER,
    STREAM,
    SYSTEM,
    for_the_sdk,
    format_of,
    in_pieces,
    path_of,
)
from oracle.models.options import LOOK_UP_SECONDS, ServerOptions
from oracle.models.pieces import document_in
from oracle.models.prices import Price
from oracle.models.protocol import Reply, Request
from oracle.models.reaching import Connected, address_of, key_in, reaching, unreadable
from oracle.models.redaction import fit
from oracle.models.retry import Caller, Lost, Transient, also_lost
from oracle.models.told import Told
from oracle.models.window import PromptTooLong, Window, ask_in_forms

if TYPE_CHECKING:
    import openai

URL = "OPENAI_BASE_URL"
_OPENAI = "https://api.openai.com/v1"
_LEAST_ANSWER = 2048
"""Tokens of an answer; a prompt that leaves fewer is shortened, where it can be."""
_NO_KEY = "none"
"""Sent to a server of one's own that wants no key: the SDK insists on one."""
_INSTEAD = {
    SYSTEM: SYSTEM_REFUSED,
    STREAM: "answers in pieces alone (stream), asked for them from now on",
}
"""What is told where more is done about a refused field than to leave it out."""


class OpenAIModel(Connected["openai.OpenAI"]):
    """A model behind chat completions.  The client is built at the first call.

    Attributes:
      kind: what stands before the model's name.
    """

    kind = "openai"

    def __init__(
        self, model: str, options: ServerOptions | None = None, caller: Caller | None = None
    ) -> None:
        """Names a model; asks nothing yet.

        Args:
          model: the server's name for it.
          options: how to reach it.
          caller: makes the attempts; one after the options where it is None.
        """
        super().__init__()
        self.name = f"{self.kind}:{model}"
        self._model = model
        self._options = options or ServerOptions()
        self._url = _of_others(self._options.base_url or os.environ.get(URL, ""))
        # On a server of one's own a familiar name may stand for anything, at any price.
        listed = None if self._url else price_of(model)
        self.price: Price | None = self._options.price or listed
        self._caller = caller or Caller(self._options.retry, self._options.concurrency)
        self._told = Told()
        known = None if self._url else context_of(model)
        tokens = self._options.context_tokens or known
        # OpenAI itself refuses what it cannot read.
        self._window = Window(self.name, self._told, tokens, silent=bool(self._url))
        self._refused: frozenset[str] = frozenset()

    def generate(self, request: Request) -> Reply:
        """Asks the model.

        Raises:
          MissingPackage: the package `openai` is not installed.
          MissingKey: the environment has no key, and the server is OpenAI's own.
          ModelUnavailable: the server did not answer, for longer than we may wait.
          CallRefused: the server will not answer this.
        """
        client = self.connect()
        reply = ask_in_forms(
            self._window, request, lambda form: self._answer(client, request, form), self.price
        )
        return replace(reply, model=reply.model or self._model)

    def _answer(self, client: openai.OpenAI, request: Request, form: str) -> Reply:
        """The reply to one form of a question, without the fields that the server refuses."""
        earlier, limit = 0, request.max_output_tokens
        lost: tuple[Reply, ...] = ()
        while True:
            asked = self._asked(replace(request, max_output_tokens=limit), form)
            attempt = partial(self._attempt, client, asked)
            try:
                with also_lost(lost):
                    answered = self._caller.call(request.key, attempt)
            except FieldRefused as refusal:
                earlier, lost = earlier + 1, refusal.lost
                shorter = form != (request.prompt, *request.shorter)[-1]
                limit = self._leave_out(refusal, limit, shorter=shorter)
                continue
            reply = replace(
                answered.value, attempts=answered.attempts + earlier, seconds=answered.seconds
            )
            return self._paid(reply, (*lost, *answered.lost))

    def _paid(self, reply: Reply, lost: Sequence[Reply]) -> Reply:
        """A reply with its cost, and with what attempts before it have probably cost."""
        price, listed = self._options.price, not self._url
        reply = priced_by_who_answered(reply, self.name, price, self._told, listed=listed)
        return reply.with_lost([one.priced(self.price) for one in lost])

    def _attempt(self, client: openai.OpenAI, asked: dict[str, Any]) -> Reply:
        import openai

        attempt = Attempt(self._options.timeout_seconds)
        try:
            # The text of the answer: servers differ, and the SDK's own reading checks nothing.
            with attempt.under_way():
                text = self._create(client, for_the_sdk(asked))
        except openai.APIStatusError as error:
            return meaning_of(error_answer(error), asked)
        except openai.APIConnectionError as error:  # timeouts included
            try:  # it may be whole, and nothing but the end of the connection be amiss
                return self._understood(attempt.received, client, asked)
            except Lost:
                raise lost_connection(error, attempt) from None
        except UnicodeEncodeError as error:
            raise PromptRefused(f"the question holds what cannot be sent: {error.reason}") from None
        return self._understood(text, client, asked)

    def _understood(self, text: str, client: openai.OpenAI, asked: dict[str, Any]) -> Reply:
        """What an answer of status 200 says, which may be an error all the same.

        Raises:
          Lost: it is none of the protocol.
        """
        answer: Any = None
        try:
            answer = document_in(text)
            failed = error_in(answer)
            if failed is None:
                return self._whole(answer)
        except (ValueError, RecursionError) as error:
            counts = counted(answer) if isinstance(answer, dict) else None
            raise unreadable(error, (KEY,), text, counts) from None
        address = f"{str(client.base_url).rstrip('/')}/{path_of(asked)}"
        return meaning_of(ErrorAnswer.of(*failed, (KEY,), address=address), asked)

    def _whole(self, answer: Any) -> Reply:
        """A document as a reply without its cost, its words fit to be kept.

        Raises:
          ValueError: it is none.
          Transient, Lost: the model failed in the middle of its answer.
        """
        fault = fit(fault_in(answer))
        if fault:
            said = f"the model failed in the middle of its answer: {fault[:LONGEST]}"
            raise Lost(said, counts=counted(answer)) if has_begun(answer) else Transient(said)
        reply = self._read(answer)
        return replace(reply, detail=fit(reply.detail)[:LONGEST])

    def _create(self, client: openai.OpenAI, asked: dict[str, Any]) -> str:
        """The text of the server's document that answers what is asked."""
        return client.chat.completions.with_raw_response.create(**asked).text

    def _read(self, answer: Any) -> Reply:
        """A document as a reply without its cost.

        Raises:
          ValueError: it is none.
        """
        return read_answer(answer)

    def _told_model(self, request: Request, form: str) -> dict[str, Any]:
        """The fields that hold the question in one of its forms."""
        if SYSTEM in self._refused:
            form = "\n\n".join(filter(None, [request.system, form]))
        messages = [{"role": "user", "content": form}]
        if request.system and SYSTEM not in self._refused:
            messages.insert(0, {"role": SYSTEM, "content": request.system})
        return {"messages": messages}

    def _optional(self, request: Request) -> dict[str, Any]:
        """The fields that a question can do without; None where it does."""
        # Others than OpenAI know the limit on output by its first name.
        limit = "max_tokens" if self._url else "max_completion_tokens"
        return {
            "temperature": request.temperature,
            "seed": None if request.seed is None else request.seed % 2**31,
            NEWER[limit] if limit in self._refused else limit: request.max_output_tokens,
            "reasoning_effort": request.thinking,
            "response_format": None if request.schema is None else format_of(request.schema),
        }

    def _asked(self, request: Request, form: str) -> dict[str, Any]:
        streamed = in_pieces() if STREAM in self._refused else {}
        wanted = {
            name: value
            for name, value in {**self._optional(request), **streamed}.items()
            if value is not None and (name == STREAM or name not in self._refused)
        }
        return {"model": self._model, **self._told_model(request, form), **wanted}

    def _leave_out(self, refusal: FieldRefused, limit: int | None, *, shorter: bool) -> int | None:
        """Learns from a refusal; returns the limit on this one answer from now on.

        Args:
          refusal: by the server.
          limit: on this answer so far.
          shorter: whether the question has a shorter form.

        Raises:
          PromptTooLong: even without a limit there is no room for an answer, or for so short a one
            that a shorter prompt is better.
        """
        if not refusal.fields:
            if limit is None or (shorter and refusal.room < min(limit / 2, _LEAST_ANSWER)):
                too_long = PromptTooLong(str(refusal), refusal.context)
                too_long.lost = refusal.lost
                raise too_long
            said = "has no room for so long an answer, asked for a shorter one where that is so"
            self._told.once("room", f"{self.name} {said}: {refusal}")
            return refusal.room if refusal.room < limit else None
        with self._lock:
            self._refused |= frozenset(refusal.fields)
        for name in refusal.fields:
            instead = _INSTEAD.get(name, f"does not take {name}, left out")
            self._told.once(name, f"{self.name} {instead}: {refusal}")
        return limit

    def look_up(self) -> None:
        """Asks the server once whether it knows the key and the model.

        Nothing is generated, but for one token where the server lists others alone.

        Raises:
          MissingPackage, MissingKey: as `connect`.
          Transient: the server cannot be reached.
          CallRefused: it knows one of them not.
        """
        client = self.connect()
        import openai

        attempt = Attempt(LOOK_UP_SECONDS, option="")
        try:
            with attempt.under_way():
                client.models.with_raw_response.retrieve(self._model, timeout=LOOK_UP_SECONDS)
        except openai.APIStatusError as error:
            answered, status = error_answer(error), error.status_code
            if answered.refusal.of_looking:
                return
            if status in (401, 403) or answered.refusal.of_key:
                raise sorted_out(answered) from None
            if status == 404 and not self._url:
                raise sorted_out(answered) from None
            if status in (404, 405):
                self._look_among(client)
        except openai.APIConnectionError as error:
            raise lost_connection(error, attempt) from None

    def _look_among(self, client: openai.OpenAI) -> None:
        """Looks through the models that a server lists, where it tells nothing about one alone.

        Raises:
          CallRefused: there are some, this is none of them, and nothing answers to its name.
        """
        import openai

        try:
            with Attempt(LOOK_UP_SECONDS).under_way():
                answer = client.models.with_raw_response.list(timeout=LOOK_UP_SECONDS)
            listed = names_in(json.loads(answer.text))
        except (openai.OpenAIError, ValueError, RecursionError):
            return
        if listed and not among(self._model, listed):
            self._try_out(client, sorted(listed))

    def _try_out(self, client: openai.OpenAI, listed: Sequence[str]) -> None:
        """Asks for one token: lists are not always whole, and many a server knows other names.

        A server that is busy passes, and one that only refuses so small a question.

        Raises:
          CallRefused: it has no such model, or will not answer for another reason that stays.
        """
        told = ", ".join(listed[:10]) + ", ..." * (len(listed) > 10)
        smallest = self._told_model(Request("access", "1"), "1")
        asked = {"model": self._model, **smallest, "max_tokens": 1, "timeout": LOOK_UP_SECONDS}
        try:
            self._attempt(client, asked)
        except (PromptRefused, PromptTooLong, Transient, FieldRefused):
            pass
        except CallRefused as error:
            lists = f"the server lists no model {self._model!r}; it has {told}"
            raise CallRefused(f"{lists}; asked for it, {error}") from error
        self._told.once("unlisted", f"{self.name} is asked, though its server lists only {told}")

    def _new_client(self) -> openai.OpenAI:
        try:
            import openai
        except ImportError as error:
            raise MissingPackage(
                f"{self.name} needs the package openai: {install_command('openai')}"
            ) from error
        key = key_in((KEY,)) or (_NO_KEY if self._url else "")
        if not key:
            raise MissingKey(
                f"{self.name} needs a key: set {KEY}, or {URL} to reach a server of your own"
            )
        # The SDK would put its paths behind a query: Azure's ?api-version=... is one.
        address = urlsplit(address_of(self._url, URL))
        with reaching(self.name, (KEY,)):
            client = openai.OpenAI(
                api_key=key,
                base_url=urlunsplit(address._replace(query="", fragment="")) or _OPENAI,
                default_query=dict(parse_qsl(address.query)),
                timeout=self._options.timeout_seconds,
                max_retries=0,
            )
        bound(lambda: client._client)
        with suppress(AttributeError):  # of another version
            client._client.event_hooks["response"].append(_as_utf8)
        return client


def _of_others(address: str) -> str:
    """An address as it is given; "" for OpenAI's own, which some write out."""
    address = address.strip()
    return "" if address.rstrip("/").lower() == _OPENAI else address


def _as_utf8(response: Any) -> None:
    """Has a body read as what JSON is, whatever its header calls it."""
    response.encoding = "utf-8"
