"""A server on this machine that speaks Gemini's REST protocol and OpenAI's completions.

These are of chats and of texts.  It counts tokens as words, keeps what it was asked and what it
charged for, and misbehaves as it is told: every call takes the next of its scripted steps, if there
is one.  It also says which models it has; such questions have a script of their own.  It may answer
a name as another model, refuse fields of OpenAI's protocol, and have a context that is too small
for its prompts.

    with LLMServer(lambda prompt: "an answer to " + prompt) as server:
        server.then(Step(status=429, retry_delay="7s"), Step(drop=True))
        client = genai.Client(api_key="x", http_options={"base_url": server.url})
"""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

from oracle.models.gemini import GeminiModel
from oracle.models.openai_compatible import OpenAIModel
from tests.oracle.llm_documents import (
    REFUSALS,
    Asked,
    Charged,
    Step,
    error_of,
    gemini_answer,
    openai_answer,
    prompt_in,
    system_in,
    too_long,
)

__all__ = ["Asked", "Charged", "LLMServer", "Step", "Trickle", "connected"]

KEY = "a-secret-key-1234"
"""Of every provider, in tests."""
T = TypeVar("T", GeminiModel, OpenAIModel)


@dataclass(frozen=True)
class Trickle(Step):
    """An answer before which blanks are sent, one at a time, for as long as the step's `seconds`.

    Attributes:
      part: of the answer that they stand in, "headers" or "body".
      pace: seconds from one to the next.
    """

    part: str = "body"
    pace: float = 0.02

    @property
    def blanks(self) -> int:
        """How many are sent."""
        return round(self.seconds / self.pace)


class LLMServer(ThreadingHTTPServer):
    """Listens on a free port of the loopback interface while it is entered.

    Attributes:
      asked: every call that arrived.
      charged: every call that was answered in full, though its asker may have given up waiting.
      looked: paths of the questions about models.
      models: names that it has; None for any name.  OpenAI's protocol answers to no other.
      aliases: name to the model that answers in its place.
      refuses: field of OpenAI's protocol to the manner in which it is refused, of `REFUSALS`, or
        "located" for a validator's document.
      count: tokens of a text.
      context: tokens that it reads in one prompt; None for any number.
      overflow: what it does with a longer one: "cut", as Ollama does, to half its context; or it
        is refused, as "vllm" or "llama" does.
      most: the largest number of calls that were being answered at the same time.
      left: answers whose asker closed the connection while they were sent.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, reply: Callable[[str], str] = lambda prompt: "pong") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply
        self.asked: list[Asked] = []
        self.charged: list[Charged] = []
        self.looked: list[str] = []
        self.models: tuple[str, ...] | None = None
        self.aliases: dict[str, str] = {}
        self.refuses: dict[str, str] = {}
        self.count: Callable[[str], int] = lambda text: len(text.split())
        self.context: int | None = None
        self.overflow = "cut"
        self.most = 0
        self.left = 0
        self._now = 0
        self.answering = threading.local()
        self.closing = threading.Event()
        self._steps: list[Step] = []
        self._looks: list[Step] = []
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Base URL for Gemini; OpenAI's is this and /v1."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def then(self, *steps: Step) -> None:
        """Scripts the next calls."""
        with self._lock:
            self._steps.extend(steps)

    def then_say_of_models(self, *steps: Step) -> None:
        """Scripts the next answers to questions about models."""
        with self._lock:
            self._looks.extend(steps)

    def look(self, path: str) -> Step:
        with self._lock:
            self.looked.append(path)
            return self._looks.pop(0) if self._looks else Step()

    def take(self, asked: Asked) -> Step:
        with self._lock:
            self.asked.append(asked)
            return self._steps.pop(0) if self._steps else Step()

    def busy(self, change: int) -> None:
        with self._lock:
            self._now += change
            self.most = max(self.most, self._now)

    def charge(self, charged: Charged) -> int:
        with self._lock:
            self.charged.append(charged)
            return len(self.charged) - 1

    def handle_error(self, request: Any, client_address: Any) -> None:
        # The client had enough of waiting.
        if not isinstance(sys.exception(), ConnectionError | ssl.SSLError):
            super().handle_error(request, client_address)

    def __enter__(self) -> LLMServer:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()


@contextmanager
def connected(model: T) -> Iterator[T]:
    """A model whose client is closed at the end: else its connections may outlive the test."""
    try:
        yield model
    finally:
        model.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else every answer waits 40 ms
    server: LLMServer

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        gemini = "x-goog-api-key" in {name.lower() for name in self.headers}
        step = self.server.look(path)
        name, models = path.partition("/models/")[2], self.server.models
        if step.drop:
            self._drop(reset=step.drop == "reset")
        elif step.raw is not None:
            self._send(step.status, step.raw, step)
        elif step.status != 200:
            self._send(step.status, error_of(step, gemini), step)
        elif name and models is not None and name not in models:
            self._send(404, error_of(Step(404, message=f"models/{name} is not found"), gemini))
        elif name:
            self._send(200, {"name": f"models/{name}"} if gemini else {"id": name})
        else:
            self._send(200, {"object": "list", "data": [{"id": one} for one in models or ()]})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        sent = self.rfile.read(length)
        if len(sent) < length:  # on a busy machine its time may be over before it has asked
            self.server.left += 1
            self.close_connection = True
            return
        body = json.loads(sent or b"{}")
        path = self.path.partition("?")[0]
        headers = {name.lower(): value for name, value in self.headers.items()}
        gemini = path.endswith(":generateContent")
        if not gemini and not path.endswith("/completions"):
            self._send(404, error_of(Step(404, message=f"no such path: {path}"), gemini=True))
            return
        asked = Asked(path, headers, body, prompt_in(body, gemini))
        self.server.answering.key = headers.get("x-goog-api-key", "")  # for `reply`, who asks
        step = self.server.take(asked)
        self.server.busy(1)
        try:
            if step.seconds and not isinstance(step, Trickle):
                self.server.closing.wait(step.seconds)
            self._step(asked, step, gemini)
        finally:
            self.server.busy(-1)

    def _step(self, asked: Asked, step: Step, gemini: bool) -> None:
        if step.drop == "half":
            self.wfile.write(b'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"model": ')
        if step.drop:
            self._drop(reset=step.drop == "reset")
        elif step.raw is not None:
            self._send(step.status, step.raw, step)
        elif step.status != 200:
            self._send(step.status, error_of(step, gemini), step)
        elif not gemini and asked.body["model"] not in (self.server.models or asked.body["model"]):
            said = f"The model {asked.body['model']!r} does not exist"
            self._send(404, error_of(Step(404, message=said, code="model_not_found"), gemini))
        elif refused := [name for name in self.server.refuses if name in asked.body]:
            manner = self.server.refuses[refused[0]]
            located = {"detail": [{"type": "extra_forbidden", "loc": ["body", refused[0]]}]}
            known = REFUSALS.get(manner)
            document = {"error": known(refused[0])} if known else located
            self._send(422 if manner == "located" else 400, document)
        else:
            self._answer(asked, step, gemini)

    def _answer(self, asked: Asked, step: Step, gemini: bool) -> None:
        system = system_in(asked.body, gemini)
        read, prompt, context = self.server.count(system + asked.prompt), asked.prompt, None
        if self.server.context is not None and read > self.server.context:
            context = self.server.context
            if self.server.overflow != "cut":
                self._send(400, too_long(self.server.overflow, read, context, gemini))
                return
            prompt = prompt[-len(prompt) * (context // 2) // read :]
            read = context // 2 + 2
        text = "" if step.empty or step.blocked else step.text
        text = self.server.reply(prompt) if text is None else text
        written = len(text.split())
        name = asked.path.rpartition("/")[2].partition(":")[0] if gemini else asked.body["model"]
        version = step.version or self.server.aliases.get(name, name)
        charged = Charged(asked, asked.prompt, read, written, step.thoughts)
        number = self.server.charge(charged)
        answer = (gemini_answer if gemini else openai_answer)(
            step, text, charged, f"r{number}", version
        )
        self._send(200, answer, step)

    def _send(self, status: int, answer: Any, step: Step | None = None) -> None:
        step = step or Step()
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        body = gzip.compress(body) if step.packed else body
        self.send_response(status)
        self.send_header("content-type", step.content_type)
        if step.packed:
            self.send_header("content-encoding", "gzip")
        blanks = step.blanks if isinstance(step, Trickle) and step.part == "body" else 0
        self.send_header("content-length", str(len(body) + blanks + step.missing))
        if step.retry_after:
            self.send_header("retry-after", step.retry_after)
        if step.location:
            self.send_header("location", step.location)
        if isinstance(step, Trickle) and step.part == "headers":
            self.flush_headers()
            self.wfile.write(b"x-wait: ")
            self._trickle(step)
            self.wfile.write(b"over\r\n")
        self.end_headers()
        if isinstance(step, Trickle) and step.part == "body":
            self._trickle(step)
        self.wfile.write(body)
        if step.missing:
            self._drop(reset=False)

    def _trickle(self, step: Trickle) -> None:
        try:
            for _ in range(step.blanks):
                self.wfile.write(b" ")
                self.server.closing.wait(step.pace)
        except (ConnectionError, ssl.SSLError):
            self.server.left += 1
            raise

    def _drop(self, *, reset: bool) -> None:
        if reset:  # closing without lingering sends a reset instead of an orderly end
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True
        self.connection.close()
