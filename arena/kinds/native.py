"""Policies that live in the engine (`Game.bots`).

There are two ways to play one, and a match is always played the same way for a given pair of
kinds:

* `play`: bot against bot, in the engine's own loop;
* `native_policy`: bot against another kind, behind the author contract, as an author's class.

The same pair played both ways may differ in its moves but not in distribution.
"""

from __future__ import annotations

import functools
import json
import time
from typing import TYPE_CHECKING, Any

from arena.plan import Bout
from arena.values import Result, Termination

if TYPE_CHECKING:  # games have native policies in their house
    from arena.games.parts import NativeBots
    from arena.games.protocol import Game

ENGINE = "open_spiel"
WALL = "native"


def payload_of(bot: str) -> str:
    """The canonical payload of a bot."""
    return json.dumps({"bot": bot, "engine": ENGINE}, sort_keys=True, separators=(",", ":"))


@functools.lru_cache(maxsize=1024)
def _named(payload: str) -> object:
    try:
        fields = json.loads(payload)
    except ValueError as error:
        raise ValueError(f"a native policy's payload is JSON: {error}") from error
    if not isinstance(fields, dict) or set(fields) != {"bot", "engine"}:
        raise ValueError(f'a native policy\'s payload has "bot" and "engine", not {payload[:200]}')
    if fields["engine"] != ENGINE:
        raise ValueError(f"there is no native engine {fields['engine']!r}; there is {ENGINE!r}")
    bot: object = fields["bot"]
    return bot


def bot_of(game: Game, payload: str) -> str:
    """The bot that a payload names.

    Raises:
      ValueError: it is no such payload, or the game's engine has no such bot.
    """
    bots = _bots(game)
    name = _named(payload)
    if name not in bots.names():
        raise ValueError(f"{ENGINE} has no bot {name!r}; it has {', '.join(bots.names())}")
    return str(name)


def _bots(game: Game) -> NativeBots:
    if game.bots is None:
        raise ValueError(f"no native bots play {game.name}")
    return game.bots


def play(game: Game, bout: Bout, payloads: tuple[str, str]) -> Result:
    """Plays bot against bot in the engine's loop.

    Args:
      game: one that has native bots.
      bout: what is to be played.
      payloads: of the bots in seats 0 and 1.

    Raises:
      ValueError: a payload is not that of a native bot of this game.
    """
    names = (bot_of(game, payloads[0]), bot_of(game, payloads[1]))
    started, cpu_started = time.perf_counter(), time.thread_time()
    returns, moves = _bots(game).play(names, bout.seat_seeds[0])
    cpu = time.thread_time() - cpu_started
    return Result(
        match=bout.match,
        season=bout.season,
        returns=returns,
        termination=Termination.COMPLETED,
        fault_seat=None,
        fault_message="",
        moves=moves,
        wall=WALL,
        seconds=time.perf_counter() - started,
        cpu_seconds=(cpu / 2, cpu / 2),
    )


def native_policy(game: Game, payload: str, seed: int) -> Any:
    """A `PolicyFactory`: the bot that the payload names, ready for one match.

    Raises:
      ValueError: the payload is not that of a native bot of this game.
    """
    return _bots(game).agent(bot_of(game, payload), seed)
