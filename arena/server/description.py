"""What the API offers, for programs (OpenAPI) and for people (one plain page, no script in it)."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version

from arena.figures.templates import fill_page
from arena.wire.calls import API, WITHOUT_ACCOUNT, Call, How, calls
from arena.wire.plain import Json

ROOT = "/api/v1"
_ERROR: dict[str, Json] = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "kind": {"type": "string", "description": "class of the error"},
                "message": {"type": "string"},
                "about": {"type": "object"},
            },
            "required": ["kind", "message"],
        }
    },
}
_JOB: dict[str, Json] = {
    "type": "object",
    "properties": {
        "job": {"type": "string"},
        "method": {"type": "string"},
        "state": {"enum": ["waiting", "running", "done", "failed", "cancelled"]},
        "progress": {
            "type": "array",
            "items": {"type": "integer"},
            "description": "matches done, and to do; while it runs",
        },
        "changes": {"type": "integer", "description": "rises with the progress"},
        "ahead": {"type": "integer", "description": "jobs before it; while it waits"},
        "result": {"description": "as the method returns it; when it is done"},
        "error": _ERROR["properties"]["error"],
    },
    "required": ["job", "method", "state"],
}
KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "schema": {"type": "string", "maxLength": 200},
    "description": "The same key by the same account is the same request: it is done once.",
}
WAIT = {
    "name": "wait",
    "in": "query",
    "schema": {"type": "number", "maximum": 30},
    "description": "Seconds to wait for the job to go on before answering.",
}
LAST = {
    "name": "Last-Event-ID",
    "in": "header",
    "schema": {"type": "string"},
    "description": "The last event that was seen; what came later is told.",
}
AFTER = {
    "name": "after",
    "in": "query",
    "schema": {"type": "integer", "minimum": 0},
    "description": "The same; 0 for all of the last week. Without either, from now on.",
}
SAID = {
    How.READ: "Changes nothing. Answers carry an ETag; with If-None-Match what has not changed is "
    "answered with 304.",
    How.CHANGE: "Changes the registry at once.",
    How.JOB: "Takes long: answers with a job, and its result where it is done within `wait`.",
}


def _answer(schema: Json, about: str) -> Json:
    return {"description": about, "content": {"application/json": {"schema": schema}}}


def _body(call: Call) -> Json:
    schema = {
        "type": "object",
        "properties": {name: one.schema for name, one in call.parameters.items()},
        "required": sorted(call.needed),
        "additionalProperties": False,
    }
    return {"required": bool(call.needed), "content": {"application/json": {"schema": schema}}}


def _in_address(call: Call) -> Iterable[Json]:
    for name, one in call.parameters.items():
        place = {"name": name, "in": "query", "required": name in call.needed}
        if one.textual:
            yield place | {"schema": one.schema}
        else:
            yield place | {"content": {"application/json": {"schema": one.schema}}}


def _place(call: Call) -> str:
    return f"office.{call.name}" if call.of_office else call.name


def _operation(call: Call, method: str) -> Json:
    result = {"type": "object", "properties": {"result": call.result.schema}}
    operation: dict[str, Json] = {
        "operationId": f"{method}_{call.name}",
        "summary": f"{call.name} (for {call.may.value}s)",
        "description": f"{SAID[call.how]} It is `arena.Arena.{_place(call)}`.",
        "security": [] if call.name in WITHOUT_ACCOUNT else [{"token": []}],
        "responses": {
            "200": _answer(_JOB if call.how is How.JOB else result, "What came of it."),
            "default": _answer(_ERROR, "Why not."),
        },
    }
    if method == "get":
        operation["parameters"] = list(_in_address(call))
        operation["responses"]["304"] = {"description": "Nothing has changed."}
        return operation
    operation["requestBody"] = _body(call)
    if call.how is not How.READ:
        operation["parameters"] = [KEY, *([WAIT] if call.how is How.JOB else [])]
    if call.how is How.JOB:
        operation["responses"]["202"] = _answer(_JOB, "It is noted; ask for the job.")
    return operation


_KNOWN: dict[str, Json] = {"security": [{"token": []}]}


def _of_jobs() -> dict[str, Json]:
    """Paths of jobs, and of what is told without asking."""
    job_id = {"name": "job", "in": "path", "required": True, "schema": {"type": "string"}}
    gone = _answer(_ERROR, "Why not.")
    answers = {"200": _answer(_JOB, "The job."), "default": gone}
    events = {"description": "Server-sent events.", "content": {"text/event-stream": {}}}
    streams: dict[str, Json] = {"200": events, "default": gone}
    changes = {
        "name": "changes",
        "in": "query",
        "schema": {"type": "integer"},
        "description": "Wait until the job's `changes` is another number.",
    }
    return {
        f"{ROOT}/jobs": {
            "get": _KNOWN | {"summary": "your jobs that are not over", "responses": answers}
        },
        f"{ROOT}/jobs/{{job}}": {
            "get": _KNOWN
            | {
                "summary": "how a job goes on, and its result",
                "parameters": [job_id, WAIT, changes],
                "responses": answers,
            },
            "delete": _KNOWN
            | {"summary": "ends a job", "parameters": [job_id], "responses": answers},
        },
        f"{ROOT}/jobs/{{job}}/events": {
            "get": _KNOWN
            | {
                "summary": "a job each time that it has gone on, until it is over",
                "parameters": [job_id, LAST],
                "responses": streams,
            },
        },
        f"{ROOT}/notifications": {
            "get": _KNOWN
            | {
                "summary": "what you are told: jobs that are over (job), first ranks (ranked)",
                "parameters": [LAST, AFTER],
                "responses": streams,
            },
        },
    }


def _of_the_server() -> dict[str, Json]:
    """Paths of the server itself, and of whoever asks."""

    def told(summary: str, answer: str) -> dict[str, Json]:
        return {"summary": summary, "responses": {"200": {"description": answer}}}

    plays = "`plays`: matches of each pair that it plays by itself; 0 for none"
    return {
        f"{ROOT}/account": {"get": _KNOWN | told("whose token this is", "Whose.")},
        f"{ROOT}/server": {"get": _KNOWN | told(plays, "How it was started.")},
        "/health": {"get": told("whether it works", "Yes.")},
        "/metrics": {"get": _KNOWN | told("for Prometheus", "Counters.")},
    }


def openapi() -> Json:
    """The OpenAPI document (3.1)."""
    of_calls = {
        f"{ROOT}/{name}": {
            method: _operation(call, method)
            for method in (("get", "post") if call.how is How.READ else ("post",))
        }
        for name, call in calls().items()
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Policy Arena",
            "version": f"{version('policy-arena')} (API {API})",
            "description": "What `arena.Arena` does, over HTTP. Floats that JSON has not are the "
            "words NaN, Infinity and -Infinity; one of several types says which, as "
            '{"Rejection": {...}}.',
        },
        "paths": of_calls | _of_jobs() | _of_the_server(),
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def page() -> str:
    """The same for people."""
    return fill_page(
        "arena/server/description.j2",
        root=ROOT,
        explained=[(how.value, said) for how, said in SAID.items()],
        calls=[("GET" if one.how is How.READ else "POST", one) for one in calls().values()],
    )
