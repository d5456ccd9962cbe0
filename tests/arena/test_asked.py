"""Policies that are asked for their moves: who seats them, and how many are waited for at once."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from arena import Arena, Game
from arena.cancellation import pause
from arena.errors import ArenaError, UsageFault
from arena.games import game as game_named
from arena.kinds.asked import KIND, Asked
from arena.kinds.mixture import payload_of
from registry.values import PolicyVersion, Submission
from tests.conftest import SEED_KEY

BEATS = {"ROCK": "PAPER", "PAPER": "SCISSORS", "SCISSORS": "ROCK"}


class Echo:
    """Beats what the opponent threw last, after asking a "server" that counts who waits."""

    def __init__(self, server: Server, seed: int) -> None:
        self.server, self.seed = server, seed

    def act(self, observation: dict[str, Any]) -> str:
        self.server.ask()
        last = observation["opponent_action"]
        return BEATS[last] if last else "ROCK"


class Server:
    """Answers after a moment; knows how many waited at the same time at most."""

    def __init__(self, limit: int | None = None, seconds: float = 0.0) -> None:
        self.limit, self.seconds = limit, seconds
        self.calls = self.now = self.most = 0
        self._lock = threading.Lock()

    def ask(self) -> None:
        with self._lock:
            self.calls += 1
            if self.limit is not None and self.calls > self.limit:
                raise ArenaError("nothing more may be asked")
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(self.seconds)
        with self._lock:
            self.now -= 1

    def seat(self, game: Game, payload: str, seed: int) -> Echo:
        assert payload == "echo"
        return Echo(self, seed)


Opened = Callable[[Asked | None], Arena]


@pytest.fixture
def opened(new_home: Callable[[], Path]) -> Iterator[Opened]:
    home, arenas = new_home(), []

    def open_it(asked: Asked | None) -> Arena:
        arenas.append(Arena(home, seed_key=SEED_KEY, sandbox="process", workers=1, asked=asked))
        return arenas[-1]

    yield open_it
    for arena in arenas:
        arena.close()


def echo(arena: Arena) -> PolicyVersion:
    return arena.register(Submission("rrps", "somebody/echo", KIND, "echo"))


def test_it_plays_bots_and_programs_in_lockstep_and_comes_out_the_same_again(
    opened: Opened,
) -> None:
    server = Server(seconds=0.0002)
    arena = opened(Asked(server.seat, 4))
    version = echo(arena)
    bots = [arena.policy(f"house/{name}", "rrps") for name in ("rockbot", "rotatebot")]
    program = arena.policy("starter/rrps", "rrps")
    pairs = {(version.digest, one.digest): 2 for one in (*bots, program)}
    report = arena.play_pairs("rrps", pairs)
    assert report.played == 6 and not report.forfeits
    assert 1 < server.most <= 4
    table = arena.payoffs("rrps", [version.digest, *(bot.digest for bot in bots)])
    # Rock is beaten from the second throw on; who goes round throws what the echo throws.
    assert table.mean[0, 1] == 999 and abs(table.mean[0, 2]) <= 1
    stored = arena.matches("rrps", version.digest, limit=None)
    assert all(arena.replay(row.id).same for row in stored[::3])
    assert arena.play_pairs("rrps", pairs).played == 0


def test_nobody_is_asked_where_nobody_answers(opened: Opened) -> None:
    server = Server()
    with_answers = opened(Asked(server.seat, 2))
    version = echo(with_answers)
    rock = with_answers.policy("house/rockbot", "rrps").digest
    arena = opened(None)
    with pytest.raises(UsageFault, match="csro agent"):
        arena.play_pairs("rrps", {(version.digest, rock): 2})
    with pytest.raises(UsageFault, match="csro agent"):
        arena.play("rrps", 2, only=[version.ref, "house/rockbot"])
    with pytest.raises(UsageFault, match="csro agent"):
        arena.practise(arena.policy("starter/rrps", "rrps").payload, "rrps", [version.ref])
    arena.register(Submission("kuhn", "somebody/echo", KIND, "echo"))
    agent = arena.policy("somebody/echo", "kuhn").digest
    mixed = payload_of({agent: 0.5, arena.policy("house/AlwaysBet", "kuhn").digest: 0.5})
    arena.register(Submission("kuhn", "somebody/mixed", "mixture", mixed))
    others = len(arena.policies("kuhn")) - 2
    report = arena.play("kuhn", 2)
    assert report.played == others * (others - 1)
    assert report.left_out == ("somebody/echo@1", "somebody/mixed@1")
    assert arena.play("kuhn", 2, only=["house/AlwaysBet"]).left_out == report.left_out
    assert not arena.play("kuhn", 2, only=["house/AlwaysBet", "house/Kuhn1950"]).left_out
    for named in (["somebody/mixed"], ["somebody/mixed", "house/AlwaysBet"]):
        with pytest.raises(UsageFault, match="csro agent"):
            arena.play("kuhn", 2, only=named)
    assert server.calls == 0
    with_answers.play_pairs("rrps", {(version.digest, rock): 2})
    with pytest.raises(UsageFault, match="csro agent"):
        arena.replay(arena.matches("rrps", version.digest)[0].id)


def test_what_was_over_is_stored_when_the_answers_end(opened: Opened) -> None:
    server = Server(limit=4_100)
    arena = opened(Asked(server.seat, 1))
    version = echo(arena)
    names = ("house/rockbot", "house/rotatebot", "starter/rrps")  # the last one behind the wall
    wanted = {(version.digest, arena.policy(name, "rrps").digest): 2 for name in names}
    with pytest.raises(ArenaError, match="nothing more"):
        arena.play_pairs("rrps", wanted)
    assert len(arena.matches("rrps", version.digest, limit=None)) == 4
    server.limit = None
    assert arena.play_pairs("rrps", wanted).played == 2


def test_of_several_calls_that_fail_one_error_comes_and_the_rest_is_not_begun() -> None:
    server = Server(limit=3, seconds=0.01)
    asked = Asked(server.seat, 2)
    seats = [asked.policy(game_named("rrps"), "echo", seed) for seed in range(40)]

    def call(seat: Echo) -> int:
        seat.act({"opponent_action": None})
        return seat.seed

    assert asked.together([]) == []
    with pytest.raises(ArenaError, match="nothing more"):
        asked.together([lambda seat=seat: call(seat) for seat in seats])
    assert server.calls < len(seats) and server.now == 0
    server.limit = None
    assert asked.together([lambda seat=seat: call(seat) for seat in seats]) == list(range(40))
    asked.close()
    asked.close()


def test_ctrl_c_ends_the_waits_and_begins_no_other_call() -> None:
    asked, begun = Asked(Server().seat, 2), threading.Barrier(3, timeout=60.0)

    def call() -> int:
        begun.wait()
        pause(500.0)
        return 1

    def interrupt() -> None:
        begun.wait()
        # To another thread than the one that waits: it is not woken, as when it had not slept yet.
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    start = time.monotonic()
    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        asked.together([call] * 6)
    assert time.monotonic() - start < 60.0
    assert asked.together([lambda: 2]) == [2]
    asked.close()
