"""Any server that speaks OpenAI's chat completions: OpenAI, Ollama, vLLM, llama.cpp, LM Studio."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oracle.models.errors import CallRefused, MissingKey, MissingPackage
from oracle.models.options import LOOK_UP_SECONDS, ServerOptions, without_secrets
from oracle.models.prices import Price, price_of
from oracle.models.protocol import Finish, Reply, Request
from oracle.models.retry import RETRYABLE, Caller, Transient, retry_after

if TYPE_CHECKING:
    import openai

KEY = "OPENAI_API_KEY"
URL = "OPENAI_BASE_URL"
_NO_KEY = "none"
"""Sent to a server of one's own that wants no key: the SDK insists on one."""


class OpenAIModel:
    """A model behind chat completions.  The client is built at the first call."""

    def __init__(
        self, model: str, options: ServerOptions | None = None, caller: Caller | None = None
    ) -> None:
        """Names a model; asks nothing yet.

        Args:
          model: the server's name for it.
          options: how to reach it.
          caller: makes the attempts; one after the options where it is None.
        """
        self.name = f"openai:{model}"
        self._model = model
        self._options = options or ServerOptions()
        self._url = self._options.base_url or os.environ.get(URL, "")
        # On a server of one's own a familiar name may stand for anything, at any price.
        listed = None if self._url else price_of(model)
        self.price: Price | None = self._options.price or listed
        self._caller = caller or Caller(self._options.retry, self._options.concurrency)
        self._client: openai.OpenAI | None = None
        self._lock = threading.Lock()

    def generate(self, request: Request) -> Reply:
        """Asks the model.

        Raises:
          MissingPackage: the package `openai` is not installed.
          MissingKey: the environment has no key, and the server is OpenAI's own.
          ModelUnavailable: the server did not answer, for longer than we may wait.
          CallRefused: the server will not answer this.
        """
        client = self.connect()
        answered = self._caller.call(request.key, lambda: self._attempt(client, request))
        read = answered.value
        return replace(
            read.priced(self.price),
            model=read.model or self._model,
            attempts=answered.attempts,
            seconds=answered.seconds,
        )

    def _attempt(self, client: openai.OpenAI, request: Request) -> Reply:
        import openai

        try:
            # The text of the answer: servers differ, and the SDK's own reading checks nothing.
            answer = client.chat.completions.with_raw_response.create(**self._asked(request))
            return read_answer(json.loads(answer.text))
        except openai.APIStatusError as error:
            raise _sorted_out(error) from None
        except openai.APIConnectionError as error:  # timeouts included
            raise _lost(error) from None
        except (ValueError, RecursionError) as error:
            said = without_secrets(str(error).partition("\n")[0][:200], (KEY,))
            raise Transient(f"the server's answer cannot be read: {said}") from None

    def _asked(self, request: Request) -> dict[str, Any]:
        messages = [{"role": "user", "content": request.prompt}]
        if request.system:
            messages.insert(0, {"role": "system", "content": request.system})
        asked: dict[str, Any] = {"model": self._model, "messages": messages}
        if request.temperature is not None:
            asked["temperature"] = request.temperature
        if request.seed is not None:
            asked["seed"] = request.seed % 2**31
        if request.max_output_tokens is not None:
            # OpenAI's reasoning models refuse the old name; most other servers know only that.
            name = "max_tokens" if self._url else "max_completion_tokens"
            asked[name] = request.max_output_tokens
        if request.schema is not None:
            schema = {"name": "answer", "schema": dict(request.schema)}
            asked["response_format"] = {"type": "json_schema", "json_schema": schema}
        return asked

    def look_up(self) -> None:
        """Asks the server once whether it knows the key and the model; nothing is generated.

        Raises:
          MissingPackage, MissingKey: as `connect`.
          Transient: the server cannot be reached.
          CallRefused: it knows one of them not.
        """
        client = self.connect()
        import openai

        try:
            client.models.with_raw_response.retrieve(self._model, timeout=LOOK_UP_SECONDS)
        except openai.APIStatusError as error:
            if error.status_code in (401, 403) or (error.status_code == 404 and not self._url):
                raise _sorted_out(error) from None
            if error.status_code in (404, 405):
                self._look_among(client)
        except openai.APIConnectionError as error:
            raise _lost(error) from None

    def _look_among(self, client: openai.OpenAI) -> None:
        """Looks through the models that a server lists, where it tells nothing about one alone.

        Raises:
          CallRefused: there are some, and this is none of them.
        """
        import openai

        try:
            answer = client.models.with_raw_response.list(timeout=LOOK_UP_SECONDS)
            listed = _names(json.loads(answer.text))
        except (openai.OpenAIError, ValueError, RecursionError):
            return
        if listed and self._model not in listed and not any("*" in name for name in listed):
            told = ", ".join(sorted(listed)[:10])
            raise CallRefused(f"the server has no model {self._model!r}; it has {told}")

    def connect(self) -> openai.OpenAI:
        """Builds the client, where there is none yet; no server is asked.

        Raises:
          MissingPackage: the package `openai` is not installed.
          MissingKey: the environment has no key, and the server is OpenAI's own.
        """
        with self._lock:
            if self._client is None:
                self._client = self._new_client()
            return self._client

    def _new_client(self) -> openai.OpenAI:
        try:
            import openai
        except ImportError as error:
            raise MissingPackage(
                f"{self.name} needs the package openai: pip install 'policy-arena[openai]'"
            ) from error
        key = os.environ.get(KEY) or (_NO_KEY if self._url else "")
        if not key:
            raise MissingKey(
                f"{self.name} needs a key: set {KEY}, or {URL} to reach a server of your own"
            )
        return openai.OpenAI(
            api_key=key,
            base_url=self._url or None,
            timeout=self._options.timeout_seconds,
            max_retries=0,
        )


def _names(answer: Any) -> list[str]:
    """Names in a list of models; none where it is no such list."""
    rows = answer.get("data") if isinstance(answer, dict) else None
    found = [row.get("id") for row in (rows if isinstance(rows, list) else ()) if type(row) is dict]
    return [name for name in found if isinstance(name, str)]


def _lost(error: openai.APIConnectionError) -> Transient:
    """An error of the connection as one of ours."""
    said = str(error) + (f": {error.__cause__}" if error.__cause__ else "")
    return Transient(f"the server cannot be reached: {without_secrets(said[:300], (KEY,))}")


def _sorted_out(error: openai.APIStatusError) -> Exception:
    """An error of the API as one of ours."""
    said = without_secrets(str(error.message)[:500], (KEY,))
    reason = f"the server answered {error.status_code}: {said}"
    # Out of credit is reported as 429 too; no waiting helps.
    if error.status_code in RETRYABLE and error.code != "insufficient_quota":
        return Transient(reason, retry_after(error.response.headers.get("retry-after")))
    return CallRefused(f"{reason}; check the key, the model's name and the request")


def read_answer(answer: Any) -> Reply:
    """A chat completion as a reply without its cost.

    Raises:
      ValueError: it is none.
    """
    if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
        raise ValueError("it is no chat completion")
    counts = _counts(answer.get("usage"))
    model, origin = (answer.get(name) for name in ("model", "id"))
    reply = replace(
        counts,
        model=model if isinstance(model, str) else "",
        origin=origin if isinstance(origin, str) else "",
    )
    if not answer["choices"]:
        return reply
    choice = answer["choices"][0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise ValueError("its first choice has no message")
    text, reason = message.get("content"), choice.get("finish_reason")
    text = text if isinstance(text, str) else ""
    reason = reason if isinstance(reason, str) else ""
    if message.get("refusal"):
        return replace(reply, text=text, finish=Finish.BLOCKED, detail="refusal")
    return replace(reply, text=text, finish=_finish(reason), detail=reason)


def _finish(reason: str) -> Finish:
    if reason == "content_filter":
        return Finish.BLOCKED
    return Finish.CUT_OFF if reason == "length" else Finish.STOPPED


def _counts(usage: object) -> Reply:
    """Tokens of a reply; reasoning is a part of the completion's tokens in this protocol."""
    if not isinstance(usage, Mapping):
        return Reply("")
    details = usage.get("completion_tokens_details")
    thought = _count(details, "reasoning_tokens") or 0
    written = _count(usage, "completion_tokens")
    return Reply(
        "",
        prompt_tokens=_count(usage, "prompt_tokens"),
        output_tokens=None if written is None else max(0, written - thought),
        thought_tokens=thought,
    )


def _count(numbers: object, name: str) -> int | None:
    value = numbers.get(name) if isinstance(numbers, Mapping) else None
    return value if type(value) is int and value >= 0 else None
