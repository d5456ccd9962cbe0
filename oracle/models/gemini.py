"""Gemini, through google-genai."""

from __future__ import annotations

import base64
import json
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from oracle.models.alias import priced_by_who_answered
from oracle.models.catalogue import context_of, default_model, price_of
from oracle.models.chat_completions import REFUSES, SYSTEM_REFUSED, error_in, read_refusal
from oracle.models.deadline import Attempt, bound
from oracle.models.error_answer import ErrorAnswer
from oracle.models.errors import CallRefused, MissingKey, ModelUnavailable, PromptRefused
from oracle.models.options import LOOK_UP_SECONDS, ServerOptions, without_secrets
from oracle.models.prices import Price
from oracle.models.protocol import MOST_TOKENS, Finish, Reply, Request, valid_text
from oracle.models.reaching import Connected, key_in, reaching, unreadable
from oracle.models.reasoning import answer_in
from oracle.models.retry import RETRYABLE, Caller, Transient, retry_after, retry_info
from oracle.models.told import Told
from oracle.models.window import PromptTooLong, Window, ask_in_forms

if TYPE_CHECKING:
    from google import genai
    from google.genai import types

KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
"""Where the key is looked for, in the SDK's order."""
MAX_PARTS = 8
"""The most parts of one reply: a server that always offers more is not followed for ever."""

_BLOCKED = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "ESCALATION",
        "MODEL_ARMOR",
        "PUP_LIMITED_DISABLED",
    }
)
_CUT_OFF = frozenset({"MAX_TOKENS", "CONTINUATION"})
_HOPELESS = frozenset({"UnsupportedProtocol", "InvalidURL", "TooManyRedirects"})
"""Errors of an address that no other attempt mends."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a reply, mostly the only one, and the token to ask for the next one with."""

    reply: Reply
    token: bytes | None


class _SystemRefused(PromptRefused):
    """The model takes no system instruction, as Gemma does not."""


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
        self._takes_system = True

    def generate(self, request: Request) -> Reply:
        """Asks the model; a reply that comes in parts is put together.

        Raises:
          MissingKey: the environment has no key.
          ModelUnavailable: the server did not answer, for longer than we may wait.
          CallRefused: the server will not answer this.
        """
        self.connect()
        reply = ask_in_forms(self._window, request, lambda form: self._answer(request, form))
        return replace(reply, model=reply.model or self._model, text=answer_in(reply.text))

    def _answer(self, request: Request, form: str) -> Reply:
        """The reply to one form of a question; what the system says stands in it, if it must."""
        if request.system and self._takes_system:
            try:
                return self._whole(request, form)
            except _SystemRefused as refusal:
                self._takes_system = False
                self._told.once("system", f"{self.name} {SYSTEM_REFUSED}: {refusal}")
            reply = self._answer(request, form)
            return replace(reply, attempts=reply.attempts + 1)
        form = "\n\n".join(filter(None, [request.system, form]))
        return self._whole(replace(request, system=""), form)

    def _whole(self, request: Request, form: str) -> Reply:
        """The reply, its parts put together."""
        part = self._part(request, form, None)
        reply = part.reply
        for _ in range(MAX_PARTS - 1):
            if part.token is None or _full(reply, request):
                break
            try:
                part = self._part(request, form, part.token)
            except (ModelUnavailable, CallRefused, PromptTooLong):
                break  # the first parts are paid for: they are worth having, as a cut-off reply
            reply = _joined(reply, part.reply)
        return reply

    def _part(self, request: Request, form: str, token: bytes | None) -> Part:
        """One part of a reply; the first, or the one behind a token."""
        config = _config(request, token)
        answered = self._caller.call(request.key, lambda: self._attempt(form, config))
        part = answered.value
        reply = replace(part.reply, attempts=answered.attempts, seconds=answered.seconds)
        reply = priced_by_who_answered(reply, self.name, self._options.price, self._told)
        return Part(reply, part.token)

    def _attempt(self, prompt: str, config: types.GenerateContentConfig) -> Part:
        from google.genai import errors

        client = self.connect()
        attempt = Attempt(self._options.timeout_seconds)
        try:
            with attempt.under_way():
                answer = client.models.generate_content(
                    model=self._model, contents=prompt, config=config
                )
        except errors.APIError as error:
            raise _sorted_out(error) from None
        except _transport_errors() as error:
            raise attempt.ran_out() or _lost(error) from None
        except UnicodeEncodeError as error:
            raise PromptRefused(f"the question holds what cannot be sent: {error.reason}") from None
        except (ValueError, RecursionError) as error:  # the SDK reads a part of it, too
            raise unreadable(error, KEYS, "") from None
        body = answer.sdk_http_response.body if answer.sdk_http_response else None
        try:
            document = json.loads((body or "").lstrip("\ufeff"))
            failed = error_in(document)
            if failed is None:
                return read_answer(document)
        except (ValueError, RecursionError) as error:
            raise unreadable(error, KEYS, body or "") from None
        answered = ErrorAnswer.of(*failed, KEYS)
        if answered.refusal.status in RETRYABLE:
            raise Transient(answered.reason)
        raise CallRefused(f"{answered.reason}; {answered.advice}")

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
            if unknown or error.code in (400, 401, 403):
                raise _sorted_out(error) from None
        except _transport_errors() as error:
            raise attempt.ran_out() or _lost(error) from None
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
        base_url = (self._options.base_url or "").strip() or None
        with reaching(self.name, KEYS):
            client = genai.Client(
                vertexai=False,
                api_key=key,
                http_options=types.HttpOptions(base_url=base_url, timeout=milliseconds),
            )
        bound(lambda: client._api_client._httpx_client)
        return client


def _config(request: Request, token: bytes | None) -> types.GenerateContentConfig:
    from google.genai import types

    structured = request.schema is not None
    return types.GenerateContentConfig(
        system_instruction=request.system or None,
        temperature=request.temperature,
        max_output_tokens=request.max_output_tokens,
        seed=None if request.seed is None else request.seed % 2**31,  # an int32 on the wire
        thinking_config=_thinking(request.thinking),
        response_mime_type="application/json" if structured else None,
        response_json_schema=dict(request.schema) if request.schema is not None else None,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        # The SDK's own continuation follows a server without end, and forgets the parts that were
        # paid for when a later one fails.
        automatic_continuation=False,
        continuation_token=token,
        # On a strange answer the SDK's own reading raises TypeErrors, or warns: we read it.
        should_return_http_response=True,
    )


def _thinking(level: str | None) -> types.ThinkingConfig | None:
    from google.genai import types

    if level is None:
        return None
    return types.ThinkingConfig(thinking_level=types.ThinkingLevel(level.upper()))


def read_answer(answer: Any) -> Part:
    """A GenerateContentResponse of the REST API as a part, without its cost.

    Raises:
      ValueError: it is none.
    """
    if not isinstance(answer, dict):
        raise ValueError("it is no JSON object")
    counts = replace(
        _counts(answer.get("usageMetadata")),
        model=_text(answer, "modelVersion"),
        origin=_text(answer, "responseId"),
    )
    blocked = _text(answer.get("promptFeedback"), "blockReason")
    if blocked:
        return Part(replace(counts, finish=Finish.BLOCKED, detail=blocked), None)
    candidates = answer.get("candidates") or []
    if not isinstance(candidates, list) or not all(isinstance(one, dict) for one in candidates):
        raise ValueError("its candidates are no list of objects")
    if not candidates:
        if "usageMetadata" not in answer:
            raise ValueError("it has neither candidates nor usage")
        return Part(counts, None)
    content = candidates[0].get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    text = valid_text(
        "".join(
            _text(part, "text")
            for part in (parts if isinstance(parts, list) else [])
            if isinstance(part, dict) and not part.get("thought")
        )
    )
    reason = _text(candidates[0], "finishReason")
    token = _text(candidates[0], "continuationToken") if reason in ("", "CONTINUATION") else ""
    reply = replace(counts, text=text, finish=_finish(reason, text), detail=reason)
    return Part(reply, _decoded(token) if token else None)


def _decoded(token: str) -> bytes:
    """Bytes on the wire: base64 of either alphabet, with or without padding (ProtoJSON)."""
    return base64.b64decode(token.replace("-", "+").replace("_", "/") + "==")


def _counts(usage: object) -> Reply:
    """Tokens of a reply.  Counts of zero are left out on the wire, the usage as a whole is not."""
    if not isinstance(usage, dict):
        return Reply("")
    return Reply(
        "",
        prompt_tokens=_count(usage, "promptTokenCount") or None,  # no prompt is empty
        output_tokens=_count(usage, "candidatesTokenCount"),
        thought_tokens=_count(usage, "thoughtsTokenCount"),
    )


def _count(usage: dict[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else 0


def _text(holder: object, name: str) -> str:
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, str) else ""


def _finish(reason: str, text: str) -> Finish:
    if reason in _BLOCKED:
        return Finish.BLOCKED
    if reason in ("", "STOP", "FINISH_REASON_UNSPECIFIED"):
        return Finish.STOPPED
    # MALFORMED_RESPONSE, OTHER and reasons to come: what was written may lack its end.
    return Finish.CUT_OFF if reason in _CUT_OFF or text else Finish.STOPPED


def _full(reply: Reply, request: Request) -> bool:
    """Whether the parts so far are all that was asked for."""
    limit = request.max_output_tokens
    written = (reply.output_tokens or 0) + reply.thought_tokens
    return limit is not None and written >= limit


def _joined(reply: Reply, further: Reply) -> Reply:
    """Two parts as one; each was paid for with the whole prompt."""
    return replace(further.paid_with(reply), text=reply.text + further.text, origin=reply.origin)


def _sorted_out(error: Exception) -> Exception:
    """An error of the API as one of ours."""
    code = getattr(error, "code", None)
    said = f"{code} {getattr(error, 'status', None) or ''}".strip()
    details, response = getattr(error, "details", None), getattr(error, "response", None)
    address = str(getattr(response, "url", ""))
    message = str(getattr(error, "message", None) or "")
    body = message or details  # the SDK finds the message of Google's own errors alone
    answered = ErrorAnswer.of(code or 0, body, KEYS, address=address)
    reason, text = f"the server answered {said}: {answered.said}", answered.said
    if code not in RETRYABLE:
        refusal = read_refusal(code or 0, details, message)
        if refusal.too_long:
            return PromptTooLong(text[:200], refusal.limit)
        if refusal.of_system:
            return _SystemRefused(reason)
        if code in REFUSES and not refusal.of_key:
            return PromptRefused(f"{reason}; check the request and the model's options")
        return CallRefused(f"{reason}; {answered.advice}")
    headers = getattr(response, "headers", None) or {}
    delay = retry_info(details)
    return Transient(
        reason, delay if delay is not None else retry_after(headers.get("retry-after"))
    )


def _lost(error: Exception) -> Exception:
    """An error of the connection as one of ours."""
    kind = type(error).__name__
    reason = f"the server cannot be reached: {kind}: {without_secrets(str(error), KEYS)[:200]}"
    return CallRefused(reason) if kind in _HOPELESS else Transient(reason)


def _transport_errors() -> tuple[type[Exception], ...]:
    """Errors of connections and addresses, of whichever of its two HTTP libraries the SDK uses."""
    libraries = (sys.modules.get(name) for name in ("httpx2", "httpx"))
    return tuple(
        kind
        for library in libraries
        if library is not None
        for kind in (library.RequestError, library.InvalidURL)
    )
