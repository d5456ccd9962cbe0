"""The 43 RoShamBo bots that are compiled into OpenSpiel.

* `play`: bot against bot, in the engine's own C++ loop.  Both bots draw from one random stream,
  which the match seeds;
* `NativeAgent`: bot against another kind, throw by throw, as if it were an author's class.  Each
  throw has a random stream of its own, seeded for its seat, so that any number of bots can take
  turns in one process, and so that nobody can work out the next throw from those before: libc's
  generator is a sum of its own past, and a hundred throws of a "random" bot would betray it.

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
from collections.abc import Iterator, Mapping
from typing import Any

import pyspiel

from arena.games.parts import NativeBots
from arena.games.rrps.engine import engine_match
from arena.games.rrps.table import ACTIONS, LENGTH

_SEED_MASK = 0xFFFF_FFFF
"""libc takes seeds of 32 bits."""

_libc = ctypes.CDLL(None)
_libc.srandom.argtypes = (ctypes.c_uint,)
_libc.srandom.restype = None


@functools.cache
def bot_names() -> tuple[str, ...]:
    """The engine's bots, in alphabetical order (capitals first)."""
    return tuple(sorted(pyspiel.roshambo_bot_names()))


def play(names: tuple[str, str], seed: int) -> tuple[tuple[float, float], bytes]:
    """Plays bot against bot in the engine's loop.

    Args:
      names: of the bots in seats 0 and 1; ones that there are.
      seed: of both.

    Returns:
      returns of both seats, and the moves.
    """
    _libc.srandom(seed & _SEED_MASK)  # before the constructors, which draw too
    bots = [pyspiel.make_roshambo_bot(seat, name) for seat, name in enumerate(names)]
    state = engine_match()
    first, second = pyspiel.evaluate_bots(state, bots, 0)
    return (first, second), bytes(state.history())


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
        if bot not in bot_names():
            raise ValueError(f"the engine has no bot {bot!r}; it has {', '.join(bot_names())}")
        self._seeds = _throw_seeds(seed)
        self._state = engine_match()
        self._mine = -1
        self._left = LENGTH
        _libc.srandom(next(self._seeds))
        self._bot = pyspiel.make_roshambo_bot(0, bot)

    def act(self, observation: Mapping[str, Any]) -> str:
        """The bot's next throw.

        Raises:
          ValueError: the observation does not follow from the throws so far, or the match is over.
        """
        if self._left == 0:
            # One step more would write past the end of the bot's arrays.
            raise ValueError(f"the bot was made for {LENGTH} throws and has thrown them all")
        theirs = observation["opponent_action"]
        if (theirs is None) != (self._mine < 0):
            raise ValueError("opponent_action is None in the first throw, and only there")
        if theirs is not None:
            self._state.apply_actions([self._mine, ACTIONS.index(theirs)])
        _libc.srandom(next(self._seeds))
        self._mine = self._bot.step(self._state)
        self._left -= 1
        return ACTIONS[self._mine]


BOTS = NativeBots(bot_names, play, NativeAgent)
"""The bots as the arena plays them."""
