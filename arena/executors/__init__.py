"""Where chunks run: in processes of this machine, or on the machines of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arena.executors.protocol import Executor, Handler, Workers

__all__ = ["Executor", "Handler", "Workers", "open_executor"]


def open_executor(
    workers: Workers,
    build: Callable[[], Handler],
    brief: Callable[[Any], bool] = lambda chunk: False,
) -> Executor:
    """The executor that somebody chose; it has no workers yet.

    Args:
      workers: how many, and where.
      build: makes a worker's handler; runs in the worker, so it must be picklable.
      brief: see `LocalExecutor`.

    Raises:
      ClusterUnavailable: the cluster cannot be reached, or Ray is not installed.
    """
    if workers.cluster is None:
        from arena.executors.local import LocalExecutor

        return LocalExecutor(build, most=workers.count, brief=brief)
    from arena.executors.cluster import RayExecutor

    return RayExecutor(build, workers.cluster, most=workers.count)
