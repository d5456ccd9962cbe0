"""What is sent to a model's server and what it answers, as the documents of its protocols."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

STATUS_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
REFUSALS = {
    "param": lambda name: {
        "message": f"Unsupported parameter: '{name}' is not supported with this model.",
        "type": "invalid_request_error",
        "param": name,
        "code": "unsupported_parameter",
    },
    "message": lambda name: {"message": f"this server knows no {name}, sorry", "code": 400},
    "bare": lambda name: f"unknown field: {name}",
}
"""How servers name a field that they do not take."""
OPENAI_FINISH = {"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter"}


@dataclass(frozen=True)
class Step:
    """How one call is answered; what is not said is as in an ordinary answer.

    Attributes:
      status: HTTP status; other than 200 gives an error.
      retry_delay: a google.rpc.RetryInfo in the error's body, such as "7s".
      retry_after: a Retry-After header.
      location: a Location header.
      message: the error's text.
      code: the error's code in OpenAI's protocol.
      seconds: to wait before answering.
      drop: close the connection instead of answering ("reset" to reset it, "half" after the
        beginning of an answer).
      raw: the body to send, as it stands.
      content_type: of the body.
      packed: whether the body is sent packed, as gzip does it.
      missing: bytes that are announced beside the body and never come.
      text: the reply; None for what the server's function says.
      empty: whether the reply has no content at all.
      finish: why it ends, in Gemini's words.
      blocked: why the prompt is blocked, in Gemini's words.
      thoughts: tokens of thinking.
      version: who answers; "" for whoever the server says.
      usage: whether the usage is reported.
      token: of a continuation.
      extra: further members of the message (OpenAI) or the candidate (Gemini).
    """

    status: int = 200
    retry_delay: str = ""
    retry_after: str = ""
    location: str = ""
    message: str = "scripted fault"
    code: str | None = None
    seconds: float = 0.0
    drop: bool | str = False
    raw: bytes | None = None
    content_type: str = "application/json"
    packed: bool = False
    missing: int = 0
    text: str | None = None
    empty: bool = False
    finish: str = "STOP"
    blocked: str = ""
    thoughts: int = 0
    version: str = ""
    usage: bool = True
    token: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """A call that arrived.

    Attributes:
      path: of the URL.
      headers: names in lower case.
      body: the JSON document.
      prompt: the user's text in it.
    """

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    prompt: str


@dataclass(frozen=True)
class Charged:
    """A call that was answered and is to be paid for, in tokens; `r7` is the reply to the 8th."""

    asked: Asked
    prompt_text: str
    prompt: int
    output: int
    thoughts: int


def prompt_in(body: dict[str, Any], gemini: bool) -> str:
    if gemini:
        return "".join(
            part.get("text", "") for content in body["contents"] for part in content["parts"]
        )
    if "messages" not in body:
        return str(body["prompt"])
    return "".join(message["content"] for message in body["messages"] if message["role"] == "user")


def system_in(body: dict[str, Any], gemini: bool) -> str:
    if gemini:
        return "".join(part["text"] for part in body.get("systemInstruction", {}).get("parts", ()))
    return "".join(one["content"] for one in body.get("messages", ()) if one["role"] == "system")


def too_long(manner: str, read: int, context: int, gemini: bool) -> dict[str, Any]:
    """What servers say of a prompt that is longer than their context."""
    if gemini:
        said = f"The input token count ({read}) exceeds the maximum number of tokens allowed "
        return error_of(Step(400, message=f"{said}({context})."), gemini)
    if manner == "llama":
        said = "the request exceeds the available context size, try increasing it"
        kind = "exceed_context_size_error"
        return {"error": {"code": 400, "message": said, "type": kind, "n_ctx": context}}
    said = (
        f"This model's maximum context length is {context} tokens. However, you requested {read} "
        "tokens in the messages. Please reduce the length of the messages."
    )
    return {"error": {"message": said, "type": "BadRequestError", "code": 400}}


def error_of(step: Step, gemini: bool) -> dict[str, Any]:
    if not gemini:
        return {"error": {"message": step.message, "type": "fault", "code": step.code}}
    error: dict[str, Any] = {
        "code": step.status,
        "message": step.message,
        "status": STATUS_NAMES.get(step.status, "UNKNOWN"),
    }
    if step.retry_delay:
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        help_link = {"@type": "type.googleapis.com/google.rpc.Help", "links": []}
        error["details"] = [help_link, {"@type": kind, "retryDelay": step.retry_delay}]
    return {"error": error}


def gemini_answer(
    step: Step, text: str, charged: Charged, origin: str, version: str
) -> dict[str, Any]:
    answer: dict[str, Any] = {"modelVersion": version, "responseId": origin}
    if step.usage:
        answer["usageMetadata"] = {
            "promptTokenCount": charged.prompt,
            "candidatesTokenCount": charged.output,
            "thoughtsTokenCount": charged.thoughts,
            "totalTokenCount": charged.prompt + charged.output + charged.thoughts,
        }
    if step.blocked:
        return answer | {"promptFeedback": {"blockReason": step.blocked}}
    candidate: dict[str, Any] = {"index": 0, "finishReason": step.finish}
    if not step.empty:
        thought = [{"text": "let me think", "thought": True}] if step.thoughts else []
        parts = [*thought, {"text": text}]
        candidate["content"] = {"role": "model", "parts": parts}
    if step.token:
        candidate["continuationToken"] = step.token
    return answer | {"candidates": [candidate | step.extra]}


def openai_answer(
    step: Step, text: str, charged: Charged, origin: str, version: str
) -> dict[str, Any]:
    finish = "content_filter" if step.blocked else OPENAI_FINISH.get(step.finish, step.finish)
    message = {"role": "assistant", "content": None if step.empty else text, **step.extra}
    chat = "messages" in charged.asked.body
    written_as = {"message": message} if chat else {"text": "" if step.empty else text}
    answer: dict[str, Any] = {
        "id": origin,
        "object": "chat.completion" if chat else "text_completion",
        "created": 0,
        "model": version,
        "choices": [{"index": 0, "finish_reason": finish, **written_as}],
    }
    if step.usage:
        written = charged.output + charged.thoughts
        answer["usage"] = {
            "prompt_tokens": charged.prompt,
            "completion_tokens": written,
            "total_tokens": charged.prompt + written,
            "completion_tokens_details": {"reasoning_tokens": charged.thoughts},
        }
    return answer
