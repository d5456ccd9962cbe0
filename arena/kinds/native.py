"""Policies that live in the engine: the 43 RoShamBo bots compiled into OpenSpiel.

There are two ways to play one, and a match is always played the same way for a given pair of
kinds:

* `play`: bot against bot, in the engine's own C++ loop.  Both bots draw from one random stream,
  which the match seeds;
* `NativeAgent`: bot against another kind, throw by throw, as if it were an author's class.  Each
  throw has a random stream of its own, seeded for its seat, so that any number of bots can take
  turns in one process, and so that nobody can work out the next throw from those before: libc's
  generator is a sum of its own past, and a hundred throws of a "random" bot would betray it.

The same pair played both ways differs in its moves (one stream or many) but not in distribution.

Care that the engine does not take: the bots draw from libc's process-wide `random()`, which
nobody seeds, and read it in their constructors too; they hold fixed arrays for 1000 throws and
write past them when they are made for fewer or stepped once more.  Use one thread, and keep
untrusted code out of the process.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import itertools
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pyspiel

from arena.games.protocol import Game
from arena.games.rrps import RRPS, engine_match
from arena.plan import Bout
from arena.values import Result, Termination

ENGINE = "open_spiel"
WALL = "native"

_SEED_MASK = 0xFFFF_FFFF
"""libc takes seeds of 32 bits."""

_libc = ctypes.CDLL(None)
_libc.srandom.argtypes = (ctypes.c_uint,)
_libc.srandom.restype = None


def payload_of(bot: str) -> str:
    """The canonical payload of a bot."""
    return json.dumps({"bot": bot, "engine": ENGINE}, sort_keys=True, separators=(",", ":"))


@functools.cache
def bot_names() -> tuple[str, ...]:
    """The engine's bots, in alphabetical order (capitals first)."""
    return tuple(sorted(pyspiel.roshambo_bot_names()))


@functools.lru_cache(maxsize=1024)
def bot_of(payload: str) -> str:
    """The bot that a payload names.

    Raises:
      ValueError: it is no such payload, or the engine has no such bot.
    """
    try:
        fields = json.loads(payload)
    except ValueError as error:
        raise ValueError(f"a native policy's payload is JSON: {error}") from error
    if not isinstance(fields, dict) or set(fields) != {"bot", "engine"}:
        raise ValueError(f'a native policy\'s payload has "bot" and "engine", not {payload[:200]}')
    if fields["engine"] != ENGINE:
        raise ValueError(f"there is no native engine {fields['engine']!r}; there is {ENGINE!r}")
    return _known(fields["bot"])


def _known(bot: object) -> str:
    if bot not in bot_names():
        raise ValueError(f"{ENGINE} has no bot {bot!r}; it has {', '.join(bot_names())}")
    return str(bot)


def _require_rrps(game: Game) -> None:
    if game.name != RRPS.name:
        raise ValueError(f"native bots play {RRPS.name}, not {game.name}")


def play(game: Game, bout: Bout, payloads: tuple[str, str]) -> Result:
    """Plays bot against bot in the engine's loop.

    Args:
      game: repeated rock-paper-scissors.
      bout: what is to be played.
      payloads: of the bots in seats 0 and 1.

    Raises:
      ValueError: a payload is not that of a native bot, or the game is another.
    """
    _require_rrps(game)
    names = (bot_of(payloads[0]), bot_of(payloads[1]))
    started, cpu_started = time.perf_counter(), time.thread_time()
    _libc.srandom(bout.seat_seeds[0] & _SEED_MASK)  # before the constructors, which draw too
    bots = [pyspiel.make_roshambo_bot(seat, name) for seat, name in enumerate(names)]
    state = engine_match()
    first, second = pyspiel.evaluate_bots(state, bots, 0)
    cpu = time.thread_time() - cpu_started
    return Result(
        match=bout.match,
        season=bout.season,
        returns=(first, second),
        termination=Termination.COMPLETED,
        fault_seat=None,
        fault_message="",
        moves=bytes(state.history()),
        wall=WALL,
        seconds=time.perf_counter() - started,
        cpu_seconds=(cpu / 2, cpu / 2),
    )


def _throw_seeds(seed: int) -> Iterator[int]:
    """32 bits for the constructor and for each throw, which do not follow from one another."""
    key = seed.to_bytes(8)
    for number in itertools.count():
        drawn = hashlib.blake2b(number.to_bytes(4), key=key, digest_size=4).digest()
        yield int.from_bytes(drawn)


class NativeAgent:
    """A bot behind the author contract of repeated rock-paper-scissors, for one match.

    Args:
      bot: its name in the engine.
      seed: of its random choices.

    Raises:
      ValueError: the engine has no such bot.
    """

    def __init__(self, bot: str, seed: int) -> None:
        known = _known(bot)
        self._seeds = _throw_seeds(seed)
        self._state = engine_match()
        self._mine = -1
        self._left = RRPS.length
        _libc.srandom(next(self._seeds))
        self._bot = pyspiel.make_roshambo_bot(0, known)

    def act(self, observation: Mapping[str, Any]) -> str:
        """The bot's next throw.

        Raises:
          ValueError: the observation does not follow from the throws so far, or the match is over.
        """
        if self._left == 0:
            # One step more would write past the end of the bot's arrays.
            raise ValueError(f"the bot was made for {RRPS.length} throws and has thrown them all")
        theirs = observation["opponent_action"]
        if (theirs is None) != (self._mine < 0):
            raise ValueError("opponent_action is None in the first throw, and only there")
        if theirs is not None:
            self._state.apply_actions([self._mine, RRPS.actions.index(theirs)])
        _libc.srandom(next(self._seeds))
        self._mine = self._bot.step(self._state)
        self._left -= 1
        return RRPS.actions[self._mine]


def native_policy(payload: str, seed: int) -> NativeAgent:
    """A `PolicyFactory`: the bot that the payload names, ready for one match.

    Raises:
      ValueError: the payload is not that of a native bot.
    """
    return NativeAgent(bot_of(payload), seed)
