"""Opens a home, starts the job runner, and answers requests until the process is told to stop."""

from __future__ import annotations

import logging
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

import uvicorn

from arena.errors import UsageFault
from arena.executors import Workers
from arena.local import Arena
from arena.server.app import Api
from arena.server.bell import Bell
from arena.server.connection import PromptConnection
from arena.server.job_runner import DAY, JobRunner
from arena.server.ledger import FILE, Ledger
from arena.server.limits import A_SECOND, Application, Limited, Message, Receive, Send
from arena.server.listening import listener
from arena.server.notifications import Notifications
from arena.server.pruning import Pruning
from arena.server.public import Public
from arena.server.ranks import Ranks
from arena.server.service import Service
from arena.server.streams import Streams
from registry.rights import Quota
from registry.sqlite_file import held_alone
from sandbox.choose import WallChoice
from sandbox.errors import SandboxRefused

_log = logging.getLogger("arena.server")
PAGES = "policy_arena.pages"
"""Entry points of what shows pages at the same address: a function from `Serving` to an ASGI
application.  Pages are clients of the arena, so it finds them by name and imports none."""
LOCK = "server.lock"
CONNECTIONS = 1_000
GOODBYE_SECONDS = 3
LOOK_AGAIN_SECONDS = 10.0
"""Between two looks for a wall that is missing; each starts what there is, to try it."""
_OURS = ("/api/", "/health", "/metrics", "/badge/", "/feed/")


@dataclass(frozen=True)
class Serving:
    """What an operator decides when a server is started.

    Attributes:
      home: folder of the tournament.
      registry_url: of a registry on a server; None for the one in the folder.
      seed_key: that all seeds of a new home follow from; None to draw a secret.
      wall: around untrusted policies.
      workers: that play.
      matches: of each pair that are played while nobody waits; 0 for none.
      quota: of authors, for one day.
      pages: whether pages are shown at the same address, where there are any.
      rate: requests a second of one client.
      oidc: file that says who may sign in on the pages, and as whom; None where nobody does.
    """

    home: Path
    registry_url: str | None = None
    seed_key: bytes | None = None
    wall: WallChoice | None = None
    workers: Workers | int = 0
    matches: int = 0
    quota: Quota = DAY
    pages: bool = False
    rate: float = A_SECOND
    oidc: Path | None = None


class Server:
    """A server of one home.  One at a time has a home.

    Args:
      serving: what the operator decided.

    Raises:
      ArenaError, RegistryError: the home cannot be opened.
      UsageFault: another server has it.
    """

    def __init__(self, serving: Serving) -> None:
        self._arena = Arena(
            serving.home,
            registry=serving.registry_url,
            seed_key=serving.seed_key,
            sandbox="auto" if serving.wall is None else serving.wall,
            workers=serving.workers,
        )
        home = self._arena.home
        self._held = held_alone(
            home.path / LOCK, UsageFault(f"another server has the home {home.path}: stop it first")
        )
        self._held.__enter__()
        self._ledger = Ledger(home.path / FILE)
        self.bell = bell = Bell()
        self._notifications = Notifications(home.path / FILE)
        self._ledger.reopen()  # which may end jobs, and whoever asked is told
        self._ranks = Ranks(home, self._notifications, bell.ring)
        self._pruning = Pruning(self._ledger, self._notifications)
        self.job_runner = JobRunner(
            self._arena,
            self._ledger,
            bell.ring,
            matches=serving.matches,
            quota=serving.quota,
            between=self._ranks.look,
        )
        wall = _Wall(self._arena)
        wall.look()
        self._service = Service(home, self._ledger, self.job_runner, wall)
        self._public = Public(home) if serving.pages else None
        streams = Streams(self._service, bell, self._notifications)
        served = Api(self._service, bell, streams, self._public).app()
        api = Limited(served, a_second=serving.rate)
        self.app: Application = _beside(api, serving) if serving.pages else api

    def start(self) -> None:
        """Begins to play, and to forget what is old."""
        self.job_runner.start()
        self._pruning.start()

    def run(self, address: str, port: int, announce: Callable[[str], None]) -> None:
        """Listens and answers until the process is told to stop.

        Args:
          address: to listen on; everything but loopback lets others in.
          port: 0 for a free one.
          announce: told the address.

        Raises:
          UsageFault: the port is taken.
        """
        # uvicorn raises the signal again once it has shut down; without this it would end us there.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        try:
            with closing(listener(address, port)) as opened, suppress(KeyboardInterrupt):
                host = f"[{address}]" if ":" in address else address
                announce(f"http://{host}:{opened.getsockname()[1]}")
                self.start()
                _Listening(self).run(sockets=[opened])
        finally:
            self.close()

    def close(self) -> None:
        """Stops the job runner and closes everything."""
        self.job_runner.stop()
        self._pruning.stop()
        self._service.close()
        if self._public is not None:
            self._public.close()
        self._ranks.close()
        self._notifications.close()
        self._ledger.close()
        self._held.__exit__(None, None, None)


class InThread:
    """A server in a thread of this process, for notebooks and tests.  A context manager.

    Args:
      serving: what is served.
      port: 0 for a free one.
    """

    def __init__(self, serving: Serving, port: int = 0) -> None:
        self.server = Server(serving)
        self._socket = listener("127.0.0.1", port)
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._uvicorn = _Listening(self.server)
        self._thread = threading.Thread(
            target=self._uvicorn.run, kwargs={"sockets": [self._socket]}, daemon=True
        )

    def __enter__(self) -> InThread:
        self.server.start()
        self._thread.start()
        while not self._uvicorn.started and self._thread.is_alive():
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self._uvicorn.should_exit = True
        self._thread.join()
        self._socket.close()
        self.server.close()


class _Listening(uvicorn.Server):
    """Answers for a server; once that stops, nobody is kept waiting for notifications.

    What uvicorn cuts off it answers with 500, which tells a client to give up.
    """

    def __init__(self, server: Server) -> None:
        self._bell = server.bell
        super().__init__(
            uvicorn.Config(
                server.app,
                log_config=None,
                log_level="warning",
                access_log=False,
                http=PromptConnection,
                ws="websockets-sansio",
                ws_per_message_deflate=False,
                limit_concurrency=CONNECTIONS,
                timeout_graceful_shutdown=GOODBYE_SECONDS,
                server_header=False,
            )
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends what is under way."""
        self._bell.close()
        await super().shutdown(sockets)


class _Wall:
    """The name of an arena's wall.  One that is missing is looked for again, but not all the time.

    A server without one still shows what there is; an operator who mends that need not start it
    again.
    """

    def __init__(self, arena: Arena) -> None:
        self._arena, self._lock = arena, threading.Lock()
        self._refused, self._until = "", 0.0

    def __call__(self) -> str:
        """The name.

        Raises:
          SandboxRefused: there is none, and what was tried.
        """
        with self._lock:
            if time.monotonic() < self._until:
                raise SandboxRefused(self._refused)
            try:
                return self._arena.wall
            except SandboxRefused as error:
                self._refused, self._until = str(error), time.monotonic() + LOOK_AGAIN_SECONDS
                raise

    def look(self) -> None:
        """Looks for it, and has it logged where there is none."""
        try:
            self()
        except SandboxRefused as error:
            _log.warning("no sandbox: %s", error)


def _beside(api: Application, serving: Serving) -> Application:
    """The API, and pages for every other address.

    Raises:
      UsageFault: no pages are installed.
    """
    found = list(entry_points(group=PAGES))
    if not found:
        raise UsageFault(
            "no pages are installed here; serve without them (--no-pages), or install policy-arena "
            "again"
        )
    pages: Application = found[0].load()(serving)

    async def answer(
        scope: Message,
        receive: Receive,
        send: Send,
    ) -> None:
        ours = scope["type"] == "http" and str(scope["path"]).startswith(_OURS)
        await (api if ours else pages)(scope, receive, send)

    return answer
