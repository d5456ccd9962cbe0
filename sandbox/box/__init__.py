"""The box: a referee, a zygote and sealed workers.  Standard library only.

This package is started by `start.py` with a bare interpreter, on the host or inside a
container, under whatever Python 3 minor version is there.  Nothing in it may import anything
outside it, numpy excepted (and only for policies).

    host --frames--> referee --control--> zygote --fork--> sealed worker (one program)
                        +-----------------socket-----------------+

The referee holds the game's table and everything secret.  The zygote is forked from it before
the first order arrives, so what is forked from the zygote has nothing to leak.
"""
