"""The clean process that workers are forked from.

It is forked from the referee before the referee has read anything, and is told nothing but
game tables (which everybody may read) and limits.  So a fork of it holds no secret.  Programs
that use numpy get workers from a second zygote, forked from the first, that has loaded it.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import socket
import sys
import traceback
import types
from typing import Any, NoReturn

from . import control, worker
from .allowed import PRELOADED, PRELOADED_NUMPY
from .control import MOST_DESCRIPTORS
from .seal import OUTGOING, Seal, die_with_parent

FORKS_AT_ONCE = MOST_DESCRIPTORS // 2
"""Workers in one message, with two descriptors each."""


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


class Zygote:
    """Forks, kills and reaps workers at the referee's word."""

    def __init__(self, channel: socket.socket, seal: Seal, site: str | None) -> None:
        self._control = channel
        self._seal = seal
        self._site = site
        self._tables: dict[str, types.ModuleType] = {}
        self._forked = 0

    def run(self) -> NoReturn:
        """Serves the referee until it closes its end, then ends."""
        try:
            gc.collect()
            gc.freeze()  # keeps the collector from touching, and so copying, shared pages
            while True:
                asked = control.receive(self._control)
                if asked is None:
                    os._exit(0)
                request, descriptors = asked
                answer = getattr(self, "_" + request.pop("do"))(descriptors, **request)
                for descriptor in descriptors:
                    os.close(descriptor)
                control.send(self._control, answer)
        except BaseException:  # noqa: BLE001 - the referee sees the end; people see this
            traceback.print_exc()
        finally:
            os._exit(1)

    def _table(self, descriptors: list[int], name: str, source: str) -> bool:
        self._tables[name] = load_table(name, source)
        gc.freeze()
        return True

    def _numpy(self, descriptors: list[int]) -> bool:
        """Forks the zygote that has numpy; it serves on the descriptor that came along."""
        channel = socket.socket(fileno=os.dup(descriptors[0]))
        if os.fork():
            channel.close()
            return True
        self._leave_parent(descriptors)
        if sys.platform == "linux":
            die_with_parent()
        if self._site is not None:
            sys.path.append(self._site)
        preload(PRELOADED_NUMPY)
        if self._site is not None:
            sys.path.remove(self._site)
        self._control = channel
        self.run()

    def _fork(
        self, descriptors: list[int], table: str, memory_bytes: int, cpu_seconds: int
    ) -> list[int]:
        """One worker for each two descriptors (read, write); returns their process numbers."""
        pids = []
        for channel in zip(descriptors[0::2], descriptors[1::2], strict=True):
            self._forked += 1
            pid = os.fork()
            if pid == 0:
                self._become_worker(channel, table, memory_bytes, cpu_seconds)
            pids.append(pid)
        return pids

    def _become_worker(
        self, channel: tuple[int, int], table: str, memory_bytes: int, cpu_seconds: int
    ) -> NoReturn:
        try:
            self._seal.close_in(channel, self._forked, memory_bytes, cpu_seconds)
            module = self._tables[table]
            self._control.detach()
            self.__dict__.clear()
            for name in ("ctypes", "_ctypes"):  # nothing needs them again; hygiene, not safety
                sys.modules.pop(name, None)
            worker.serve(module)
        except BaseException as error:  # noqa: BLE001 - told as long as anybody listens
            told = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
            for descriptor in (OUTGOING, channel[1]):
                with contextlib.suppress(OSError):
                    os.write(descriptor, told[:512])
        finally:
            os._exit(70)

    def _leave_parent(self, descriptors: list[int]) -> None:
        self._control.close()
        for descriptor in descriptors:
            os.close(descriptor)

    def _reap(self, descriptors: list[int], pids: list[int]) -> list[list[Any]]:
        """Kills workers; returns [wait status, processor seconds, peak KiB] of each."""
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        ends: list[list[Any]] = []
        for pid in pids:
            _, status, used = os.wait4(pid, 0)
            ends.append([status, used.ru_utime + used.ru_stime, used.ru_maxrss])
        return ends


def start(seal: Seal, site: str | None, wire: tuple[int, int]) -> socket.socket:
    """Forks the zygote and returns the referee's end of its control channel.

    Args:
      seal: prepared already, because it opens files.
      site: folder that holds numpy, or None to look where Python looks.
      wire: the referee's descriptors to the host, which the zygote must not keep.
    """
    ours, theirs = control.pair()
    if os.fork() == 0:
        ours.close()
        for descriptor in wire:
            os.close(descriptor)
        if sys.platform == "linux":
            die_with_parent()
        preload(PRELOADED)
        Zygote(theirs, seal, site).run()
    theirs.close()
    return ours
