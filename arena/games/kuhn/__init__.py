"""Repeated Kuhn poker: everything about the game lies in this folder."""

from arena.games.kuhn.game import KUHN as GAME

__all__ = ["GAME"]
