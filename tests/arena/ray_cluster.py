"""A real Ray cluster on this machine: a head that plays nothing, and nodes with a core each."""

from __future__ import annotations

import logging
import os
import signal
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import ray
from ray.cluster_utils import Cluster


@contextmanager
def ray_cluster(nodes=2):
    """Starts it, and ends it however the caller ends."""
    logging.getLogger("ray").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own
        cluster = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
        )
        try:
            for _ in range(nodes):
                cluster.add_node(num_cpus=1)
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()


def kill(cluster, node):
    """Kills a node as a power cut would: all its processes, at once, without a word."""
    doomed = {info.process.pid for infos in node.all_processes.values() for info in infos}
    parents = _parents()
    while more := {pid for pid, parent in parents.items() if parent in doomed} - doomed:
        doomed |= more
    for pid in doomed:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    cluster.remove_node(node, allow_graceful=False)


def _parents():
    """The parent of every process."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            found[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    return found
