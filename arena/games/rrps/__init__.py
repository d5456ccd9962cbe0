"""Repeated rock-paper-scissors: everything about the game lies in this folder."""

from arena.games.rrps.game import RRPS as GAME

__all__ = ["GAME"]
