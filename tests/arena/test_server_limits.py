"""Bounds on what requests may take: long, slow, too many at once, too often."""

import asyncio

import pytest

from arena.server.limits import SMALL_BYTES, Limited


def test_a_slow_body_is_not_waited_for():
    async def never(scope, receive, send):
        raise AssertionError("it was answered")

    async def receive():
        await asyncio.sleep(0.05)
        return {"type": "http.request", "body": b"x", "more_body": True}

    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "headers": [], "query_string": b""}
    asyncio.run(Limited(never, most=1 << 20, seconds=0.3)(scope, receive, send))
    assert sent[0]["status"] == 408 and b"within 0.3 seconds" in sent[1]["body"]


def test_bodies_that_arrive_at_once_do_not_fill_the_memory(monkeypatch):
    """Nobody has shown a token yet when a body arrives."""
    monkeypatch.setattr("arena.server.limits.ALL_BODIES_BYTES", 2_500)
    statuses = []

    async def application(scope, receive, send):
        assert len((await receive())["body"]) == 1_000
        await asyncio.sleep(0.2)
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive():
        return {"type": "http.request", "body": bytes(1_000)}

    async def send(message):
        if "status" in message:
            statuses.append(message["status"])

    async def many(limited, count):
        scope = {"type": "http", "headers": [], "query_string": b""}
        await asyncio.gather(*(limited(scope, receive, send) for _ in range(count)))

    async def waves():
        limited = Limited(application)
        await many(limited, 4)
        await many(limited, 2)

    asyncio.run(waves())
    assert sorted(statuses) == [200, 200, 200, 200, 503, 503]


@pytest.mark.parametrize(
    ("method", "token", "status"),
    [("POST", True, 200), ("POST", False, 413), ("GET", True, 413), ("DELETE", True, 413)],
)
def test_a_large_body_comes_with_a_token_and_where_one_is_needed(method, token, status):
    """Streams of events are got, and hold what came with the request until they end."""
    statuses, size = [], SMALL_BYTES + 1

    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive():
        return {"type": "http.request", "body": bytes(size)}

    async def send(message):
        if "status" in message:
            statuses.append(message["status"])

    shown = [(b"authorization", b"Bearer x")] if token else []
    for headers in (shown, [*shown, (b"content-length", str(size).encode())]):
        scope = {"type": "http", "method": method, "headers": headers, "query_string": b""}
        asyncio.run(Limited(application)(scope, receive, send))
    assert statuses == [status, status]


def test_a_client_that_asks_too_often_is_told_to_wait():
    clock, statuses = [0.0], {"one": [], "other": []}

    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive():
        return {"type": "http.request", "body": b""}

    limited = Limited(application, clock=lambda: clock[0])

    def ask(client):
        async def send(message):
            if "status" in message:
                statuses[client].append(message["status"])

        scope = {"type": "http", "headers": [], "query_string": b"", "client": (client, 1)}
        asyncio.run(limited(scope, receive, send))

    for _ in range(1_002):
        ask("one")
    ask("other")
    assert statuses == {"one": [200] * 1_000 + [503] * 2, "other": [200]}
    clock[0] += 0.5
    for _ in range(60):
        ask("one")
    assert statuses["one"][-60:] == [200] * 50 + [503] * 10
