"""Models that continue a text: OpenAI's older protocol, which vLLM, llama.cpp and Ollama speak too.

A pretrained model that was never taught to chat knows no roles and no instructions.  It is sent
what a chat model would be told, the question at the end, and continues behind it in a new line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from oracle.models.chat_completions import counted, finish_of
from oracle.models.openai_compatible import OpenAIModel
from oracle.models.protocol import Reply, Request
from oracle.models.usage import believed

if TYPE_CHECKING:
    import openai

MOST_TOKENS = 16
"""Of an answer unless somebody asks for another number: some servers would never end."""


class TextModel(OpenAIModel):
    """A model behind text completions.  The client is built at the first call."""

    kind = "text"

    def _create(self, client: openai.OpenAI, asked: dict[str, Any]) -> str:
        return client.completions.with_raw_response.create(**asked).text

    def _read(self, answer: Any) -> Reply:
        return read_continuation(answer)

    def _told_model(self, request: Request, form: str) -> dict[str, Any]:
        return {"prompt": "\n\n".join(filter(None, [request.system, form])) + "\n"}

    def _optional(self, request: Request) -> dict[str, Any]:
        return {
            "temperature": request.temperature,
            "seed": None if request.seed is None else request.seed % 2**31,
            "max_tokens": request.max_output_tokens or MOST_TOKENS,
        }


def read_continuation(answer: Any) -> Reply:
    """A text completion as a reply without its cost.

    Raises:
      ValueError: it is none.
    """
    if not isinstance(answer, Mapping) or not isinstance(answer.get("choices"), list):
        raise ValueError("it is no text completion")
    reply = counted(answer)
    if not answer["choices"]:
        return reply
    choice = answer["choices"][0]
    text = choice.get("text") if isinstance(choice, Mapping) else None
    if not isinstance(text, str):
        raise ValueError("its first choice has no text")
    finish, detail = finish_of(choice)
    reply = believed(reply, wrote=bool(text.strip()))
    return replace(reply, text=text, finish=finish, detail=detail)
