"""A language model that plays move by move, as an entrant.

`settings` is what its version holds, `player` one seat of one match, `answers` where the replies
are kept, `agents` what an arena is opened with, `price` what playing would come to.  The words of a
game are the game's (`arena.games.parts.Dialogue`).
"""
