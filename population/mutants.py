"""Altered copies of a program: they play much like it, and whoever holds a copy of it is wrong.

Texts are changed, nothing is parsed or run: a mutant passes the same checks and the same trial as
any program, and one that does not is left out.
"""

from __future__ import annotations

import random
import re

from arena.games.protocol import Game

_CONSTANT = re.compile(r"(?<![\w.])\d*\.\d+(?![\w.])")
_SPREAD = 1.6
"""A constant is multiplied or divided by up to this."""
_NOISE = (0.05, 0.15)
"""How often a mutant acts at random."""
_WRAPPER = '''

import random as _noise

_Original = {name}


class {name}:
    """A copy of another program with changed constants; it acts at random {often} of the time."""

    def __init__(self):
        self._original = _Original()
{methods}'''
_METHOD = """
    def {name}(self, observation):
        return self._original.{name}(observation)
"""
_ACT = """
    def act(self, observation):
        random = _noise  # the name may mean something else in the program
        chosen = self._original.act(observation)
        return {any_action} if random.random() < {noise} else chosen
"""


def mutant(game: Game, source: str, rng: random.Random) -> str:
    """A copy with other constants that acts at random now and then.

    Args:
      game: that it plays.
      source: of the program.
      rng: every choice follows from it.
    """

    def changed(found: re.Match[str]) -> str:
        value = float(found[0]) * _SPREAD ** rng.uniform(-1.0, 1.0)
        # A share stays a share.
        return f"{min(value, 1.0) if float(found[0]) <= 1.0 else value:.6g}"

    varied = _CONSTANT.sub(changed, source)
    noise = round(rng.uniform(*_NOISE), 3)
    methods = [
        _ACT.format(any_action=game.any_action, noise=noise)
        if name == "act"
        else _METHOD.format(name=name)
        for name in game.contract.methods
    ]
    name = game.contract.class_name
    return varied.rstrip() + _WRAPPER.format(
        name=name, often=f"{noise:.1%}", methods="".join(methods)
    )
