"""How an arena's values cross a wire: one codec, one table of methods, one way to tell of faults.

A server (`arena.server`) and a client (`arena.remote`) both derive what they say from the
signatures of `arena.seam.AnyArena`, so neither can drift from the other or from the arena on this
machine.
"""
