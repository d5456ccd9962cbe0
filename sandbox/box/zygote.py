"""The clean processes that workers are forked from.

The first zygote is forked from the referee before the referee has read anything.  It has loaded
what all policies may import, and forks one more zygote for each game, and for each game in
which programs use numpy one that has loaded it.  A zygote is told nothing but its game's table,
which everybody may read.  So a fork of it holds no secret, and nothing of other games.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import sys
import traceback
import types
from collections.abc import Callable
from typing import NoReturn

from . import kernel, worker
from .allowed import PRELOADED, PRELOADED_NUMPY
from .births import Birth, Cradle, Game
from .seal import OUTGOING, Seal
from .unrest import unrest
from .world import World, load_what_numpy_loads_late, still_numpys_entropy


def load_table(name: str, source: str) -> types.ModuleType:
    """Makes a module of a game table's source text."""
    module = types.ModuleType(name)
    sys.modules[name] = module
    exec(compile(source, f"<{name}>", "exec", dont_inherit=True), vars(module))
    return module


def preload(names: tuple[str, ...]) -> None:
    """Imports what sealed workers may want; parts that this Python lacks are left out."""
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def live(cradle: Cradle, seal: Seal) -> NoReturn:
    """The life of the first zygote and of everything that is forked from it."""
    try:
        kernel.die_with_parent()
        preload(PRELOADED)
        order = _until_sealed(cradle, seal)
        del cradle, seal  # a policy may look at this frame
        worker.serve(*order)
    except BaseException:  # noqa: BLE001 - the referee sees the end; people see this
        traceback.print_exc()
    finally:
        os._exit(70)


def _until_sealed(
    cradle: Cradle, seal: Seal
) -> tuple[types.ModuleType, World, Callable[[], None], bool]:
    """Is a zygote; returns in its sealed workers only, with what they serve (`worker.serve`)."""
    table, world = types.ModuleType("none"), World()
    while True:
        gc.collect()
        gc.freeze()  # keeps the collector from touching, and so copying, shared pages
        cradle.wait()
        birth, descriptors = cradle.take()
        if birth.worker:
            stir = unrest(birth.salt)
            _seal(seal, birth, descriptors)
            return table, world, stir, birth.sealed
        table, world = _prepare(cradle.exchange(descriptors))
        seal.narrow()


def _prepare(game: Game) -> tuple[types.ModuleType, World]:
    """Makes this process the zygote of one game."""
    kernel.die_with_parent()
    if game.numpy:
        if game.site is not None:
            sys.path.append(game.site)
        preload(PRELOADED_NUMPY)
        if game.site is not None:
            sys.path.remove(game.site)
        still_numpys_entropy()
        load_what_numpy_loads_late()
    table = load_table(game.table_name, game.table_source)
    world = World()
    world.prepare()
    worker.rehearse(table, world)
    for name in ("ctypes", "_ctypes"):  # policies need not find them; hygiene, not safety
        sys.modules.pop(name, None)
    return table, world


def _seal(seal: Seal, birth: Birth, descriptors: tuple[int, int, int]) -> None:
    user = birth.user if birth.user >= 0 else None
    try:
        seal.close_in(descriptors, user, birth.memory_bytes, birth.cpu_seconds, sealed=birth.sealed)
    except BaseException as error:  # noqa: BLE001 - told, as long as the pipe is there
        told = f"{type(error).__name__}: {error}".encode("utf-8", "replace")[:512]
        try:
            os.write(descriptors[1], told)
        except OSError:  # it has moved to its place already
            os.write(OUTGOING, told)
        os._exit(70)
