"""Altered copies of a program: they play much like it, and whoever holds a copy of it is wrong.

Texts are changed, nothing is parsed or run: a mutant passes the same checks and the same trial as
any program, and one that does not is left out.
"""

from __future__ import annotations

import random
import re

from arena.games.protocol import Game

_CONSTANT = re.compile(
    r"""(?x)
    (?P<text> \"{3}[\s\S]*?\"{3} | '{3}[\s\S]*?'{3} | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
        | \#[^\n]* )
    | (?<![\w.]) (?P<constant> \d*\.\d+ ) (?![\w.])
    """
)
"""A constant with a fraction, or a text that may have something in it which looks like one."""
_SPREAD = 1.6
"""A constant is multiplied or divided by up to this."""
_NOISE = (0.05, 0.15)
"""How often a mutant acts at random."""
_WRAPPER = '''

import random as _noise

_Original = {name}


class {name}:
    """A copy of another program with changed constants; {how}."""

    def __init__(self):
        self._original = _Original()
{methods}'''
_METHOD = """
    def {name}(self, observation):
        return self._original.{name}(observation)
"""
_ACT = """
    def act(self, observation):
        chosen = self._original.act(observation)
        legal = {legal_actions}
        if _noise.random() < {noise}:
            return _noise.choice(legal)
        other = {others}[chosen]
        return other if other in legal else chosen
"""


def mutant(game: Game, source: str, rng: random.Random, shift: int = 0) -> str:
    """A copy with other constants that acts at random now and then.

    Args:
      game: that it plays.
      source: of the program.
      rng: every choice follows from it.
      shift: so many places further in the game's list of actions is what the copy does instead of
        what the program would have done, where that is legal.  Who foresees the program is wrong
        about such a copy every time; who learns from what it sees is not.
    """

    def changed(found: re.Match[str]) -> str:
        if found["constant"] is None:
            return found[0]
        before = float(found["constant"])
        value = before * _SPREAD ** rng.uniform(-1.0, 1.0)
        # A share stays a share, and what has a fraction a number of that type.
        return repr(float(f"{min(value, 1.0) if before <= 1.0 else value:.6g}"))

    varied = _CONSTANT.sub(changed, source)
    noise = round(rng.uniform(*_NOISE), 3)
    others = {
        action: game.actions[(number + shift) % len(game.actions)]
        for number, action in enumerate(game.actions)
    }
    act = _ACT.format(legal_actions=game.legal_actions, noise=noise, others=others)
    methods = [
        act if name == "act" else _METHOD.format(name=name) for name in game.contract.methods
    ]
    how = f"it acts at random {noise:.1%} of the time"
    if shift % len(game.actions):
        how += ", else by another action than that program"
    name = game.contract.class_name
    return varied.rstrip() + _WRAPPER.format(name=name, how=how, methods="".join(methods))
