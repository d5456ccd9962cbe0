"""Repeated Leduc hold'em: everything about the game lies in this folder."""

from arena.games.leduc.game import LEDUC as GAME

__all__ = ["GAME"]
