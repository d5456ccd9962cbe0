"""A model that says what it was told to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace

from oracle.models.errors import TranscriptExhausted
from oracle.models.prices import FREE, Price
from oracle.models.protocol import Reply, Request

Answer = str | Reply | Exception


class ScriptedModel:
    """Answers from a list, in order, or from a function of the request.

    A text is an ordinary reply; a `Reply` is given as it stands; an exception is raised.

    Attributes:
      requests: everything that was asked, in order.
    """

    def __init__(
        self,
        answers: Iterable[Answer] | Callable[[Request], Answer],
        *,
        name: str = "scripted",
        price: Price | None = FREE,
    ) -> None:
        """Takes the script.

        Args:
          answers: the answers, or what makes one of a request.
          name: the model's name.
          price: what its replies cost; usage is counted in words.
        """
        self.name = name
        self.price = price
        self.requests: list[Request] = []
        self._answers = answers if callable(answers) else iter(answers)
        self._lock = threading.Lock()

    def generate(self, request: Request) -> Reply:
        """The next answer.

        Raises:
          TranscriptExhausted: the list is at its end.
        """
        with self._lock:
            self.requests.append(request)
            if callable(self._answers):
                answer = self._answers(request)
            else:
                try:
                    answer = next(self._answers)
                except StopIteration:
                    raise TranscriptExhausted(
                        f"the script has {len(self.requests) - 1} answers, and "
                        f"{request.key!r} asks for another"
                    ) from None
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            answer = self._spoken(request, answer)
        return replace(answer, model=answer.model or self.name)

    def close(self) -> None:
        """Has nothing to close."""

    def _spoken(self, request: Request, text: str) -> Reply:
        prompt = len(request.system.split()) + len(request.prompt.split())
        reply = Reply(text, prompt_tokens=prompt, output_tokens=len(text.split()))
        return reply.priced(self.price)
