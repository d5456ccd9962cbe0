"""The HTTP API: one address for each method of the seam, from the table that clients use too."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse

from arena.errors import KNOWN, BadRequest, NotAllowed
from arena.server.bell import Bell, aside
from arena.server.description import ROOT, openapi, page
from arena.server.discretion import Discretion
from arena.server.ledger import Job, State
from arena.server.public import Public
from arena.server.service import Service
from arena.server.streams import Streams
from arena.server.telling import Requests, counter
from arena.wire import faults
from arena.wire.calls import API, WITHOUT_ACCOUNT, Call, How, calls, rules
from arena.wire.plain import Json
from registry.errors import TokenRefused
from registry.rights import Account, Role

_log = logging.getLogger("arena.server")
LONGEST_WAIT = 30.0
_FOR_ALL = {"Cache-Control": "public, max-age=60"}
_NUMBER = re.compile(r"[0-9]{1,18}")
STRANGER = Account("", Role.READER, datetime.fromtimestamp(0, UTC))
"""Who has no account yet."""
Handler = Callable[[Request], Awaitable[Response]]


class Api:
    """Answers requests with a service.

    Args:
      service: does the work.
      bell: rung when a job changes.
      streams: answers that go on.
      public: what anybody is told; None where that is nothing.
    """

    def __init__(
        self, service: Service, bell: Bell, streams: Streams, public: Public | None = None
    ) -> None:
        self._service, self._bell, self._streams, self._public = service, bell, streams, public
        self.requests = Requests()

    def app(self) -> FastAPI:
        """The application."""
        app = FastAPI(title="Policy Arena", openapi_url=None, docs_url=None, redoc_url=None)
        for name, call in calls().items():
            address = f"{ROOT}/{name}"
            if call.how is How.READ:
                self._route(app, address, name, self._reading(call), ["GET", "POST"])
            elif call.how is How.CHANGE:
                self._route(app, address, name, self._changing(call), ["POST"])
            else:
                self._route(app, address, name, self._taking_in(call), ["POST"])
        self._route(app, f"{ROOT}/jobs", "jobs", self._jobs, ["GET"])
        self._route(app, f"{ROOT}/jobs/{{job}}", "job", self._job, ["GET", "DELETE"])
        self._route(app, f"{ROOT}/jobs/{{job}}/events", "job_events", self._job_events, ["GET"])
        self._route(app, f"{ROOT}/notifications", "notifications", self._notifications, ["GET"])
        self._route(app, f"{ROOT}/account", "account", self._account, ["GET"])
        self._route(app, f"{ROOT}/server", "server", self._server, ["GET"])
        self._route(app, f"{ROOT}/openapi.json", "openapi", _openapi, ["GET"])
        self._route(app, "/api/docs", "docs", _docs, ["GET"])
        self._route(app, "/health", "health", self._health, ["GET"])
        self._route(app, "/metrics", "metrics", self._metrics, ["GET"])
        if self._public is not None:
            for address, what, handler in (
                ("/badge/{game}/{author}/{name}.svg", "badge", self._badge),
                ("/feed/{game}.json", "feed", self._feed),
                ("/feed/{game}.atom", "feed", self._atom),
            ):
                self._route(app, address, what, handler, ["GET"])
        app.add_exception_handler(404, self._nothing_there)
        app.add_exception_handler(405, self._nothing_there)
        return app

    def _route(
        self, app: FastAPI, address: str, what: str, handler: Handler, methods: list[str]
    ) -> None:
        async def answered(request: Request) -> Response:
            began = time.perf_counter()
            response = await _answered(handler, request, self._service.discretion)
            response.headers["Arena-Api"] = str(API)
            response.headers["Arena-Rules"] = rules()
            response.headers.setdefault("Cache-Control", "no-store")
            response.headers["X-Content-Type-Options"] = "nosniff"
            seconds = time.perf_counter() - began
            self.requests.note(what, response.status_code, seconds)
            extra = {
                "method": what,
                "status": response.status_code,
                "seconds": round(seconds, 4),
                "account": getattr(request.state, "account", ""),
                "address": request.client.host if request.client else "",
            }
            _log.info("request", extra=extra)
            return response

        app.add_api_route(address, answered, methods=methods, name=what, include_in_schema=False)

    async def _who(self, request: Request) -> Account:
        account: Account = await aside(self._service.account_of, _token(request))
        request.state.account = account.name
        self._service.check_version(
            request.headers.get("Arena-Api"), request.headers.get("Arena-Rules")
        )
        return account

    def _reading(self, call: Call) -> Handler:
        async def read(request: Request) -> Response:
            account = await self._who(request)
            in_address = request.method == "GET"
            document = _from_address(call, request) if in_address else await _from_body(request)
            answer = await aside(self._service.read, call, account, document)
            headers = {"ETag": f'"{answer.tag}"', "Cache-Control": "private, no-cache"}
            if f'"{answer.tag}"' in request.headers.get("If-None-Match", ""):
                return Response(status_code=304, headers=headers)
            return Response(answer.body, media_type="application/json", headers=headers)

        return read

    def _changing(self, call: Call) -> Handler:
        async def change(request: Request) -> Response:
            known = call.name not in WITHOUT_ACCOUNT or _token(request) is not None
            account = await self._who(request) if known else STRANGER
            document = await _from_body(request)
            key = request.headers.get("Idempotency-Key")
            body = await aside(self._service.change, call, account, document, key)
            return Response(body, media_type="application/json")

        return change

    def _taking_in(self, call: Call) -> Handler:
        async def take_in(request: Request) -> Response:
            account, document = await self._who(request), await _from_body(request)
            key = request.headers.get("Idempotency-Key")
            _waiting(request)  # what is wrong with it is said before anything is stored
            job: Job = await aside(self._service.take_in, call, account, document, key)
            return await self._told(job, account, request)

        return take_in

    async def _job(self, request: Request) -> Response:
        account = await self._who(request)
        job: Job = await aside(self._service.job, request.path_params["job"], account)
        if request.method == "DELETE":
            await aside(self._service.job_runner.cancel, job)
        return await self._told(job, account, request)

    async def _told(self, job: Job, account: Account, request: Request) -> Response:
        """A job as it is when it has gone on, or after as long as the client wants to wait."""
        wait, seen = _waiting(request)
        service = self._service

        def gone_on() -> bool:
            now = service.job(job.id, account)
            changes = service.job_runner.progress(job.id).changes
            running = now.state is State.RUNNING and seen >= 0 and changes != int(seen)
            return now.state.over or running

        if wait > 0:
            await self._bell.heard(job.id, gone_on, wait)
        now: Job = await aside(service.job, job.id, account)
        body = await aside(service.describe, now)
        return Response(body, 200 if now.state.over else 202, media_type="application/json")

    async def _jobs(self, request: Request) -> Response:
        account = await self._who(request)
        found: list[Job] = await aside(self._service.ledger.unfinished, account.name)
        told = [json.loads(await aside(self._service.describe, job)) for job in found]
        return JSONResponse({"jobs": told})

    async def _notifications(self, request: Request) -> Response:
        account = await self._who(request)
        told = request.headers.get("Last-Event-ID") or request.query_params.get("after")
        if told is not None and not _NUMBER.fullmatch(told):
            raise BadRequest("the last event is named by its number")
        after = None if told is None else int(told)
        return await self._streams.of_notifications(account, _token(request) or "", after)

    async def _job_events(self, request: Request) -> Response:
        account = await self._who(request)
        job: Job = await aside(self._service.job, request.path_params["job"], account)
        seen = request.headers.get("Last-Event-ID", "")
        return await self._streams.of_job(account, _token(request) or "", job, seen)

    async def _account(self, request: Request) -> Response:
        account = await self._who(request)
        until = account.expires.isoformat() if account.expires else None
        return JSONResponse({"name": account.name, "role": account.role.value, "expires": until})

    async def _server(self, request: Request) -> Response:
        await self._who(request)
        return JSONResponse({"plays": self._service.job_runner.plays})

    async def _health(self, request: Request) -> Response:
        found: Mapping[str, Json] = await aside(self._service.health)
        return JSONResponse(dict(found), 200 if found["status"] == "ok" else 503)

    async def _badge(self, request: Request) -> Response:
        assert self._public is not None
        about = request.path_params
        ref = f"{about['author']}/{about['name']}"
        picture = await aside(self._public.badge, about["game"], ref)
        return Response(picture, media_type="image/svg+xml", headers=_FOR_ALL)

    async def _feed(self, request: Request) -> Response:
        assert self._public is not None
        root = str(request.base_url).rstrip("/")
        told = await aside(self._public.feed, request.path_params["game"], root)
        return Response(told, media_type="application/feed+json", headers=_FOR_ALL)

    async def _atom(self, request: Request) -> Response:
        assert self._public is not None
        root = str(request.base_url).rstrip("/")
        told = await aside(self._public.atom, request.path_params["game"], root)
        return Response(told, media_type="application/atom+xml", headers=_FOR_ALL)

    async def _nothing_there(self, request: Request, _: Exception) -> Response:
        error = BadRequest(f"there is nothing to {request.method} at {request.url.path[:200]}")
        return _failed(self._service.discretion.document_of(error), 404)

    async def _metrics(self, request: Request) -> Response:
        await self._who(request)
        counts = self._service.job_runner.counts
        waiting = await aside(self._service.ledger.unfinished)
        jobs = [
            ({"method": method, "state": state}, number)
            for (method, state), number in sorted(dict(counts.jobs).items())
        ]
        played = [
            ({"for": "jobs"}, counts.matches),
            ({"for": "nobody"}, self._service.job_runner.in_background),
        ]
        lines = [
            *self.requests.lines(),
            *counter("arena_jobs_total", "Jobs that are over.", jobs),
            *counter("arena_jobs_waiting", "Jobs not over.", [({}, len(waiting))], kind="gauge"),
            *counter("arena_matches_total", "Matches that were played.", played),
        ]
        return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


async def _answered(handler: Handler, request: Request, discretion: Discretion) -> Response:
    """A request's answer; what goes wrong as JSON, in words that may be told."""
    try:
        return await handler(request)
    except KNOWN as error:
        # Who shows no token, or none that is good, gets 401; who may not do this, 403.
        unknown = isinstance(error, TokenRefused) or (
            isinstance(error, NotAllowed) and not hasattr(request.state, "account")
        )
        status = 401 if unknown else faults.status_of(error)
        return _failed(discretion.document_of(error), status)
    except Exception as error:  # noqa: BLE001 - the log has it, and nobody outside
        _log.exception("a request failed", exc_info=error)
        return _failed(discretion.document_of(error), 500)


def _failed(document: Json, status: int) -> Response:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    # In ASCII: whatever the words hold, they can be sent.
    told = json.dumps({"error": document})
    return Response(told, status, headers, media_type="application/json")


async def _openapi(_: Request) -> Response:
    return JSONResponse(openapi())


async def _docs(_: Request) -> Response:
    policy = {"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"}
    return HTMLResponse(page(), headers=policy)


def _token(request: Request) -> str | None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _number(request: Request, name: str, usual: float) -> float:
    told = request.query_params.get(name)
    try:
        found = usual if told is None else float(told)
    except ValueError:
        found = float("nan")
    if not abs(found) < 1e9:
        raise BadRequest(f"{name} is a number")
    return found


def _waiting(request: Request) -> tuple[float, float]:
    """How long a client wants to wait for a job, and which of its changes it knows."""
    wait = min(_number(request, "wait", 0.0), LONGEST_WAIT)
    return wait, _number(request, "changes", -1.0)


def _from_address(call: Call, request: Request) -> Json:
    """Arguments of a GET: text as it is, the rest as JSON."""
    found = {}
    for name, told in request.query_params.items():
        one = call.parameters.get(name)
        found[name] = told if one is None or one.textual else _parsed(told.encode())
    return found


async def _from_body(request: Request) -> Json:
    body = await request.body()
    return _parsed(body) if body else {}


def _parsed(text: bytes) -> Json:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"this is no JSON: {str(error)[:200]}") from None


def _no_constant(word: str) -> Json:
    raise ValueError(f"{word} is written as text")
